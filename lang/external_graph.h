#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lang/attrs.h"
#include "lang/expr.h"
#include "lang/tensor.h"

// A function that another compiler runs, as plain data: what such a compiler has to know, and
// nothing of expressions. Every value is a tensor; tuples are their fields, one behind another.
namespace relay::lang {

struct ExternalType {
  DType dtype = DType::Float32;
  std::vector<std::int64_t> shape;
  friend bool operator==(const ExternalType&, const ExternalType&) = default;
};

struct ExternalNode;

// One result of a node.
struct ExternalValue {
  std::size_t node = 0;
  std::size_t output = 0;
};

struct ExternalNode {
  enum class Kind : std::uint8_t { Parameter, Constant, Call };
  Kind kind = Kind::Parameter;
  std::vector<ExternalType> outputs;
  TensorRef constant;  // of a Constant, row-major
  // Of a Call:
  std::string op;
  AttrsRef attrs;  // all of them; null where the operator has none
  std::vector<ExternalValue> inputs;
  int composite = -1;  // the place of the composite that it is part of; -1: of none
};

// The nodes first to last, without gaps, are one call of a composite, whose result is that of the
// last.
struct ExternalComposite {
  std::string name;
  std::size_t first = 0;
  std::size_t last = 0;
};

struct ExternalGraph {
  std::string symbol;  // `global_symbol`; may be empty
  std::vector<ExternalNode> nodes;
  std::size_t parameters = 0;  // so many nodes at the beginning
  std::vector<ExternalComposite> composites;
  std::vector<ExternalValue> results;
  std::string text;  // the function in strict notation

  const ExternalType& type_of(const ExternalValue& value) const {
    return nodes[value.node].outputs[value.output];
  }
};

// Of a typed function in A-normal form, of calls of operators, tuples and projections. Throws
// Failure (Unsupported), at the place, for everything else.
// `has_text`: with the function as a text.
ExternalGraph external_graph(const Function& function, bool has_text = true);

}  // namespace relay::lang
