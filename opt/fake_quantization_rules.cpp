#include "opt/fake_quantization_rules.h"

#include <cmath>
#include <string>

#include "lang/build.h"
#include "opt/layout.h"

namespace relay::opt {

using lang::as;
using lang::DType;
using lang::Expr;
namespace build = lang::build;

namespace {

// The zero point in the dtype of the integers, so that it broadcasts to them; constants alone.
Expr zero_point_like(const Affine& data, const AffineStep& step) {
  const auto* zero = constant_value(data.how.zero_point, step.definitions());
  if (!zero) return nullptr;
  std::vector<std::int64_t> shape;
  if (zero->rank() > 0) {
    shape.assign(step.rank() - static_cast<std::size_t>(data.how.axis), 1);
    shape[0] = zero->element_count();
  }
  const DType dtype = dtype_of(data.integers);
  const lang::TensorRef made = lang::Tensor::make(dtype, shape);
  for (std::int64_t i = 0; i < zero->element_count(); ++i)
    made->set_bits(i, lang::bits_from_double(dtype, zero->number_at(i)));
  return lang::make_constant(made);
}

}  // namespace

const lang::Tensor* constant_value(const Expr& atom, const Definitions& definitions) {
  const auto* constant = as<lang::Constant>(definitions.of(atom));
  return constant ? constant->value.get() : nullptr;
}
bool is_zero(const Expr& zero_point, const Definitions& definitions) {
  const auto* value = constant_value(zero_point, definitions);
  for (std::int64_t i = 0; value && i < value->element_count(); ++i) {
    if (value->number_at(i) != 0) return false;
  }
  return value != nullptr;
}

bool keeps_order(const Affine& data, const Definitions& definitions) {
  const auto* scale = constant_value(data.how.scale, definitions);
  for (std::int64_t i = 0; scale && i < scale->element_count(); ++i) {
    if (!(scale->number_at(i) > 0)) return false;
  }
  return scale != nullptr;
}

// --- Operators that move elements, or choose among them: the integers move alike ---

Found moved(const AffineStep& step) {
  const Affine* data = step.operand(0);
  if (!data || data->how.is_per_channel()) return std::nullopt;
  std::vector<Expr> operands = step.call().args;
  operands[0] = data->integers;
  const Expr made = step.again(std::move(operands));
  if (!as<lang::TensorType>(made->type)) return std::nullopt;
  return Affine{made, data->how, data->is_exact};
}

Found transposed(const AffineStep& step) {
  const Affine* data = step.operand(0);
  if (!data) return std::nullopt;
  Quantized how = data->how;
  if (how.is_per_channel()) {
    const lang::AttrValue* axes = step.call().attrs->find("axes");
    if (!axes || axes->is_null()) {
      how.axis = static_cast<std::int64_t>(step.rank()) - 1 - how.axis;
    } else {
      const auto list = step.call().attrs->get_ints("axes");
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (place_of_axis(list[i], step.rank()) == data->how.axis)
          how.axis = static_cast<std::int64_t>(i);
      }
    }
  }
  return Affine{step.again({data->integers}), how, data->is_exact};
}

// The same for those that choose by size.
Found chosen(const AffineStep& step) {
  const Affine* data = step.operand(0);
  return data && keeps_order(*data, step.definitions()) ? moved(step) : std::nullopt;
}

// A pool pads with the lowest number, which stays the lowest. It leaves channels where they are.
Found largest_of_window(const AffineStep& step) {
  const Affine* data = step.operand(0);
  if (!data || !keeps_order(*data, step.definitions())) return std::nullopt;
  if (data->how.is_per_channel()) {
    const std::string letters = letters_of(step.call().attrs->get_string("layout"));
    if (letters[static_cast<std::size_t>(data->how.axis)] != 'C') return std::nullopt;
  }
  return Affine{step.again({data->integers}), data->how, data->is_exact};
}

Found padded(const AffineStep& step) {
  const Affine* data = step.operand(0);
  if (!data || data->how.is_per_channel() ||
      step.call().attrs->get_string("pad_mode") != "constant")
    return std::nullopt;
  const Expr value =
      build::op("qnn.quantize", {step.call().args[1], data->how.scale, data->how.zero_point},
                {{"out_dtype", dtype_of(data->integers)}, {"axis", -1}});
  const auto* number = constant_value(step.call().args[1], step.definitions());
  const bool is_exact = number && number->number_at(0) == 0;
  return Affine{step.again({data->integers, value}), data->how, data->is_exact && is_exact};
}

// --- Bounds ---

Found at_least_zero(const AffineStep& step) {
  const Affine* data = step.operand(0);
  const Expr zero = data ? zero_point_like(*data, step) : Expr();
  if (!zero || !keeps_order(*data, step.definitions())) return std::nullopt;
  return Affine{build::op("maximum", {data->integers, zero}), data->how, data->is_exact};
}

Found clipped(const AffineStep& step) {
  const Affine* data = step.operand(0);
  if (!data || data->how.is_per_channel() || !keeps_order(*data, step.definitions()))
    return std::nullopt;
  const auto* scale = constant_value(data->how.scale, step.definitions());
  const auto* zero = constant_value(data->how.zero_point, step.definitions());
  if (!scale || !zero) return std::nullopt;
  const auto bound = [&](const char* key) {
    return std::round(step.call().attrs->get_float(key) / scale->number_at(0)) + zero->number_at(0);
  };
  return Affine{
      step.again({data->integers}, {{"a_min", bound("a_min")}, {"a_max", bound("a_max")}}),
      data->how, false};
}

}  // namespace relay::opt
