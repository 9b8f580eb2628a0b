#include "lang/op.h"

#include <catch2/catch.hpp>

using namespace relay::lang;

namespace {

OpDef pooling() {
  OpDef op;
  op.name = "test.pool";
  op.doc = "For tests.";
  op.example = "1";
  op.inputs = {{"data", "what is pooled"}};
  op.attrs = {{"size", AttrKind::IntList, std::nullopt, ""},
              {"alpha", AttrKind::Float, AttrValue(0.5), ""},
              {"dtype", AttrKind::DType, AttrValue(), "", true},
              {"axis", AttrKind::IntOrIntList, AttrValue(0), ""}};
  return op;
}

// The first diagnostic of completing `given`.
Diagnostic complaint(std::vector<Attr> given) {
  try {
    complete_attrs(pooling(), make_attrs(std::move(given)), {});
  } catch (const Failure& failure) {
    return failure.diagnostics.front();
  }
  return Diagnostic(DiagnosticKind::Unsupported, "no complaint");
}

Type ground(const TypeRule& rule, std::vector<Type> args) {
  OpDef op = pooling();
  op.type_rule = rule;
  op.inputs.resize(args.size());
  return ground_result_type(op, args, nullptr);
}

}  // namespace

TEST_CASE("attributes are completed in the record's order and coerced") {
  const AttrsRef attrs = complete_attrs(
      pooling(),
      make_attrs({{"dtype", "float16"}, {"size", AttrValue::ints({2, 2})}, {"alpha", 1}}), {});
  REQUIRE(attrs->list.size() == 4);
  CHECK(attrs->list[0].key == "size");
  CHECK(*attrs->list[1].value.as_float() == 1.0);
  CHECK(attrs->get_dtype("dtype") == DType::Float16);
  CHECK(attrs->get_ints("axis") == std::vector<std::int64_t>{0});
  CHECK(complete_attrs(pooling(), attrs, {}) == attrs);
}

TEST_CASE("wrong attributes are named, with what is meant") {
  const AttrValue size = AttrValue::ints({2});
  Diagnostic unknown = complaint({{"size", size}, {"alhpa", 1.0}});
  CHECK(unknown.kind == DiagnosticKind::UnknownAttribute);
  CHECK(unknown.message == "`test.pool` has no attribute `alhpa`");
  CHECK(unknown.notes == std::vector<std::string>{"help: did you mean `alpha`?"});
  CHECK(complaint({}).message == "`test.pool` needs the attribute `size`, a list of integers");
  Diagnostic bad = complaint({{"size", size}, {"dtype", "flaot32"}});
  CHECK(bad.message ==
        "attribute `dtype` of `test.pool` must be a dtype such as `\"float32\"` or `None`, not "
        "`\"flaot32\"`");
  CHECK(bad.notes == std::vector<std::string>{"help: did you mean `float32`?"});
  CHECK(complaint({{"size", 2}}).kind == DiagnosticKind::BadAttribute);
  CHECK(complaint({{"size", size}, {"size", size}}).message == "attribute `size` is written twice");
}

TEST_CASE("the ground solver binds what a rule asks for") {
  const TypeRule transpose = [](TypeCall& call) {
    const Dim rows = call.solver.fresh_dim();
    const Dim columns = call.solver.fresh_dim();
    const DTypeTerm dtype = call.solver.fresh_dtype();
    call.solver.unify(call.tensor(0), tensor_type(Shape{rows, columns}, dtype));
    call.returns(tensor_type(Shape{columns, rows}, dtype));
    return RuleOutcome::Solved;
  };
  const Dim n = Dim::variable(TypeVar::rigid(VarKind::Dim, "n"));
  CHECK(to_string(ground(transpose, {tensor_type(Shape{3, n + 1}, DType::Float32)})) ==
        "Tensor[(n + 1, 3), float32]");
  CHECK_THROWS_AS(ground(transpose, {tensor_type(Shape{3}, DType::Float32)}), Failure);
  CHECK_THROWS_AS(ground(transpose, {unit_type()}), Failure);
}

TEST_CASE("the ground solver solves equations of dims") {
  const TypeRule shorter = [](TypeCall& call) {  // (k + 1) becomes (k)
    const Dim k = call.solver.fresh_dim();
    call.solver.unify(call.tensor_node(0).shape[0], k + 1);
    call.returns(tensor_type(Shape{k}, DType::Int32));
    return RuleOutcome::Solved;
  };
  CHECK(to_string(ground(shorter, {tensor_type(Shape{5}, DType::Int32)})) == "Tensor[(4), int32]");
}

TEST_CASE("ground dims that differ are told apart") {
  const TypeRule same = [](TypeCall& call) {
    call.solver.unify(call.args[0], call.args[1]);
    call.returns(call.args[0]);
    return RuleOutcome::Solved;
  };
  const Dim n = Dim::variable(TypeVar::rigid(VarKind::Dim, "n"));
  const auto vector = [](const Dim& dim) { return tensor_type(Shape{dim}, DType::Float32); };
  CHECK_THROWS_AS(ground(same, {vector(n), vector(n + 1)}), Failure);
  CHECK_NOTHROW(ground(same, {vector(n), vector(Dim::any())}));
  CHECK_NOTHROW(ground(same, {vector(n + 1), vector(Dim(1) + n)}));
}

TEST_CASE("close names come best first") {
  CHECK(closest_names("sofmax", {"softplus", "softmax", "max"}) ==
        std::vector<std::string>{"softmax"});
  CHECK(closest_names("mutliply", {"multiply"}) == std::vector<std::string>{"multiply"});
  CHECK(closest_names("x", {"y", "z"}).empty());
  CHECK(closest_names("float", {"float16", "float32"}) == std::vector<std::string>{"float32"});
  CHECK(closest_names("mm", {"mod", "matmul"}) == std::vector<std::string>{"matmul"});
  CHECK(closest_names("svd", {"std"}).empty());
}
