#pragma once

#include <unordered_map>
#include <unordered_set>

#include "lang/expr.h"
#include "lang/module.h"

namespace relay::opt {

// What evaluating code does besides giving a value or failing.
class Effects {
 public:
  // `program` knows the functions that are called; null: those may do anything.
  explicit Effects(lang::Program* program = nullptr) : program_(program) {}
  // What a `let` in sight binds.
  void define(const lang::VariableRef& variable, const lang::Expr& value);

  // Does evaluating the expression (not calling a function value it yields) have effects:
  // references, print, assert, load, calls of functions not known to be pure.
  bool has_effect(const lang::Expr& expr);
  // The same, but checks of extents (`check_dims`, `check_shape`) count as none: they may be made
  // earlier, and once instead of in each step.
  bool is_bound_to_place(const lang::Expr& expr);

 private:
  bool is_found(const lang::Expr& expr, bool checks_count);
  bool is_found_in(const lang::Expr& root);
  bool is_own(const lang::Expr& node);
  bool does_call(const lang::Call& call);
  // Has a call of this function value effects, if those that it is given have none?
  bool does_calling(const lang::Expr& function);

  lang::Program* program_;
  bool checks_count_ = true;
  std::unordered_map<const lang::Variable*, lang::Expr> functions_;
  std::unordered_set<const lang::Variable*> open_;  // those whose bodies are being looked into
  std::unordered_set<const lang::ExprNode*> seen_;  // by this question, which had found nothing
};

}  // namespace relay::opt
