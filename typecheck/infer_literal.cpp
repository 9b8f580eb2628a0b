// Numbers without a suffix, and tensors of them: they take the dtype of their context.

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "lang/number_text.h"
#include "typecheck/inference.h"

namespace relay::typecheck {

using namespace lang;

const Literal* as_literal(const Expr& expr, bool& negated) {
  negated = false;
  if (const auto* literal = as<Literal>(expr)) return literal->elements ? nullptr : literal;
  const auto* call = as<Call>(expr);
  const auto* op = call ? as<Operator>(call->callee) : nullptr;
  if (!op || op->op->name != "negative" || call->args.size() != 1) return nullptr;
  negated = true;
  const auto* literal = as<Literal>(call->args[0]);
  return literal && !literal->elements ? literal : nullptr;
}

Type Inference::infer_literal(const Literal& literal, bool negated) {
  TypeVarRef dtype = solver_.fresh(VarKind::DType);
  Unknown& unknown = solver_.at(*dtype);
  unknown.literal = &literal;
  unknown.requirements =
      Solver::bit(literal.is_float ? PrimOperands::kFloat : PrimOperands::kNumeric);
  unsettled_.push_back(literals_.size());
  literals_.push_back({&literal, dtype, negated});
  std::vector<Dim> dims;
  if (literal.elements)
    dims.assign(literal.elements->shape().begin(), literal.elements->shape().end());
  return tensor_type(Shape(std::move(dims)), DTypeTerm(dtype));
}

void Inference::settle_literal(const TypeVar& var) {
  const Unknown& unknown = solver_.at(var);
  for (DType dtype : {DType::Int32, DType::Float32, DType::Bool}) {
    if (!Solver::accepts(unknown.requirements, dtype)) continue;
    if (unknown.prefers_float && is_int(dtype) &&
        Solver::accepts(unknown.requirements, DType::Float32))
      continue;
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

// Numbers of definitions that are used wait for all that can tell, as these are not in sight.
bool Inference::settle_numbers_outside(const std::unordered_set<const TypeVar*>& generic) {
  bool settled = false;
  std::erase_if(numbers_, [&](const TypeVarRef& number) {
    const DTypeTerm dtype = solver_.resolve(DTypeTerm(number));
    if (dtype.is_known() || !solver_.find(*dtype.var())) return true;
    if (generic.count(dtype.var().get())) return false;
    settle_literal(*dtype.var());
    settled = true;
    return true;
  });
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

// What does not fit, as it would be written, and of a tensor which element it is.
struct Misfit {
  std::string text;
  std::int64_t element = 0;
};

// Nothing if all fits.
std::optional<Misfit> misfit(const Literal& literal, bool is_negated, DType dtype) {
  const auto text_of = [&](bool is_float, std::int64_t integer, double real) {
    return is_float ? float_text(DType::Float64, bits_from_double(DType::Float64, real), true)
                    : std::to_string(integer);
  };
  if (!literal.elements) {
    const bool ok = literal.is_float ? fits(literal.real, dtype)
                                     : fits(is_negated ? -literal.integer : literal.integer, dtype);
    if (ok) return std::nullopt;
    return Misfit{literal_text(literal, is_negated)};
  }
  const Tensor& elements = *literal.elements;
  for (std::int64_t i = 0; i < elements.element_count(); ++i) {
    const double real = elements.number_at(i);
    const std::int64_t integer =
        literal.is_float ? 0 : int_from_bits(DType::Int64, elements.bits_at(i));
    if (!(literal.is_float ? fits(real, dtype) : fits(integer, dtype)))
      return Misfit{text_of(literal.is_float, integer, real), i};
  }
  return std::nullopt;
}

// Where element `number` of a tensor literal stands, found in its text; the whole literal if that
// has comments.
Span element_span(const Literal& literal, std::int64_t number) {
  if (!literal.elements || !literal.span) return literal.span;
  const std::string_view text = literal.span.text();
  constexpr std::string_view kBetween = "[](), \t\r\n";
  if (text.find('/') != std::string_view::npos) return literal.span;
  std::size_t begin = 0;
  for (; number >= 0; --number) {
    begin = text.find_first_not_of(kBetween, begin);
    if (begin == std::string_view::npos) return literal.span;
    if (number > 0) begin = text.find_first_of(",]", begin);
  }
  const std::size_t end = std::min(text.find_first_of(kBetween, begin + 1), text.size());
  const auto offset = [&](std::size_t at) {
    return literal.span.begin + static_cast<std::uint32_t>(at);
  };
  return {literal.span.source, offset(begin), offset(end)};
}

}  // namespace

void Inference::check_literals() {
  for (const LiteralUse& use : literals_) {
    DTypeTerm dtype = solver_.resolve(DTypeTerm(use.dtype));
    if (!dtype.is_known()) continue;
    const Literal& literal = *use.node;
    const std::optional<Misfit> found = misfit(literal, use.is_negated, dtype.known());
    if (!found) continue;
    const Span at = element_span(literal, found->element);
    Diagnostic diagnostic(
        DiagnosticKind::LiteralOutOfRange,
        fmt::format("`{}` does not fit into `{}`", found->text, name_of(dtype.known())), at);
    diagnostic.label(at, fmt::format("`{}`", name_of(dtype.known())));
    if (dtype.known() == DType::Int32 && !literal.is_float)
      diagnostic.note(fmt::format("help: `{}i64` is one of `int64`", found->text));
    report(Failure(std::move(diagnostic)));
  }
}

}  // namespace relay::typecheck
