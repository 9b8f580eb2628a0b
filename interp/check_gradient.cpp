#include "interp/check_gradient.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "interp/counted_steps.h"

namespace relay::interp {

using lang::DType;
using lang::Value;
using lang::ValueKind;

namespace {

// The distance from 1 to the next number.
double precision_of(DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return 0x1p-52;
    case DType::Float32:
      return 0x1p-23;
    case DType::Float16:
      return 0x1p-10;
    default:
      return 0x1p-7;  // bfloat16
  }
}

class Check {
 public:
  Check(Machine& machine, const Value& function, std::vector<Value> args, lang::Span span)
      : machine_(machine), function_(function), args_(std::move(args)), span_(span) {}

  // All elements of argument `index`; false after an error.
  bool argument(std::size_t index, const Value& gradient, const std::string& name) {
    const Value original = args_[index];
    const bool agrees = part(original, gradient, name,
                             [this, index](Value changed) { args_[index] = std::move(changed); });
    args_[index] = original;
    return agrees;
  }

 private:
  // Puts a changed part in its place.
  using Place = std::function<void(Value)>;

  bool part(const Value& value, const Value& gradient, const std::string& path,
            const Place& place) {
    switch (value.kind()) {
      case ValueKind::Scalar:
        if (!lang::is_float(value.dtype())) return true;
        return element(value.dtype(), value.bits(), gradient.bits(), path,
                       [&](std::uint64_t bits) { place(Value::scalar(value.dtype(), bits)); });
      case ValueKind::Tensor:
        return tensor(value.as_tensor(), gradient.as_tensor(), path, place);
      case ValueKind::Tuple: {
        const auto rebuilt = [](std::vector<Value> fields) {
          return Value::tuple(lang::TupleCell::make(fields));
        };
        return fields(value.as_tuple().fields(), gradient.as_tuple().fields(), path, {}, rebuilt,
                      place);
      }
      case ValueKind::Adt: {
        const lang::Constructor& constructor = value.as_adt().constructor();
        const auto rebuilt = [&](std::vector<Value> fields) {
          return Value::adt(lang::AdtCell::make(&constructor, fields));
        };
        return fields(value.as_adt().fields(), gradient.as_adt().fields(), path,
                      constructor.field_names, rebuilt, place);
      }
      default:
        return true;
    }
  }

