#include "stdlib/ops/families.h"

#include <algorithm>
#include <string>

namespace relay::stdlib {

namespace build = lang::build;

// --- Rows ---

namespace {

OpDef record(const char* name, int level, const char* doc, const char* example,
             std::vector<InputSpec> inputs) {
  OpDef op;
  op.name = name;
  op.doc = doc;
  op.example = example;
  op.inputs = std::move(inputs);
  op.level = level;
  return op;
}

DTypeTerm result_dtype(Prim prim, const DTypeTerm& operand) {
  return lang::info(prim).result == lang::PrimResult::kTruth ? DTypeTerm(DType::Bool) : operand;
}

}  // namespace

void add_unary(const UnaryRow& row) { add_unary(row, lang::info(row.prim).operands); }

void add_unary(const UnaryRow& row, PrimOperands operands) {
  OpDef op = record(row.name, row.level, row.doc, row.example, {{"data", "the operand"}});
  const Prim prim = row.prim;
  op.type_rule = [prim, operands](TypeCall& call) {
    const Type data = call.tensor(0);
    const auto& tensor = static_cast<const TensorType&>(*data);
    call.solver.require(tensor.dtype, operands);
    call.returns(lang::tensor_type(tensor.shape, result_dtype(prim, tensor.dtype)));
    return RuleOutcome::Solved;
  };
  op.elementwise = prim;
  op.definition = [prim](const DefinitionCall& call) {
    return build::comprehension(dims_of(call.args[0]), [&](const Indices& i) {
      return build::prim(prim, {build::at(call.args[0], i)});
    });
  };
  op.differentiable = row.gradient != nullptr;
  if (row.gradient) {
    op.gradient = [gradient = row.gradient](const GradientCall& call) {
      return std::vector<Expr>{gradient(call.args[0], call.out, call.dout)};
    };
  }
  op.nests = true;
  lang::OpRegistry::instance().add(std::move(op));
}

void add_binary(const BinaryRow& row) { add_binary(row, lang::info(row.prim).operands); }

namespace {

// What is added to a layer's output is a bias: a vector along the last axis.
bool usual_bias(TypeCall& call, bool follows) {
  if (!follows) return false;
  const Shape a = static_cast<const TensorType&>(*call.tensor(0)).shape;
  const Shape b = static_cast<const TensorType&>(*call.tensor(1)).shape;
  if (a.has_rank() == b.has_rank()) return false;
  const Shape& output = a.has_rank() ? a : b;
  if (output.rank() < 2) return false;
  call.solver.unify(a.has_rank() ? b : a, Shape{output.dims().back()});
  return true;
}

}  // namespace

void add_binary(const BinaryRow& row, PrimOperands operands) {
  OpDef op = record(row.name, row.level, row.doc, row.example,
                    {{"lhs", "the left operand"}, {"rhs", "the right operand"}});
  const Prim prim = row.prim;
  op.type_rule = [prim, operands](TypeCall& call) { return solve_binary(call, operands, prim); };
  op.elementwise = prim;
  op.definition = [prim](const DefinitionCall& call) {
    const auto& result = *lang::as<TensorType>(call.result);
    return build::comprehension(result.shape.dims(), [&](const Indices& i) {
      return build::prim(prim, {read_broadcast(call.args[0], i), read_broadcast(call.args[1], i)});
    });
  };
  if (prim == Prim::Add) op.usual = usual_bias;
  op.differentiable = row.gradient != nullptr;
  if (row.gradient) {
    op.gradient = [gradient = row.gradient](const GradientCall& call) -> std::vector<Expr> {
      const Expr& a = call.args[0];
      const Expr& b = call.args[1];
      const std::pair<Expr, Expr> adjoints = gradient(a, b, call.out, call.dout);
      const auto summed = [](const Expr& adjoint, const Expr& operand) {
        return adjoint ? sum_to(adjoint, operand) : Expr();
      };
      return {summed(adjoints.first, a), summed(adjoints.second, b)};
    };
  }
  op.nests = true;
  lang::OpRegistry::instance().add(std::move(op));
}

AttrSpec required_attr(const char* name, AttrKind kind, const char* doc) {
  return {name, kind, std::nullopt, doc, false};
}

AttrSpec optional_attr(const char* name, AttrKind kind, AttrValue default_value, const char* doc) {
  return {name, kind, std::move(default_value), doc, false};
}

AttrSpec nullable_attr(const char* name, AttrKind kind, const char* doc) {
  return {name, kind, AttrValue(), doc, true};
}

DTypeTerm attr_dtype(const AttrsRef& attrs, std::string_view key, const DTypeTerm& fallback) {
  const AttrValue* value = attrs->find(key);
  if (!value || !value->as_dtype()) return fallback;
  return *value->as_dtype();
}

// --- Types ---

DimState state_of(const Dim& dim) {
  if (dim.is_any()) return DimState::Any;
  if (dim.is_constant()) return DimState::Constant;
  bool flexible = false;
  dim.for_each_variable([&](const lang::TypeVarRef& var) { flexible |= var->flexible; });
  return flexible ? DimState::Flexible : DimState::Rigid;
}

bool is_settled(const Shape& shape) {
  return shape.has_rank() &&
         std::none_of(shape.dims().begin(), shape.dims().end(),
                      [](const Dim& dim) { return state_of(dim) == DimState::Flexible; });
}

const TensorType& tensor_type_of(const Expr& expr) {
  const auto* tensor = lang::as<TensorType>(expr->type);
  RELAY_CHECK(tensor, "an operand that must be a tensor is none");
  return *tensor;
}

const std::vector<Dim>& dims_of(const Expr& expr) { return tensor_type_of(expr).shape.dims(); }

std::vector<std::int64_t> extents_of(const std::vector<Dim>& dims) {
  std::vector<std::int64_t> extents;
  extents.reserve(dims.size());
  for (const Dim& dim : dims) extents.push_back(dim.constant());
  return extents;
}

std::vector<Dim> to_dims(const std::vector<std::int64_t>& extents) {
  return {extents.begin(), extents.end()};
}

Dim product(const std::vector<Dim>& dims) {
  Dim result = 1;
  for (const Dim& dim : dims) result = result * dim;
  return result;
}

Shape result_shape(TypeCall& call, const DTypeTerm& dtype) {
  if (const auto* known = lang::as<TensorType>(call.result)) {
    call.solver.unify(known->dtype, dtype);
    return known->shape;
  }
  const Shape shape = call.solver.fresh_shape();
  call.returns(lang::tensor_type(shape, dtype));
  return shape;
}

Shape with_rank(TypeCall& call, const Shape& shape, std::size_t rank) {
  if (shape.has_rank() && shape.rank() == rank) return shape;
  std::vector<Dim> dims;
  for (std::size_t axis = 0; axis < rank; ++axis) dims.push_back(call.solver.fresh_dim());
  Shape ranked(std::move(dims));
  call.solver.unify(shape, ranked);
  return ranked;
}

namespace {

// What broadcasting makes of the extents that meet on one axis.
struct Meeting {
  std::optional<Dim> extent;  // of the result, as far as it is known
  bool decided = true;        // false: unknowns must be known before everything is checked
  std::optional<std::pair<std::size_t, std::size_t>> clash;  // positions of two that cannot meet
};

Meeting meet(const std::vector<Dim>& dims) {
  std::optional<std::size_t> fixed;  // a constant that is not 1, or a rigid dim
  std::optional<Dim> unknown;
  bool any = false;
  bool several_unknowns = false;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (dims[k].is_constant(1)) continue;
    switch (state_of(dims[k])) {
      case DimState::Any:
        any = true;
        break;
      case DimState::Flexible:
        several_unknowns |= unknown && !(*unknown == dims[k]);
        unknown = dims[k];
        break;
      case DimState::Constant:
      case DimState::Rigid:
        if (fixed && !(dims[*fixed] == dims[k])) return {{}, true, std::pair{*fixed, k}};
        if (!fixed) fixed = k;
        break;
    }
  }
  if (unknown) {
    if (fixed) return {dims[*fixed], false, {}};
    if (any || several_unknowns) return {{}, false, {}};
    return {unknown, true, {}};
  }
  if (any) return {fixed && dims[*fixed].is_constant() ? dims[*fixed] : Dim::any(), true, {}};
  return {fixed ? dims[*fixed] : Dim(1), true, {}};
}

[[noreturn]] void fail_to_broadcast(const TypeCall& call, const std::vector<Shape>& shapes,
                                    const std::vector<std::size_t>& axes,
                                    std::pair<std::size_t, std::size_t> clash) {
  const auto [a, b] = clash;
  std::string message = "shapes `" + to_string(shapes[a]) + "` and `" + to_string(shapes[b]) +
                        "` do not broadcast: axis " + std::to_string(axes[a]) + " is " +
                        shapes[a][axes[a]].to_string() + " and ";
  if (axes[a] != axes[b]) message += "axis " + std::to_string(axes[b]) + " is ";
  call.fail(DiagnosticKind::BroadcastMismatch, message + shapes[b][axes[b]].to_string());
}

}  // namespace

