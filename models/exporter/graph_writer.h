#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lang/dim.h"
#include "models/exporter/value.h"
#include "models/graph.h"

namespace relay::models::exporter {

using Attributes = std::map<std::string, Attribute, std::less<>>;

// Makes the nodes of a graph, and of the graphs inside of it, in order; and the constants and
// extents that they need, each once.
class GraphWriter {
 public:
  // An input of the model: its extents are what the dimension variables stand for.
  std::string input(const std::string& wanted, const lang::Type& type);

  // A node with one output, whose name it gives. An input without name is not given.
  std::string node(std::string_view op, std::vector<std::string> inputs,
                   Attributes attributes = {});
  std::vector<std::string> nodes(std::string_view op, std::vector<std::string> inputs,
                                 Attributes attributes, std::size_t outputs);

  // With axes of extent 1 at these places of the result, and without them. What has just got them
  // loses them without a node.
  std::string unsqueeze(const std::string& name, const std::vector<std::int64_t>& axes);
  std::string squeeze(const std::string& name, const std::vector<std::int64_t>& axes);

  // The name of a tensor; a constant gets one when it is first asked for.
  std::string name_of(Value& value);
  // An initializer; what has no name and few elements is part of the code: a node `Constant`.
  std::string constant(const lang::TensorRef& tensor, std::string_view wanted = "");
  std::string integers(const std::vector<std::int64_t>& numbers);  // one axis, int64
  std::string scalar(double number, lang::DType dtype);            // no axes
  // An extent as an int64 without axes, several with one axis. Throws Unsupported for one that is
  // not known of any input.
  std::string extent(const lang::Dim& dim);
  std::string extents(const std::vector<lang::Dim>& dims);

  // Gives the output of a node a name that somebody has chosen; the first who does counts.
  void rename(const Value& value, const std::string& wanted);

  // What is written from here on belongs to a graph inside of this one.
  void open(const std::string& name);
  // The name by which such a graph gives a tensor: of a node of its own that gives nothing else.
  std::string output(Value& value, const std::string& wanted);
  // A name for an input of the inner graph.
  std::string inner_input(const std::string& wanted, const lang::Type& type);
  std::shared_ptr<Graph> close();

  // The whole, without nodes and constants that nothing needs.
  Graph finish();

 private:
  struct Level {
    Graph graph;
    std::set<std::string> given;  // its outputs
  };
  struct Source {  // of a dimension variable: an extent of an input
    std::string input;
    std::int64_t axis;
    lang::Dim extent;
  };
  std::string fresh(std::string_view wanted);
  std::string extent_of(const lang::DimAtom& atom);
  std::string variable(const lang::TypeVarRef& var);
  // A node in front of all others, which depends on inputs alone; the same one for the same.
  std::string early(std::string_view op, std::vector<std::string> inputs,
                    Attributes attributes = {});

  std::vector<Level> levels_ = std::vector<Level>(1);
  std::vector<Node> early_;
  std::map<std::string, std::string> early_names_;
  std::vector<Source> sources_;
  std::set<std::string> taken_;
  std::map<std::string, int> next_;
  // Until the end what nodes give is called by numbers, so that names that somebody has chosen come
  // first.
  std::string numbered();
  int numbers_ = 0;
  std::map<std::pair<std::string, std::vector<std::int64_t>>, std::string> before_;  // unsqueeze
  std::map<std::string, std::string> names_;  // of those that have one
  std::map<std::string, std::vector<std::pair<lang::TensorRef, std::string>>> constants_;
};

// What a type says of a port.
Port port_of(const std::string& name, const lang::Type& type);

}  // namespace relay::models::exporter
