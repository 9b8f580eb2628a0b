#include "stdlib/ops/families.h"

namespace relay::stdlib {

namespace {

void add_print() {
  OpDef def;
  def.name = "print";
  def.level = 0;
  def.doc =
      "Writes a value on a line of its own, after `label` if there is one; a label alone if the "
      "value is `()`.";
  def.example = "print(1.5, label=\"loss\")\n// expect: loss 1.5";
  def.inputs = {{"value", "anything", true}};
  def.attrs = {
      optional_attr("label", AttrKind::String, "", "what to write in front"),
      nullable_attr("digits", AttrKind::Int, "decimals of floats; None: as many as it takes")};
  def.type_rule = [](TypeCall& call) {
    call.returns(lang::unit_type());
    return RuleOutcome::Solved;
  };
  def.differentiable = false;
  def.effect = lang::Effect::Print;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_assert() {
  OpDef def;
  def.name = "assert";
  def.level = 0;
  def.doc = "Ends the evaluation with an error unless the condition is True.";
  def.example = "assert(1.0 < 2.0, message=\"numbers are broken\")";
  def.inputs = {{"condition", "a bool scalar"}};
  def.attrs = {optional_attr("message", AttrKind::String, "", "what the error says")};
  def.type_rule = [](TypeCall& call) {
    call.solver.unify(call.args[0], lang::scalar_type(DType::Bool));
    call.returns(lang::unit_type());
    return RuleOutcome::Solved;
  };
  def.differentiable = false;
  def.effect = lang::Effect::Assert;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_check_shape() {
  OpDef def;
  def.name = "check_shape";
  def.level = 0;
  def.doc =
      "The tensor itself, once its extents have been found to be those given; -1 stands for any.\n"
      "Inference inserts it where a value of unknown extents (`?`) enters a place that needs known "
      "ones.";
  def.example = "check_shape([1.0, 2.0], (2i64,))\n// expect: [1.0, 2.0]";
  def.inputs = {{"data", "the tensor"}, {"extents", "a tuple of int64 scalars, one for each axis"}};
  def.attrs = {optional_attr("because", AttrKind::String, "", "what needs these extents")};
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    const auto* extents = lang::as<lang::TupleType>(call.args[1]);
    if (!extents) {
      if (lang::as<lang::VarType>(call.args[1])) return RuleOutcome::Stuck;
      call.fail(DiagnosticKind::TypeMismatch, "the extents must be a tuple");
    }
    for (const Type& extent : extents->fields)
      call.solver.unify(extent, lang::scalar_type(DType::Int64));
    const Shape& shape = static_cast<const TensorType&>(*data).shape;
    if (shape.has_rank() && shape.rank() != extents->fields.size()) {
      call.fail(DiagnosticKind::RankMismatch, std::to_string(extents->fields.size()) +
                                                  " extents for a tensor of rank " +
                                                  std::to_string(shape.rank()));
    }
    const Shape from = with_rank(call, shape, extents->fields.size());
    const Shape to =
        with_rank(call, result_shape(call, static_cast<const TensorType&>(*data).dtype),
                  extents->fields.size());
    // Two extents that are known and differ are what running reports: inlining may bring them here.
    for (std::size_t axis = 0; axis < from.rank(); ++axis) {
      const bool fixed =
          state_of(from[axis]) != DimState::Flexible && state_of(to[axis]) != DimState::Flexible;
      if (!fixed) call.solver.unify(from[axis], to[axis]);
    }
    return RuleOutcome::Solved;
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> { return {call.dout, nullptr}; };
  def.tangent = [](const lang::TangentCall& call) -> Expr {
    const Expr& tangent = call.tangents[0];
    if (!tangent) return nullptr;
    const OpDef& self = lang::OpRegistry::instance().get("check_shape");
    const Type type = lang::function_type({tangent->type, call.args[1]->type}, call.out->type);
    return lang::make_call(lang::make_operator(&self, {}, type), {tangent, call.args[1]},
                           call.attrs, {}, call.out->type);
  };
  def.effect = lang::Effect::CheckShape;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_check_tangent() {
  OpDef def;
  def.name = "check_tangent";
  def.level = 0;
  def.is_step = true;
  def.doc =
      "The first, once it has been found to have the constructors of the second everywhere.\n"
      "Differentiation inserts it where an adjoint or a tangent of data is given.";
  def.example = "check_tangent(Some(1.0), Some(2.0))\n// expect: Some(1.0)";
  def.inputs = {{"given", "data"}, {"value", "data of the same type"}};
  def.type_rule = [](TypeCall& call) {
    call.solver.unify(call.args[0], call.args[1]);
    call.returns(call.args[0]);
    return RuleOutcome::Solved;
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> { return {call.dout, nullptr}; };
  def.tangent = [](const lang::TangentCall& call) { return call.tangents[0]; };
  def.effect = lang::Effect::CheckShape;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_check_dims() {
  OpDef def;
  def.name = "check_dims";
  def.level = 0;
  def.doc =
      "The extent, once two have been found to be equal; else an error.\n"
      "Inference inserts it where only running can tell: for an equation between dimensions, at "
      "the "
      "entry of a function, and for an index that runs over several axes of unknown extent.";
  def.example = "check_dims(4i64, 4i64)\n// expect: 4i64";
  def.inputs = {{"lhs", "an int64 scalar"}, {"rhs", "an int64 scalar"}};
  def.attrs = {optional_attr("equation", AttrKind::String, "", "how the two came about"),
               optional_attr("because", AttrKind::String, "", "what needs them to be equal")};
  def.type_rule = [](TypeCall& call) {
    for (const Type& arg : call.args) call.solver.unify(arg, lang::scalar_type(DType::Int64));
    call.returns(lang::scalar_type(DType::Int64));
    return RuleOutcome::Solved;
  };
  def.differentiable = false;
  def.effect = lang::Effect::CheckDims;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_effect_operators() {
  add_check_shape();
  add_check_tangent();
  add_check_dims();
  add_print();
  add_assert();
}

}  // namespace relay::stdlib
