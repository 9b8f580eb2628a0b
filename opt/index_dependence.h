#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lang/expr.h"
#include "opt/effect.h"
#include "opt/may_fail.h"

// Private to normalisation: what may leave index notation.
namespace relay::opt {

// What needs no name: atoms, but for constants of rank > 0, which get one so that index notation
// and groups only read variables.
bool is_nameless(const lang::Expr& expr);
// The parts of index notation that are evaluated once per index value.
std::vector<lang::Expr> repeated_parts(const lang::Expr& expr);
// Can zeros stand in its place?
bool has_zeros(const lang::Type& type);
// Can it be evaluated behind a test, with zeros where that does not hold?
bool may_be_guarded(const lang::Expr& expr);

// Which parts of the bodies of index notation depend on its indices. Independent pure parts are
// evaluated once, outside.
class IndexDependence {
 public:
  IndexDependence(PureFailures& failures, Effects& effects)
      : failures_(failures), effects_(effects) {}

  // What a `let` in sight binds.
  void define(const lang::Let& let) { totals_.define(let.variable, let.value); }
  // A node of index notation, after all that stands inside of it has been defined.
  void look_at(const lang::Expr& nest);

  // Inside of a nest that has been looked at.
  bool depends(const lang::ExprNode* nest, const lang::Expr& expr) const {
    return known_.at(nest).nodes.contains(expr.get());
  }
  // May it be evaluated, and is that worth it, where nobody may need it: a field that is read, or
  // work on tensors that always gives a value? A body without points, or a branch that is not
  // taken, has computed it in vain then, and no more than that.
  bool is_speculative(const lang::Expr& expr);
  // Does it mention nothing that is bound inside of the nest, and stays there?
  bool is_known_outside(const lang::ExprNode* nest, const lang::Expr& expr) const;

 private:
  struct Nest {
    std::unordered_set<const lang::ExprNode*> nodes;   // that depend on the indices
    std::unordered_set<const lang::Variable*> bound;   // so do these
    std::unordered_set<const lang::Variable*> inside;  // bound inside, and stay there
    std::unordered_set<const lang::ExprNode*> seen;
  };
  // Where a part of a body stands.
  struct Way {
    bool in_branch = false;    // of an `if` or a `match`
    bool in_nest = false;      // further inside
    bool in_function = false;  // in a literal
  };
  void walk(const lang::Expr& root, Nest& nest, Way way);
  void walk_children(const lang::Expr& expr, Nest& nest, Way way);
  bool may_leave(const lang::Expr& value, const Nest& nest, Way way);

  PureFailures& failures_;
  Effects& effects_;
  PureFailures totals_{PureFailures::Counted::All};
  std::unordered_map<const lang::ExprNode*, Nest> known_;
};

}  // namespace relay::opt
