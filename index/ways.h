#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <unordered_map>
#include <vector>

#include "index/conditions.h"
#include "lang/expr.h"

namespace relay::index {

// What has to hold so that code is taken: all sides of a set, or all of another one. A side is a
// number here (Conditions). Sorted; {{}} is always, {} never.
using Ways = std::vector<std::vector<std::size_t>>;

// What one asks for and another does not.
struct AskedMore {
  std::vector<TakenSide> sides;  // of all ways; outer ones first
  TakenSide any;                 // of what else the ways ask for; null where it is nothing

  std::vector<TakenSide> all() const;
  // The value where they are taken, and 0 elsewhere. `is_loose`: may it be other than 0 where `any`
  // is not?
  lang::Expr kept(lang::Expr value, bool is_loose) const;
};

// The conditions of scalar code at the same points, which may be asked in any order. They are known
// by their nodes.
class Conditions {
 public:
  // Where the side is taken, too.
  Ways also(const Ways& ways, const TakenSide& side);
  // Without what says nothing: {a} or {not a, b} is {a} or {b}. Each way that is new is compared
  // with those that there are; of more than 64 one is made that asks for a condition of its own.
  Ways either(const Ways& a, const Ways& b);
  Ways both(const Ways& a, const Ways& b);
  // What they ask for by such conditions.
  Ways only(const Ways& ways, const std::function<bool(const lang::Expr& condition)>& is_such);
  // `inner` is taken only where `outer` is.
  AskedMore asked_more(const Ways& inner, const Ways& outer);

 private:
  Ways also_plain(const Ways& ways, const TakenSide& side);
  std::size_t number_of(const TakenSide& side);
  TakenSide side(std::size_t number) const;
  lang::Expr any_of(const Ways& ways);  // the same node each time
  Ways few(Ways ways);

  std::vector<lang::Expr> conditions_;
  std::unordered_map<const lang::ExprNode*, std::size_t> numbers_;
  std::map<Ways, lang::Expr> any_of_;
};

}  // namespace relay::index
