#pragma once

#include <string>
#include <string_view>

#include "lang/expr.h"
#include "lang/module.h"

namespace relay::lang {

struct PrintOptions {
  bool types = false;  // `/* ty=... */` comments
  // A text of its own: `#[version = "0.0.5"]` first, and what Relay's notation has no words for in
  // a metadata section at its end. Otherwise a part, as a person wants to see it: tensors stand in
  // place, as nested lists.
  bool header = false;
};

// Strict Relay text (relay-text format; index notation and our special forms print in the light
// notation's syntax, which the strict parser of this project also reads). Shared nodes print as
// graph bindings `%0 = ...`; let chains are loops. print -> parse -> print is the identity.
std::string print(const Expr& expr, const PrintOptions& options = {});
std::string print_definition(const std::string& name, const Expr& function,
                             const PrintOptions& options = {});
std::string print_type_def(const TypeDef& def);
// The same in the light notation, where fields of records have names.
std::string print_light_type_def(const TypeDef& def);
std::string print_module(const Module& module,
                         const PrintOptions& options = {});  // without the prelude

// Shortest text that reads back to the same bits: `1.5f`, `3`, `2i64`, `True`.
std::string print_scalar(DType dtype, std::uint64_t bits);

// In the light notation, `op.NAME` is the operator where something else has its name.
inline constexpr std::string_view kOperatorPrefix = "op.";

// What people see: the light notation without sigils, infix operators, `def name(x: T) -> R { ...
// }`. Parses back in the light notation, within `scope` if there is one: what that defines hides
// operators.
std::string print_light(const Expr& expr, const Module* scope = nullptr);
std::string print_light_definition(const std::string& name, const Expr& function,
                                   const Module* scope = nullptr);

}  // namespace relay::lang