RuleOutcome solve_broadcast(TypeCall& call, const std::vector<Shape>& shapes,
                            const DTypeTerm& dtype) {
  const auto is_scalar = [](const Shape& shape) { return shape.has_rank() && shape.rank() == 0; };
  if (!call.result && std::all_of(shapes.begin(), shapes.end(), is_scalar)) {
    call.returns(lang::tensor_type(Shape(), dtype));
    return RuleOutcome::Solved;
  }
  const Shape known = result_shape(call, dtype);
  if (known.has_rank() && known.rank() == 0) {  // only scalars broadcast to a scalar
    for (const Shape& shape : shapes) call.solver.unify(shape, Shape());
    return RuleOutcome::Solved;
  }
  return unify_broadcast(call, shapes, known);
}

RuleOutcome solve_binary(TypeCall& call, PrimOperands operands, std::optional<Prim> prim) {
  const Type lhs = call.tensor(0);
  const Type rhs = call.tensor(1);
  const auto& a = static_cast<const TensorType&>(*lhs);
  const auto& b = static_cast<const TensorType&>(*rhs);
  call.solver.unify(a.dtype, b.dtype);
  call.solver.require(a.dtype, operands);
  return solve_broadcast(call, {a.shape, b.shape}, prim ? result_dtype(*prim, a.dtype) : a.dtype);
}

