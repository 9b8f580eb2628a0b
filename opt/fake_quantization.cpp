#include "opt/fake_quantization.h"

#include <algorithm>

#include "lang/build.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
namespace build = lang::build;

namespace {

// One number, and as many of it as there are channels, are the same.
bool same_parameter(const Expr& a, const Expr& b) {
  if (same_atom(a, b)) return true;
  const auto* x = as<lang::Constant>(a);
  const auto* y = as<lang::Constant>(b);
  if (!x || !y || dtype_of(a) != dtype_of(b)) return false;
  const std::int64_t of_x = x->value->element_count();
  const std::int64_t of_y = y->value->element_count();
  if (of_x != of_y && of_x != 1 && of_y != 1) return false;
  for (std::int64_t i = 0; i < std::max(of_x, of_y); ++i) {
    if (x->value->number_at(of_x == 1 ? 0 : i) != y->value->number_at(of_y == 1 ? 0 : i))
      return false;
  }
  return true;
}

}  // namespace

bool Quantized::is_per_channel() const { return rank_of(scale) > 0 || rank_of(zero_point) > 0; }

std::int64_t Quantized::axis_attr() const { return is_per_channel() ? axis : -1; }

bool same_quantization(const Quantized& a, const Quantized& b) {
  return same_parameter(a.scale, b.scale) && same_parameter(a.zero_point, b.zero_point) &&
         (!a.is_per_channel() || a.axis == b.axis);
}

std::size_t AffineStep::rank() const { return rank_of(step_); }

Expr AffineStep::again(std::vector<Expr> operands, std::vector<lang::Attr> changed) const {
  return build::op(operator_of(step_)->name, std::move(operands),
                   with_attrs(call_.attrs, std::move(changed)));
}

Expr requantize(const Affine& from, const Quantized& to, lang::DType dtype) {
  if (same_quantization(from.how, to) && dtype_of(from.integers) == dtype) return from.integers;
  if (to.is_per_channel()) return nullptr;
  return build::op("qnn.requantize",
                   {from.integers, from.how.scale, from.how.zero_point, to.scale, to.zero_point},
                   {{"axis", from.how.axis_attr()}, {"out_dtype", dtype}});
}

Expr quantized_constant(const Expr& constant, const Quantized& how) {
  return build::op("qnn.quantize", {constant, how.scale, how.zero_point},
                   {{"out_dtype", lang::DType::Int32}, {"axis", how.axis_attr()}});
}

}  // namespace relay::opt
