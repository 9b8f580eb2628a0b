#include "lang/build.h"

#include <catch2/catch.hpp>

#include "lang/diagnostic.h"
#include "lang/print.h"

using namespace relay::lang;

TEST_CASE("index arithmetic folds constants and drops neutral operands") {
  const Expr i = make_var(make_variable("i", scalar_type(DType::Int64)));
  CHECK(print(build::add(build::index_constant(2), build::index_constant(3))) == "5i64");
  CHECK(build::add(i, build::index_constant(0)) == i);
  CHECK(build::mul(build::index_constant(1), i) == i);
  CHECK(print_light(build::sub(i, build::index_constant(1))) == "i - 1");
}

TEST_CASE("comprehensions name their indices and take their extents from dims") {
  const Dim n = Dim::variable(TypeVar::rigid(VarKind::Dim, "n"));
  const Expr a = make_var(make_variable("a", tensor_type(Shape{n, 4}, DType::Float32)));
  const Expr product = build::comprehension({n, 4}, [&](const build::Indices& i) {
    return build::mul(build::at(a, i), build::constant(DType::Float32, 2));
  });
  CHECK(to_string(product->type) == "Tensor[(n, 4), float32]");
  CHECK(print_light(product) == "for i < n, j < 4 { a[i, j] * 2.0 }");
  CHECK(build::at(a, {}) == a);
  CHECK(build::comprehension({}, [&](const build::Indices&) { return a; }) == a);
}

TEST_CASE("let binds what is no atom") {
  const Expr x = make_var(make_variable("x", scalar_type(DType::Float32)));
  CHECK(build::let("y", x, [](const Expr& y) { return y; }) == x);
  const Expr bound =
      build::let("y", build::mul(x, x), [](const Expr& y) { return build::add(y, y); });
  CHECK(print_light(bound) == "let y = x * x;\ny + y");
}

TEST_CASE("zeros have the shape of any type of tensors") {
  const Dim n = Dim::variable(TypeVar::rigid(VarKind::Dim, "n"));
  const Type type = tuple_type({scalar_type(DType::Float32), tensor_type(Shape{n}, DType::Int32)});
  const Expr zeros = build::zeros_of(type);
  CHECK(equal(zeros->type, type));
  CHECK(print_light(zeros) == "(0.0, for i < n { 0 })");
}

TEST_CASE("zeros of an unknown dim are refused, not guessed") {
  CHECK_THROWS_AS(build::zeros_of(tensor_type(Shape{Dim::any()}, DType::Float32)), Failure);
}

TEST_CASE("parts that do not fit together are our own mistake") {
  const Expr x = make_var(make_variable("x", scalar_type(DType::Float32)));
  CHECK_THROWS_AS(build::add(x, build::index_constant(2)), InternalError);
  CHECK_THROWS_AS(build::project(x, 0), InternalError);
  CHECK_THROWS_AS(build::if_(x, x, x), InternalError);
}