RuleOutcome unify_broadcast(TypeCall& call, const std::vector<Shape>& shapes, const Shape& known) {
  std::vector<Shape> distinct;  // scalars and repeated shapes decide nothing
  for (const Shape& shape : shapes) {
    const bool is_scalar = shape.has_rank() && shape.rank() == 0;
    if (!is_scalar && std::find(distinct.begin(), distinct.end(), shape) == distinct.end()) {
      distinct.push_back(shape);
    }
  }
  if (distinct.size() <= 1) {
    call.solver.unify(known, distinct.empty() ? Shape() : distinct.front());
    return RuleOutcome::Solved;
  }
  std::size_t rank = 0;
  for (const Shape& shape : distinct) {
    if (!shape.has_rank()) return RuleOutcome::Stuck;
    rank = std::max(rank, shape.rank());
  }

  std::vector<std::optional<Dim>> extents;
  bool decided = true;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    std::vector<Shape> present;
    std::vector<std::size_t> axes;
    std::vector<Dim> dims;
    for (const Shape& shape : distinct) {
      if (axis + shape.rank() < rank) continue;
      present.push_back(shape);
      axes.push_back(axis + shape.rank() - rank);
      dims.push_back(shape[axes.back()]);
    }
    Meeting meeting = meet(dims);
    if (meeting.clash) fail_to_broadcast(call, present, axes, *meeting.clash);
    decided &= meeting.decided;
    extents.push_back(std::move(meeting.extent));
  }
  const Shape result = with_rank(call, known, rank);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (extents[axis]) call.solver.unify(result[axis], *extents[axis]);
  }
  return decided ? RuleOutcome::Solved : RuleOutcome::Stuck;
}

namespace {

// Is it this extent at every call, a number or a variable that the caller chooses?
bool is_fixed(const Dim& dim) {
  const DimState state = state_of(dim);
  return state == DimState::Constant || state == DimState::Rigid;
}

}  // namespace

RuleOutcome check_stretches(const TypeCall& call, const Shape& from, const Shape& to) {
  if (!from.has_rank() || !to.has_rank()) return RuleOutcome::Stuck;
  const auto mismatch = [&](const std::string& why) {
    call.fail(
        DiagnosticKind::BroadcastMismatch,
        "shape `" + to_string(from) + "` does not broadcast to `" + to_string(to) + "`: " + why);
  };
  if (from.rank() > to.rank()) {
    mismatch("rank " + std::to_string(from.rank()) + " is more than " + std::to_string(to.rank()));
  }
  for (std::size_t axis = 0; axis < from.rank(); ++axis) {
    const Dim& a = from[axis];
    const Dim& b = to[axis + to.rank() - from.rank()];
    if (!is_fixed(a) || !is_fixed(b) || a.is_constant(1) || a == b) continue;
    mismatch("axis " + std::to_string(axis) + " is " + a.to_string() + " and must be 1" +
             (b.is_constant(1) ? "" : " or " + b.to_string()));
  }
  return is_settled(from) && is_settled(to) ? RuleOutcome::Solved : RuleOutcome::Stuck;
}

