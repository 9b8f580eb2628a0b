#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "index/ways.h"
#include "lang/expr.h"

namespace relay::ad {

// Where an adjoint holds in scalar code: at which points, and on which sides of conditions. A scope
// is in another one, with points of its own or on more sides. Those in which, in the end, the same
// one is are a tree.
class AdjointScopes {
 public:
  using Id = std::size_t;

  // A tree with these points.
  Id outermost(std::vector<lang::IndexBinder> points);
  // The points of a reduction, for each of `around`. Each call makes a scope.
  Id at_points(Id around, std::vector<lang::IndexBinder> points);
  Id on_side(Id around, const index::TakenSide& side);
  // The innermost one around two scopes of a tree: it is taken where one of the two is. Where that
  // depends on inner points, of which some may take a side and others not, it asks for less.
  Id meeting(Id a, Id b);

  std::size_t tree_of(Id scope) const { return levels_[scopes_[scope].level].tree; }
  // Of all that is around the scope, outer ones first.
  std::vector<lang::IndexBinder> points(Id scope) const;
  const std::vector<index::AskedMore>& sides(Id scope);

  // What a use gives to the adjoint of a value.
  struct Part {
    Id scope;  // where it holds
    lang::Expr value;
    bool is_loose;  // may it be other than 0 where the scope is not taken?
  };
  // An adjoint in a scope.
  struct Sum {
    lang::Expr value;
    bool is_loose = false;
  };
  // Of parts in scopes in which `to` is around them: each is 0 where a side is not taken, and
  // summed over points. Of one side and the other, `if a { … } else if b { … }`, they become one
  // choice in the other: the cost is linear in parts and scopes.
  Sum sum(const std::vector<Part>& parts, Id to);
  // Where one of the scopes is taken, in those where `to` is, which is where they all meet; null:
  // all of them. Where points choose sides it may be fewer, for none of them may.
  lang::Expr taken(const std::vector<Id>& scopes, Id to);

 private:
  static constexpr Id kNone = SIZE_MAX;
  // With points of its own.
  struct Level {
    Id around;  // kNone: nothing
    std::size_t tree;
    std::size_t depth;
    std::vector<lang::IndexBinder> points;
    Id all = kNone;  // of its scopes: the one on no side
  };
  struct Scope {
    std::size_t level;
    index::Ways ways;       // at this level
    Id wider = kNone;       // what it was entered from, an earlier one; kNone: not known
    index::TakenSide by{};  // and by which side, as it is written; null: by several
  };
  // What is around the points of a scope, with those sides that these do not choose.
  struct Outer {
    Id scope = kNone;
    bool has_all = false;  // are those all sides?
  };

  Id add_level(Level level);
  Id scope(std::size_t level, index::Ways ways);
  const Outer& outer(Id scope);
  index::AskedMore asked_more(Id inner, Id outer);
  // By scope, inner ones first.
  using Waiting = std::map<Id, Part, std::greater<>>;
  static void add(Waiting& waiting, Part part);
  Part without_points(Part part, Id to);
  void leave_one_by_one(Waiting& waiting, Id to);
  Id wider_than(Id a, Id b) const;
  Id all_of_level(Id scope) const { return levels_[scopes_[scope].level].all; }

  std::vector<Level> levels_;
  std::vector<Scope> scopes_;
  std::map<std::pair<std::size_t, index::Ways>, Id> known_;
  // What has been asked for.
  std::unordered_map<Id, Outer> outer_;
  std::unordered_map<Id, std::vector<index::AskedMore>> sides_;
  index::Conditions conditions_;
};

}  // namespace relay::ad
