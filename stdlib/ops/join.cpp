#include <algorithm>
#include <string>

#include "lang/attrs_struct.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/formula.h"
#include "stdlib/ops/tuples.h"
#include "stdlib/ops/types.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

// --- concatenate and stack: a tuple of tensors ---

// The rank of the fields, which they share; nullopt while none is known.
std::optional<std::size_t> common_rank(const TypeCall& call, const std::vector<Type>& fields) {
  const Shape* first = nullptr;
  for (const Type& field : fields) {
    const Shape& shape = as_tensor(field).shape;
    if (!shape.has_rank()) continue;
    if (!first) first = &shape;
    if (shape.rank() == first->rank()) continue;
    call.fail(DiagnosticKind::RankMismatch,
              "`" + call.op.name + "` of tensors of different rank: `" + to_string(*first) +
                  "` and `" + to_string(shape) + "`");
  }
  if (!first) return std::nullopt;
  return first->rank();
}

// Makes the extents agree on every axis but `free`.
void unify_extents(TypeCall& call, const Shape& a, const Shape& b,
                   std::optional<std::size_t> free) {
  for (std::size_t axis = 0; axis < a.rank(); ++axis) {
    if (axis == free) continue;
    if (a[axis].is_constant() && b[axis].is_constant() && !(a[axis] == b[axis])) {
      call.fail(DiagnosticKind::ShapeMismatch,
                "`" + call.op.name + "` of `" + to_string(a) + "` and `" + to_string(b) +
                    "`: axis " + std::to_string(axis) + " is " + a[axis].to_string() + " and " +
                    b[axis].to_string());
    }
    call.solver.unify(a[axis], b[axis]);
  }
}

// Element `index` of an axis of which `field` holds first..first+extent, moved to the field's own
// positions and kept inside it also where another field is read.
Expr within(const Expr& index, std::int64_t first, std::int64_t extent) {
  const Expr own = build::sub(index, build::index_constant(first));
  return extent == 0 ? own : clamp_index(own, 0, extent - 1);
}

RuleOutcome concatenate_rule(TypeCall& call) {
  const auto fields = tuple_of_tensors(call);
  if (!fields) return RuleOutcome::Stuck;
  const Shape known = result_shape(call, as_tensor(fields->front()).dtype);
  const auto rank = common_rank(call, *fields);
  if (!rank) return RuleOutcome::Stuck;
  std::vector<Shape> shapes;
  for (const Type& field : *fields)
    shapes.push_back(with_rank(call, as_tensor(field).shape, *rank));
  check_axis(call, call.attrs->get_int("axis"), shapes.front());
  const std::size_t axis = position_of(call.attrs->get_int("axis"), *rank);
  Dim total = 0;
  for (const Shape& shape : shapes) {
    unify_extents(call, shapes.front(), shape, axis);
    total = total + shape[axis];
  }
  const Shape result = with_rank(call, known, *rank);
  for (std::size_t k = 0; k < *rank; ++k) {
    if (k != axis) call.solver.unify(result[k], shapes.front()[k]);
  }
  call.solver.unify(result[axis], total);
  return RuleOutcome::Solved;
}

Expr concatenate_definition(const DefinitionCall& call) {
  const auto& result = *lang::as<TensorType>(call.result);
  const std::size_t axis = position_of(call.attrs->get_int("axis"), result.shape.rank());
  return with_fields(call.args[0], [&](const std::vector<Expr>& fields) {
    return build::comprehension(result.shape.dims(), [&](const Indices& out) {
      Expr value;
      std::int64_t end = result.shape[axis].constant();
      for (std::size_t k = fields.size(); k-- > 0;) {
        const std::int64_t extent = dims_of(fields[k])[axis].constant();
        const std::int64_t start = end - extent;
        Indices indices = out;
        if (fields.size() > 1) indices[axis] = within(out[axis], start, extent);
        // A field without elements is never read, unless there is nothing at all.
        if (extent > 0 || (k == 0 && !value)) {
          const Expr read = build::at(fields[k], indices);
          const Expr mine =
              value ? build::prim(Prim::Lt, {out[axis], build::index_constant(end)}) : nullptr;
          value = value ? build::select(mine, read, value) : read;
        }
        end = start;
      }
      return value;
    });
  });
}

