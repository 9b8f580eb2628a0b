#include <algorithm>
#include <string>

#include "lang/attrs_struct.h"
#include "lang/call_form.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/regions.h"
#include "stdlib/ops/tuples.h"
#include "stdlib/ops/types.h"
#include "stdlib/ops/window.h"

// Parts of tensors that are masked, turned round, cut out or laid out as grids.
namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

Expr at_index(std::int64_t value) { return build::index_constant(value); }

// --- sequence_mask ---

RuleOutcome sequence_mask_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const std::int64_t axis = call.attrs->get_int("axis");
  if (axis != 0 && axis != 1) call.fail(DiagnosticKind::BadAttribute, "`axis` must be 0 or 1");
  const Shape lengths = with_rank(call, call.tensor_node(1).shape, 1);
  call.solver.require(call.tensor_node(1).dtype, PrimOperands::kNumeric);
  call.returns(data);
  const Shape& shape = as_tensor(data).shape;
  if (!shape.has_rank()) return RuleOutcome::Stuck;
  if (shape.rank() < 2) {
    call.fail(DiagnosticKind::RankMismatch, "`sequence_mask` of `" + to_string(shape) +
                                                "`: there must be an axis of steps and one of "
                                                "sequences");
  }
  call.solver.unify(shape[static_cast<std::size_t>(1 - axis)], lengths[0]);
  return RuleOutcome::Solved;
}

