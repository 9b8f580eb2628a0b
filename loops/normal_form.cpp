#include "loops/normal_form.h"

#include <fmt/format.h>

#include "lang/diagnostic.h"

namespace relay::loops {

namespace {

double product_of(const std::vector<ContractionAxis>& axes) {
  double product = 1;
  for (const ContractionAxis& axis : axes) product *= static_cast<double>(axis.extent);
  return product;
}

std::string extents_of(const std::vector<ContractionAxis>& axes) {
  if (axes.empty()) return "1";
  std::string text;
  for (const ContractionAxis& axis : axes)
    text += fmt::format("{}{}", text.empty() ? "" : "*", axis.extent);
  return text;
}

std::string to_string(const Contraction& form) {
  return fmt::format("contraction({}) batch {}, rows {}, columns {}, contracted {}{}\n",
                     lang::name_of(form.dtype), extents_of(form.batch), extents_of(form.rows),
                     extents_of(form.columns), extents_of(form.contracted),
                     form.adds ? ", added" : "");
}

std::string to_string(const Window& form) {
  const char* const results[] = {"window", "window adjoint of the input",
                                 "window adjoint of the kernel"};
  std::string text = fmt::format("{}({}) batch {}, groups {}, channels {} -> {}",
                                 results[static_cast<int>(form.result)], lang::name_of(form.dtype),
                                 form.batch, form.groups, form.in_channels, form.out_channels);
  for (const WindowAxis& axis : form.axes) {
    text += fmt::format(", {} by {} -> {}", axis.in, axis.kernel, axis.out);
    if (axis.stride != 1) text += fmt::format(" stride {}", axis.stride);
    if (axis.dilation != 1) text += fmt::format(" dilation {}", axis.dilation);
    if (axis.front != 0 || axis.back != 0) text += fmt::format(" pad {} {}", axis.front, axis.back);
  }
  return text + "\n";
}

}  // namespace

lang::DType dtype_of(const NormalForm& form) {
  return std::visit([](const auto& each) { return each.dtype; }, form);
}

double products_of(const NormalForm& form) {
  if (const auto* contraction = std::get_if<Contraction>(&form)) {
    return product_of(contraction->batch) * product_of(contraction->rows) *
           product_of(contraction->columns) * product_of(contraction->contracted);
  }
  const Window& window = std::get<Window>(form);
  double product = static_cast<double>(window.batch) * static_cast<double>(window.groups) *
                   static_cast<double>(window.in_channels) *
                   static_cast<double>(window.out_channels);
  for (const WindowAxis& axis : window.axes)
    product *= static_cast<double>(axis.out) * static_cast<double>(axis.kernel);
  return product;
}

std::string to_string(const NormalForm& form) {
  return std::visit([](const auto& known) { return to_string(known); }, form);
}

LibraryKernel::Rows LibraryKernel::begin_rows(const LibraryOperand& /*left*/,
                                              const LibraryOperand& /*right*/, void* /*result*/,
                                              const Parallel& /*parallel*/) const {
  RELAY_CHECK(false, "this kernel computes no rows");
  return {};
}

}  // namespace relay::loops