  bool fields(std::span<const Value> values, std::span<const Value> gradients,
              const std::string& path, const std::vector<std::string>& names,
              const std::function<Value(std::vector<Value>)>& rebuilt, const Place& place) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::string name = i < names.size() ? names[i] : std::to_string(i);
      const bool agrees =
          part(values[i], gradients[i], fmt::format("{}.{}", path, name), [&](Value changed) {
            std::vector<Value> copies(values.begin(), values.end());
            copies[i] = std::move(changed);
            place(rebuilt(std::move(copies)));
          });
      if (!agrees) return false;
    }
    return true;
  }

  bool tensor(const lang::Tensor& value, const lang::Tensor& gradient, const std::string& path,
              const Place& place) {
    if (!lang::is_float(value.dtype())) return true;
    constexpr std::int64_t kMostElements = 1000;
    const std::int64_t count = value.element_count();
    const std::int64_t checked = std::min(count, kMostElements);
    const CountedSteps steps(machine_, checked);
    for (std::int64_t k = 0; k < checked; ++k) {
      steps.at(k);
      const std::int64_t at = k * count / checked;
      const bool agrees = element(value.dtype(), value.bits_at(at), gradient.bits_at(at),
                                  fmt::format("{}[{}]", path, fmt::join(indices(value, at), ", ")),
                                  [&](std::uint64_t bits) {
                                    lang::TensorRef changed =
                                        lang::Tensor::make(value.dtype(), value.shape());
                                    for (std::int64_t i = 0; i < count; ++i)
                                      changed->set_bits(i, value.bits_at(i));
                                    changed->set_bits(at, bits);
                                    place(Value::tensor(std::move(changed)));
                                  });
      if (!agrees) return false;
    }
    return true;
  }

  static std::vector<std::int64_t> indices(const lang::Tensor& tensor, std::int64_t linear) {
    std::vector<std::int64_t> result(tensor.shape().begin(), tensor.shape().end());
    for (std::size_t axis = result.size(); axis-- > 0;) {
      const std::int64_t extent = result[axis];
      result[axis] = linear % extent;
      linear /= extent;
    }
    return result;
  }

  // A central difference, and how far rounding of the function's results may move it.
  struct Difference {
    double value;
    double noise;
  };
  using Set = std::function<void(std::uint64_t)>;

  // Of the steps that were taken, which rounding has changed. Nothing after an error.
  std::optional<Difference> difference(DType dtype, double at, double step, const Set& set) {
    const std::uint64_t above = lang::bits_from_double(dtype, at + step);
    const std::uint64_t below = lang::bits_from_double(dtype, at - step);
    set(above);
    const std::optional<double> high = result();
    if (!high) return std::nullopt;
    set(below);
    const std::optional<double> low = result();
    if (!low) return std::nullopt;
    const double width =
        lang::double_from_bits(dtype, above) - lang::double_from_bits(dtype, below);
    return Difference{(*high - *low) / width,
                      precision_of(dtype) * (std::abs(*high) + std::abs(*low)) / width};
  }

  // A difference is wrong by the third derivative times the square of the step, and by rounding,
  // which is the worse the smaller the step. So where the usual step disagrees, smaller ones are
  // tried for as long as rounding allows, and what two of them say of a step of nothing
  // (Richardson). A gradient is wrong if none of them agrees with it.
  bool element(DType dtype, std::uint64_t bits, std::uint64_t gradient_bits,
               const std::string& path, const Set& set) {
    constexpr double kTolerance = 2;
    constexpr int kSteps = 8;
    constexpr double kRatio = 4;  // of a step to the next
    const double at = lang::double_from_bits(dtype, bits);
    const double gradient = lang::double_from_bits(dtype, gradient_bits);
    const double root = std::cbrt(precision_of(dtype));
    const auto tolerance = [&](double difference) {
      return kTolerance * root * std::max({1.0, std::abs(gradient), std::abs(difference)});
    };
    const auto agrees = [&](double difference, double noise) {
      if (!std::isfinite(difference))
        return difference == gradient || (std::isnan(gradient) && std::isnan(difference));
      return std::abs(gradient - difference) <= tolerance(difference) + noise;
    };
    double step = root * std::max(1.0, std::abs(at));
    double last = 0;
    double shown = 0;  // the difference that the next one changed least
    double least_change = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kSteps; ++i, step /= kRatio) {
      const auto found = difference(dtype, at, step, set);
      if (!found) return false;
      if (i > 0 && !(found->noise <= tolerance(found->value))) break;
      if (agrees(found->value, found->noise)) return true;
      if (i > 0) {
        const double at_zero = (kRatio * kRatio * found->value - last) / (kRatio * kRatio - 1);
        if (agrees(at_zero, found->noise)) return true;
        const double change = std::abs(found->value - last);
        if (change < least_change) shown = found->value;
        least_change = std::min(change, least_change);
      } else {
        shown = found->value;
      }
      last = found->value;
    }
    const int digits = dtype == DType::Float64 ? 8 : 4;
    machine_.fail(lang::DiagnosticKind::WrongGradient,
                  fmt::format("the derivative by `{}` is {:.{}g}, and central differences give "
                              "{:.{}g}",
                              path, gradient, digits, shown, digits),
                  span_);
    return false;
  }

  // Of the function at the arguments as they are now; nothing after an error.
  std::optional<double> result() {
    std::vector<Value> copies = args_;
    const Value value = machine_.apply(function_, copies.data(), copies.size(), span_);
    if (!value) return std::nullopt;
    return lang::double_from_bits(value.dtype(), value.bits());
  }

  Machine& machine_;
  const Value& function_;
  std::vector<Value> args_;
  lang::Span span_;
};

}  // namespace

Value check_gradient(Machine& machine, const Value& function, std::vector<Value> args,
                     const std::vector<Value>& gradients, const lang::AttrsRef& attrs,
                     lang::Span span) {
  const lang::AttrValue::List& names = *attrs->find("names")->as_list();
  Check check(machine, function, std::move(args), span);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!check.argument(i, gradients[i], *names[i].as_string())) return {};
  }
  return Value::boolean(true);
}

}  // namespace relay::interp
