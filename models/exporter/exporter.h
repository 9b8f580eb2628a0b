#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lang/diagnostic.h"
#include "models/exporter/call.h"
#include "models/exporter/graph_writer.h"
#include "models/exporter/program_source.h"
#include "models/exporter/scope.h"
#include "models/graph.h"

namespace relay::models::exporter {

// Writes a function of a program as a graph: goes through its code with values that are tensors of
// the graph. What is known before there is a graph (calls, tuples, data, functions as arguments) is
// carried out on the way; operators become nodes, an `if` on data a node with two graphs, a
// function that ends in a call of itself one with a loop, index notation nodes over whole tensors.
class Exporter {
 public:
  explicit Exporter(ProgramSource& program) : program_(program) {}

  // All that is not supported is thrown at once.
  Model run(const std::string& function, const std::string& path);

 private:
  // --- Expressions (expressions.cpp) ---
  Value value_of(const lang::Expr& expr, ScopeRef scope);
  Value made_of(const lang::Expr& expr, ScopeRef scope);
  Value branch(const lang::If& choice, ScopeRef scope);
  Value match(const lang::Match& match, ScopeRef scope);
  bool bind(const lang::Pattern& pattern, const Value& value, ScopeRef scope);
  Value global(const lang::GlobalVar& use, const lang::Expr& expr);
  Value known(const lang::Value& value, const lang::Type& type, const std::string& name);
  void add_bindings(const lang::Block& block, ScopeRef scope);

  // --- Calls (calls.cpp) ---
  Value call(const lang::Call& call, const lang::Expr& expr, ScopeRef scope);
  Value apply(const Value& function, std::vector<Value> args, const lang::AttrsRef& attrs,
              const lang::Type& type);
  Value apply_function(const Value& callee, const lang::Expr& code, ScopeRef captured,
                       std::vector<Value> args);
  Value apply_operator(const lang::OpDef& op, std::vector<Value> args, const lang::AttrsRef& attrs,
                       const lang::Type& type);
  Value by_definition(const lang::OpDef& op, const std::vector<Value>& args,
                      const lang::AttrsRef& attrs, const lang::Type& type);
  Value folded(const lang::OpDef& op, const std::vector<Value>& args, const lang::Type& type);
  Value primitive(const lang::Primitive& primitive, const lang::Type& type, ScopeRef scope);

  // --- Loops (loops.cpp) ---
  struct LoopForm;
  Value loop(const LoopForm& form, const lang::Function& code, ScopeRef captured,
             std::vector<Value> args);
  ScopeRef loop_head(const LoopForm& form, const lang::Function& code, ScopeRef captured,
                     const std::vector<Value>& values);
  Value loop_condition(const LoopForm& form, ScopeRef head);
  std::optional<std::vector<Value>> loop_step(const LoopForm& form, const lang::Function& code,
                                              ScopeRef head, const std::vector<Value>& args);
  std::shared_ptr<Graph> loop_body(const LoopForm& form, const lang::Function& code,
                                   ScopeRef captured, const std::vector<Value>& args,
                                   std::vector<Value>& state);

  // --- Index notation (index_notation.cpp, gather.cpp) ---
  ScopeRef open_indices(const std::vector<lang::IndexBinder>& binders, ScopeRef scope);
  void close_indices(std::size_t count);
  Value comprehension(const lang::Comprehension& code, const lang::Type& type, ScopeRef scope);
  Value reduction(const lang::Reduction& code, const lang::Type& type, ScopeRef scope);
  // A sum of products as one node; lost where it is none.
  Value contraction(const lang::Reduction& code, const lang::Type& type, ScopeRef inner);
  Value choose(const Value& condition, const Value& a, const Value& b);
  Value index(const lang::Index& code, const lang::Type& type, ScopeRef scope);
  Value scatter(const lang::ScatterReduce& code, const lang::Type& type, ScopeRef scope);
  // With the lanes of the tensor as its first axes, and their indices in front.
  void without_lanes(Value& tensor, std::vector<Value>& indices);
  bool are_slices(const Value& tensor, const std::vector<Value>& indices) const;
  Value sliced(Value tensor, const std::vector<Value>& indices, const lang::Type& type);
  Value gathered(Value tensor, std::vector<Value> indices, const lang::Type& type);
  // Places as one tensor whose last axis are their coordinates, with all of `lanes` lanes.
  std::string places(std::vector<Value> indices, std::size_t lanes);
  Value clamped(Value index, const lang::Dim& extent);

  // --- Lanes (lanes.cpp) ---
  // Gives a number that is known by its formula alone a tensor.
  void materialise(Value& value);
  // With this many lanes.
  void lift(Value& value, std::size_t depth);
  // With these lanes at their full extents.
  void widen(Value& value, std::size_t first, std::size_t last);
  // Brings operands to where ONNX's broadcasting does the rest; the lanes of the result.
  std::vector<bool> align(std::vector<Value>& values);
  Value lane(std::size_t lane);

  ScopeRef scope(ScopeRef outer) { return &scopes_.emplace_back(outer); }
  void report(const lang::Failure& failure, lang::Span span);

  ProgramSource& program_;
  GraphWriter graph_;
  std::deque<Scope> scopes_;
  std::vector<lang::Expr> kept_;  // code that scopes know by its address
  std::vector<lang::Diagnostic> errors_;

  // Functions whose calls are being carried out, and how many branches on data were around.
  struct Active {
    const lang::ExprNode* code;
    std::string name;
    std::size_t branches;
  };
  std::vector<Active> active_;
  std::size_t branches_ = 0;
  struct Lane {  // an index around
    lang::Dim extent;
    std::optional<Value> numbers;  // 0, 1, …, where somebody has asked
  };
  std::vector<Lane> lanes_;
  std::size_t choices_ = 0;  // conditions on single elements around: places may be out of range
};

// A function of a session that has run the program at `path`.
lang::Result<Model> export_function(repl::Session& session, const std::string& function,
                                    const std::string& path);

}  // namespace relay::models::exporter
