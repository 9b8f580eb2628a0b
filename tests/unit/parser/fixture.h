#pragma once

#include <string>
#include <string_view>

#include "lang/module.h"
#include "parser/parse.h"

// Short verbs for the parser's tests: text in, printed core or rendered problem out.
namespace relay::parser::test {

// Every item as strict Relay, one below the other; or the diagnostics as `Kind BEGIN-END: message`,
// with `  label BEGIN-END: text` and notes below. Offsets are bytes.
std::string read(std::string_view text, Notation notation, const lang::Module& scope = {});
std::string light(std::string_view text, const lang::Module& scope = {});
std::string strict(std::string_view text,
                   const lang::Module& scope = {});  // the header is put before

// Prints what `strict` or `light` read, reads that as strict text and prints again.
std::string again(std::string_view text, Notation notation);

// A scope with `type List[A]`, a function `twice` and a value `half`.
lang::Module prelude();

}  // namespace relay::parser::test
