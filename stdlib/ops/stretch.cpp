#include "stdlib/ops/stretch.h"

#include "lang/attrs_struct.h"
#include "stdlib/ops/families.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

// --- broadcast_to, broadcast_to_like ---

Expr stretch(const DefinitionCall& call) {
  return build::comprehension(lang::as<TensorType>(call.result)->shape.dims(),
                              [&](const Indices& i) { return read_broadcast(call.args[0], i); });
}

void add_broadcast_to() {
  OpDef def;
  def.name = "broadcast_to";
  def.level = 4;
  def.doc = "The tensor repeated along new axes, and along axes of extent 1, to the given shape.";
  def.example = "broadcast_to([1.0, 2.0], shape=[2, 2])\n// expect: [[1.0, 2.0], [1.0, 2.0]]";
  def.inputs = {{"data", "the tensor"}};
  def.attrs = {required_attr("shape", AttrKind::IntOrIntList, "the shape of the result"),
               nullable_attr("dtype", AttrKind::DType, "not used: the dtype stays")};
  lang::set_attrs_struct(def.name, "InitOpAttrs");
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    const auto& tensor = static_cast<const TensorType&>(*data);
    const Shape target(to_dims(call.attrs->get_ints("shape")));
    call.returns(lang::tensor_type(target, tensor.dtype));
    return check_stretches(call, tensor.shape, target);
  };
  def.definition = stretch;
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {sum_to(call.dout, call.args[0])};
  };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_broadcast_to_like() {
  OpDef def;
  def.name = "broadcast_to_like";
  def.level = 10;
  def.doc = "The first input repeated along axes to the shape of the second.";
  def.example = "broadcast_to_like(1.0, [0.0, 0.0])\n// expect: [1.0, 1.0]";
  def.inputs = {{"data", "the tensor"}, {"broadcast_type", "a tensor of the wanted shape"}};
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    const Type like = call.tensor(1);
    const auto& tensor = static_cast<const TensorType&>(*data);
    const Shape& target = static_cast<const TensorType&>(*like).shape;
    call.returns(lang::tensor_type(target, tensor.dtype));
    return check_stretches(call, tensor.shape, target);
  };
  def.definition = stretch;
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {sum_to(call.dout, call.args[0]), nullptr};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- collapse_sum_like ---

Expr collapse(const DefinitionCall& call) {
  const Expr& data = call.args[0];
  const std::vector<Dim>& from = dims_of(data);
  const std::vector<Dim>& to = lang::as<TensorType>(call.result)->shape.dims();
  const std::size_t missing = from.size() - to.size();
  std::vector<bool> reduced(from.size());
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    reduced[axis] =
        axis < missing || (to[axis - missing].is_constant(1) && !from[axis].is_constant(1));
  }
  const Expr sum = reduce_axes(ReduceOp::Sum, data, reduced, true);
  if (missing == 0) return sum;
  return build::let("total", sum, [&](const Expr& total) {
    return build::comprehension(to, [&](const Indices& out) {
      Indices indices(missing, build::index_constant(0));
      indices.insert(indices.end(), out.begin(), out.end());
      return build::at(total, indices);
    });
  });
}

void add_collapse_sum_like() {
  OpDef def;
  def.name = "collapse_sum_like";
  def.level = 10;
  def.doc =
      "The first input summed over the axes that broadcasting the second to its shape would "
      "stretch.\n"
      "It undoes broadcasting in derivatives.";
  def.example = "collapse_sum_like([[1.0, 2.0], [3.0, 4.0]], [0.0, 0.0])\n// expect: [4.0, 6.0]";
  def.inputs = {{"data", "the values"}, {"collapse_type", "a tensor of the wanted shape"}};
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    const Type like = call.tensor(1);
    const auto& tensor = static_cast<const TensorType&>(*data);
    const Shape& target = static_cast<const TensorType&>(*like).shape;
    call.solver.require(tensor.dtype, PrimOperands::kNumeric);
    call.returns(lang::tensor_type(target, tensor.dtype));
    return check_stretches(call, target, tensor.shape);
  };
  def.definition = collapse;
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {op("broadcast_to_like", {call.dout, call.args[0]}), nullptr};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- collapse_sum_to: the shape is a value ---

