// relay.op.annotation.simulated_quantize: what the passes that annotate, calibrate and realize
// quantization put in and take out.

#include "stdlib/ops/quantized.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

RuleOutcome simulated_rule(TypeCall& call) {
  if (!call.attrs->get_bool("sign") || call.attrs->get_string("rounding") != "round") {
    lang::fail(DiagnosticKind::BadAttribute,
               "`sign` must be True and `rounding` must be `round`, as in Relay", call.span);
  }
  const Type data = call.tensor(0);
  const DTypeTerm& dtype = static_cast<const TensorType&>(*data).dtype;
  call.solver.require(dtype, PrimOperands::kFloat);
  for (std::size_t i = 1; i < 4; ++i)
    call.solver.unify(call.args[i], lang::tensor_type(Shape(), dtype));
  call.returns(data);
  return RuleOutcome::Solved;
}

Expr simulated(const DefinitionCall& call) {
  const Expr& data = call.args[0];
  const Expr& scale = call.args[1];
  return build::comprehension(dims_of(data), [&](const Indices& i) {
    const Expr value = build::at(data, i);
    if (call.attrs->get_int("kind") == 0) return value;
    const Expr below = build::prim(Prim::Min, {build::div(value, scale), call.args[3]});
    const Expr inside = build::prim(Prim::Max, {below, call.args[2]});
    const Expr rounded = build::mul(build::prim(Prim::Round, {inside}), scale);
    const Expr zero = build::constant(call.tensor(0).dtype.known(), 0);
    return build::select(build::prim(Prim::Eq, {scale, zero}), value, rounded);
  });
}

// Straight through: as if only the bounds were there.
std::vector<Expr> straight_through(const GradientCall& call) {
  if (call.attrs->get_int("kind") == 0) return {call.dout, nullptr, nullptr, nullptr};
  const Expr& data = call.args[0];
  const Expr& scale = call.args[1];
  const Expr is_inside =
      op("logical_and", {op("greater_equal", {data, op("multiply", {scale, call.args[2]})}),
                         op("less_equal", {data, op("multiply", {scale, call.args[3]})})});
  const Expr is_kept =
      op("logical_or", {is_inside, op("equal", {scale, build::scalar_like(scale, 0)})});
  return {op("where", {is_kept, call.dout, build::scalar_like(call.dout, 0)}), nullptr, nullptr,
          nullptr};
}

Expr straight_tangent(const lang::TangentCall& call) {
  if (!call.tangents[0]) return nullptr;
  return straight_through({call.args, call.attrs, call.out, call.tangents[0]})[0];
}

}  // namespace

void add_simulated_quantize() {
  OpDef def;
  def.name = "relay.op.annotation.simulated_quantize";
  def.level = 10;
  def.doc =
      "The data as quantization would leave them: round(min(max(data / dom_scale, clip_min), "
      "clip_max)) * dom_scale.\n"
      "Midpoints go to the even neighbour. Kind 0 is the identity, and so is a scale of 0: steps "
      "that are not chosen yet. The derivative passes straight through, as if nothing were "
      "rounded: it is 1 between the bounds, and 0 outside.";
  def.example =
      "relay.op.annotation.simulated_quantize([0.26, 9.0], 0.5, -8.0, 7.0, kind=1)\n"
      "// expect: [0.5, 3.5]";
  def.inputs = {{"data", "floats"},
                {"dom_scale", "the scale, a scalar"},
                {"clip_min", "the least quantized value, a scalar"},
                {"clip_max", "the largest quantized value, a scalar"}};
  def.attrs = {
      required_attr("kind", AttrKind::Int,
                    "0 identity, 1 input, 2 weight, 3 activation: which value this is"),
      optional_attr("sign", AttrKind::Bool, true, "values have a sign; Relay knows no other"),
      optional_attr("rounding", AttrKind::String, "round", "only `round`, as in Relay")};
  def.type_rule = simulated_rule;
  def.definition = simulated;
  def.gradient = straight_through;
  def.tangent = straight_tangent;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace relay::stdlib
