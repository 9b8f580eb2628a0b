#include "lang/attrs_struct.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/formula.h"
#include "stdlib/ops/types.h"

namespace relay::stdlib {

namespace build = lang::build;

namespace {

// Every element of the result is `value(dtype)`.
lang::OpDefinition everywhere(std::function<Expr(const DefinitionCall&, DType)> value) {
  return [value = std::move(value)](const DefinitionCall& call) {
    const auto& result = *lang::as<TensorType>(call.result);
    return build::comprehension(result.shape.dims(),
                                [&](const Indices&) { return value(call, result.dtype.known()); });
  };
}

Shape given_shape(const TypeCall& call) {
  const std::vector<std::int64_t> extents = call.attrs->get_ints("shape");
  for (const std::int64_t extent : extents) {
    if (extent < 0) call.fail(DiagnosticKind::BadAttribute, "`shape` holds a negative extent");
  }
  return to_dims(extents);
}

std::vector<AttrSpec> shape_and_dtype(const char* dtype_doc) {
  return {required_attr("shape", AttrKind::IntOrIntList, "the shape of the result"),
          nullable_attr("dtype", AttrKind::DType, dtype_doc)};
}

struct FillRow {
  const char* name;
  const char* like_name;
  double value;
  const char* doc;
  const char* like_doc;
  const char* example;
  const char* like_example;
};

constexpr FillRow kFills[] = {
    {"zeros", "zeros_like", 0, "A tensor of zeros, float32 unless `dtype` says otherwise.",
     "Zeros of the shape and dtype of the operand.", "zeros(shape=[2])\n// expect: [0.0, 0.0]",
     "zeros_like([1, 2])\n// expect: [0, 0]"},
    {"ones", "ones_like", 1, "A tensor of ones, float32 unless `dtype` says otherwise.",
     "Ones of the shape and dtype of the operand.",
     "ones(shape=[2], dtype=\"int32\")\n// expect: [1, 1]",
     "ones_like([3.0, 4.0])\n// expect: [1.0, 1.0]"},
};

void add_fills(const FillRow& row) {
  const auto definition = everywhere([value = row.value](const DefinitionCall&, DType dtype) {
    return build::constant(dtype, value);
  });
  OpDef def;
  def.name = row.name;
  def.level = 3;
  def.doc = row.doc;
  def.example = row.example;
  def.attrs = shape_and_dtype("dtype of the result; None: float32");
  lang::set_attrs_struct(def.name, "InitOpAttrs");
  def.type_rule = [](TypeCall& call) {
    call.returns(
        lang::tensor_type(given_shape(call), attr_dtype(call.attrs, "dtype", DType::Float32)));
    return RuleOutcome::Solved;
  };
  def.definition = definition;
  def.differentiable = false;
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));

  OpDef like;
  like.name = row.like_name;
  like.level = 4;
  like.doc = row.like_doc;
  like.example = row.like_example;
  like.inputs = {{"data", "a tensor; its values do not count"}};
  like.type_rule = [](TypeCall& call) {
    call.returns(call.tensor(0));
    return RuleOutcome::Solved;
  };
  like.definition = definition;
  like.differentiable = false;
  like.nests = true;
  lang::OpRegistry::instance().add(std::move(like));
}

void add_full() {
  OpDef def;
  def.name = "full";
  def.level = 3;
  def.doc = "A tensor filled with one value, of its dtype unless `dtype` says otherwise.";
  def.example = "full(2.5, shape=[2])\n// expect: [2.5, 2.5]";
  def.inputs = {{"fill_value", "a scalar"}};
  def.attrs = shape_and_dtype("dtype of the result; None: that of `fill_value`");
  lang::set_attrs_struct(def.name, "InitOpAttrs");
  def.type_rule = [](TypeCall& call) {
    const Type value = call.tensor(0);
    call.solver.unify(as_tensor(value).shape, Shape());
    call.returns(lang::tensor_type(given_shape(call),
                                   attr_dtype(call.attrs, "dtype", as_tensor(value).dtype)));
    return RuleOutcome::Solved;
  };
  def.definition = everywhere(
      [](const DefinitionCall& call, DType dtype) { return build::cast_to(dtype, call.args[0]); });
  def.gradient = [](const GradientCall& call) {
    return std::vector<Expr>{filled_gradient(call.args[0], call.dout)};
  };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_full_like() {
  OpDef def;
  def.name = "full_like";
  def.level = 3;
  def.doc = "A tensor of the shape and dtype of the first input, filled with one value.";
  def.example = "full_like([1.0, 2.0], 7.0)\n// expect: [7.0, 7.0]";
  def.inputs = {{"data", "a tensor; its values do not count"}, {"fill_value", "a scalar"}};
  def.type_rule = [](TypeCall& call) {
    const Type like = call.tensor(0);
    call.solver.unify(as_tensor(call.tensor(1)).shape, Shape());
    call.returns(like);
    return RuleOutcome::Solved;
  };
  def.definition = everywhere(
      [](const DefinitionCall& call, DType dtype) { return build::cast_to(dtype, call.args[1]); });
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {nullptr, filled_gradient(call.args[1], call.dout)};
  };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_create_operators() {
  for (const FillRow& row : kFills) add_fills(row);
  add_full();
  add_full_like();
}

}  // namespace relay::stdlib
