#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "lang/expr.h"
#include "lang/pointer_map.h"

// Walking expressions as the graphs they are: every node once, `let` chains in loops.
namespace relay::lang {

// Direct sub-expressions in evaluation order (a Let's are its value and its body).
void for_each_child(const Expr& expr, const std::function<void(const Expr&)>& visit);
// Variables that `expr` itself binds (Let, Function, Match patterns, index binders).
void for_each_binder(const Expr& expr, const std::function<void(const VariableRef&)>& visit);
void for_each_variable(const PatternRef& pattern,
                       const std::function<void(const VariableRef&)>& visit);

// Is it a name, a constant, an operator, a constructor or a dimension, none of which has parts?
bool is_leaf(const Expr& expr);
// Post-order over the graph, each node once. Polls for a request to stop, as a Rewriter does.
void visit_post_order(const Expr& root, const std::function<void(const Expr&)>& visit);

// Rewrites bottom-up, a node that is used in several places once; unchanged nodes come back
// identical (same pointer).
class Rewriter {
 public:
  virtual ~Rewriter() = default;
  Expr rewrite(const Expr& expr);

 protected:
  // Called with a node whose children are already rewritten. Returns the node itself to keep it.
  virtual Expr post(const Expr& expr) { return expr; }
  // Called before children; a non-null result replaces the node without descending.
  virtual Expr pre(const Expr&) { return nullptr; }
  virtual Type rewrite_type(const Type& type) { return type; }
  // Binders; default keeps them (or retypes them when rewrite_type changes their type).
  virtual VariableRef rewrite_variable(const VariableRef& variable);

 private:
  VariableRef replaced(const VariableRef& variable);
  PointerMap<ExprNode, Expr> memo_;              // of nodes with several owners
  PointerMap<Variable, VariableRef> variables_;  // those that change
  std::vector<Expr> keep_alive_;
  std::vector<VariableRef> keep_alive_variables_;
};

// Variables used but not bound inside, in order of first use.
std::vector<VariableRef> free_variables(const Expr& expr);

// Capture is impossible: variables are identities. Each occurrence of a key becomes its value.
using Substitution = std::unordered_map<const Variable*, Expr>;
Expr substitute(const Expr& expr, const Substitution& substitution);

// A copy with fresh Variable objects for everything bound inside (needed when code is duplicated).
Expr rename_bound(const Expr& expr);

// Replaces variables inside all types.
Expr substitute_types(const Expr& expr, const TypeSubstitution& substitution);

}  // namespace relay::lang
