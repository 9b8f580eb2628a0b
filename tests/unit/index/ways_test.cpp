// Sets of sides (index/ways) against truth tables: what they ask for is what was put together.

#include "index/ways.h"

#include <array>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "lang/build.h"
#include "lang/visit.h"
#include "tests/support/random.h"

namespace relay::tests {
namespace {

using index::AskedMore;
using index::TakenSide;
using index::Ways;
using lang::Expr;
using lang::Prim;
namespace build = lang::build;

constexpr std::size_t kConditions = 4;

// A set of the assignments of truths to all conditions, by their number.
using Truths = std::uint16_t;

// The conditions, and what is made of them.
class Formulas {
 public:
  explicit Formulas(std::uint64_t seed) : random_(seed) {
    for (std::size_t i = 0; i < kConditions; ++i)
      plain_.push_back(
          lang::make_var(lang::make_variable("c", lang::scalar_type(lang::DType::Bool))));
  }

  Truths truths(const Expr& formula) const {
    for (std::size_t i = 0; i < kConditions; ++i) {
      if (plain_[i].get() == formula.get()) return kTruths[i];
    }
    if (const auto* constant = lang::as<lang::Constant>(formula))
      return constant->value->bits_at(0) != 0 ? 0xffff : 0;
    const auto& node = lang::cast<lang::Primitive>(formula);
    const auto of = [&](std::size_t i) { return truths(node.args[i]); };
    switch (node.prim) {
      case Prim::And:
        return of(0) & of(1);
      case Prim::Or:
        return of(0) | of(1);
      case Prim::Not:
        return static_cast<Truths>(~of(0));
      default:
        return static_cast<Truths>((of(0) & of(1)) | (~of(0) & of(2)));  // Select
    }
  }

  Truths truths(const std::vector<TakenSide>& sides) const {
    Truths all = 0xffff;
    for (const TakenSide& side : sides) {
      const Truths each = truths(side.condition);
      all &= side.holds ? each : static_cast<Truths>(~each);
    }
    return all;
  }

  Truths truths(const AskedMore& asked) const {
    return truths(asked.sides) & (asked.any.condition ? truths({asked.any}) : 0xffff);
  }

  // Each node is kept: a condition is known by it.
  Expr formula(int depth) {
    const std::size_t choice = random_.below(depth > 0 ? 6 : 1);
    if (choice < 2) return plain_[random_.below(kConditions)];
    const Expr a = formula(depth - 1), b = formula(depth - 1);
    const Expr truth = build::constant(lang::DType::Bool, random_.one_in(2) ? 1 : 0);
    const std::array<Expr, 4> all = {build::prim(Prim::And, {a, b}), build::prim(Prim::Or, {a, b}),
                                     build::prim(Prim::Not, {a}),
                                     random_.one_in(2) ? build::prim(Prim::Select, {a, truth, b})
                                                       : build::prim(Prim::Select, {a, b, truth})};
    kept_.push_back(all[choice - 2]);
    return kept_.back();
  }

  Random& random() { return random_; }
  const std::vector<Expr>& plain() const { return plain_; }

 private:
  static constexpr std::array<Truths, kConditions> kTruths = {0xaaaa, 0xcccc, 0xf0f0, 0xff00};

  Random random_;
  std::vector<Expr> plain_, kept_;
};

TEST_CASE("ways ask for what they were made of") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Formulas formulas(seed);
    Random& random = formulas.random();
    index::Conditions conditions;
    const Ways always{{}};
    struct Known {
      Ways ways;
      Truths truths;
    };
    std::vector<Known> all{{always, 0xffff}};
    for (int step = 0; step < 25; ++step) {
      const Known a = all[random.below(all.size())], b = all[random.below(all.size())];
      Known made;
      switch (random.below(4)) {
        case 0:
          made = {conditions.either(a.ways, b.ways), static_cast<Truths>(a.truths | b.truths)};
          break;
        case 1:
          made = {conditions.both(a.ways, b.ways), static_cast<Truths>(a.truths & b.truths)};
          break;
        default: {
          const TakenSide side{formulas.formula(2), random.one_in(2)};
          made = {conditions.also(a.ways, side),
                  static_cast<Truths>(a.truths & formulas.truths({side}))};
        }
      }
      REQUIRE(formulas.truths(conditions.asked_more(made.ways, always)) == made.truths);
      const Ways wider = conditions.either(made.ways, a.ways);
      const Truths known = formulas.truths(conditions.asked_more(wider, always));
      REQUIRE(known == (made.truths | a.truths));
      REQUIRE((formulas.truths(conditions.asked_more(made.ways, wider)) & known) == made.truths);
      const Expr& other = formulas.plain()[0];
      const Ways only =
          conditions.only(made.ways, [&](const Expr& each) { return each.get() != other.get(); });
      REQUIRE((formulas.truths(conditions.asked_more(only, always)) & made.truths) == made.truths);
      all.push_back(std::move(made));
    }
  }
}

TEST_CASE("ways say nothing twice") {
  Formulas formulas(0);
  index::Conditions conditions;
  const Ways always{{}};
  const std::vector<Expr>& c = formulas.plain();
  const Ways first = conditions.also(always, {c[0], true});
  const Ways second = conditions.also(conditions.also(always, {c[0], false}), {c[1], true});
  const Ways neither = conditions.also(conditions.also(always, {c[0], false}), {c[1], false});
  // `if a { … } else if b { … }`: a, or b.
  CHECK(conditions.either(first, second) ==
        conditions.either(first, conditions.also(always, {c[1], true})));
  // With the last `else`: always.
  CHECK(conditions.either(conditions.either(first, second), neither) == always);
  CHECK(conditions.either(neither, conditions.either(second, first)) == always);
  // What is asked for already.
  CHECK(conditions.also(first, {build::prim(Prim::Not, {c[0]}), false}) == first);
}

// More ways than are compared become one that asks for the same.
TEST_CASE("many ways become one") {
  index::Conditions conditions;
  const Ways always{{}};
  std::vector<Expr> kept;
  Ways all;
  for (int i = 0; i < 200; ++i) {
    kept.push_back(lang::make_var(lang::make_variable("c", lang::scalar_type(lang::DType::Bool))));
    const Ways each = conditions.also(always, {kept.back(), true});
    all = i == 0 ? each : conditions.either(all, each);
    CHECK(all.size() <= 64);
  }
  std::size_t conditions_asked = 0;
  const AskedMore asked = conditions.asked_more(all, always);
  lang::visit_post_order(
      asked.any.condition ? asked.any.condition : asked.sides.at(0).condition,
      [&](const Expr& node) { conditions_asked += lang::as<lang::Var>(node) != nullptr; });
  CHECK(conditions_asked == 200);
}

}  // namespace
}  // namespace relay::tests