// --- Axes ---

std::size_t position_of(std::int64_t axis, std::size_t rank) {
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

void check_axis(const TypeCall& call, std::int64_t axis, const Shape& shape) {
  const auto rank = static_cast<std::int64_t>(shape.rank());
  if (-rank <= axis && axis < rank) return;
  call.fail(DiagnosticKind::AxisOutOfRange, "axis " + std::to_string(axis) +
                                                " is out of range for shape `" + to_string(shape) +
                                                "` of rank " + std::to_string(rank));
}

std::vector<bool> reduced_axes(const AttrsRef& attrs, std::size_t rank) {
  // An empty list stands for all, as it does in Relay.
  if (attrs->is_null("axis") || attrs->get_ints("axis").empty())
    return std::vector<bool>(rank, true);
  const bool exclude = attrs->get_bool("exclude");
  std::vector<bool> reduced(rank, exclude);
  for (const std::int64_t axis : attrs->get_ints("axis"))
    reduced[position_of(axis, rank)] = !exclude;
  return reduced;
}

// --- Index maps ---

Expr read_broadcast(const Expr& tensor, const Indices& out) {
  const std::vector<Dim>& dims = dims_of(tensor);
  const std::size_t missing = out.size() - dims.size();
  Indices indices;
  indices.reserve(dims.size());
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    indices.push_back(dims[axis].is_constant(1) ? build::index_constant(0) : out[missing + axis]);
  }
  return build::at(tensor, indices);
}

Expr clamp_index(const Expr& index, std::int64_t low, std::int64_t high) {
  const Expr above = build::prim(Prim::Max, {index, build::index_constant(low)});
  return build::prim(Prim::Min, {above, build::index_constant(high)});
}

namespace {

// Row-major position of `indices` in extents[first..last), and back.
Expr linearise(const std::vector<std::int64_t>& extents, const Indices& indices, std::size_t first,
               std::size_t last) {
  Expr linear;
  for (std::size_t axis = first; axis < last; ++axis) {
    if (extents[axis] == 1) continue;
    linear =
        linear ? build::add(build::mul(linear, build::index_constant(extents[axis])), indices[axis])
               : indices[axis];
  }
  return linear ? linear : build::index_constant(0);
}

void delinearise(Expr linear, const std::vector<std::int64_t>& extents, std::size_t first,
                 std::size_t last, Indices& out) {
  std::size_t outermost = first;
  while (outermost < last && extents[outermost] == 1) ++outermost;
  for (std::size_t axis = last; axis-- > first;) {
    if (extents[axis] == 1) {
      out[axis] = build::index_constant(0);
    } else if (axis == outermost) {
      out[axis] = linear;
    } else {
      const Expr extent = build::index_constant(extents[axis]);
      out[axis] = build::prim(Prim::FloorMod, {linear, extent});
      linear = build::prim(Prim::FloorDiv, {linear, extent});
    }
  }
}

}  // namespace

Indices reshape_indices(const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to,
                        const Indices& out) {
  Indices indices(from.size(), build::index_constant(0));
  if (std::find(to.begin(), to.end(), 0) != to.end()) return indices;  // never read
  // Shortest runs of axes on both sides that hold equally many elements map to each other; an axis
  // that stays as it is keeps its index, without division.
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < from.size() && j < to.size()) {
    const std::size_t first_from = i;
    const std::size_t first_to = j;
    std::int64_t from_count = from[i++];
    std::int64_t to_count = to[j++];
    while (from_count != to_count) {
      if (from_count < to_count) {
        from_count *= from[i++];
      } else {
        to_count *= to[j++];
      }
    }
    delinearise(linearise(to, out, first_to, j), from, first_from, i, indices);
  }
  return indices;
}

Expr reduce_axes(ReduceOp op, const Expr& data, const std::vector<bool>& reduced, bool keepdims,
                 const ElementMap& value) {
  const std::vector<Dim>& dims = dims_of(data);
  std::vector<Dim> kept;
  std::vector<Dim> folded;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (reduced[axis]) folded.push_back(dims[axis]);
    if (!reduced[axis] || keepdims) kept.push_back(reduced[axis] ? Dim(1) : dims[axis]);
  }
  return build::comprehension(kept, [&](const Indices& outer) {
    const auto element = [&](const Indices& inner) {
      Indices indices;
      std::size_t o = 0;
      std::size_t k = 0;
      for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        indices.push_back(reduced[axis] ? inner[k++] : outer[o]);
        if (!reduced[axis] || keepdims) ++o;
      }
      const Expr read = build::at(data, indices);
      return value ? value(read) : read;
    };
    return folded.empty() ? element({}) : build::reduction(op, folded, element);
  });
}

