#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/graph.h"
#include "models/onnx/importer.h"
#include "models/onnx/value.h"

namespace relay::models::onnx {

// A node whose operator is being written, as its builder sees it.
class Call {
 public:
  Call(Importer& importer, const Node& node, std::vector<Value*> inputs,
       std::vector<Value>& outputs)
      : importer(importer), node(node), inputs_(std::move(inputs)), outputs_(outputs) {}

  Importer& importer;
  const Node& node;

  std::int64_t opset() const { return importer.opset(); }
  std::size_t input_count() const { return inputs_.size(); }
  bool has(std::size_t k) const { return k < inputs_.size() && inputs_[k] != nullptr; }
  Value& in(std::size_t k) const;  // throws BadData where it is not given
  std::string text(std::size_t k) const { return importer.text_of(in(k)); }
  std::size_t rank(std::size_t k) const { return in(k).rank(); }
  // The extents as constants; Unsupported with `why` where one is not.
  std::int64_t extent(std::size_t k, std::size_t axis) const;

  // Attributes.
  std::int64_t integer(std::string_view key, std::int64_t otherwise) const;
  double number(std::string_view key, double otherwise) const;
  std::string string(std::string_view key, std::string otherwise) const;
  std::optional<std::vector<std::int64_t>> integers(std::string_view key) const;
  // One of the axes of a tensor of `rank`; counts from the end if negative. Throws BadData.
  std::size_t axis(std::int64_t axis, std::size_t rank) const;
  std::vector<std::int64_t> axes(std::vector<std::int64_t> axes, std::size_t rank) const;
  // An attribute that later opsets have as an input: the integers of either; nothing if neither is
  // given. Throws Unsupported where the input is no constant.
  std::optional<std::vector<std::int64_t>> integers(std::string_view key, std::size_t input) const;
  // The integers of an input, which have to be known. Throws Unsupported.
  std::vector<std::int64_t> known(std::size_t input) const;
  std::vector<double> known_numbers(std::size_t input) const;
  // A number in the dtype of input `k`.
  std::string like(std::size_t k, double value) const { return literal(value, in(k).dtype()); }

  // A line of its own; its expression is given.
  Value let(std::string_view hint, const std::string& expression) const;
  // The next output is this, in a line named after it.
  void give(const std::string& expression);
  void give(Value value);
  // The same where the builder knows the extents too: the language may leave them open as long as
  // they are no numbers.
  void give(const std::string& expression, std::vector<lang::Dim> extents);
  // All outputs are the fields of a tuple.
  void give_fields(const std::string& expression);
  // Is the output asked for?
  bool wants(std::size_t output) const;
  std::string output_name(std::size_t output) const;
  // What the line of the next output would like to be called.
  std::string hint() const;

  [[noreturn]] void unsupported(const std::string& what) const;
  [[noreturn]] void bad(const std::string& what) const;

 private:
  std::vector<Value*> inputs_;
  std::vector<Value>& outputs_;
};

}  // namespace relay::models::onnx
