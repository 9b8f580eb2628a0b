#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lang/expr.h"
#include "lang/module.h"
#include "lang/tensor.h"
#include "lang/type.h"

namespace relay::models::exporter {

struct Scope;  // models/exporter/scope.h
using ScopeRef = Scope*;

// An integer that index notation computes of one index and of extents: `2 * i + n`.
struct Affine {
  std::optional<std::size_t> lane;  // which index; none: the offset alone
  std::int64_t factor = 0;
  lang::Dim offset = {};
};

// What an expression stands for while the graph is being written: a tensor of the graph, or what is
// taken apart before there is a graph (tuples, data, functions).
//
// Inside of index notation a tensor has an axis in front for each index around it, its *lanes*: the
// `depth` indices that were there where it was made, outermost first. A lane has the extent of its
// index where `full` says so, else 1.
struct Value {
  enum class Kind : std::uint8_t {
    Lost,  // what makes it has failed, which has been said
    Tensor,
    Fields,  // a tuple, or data: then with its constructor
    Function
  };
  Kind kind = Kind::Lost;
  lang::Type type = nullptr;           // of a tensor: without lanes
  std::string name = {};               // in the graph; of a constant empty until somebody asks
  lang::TensorRef constant = nullptr;  // what it holds, where that is known
  std::string wanted = {};             // how a constant would like to be called
  std::size_t depth = 0;
  std::vector<bool> full = {};
  std::optional<Affine> affine = std::nullopt;
  std::vector<Value> fields = {};
  const lang::Constructor* constructor = nullptr;
  lang::Expr function = nullptr;  // a literal, an operator, a constructor, or a global's name
  ScopeRef captured = nullptr;    // of a literal

  bool is_lost() const { return kind == Kind::Lost; }
  bool is_tensor() const { return kind == Kind::Tensor; }
  bool has_lanes() const { return depth > 0; }
  const lang::TensorType& tensor() const;
  const std::vector<lang::Dim>& dims() const { return tensor().shape.dims(); }
  std::size_t rank() const { return dims().size(); }
  lang::DType dtype() const { return tensor().dtype.known(); }
};

Value lost_value();
Value tensor_value(std::string name, lang::Type type);
Value constant_value(lang::TensorRef constant, std::string wanted);
Value fields_value(std::vector<Value> fields, lang::Type type,
                   const lang::Constructor* constructor = nullptr);
Value function_value(lang::Expr function, ScopeRef captured);

// The tensors in it, in order; throws Failure where there are functions.
void collect_tensors(const Value& value, std::vector<Value>& tensors);
// The same value with these tensors in it, from `next` on, which moves.
Value with_tensors(const Value& value, const std::vector<Value>& tensors, std::size_t& next);
// The same value with this type, and its fields with theirs, where it is a tensor or a tuple: what
// flows together from several places is no more than their type says.
void give_type(Value& value, const lang::Type& type);
// Do two have the same tuples and constructors?
bool same_form(const Value& a, const Value& b);

}  // namespace relay::models::exporter
