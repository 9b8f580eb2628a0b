#include "interp/point_stack.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>

namespace relay::interp {

bool put_point(Machine& machine, lang::TensorRef& stack, std::span<const std::int64_t> extents,
               std::int64_t linear, const lang::TensorRef& item, lang::Span span) {
  const std::vector<std::int64_t>& shape = item->shape();
  if (!stack) {
    std::vector<std::int64_t> whole(extents.begin(), extents.end());
    whole.insert(whole.end(), shape.begin(), shape.end());
    stack = lang::Tensor::make(item->dtype(), whole);
  }
  const auto expected = std::span(stack->shape()).subspan(extents.size());
  if (!std::ranges::equal(shape, expected)) {
    machine.fail(lang::DiagnosticKind::ShapeMismatchAtRunTime,
                 fmt::format("the body yields shape `({})` here and `({})` before: its extents "
                             "must not depend on the index",
                             fmt::join(shape, ", "), fmt::join(expected, ", ")),
                 span);
    return false;
  }
  const auto bytes = static_cast<std::size_t>(item->element_count()) * lang::size_of(item->dtype());
  if (bytes > 0) {
    std::memcpy(stack->data() + static_cast<std::size_t>(linear) * bytes,
                lang::contiguous(item)->data(), bytes);
  }
  return true;
}

lang::TensorRef stack_of_none(const lang::Type& type, std::span<const std::int64_t> extents) {
  const auto* tensor = lang::as<lang::TensorType>(type);
  RELAY_CHECK(tensor, "a comprehension yields tensors");
  std::vector<std::int64_t> shape(extents.begin(), extents.end());
  const auto& dims = tensor->shape.dims();
  for (std::size_t i = extents.size(); i < dims.size(); ++i)
    shape.push_back(dims[i].is_constant() ? dims[i].constant() : 0);
  return lang::Tensor::make(tensor->dtype.known(), shape);
}

}  // namespace relay::interp
