#include "lang/alpha_equal.h"

#include <catch2/catch.hpp>

#include "lang/build.h"
#include "lang/visit.h"

using namespace relay::lang;

namespace {

const Type kFloat = scalar_type(DType::Float32);

Expr difference(bool swapped) {
  const VariableRef x = make_variable("x", kFloat);
  const VariableRef y = make_variable("y", kFloat);
  const Expr a = make_var(swapped ? y : x);
  const Expr b = make_var(swapped ? x : y);
  return build::function({x, y}, build::sub(a, b));
}

}  // namespace

TEST_CASE("names of bound variables do not count, their places do") {
  CHECK(alpha_equal(difference(false), difference(false)));
  CHECK(structural_hash(difference(false)) == structural_hash(difference(false)));
  CHECK_FALSE(alpha_equal(difference(false), difference(true)));
}

TEST_CASE("sharing counts, except for constants and unit") {
  const Expr x = make_var(make_variable("x", kFloat));
  const Expr one = build::prim(Prim::Exp, {x});
  const Expr other = build::prim(Prim::Exp, {x});
  CHECK_FALSE(alpha_equal(make_tuple({one, one}), make_tuple({one, other})));
  CHECK(structural_hash(make_tuple({one, one})) == structural_hash(make_tuple({one, other})));
  const Expr two = build::constant(DType::Float32, 2);
  CHECK(alpha_equal(make_tuple({two, two}), make_tuple({two, build::constant(DType::Float32, 2)})));
  CHECK_FALSE(alpha_equal(two, build::constant(DType::Float64, 2)));
}

TEST_CASE("free variables are themselves unless they may be mapped") {
  const Expr x = make_var(make_variable("x", kFloat));
  const Expr y = make_var(make_variable("y", kFloat));
  CHECK_FALSE(alpha_equal(x, y));
  CHECK(alpha_equal(x, y, true));
  CHECK_FALSE(alpha_equal(build::add(x, x), build::add(x, y), true));
}

TEST_CASE("code that occurs twice with the same variables equals a renamed copy") {
  const Expr f = difference(false);
  const VariableRef one = make_variable("f", f->type);
  const auto twice = [&](const Expr& a, const Expr& b) {
    return make_let(one, a, make_tuple({b}));
  };
  const Expr copy =
      make_function(cast<Function>(f).params, cast<Function>(f).result, cast<Function>(f).body);
  CHECK(alpha_equal(make_tuple({f, rename_bound(f)}),
                    make_tuple({rename_bound(f), rename_bound(f)})));
  CHECK_FALSE(alpha_equal(twice(f, f), twice(f, copy)));
}

TEST_CASE("annotations of parameters count, up to the names of type parameters") {
  const auto identity = [](const char* name) {
    const TypeVarRef a = TypeVar::rigid(VarKind::Type, name);
    const VariableRef x = make_variable("x", var_type(a));
    return make_function({x}, var_type(a), make_var(x), {a});
  };
  CHECK(alpha_equal(identity("A"), identity("B")));
  const VariableRef x = make_variable("x", kFloat);
  const VariableRef y = make_variable("x", scalar_type(DType::Float64));
  CHECK_FALSE(alpha_equal(make_function({x}, nullptr, make_var(x)),
                          make_function({y}, nullptr, make_var(y))));
}

TEST_CASE("a chain of 100000 lets is compared without recursion") {
  const auto chain = [] {
    Block block;
    for (int k = 0; k < 100000; ++k)
      block.bindings.push_back({make_variable("v", kFloat), build::constant(DType::Float32, k)});
    block.result = make_var(block.bindings.back().variable);
    return close_block(block);
  };
  CHECK(alpha_equal(chain(), chain()));
}
