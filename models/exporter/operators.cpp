#include "models/exporter/operators.h"

#include <algorithm>

namespace relay::models::exporter {

const std::vector<const Operator*>& operators() {
  static const std::vector<const Operator*> all = [] {
    std::vector<const Operator*> list;
    for (const auto family : {elementwise_operators(), product_operators(), window_operators(),
                              layer_operators(), reduce_operators(), shape_operators(),
                              join_operators(), indexing_operators(), making_operators()}) {
      for (const Operator& each : family) list.push_back(&each);
    }
    std::sort(list.begin(), list.end(),
              [](const Operator* a, const Operator* b) { return a->name < b->name; });
    return list;
  }();
  return all;
}

const Operator* find_operator(std::string_view name) {
  const auto& all = operators();
  const auto found =
      std::lower_bound(all.begin(), all.end(), name,
                       [](const Operator* each, std::string_view key) { return each->name < key; });
  return found != all.end() && (*found)->name == name ? *found : nullptr;
}

}  // namespace relay::models::exporter
