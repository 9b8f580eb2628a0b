#pragma once

#include <cstdint>
#include <vector>

namespace relay::tests {

using Shape = std::vector<std::int64_t>;

// A type of the programs.
struct Ty {
  enum class Kind : std::uint8_t {
    Tensor,
    Tuple,
    List,
    Option,
    Tree,    // of leaves
    Rose,    // of nodes with a list of children
    Record,  // Params, with an integer in it
    Choice,  // a data type whose constructors hold different things
    Function
  };
  Kind kind = Kind::Tensor;
  Shape shape = {};            // Tensor
  std::vector<Ty> parts = {};  // fields; element; parameters, then the result

  bool is_tensor() const { return kind == Kind::Tensor; }
  bool is_scalar() const { return is_tensor() && shape.empty(); }
  bool is_function() const { return kind == Kind::Function; }
  const Ty& element() const { return parts[0]; }
  const Ty& result() const { return parts.back(); }
  bool operator==(const Ty& other) const {
    return kind == other.kind && shape == other.shape && parts == other.parts;
  }
  bool holds_function() const;
  bool element_is_tensor() const;  // and that of each part
};

}  // namespace relay::tests
