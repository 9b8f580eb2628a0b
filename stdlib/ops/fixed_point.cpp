#include "stdlib/ops/fixed_point.h"

#include <string>

#include "lang/attrs_struct.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/types.h"

namespace relay::stdlib {

namespace build = lang::build;

namespace {

constexpr std::int64_t kFraction = 31;  // bits behind the point of a multiplier

Expr in_int64(const Expr& scalar) { return build::cast_to(DType::Int64, scalar); }

// x * 2^left * multiplier / 2^(31 + right), a half rounded up. All int64.
Expr scaled_by_shifts(const Expr& x, const Expr& multiplier, const Expr& left, const Expr& right) {
  const Expr one = build::index_constant(1);
  const Expr shifted = build::prim(Prim::Shl, {x, left});
  const Expr places = build::add(right, build::index_constant(kFraction));
  const Expr half = build::prim(Prim::Shl, {one, build::sub(places, one)});
  return build::prim(Prim::Shr, {build::add(build::mul(shifted, multiplier), half), places});
}

void add_fixed_point_multiply() {
  OpDef def;
  def.name = "fixed_point_multiply";
  def.level = 10;
  def.doc =
      "Integers times multiplier / 2^31 * 2^shift, computed in 64 bits, a half rounded up.\n"
      "What does not fit the dtype wraps.";
  def.example = "fixed_point_multiply([10, 7], multiplier=1073741824, shift=0)\n// expect: [5, 4]";
  def.inputs = {{"data", "integers"}};
  def.attrs = {required_attr("multiplier", AttrKind::Int, "31 bits behind the point"),
               required_attr("shift", AttrKind::Int, "the power of two, from -31 to 31")};
  def.type_rule = [](TypeCall& call) {
    const std::int64_t shift = call.attrs->get_int("shift");
    if (shift < -kFraction || shift > kFraction) {
      call.fail(DiagnosticKind::BadAttribute,
                "`shift` is " + std::to_string(shift) + ", and must be from -31 to 31");
    }
    call.solver.require(call.tensor_node(0).dtype, PrimOperands::kInt);
    call.returns(call.tensor(0));
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    const DType dtype = call.tensor(0).dtype.known();
    const std::int64_t shift = call.attrs->get_int("shift");
    const Expr left = build::index_constant(shift > 0 ? shift : 0);
    const Expr right = build::index_constant(shift < 0 ? -shift : 0);
    const Expr multiplier = build::index_constant(call.attrs->get_int("multiplier"));
    return build::comprehension(dims_of(call.args[0]), [&](const Indices& i) {
      return build::cast_to(
          dtype, scaled_by_shifts(in_int64(build::at(call.args[0], i)), multiplier, left, right));
    });
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

RuleOutcome per_axis_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  for (std::size_t i = 0; i < 4; ++i)
    call.solver.require(call.tensor_node(i).dtype, PrimOperands::kInt);
  const std::vector<std::int64_t> axes = call.attrs->get_ints("axes");
  const Shape factors = with_rank(call, call.tensor_node(1).shape, axes.size());
  call.solver.unify(call.tensor_node(2).shape, factors);
  call.solver.unify(call.tensor_node(3).shape, factors);
  call.returns(data);
  const Shape& shape = as_tensor(data).shape;
  if (!shape.has_rank()) return RuleOutcome::Stuck;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    check_axis(call, axes[k], shape);
    const Dim& dim = shape[position_of(axes[k], shape.rank())];
    if (dim.is_constant() && factors[k].is_constant() && !(dim == factors[k])) {
      call.fail(DiagnosticKind::ShapeMismatch,
                "axis " + std::to_string(axes[k]) + " of `" + to_string(shape) + "` is " +
                    dim.to_string() + ", and there are " + factors[k].to_string() + " multipliers");
    }
    call.solver.unify(dim, factors[k]);
  }
  return RuleOutcome::Solved;
}

void add_fixed_point_multiply_per_axis() {
  OpDef def;
  def.name = "fixed_point_multiply_per_axis";
  def.level = 10;
  def.doc =
      "Integers times multiplier / 2^31 * 2^(left - right), with a multiplier and shifts for each "
      "position along axes, computed in 64 bits, a half rounded up.\n"
      "What does not fit the dtype wraps. A shift counts only where its attribute says so; then it "
      "must be from 0 to 31.";
  def.example =
      "fixed_point_multiply_per_axis([[8, 8]], [1073741824, 1073741824], [0, 0], [0, 1],\n"
      "                              is_rshift_required=True, axes=[1])\n// expect: [[4, 2]]";
  def.inputs = {{"data", "integers"},
                {"fp_multiplier", "31 bits behind the point"},
                {"left_shift", "by how many bits to the left first"},
                {"right_shift", "by how many bits to the right at last"}};
  def.attrs = {optional_attr("is_lshift_required", AttrKind::Bool, false, "shift to the left"),
               optional_attr("is_rshift_required", AttrKind::Bool, false, "shift to the right"),
               required_attr("axes", AttrKind::IntList, "the axes along which multipliers differ")};
  def.type_rule = per_axis_rule;
  def.definition = [](const DefinitionCall& call) {
    const DType dtype = call.tensor(0).dtype.known();
    const std::vector<Dim>& dims = dims_of(call.args[0]);
    const std::vector<std::int64_t> axes = call.attrs->get_ints("axes");
    return build::comprehension(dims, [&](const Indices& i) {
      Indices at;
      for (const std::int64_t axis : axes) at.push_back(i[position_of(axis, dims.size())]);
      const auto shift = [&](const char* key, std::size_t arg) {
        return call.attrs->get_bool(key) ? in_int64(build::at(call.args[arg], at))
                                         : build::index_constant(0);
      };
      return build::cast_to(
          dtype, scaled_by_shifts(in_int64(build::at(call.args[0], i)),
                                  in_int64(build::at(call.args[1], at)),
                                  shift("is_lshift_required", 2), shift("is_rshift_required", 3)));
    });
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_reinterpret() {
  OpDef def;
  def.name = "reinterpret";
  def.level = 3;
  def.doc =
      "The same bits read as elements of another dtype, which is as wide.\n"
      "Bool is not taken: of its eight bits only two patterns mean something.";
  def.example = "reinterpret([1.0, -0.0], dtype=\"uint32\")\n// expect: [1065353216, 2147483648]";
  def.inputs = {{"data", "the tensor"}};
  def.attrs = {required_attr("dtype", AttrKind::DType, "the dtype of the result")};
  lang::set_attrs_struct(def.name, "CastAttrs");
  def.type_rule = [](TypeCall& call) {
    const DType to = call.attrs->get_dtype("dtype");
    const Type data = call.tensor(0);
    call.returns(lang::tensor_type(as_tensor(data).shape, DTypeTerm(to)));
    if (!as_tensor(data).dtype.is_known()) return RuleOutcome::Stuck;
    const DType from = as_tensor(data).dtype.known();
    const bool takes_bool = from == to || (from != DType::Bool && to != DType::Bool);
    if (lang::size_of(from) != lang::size_of(to) || !takes_bool) {
      call.fail(DiagnosticKind::DTypeMismatch,
                "`reinterpret` of `" + std::string(lang::name_of(from)) + "` as `" +
                    std::string(lang::name_of(to)) + "`: these do not have the same bits");
    }
    return RuleOutcome::Solved;
  };
  def.primitive = lang::TensorPrimitive::Reinterpret;
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_fixed_point_operators() {
  add_fixed_point_multiply();
  add_fixed_point_multiply_per_axis();
  add_reinterpret();
}

}  // namespace relay::stdlib