// The part of `whole` that begins at `start` on `axis`, of the shape of `like`.
Expr slice_like(const Expr& whole, const Expr& like, std::size_t axis, const Expr& start) {
  return generate_like(like, [&](const Indices& out) {
    Indices indices = out;
    indices[axis] = build::add(out[axis], start);
    return build::at(whole, indices);
  });
}

std::vector<Expr> concatenate_gradient(const GradientCall& call) {
  const auto& types = lang::as<lang::TupleType>(call.args[0]->type)->fields;
  const std::size_t axis = position_of(call.attrs->get_int("axis"), dims_of(call.out).size());
  if (types.size() == 1) return {build::tuple({call.dout})};
  std::vector<std::int64_t> cuts;
  bool constant = true;
  std::int64_t start = 0;
  for (const Type& type : types) {
    const Dim& extent = as_tensor(type).shape[axis];
    constant &= extent.is_constant();
    start += extent.is_constant() ? extent.constant() : 0;
    cuts.push_back(start);
  }
  cuts.pop_back();
  if (constant) {
    return {op("split", {call.dout},
               {{"indices_or_sections", AttrValue::ints(cuts)},
                {"axis", static_cast<std::int64_t>(axis)}})};
  }
  std::vector<Expr> parts;
  Expr begin = build::index_constant(0);
  for (std::uint32_t k = 0; k < types.size(); ++k) {
    const Expr field = build::project(call.args[0], k);
    parts.push_back(slice_like(call.dout, field, axis, begin));
    begin = build::add(begin, extent_of(field, axis));
  }
  return {build::tuple(std::move(parts))};
}

void add_concatenate() {
  OpDef def;
  def.name = "concatenate";
  def.level = 1;
  def.doc =
      "The tensors of a tuple joined along an axis. They agree on dtype and on all other axes.";
  def.example = "concatenate(([1, 2], [3]))\n// expect: [1, 2, 3]";
  def.inputs = {{"data", "a tuple of tensors"}};
  def.attrs = {optional_attr("axis", AttrKind::Int, 0, "the axis along which they are joined")};
  def.type_rule = concatenate_rule;
  def.definition = concatenate_definition;
  def.gradient = concatenate_gradient;
  def.nests = true;
  add_tuple_operator(std::move(def));
}

