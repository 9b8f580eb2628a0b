#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lang/dtype.h"
#include "lang/tensor.h"

// A model as its format describes it, whatever the format is: what a reader fills in, and an
// importer makes a program of.
namespace relay::models {

struct Graph;

// An extent as a file gives it: a number, a name that stands for one, or neither.
struct Extent {
  std::optional<std::int64_t> number;
  std::string name;
};

// What goes in or comes out, by its name.
struct Port {
  std::string name;
  std::optional<lang::DType> dtype;
  std::optional<std::vector<Extent>> shape;  // none: the file does not say, not even the rank
};

using Attribute =
    std::variant<std::int64_t, double, std::string, lang::TensorRef, std::shared_ptr<Graph>,
                 std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>>;

struct Node {
  std::string op;
  std::string domain;  // of the operator; empty: the format's own operators
  std::string name;
  std::vector<std::string> inputs;  // an empty name: one that is not given
  std::vector<std::string> outputs;
  std::map<std::string, Attribute, std::less<>> attributes;

  // The attribute, if there is one of this name and kind; else null.
  template <class T>
  const T* find(std::string_view key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? nullptr : std::get_if<T>(&found->second);
  }
  // The same with a default value.
  template <class T>
  T get(std::string_view key, T otherwise) const {
    const T* found = find<T>(key);
    return found ? *found : otherwise;
  }
};

struct Weight {
  std::string name;
  lang::TensorRef tensor;  // contiguous
};

// Nodes in an order in which each stands behind what it uses.
struct Graph {
  std::string name;
  std::vector<Port> inputs;  // without those that are weights
  std::vector<Port> outputs;
  std::vector<Weight> weights;
  std::vector<Node> nodes;
};

struct Model {
  Graph graph;
  std::string producer;                        // who wrote it; may be empty
  std::map<std::string, std::int64_t> opsets;  // of each domain
};

}  // namespace relay::models
