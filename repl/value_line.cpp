#include "repl/value_line.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lang/utf8.h"
#include "repl/columns.h"

namespace relay::repl {

using lang::Value;

namespace {

// A value that fits in a column: as it prints, or what can be said of it.
std::string line_for(const Value& value) {
  const std::string text = to_string(value, {.max_elements = 8, .edge_items = 2});
  if (text.find('\n') == std::string::npos && lang::code_points(text) <= kValueLine) return text;
  if (value.is_tensor()) {
    const lang::Tensor& tensor = value.as_tensor();
    std::string shape;
    for (const std::int64_t extent : tensor.shape())
      shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
    double least = INFINITY, largest = -INFINITY, sum = 0;
    for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
      const double x = tensor.number_at(i);
      least = std::min(least, x);
      largest = std::max(largest, x);
      sum += x;
    }
    return fmt::format("({}) {:.4g} to {:.4g}, mean {:.4g}", shape, least, largest,
                       sum / static_cast<double>(tensor.element_count()));
  }
  return on_one_line(text);
}

}  // namespace

std::string value_line(const Value& value) { return shortened(line_for(value), kValueLine); }

}  // namespace relay::repl