// The wanted extents, where the call says them.
std::optional<std::vector<std::int64_t>> written_shape(const TypeCall& call) {
  if (!call.attrs->is_null("shape")) return call.attrs->get_ints("shape");
  const auto* constant = call.call ? lang::as<lang::Constant>(call.call->args[1]) : nullptr;
  if (!constant || constant->value->rank() != 1) return std::nullopt;
  std::vector<std::int64_t> extents;
  for (std::int64_t i = 0; i < constant->value->element_count(); ++i)
    extents.push_back(lang::int_from_bits(constant->value->dtype(), constant->value->bits_at(i)));
  return extents;
}

RuleOutcome collapse_sum_to_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const auto& tensor = static_cast<const TensorType&>(*data);
  call.solver.require(tensor.dtype, PrimOperands::kNumeric);
  call.solver.require(call.tensor_node(1).dtype, PrimOperands::kInt);
  const Shape extents = with_rank(call, call.tensor_node(1).shape, 1);
  const Shape known = result_shape(call, tensor.dtype);
  if (const auto written = written_shape(call)) {
    const Shape target(to_dims(*written));
    call.solver.unify(extents[0], Dim(static_cast<std::int64_t>(target.rank())));
    call.solver.unify(known, target);
    return check_stretches(call, target, tensor.shape);
  }
  if (!extents[0].is_constant()) {
    if (state_of(extents[0]) == DimState::Flexible) return RuleOutcome::Stuck;
    call.fail(DiagnosticKind::AmbiguousType,
              "the length of `shape` is the rank of the result, and is not known");
  }
  const auto rank = static_cast<std::size_t>(extents[0].constant());
  call.solver.unify(known, Shape(std::vector<Dim>(rank, Dim::any())));
  return RuleOutcome::Solved;
}

void add_collapse_sum_to() {
  OpDef fixed;
  fixed.name = "collapse_sum_to_shape";
  fixed.is_step = true;
  fixed.level = 0;
  fixed.doc = "`collapse_sum_to` where the shape is an attribute.";
  fixed.example =
      "collapse_sum_to_shape([[1.0, 2.0], [3.0, 4.0]], shape=[2])\n// expect: [4.0, 6.0]";
  fixed.inputs = {{"data", "the values"}};
  fixed.attrs = {required_attr("shape", AttrKind::IntList, "the shape of the result")};
  fixed.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    const auto& tensor = static_cast<const TensorType&>(*data);
    const Shape target(to_dims(call.attrs->get_ints("shape")));
    call.solver.require(tensor.dtype, PrimOperands::kNumeric);
    call.returns(lang::tensor_type(target, tensor.dtype));
    return check_stretches(call, target, tensor.shape);
  };
  fixed.definition = collapse;
  fixed.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {op("broadcast_to_like", {call.dout, call.args[0]})};
  };
  lang::OpRegistry::instance().add(std::move(fixed));

  OpDef def;
  def.name = "collapse_sum_to";
  def.level = 4;
  def.doc =
      "The data summed over the axes that broadcasting a tensor of the given shape to it would "
      "stretch.\n"
      "Where the shape is written as a constant, the type says so; else its extents are `?`.";
  def.example = "collapse_sum_to([[1.0, 2.0], [3.0, 4.0]], [2])\n// expect: [4.0, 6.0]";
  def.inputs = {{"data", "the values"}, {"shape", "the wanted extents", false, "shape"}};
  def.attrs = {nullable_attr("shape", AttrKind::IntOrIntList,
                             "Relay's texts repeat the input here, where it is constant"),
               nullable_attr("dtype", AttrKind::DType, "not used: the dtype stays")};
  lang::set_attrs_struct(def.name, "InitOpAttrs");
  def.type_rule = collapse_sum_to_rule;
  def.static_form = "collapse_sum_to_shape";
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {op("broadcast_to_like", {call.dout, call.args[0]}), nullptr};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_stretching_operators() {
  add_broadcast_to();
  add_broadcast_to_like();
  add_collapse_sum_like();
  add_collapse_sum_to();
}

}  // namespace relay::stdlib
