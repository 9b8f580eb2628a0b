#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "lang/derivative.h"
#include "lang/op.h"

// The type of `grad(f)` and its kin, as a relation: f's type may become known after it is used.
namespace relay::typecheck {

const lang::OpDef& differentiate_rule(lang::DiffMode mode);
bool is_differentiate_rule(const lang::OpDef& op);

// Why values of that type, called `name` (or empty), have no gradient: "`m.act` is a function".
// Empty where nothing speaks against it; unknown parts do not.
std::string why_undifferentiable(const lang::Type& type, std::string_view name);

// `fn`, of so many parameters, with the sum of its result for a result, as it would be written;
// nothing where it would be long.
std::optional<std::string> summed(const lang::Expr& fn, std::size_t param_count);

}  // namespace relay::typecheck
