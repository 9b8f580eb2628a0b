#include "lang/expr.h"

#include <catch2/catch.hpp>

#include "lang/build.h"
#include "lang/diagnostic.h"

using namespace relay::lang;

namespace {

Expr var(const char* name, Type type) { return make_var(make_variable(name, std::move(type))); }

}  // namespace

TEST_CASE("nodes get the types that their parts say") {
  const Expr x = var("x", scalar_type(DType::Float32));
  const Expr i = var("i", scalar_type(DType::Int64));
  const Expr pair = make_tuple({x, i});
  CHECK(to_string(pair->type) == "(float32, int64)");
  CHECK(to_string(make_projection(pair, 1)->type) == "int64");
  CHECK(to_string(make_primitive(Prim::Mul, {x, x})->type) == "float32");
  CHECK(to_string(make_primitive(Prim::Lt, {x, x})->type) == "bool");
  CHECK(make_primitive(Prim::Mul, {x, i})->type == nullptr);
  CHECK(make_projection(pair, 2)->type == nullptr);
  CHECK(make_tuple({x, var("untyped", nullptr)})->type == nullptr);
  CHECK(to_string(make_ref_read(make_ref_create(x))->type) == "float32");
}

TEST_CASE("functions and calls get types from each other") {
  const VariableRef x = make_variable("x", scalar_type(DType::Float32));
  const Expr function = make_function({x}, nullptr, make_tuple({make_var(x)}));
  CHECK(to_string(function->type) == "fn (float32) -> (float32,)");
  CHECK(to_string(make_call(function, {make_var(x)})->type) == "(float32,)");
  CHECK(make_call(function, {})->type == nullptr);
}

TEST_CASE("index notation gets its shape from the extents") {
  const Dim n = Dim::variable(TypeVar::rigid(VarKind::Dim, "n"));
  const Expr matrix = var("a", tensor_type(Shape{n, 4}, DType::Float32));
  const VariableRef i = make_variable("i", scalar_type(DType::Int64));
  const VariableRef j = make_variable("j", scalar_type(DType::Int64));
  const Expr row = make_index(matrix, {make_var(i)}, true);
  CHECK(to_string(row->type) == "Tensor[(4), float32]");
  CHECK(to_string(make_comprehension({{i, make_dim_term(n)}}, row)->type) ==
        "Tensor[(n, 4), float32]");
  const Expr element = make_index(matrix, {make_var(i), make_var(j)}, true);
  const Expr sum = make_reduction(ReduceOp::Sum, {{j, build::index_constant(4)}}, element);
  CHECK(to_string(sum->type) == "float32");
  CHECK(
      to_string(make_reduction(ReduceOp::ArgMax, {{j, build::index_constant(4)}}, element)->type) ==
      "int64");
  const Expr pairs = make_comprehension({{i, make_dim_term(n)}}, make_tuple({sum, row}));
  CHECK(to_string(pairs->type) == "(Tensor[(n), float32], Tensor[(n, 4), float32])");
  CHECK(make_comprehension({{i, nullptr}}, row)->type == nullptr);
}

TEST_CASE("an empty part is our own mistake") {
  CHECK_THROWS_AS(make_tuple({nullptr}), InternalError);
  CHECK_THROWS_AS(make_primitive(Prim::Add, {}), InternalError);
}

TEST_CASE("with_type keeps the node when nothing changes") {
  const Expr x = var("x", scalar_type(DType::Float32));
  CHECK(with_type(x, tensor_type(Shape(), DType::Float32)) == x);
  CHECK(to_string(with_type(x, unit_type())->type) == "()");
}

TEST_CASE("a let chain opens to a block and closes again") {
  const Type type = scalar_type(DType::Int32);
  Block block;
  for (int k = 0; k < 100000; ++k) {
    const VariableRef variable = make_variable("v", type);
    block.bindings.push_back({variable, build::constant_int(DType::Int32, k)});
  }
  block.result = make_var(block.bindings.back().variable);
  const Expr chain = close_block(block);
  CHECK(to_string(chain->type) == "int32");
  const Block again = open_block(chain);
  CHECK(again.bindings.size() == block.bindings.size());
  CHECK(again.bindings.front().variable == block.bindings.front().variable);
  CHECK(again.result == block.result);
}
