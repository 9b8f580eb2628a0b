// Conditions of any point (index/any_point), with sides that bound indices and others, against the
// points one by one.

#include "index/any_point.h"

#include <cstdint>
#include <map>
#include <vector>

#include <catch2/catch.hpp>

#include "lang/binders.h"
#include "lang/build.h"
#include "lang/op.h"
#include "lang/visit.h"
#include "tests/support/random.h"

namespace relay::tests {
namespace {

using index::TakenSide;
using lang::Expr;
using lang::IndexBinder;
using lang::Prim;
namespace build = lang::build;

constexpr std::int64_t kExtent = 5;  // of points; `around` is between -kExtent and 2 kExtent

// A rank-0 int64 or bool, with values for all variables.
class Evaluation {
 public:
  std::map<const lang::Variable*, std::int64_t> values;

  std::int64_t operator()(const Expr& expr) {
    if (const auto* var = lang::as<lang::Var>(expr)) return values.at(var->variable.get());
    if (const auto* constant = lang::as<lang::Constant>(expr))
      return static_cast<std::int64_t>(constant->value->number_at(0));
    if (const auto* any = lang::as<lang::Reduction>(expr)) return any_of(*any, 0) ? 1 : 0;
    const auto step = lang::arithmetic_step(expr);
    const std::int64_t a = (*this)(step->args[0]);
    const std::int64_t b = step->args.size() > 1 ? (*this)(step->args[1]) : 0;
    switch (step->prim) {
      case Prim::Add:
        return a + b;
      case Prim::Sub:
        return a - b;
      case Prim::Mul:
        return a * b;
      case Prim::Lt:
        return a < b ? 1 : 0;
      case Prim::Le:
        return a <= b ? 1 : 0;
      case Prim::Gt:
        return a > b ? 1 : 0;
      case Prim::Ge:
        return a >= b ? 1 : 0;
      case Prim::Eq:
        return a == b ? 1 : 0;
      case Prim::Ne:
        return a != b ? 1 : 0;
      case Prim::And:
        return a & b;
      case Prim::Or:
        return a | b;
      case Prim::Not:
        return 1 - a;
      default:
        FAIL("no such step");
        return 0;
    }
  }

 private:
  bool any_of(const lang::Reduction& any, std::size_t axis) {
    if (axis == any.binders.size()) return (*this)(any.body) != 0;
    const std::int64_t extent = (*this)(any.binders[axis].extent);
    bool found = false;
    for (std::int64_t i = 0; i < extent && !found; ++i) {
      values[any.binders[axis].variable.get()] = i;
      found = any_of(any, axis + 1);
    }
    return found;
  }
};

// Sides over two points and two numbers around them.
class Sides {
 public:
  explicit Sides(std::uint64_t seed) : random_(seed) {
    for (const char* name : {"i", "j"}) points.push_back({variable(name), extent(points.size())});
  }

  std::vector<IndexBinder> points;
  std::vector<Expr> around = {lang::make_var(variable("a")), lang::make_var(variable("b"))};

  std::vector<TakenSide> some() {
    std::vector<TakenSide> sides;
    for (std::uint64_t n = random_.below(4); n > 0; --n)
      sides.push_back({condition(static_cast<int>(random_.below(3))), !random_.one_in(3)});
    return sides;
  }

 private:
  static lang::VariableRef variable(const char* name) {
    return lang::make_variable(name, lang::scalar_type(lang::DType::Int64));
  }
  Expr extent(std::size_t axis) {
    return axis == 0 && random_.one_in(3) ? around[0] : build::index_constant(kExtent);
  }

  Expr number() {
    switch (random_.below(4)) {
      case 0:
        return around[random_.below(2)];
      case 1:
        return build::index_constant(static_cast<std::int64_t>(random_.below(7)) - 1);
      default:
        return lang::make_var(points[random_.below(2)].variable);
    }
  }
  Expr index() {
    const Expr first = number();
    switch (random_.below(5)) {
      case 0:
        return build::add(first, number());
      case 1:
        return build::sub(first, number());
      case 2:
        return build::mul(first, build::index_constant(random_.one_in(2) ? 2 : -1));
      default:
        return first;
    }
  }
  Expr condition(int depth) {
    if (depth > 0) {
      const Expr a = condition(depth - 1), b = condition(depth - 1);
      return random_.one_in(3) ? build::prim(Prim::Not, {a})
                               : build::prim(random_.one_in(2) ? Prim::And : Prim::Or, {a, b});
    }
    constexpr Prim kAll[] = {Prim::Lt, Prim::Le, Prim::Gt, Prim::Ge, Prim::Eq, Prim::Ne};
    return build::prim(kAll[random_.below(6)], {index(), index()});
  }

  Random random_;
};

TEST_CASE("conditions of any point are what the points say") {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Sides made(seed);
    const std::vector<TakenSide> sides = made.some();
    const Expr at_any = index::at_any_point(sides, made.points);
    CAPTURE(seed);
    if (at_any) CHECK(lang::used_by(at_any, made.points).empty());
    const Expr all = index::all_of(sides);
    const Expr by_point = lang::make_reduction(lang::ReduceOp::Any, made.points,
                                               all ? all : build::constant(lang::DType::Bool, 1));
    Evaluation value;
    for (std::int64_t a = 1; a < 2 * kExtent; a += 2) {
      for (std::int64_t b = -kExtent; b < 2 * kExtent; b += 3) {
        value.values[lang::cast<lang::Var>(made.around[0]).variable.get()] = a;
        value.values[lang::cast<lang::Var>(made.around[1]).variable.get()] = b;
        CAPTURE(a, b);
        REQUIRE((at_any ? value(at_any) : 1) == value(by_point));
      }
    }
  }
}

TEST_CASE("bounds of an index need no points") {
  Sides made(1);
  const Expr i = lang::make_var(made.points[0].variable),
             j = lang::make_var(made.points[1].variable);
  const auto has_reduction = [](const Expr& expr) {
    bool has = false;
    lang::visit_post_order(
        expr, [&](const Expr& node) { has = has || node->kind == lang::ExprKind::Reduction; });
    return has;
  };
  const Expr& a = made.around[0];
  const Expr& b = made.around[1];
  const TakenSide above{build::prim(Prim::Gt, {j, a})}, not_equal{build::prim(Prim::Ne, {j, a})},
      below{build::prim(Prim::Lt, {build::add(i, b), a}), false};
  CHECK_FALSE(has_reduction(index::at_any_point({above, below}, made.points)));
  const TakenSide either{build::prim(Prim::Or, {above.condition, build::prim(Prim::Eq, {j, b})})};
  CHECK_FALSE(has_reduction(index::at_any_point({either, below}, made.points)));
  // Of `!(j == a && i > b) && j > a` the choice is decided; of `j != a` alone it is none.
  const TakenSide neither{build::prim(Prim::And, {build::prim(Prim::Eq, {a, j}),
                                                  build::prim(Prim::Ne, {i, build::mul(i, i)})}),
                          false};
  CHECK_FALSE(has_reduction(index::at_any_point({neither, above}, made.points)));
  CHECK(has_reduction(index::at_any_point({neither}, made.points)));
  CHECK(has_reduction(index::at_any_point({above, not_equal}, made.points)));
  CHECK(index::at_any_point({{build::prim(Prim::Gt, {j, build::index_constant(2)})}},
                            made.points) == nullptr);
}

}  // namespace
}  // namespace relay::tests
