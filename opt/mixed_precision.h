#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "lang/expr.h"
#include "opt/pass_program.h"

// Private to the pass ToMixedPrecision.
namespace relay::opt {

// What becomes of an operator on float32.
enum class Precision : std::uint8_t {
  Narrow,   // always computed in the narrow type: products, whose time that saves
  Follows,  // where its operands are narrow, or are parameters and constants
  Wide,     // never: sums of much, and functions that leave the range of narrow numbers
  AsIs,     // takes its operands as they are: casts, and what looks at shapes only
};
// Relay's lists; operators that are on none follow their operands.
Precision precision_of(const lang::Call& call, const lang::OpDef& op, lang::DType narrow);
bool has_precision(const lang::OpDef& op);

struct MixedPrecision {
  lang::DType narrow = lang::DType::Float16;
  bool refuses_missing = false;  // operators that are on no list
};
// Throws Failure: a type that is no narrow float.
void check_mixed_precision(const MixedPrecision& how);

// The names of functions that others, or they themselves, call.
std::unordered_set<std::string> called_functions(const std::vector<PassProgram::Entry>& entries);
// A function in A-normal form; the result need not be. `keeps_result`: its type stays as it is.
lang::Expr with_mixed_precision(const lang::Expr& fn, const MixedPrecision& how, bool keeps_result);

}  // namespace relay::opt
