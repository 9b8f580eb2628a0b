#pragma once

#include <functional>
#include <string>
#include <vector>

#include "formats/formats.h"
#include "lang/expr.h"
#include "lang/module.h"
#include "lang/value.h"

// `load` and `save`: what stands between the operators and the formats of files.
namespace relay::repl {

// Where a file named in a program is.
using FindFile = std::function<std::string(const std::string& path)>;

// Each `load` that does not say its dtype and shape gets those of the file's header, so that what
// it gives has a type before the program runs. A `load` of what cannot be read becomes the global
// of `unread_file`, whose type is open, so that nothing is demanded of what depends on it; `errors`
// gets the reason, with the place of the `load`.
lang::Expr with_headers(const lang::Expr& expr, const FindFile& find_file,
                        const formats::FileAccess& access, std::vector<lang::Diagnostic>& errors);

// The same where no data file may be opened. The type of a field, or an annotation, tells what
// there is; others become that global, each with a warning. `expected`: what the whole has to be;
// or null.
lang::Expr without_headers(const lang::Expr& expr, const lang::Type& expected,
                           std::vector<lang::Diagnostic>& warnings);
lang::Definition unread_file();

// Runs a `load` or `load_csv` with these attributes. Fails as the
// formats do, no place.
lang::Result<lang::TensorRef> load_tensor(const lang::AttrsRef& attrs, const FindFile& find_file,
                                          const formats::FileAccess& access,
                                          const formats::Progress& progress);

// Runs a `save`: a tensor, or a tuple or record of tensors. A record's are called like its fields.
lang::Result<bool> save_value(const lang::Value& value, const lang::AttrsRef& attrs,
                              const formats::FileAccess& access, const formats::Progress& progress);

}  // namespace relay::repl
