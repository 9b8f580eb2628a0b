#include "stdlib/ops/suppression.h"

#include "stdlib/ops/image.h"
#include "stdlib/ops/sampling.h"
#include "stdlib/ops/types.h"
#include "stdlib/ops/window.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

// --- suppression_step ---

RuleOutcome step_rule(TypeCall& call) {
  const Shape corners = with_rank(call, as_tensor(call.tensor(0)).shape, 3);
  call.solver.require(as_tensor(call.tensor(0)).dtype, PrimOperands::kFloat);
  call.solver.unify(corners[2], Dim(4));
  const Shape rows({corners[0], corners[1]});
  for (std::size_t i = 1; i < 4; ++i) call.solver.unify(as_tensor(call.tensor(i)).shape, rows);
  for (std::size_t i = 2; i < 4; ++i)
    call.solver.unify(as_tensor(call.tensor(i)).dtype, DTypeTerm(DType::Bool));
  for (std::size_t i = 4; i < 6; ++i) call.solver.unify(as_tensor(call.tensor(i)).shape, Shape());
  call.solver.unify(as_tensor(call.tensor(4)).dtype, DTypeTerm(DType::Int64));
  call.returns(lang::tensor_type(rows, DType::Bool));
  return RuleOutcome::Solved;
}

// The area that boxes i and j of a row share, over that which they cover.
Scalar shared_part(const Expr& corners, const Expr& row, const Expr& i, const Expr& j,
                   bool closed) {
  const auto corner = [&](const Expr& box, std::int64_t k) -> Scalar {
    return build::at(corners, {row, box, build::index_constant(k)});
  };
  const double more = closed ? 1 : 0;
  Expr shared, area_i, area_j;
  for (std::int64_t axis = 0; axis < 2; ++axis) {
    const Scalar low_i = corner(i, axis);
    const Scalar high_i = corner(i, axis + 2);
    const Scalar low_j = corner(j, axis);
    const Scalar high_j = corner(j, axis + 2);
    const auto length = [&](const Scalar& low, const Scalar& high) {
      return closed ? high - low + more : high - low;
    };
    const Scalar both = length(max_of(low_i, low_j), min_of(high_i, high_j));
    const auto times = [](const Expr& product, const Scalar& factor) {
      return product ? (Scalar(product) * factor).expr : factor.expr;
    };
    shared = times(shared, max_of(both, both.number(0)));
    area_i = times(area_i, length(low_i, high_i));
    area_j = times(area_j, length(low_j, high_j));
  }
  const Scalar covered = Scalar(area_i) + Scalar(area_j) - Scalar(shared);
  return choose(covered <= 0, covered.number(0), Scalar(shared) / covered);
}

Expr step(const DefinitionCall& call) {
  const Expr& corners = call.args[0];
  const Expr& suppressed = call.args[3];
  const bool inclusive = call.attrs->get_bool("inclusive");
  const DType dtype = call.tensor(0).dtype.known();
  const Scalar limit = cast_scalar(dtype, call.args[5]);
  return build::comprehension(as_tensor(call.result).shape.dims(), [&](const Indices& at) {
    const Scalar i = clamped(call.args[4], extent_of(corners, 1));
    const auto read = [&](std::size_t input, const Expr& box) -> Scalar {
      return build::at(call.args[input], {at[0], box});
    };
    const Scalar part = shared_part(corners, at[0], i, at[1], call.attrs->get_bool("closed"));
    const Scalar acts =
        not_of(read(3, i)) & read(2, i) & (Scalar(at[1]) > i) & (read(1, i) == read(1, at[1]));
    const Scalar is_too_near = inclusive ? part >= limit : part > limit;
    return (Scalar(build::at(suppressed, at)) | (acts & is_too_near)).expr;
  });
}

