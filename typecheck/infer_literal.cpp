// Numbers without a suffix: they take the dtype of their context.

#include <cmath>

#include <fmt/format.h>

#include "typecheck/inference.h"

namespace relay::typecheck {

using namespace lang;

const Literal* as_literal(const Expr& expr, bool& negated) {
  negated = false;
  if (const auto* literal = as<Literal>(expr)) return literal;
  const auto* call = as<Call>(expr);
  const auto* op = call ? as<Operator>(call->callee) : nullptr;
  if (!op || op->op->name != "negative" || call->args.size() != 1) return nullptr;
  negated = true;
  return as<Literal>(call->args[0]);
}

Type Inference::infer_literal(const Literal& literal, bool negated) {
  TypeVarRef dtype = solver_.fresh(VarKind::DType);
  Unknown& unknown = solver_.at(*dtype);
  unknown.literal = &literal;
  unknown.requirements =
      Solver::bit(literal.is_float ? PrimOperands::kFloat : PrimOperands::kNumeric);
  unsettled_.push_back(literals_.size());
  literals_.push_back({&literal, dtype, negated});
  return tensor_type(Shape(), DTypeTerm(dtype));
}

void Inference::settle_literal(const TypeVar& var) {
  std::uint8_t requirements = solver_.at(var).requirements;
  for (DType dtype : {DType::Int32, DType::Float32, DType::Bool}) {
    if (!Solver::accepts(requirements, dtype)) continue;
    solver_.settle(var, DTypeTerm(dtype));
    return;
  }
}

// At the end of a `let`: literals of its value, from `first` on, get their default unless something
// outside can still tell. A parameter can: its function may be called, or generalised.
void Inference::settle_literals(std::size_t first, std::uint64_t mark) {
  std::size_t kept = first;
  for (std::size_t i = first; i < unsettled_.size(); ++i) {
    DTypeTerm dtype = solver_.resolve(DTypeTerm(literals_[unsettled_[i]].dtype));
    if (dtype.is_known() || !solver_.find(*dtype.var())) continue;
    if (relations_.is_tied(dtype.var(), mark)) {
      unsettled_[kept++] = unsettled_[i];
      continue;
    }
    settle_literal(*dtype.var());
    relations_.drain();
  }
  unsettled_.resize(kept);
}

bool Inference::settle_literals_outside(const std::unordered_set<const TypeVar*>& generic) {
  bool settled = false;
  std::size_t kept = 0;
  for (std::size_t index : unsettled_) {
    DTypeTerm dtype = solver_.resolve(DTypeTerm(literals_[index].dtype));
    if (dtype.is_known() || !solver_.find(*dtype.var())) continue;
    if (generic.count(dtype.var().get())) {
      unsettled_[kept++] = index;
      continue;
    }
    settle_literal(*dtype.var());
    settled = true;
  }
  unsettled_.resize(kept);
  return settled;
}

namespace {

bool fits(std::int64_t value, DType dtype) {
  if (dtype == DType::Float16) return std::llabs(value) < 65520;
  if (is_float(dtype) || dtype == DType::Int64) return true;
  if (is_unsigned_int(dtype)) {
    return value >= 0 &&
           (dtype == DType::UInt64 || static_cast<std::uint64_t>(value) >> bits_of(dtype) == 0);
  }
  std::int64_t limit = std::int64_t{1} << (bits_of(dtype) - 1);
  return value >= -limit && value < limit;
}

bool fits(double value, DType dtype) { return can_represent(dtype, value); }

}  // namespace

void Inference::check_literals() {
  for (const LiteralUse& use : literals_) {
    DTypeTerm dtype = solver_.resolve(DTypeTerm(use.dtype));
    if (!dtype.is_known()) continue;
    const Literal& literal = *use.node;
    bool ok = literal.is_float
                  ? fits(literal.real, dtype.known())
                  : fits(use.is_negated ? -literal.integer : literal.integer, dtype.known());
    if (ok) continue;
    Diagnostic diagnostic(
        DiagnosticKind::LiteralOutOfRange,
        fmt::format("`{}` does not fit into `{}`", literal_text(literal, use.is_negated),
                    name_of(dtype.known())),
        literal.span);
    diagnostic.label(literal.span, fmt::format("`{}`", name_of(dtype.known())));
    report(Failure(std::move(diagnostic)));
  }
}

}  // namespace relay::typecheck
