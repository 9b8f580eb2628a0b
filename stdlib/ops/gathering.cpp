#include <algorithm>
#include <string>

#include "lang/attrs_struct.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/formula.h"
#include "stdlib/ops/places.h"
#include "stdlib/ops/tuples.h"
#include "stdlib/ops/types.h"

// Elements that are read where integers say: gather and its kin, and positions as values.
namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

// Two extents that must be equal.
void agree(TypeCall& call, const char* what, const Shape& a, std::size_t axis_a, const Shape& b,
           std::size_t axis_b) {
  if (a[axis_a].is_constant() && b[axis_b].is_constant() && !(a[axis_a] == b[axis_b])) {
    call.fail(DiagnosticKind::ShapeMismatch,
              "`" + call.op.name + "` of `" + to_string(a) + "` with " + what + " `" +
                  to_string(b) + "`: axis " + std::to_string(axis_a) + " is " +
                  a[axis_a].to_string() + ", and axis " + std::to_string(axis_b) + " of the " +
                  what + " is " + b[axis_b].to_string());
  }
  call.solver.unify(a[axis_a], b[axis_b]);
}

// --- gather ---

RuleOutcome gather_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const Type index = call.tensor(1);
  const Shape& from = as_tensor(data).shape;
  const Shape& at = as_tensor(index).shape;
  call.solver.require(as_tensor(index).dtype, PrimOperands::kInt);
  call.returns(lang::tensor_type(at, as_tensor(data).dtype));
  if (!from.has_rank() && !at.has_rank()) return RuleOutcome::Stuck;
  const std::size_t rank = from.has_rank() ? from.rank() : at.rank();
  if (from.has_rank() && at.has_rank() && from.rank() != at.rank()) {
    call.fail(DiagnosticKind::RankMismatch, "`gather` of `" + to_string(from) + "` with indices `" +
                                                to_string(at) + "`: their ranks differ");
  }
  const Shape data_shape = with_rank(call, from, rank);
  const Shape index_shape = with_rank(call, at, rank);
  check_axis(call, call.attrs->get_int("axis"), data_shape);
  const std::size_t axis = position_of(call.attrs->get_int("axis"), rank);
  for (std::size_t k = 0; k < rank; ++k) {
    if (k != axis) agree(call, "indices", data_shape, k, index_shape, k);
  }
  return RuleOutcome::Solved;
}