// --- For gradients ---

namespace {

bool has_any(const Expr& tensor) {
  const std::vector<Dim>& dims = dims_of(tensor);
  return std::any_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.is_any(); });
}

}  // namespace

Expr sum_to(const Expr& adjoint, const Expr& target) {
  // Two `?` may hide a stretched axis.
  return has_any(target) ? build::op("collapse_sum_like", {adjoint, target})
                         : build::sum_to(adjoint, target);
}

Expr zeros_like(const Expr& tensor) {
  return has_any(tensor) ? build::op("zeros_like", {tensor}) : build::zeros_like(tensor);
}

Expr extent_of(const Expr& tensor, std::size_t axis) {
  const Dim& dim = dims_of(tensor)[axis];
  if (dim.is_constant()) return build::index_constant(dim.constant());
  if (!dim.is_any()) return lang::make_dim_term(dim);
  return build::op("dim_of", {tensor}, {{"axis", static_cast<std::int64_t>(axis)}});
}

Expr count_of(const Expr& tensor, const std::vector<bool>& axes) {
  const TensorType& type = tensor_type_of(tensor);
  const DType dtype = type.dtype.known();
  Dim known = 1;
  Expr rest;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (!axes[axis]) continue;
    if (!type.shape[axis].is_any()) {
      known = known * type.shape[axis];
      continue;
    }
    const Expr extent = extent_of(tensor, axis);
    rest = rest ? build::op("multiply", {rest, extent}) : extent;
  }
  if (known.is_constant() && !rest)
    return build::constant(dtype, static_cast<double>(known.constant()));
  Expr count =
      known.is_constant() ? build::index_constant(known.constant()) : lang::make_dim_term(known);
  if (rest) count = build::op("multiply", {count, rest});
  return build::op("cast", {count}, {{"dtype", dtype}});
}

namespace {

std::vector<lang::IndexBinder> binders_over(const Expr& like, Indices& indices) {
  std::vector<lang::IndexBinder> binders;
  for (std::size_t axis = 0; axis < dims_of(like).size(); ++axis) {
    const lang::VariableRef variable = lang::make_variable("i", lang::scalar_type(DType::Int64));
    binders.push_back({variable, extent_of(like, axis)});
    indices.push_back(lang::make_var(variable));
  }
  return binders;
}

}  // namespace

Expr generate_like(const Expr& like, const std::function<Expr(const Indices&)>& body) {
  Indices indices;
  std::vector<lang::IndexBinder> binders = binders_over(like, indices);
  Expr element = body(indices);
  if (binders.empty()) return element;
  const Type type = lang::tensor_type(dims_of(like), tensor_type_of(element).dtype);
  return lang::make_comprehension(std::move(binders), std::move(element), {}, type);
}

Expr scatter_into(const Expr& target, const Expr& values,
                  const std::function<Indices(const Indices&)>& place) {
  Indices indices;
  std::vector<lang::IndexBinder> binders = binders_over(values, indices);
  return lang::make_scatter_reduce(ReduceOp::Sum, zeros_like(target), std::move(binders),
                                   place(indices), build::at(values, indices), {}, target->type);
}

Expr spread(const Expr& reduced_value, const Expr& data, const std::vector<bool>& reduced,
            bool keepdims) {
  Expr value = reduced_value;
  const bool scalar = dims_of(value).empty();
  for (std::size_t axis = 0; !scalar && !keepdims && axis < reduced.size(); ++axis) {
    if (reduced[axis]) {
      value = build::op("expand_dims", {value}, {{"axis", static_cast<std::int64_t>(axis)}});
    }
  }
  return build::op("broadcast_to_like", {value, data});
}

bool is_float_tensor(const Expr& expr) {
  const auto* tensor = lang::as<TensorType>(expr->type);
  return tensor && tensor->dtype.is_known() && lang::is_float(tensor->dtype.known());
}

Expr filled_gradient(const Expr& value, const Expr& dout) {
  if (!is_float_tensor(value) || !is_float_tensor(dout)) return nullptr;
  const Expr sum = build::op("sum", {dout});
  const lang::DTypeTerm& dtype = tensor_type_of(value).dtype;
  if (tensor_type_of(sum).dtype == dtype) return sum;
  return build::op("cast", {sum}, {{"dtype", dtype.known()}});
}

}  // namespace relay::stdlib
