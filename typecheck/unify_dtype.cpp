#include <fmt/format.h>

#include "typecheck/unify.h"

// Unknown dtypes, of which some are known to be numbers, floats and so on.
namespace relay::typecheck {

using namespace lang;

namespace {

constexpr int kOperandKinds = static_cast<int>(PrimOperands::kAnyDType) + 1;

std::string_view words_of(PrimOperands operands) {
  switch (operands) {
    case PrimOperands::kNumeric:
      return "a number";
    case PrimOperands::kFloat:
      return "a float";
    case PrimOperands::kInt:
      return "an integer";
    case PrimOperands::kBool:
      return "`bool`";
    case PrimOperands::kBits:
      return "an integer or `bool`";
    case PrimOperands::kAnyDType:
      return "a dtype";
  }
  return "";
}

// Is what these operands take what those take, too?
bool implies(PrimOperands these, PrimOperands those) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (lang::accepts(these, dtype) && !lang::accepts(those, dtype)) return false;
  }
  return true;
}

std::string required_words(std::uint8_t requirements) {
  std::string words;
  const auto is_said_by_another = [&](int i) {
    for (int k = 0; k < kOperandKinds; ++k) {
      if (k != i && (requirements >> k & 1) &&
          implies(static_cast<PrimOperands>(k), static_cast<PrimOperands>(i)))
        return true;
    }
    return false;
  };
  for (int i = 0; i < kOperandKinds; ++i) {
    if (!(requirements >> i & 1) || is_said_by_another(i)) continue;
    if (!words.empty()) words += " and ";
    words += words_of(static_cast<PrimOperands>(i));
  }
  return words;
}

bool are_of_truth(std::uint8_t requirements) {
  return requirements >> static_cast<int>(PrimOperands::kBool) & 1;
}

bool satisfiable(std::uint8_t requirements) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (Solver::accepts(requirements, static_cast<DType>(i))) return true;
  }
  return false;
}

}  // namespace

bool Solver::accepts(std::uint8_t requirements, DType dtype) {
  for (int i = 0; i < kOperandKinds; ++i) {
    if ((requirements >> i & 1) && !lang::accepts(static_cast<PrimOperands>(i), dtype))
      return false;
  }
  return true;
}

void Solver::bind_dtype(Unknown& unknown, const DTypeTerm& dtype) {
  if (dtype.is_known()) {
    if (!accepts(unknown.requirements, dtype.known())) {
      fail(DiagnosticKind::DTypeMismatch, fmt::format("dtype `{}` is not {}", to_string(dtype),
                                                      required_words(unknown.requirements)));
    }
    return bind(unknown, dtype);
  }
  Unknown* other = find(*dtype.var());
  if (!other) {
    // A written dtype variable: what it may be instantiated with cannot be limited here.
    if (!satisfiable(unknown.requirements)) {
      fail(DiagnosticKind::DTypeMismatch,
           fmt::format("dtype `{}` is not {}", show(dtype), required_words(unknown.requirements)));
    }
    return bind(unknown, dtype);
  }
  std::uint8_t both = unknown.requirements | other->requirements;
  if (!satisfiable(both)) {
    // A literal is spoken of by the dtype that it has if nothing else is said.
    for (const auto& [literal, demand] : {std::pair{&unknown, other}, std::pair{other, &unknown}}) {
      if (literal->literal && (literal->literal->is_float || are_of_truth(demand->requirements))) {
        fail(
            DiagnosticKind::DTypeMismatch,
            fmt::format("{} is not {}", literal->literal->is_float ? "dtype `float32`" : "a number",
                        required_words(demand->requirements)));
      }
    }
    fail(DiagnosticKind::DTypeMismatch, fmt::format("no dtype is {}", required_words(both)));
  }
  other->requirements = both;
  if (!other->literal) other->literal = unknown.literal;
  other->is_number |= unknown.is_number;
  other->prefers_float |= unknown.prefers_float;
  tie(unknown, dtype.var());
  bind(unknown, dtype);
}

void Solver::unify(const DTypeTerm& left, const DTypeTerm& right) {
  DTypeTerm a = resolve(left);
  DTypeTerm b = resolve(right);
  if (a == b) return;
  Unknown* a_unknown = a.is_known() ? nullptr : find(*a.var());
  Unknown* b_unknown = b.is_known() ? nullptr : find(*b.var());
  if (a_unknown && b_unknown) {
    return a_unknown->var->id > b_unknown->var->id ? bind_dtype(*a_unknown, b)
                                                   : bind_dtype(*b_unknown, a);
  }
  if (a_unknown) return bind_dtype(*a_unknown, b);
  if (b_unknown) return bind_dtype(*b_unknown, a);
  fail(DiagnosticKind::DTypeMismatch,
       fmt::format("dtype `{}` is not `{}`", to_string(a), to_string(b)));
}

void Solver::require(const DTypeTerm& dtype, PrimOperands operands) {
  DTypeTerm known = resolve(dtype);
  if (known.is_known()) {
    if (!lang::accepts(operands, known.known())) {
      fail(DiagnosticKind::DTypeMismatch,
           fmt::format("dtype `{}` is not {}", to_string(known), words_of(operands)));
    }
    return;
  }
  Unknown* unknown = find(*known.var());
  if (!unknown) return;
  std::uint8_t both = unknown->requirements | bit(operands);
  if (!satisfiable(both)) {
    if (unknown->literal && (unknown->literal->is_float || operands == PrimOperands::kBool)) {
      fail(DiagnosticKind::DTypeMismatch,
           fmt::format("{} is not {}", unknown->literal->is_float ? "dtype `float32`" : "a number",
                       words_of(operands)));
    }
    fail(DiagnosticKind::DTypeMismatch, fmt::format("no dtype is {}", required_words(both)));
  }
  unknown->requirements = both;
}

void Solver::prefer_float(const DTypeTerm& dtype) {
  const DTypeTerm known = resolve(dtype);
  Unknown* unknown = known.is_known() ? nullptr : find(*known.var());
  if (unknown) unknown->prefers_float = true;
}

}  // namespace relay::typecheck
