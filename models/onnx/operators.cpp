#include "models/onnx/operators.h"

#include <algorithm>

namespace relay::models::onnx {

const std::vector<const Operator*>& operators() {
  static const std::vector<const Operator*> all = [] {
    std::vector<const Operator*> list;
    for (const auto family :
         {elementwise_operators(), reduce_operators(), movement_operators(), shape_operators(),
          indexing_operators(), layer_operators(), recurrent_operators(), control_operators(),
          quantized_operators(), random_operators()}) {
      for (const Operator& each : family) list.push_back(&each);
    }
    std::sort(list.begin(), list.end(),
              [](const Operator* a, const Operator* b) { return a->name < b->name; });
    return list;
  }();
  return all;
}

const Operator* find_operator(std::string_view domain, std::string_view name) {
  for (const Operator* each : operators()) {
    if (each->name == name && (each->domain == domain)) return each;
  }
  return nullptr;
}

}  // namespace relay::models::onnx
