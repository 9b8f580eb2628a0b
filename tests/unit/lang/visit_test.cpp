#include "lang/visit.h"

#include <catch2/catch.hpp>

#include "lang/build.h"
#include "stdlib/register.h"

using namespace relay::lang;

namespace {

const Type kFloat = scalar_type(DType::Float32);

// let v0 = x * x; let v1 = v0 * v0; ...
Expr long_chain(const Expr& x, int length) {
  Block block;
  Expr last = x;
  for (int k = 0; k < length; ++k) {
    const VariableRef variable = make_variable("v", kFloat);
    block.bindings.push_back({variable, build::mul(last, last)});
    last = make_var(variable);
  }
  block.result = last;
  return close_block(block);
}

// Renames what floats multiply into additions.
class MulToAdd final : public Rewriter {
 protected:
  Expr post(const Expr& expr) override {
    const auto* primitive = as<Primitive>(expr);
    if (!primitive || primitive->prim != Prim::Mul) return expr;
    ++count;
    return build::add(primitive->args[0], primitive->args[1]);
  }

 public:
  int count = 0;
};

class KeepAll final : public Rewriter {};

}  // namespace

TEST_CASE("a graph is visited once per node") {
  Expr expr = make_var(make_variable("x", kFloat));
  for (int k = 0; k < 60; ++k) expr = build::mul(expr, expr);  // a tree would have 2^60 nodes
  int nodes = 0;
  visit_post_order(expr, [&](const Expr&) { ++nodes; });
  CHECK(nodes == 61);
  MulToAdd rewriter;
  rewriter.rewrite(expr);
  CHECK(rewriter.count == 60);
}

TEST_CASE("a chain of 100000 lets and a nest of 100000 calls need no stack") {
  const Expr x = make_var(make_variable("x", kFloat));
  const Expr chain = long_chain(x, 100000);
  CHECK(KeepAll().rewrite(chain) == chain);
  CHECK(free_variables(chain).size() == 1);
  CHECK_FALSE(rename_bound(chain) == chain);
  MulToAdd rewriter;
  rewriter.rewrite(chain);
  CHECK(rewriter.count == 100000);
  Expr nest = x;
  for (int k = 0; k < 100000; ++k) nest = build::prim(Prim::Neg, {nest});
  CHECK(KeepAll().rewrite(nest) == nest);
  CHECK_FALSE(substitute(nest, {{cast<Var>(x).variable.get(),
                                 build::constant(DType::Float32, 1)}}) == nest);
}

TEST_CASE("free variables come in order of first use, and bound ones not at all") {
  const VariableRef x = make_variable("x", kFloat);
  const VariableRef y = make_variable("y", kFloat);
  const VariableRef z = make_variable("z", kFloat);
  const Expr body = build::add(make_var(y), build::mul(make_var(z), make_var(x)));
  CHECK(free_variables(build::function({z}, body)) == std::vector<VariableRef>{y, x});
}

TEST_CASE("substitution leaves alone what does not change") {
  const VariableRef x = make_variable("x", kFloat);
  const Expr other = build::prim(Prim::Exp, {make_var(make_variable("y", kFloat))});
  const Expr expr = make_tuple({other, make_var(x)});
  const Expr changed = substitute(expr, {{x.get(), other}});
  CHECK(cast<Tuple>(changed).fields[0] == other);
  CHECK(cast<Tuple>(changed).fields[1] == other);
}

TEST_CASE("renaming gives every binder a fresh variable and keeps the free ones") {
  const VariableRef x = make_variable("x", kFloat);
  const VariableRef y = make_variable("y", kFloat);
  const Expr function = build::function({x}, build::add(make_var(x), make_var(y)));
  const Expr renamed = rename_bound(function);
  CHECK_FALSE(cast<Function>(renamed).params[0] == x);
  CHECK(free_variables(renamed) == std::vector<VariableRef>{y});
}

// A node is evaluated once, in front of all its uses: what may fail behind a test is none that also
// stands behind another.
TEST_CASE("a copy shares with the original only what cannot fail") {
  relay::stdlib::register_operators();
  const Type integer = scalar_type(DType::Int64);
  const Expr n = make_var(make_variable("n", integer));
  const Expr tensor = make_var(make_variable("x", tensor_type(Shape{Dim(3)}, DType::Float32)));
  for (const Expr& part : {build::prim(Prim::FloorMod, {n, n}), build::checked_at(tensor, {n}),
                           build::op("floor_divide", {n, n}), build::op("take", {tensor, n})}) {
    CHECK_FALSE(rename_bound(part) == part);
    const Expr around = make_tuple({part, n});
    CHECK_FALSE(cast<Tuple>(rename_bound(around)).fields[0] == part);
  }
  for (const Expr& part :
       {build::prim(Prim::FloorMod, {n, build::index_constant(2)}), build::add(n, n),
        build::at(tensor, {n}), build::op("multiply", {n, n})}) {
    CHECK(rename_bound(part) == part);
  }
}

TEST_CASE("types are substituted in binders, in terms and in nodes alike") {
  const TypeVarRef n = TypeVar::rigid(VarKind::Dim, "n");
  const VariableRef x = make_variable("x", tensor_type(Shape{Dim::variable(n)}, DType::Float32));
  const Expr body = build::comprehension(
      {Dim::variable(n)}, [&](const build::Indices& i) { return build::at(make_var(x), i); });
  const Expr function = make_function({x}, body->type, body, {n});
  TypeSubstitution substitution;
  substitution.dims.emplace(n.get(), Dim(5));
  const Expr fixed = substitute_types(function, substitution);
  CHECK(to_string(fixed->type) == "fn (Tensor[(5), float32]) -> Tensor[(5), float32]");
  CHECK(cast<Function>(fixed).type_params.empty());
  const auto& loop = cast<Comprehension>(cast<Function>(fixed).body);
  CHECK(loop.binders[0].extent->kind == ExprKind::Constant);
  CHECK(to_string(loop.type) == "Tensor[(5), float32]");
}