void add_gather() {
  OpDef def;
  def.name = "gather";
  def.level = 3;
  def.doc =
      "Along an axis, the elements at the positions that an index tensor of the same rank holds.\n"
      "On the other axes data and indices have the same extents; the result has the shape of the "
      "indices. A negative index counts from the end; one out of range is an error. NumPy calls it "
      "take_along_axis.";
  def.example = "gather([[1, 2], [3, 4]], [[0, 0], [1, 0]], axis=1)\n// expect: [[1, 1], [4, 3]]";
  def.inputs = {{"data", "where to take from"}, {"indices", "integers"}};
  def.attrs = {optional_attr("axis", AttrKind::Int, 0, "the axis along which the indices point")};
  lang::set_attrs_struct(def.name, "GatherAttrs", {"axis"});
  def.type_rule = gather_rule;
  def.definition = [](const DefinitionCall& call) {
    const std::vector<Dim>& dims = lang::as<TensorType>(call.result)->shape.dims();
    const std::size_t axis = position_of(call.attrs->get_int("axis"), dims.size());
    return build::comprehension(dims, [&](const Indices& out) {
      return build::checked_at(call.args[0], element_place(call.args[0], call.args[1], axis, out));
    });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const Expr& data = call.args[0];
    const std::size_t axis = position_of(call.attrs->get_int("axis"), dims_of(data).size());
    return {
        scatter_into(data, call.dout,
                     [&](const Indices& i) { return element_place(data, call.args[1], axis, i); }),
        nullptr};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- gather_nd ---

// How many coordinates the indices of a `gather_nd` hold; nullopt while that is not known.
std::optional<std::size_t> coordinates_of(const TypeCall& call, const Shape& at) {
  if (at[0].is_constant()) return static_cast<std::size_t>(at[0].constant());
  if (call.attrs->is_null("index_rank")) return std::nullopt;
  const std::int64_t given = call.attrs->get_int("index_rank");
  if (given < 1) call.fail(DiagnosticKind::BadAttribute, "`index_rank` must be positive");
  return static_cast<std::size_t>(given);
}

RuleOutcome gather_nd_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const Type index = call.tensor(1);
  const Shape& from = as_tensor(data).shape;
  const Shape& at = as_tensor(index).shape;
  call.solver.require(as_tensor(index).dtype, PrimOperands::kInt);
  const Shape known = result_shape(call, as_tensor(data).dtype);
  const std::int64_t given = call.attrs->get_int("batch_dims");
  if (given < 0) call.fail(DiagnosticKind::BadAttribute, "`batch_dims` must not be negative");
  const auto batch = static_cast<std::size_t>(given);
  if (!at.has_rank()) return RuleOutcome::Stuck;
  if (at.rank() == 0) {
    call.fail(DiagnosticKind::RankMismatch,
              "`gather_nd` with a scalar as indices: its first axis holds the coordinates");
  }
  if (batch >= at.rank() && batch > 0) {
    call.fail(DiagnosticKind::BadAttribute,
              "`batch_dims` is " + std::to_string(batch) + ", and the indices `" + to_string(at) +
                  "` have " + std::to_string(at.rank() - 1) + " axes behind the first");
  }
  if (!from.has_rank()) return RuleOutcome::Stuck;
  const auto coordinates = coordinates_of(call, at);
  if (!coordinates) {
    if (state_of(at[0]) == DimState::Flexible) return RuleOutcome::Stuck;
    call.fail(DiagnosticKind::MissingAttribute,
              "the first axis of the indices `" + to_string(at) +
                  "` says how many coordinates there are, and is not known: write `index_rank`");
  }
  if (*coordinates + batch > from.rank()) {
    call.fail(DiagnosticKind::ShapeMismatch,
              "`gather_nd` of `" + to_string(from) + "` with indices `" + to_string(at) +
                  "`: " + std::to_string(batch + *coordinates) + " coordinates for " +
                  std::to_string(from.rank()) + " axes");
  }
  for (std::size_t axis = 0; axis < batch; ++axis) agree(call, "indices", from, axis, at, axis + 1);
  std::vector<Dim> dims(at.dims().begin() + 1, at.dims().end());
  dims.insert(dims.end(), from.dims().begin() + static_cast<std::ptrdiff_t>(batch + *coordinates),
              from.dims().end());
  call.solver.unify(known, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

// The place in the data of element `out` of the result.
Indices gathered_place(const AttrsRef& attrs, const Expr& data, const Expr& indices,
                       const Indices& out) {
  VectorIndex by;
  by.batch = static_cast<std::size_t>(attrs->get_int("batch_dims"));
  const std::size_t rows = dims_of(indices).size() - 1;
  by.coordinates = dims_of(data).size() - by.batch - (out.size() - rows);
  const auto split = out.begin() + static_cast<std::ptrdiff_t>(rows);
  return vector_place(data, indices, by, Indices(out.begin(), split), Indices(split, out.end()));
}

void add_gather_nd() {
  OpDef def;
  def.name = "gather_nd";
  def.level = 3;
  def.doc =
      "The elements or slices at coordinates that stand along the first axis of the indices.\n"
      "Indices of shape (m, y..) and data of shape (x..) give (y.., the axes of x after the first "
      "m). With `batch_dims` data and y share so many leading axes. A negative coordinate counts "
      "from the end; one out of range is an error.";
  def.example = "gather_nd([[1, 2], [3, 4]], [[1, 0], [0, 1]])\n// expect: [3, 2]";
  def.inputs = {{"data", "where to take from"},
                {"indices", "integers; coordinate m of element y at [m, y]"}};
  def.attrs = {
      optional_attr("batch_dims", AttrKind::Int, 0, "leading axes of the data that y shares"),
      nullable_attr("index_rank", AttrKind::Int,
                    "how many coordinates there are, where the indices' type does not say")};
  lang::set_attrs_struct(def.name, "GatherNDAttrs", {"batch_dims"});
  def.type_rule = gather_nd_rule;
  def.definition = [](const DefinitionCall& call) {
    const std::vector<Dim>& dims = lang::as<TensorType>(call.result)->shape.dims();
    return build::comprehension(dims, [&](const Indices& out) {
      return build::checked_at(call.args[0],
                               gathered_place(call.attrs, call.args[0], call.args[1], out));
    });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {scatter_into(call.args[0], call.dout,
                         [&](const Indices& out) {
                           return gathered_place(call.attrs, call.args[0], call.args[1], out);
                         }),
            nullptr};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- adv_index ---

RuleOutcome adv_index_rule(TypeCall& call) {
  const auto fields = tuple_fields(call);
  if (!fields) return RuleOutcome::Stuck;
  const Shape& from = as_tensor(fields->front()).shape;
  const Shape known = result_shape(call, as_tensor(fields->front()).dtype);
  if (fields->size() < 2) {
    call.fail(DiagnosticKind::TypeMismatch, "`adv_index` needs at least one index tensor");
  }
  std::size_t rank = 0;
  for (std::size_t k = 1; k < fields->size(); ++k) {
    const TensorType& index = as_tensor((*fields)[k]);
    call.solver.require(index.dtype, PrimOperands::kInt);
    if (!is_settled(index.shape)) return RuleOutcome::Stuck;
    rank = std::max(rank, index.shape.rank());
  }
  if (!from.has_rank()) return RuleOutcome::Stuck;
  const std::size_t count = fields->size() - 1;
  if (count > from.rank()) {
    call.fail(DiagnosticKind::RankMismatch,
              "`adv_index` with " + std::to_string(count) + " index tensors for the " +
                  std::to_string(from.rank()) + " axes of `" + to_string(from) + "`");
  }
  std::vector<Dim> dims(rank, Dim(1));
  for (std::size_t k = 1; k < fields->size(); ++k) {
    const Shape& shape = as_tensor((*fields)[k]).shape;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
      Dim& dim = dims[rank - shape.rank() + axis];
      if (shape[axis].is_constant(1) || shape[axis] == dim) continue;
      if (dim.is_constant(1) || (dim.is_any() && shape[axis].is_constant())) {
        dim = shape[axis];
      } else if (!dim.is_any() && !shape[axis].is_any()) {
        call.fail(DiagnosticKind::BroadcastMismatch,
                  "the index tensors of `adv_index` do not broadcast: `" + to_string(shape) +
                      "` has " + shape[axis].to_string() + " where others have " + dim.to_string());
      }
    }
  }
  dims.insert(dims.end(), from.dims().begin() + static_cast<std::ptrdiff_t>(count),
              from.dims().end());
  call.solver.unify(known, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

// The place in the first field of element `out` of the result. A dim of an index tensor that is
// stretched is clamped: it may be one that is not known before the program runs.
Indices indexed_place(const std::vector<Expr>& fields, const Indices& out) {
  const std::size_t count = fields.size() - 1;
  const std::size_t rank = out.size() + count - dims_of(fields[0]).size();
  Indices place;
  for (std::size_t k = 0; k < count; ++k) {
    const Expr& index = fields[k + 1];
    const std::vector<Dim>& dims = dims_of(index);
    Indices at;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      const Expr& own = out[rank - dims.size() + axis];
      if (dims[axis].is_constant(1)) {
        at.push_back(build::index_constant(0));
      } else if (dims[axis].is_any()) {
        const Expr last = build::sub(extent_of(index, axis), build::index_constant(1));
        at.push_back(build::prim(Prim::Min, {own, last}));
      } else {
        at.push_back(own);
      }
    }
    place.push_back(position_at(index, at, extent_of(fields[0], k)));
  }
  place.insert(place.end(), out.begin() + static_cast<std::ptrdiff_t>(rank), out.end());
  return place;
}

void add_adv_index() {
  OpDef def;
  def.name = "adv_index";
  def.level = 3;
  def.doc =
      "NumPy's indexing with index tensors: data[indices..] for the leading axes.\n"
      "The tuple holds the data, then one index tensor for each leading axis; these broadcast to "
      "one shape, which takes the place of those axes. A negative index counts from the end; one "
      "out of range is an error.";
  def.example = "adv_index(([[1, 2], [3, 4]], [1, 0], [0, 0]))\n// expect: [3, 1]";
  def.inputs = {{"inputs", "the data, then index tensors"}};
  def.type_rule = adv_index_rule;
  def.definition = [](const DefinitionCall& call) {
    return with_fields(call.args[0], [&](const std::vector<Expr>& fields) {
      return build::comprehension(lang::as<TensorType>(call.result)->shape.dims(),
                                  [&](const Indices& out) {
                                    return build::checked_at(fields[0], indexed_place(fields, out));
                                  });
    });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const Expr ddata = with_fields(call.args[0], [&](const std::vector<Expr>& fields) {
      return scatter_into(fields[0], call.dout,
                          [&](const Indices& out) { return indexed_place(fields, out); });
    });
    const std::size_t count = lang::as<lang::TupleType>(call.args[0]->type)->fields.size();
    std::vector<Expr> adjoints(count, build::tuple({}));
    adjoints[0] = ddata;
    return {build::tuple(std::move(adjoints))};
  };
  add_tuple_operator(std::move(def));
}

// --- argwhere ---

// Row-major positions of the elements that are not 0: each writes its own at the place that counts
// those before it. The others write -1, which never wins.
Expr nonzero_positions(const Expr& data, std::int64_t count) {
  const std::vector<std::int64_t> extents = extents_of(dims_of(data));
  const std::int64_t total = product(dims_of(data)).constant();
  const Expr flags = build::comprehension({Dim(total)}, [&](const Indices& i) {
    const Expr element = build::at(data, reshape_indices(extents, {total}, i));
    const Expr zero = build::constant(tensor_type_of(data).dtype.known(), 0);
    return build::cast_to(DType::Int64, build::prim(Prim::Ne, {element, zero}));
  });
  return build::let("flags", flags, [&](const Expr& flag) {
    const Expr before = op("cumsum", {flag}, {{"axis", 0}, {"exclusive", true}});
    return build::let("before", before, [&](const Expr& rank) {
      const Expr none = build::comprehension(
          {Dim(count)}, [](const Indices&) { return build::index_constant(-1); });
      return build::let("none", none, [&](const Expr& init) {
        return build::scatter(ReduceOp::Max, init, {Dim(total)}, [&](const Indices& i) {
          const Expr is_set = build::prim(Prim::Ne, {build::at(flag, i), build::index_constant(0)});
          const Expr value = build::select(is_set, i[0], build::index_constant(-1));
          const Expr place =
              build::prim(Prim::Min, {build::at(rank, i), build::index_constant(count - 1)});
          return std::pair{Indices{place}, value};
        });
      });
    });
  });
}

Expr nonzero_rows_definition(const DefinitionCall& call) {
  const std::vector<Dim>& dims = lang::as<TensorType>(call.result)->shape.dims();
  const std::vector<std::int64_t> extents = extents_of(dims_of(call.args[0]));
  if (dims[0].is_constant(0) || extents.empty()) {
    return build::comprehension(
        dims, [](const Indices&) { return build::constant_int(DType::Int32, 0); });
  }
  const std::int64_t total = product(dims_of(call.args[0])).constant();
  const Expr found = nonzero_positions(call.args[0], dims[0].constant());
  return build::let("positions", found, [&](const Expr& positions) {
    return build::comprehension(dims, [&](const Indices& out) {
      const Indices at = reshape_indices(extents, {total}, {build::at(positions, {out[0]})});
      Expr coordinate = at.back();
      for (std::size_t axis = at.size() - 1; axis-- > 0;) {
        const Expr position = build::index_constant(static_cast<std::int64_t>(axis));
        coordinate = build::select(build::prim(Prim::Eq, {out[1], position}), at[axis], coordinate);
      }
      return build::cast_to(DType::Int32, coordinate);
    });
  });
}

RuleOutcome nonzero_rule(TypeCall& call, const Dim& count) {
  const Type data = call.tensor(0);
  const Shape& shape = as_tensor(data).shape;
  const Shape result = with_rank(call, result_shape(call, DType::Int32), 2);
  call.solver.unify(result[0], count);
  if (!shape.has_rank()) return RuleOutcome::Stuck;
  call.solver.unify(result[1], Dim(static_cast<std::int64_t>(shape.rank())));
  return RuleOutcome::Solved;
}

// What `argwhere` consists of once it is counted how many rows there are.
void add_nonzero_rows() {
  OpDef fixed;
  fixed.name = "nonzero_rows_of";
  fixed.is_step = true;
  fixed.level = 0;
  fixed.doc = "`nonzero_rows` where the number of rows is an attribute.";
  fixed.example = "nonzero_rows_of([0, 7, 7], count=2)\n// expect: [[1], [2]]";
  fixed.inputs = {{"condition", "a tensor"}};
  fixed.attrs = {required_attr("count", AttrKind::Int, "how many elements are not 0")};
  fixed.type_rule = [](TypeCall& call) {
    const std::int64_t count = call.attrs->get_int("count");
    if (count < 0) call.fail(DiagnosticKind::BadAttribute, "`count` must not be negative");
    return nonzero_rule(call, count);
  };
  fixed.definition = nonzero_rows_definition;
  fixed.differentiable = false;
  lang::OpRegistry::instance().add(std::move(fixed));

  OpDef def;
  def.name = "nonzero_rows";
  def.is_step = true;
  def.level = 0;
  def.doc = "The coordinates of the elements that are not 0, given how many there are.";
  def.example = "nonzero_rows([0, 7, 7], 2)\n// expect: [[1], [2]]";
  def.inputs = {{"condition", "a tensor"},
                {"count", "how many of its elements are not 0", false, "count"}};
  def.type_rule = [](TypeCall& call) {
    call.solver.unify(call.tensor_node(1).shape, Shape());
    call.solver.require(call.tensor_node(1).dtype, PrimOperands::kInt);
    return nonzero_rule(call, Dim::any());
  };
  def.static_form = "nonzero_rows_of";
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_argwhere() {
  OpDef def;
  def.name = "argwhere";
  def.level = 10;
  def.doc =
      "The int32 coordinates of the elements that are not 0 (or not False), one row for each, in "
      "row-major order.\n"
      "NaN is not 0. How many rows there are is known when the program runs. Of a scalar the rows "
      "are empty.";
  def.example = "argwhere([[0, 1], [1, 1]])\n// expect: [[0, 1], [1, 0], [1, 1]]";
  def.inputs = {{"condition", "a tensor"}};
  def.type_rule = [](TypeCall& call) { return nonzero_rule(call, Dim::any()); };
  def.expansion = [](const DefinitionCall& call) {
    const Expr& data = call.args[0];
    const Expr is_set = op("not_equal", {data, build::scalar_like(data, 0)});
    const Expr count = op("sum", {op("cast", {is_set}, {{"dtype", DType::Int64}})});
    return op("nonzero_rows", {data, count});
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- invert_permutation, unravel_index ---

void add_invert_permutation() {
  OpDef def;
  def.name = "invert_permutation";
  def.level = 1;
  def.doc =
      "The inverse of a permutation: position i of the data holds j exactly where position j of "
      "the result holds i.\n"
      "A value out of range is an error. Of one that occurs twice the last place counts, and what "
      "does not occur is given 0.";
  def.example = "invert_permutation([2, 0, 1])\n// expect: [1, 2, 0]";
  def.inputs = {{"data", "the numbers from 0 on, each once, in any order"}};
  def.type_rule = [](TypeCall& call) {
    const Shape shape = with_rank(call, call.tensor_node(0).shape, 1);
    call.solver.require(call.tensor_node(0).dtype, PrimOperands::kInt);
    call.returns(lang::tensor_type(shape, call.tensor_node(0).dtype));
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    const Expr& data = call.args[0];
    const DType dtype = call.tensor(0).dtype.known();
    const Expr zeros = build::comprehension(
        dims_of(data), [&](const Indices&) { return build::constant_int(dtype, 0); });
    return build::let("zeros", zeros, [&](const Expr& init) {
      return build::scatter(ReduceOp::Max, init, dims_of(data), [&](const Indices& i) {
        const Expr place = build::cast_to(DType::Int64, build::at(data, i));
        return std::pair{Indices{place}, build::cast_to(dtype, i[0])};
      });
    });
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

Expr unravel_definition(const DefinitionCall& call) {
  const Expr& shape = call.args[1];
  const std::vector<Dim>& dims = lang::as<TensorType>(call.result)->shape.dims();
  const Dim rank = dims[0];
  const DType dtype = call.tensor(0).dtype.known();
  // How many elements a step along each axis passes over.
  const Expr steps = build::comprehension({rank}, [&](const Indices& k) {
    return build::reduction(ReduceOp::Prod, {rank}, [&](const Indices& j) {
      const Expr extent = build::cast_to(DType::Int64, build::at(shape, j));
      return build::select(build::prim(Prim::Gt, {j[0], k[0]}), extent, build::index_constant(1));
    });
  });
  return build::let("steps", steps, [&](const Expr& step) {
    return build::comprehension(dims, [&](const Indices& out) {
      const Expr index = build::cast_to(
          DType::Int64, build::at(call.args[0], Indices(out.begin() + 1, out.end())));
      const Expr passed = build::prim(Prim::FloorDiv, {index, build::at(step, {out[0]})});
      const Expr extent = build::cast_to(DType::Int64, build::at(shape, {out[0]}));
      return build::cast_to(dtype, build::prim(Prim::FloorMod, {passed, extent}));
    });
  });
}

void add_unravel_index() {
  OpDef def;
  def.name = "unravel_index";
  def.level = 3;
  def.doc =
      "The coordinates of row-major positions in a tensor of the given shape: one row for each "
      "axis.\n"
      "A position beyond the last one starts again from the first. An extent of 0 is a division by "
      "zero.";
  def.example = "unravel_index([5, 1], [2, 3])\n// expect: [[1, 0], [2, 1]]";
  def.inputs = {{"data", "positions, integers"}, {"shape", "a vector of extents"}};
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    const Shape extents = with_rank(call, call.tensor_node(1).shape, 1);
    call.solver.require(as_tensor(data).dtype, PrimOperands::kInt);
    call.solver.require(call.tensor_node(1).dtype, PrimOperands::kInt);
    const Shape known = result_shape(call, as_tensor(data).dtype);
    if (!as_tensor(data).shape.has_rank()) return RuleOutcome::Stuck;
    std::vector<Dim> dims = as_tensor(data).shape.dims();
    dims.insert(dims.begin(), extents[0]);
    call.solver.unify(known, Shape(std::move(dims)));
    return RuleOutcome::Solved;
  };
  def.definition = unravel_definition;
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_gathering_operators() {
  add_gather();
  add_gather_nd();
  add_adv_index();
  add_nonzero_rows();
  add_argwhere();
  add_invert_permutation();
  add_unravel_index();
}

}  // namespace relay::stdlib