RuleOutcome stack_rule(TypeCall& call) {
  const auto fields = tuple_of_tensors(call);
  if (!fields) return RuleOutcome::Stuck;
  const Shape known = result_shape(call, as_tensor(fields->front()).dtype);
  const auto rank = common_rank(call, *fields);
  if (!rank) return RuleOutcome::Stuck;
  const Shape first = with_rank(call, as_tensor(fields->front()).shape, *rank);
  for (const Type& field : *fields) {
    unify_extents(call, first, with_rank(call, as_tensor(field).shape, *rank), std::nullopt);
  }
  const std::int64_t axis = call.attrs->get_int("axis");
  std::vector<Dim> dims = first.dims();
  dims.insert(dims.begin(), Dim(static_cast<std::int64_t>(fields->size())));
  check_axis(call, axis, Shape(dims));
  std::rotate(dims.begin(), dims.begin() + 1,
              dims.begin() + 1 + static_cast<std::ptrdiff_t>(position_of(axis, dims.size())));
  call.solver.unify(known, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

void add_stack() {
  OpDef def;
  def.name = "stack";
  def.level = 3;
  def.doc = "The tensors of a tuple, all of one type, along a new axis.";
  def.example = "stack(([1, 2], [3, 4]))\n// expect: [[1, 2], [3, 4]]";
  def.inputs = {{"data", "a tuple of tensors"}};
  def.attrs = {optional_attr("axis", AttrKind::Int, 0, "where the new axis stands; -1 is last")};
  lang::set_attrs_struct(def.name, "StackAttrs", {"axis"});
  def.type_rule = stack_rule;
  def.definition = [](const DefinitionCall& call) {
    const auto& result = *lang::as<TensorType>(call.result);
    const std::size_t axis = position_of(call.attrs->get_int("axis"), result.shape.rank());
    return with_fields(call.args[0], [&](const std::vector<Expr>& fields) {
      return build::comprehension(result.shape.dims(), [&](const Indices& out) {
        Indices indices = out;
        indices.erase(indices.begin() + static_cast<std::ptrdiff_t>(axis));
        Expr value;
        for (std::size_t k = fields.size(); k-- > 0;) {
          const Expr position = build::index_constant(static_cast<std::int64_t>(k));
          const Expr read = build::at(fields[k], indices);
          value = value ? build::select(build::prim(Prim::Eq, {out[axis], position}), read, value)
                        : read;
        }
        return value;
      });
    });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const auto& types = lang::as<lang::TupleType>(call.args[0]->type)->fields;
    const AttrValue axis = call.attrs->get_int("axis");
    std::vector<Expr> parts;
    const bool is_of_scalars = lang::is_scalar(types[0]);
    for (std::size_t k = 0; k < types.size(); ++k) {
      if (is_of_scalars) {
        parts.push_back(
            build::at(call.dout, {build::index_constant(static_cast<std::int64_t>(k))}));
        continue;
      }
      parts.push_back(op("take", {call.dout, build::index_constant(static_cast<std::int64_t>(k))},
                         {{"axis", axis}}));
    }
    return {build::tuple(std::move(parts))};
  };
  def.nests = true;
  add_tuple_operator(std::move(def));
}

// --- split ---

// The positions at which pieces begin, with the extent at the end.
std::vector<std::int64_t> piece_bounds(const AttrsRef& attrs, std::int64_t extent) {
  const AttrValue& given = *attrs->find("indices_or_sections");
  std::vector<std::int64_t> bounds{0};
  if (const std::int64_t* sections = given.as_int()) {
    for (std::int64_t k = 1; k <= *sections; ++k) bounds.push_back(extent / *sections * k);
    return bounds;
  }
  for (const std::int64_t cut : attrs->get_ints("indices_or_sections")) bounds.push_back(cut);
  bounds.push_back(extent);
  return bounds;
}

// Extents of the pieces; nullopt for those that wait for an unknown.
std::vector<std::optional<Dim>> piece_extents(const TypeCall& call, const Shape& shape,
                                              std::size_t axis) {
  const Dim& extent = shape[axis];
  const bool waits = state_of(extent) == DimState::Flexible;
  std::vector<std::optional<Dim>> pieces;
  if (const std::int64_t* sections = call.attrs->find("indices_or_sections")->as_int()) {
    if (extent.is_constant() && extent.constant() % *sections != 0) {
      call.fail(DiagnosticKind::ShapeMismatch, "cannot split axis " + std::to_string(axis) +
                                                   " of `" + to_string(shape) + "`, of extent " +
                                                   extent.to_string() + ", into " +
                                                   std::to_string(*sections) + " equal pieces");
    }
    std::optional<Dim> each;
    if (!waits) each = Dim::floor_div(extent, *sections);
    pieces.assign(static_cast<std::size_t>(*sections), each);
    return pieces;
  }
  std::int64_t start = 0;
  for (const std::int64_t cut : call.attrs->get_ints("indices_or_sections")) {
    if (cut < start || (extent.is_constant() && cut > extent.constant())) {
      call.fail(DiagnosticKind::BadAttribute,
                "cut " + std::to_string(cut) + " of `split` does not lie between " +
                    std::to_string(start) + " and " + extent.to_string());
    }
    pieces.emplace_back(Dim(cut - start));
    start = cut;
  }
  pieces.emplace_back();
  if (!waits) pieces.back() = extent - Dim(start);
  return pieces;
}

RuleOutcome split_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const TensorType& tensor = as_tensor(data);
  const std::int64_t* sections = call.attrs->find("indices_or_sections")->as_int();
  if (sections && *sections < 1)
    call.fail(DiagnosticKind::BadAttribute, "`split` needs at least one piece");
  constexpr std::int64_t kMostPieces = 100'000;  // a type is not larger
  if (sections && *sections > kMostPieces) {
    call.fail(DiagnosticKind::BadAttribute, "`split` makes at most " + std::to_string(kMostPieces) +
                                                " pieces, not " + std::to_string(*sections));
  }
  const std::size_t count = sections ? static_cast<std::size_t>(*sections)
                                     : call.attrs->get_ints("indices_or_sections").size() + 1;
  // The result as a tuple of `count` tensors.
  const auto* tuple = lang::as<lang::TupleType>(call.result);
  if (!tuple) {
    std::vector<Type> fields;
    for (std::size_t k = 0; k < count; ++k) {
      fields.push_back(lang::tensor_type(call.solver.fresh_shape(), tensor.dtype));
    }
    call.returns(lang::tuple_type(std::move(fields)));
  }
  if (!tensor.shape.has_rank()) return RuleOutcome::Stuck;
  check_axis(call, call.attrs->get_int("axis"), tensor.shape);
  const std::size_t axis = position_of(call.attrs->get_int("axis"), tensor.shape.rank());
  const auto extents = piece_extents(call, tensor.shape, axis);
  const Type result = call.solver.resolve(call.result);
  const auto* resolved = lang::as<lang::TupleType>(result);
  std::vector<Type> fields;
  bool complete = true;
  for (std::size_t k = 0; k < count; ++k) {
    std::vector<Dim> dims = tensor.shape.dims();
    complete &= extents[k].has_value();
    if (extents[k]) {
      dims[axis] = *extents[k];
    } else {
      const auto* field = resolved && k < resolved->fields.size()
                              ? lang::as<TensorType>(resolved->fields[k])
                              : nullptr;
      const bool ranked = field && field->shape.has_rank() && field->shape.rank() == dims.size();
      dims[axis] = ranked ? field->shape[axis] : call.solver.fresh_dim();
    }
    fields.push_back(lang::tensor_type(std::move(dims), tensor.dtype));
  }
  call.returns(lang::tuple_type(std::move(fields)));
  return complete ? RuleOutcome::Solved : RuleOutcome::Stuck;
}

// Names the pieces from `k` on, then makes the tuple of all.
Expr piece_lets(const DefinitionCall& call, std::size_t axis,
                const std::vector<std::int64_t>& bounds, std::vector<Expr>& pieces) {
  const std::size_t k = pieces.size();
  if (k + 1 == bounds.size()) return build::tuple(pieces);
  std::vector<Dim> dims = dims_of(call.args[0]);
  dims[axis] = Dim(bounds[k + 1] - bounds[k]);
  const Expr piece = build::comprehension(dims, [&](const Indices& out) {
    Indices indices = out;
    indices[axis] = build::add(out[axis], build::index_constant(bounds[k]));
    return build::at(call.args[0], indices);
  });
  return build::let("piece", piece, [&](const Expr& named) {
    pieces.push_back(named);
    return piece_lets(call, axis, bounds, pieces);
  });
}

void add_split() {
  OpDef def;
  def.name = "split";
  def.level = 3;
  def.doc =
      "The tensor cut along an axis, as a tuple of pieces.\n"
      "`indices_or_sections` is a number of equal pieces, or the list of positions at which to "
      "cut.";
  def.example = "split([1, 2, 3, 4], indices_or_sections=2)\n// expect: ([1, 2], [3, 4])";
  def.inputs = {{"data", "the tensor"}};
  def.attrs = {required_attr("indices_or_sections", AttrKind::IntOrIntList,
                             "how many pieces, or where to cut"),
               optional_attr("axis", AttrKind::Int, 0, "the axis that is cut")};
  def.type_rule = split_rule;
  def.definition = [](const DefinitionCall& call) {
    const std::vector<Dim>& dims = dims_of(call.args[0]);
    const std::size_t axis = position_of(call.attrs->get_int("axis"), dims.size());
    std::vector<Expr> pieces;
    return piece_lets(call, axis, piece_bounds(call.attrs, dims[axis].constant()), pieces);
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {op("concatenate", {call.dout}, {{"axis", call.attrs->get_int("axis")}})};
  };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- reverse, repeat, tile ---

void add_reverse() {
  OpDef def;
  def.name = "reverse";
  def.level = 3;
  def.doc = "The tensor with an axis read backwards; without `axis`, with all of them.";
  def.example = "reverse([1, 2, 3], axis=0)\n// expect: [3, 2, 1]";
  def.inputs = {{"data", "the tensor"}};
  def.attrs = {nullable_attr("axis", AttrKind::Int, "the axis; None: all")};
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    call.returns(data);
    if (call.attrs->is_null("axis")) return RuleOutcome::Solved;
    if (!as_tensor(data).shape.has_rank()) return RuleOutcome::Stuck;
    check_axis(call, call.attrs->get_int("axis"), as_tensor(data).shape);
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    const std::vector<Dim>& dims = dims_of(call.args[0]);
    const bool all = call.attrs->is_null("axis");
    const std::size_t only = all ? 0 : position_of(call.attrs->get_int("axis"), dims.size());
    return build::comprehension(dims, [&](const Indices& out) {
      Indices indices = out;
      for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        if (!all && axis != only) continue;
        indices[axis] = build::sub(build::index_constant(dims[axis].constant() - 1), out[axis]);
      }
      return build::at(call.args[0], indices);
    });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {op("reverse", {call.dout}, call.attrs->list)};
  };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

RuleOutcome repeat_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const TensorType& tensor = as_tensor(data);
  const Shape known = result_shape(call, tensor.dtype);
  const std::int64_t repeats = call.attrs->get_int("repeats");
  if (repeats < 0) call.fail(DiagnosticKind::BadAttribute, "`repeats` must not be negative");
  const bool flat = call.attrs->is_null("axis");
  const Shape result = flat ? with_rank(call, known, 1) : known;
  if (!tensor.shape.has_rank()) return RuleOutcome::Stuck;
  if (!is_settled(tensor.shape)) return RuleOutcome::Stuck;
  if (flat) {
    call.solver.unify(result[0], product(tensor.shape.dims()) * repeats);
    return RuleOutcome::Solved;
  }
  check_axis(call, call.attrs->get_int("axis"), tensor.shape);
  std::vector<Dim> dims = tensor.shape.dims();
  Dim& extent = dims[position_of(call.attrs->get_int("axis"), dims.size())];
  extent = extent * repeats;
  call.solver.unify(result, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

void add_repeat() {
  OpDef def;
  def.name = "repeat";
  def.level = 3;
  def.doc =
      "Each slice along an axis several times in a row; without `axis`, each element of the flat "
      "tensor.";
  def.example = "repeat([1, 2], repeats=2, axis=0)\n// expect: [1, 1, 2, 2]";
  def.inputs = {{"data", "the tensor"}};
  def.attrs = {required_attr("repeats", AttrKind::Int, "how often"),
               nullable_attr("axis", AttrKind::Int, "the axis; None: flatten first")};
  lang::set_attrs_struct(def.name, "RepeatAttrs", {"repeats"});
  def.type_rule = repeat_rule;
  def.definition = [](const DefinitionCall& call) {
    const std::vector<Dim>& dims = dims_of(call.args[0]);
    const Expr repeats = build::index_constant(call.attrs->get_int("repeats"));
    const bool flat = call.attrs->is_null("axis");
    const std::size_t axis = flat ? 0 : position_of(call.attrs->get_int("axis"), dims.size());
    return build::comprehension(
        lang::as<TensorType>(call.result)->shape.dims(), [&](const Indices& out) {
          Indices indices = out;
          indices[axis] = build::prim(Prim::FloorDiv, {out[axis], repeats});
          if (flat)
            indices = reshape_indices(extents_of(dims), {product(dims).constant()}, indices);
          return build::at(call.args[0], indices);
        });
  };
  // Each axis n * repeats is seen as n, repeats, and summed over the latter.
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const std::int64_t repeats = call.attrs->get_int("repeats");
    if (repeats == 0) return {zeros_like(call.args[0])};
    const bool flat = call.attrs->is_null("axis");
    const std::size_t axis =
        flat ? 0 : position_of(call.attrs->get_int("axis"), dims_of(call.args[0]).size());
    std::vector<std::int64_t> newshape(axis, 0);
    newshape.insert(newshape.end(), {-4, -1, repeats, -2});
    const Expr split = op("reshape", {call.dout}, {{"newshape", AttrValue::ints(newshape)}});
    const Expr sum = op("sum", {split}, {{"axis", static_cast<std::int64_t>(axis) + 1}});
    return {flat ? op("reshape_like", {sum, call.args[0]}) : sum};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// `reps` and the data's dims, aligned at the end and filled up with 1.
std::vector<std::int64_t> aligned_reps(const AttrsRef& attrs, std::size_t rank) {
  std::vector<std::int64_t> reps = attrs->get_ints("reps");
  if (reps.size() < rank) reps.insert(reps.begin(), rank - reps.size(), 1);
  return reps;
}

void add_tile() {
  OpDef def;
  def.name = "tile";
  def.level = 3;
  def.doc =
      "The whole tensor several times along each axis.\n"
      "`reps` counts from the last axis; if it is longer than the rank, new axes come in front.";
  def.example = "tile([1, 2], reps=[2, 2])\n// expect: [[1, 2, 1, 2], [1, 2, 1, 2]]";
  def.inputs = {{"data", "the tensor"}};
  def.attrs = {required_attr("reps", AttrKind::IntOrIntList, "how often, for each axis")};
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    const TensorType& tensor = as_tensor(data);
    const Shape known = result_shape(call, tensor.dtype);
    for (const std::int64_t rep : call.attrs->get_ints("reps")) {
      if (rep < 0) call.fail(DiagnosticKind::BadAttribute, "`reps` must not be negative");
    }
    if (!is_settled(tensor.shape)) return RuleOutcome::Stuck;
    const std::vector<std::int64_t> reps = aligned_reps(call.attrs, tensor.shape.rank());
    std::vector<Dim> dims = to_dims(reps);
    const std::size_t missing = reps.size() - tensor.shape.rank();
    for (std::size_t axis = 0; axis < tensor.shape.rank(); ++axis) {
      dims[missing + axis] = dims[missing + axis] * tensor.shape[axis];
    }
    call.solver.unify(known, Shape(std::move(dims)));
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    const std::vector<Dim>& dims = dims_of(call.args[0]);
    return build::comprehension(
        lang::as<TensorType>(call.result)->shape.dims(), [&](const Indices& out) {
          const std::size_t missing = out.size() - dims.size();
          const std::vector<std::int64_t> reps = aligned_reps(call.attrs, dims.size());
          Indices indices;
          for (std::size_t axis = 0; axis < dims.size(); ++axis) {
            const Expr& index = out[missing + axis];
            const bool once = reps[missing + axis] == 1 || dims[axis].is_constant(0);
            indices.push_back(
                once ? index
                     : build::prim(Prim::FloorMod,
                                   {index, build::index_constant(dims[axis].constant())}));
          }
          return build::at(call.args[0], indices);
        });
  };
  // Each axis rep * n is seen as rep, n, and summed over the former.
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const Expr& x = call.args[0];
    std::vector<std::int64_t> newshape;
    std::vector<std::int64_t> repeated;
    for (const std::int64_t rep : aligned_reps(call.attrs, dims_of(x).size())) {
      if (rep == 0) return {zeros_like(x)};
      const auto axis = static_cast<std::int64_t>(repeated.size());
      newshape.insert(newshape.end(), {-4, rep, -1});
      repeated.push_back(2 * axis);
    }
    const Expr split = op("reshape", {call.dout}, {{"newshape", AttrValue::ints(newshape)}});
    const Expr sum = op("sum", {split}, {{"axis", AttrValue::ints(repeated)}});
    return {op("reshape_like", {sum, x})};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_joining_operators() {
  add_concatenate();
  add_stack();
  add_split();
  add_reverse();
  add_repeat();
  add_tile();
}

}  // namespace relay::stdlib