void add_suppression_step() {
  OpDef def;
  def.name = "suppression_step";
  def.is_step = true;
  def.level = 0;
  def.doc =
      "One step of non-maximum suppression: the box at a position of each row, if it is not "
      "suppressed itself,\nsuppresses those behind it that share too much with it.";
  def.example =
      "suppression_step([[[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.5], [5.0, 5.0, 6.0, 6.0]]],\n"
      "  [[0.0, 0.0, 0.0]], [[True, True, True]], [[False, False, False]], 0i64, 0.5)\n"
      "// expect: [[False,  True, False]]";
  def.inputs = {{"corners", "rows of boxes: least x, least y, largest x, largest y"},
                {"labels", "only boxes with the same label suppress each other"},
                {"active", "which boxes may suppress others"},
                {"suppressed", "which boxes are suppressed"},
                {"position", "of the boxes that suppress, as an int64 scalar"},
                {"threshold", "how much of their union two boxes may share"}};
  def.attrs = {
      optional_attr("inclusive", AttrKind::Bool, true, "exactly the threshold is too much"),
      optional_attr("closed", AttrKind::Bool, false,
                    "an extent is one more than the distance of two corners")};
  def.type_rule = step_rule;
  def.definition = step;
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- suppression_next ---

void add_suppression_next() {
  OpDef def;
  def.name = "suppression_next";
  def.is_step = true;
  def.level = 0;
  def.doc =
      "The first position behind another at which some row has a box that is not suppressed; -1 if "
      "there is none.";
  def.example =
      "suppression_next([[False, True, False]], 0i64)\n// expect: 2i64\n"
      "suppression_next([[False, True, False]], 2i64)\n// expect: -1i64";
  def.inputs = {{"suppressed", "rows of bools"}, {"position", "an int64 scalar; -1 to begin with"}};
  def.type_rule = [](TypeCall& call) {
    with_rank(call, as_tensor(call.tensor(0)).shape, 2);
    call.solver.unify(as_tensor(call.tensor(0)).dtype, DTypeTerm(DType::Bool));
    call.solver.unify(as_tensor(call.tensor(1)).shape, Shape());
    call.solver.unify(as_tensor(call.tensor(1)).dtype, DTypeTerm(DType::Int64));
    call.returns(lang::scalar_type(DType::Int64));
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) -> Expr {
    const Expr& suppressed = call.args[0];
    const Dim& rows = dims_of(suppressed)[0];
    const Dim& boxes = dims_of(suppressed)[1];
    if (boxes.is_constant(0)) return build::index_constant(-1);
    const Expr some = build::comprehension({boxes}, [&](const Indices& j) {
      return build::reduction(ReduceOp::Any, {rows}, [&](const Indices& row) -> Expr {
        return not_of(build::at(suppressed, {row[0], j[0]}));
      });
    });
    const Expr end = extent_of(suppressed, 1);
    return build::let("some", some, [&](const Expr& open) -> Expr {
      const Scalar next = build::reduction(ReduceOp::Min, {boxes}, [&](const Indices& j) -> Expr {
        const Scalar is_behind = Scalar(j[0]) > Scalar(call.args[1]);
        return choose(is_behind & Scalar(build::at(open, j)), j[0], end);
      });
      return choose(next < Scalar(end), next, build::index_constant(-1));
    });
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

Expr suppressed_boxes(const Suppression& given) {
  const Type index = lang::scalar_type(DType::Int64);
  const Type rows = given.suppressed->type;
  const lang::VariableRef sweep =
      lang::make_variable("sweep", lang::function_type({index, rows}, rows));
  const lang::VariableRef position = lang::make_variable("position", index);
  const lang::VariableRef suppressed = lang::make_variable("suppressed", rows);
  const Expr at = lang::make_var(position);
  const Expr now = lang::make_var(suppressed);
  const Expr then =
      op("suppression_step", {given.corners, given.labels, given.active, now, at, given.threshold},
         {{"inclusive", given.inclusive}, {"closed", given.closed}});
  const Expr go_on = build::let("then", lang::with_type(then, rows), [&](const Expr& next) {
    return build::call(lang::make_var(sweep), {op("suppression_next", {next, at}), next});
  });
  const Expr is_box = op("greater_equal", {at, build::index_constant(0)});
  const Expr loop = build::function({position, suppressed}, build::if_(is_box, go_on, now));
  const Expr first = op("suppression_next", {given.suppressed, build::index_constant(-1)});
  return lang::make_let(sweep, loop, build::call(lang::make_var(sweep), {first, given.suppressed}));
}

void scalar_input(TypeCall& call, std::size_t input, PrimOperands operands) {
  const Shape shape = as_tensor(call.tensor(input)).shape;
  if (!shape.has_rank() || shape.rank() != 1) {
    input_of_rank(call, input, 0, operands);
    return;
  }
  call.solver.require(as_tensor(call.tensor(input)).dtype, operands);
  call.solver.unify(shape[0], Dim(1));
}

Expr with_scalars(DefinitionCall call, const std::vector<std::size_t>& inputs,
                  const lang::OpDefinition& body) {
  for (const std::size_t input : inputs) {
    if (dims_of(call.args[input]).empty()) continue;
    const Expr element = op("reshape", {call.args[input]}, {{"newshape", AttrValue::ints({})}});
    return build::let("scalar", element, [&](const Expr& scalar) {
      call.args[input] = scalar;
      return with_scalars(call, inputs, body);
    });
  }
  return body(call);
}

Expr those_first(const Expr& holds) {
  const Expr keys = build::comprehension(dims_of(holds), [&](const Indices& i) -> Expr {
    return choose(build::at(holds, i), build::index_constant(0), build::index_constant(1));
  });
  return op("sort_order", {keys});
}

Expr counts_of(const Expr& holds) {
  return build::comprehension({dims_of(holds)[0]}, [&](const Indices& row) {
    return build::reduction(ReduceOp::Sum, {dims_of(holds)[1]}, [&](const Indices& i) -> Expr {
      return cast_scalar(DType::Int64, build::at(holds, {row[0], i[0]}));
    });
  });
}

void add_suppression_steps() {
  add_suppression_step();
  add_suppression_next();
}

}  // namespace relay::stdlib
