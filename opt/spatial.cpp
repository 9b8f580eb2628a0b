#include "opt/spatial.h"

#include <algorithm>

namespace relay::opt {

std::optional<SpatialAxes> spatial_axes(const std::string& layout) {
  SpatialAxes axes;
  for (const char letter : std::string("DHW")) {
    const std::size_t axis = layout.find(letter);
    if (axis != std::string::npos) axes.spatial.push_back(axis);
  }
  for (std::size_t axis = 0; axis < layout.size(); ++axis) {
    if (layout[axis] < 'A' || layout[axis] > 'Z') return std::nullopt;
    if (std::find(axes.spatial.begin(), axes.spatial.end(), axis) == axes.spatial.end())
      axes.others.push_back(axis);
  }
  return axes;
}

std::vector<std::int64_t> for_each_axis(const lang::Attrs& attrs, const std::string& key,
                                        std::size_t count) {
  std::vector<std::int64_t> values = attrs.get_ints(key);
  if (values.size() == 1) values.resize(count, values.front());
  return values;
}

bool is_all(const std::vector<std::int64_t>& values, std::int64_t wanted) {
  return std::all_of(values.begin(), values.end(),
                     [&](std::int64_t value) { return value == wanted; });
}

Ends padding_ends(const lang::Attrs& attrs, std::size_t count) {
  const std::vector<std::int64_t> values = for_each_axis(attrs, "padding", count);
  if (values.size() == count) return {values, values};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(count);
  return {{values.begin(), middle}, {middle, values.end()}};
}

lang::AttrValue attr_of_ends(const Ends& ends) {
  std::vector<std::int64_t> values = ends.front;
  values.insert(values.end(), ends.back.begin(), ends.back.end());
  return lang::AttrValue::ints(values);
}

Ends ends_of_pairs(const lang::AttrValue& pairs) {
  Ends ends;
  for (const lang::AttrValue& pair : *pairs.as_list()) {
    const lang::AttrValue::List& both = *pair.as_list();
    ends.front.push_back(*both.at(0).as_int());
    ends.back.push_back(*both.at(1).as_int());
  }
  return ends;
}

}  // namespace relay::opt
