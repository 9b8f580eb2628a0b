#include "index/decided_choices.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lang/alpha_equal.h"
#include "lang/comparison.h"
#include "lang/op.h"

namespace relay::index {

using lang::as;
using lang::Expr;
using lang::Prim;

namespace {

// True or false because of something else; nothing: it may be either.
using Verdict = std::optional<bool>;

// The signs that the difference of its operands may have.
unsigned signs_of(Prim comparison) {
  constexpr unsigned kNegative = 1, kZero = 2, kPositive = 4;
  switch (comparison) {
    case Prim::Lt:
      return kNegative;
    case Prim::Le:
      return kNegative | kZero;
    case Prim::Gt:
      return kPositive;
    case Prim::Ge:
      return kPositive | kZero;
    case Prim::Eq:
      return kZero;
    default:
      return kNegative | kPositive;
  }
}

// Of int64, as it is where the side is taken.
struct Comparison {
  Prim prim;
  const Expr *left, *right;
};

std::optional<Comparison> comparison_of(const TakenSide& side) {
  const auto step = lang::arithmetic_step(side.condition);
  if (!step || !lang::is_comparison(step->prim) || !is_int64(step->args[0])) return std::nullopt;
  return Comparison{side.holds ? step->prim : lang::negated(step->prim), &step->args[0],
                    &step->args[1]};
}

Verdict by_other(const TakenSide& side, const TakenSide& known) {
  if (lang::alpha_equal(side.condition, known.condition)) return side.holds == known.holds;
  const auto asked = comparison_of(side), given = comparison_of(known);
  if (!asked || !given) return std::nullopt;
  const auto are_equal = [](const Expr* a, const Expr* b) { return lang::alpha_equal(*a, *b); };
  Prim prim = given->prim;
  if (are_equal(asked->left, given->right) && are_equal(asked->right, given->left)) {
    prim = lang::mirrored(prim);
  } else if (!are_equal(asked->left, given->left) || !are_equal(asked->right, given->right)) {
    return std::nullopt;
  }
  const unsigned of_asked = signs_of(asked->prim), of_given = signs_of(prim);
  if ((of_given & ~of_asked) == 0) return true;
  if ((of_given & of_asked) == 0) return false;
  return std::nullopt;
}

// Of conjuncts together, by those of `known` but the one at `place`.
Verdict by_others(const std::vector<TakenSide>& conjuncts, const std::vector<TakenSide>& known,
                  std::size_t place) {
  Verdict all = true;
  for (const TakenSide& side : conjuncts) {
    Verdict verdict;
    for (std::size_t i = 0; i < known.size() && !verdict; ++i) {
      if (i != place) verdict = by_other(side, known[i]);
    }
    if (verdict == false) return false;
    if (!verdict) all = std::nullopt;
  }
  return all;
}

// False where others decide nothing of the choice at `place`.
bool decide(std::vector<TakenSide>& sides, std::size_t place) {
  const TakenSide choice = sides[place];
  const std::optional<Junction> one_of = junction(choice.condition);
  if (!one_of) return false;
  std::vector<TakenSide> a = conjuncts({one_of->a, choice.holds});
  std::vector<TakenSide> b = conjuncts({one_of->b, choice.holds});
  const Verdict of_a = by_others(a, sides, place), of_b = by_others(b, sides, place);
  if (!of_a && !of_b) return false;
  const auto rest = sides.erase(sides.begin() + static_cast<std::ptrdiff_t>(place));
  if (of_a != true && of_b != true) {
    const std::vector<TakenSide>& other = of_a ? b : a;
    sides.insert(rest, other.begin(), other.end());
  }
  return true;
}

}  // namespace

std::vector<TakenSide> with_choices_decided(std::vector<TakenSide> conjuncts) {
  for (std::size_t place = 0; place < conjuncts.size();) {
    place = decide(conjuncts, place) ? 0 : place + 1;
  }
  return conjuncts;
}

}  // namespace relay::index
