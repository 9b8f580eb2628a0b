#include "interp/failures.h"

#include <fmt/format.h>

#include "interp/out_of_range.h"

namespace relay::interp {

using lang::DiagnosticKind;
using lang::Value;

std::string extents_text(std::span<const std::int64_t> extents) {
  return fmt::format("({})", fmt::join(extents, ", "));
}

Value fail_division(Machine& machine, lang::Span span) {
  return machine.fail(DiagnosticKind::DivisionByZero, "division of an integer by zero", span);
}

Value fail_index(Machine& machine, std::int64_t index, std::size_t axis, const lang::Tensor& tensor,
                 lang::Span span) {
  return machine.fail(index_out_of_range(index, axis, tensor.shape(), span));
}

Value fail_match(Machine& machine, const Value& value, lang::Span span) {
  return machine.fail(
      DiagnosticKind::MatchFailed,
      fmt::format("no pattern matches `{}`", to_string(value, {.max_elements = 20})), span);
}

Value fail_extent(Machine& machine, std::int64_t extent, lang::Span span) {
  return machine.fail(DiagnosticKind::ExtentMismatch,
                      fmt::format("an extent must not be negative, it is {}", extent), span);
}

Value fail_steps(Machine& machine, std::span<const std::int64_t> extents, lang::Span span) {
  return machine.fail(DiagnosticKind::Unsupported,
                      fmt::format("not supported: a loop of more than 2^63 steps, over `{}`",
                                  extents_text(extents)),
                      span);
}

Value fail_shape(Machine& machine, const lang::Tensor& tensor, const lang::Type& type,
                 lang::Span span) {
  return machine.fail(
      DiagnosticKind::ShapeMismatchAtRunTime,
      fmt::format("a tensor of shape `{}`, whose type is `{}`", extents_text(tensor.shape()),
                  to_string(lang::as<lang::TensorType>(type)->shape)),
      span);
}

Value fail_empty_fold(Machine& machine, lang::ReduceOp op, lang::Span span) {
  return machine.fail(DiagnosticKind::ShapeMismatchAtRunTime,
                      fmt::format("`{}` over nothing has no value", name_of(op)), span);
}

}  // namespace relay::interp
