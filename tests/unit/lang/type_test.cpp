#include "lang/type.h"

#include <catch2/catch.hpp>

#include "lang/module.h"

using namespace relay::lang;

namespace {

Type matrix(Dim rows, Dim columns) { return tensor_type(Shape{rows, columns}, DType::Float32); }

}  // namespace

TEST_CASE("types print in Relay's notation") {
  const TypeVarRef n = TypeVar::rigid(VarKind::Dim, "n");
  const TypeVarRef a = TypeVar::rigid(VarKind::Type, "A");
  const TypeVarRef s = TypeVar::rigid(VarKind::Shape, "s");
  CHECK(to_string(scalar_type(DType::Float32)) == "float32");
  CHECK(to_string(matrix(3, Dim::variable(n) + 1)) == "Tensor[(3, n + 1), float32]");
  CHECK(to_string(tensor_type(Shape{Dim::any()}, DType::Int64)) == "Tensor[(?), int64]");
  CHECK(to_string(tensor_type(Shape(s), DType::Float32)) == "Tensor[s, float32]");
  CHECK(to_string(unit_type()) == "()");
  CHECK(to_string(tuple_type({var_type(a)})) == "(A,)");
  CHECK(to_string(function_type({var_type(a)}, unit_type(), {a})) == "fn [A](A) -> ()");
  CHECK(to_string(reference_type(scalar_type(DType::Bool))) == "ref(bool)");
  TypeDef list;
  list.name = "List";
  CHECK(to_string(adt_type(&list, {scalar_type(DType::Int32)})) == "List[int32]");
  CHECK(to_string(adt_type(&list)) == "List");
}

TEST_CASE("two variables of one name print apart") {
  const Type a = var_type(TypeVar::rigid(VarKind::Type, "A"));
  const Type b = var_type(TypeVar::rigid(VarKind::Type, "A"));
  CHECK(to_string(tuple_type({a, b, a})) == "(A, A1, A)");
}

TEST_CASE("polymorphic function types are equal up to renaming") {
  const TypeVarRef a = TypeVar::rigid(VarKind::Type, "A");
  const TypeVarRef b = TypeVar::rigid(VarKind::Type, "B");
  const Type left = function_type({var_type(a)}, var_type(a), {a});
  const Type right = function_type({var_type(b)}, var_type(b), {b});
  CHECK(equal(left, right));
  CHECK(hash(left) == hash(right));
  CHECK_FALSE(
      equal(function_type({var_type(a)}, var_type(a)), function_type({var_type(b)}, var_type(b))));
}

TEST_CASE("substitution shares what it does not change, and drops what it instantiates") {
  const TypeVarRef n = TypeVar::rigid(VarKind::Dim, "n");
  TypeSubstitution substitution;
  substitution.dims.emplace(n.get(), Dim(4));
  const Type fixed = matrix(3, 3);
  CHECK(substitute(fixed, substitution) == fixed);
  const Type function = function_type({matrix(Dim::variable(n), 2)}, fixed, {n});
  CHECK(to_string(substitute(function, substitution)) ==
        "fn (Tensor[(4, 2), float32]) -> Tensor[(3, 3), float32]");
}

TEST_CASE("ground types may have symbolic dims but no unknowns") {
  CHECK(is_ground(matrix(Dim::variable(TypeVar::rigid(VarKind::Dim, "n")), Dim::any())));
  CHECK_FALSE(is_ground(matrix(Dim::variable(TypeVar::unknown(VarKind::Dim)), 2)));
  CHECK_FALSE(is_ground(tuple_type({incomplete_type()})));
  CHECK_FALSE(is_ground(var_type(TypeVar::rigid(VarKind::Type, "A"))));
}

TEST_CASE("bound variables are not variables of a type") {
  const TypeVarRef a = TypeVar::rigid(VarKind::Type, "A");
  const TypeVarRef b = TypeVar::rigid(VarKind::Type, "B");
  const auto variables =
      variables_of(function_type({var_type(b), var_type(a), var_type(b)}, var_type(a), {a}));
  REQUIRE(variables.size() == 1);
  CHECK(variables[0] == b);
}
