#include "models/exporter/layout.h"

#include <algorithm>

#include <fmt/format.h>

namespace relay::models::exporter {

std::string usual_layout(std::string_view front, std::size_t spatial) {
  return std::string(front) + std::string(std::string_view("DHW").substr(3 - spatial));
}

std::string in_layout(Call& call, const std::string& name, const std::string& from,
                      const std::string& to) {
  if (from == to) return name;
  std::vector<std::int64_t> axes;
  for (const char axis : to) {
    const std::size_t place = from.find(axis);
    if (place == std::string::npos || from.size() != to.size())
      call.unsupported(fmt::format("in the layout `{}`", from));
    axes.push_back(static_cast<std::int64_t>(place));
  }
  return transpose(call.graph, name, axes);
}

std::vector<std::int64_t> for_each_axis(const Call& call, std::string_view key, std::size_t axes) {
  std::vector<std::int64_t> numbers = call.attrs->get_ints(key);
  if (numbers.size() == 1) numbers.assign(axes, numbers[0]);
  return numbers;
}

std::vector<std::int64_t> padding_of(const Call& call, std::size_t axes) {
  std::vector<std::int64_t> numbers = call.attrs->get_ints("padding");
  if (numbers.size() == 1) numbers.assign(axes, numbers[0]);
  if (numbers.size() == axes)
    numbers.insert(numbers.end(), numbers.begin(),
                   numbers.begin() + static_cast<std::ptrdiff_t>(axes));
  return numbers;
}

}  // namespace relay::models::exporter
