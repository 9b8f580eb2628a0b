#pragma once

#include <functional>
#include <string>
#include <vector>

#include "formats/file_access.h"
#include "lang/expr.h"
#include "lang/value.h"

namespace relay::repl {

// `relay opt --bind n=3 --bind w=w.npy`: parameters of a function become constants.
struct Bindings {
  std::string function = "main";
  std::vector<std::string> list = {};  // `NAME=VALUE`, the value as text or in a file of tensors
};

// Evaluates a text that is a value as one of this type.
using EvaluateAs =
    std::function<lang::Value(const std::string& name, const std::string& text, const lang::Type&)>;

// The function without those parameters, which are constants in its body; extents that they tell
// are known, too. Throws Failure: a name that is no parameter, a value of another type, a file that
// cannot be read.
lang::Expr with_bound_parameters(const lang::Expr& function, const Bindings& bindings,
                                 const formats::FileAccess& files, const EvaluateAs& evaluate);

}  // namespace relay::repl
