#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lang/op.h"
#include "models/exporter/graph_writer.h"
#include "models/exporter/value.h"

namespace relay::models::exporter {

// A call of an operator, as the builder of its nodes sees it.
struct Call {
  GraphWriter& graph;
  const lang::OpDef& op;
  std::vector<Value> args;
  lang::AttrsRef attrs;
  lang::Type type;  // of the result
  std::size_t depth = 0;
  std::vector<bool> full =
      {};  // the lanes of the result, of operators that work element by element

  // Throws Unsupported; `what` goes on behind "not supported in ONNX: `nn.pad` ".
  [[noreturn]] void unsupported(const std::string& what) const;

  Value& arg(std::size_t k) { return args[k]; }
  std::string in(std::size_t k) { return graph.name_of(args[k]); }
  std::size_t rank(std::size_t k) const { return args[k].rank(); }
  lang::DType dtype(std::size_t k = 0) const { return args[k].dtype(); }
  const std::vector<lang::Dim>& dims(std::size_t k = 0) const { return args[k].dims(); }
  // Of the result, which is one tensor.
  const lang::TensorType& result() const;
  // An extent that has to be a number.
  std::int64_t number(const lang::Dim& dim, std::string_view of) const;

  std::string node(std::string_view name, std::vector<std::string> inputs,
                   Attributes attributes = {}) {
    return graph.node(name, std::move(inputs), std::move(attributes));
  }
  // The result: this tensor of the graph.
  Value give(std::string name) const;
  // A node of the inputs alone, which is the result.
  Value give_node(std::string_view name, Attributes attributes = {});

  // The extent of an axis of an operand as an int64 of the graph: also one that is not known.
  std::string extent_of(std::size_t k, std::int64_t axis);
  std::int64_t axis(std::string_view key, std::size_t rank) const;
  // Those of a reduction: `axis`, `exclude`.
  std::vector<std::int64_t> reduced_axes() const;
};

std::string cast(Call& call, const std::string& name, lang::DType to);
// A tensor of these extents as one of those; nothing where they are the same.
std::string reshape(GraphWriter& graph, const std::string& name, const std::vector<lang::Dim>& from,
                    const std::vector<lang::Dim>& to);
std::string transpose(GraphWriter& graph, const std::string& name,
                      const std::vector<std::int64_t>& axes);
// As much of a tensor as these places are; `axes` of the tensor.
std::string slice(GraphWriter& graph, const std::string& name, const std::string& begins,
                  const std::string& ends, const std::vector<std::int64_t>& axes,
                  const std::vector<std::int64_t>& steps);

}  // namespace relay::models::exporter