void add_sequence_mask() {
  OpDef def;
  def.name = "sequence_mask";
  def.level = 10;
  def.doc =
      "The data with `mask_value` in place of all steps from the sequence's valid length on.\n"
      "Steps run along `axis`, 0 or 1, and sequences along the other of these two. A length beyond "
      "the axis masks nothing, a negative one everything.";
  def.example =
      "sequence_mask([[1, 2, 3], [4, 5, 6]], [1, 2], axis=1)\n// expect: [[1, 0, 0], [4, 5, 0]]";
  def.inputs = {{"data", "of rank 2 or more"}, {"valid_length", "a number for each sequence"}};
  def.attrs = {optional_attr("mask_value", AttrKind::Float, 0.0, "what stands in their place"),
               optional_attr("axis", AttrKind::Int, 0, "the axis of the steps, 0 or 1")};
  def.type_rule = sequence_mask_rule;
  def.definition = [](const DefinitionCall& call) {
    const auto steps = static_cast<std::size_t>(call.attrs->get_int("axis"));
    const DType dtype = call.tensor(0).dtype.known();
    const bool fractions = lang::is_float(call.tensor(1).dtype.known());
    const DType counts = fractions ? DType::Float64 : DType::Int64;
    return build::comprehension(dims_of(call.args[0]), [&](const Indices& i) {
      const Expr length = build::cast_to(counts, build::at(call.args[1], {i[1 - steps]}));
      return build::select(build::prim(Prim::Lt, {build::cast_to(counts, i[steps]), length}),
                           build::at(call.args[0], i),
                           build::constant(dtype, call.attrs->get_float("mask_value")));
    });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {op("sequence_mask", {call.dout, call.args[1]}, {{"axis", call.attrs->get_int("axis")}}),
            nullptr};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- reverse_sequence ---

RuleOutcome reverse_sequence_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const Shape lengths = with_rank(call, call.tensor_node(1).shape, 1);
  call.solver.require(call.tensor_node(1).dtype, PrimOperands::kInt);
  call.returns(data);
  const Shape& shape = as_tensor(data).shape;
  if (!shape.has_rank()) return RuleOutcome::Stuck;
  check_axis(call, call.attrs->get_int("seq_axis"), shape);
  check_axis(call, call.attrs->get_int("batch_axis"), shape);
  const std::size_t batch = position_of(call.attrs->get_int("batch_axis"), shape.rank());
  if (shape[batch].is_constant() && lengths[0].is_constant() && !(shape[batch] == lengths[0])) {
    call.fail(DiagnosticKind::ShapeMismatch, "`reverse_sequence` of `" + to_string(shape) +
                                                 "` with " + lengths[0].to_string() +
                                                 " lengths: axis " + std::to_string(batch) +
                                                 " has " + shape[batch].to_string() + " sequences");
  }
  call.solver.unify(shape[batch], lengths[0]);
  return RuleOutcome::Solved;
}

void add_reverse_sequence() {
  OpDef def;
  def.name = "reverse_sequence";
  def.level = 3;
  def.doc =
      "The data with the first `seq_lengths[b]` steps of sequence b in reverse; the rest stays.\n"
      "A length of 1 or less reverses nothing, one beyond the axis the whole sequence.";
  def.example =
      "reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3])\n// expect: [[2, 1, 3], [6, 5, 4]]";
  def.inputs = {{"data", "the sequences"}, {"seq_lengths", "an integer for each sequence"}};
  def.attrs = {optional_attr("seq_axis", AttrKind::Int, 1, "the axis of the steps"),
               optional_attr("batch_axis", AttrKind::Int, 0, "the axis of the sequences")};
  lang::set_attrs_struct(def.name, "ReverseSequenceAttrs", {"seq_axis", "batch_axis"});
  def.type_rule = reverse_sequence_rule;
  def.definition = [](const DefinitionCall& call) {
    const std::vector<Dim>& dims = dims_of(call.args[0]);
    const std::size_t steps = position_of(call.attrs->get_int("seq_axis"), dims.size());
    const std::size_t batch = position_of(call.attrs->get_int("batch_axis"), dims.size());
    return build::comprehension(dims, [&](const Indices& i) {
      const Expr given = build::cast_to(DType::Int64, build::at(call.args[1], {i[batch]}));
      const Expr length = build::prim(Prim::Min, {given, at_index(dims[steps].constant())});
      const Expr mirrored = build::sub(build::sub(length, at_index(1)), i[steps]);
      Indices place = i;
      place[steps] = build::select(build::prim(Prim::Lt, {i[steps], length}), mirrored, i[steps]);
      return build::at(call.args[0], place);
    });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {op("reverse_sequence", {call.dout, call.args[1]}, call.attrs->list), nullptr};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- slice_like ---

// Which axes of data of that rank are cut.
std::vector<bool> cut_axes(const AttrsRef& attrs, std::size_t rank, std::size_t like_rank) {
  std::vector<bool> cut(rank, false);
  if (attrs->is_null("axes") || attrs->get_ints("axes").empty()) {
    std::fill_n(cut.begin(), like_rank, true);
  } else {
    for (const std::int64_t axis : attrs->get_ints("axes")) cut[position_of(axis, rank)] = true;
  }
  return cut;
}

RuleOutcome slice_like_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const Type other = call.tensor(1);
  const Shape& shape = as_tensor(data).shape;
  const Shape& like = as_tensor(other).shape;
  const Shape known = result_shape(call, as_tensor(data).dtype);
  if (!shape.has_rank() || !like.has_rank()) return RuleOutcome::Stuck;
  const bool all = call.attrs->is_null("axes") || call.attrs->get_ints("axes").empty();
  if (all && like.rank() > shape.rank()) {
    call.fail(DiagnosticKind::RankMismatch, "`slice_like` of `" + to_string(shape) + "` to `" +
                                                to_string(like) + "`, which has more axes");
  }
  if (!all) {
    for (const std::int64_t axis : call.attrs->get_ints("axes")) {
      check_axis(call, axis, shape);
      const std::size_t position = position_of(axis, shape.rank());
      if (position >= like.rank()) check_axis(call, static_cast<std::int64_t>(position), like);
    }
  }
  const std::vector<bool> cut = cut_axes(call.attrs, shape.rank(), like.rank());
  std::vector<Dim> dims = shape.dims();
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (!cut[axis]) continue;
    if (dims[axis].is_constant() && like[axis].is_constant() &&
        like[axis].constant() > dims[axis].constant()) {
      call.fail(DiagnosticKind::ShapeMismatch,
                "cannot cut `" + to_string(shape) + "` to the extents of `" + to_string(like) +
                    "`: axis " + std::to_string(axis) + " is " + dims[axis].to_string() +
                    ", less than " + like[axis].to_string());
    }
    dims[axis] = like[axis];
  }
  call.solver.unify(known, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

void add_slice_like() {
  OpDef def;
  def.name = "slice_like";
  def.level = 10;
  def.doc =
      "The first elements along each axis, as many as the second tensor has there.\n"
      "`axes` says on which axes; None, or an empty list: on all that the second tensor has. It is "
      "an error if it has more.";
  def.example = "slice_like([[1, 2, 3], [4, 5, 6]], [[0, 0]])\n// expect: [[1, 2]]";
  def.inputs = {{"data", "the tensor"}, {"shape_like", "a tensor of the wanted extents"}};
  def.attrs = {nullable_attr("axes", AttrKind::IntList, "the axes to cut; None: all")};
  def.type_rule = slice_like_rule;
  def.definition = [](const DefinitionCall& call) {
    return build::comprehension(lang::as<TensorType>(call.result)->shape.dims(),
                                [&](const Indices& out) { return build::at(call.args[0], out); });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {scatter_into(call.args[0], call.dout, [](const Indices& out) { return out; }), nullptr};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- sliding_window ---

RuleOutcome sliding_window_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const Shape& shape = as_tensor(data).shape;
  const Shape known = result_shape(call, as_tensor(data).dtype);
  const std::vector<std::int64_t> window = call.attrs->get_ints("window_shape");
  const std::vector<std::int64_t> strides = call.attrs->get_ints("strides");
  if (window.empty() || window.size() != strides.size()) {
    call.fail(DiagnosticKind::BadAttribute,
              "`window_shape` and `strides` must have one value for each axis, found " +
                  std::to_string(window.size()) + " and " + std::to_string(strides.size()));
  }
  for (const auto& [list, name] : {std::pair{&window, "window_shape"}, {&strides, "strides"}}) {
    for (const std::int64_t value : *list) {
      if (value < 1) {
        call.fail(DiagnosticKind::BadAttribute,
                  "`" + std::string(name) + "` must be at least 1, found " + std::to_string(value));
      }
    }
  }
  if (!shape.has_rank()) return RuleOutcome::Stuck;
  check_axis(call, call.attrs->get_int("axis"), shape);
  const std::size_t axis = position_of(call.attrs->get_int("axis"), shape.rank());
  if (axis + window.size() != shape.rank()) {
    call.fail(DiagnosticKind::BadAttribute, "`window_shape` has " + std::to_string(window.size()) +
                                                " values, and `" + to_string(shape) + "` has " +
                                                std::to_string(shape.rank() - axis) +
                                                " axes from axis " + std::to_string(axis) + " on");
  }
  if (!is_settled(shape)) return RuleOutcome::Stuck;
  std::vector<Dim> dims(shape.dims().begin(), shape.dims().begin() + static_cast<long>(axis));
  for (std::size_t k = 0; k < window.size(); ++k)
    dims.push_back(window_places(call, shape[axis + k], window[k], 0, 0, strides[k], 1));
  for (const std::int64_t extent : window) dims.emplace_back(extent);
  call.solver.unify(known, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

// The place in the data of element `out`: batch axes, then where the window stands, then where in
// it.
Indices window_place(const AttrsRef& attrs, const Indices& out) {
  const std::vector<std::int64_t> strides = attrs->get_ints("strides");
  const std::size_t batch = out.size() - 2 * strides.size();
  Indices place(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(batch));
  for (std::size_t k = 0; k < strides.size(); ++k) {
    place.push_back(window_index(out[batch + k], strides[k], out[batch + strides.size() + k], 1));
  }
  return place;
}

void add_sliding_window() {
  OpDef def;
  def.name = "sliding_window";
  def.level = 10;
  def.doc =
      "All windows that fit on the last axes, from `axis` on, `strides` apart.\n"
      "The result has the axes before `axis`, then one for the place of the window and then one "
      "inside the window for each other. What is left at the end and holds no whole window does "
      "not occur.";
  def.example =
      "sliding_window([1, 2, 3, 4, 5], axis=0, window_shape=[3], strides=[2])\n"
      "// expect: [[1, 2, 3], [3, 4, 5]]";
  def.inputs = {{"data", "the tensor"}};
  def.attrs = {required_attr("axis", AttrKind::Int, "the first axis along which windows slide"),
               required_attr("window_shape", AttrKind::IntList, "extents of a window"),
               required_attr("strides", AttrKind::IntList, "from one window to the next")};
  def.type_rule = sliding_window_rule;
  def.definition = [](const DefinitionCall& call) {
    return build::comprehension(
        lang::as<TensorType>(call.result)->shape.dims(),
        [&](const Indices& out) { return build::at(call.args[0], window_place(call.attrs, out)); });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {scatter_into(call.args[0], call.dout,
                         [&](const Indices& out) { return window_place(call.attrs, out); })};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- meshgrid ---

// Which axis of the grids field `k` runs along.
std::size_t grid_axis(const AttrsRef& attrs, std::size_t k, std::size_t count) {
  const bool swaps = attrs->get_string("indexing") == "xy" && count > 1 && k < 2;
  return swaps ? 1 - k : k;
}

RuleOutcome meshgrid_rule(TypeCall& call) {
  const std::string& indexing = call.attrs->get_string("indexing");
  if (indexing != "ij" && indexing != "xy") {
    call.fail(DiagnosticKind::BadAttribute,
              "`indexing` is \"" + indexing + "\", and must be \"ij\" or \"xy\"");
  }
  const auto fields = tuple_of_tensors(call);
  if (!fields) return RuleOutcome::Stuck;
  std::vector<Dim> dims(fields->size());
  for (std::size_t k = 0; k < fields->size(); ++k) {
    const Shape& shape = as_tensor((*fields)[k]).shape;
    if (!shape.has_rank()) return RuleOutcome::Stuck;
    if (shape.rank() > 1) {
      call.fail(DiagnosticKind::RankMismatch,
                "`meshgrid` takes vectors and scalars, not `" + to_string((*fields)[k]) + "`");
    }
    dims[grid_axis(call.attrs, k, fields->size())] = shape.rank() == 0 ? Dim(1) : shape[0];
  }
  const DTypeTerm dtype = as_tensor(fields->front()).dtype;
  const Type grid = lang::tensor_type(Shape(std::move(dims)), dtype);
  call.returns(lang::tuple_type(std::vector<Type>(fields->size(), grid)));
  return RuleOutcome::Solved;
}

Expr grid_lets(const AttrsRef& attrs, const std::vector<Expr>& fields, const std::vector<Dim>& dims,
               std::vector<Expr>& grids) {
  const std::size_t k = grids.size();
  if (k == fields.size()) return build::tuple(grids);
  const Expr grid = build::comprehension(dims, [&](const Indices& i) {
    const Indices at =
        dims_of(fields[k]).empty() ? Indices{} : Indices{i[grid_axis(attrs, k, fields.size())]};
    return build::at(fields[k], at);
  });
  return build::let("grid", grid, [&](const Expr& named) {
    grids.push_back(named);
    return grid_lets(attrs, fields, dims, grids);
  });
}

void add_meshgrid() {
  OpDef def;
  def.name = "meshgrid";
  def.level = 3;
  def.doc =
      "For a tuple of vectors, a tuple of grids: each repeats its vector along the axes of the "
      "others.\n"
      "With indexing=\"ij\" vector k runs along axis k; with \"xy\" the first two axes are "
      "exchanged. A scalar counts as a vector of one element.";
  def.example =
      "meshgrid(([1, 2], [3, 4, 5]))\n"
      "// expect: ([[1, 1, 1], [2, 2, 2]], [[3, 4, 5], [3, 4, 5]])";
  def.inputs = {{"data", "a tuple of vectors and scalars of one dtype"}};
  def.attrs = {optional_attr("indexing", AttrKind::String, "ij", "ij or xy")};
  def.type_rule = meshgrid_rule;
  def.definition = [](const DefinitionCall& call) {
    const auto& types = lang::as<lang::TupleType>(call.result)->fields;
    const std::vector<Dim>& dims = as_tensor(types.front()).shape.dims();
    return with_fields(call.args[0], [&](const std::vector<Expr>& fields) {
      std::vector<Expr> grids;
      return grid_lets(call.attrs, fields, dims, grids);
    });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const auto& types = lang::as<lang::TupleType>(call.args[0]->type)->fields;
    std::vector<Expr> adjoints;
    for (std::uint32_t k = 0; k < types.size(); ++k) {
      const Expr dgrid = build::project(call.dout, k);
      const bool is_scalar = as_tensor(types[k]).shape.rank() == 0;
      const auto axis = static_cast<std::int64_t>(grid_axis(call.attrs, k, types.size()));
      adjoints.push_back(
          is_scalar ? op("sum", {dgrid})
                    : op("sum", {dgrid}, {{"axis", AttrValue::ints({axis})}, {"exclude", true}}));
    }
    return {build::tuple(std::move(adjoints))};
  };
  add_tuple_operator(std::move(def));
}

// --- trilu ---

void add_trilu() {
  OpDef def;
  def.name = "trilu";
  def.level = 3;
  def.doc =
      "The upper triangle of the matrices on the last two axes, from diagonal `k` on, and 0 below "
      "it; with upper=False, the lower triangle up to diagonal `k`.\n"
      "Diagonals count from the main one, 0, to the right.";
  def.example = "trilu([[1, 2], [3, 4]], 0)\n// expect: [[1, 2], [0, 4]]";
  def.inputs = {{"data", "matrices"}, {"k", "an integer scalar: which diagonal"}};
  def.attrs = {optional_attr("upper", AttrKind::Bool, true, "keep what is above, or below")};
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    call.solver.unify(call.tensor_node(1).shape, Shape());
    call.solver.require(call.tensor_node(1).dtype, PrimOperands::kInt);
    call.returns(data);
    const Shape& shape = as_tensor(data).shape;
    if (!shape.has_rank()) return RuleOutcome::Stuck;
    if (shape.rank() < 2) {
      call.fail(DiagnosticKind::RankMismatch,
                "`trilu` of `" + to_string(shape) + "`, which is no matrix");
    }
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    const Prim keeps = call.attrs->get_bool("upper") ? Prim::Ge : Prim::Le;
    const DType dtype = call.tensor(0).dtype.known();
    return build::comprehension(dims_of(call.args[0]), [&](const Indices& i) {
      const Expr diagonal = build::sub(i.back(), i[i.size() - 2]);
      const Expr k = build::cast_to(DType::Int64, call.args[1]);
      return build::select(build::prim(keeps, {diagonal, k}), build::at(call.args[0], i),
                           build::constant(dtype, 0));
    });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {op("trilu", {call.dout, call.args[1]}, call.attrs->list), nullptr};
  };
  lang::set_input_forms(def.name, {{}, {.default_value = 0}});
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_sequence_operators() {
  add_sequence_mask();
  add_reverse_sequence();
  add_slice_like();
  add_sliding_window();
  add_meshgrid();
  add_trilu();
  add_region_operators();
}

}  // namespace relay::stdlib
