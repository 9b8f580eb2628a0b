#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lang/diagnostic.h"

namespace relay::parser {

// How reading stops at the first thing that cannot be: thrown by the grammar, caught in this
// folder.
struct SyntaxStop {
  lang::Diagnostic diagnostic;
  bool at_end = false;    // more text could have mended it
  bool reported = false;  // on its way to where reading can go on (recovery.h)
};

// A bracket that is open: where, and what it holds ("the block").
struct Opener {
  std::uint32_t at;
  std::string_view what;
};

// "expected `;` after the binding, found `let`". `at` may stand before white space; the message
// points at the token after it. Where a definition begins inside brackets, the innermost was never
// closed, and that is what the message says.
SyntaxStop expected(const lang::Source& source, std::uint32_t at, std::string_view what,
                    const Opener* innermost = nullptr);

// "expected `,` or `)` to close the arguments opened at 3:5, found ...", with a label on the
// opener.
SyntaxStop expected_closer(const lang::Source& source, std::uint32_t at, std::string_view closer,
                           const Opener& opener);

// A string or comment that never ends; `at` is where it begins.
SyntaxStop never_closed(const lang::Source& source, std::uint32_t at, std::string_view what);

SyntaxStop too_deep(const lang::Source& source, std::uint32_t at, int limit);

// What stands at `at`, for a person: `let`, `"abc"`, the end of the text.
std::string describe_token(std::string_view text, std::uint32_t at);

}  // namespace relay::parser
