#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lang/dim.h"
#include "lang/tensor.h"
#include "lang/type.h"

namespace relay::models::onnx {

// What a name of the graph stands for while the program is being written.
struct Value {
  std::string name;  // of the graph: weights keep it
  std::string text;  // an expression without brackets of its own; empty: a constant not written yet
  lang::Type type;   // null: the node that makes it has failed, which has been said
  lang::TensorRef constant = nullptr;  // what it holds, where that is known
  // The elements of an integer tensor of at most one axis, where these are arithmetic over extents.
  std::optional<std::vector<lang::Dim>> elements = std::nullopt;
  // A constant that somebody may want to train, or that is long: stays one, and is read from the
  // file.
  bool is_weight = false;
  bool is_zero = false;  // all of it, though its extents may not be known

  bool is_lost() const { return !type; }
  const lang::TensorType& tensor() const;
  std::size_t rank() const { return tensor().shape.rank(); }
  const std::vector<lang::Dim>& dims() const { return tensor().shape.dims(); }
  lang::DType dtype() const { return tensor().dtype.known(); }
};

Value constant_value(std::string name, lang::TensorRef tensor);
// Of these elements; a scalar if `is_scalar`, which has one of them. int64 or int32.
Value elements_value(std::string name, std::vector<lang::Dim> elements, bool is_scalar,
                     lang::DType dtype = lang::DType::Int64);

// Is it worth while to know these? Not where they are many, or long.
bool are_few(const std::vector<lang::Dim>& elements);

// The integers of a constant of at most one axis.
std::optional<std::vector<std::int64_t>> integers_of(const Value& value);
// The numbers of a constant, in row-major order.
std::optional<std::vector<double>> numbers_of(const Value& value);

// A tensor of numbers as an expression: `2.0`, `[1i64, 2]`; only of short ones.
std::string literal(const lang::Tensor& tensor);
std::string literal(double value, lang::DType dtype);
// `[1, n, 2 * n]`
std::string list_text(const std::vector<lang::Dim>& dims);
std::string list_text(const std::vector<std::int64_t>& numbers);
std::string dtype_text(lang::DType dtype);  // in quotes

}  // namespace relay::models::onnx
