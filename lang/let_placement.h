#pragma once

#include <unordered_map>
#include <unordered_set>

#include "lang/expr.h"
#include "lang/light_piece.h"
#include "lang/print_scopes.h"

// Private to the printer of light notation.
namespace relay::lang {

// Which values of `let` are written where they are used, and which have a line of their own: the
// program that is read back must do the same in the same order, and be as easy to read as it can.
class LetPlacement {
 public:
  // `plan` must outlive this.
  explicit LetPlacement(const ScopePlan& plan) : plan_(plan) {}

  // Each node of the program is noted before anything is asked, those below it first.
  void note(const Expr& node);

  bool is_used(const VariableRef& variable) const { return uses_.contains(variable.get()); }
  // Without effects, whatever variables stand for.
  bool is_pure_node(const Expr& node) const { return pure_.contains(node.get()); }
  // May the let's value, whose text is `value`, go from `scope` to where it is used?
  bool goes_to_its_use(const Let& let, const Piece& value, int scope) const;
  // It does.
  void move(const Let& let);

 private:
  struct Uses {
    int count = 0;
    int scope = 0;  // of the last one
  };
  void note_purity(const Expr& node);
  // Pure, also with what has gone into it.
  bool is_pure(const Expr& value) const;
  bool comes_next(const Let& let) const;

  const ScopePlan& plan_;
  std::unordered_map<const Variable*, Uses> uses_;
  std::unordered_set<const ExprNode*> pure_;
  std::unordered_set<const Variable*> moved_;  // those with effects
};

}  // namespace relay::lang
