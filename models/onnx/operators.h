#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace relay::models::onnx {

class Call;

// An operator of ONNX: all that is known of it, in one place.
struct Operator {
  std::string_view name;
  void (*build)(Call& call);
  std::string_view doc;  // what of it is not supported, or how it is written; a line
  std::string_view domain = "";
  bool folds = true;  // of constants it is a constant (not what is random)
};

// By family; each in a source of its own.
std::span<const Operator> elementwise_operators();
std::span<const Operator> reduce_operators();
std::span<const Operator> movement_operators();
std::span<const Operator> shape_operators();
std::span<const Operator> indexing_operators();
std::span<const Operator> layer_operators();
std::span<const Operator> recurrent_operators();
std::span<const Operator> control_operators();
std::span<const Operator> quantized_operators();
std::span<const Operator> random_operators();

// All of them, by name.
const std::vector<const Operator*>& operators();
// Null if there is none.
const Operator* find_operator(std::string_view domain, std::string_view name);

// The opsets whose operators these are.
inline constexpr std::int64_t kFirstOpset = 9;
inline constexpr std::int64_t kLastOpset = 17;

}  // namespace relay::models::onnx
