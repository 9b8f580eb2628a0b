#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/graph.h"
#include "models/onnx/value.h"
#include "models/program.h"
#include "models/typer.h"

namespace relay::models::onnx {

// Writes the program of a model: goes through its nodes, and has the builder of each operator
// (models/onnx/operators.h) add lines.
class Importer {
 public:
  Importer(const Model& model, std::map<std::string, std::vector<Extent>> shapes);

  // All that is wrong with the model is thrown at once.
  Program run();

  // For builders.
  Program& program() { return program_; }
  Typer& typer() { return typer_; }
  std::int64_t opset() const { return opset_; }
  // What a value is called in expressions; a constant is written when it is first asked for.
  std::string text_of(Value& value);
  // Adds a line, and gives its value. `hint`: what it would like to be called.
  Value line(std::string_view hint, const std::string& expression);
  // Field `k` of a tuple, which needs no line.
  Value field(const Value& tuple, std::size_t k, std::string name);
  // The type of an expression over the names that are known.
  lang::Type type_of(const std::string& expression);
  // A definition that lines call.
  void define(const std::string& name, const std::string& text);
  // The name of a definition for this text, which is made of the name that it gets: `base`, or,
  // where that has another text, `base_2` and so on.
  std::string definition(const std::string& base,
                         const std::function<std::string(const std::string& name)>& text);
  // The value of a name of the graph, from here outwards. Throws BadData.
  Value& find(const std::string& name);

  // A graph inside of another: its nodes become a block, in which the inputs are called as in
  // `parameters`, and what is outside is seen. Values of its outputs.
  struct Inner {
    Block block;
    std::vector<Value> outputs;
  };
  Inner inner(const Graph& graph, const std::vector<Value>& parameters);
  // The lines of such a block, here.
  void append(Block block);
  // A name that a builder has made, `name: type`, so that lines may use it.
  void declare(const std::string& name, const lang::Type& type);
  Block* exchange_block(Block* block) { return std::exchange(block_, block); }

 private:
  struct Scope {
    std::map<std::string, Value> values;
    std::set<std::string> lost;  // what failed nodes would have made
  };
  void add_input(const Port& port, std::vector<Parameter>& parameters);
  void add_weights(const Graph& graph);
  void add_nodes(const Graph& graph);
  void add_node(const Node& node);
  bool fold(const Node& node);
  void build(const Node& node, std::vector<Value>& outputs);
  void remember(const Node& node, std::vector<Value>& outputs);
  void report(const Node& node, std::vector<lang::Diagnostic> errors);
  bool is_lost(const Node& node);
  lang::Dim extent(const Extent& extent, const std::string& port);

  const Model& model_;
  std::map<std::string, std::vector<Extent>> shapes_;
  std::int64_t opset_;
  Program program_;
  Typer typer_;
  std::vector<Scope> scopes_;
  Block* block_ = nullptr;
  std::map<std::string, lang::Type, std::less<>> locals_;  // of each name in expressions
  std::map<std::string, lang::TypeVarRef> dimensions_;     // by the model's name
  std::vector<lang::TypeVarRef> variables_;
  std::vector<lang::Diagnostic> errors_;
  std::map<std::string, std::string> definitions_;  // the name of each text
  bool writes_literals_ = false;  // a node that is folded: its constants are no weights
  int depth_ = 0;
};

}  // namespace relay::models::onnx
