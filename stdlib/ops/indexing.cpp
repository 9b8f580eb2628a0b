#include <algorithm>
#include <limits>
#include <string>

#include "lang/attrs_struct.h"
#include "lang/call_form.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/formula.h"
#include "stdlib/ops/types.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

// --- take ---

// How the axes of data, indices and result of a `take` lie:
// data[b.., outer.., axis, inner..], indices[b.., picked..] -> [b.., outer.., picked.., inner..].
struct TakeAxes {
  bool flat;           // no axis: the data is read as one row
  std::size_t axis;    // of the data
  std::size_t batch;   // leading axes that data and indices share
  std::size_t picked;  // axes that the indices put in place of `axis`
};

TakeAxes take_axes(const AttrsRef& attrs, std::size_t data_rank, std::size_t index_rank) {
  if (attrs->is_null("axis")) return {true, 0, 0, index_rank};
  const std::size_t batch = position_of(attrs->get_int("batch_dims"), index_rank);
  return {false, position_of(attrs->get_int("axis"), data_rank), batch, index_rank - batch};
}

RuleOutcome take_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const Type index = call.tensor(1);
  const Shape& from = as_tensor(data).shape;
  const Shape& at = as_tensor(index).shape;
  call.solver.require(as_tensor(index).dtype, PrimOperands::kInt);
  const Shape known = result_shape(call, as_tensor(data).dtype);
  const std::string& mode = call.attrs->get_string("mode");
  if (mode != "clip" && mode != "wrap" && mode != "fast") {
    call.fail(DiagnosticKind::BadAttribute,
              "`mode` is \"" + mode + "\", and must be \"clip\", \"wrap\" or \"fast\"");
  }
  if (call.attrs->is_null("axis")) {
    call.solver.unify(known, at);
    return RuleOutcome::Solved;
  }
  if (!from.has_rank() || !at.has_rank()) return RuleOutcome::Stuck;
  check_axis(call, call.attrs->get_int("axis"), from);
  const TakeAxes axes = take_axes(call.attrs, from.rank(), at.rank());
  if (axes.batch > at.rank() || axes.batch > axes.axis) {
    call.fail(DiagnosticKind::BadAttribute,
              "`batch_dims` is " + std::to_string(call.attrs->get_int("batch_dims")) +
                  ", more than the axes before axis " + std::to_string(axes.axis));
  }
  for (std::size_t axis = 0; axis < axes.batch; ++axis) call.solver.unify(from[axis], at[axis]);
  std::vector<Dim> dims(from.dims().begin(),
                        from.dims().begin() + static_cast<std::ptrdiff_t>(axes.axis));
  dims.insert(dims.end(), at.dims().begin() + static_cast<std::ptrdiff_t>(axes.batch),
              at.dims().end());
  dims.insert(dims.end(), from.dims().begin() + static_cast<std::ptrdiff_t>(axes.axis) + 1,
              from.dims().end());
  call.solver.unify(known, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

// The indices into `indices` for element `out` of the result.
Indices picking(const TakeAxes& axes, const Indices& out) {
  if (axes.flat) return out;
  Indices picks(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(axes.batch));
  const auto first = out.begin() + static_cast<std::ptrdiff_t>(axes.axis);
  picks.insert(picks.end(), first, first + static_cast<std::ptrdiff_t>(axes.picked));
  return picks;
}

// The indices into the data: those of `out` with what was picked in their midst.
Indices picked_place(const TakeAxes& axes, const Indices& out, const Expr& pick) {
  const auto first = out.begin() + static_cast<std::ptrdiff_t>(axes.axis);
  Indices place(out.begin(), first);
  place.push_back(pick);
  place.insert(place.end(), first + static_cast<std::ptrdiff_t>(axes.picked), out.end());
  return place;
}

// An index brought into 0..extent-1 by the mode; "fast" leaves it as it is.
Expr in_range(const std::string& mode, const Expr& index, const Expr& extent) {
  if (mode == "wrap") return build::prim(Prim::FloorMod, {index, extent});
  if (mode != "clip") return index;
  const Expr last = build::sub(extent, build::index_constant(1));
  return build::prim(Prim::Min, {build::prim(Prim::Max, {index, build::index_constant(0)}), last});
}

Expr take_definition(const DefinitionCall& call) {
  const Expr& data = call.args[0];
  const std::vector<Dim>& dims = dims_of(data);
  const TakeAxes axes = take_axes(call.attrs, dims.size(), dims_of(call.args[1]).size());
  const std::int64_t extent = axes.flat ? product(dims).constant() : dims[axes.axis].constant();
  const std::string& mode = call.attrs->get_string("mode");
  return build::comprehension(
      lang::as<TensorType>(call.result)->shape.dims(), [&](const Indices& out) {
        const Expr given =
            build::cast_to(DType::Int64, build::at(call.args[1], picking(axes, out)));
        const bool checked =
            mode == "fast" || extent == 0;  // no index is right for an axis without elements
        const Expr pick = checked ? given : in_range(mode, given, build::index_constant(extent));
        const Indices place = axes.flat ? reshape_indices(extents_of(dims), {extent}, {pick})
                                        : picked_place(axes, out, pick);
        return checked ? build::checked_at(data, place) : build::at(data, place);
      });
}

std::vector<Expr> take_gradient(const GradientCall& call) {
  const Expr& data = call.args[0];
  const Expr& indices = call.args[1];
  const TakeAxes axes = take_axes(call.attrs, dims_of(data).size(), dims_of(indices).size());
  const std::string& mode = call.attrs->get_string("mode");
  if (axes.flat && dims_of(data).size() != 1) {
    const Expr flat = op("reshape", {data}, {{"newshape", AttrValue::ints({-1})}});
    const Expr dflat = build::let("flat", flat, [&](const Expr& row) {
      return scatter_into(row, call.dout, [&](const Indices& out) -> Indices {
        return {in_range(mode, build::cast_to(DType::Int64, build::at(indices, out)),
                         extent_of(row, 0))};
      });
    });
    return {op("reshape_like", {dflat, data}), nullptr};
  }
  const Expr ddata = scatter_into(data, call.dout, [&](const Indices& out) {
    const Expr given = build::cast_to(DType::Int64, build::at(indices, picking(axes, out)));
    return picked_place(axes, out, in_range(mode, given, extent_of(data, axes.axis)));
  });
  return {ddata, nullptr};
}

void add_take() {
  OpDef def;
  def.name = "take";
  def.level = 3;
  def.doc =
      "The slices of the data at integer indices along an axis; without `axis`, elements of the "
      "flat data.\n"
      "An index out of range is moved to the nearest end (`mode=\"clip\"`), wrapped around "
      "(\"wrap\"), or "
      "an error (\"fast\"). NumPy's negative indices are those of \"wrap\".";
  def.example = "take([[1, 2], [3, 4], [5, 6]], [2, 0], axis=0)\n// expect: [[5, 6], [1, 2]]";
  def.inputs = {{"data", "where to take from"}, {"indices", "integers"}};
  def.attrs = {
      optional_attr("batch_dims", AttrKind::Int, 0, "leading axes that data and indices share"),
      nullable_attr("axis", AttrKind::Int, "the axis; None: the data is read as one row"),
      optional_attr("mode", AttrKind::String, "clip", "clip, wrap or fast")};
  lang::set_attrs_struct(def.name, "TakeAttrs", {"batch_dims"});
  def.type_rule = take_rule;
  def.definition = take_definition;
  def.gradient = take_gradient;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- one_hot ---

RuleOutcome one_hot_rule(TypeCall& call) {
  const Type indices = call.tensor(0);
  const Type on = call.tensor(1);
  const Type off = call.tensor(2);
  const Shape& shape = as_tensor(indices).shape;
  call.solver.require(as_tensor(indices).dtype, PrimOperands::kInt);
  call.solver.unify(as_tensor(on).shape, Shape());
  call.solver.unify(as_tensor(off).shape, Shape());
  call.solver.unify(as_tensor(on).dtype, as_tensor(off).dtype);
  const Shape known = result_shape(call, attr_dtype(call.attrs, "dtype", as_tensor(on).dtype));
  const std::int64_t depth = call.attrs->get_int("depth");
  if (depth < 1) call.fail(DiagnosticKind::BadAttribute, "`depth` must be positive");
  if (!shape.has_rank()) return RuleOutcome::Stuck;
  std::vector<Dim> dims = shape.dims();
  dims.emplace_back(depth);
  check_axis(call, call.attrs->get_int("axis"), Shape(dims));
  const std::size_t axis = position_of(call.attrs->get_int("axis"), dims.size());
  std::rotate(dims.begin() + static_cast<std::ptrdiff_t>(axis), dims.end() - 1, dims.end());
  call.solver.unify(known, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

void add_one_hot() {
  OpDef def;
  def.name = "one_hot";
  def.level = 10;
  def.doc =
      "A new axis of extent `depth` that holds `on_value` at the index and `off_value` elsewhere.\n"
      "An index out of range gives `off_value` everywhere. The dtype is `dtype`, or that of "
      "`on_value`.";
  def.example = "one_hot([0, 2], 1.0, 0.0, depth=3)\n// expect: [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]";
  def.inputs = {{"indices", "integers"}, {"on_value", "a scalar"}, {"off_value", "a scalar"}};
  def.attrs = {
      optional_attr("depth", AttrKind::Int, 1, "extent of the new axis"),
      optional_attr("axis", AttrKind::Int, -1, "where the new axis stands; -1 is last"),
      nullable_attr("dtype", AttrKind::DType, "dtype of the result; None: that of `on_value`")};
  def.type_rule = one_hot_rule;
  def.definition = [](const DefinitionCall& call) {
    const auto& result = *lang::as<TensorType>(call.result);
    const std::size_t axis = position_of(call.attrs->get_int("axis"), result.shape.rank());
    const DType dtype = result.dtype.known();
    return build::comprehension(result.shape.dims(), [&](const Indices& out) {
      Indices indices = out;
      indices.erase(indices.begin() + static_cast<std::ptrdiff_t>(axis));
      const Expr index = build::cast_to(DType::Int64, build::at(call.args[0], indices));
      return build::select(build::prim(Prim::Eq, {index, out[axis]}),
                           build::cast_to(dtype, call.args[1]),
                           build::cast_to(dtype, call.args[2]));
    });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    if (!is_float_tensor(call.dout) || !is_float_tensor(call.args[1]))
      return {nullptr, nullptr, nullptr};
    const DType dtype = tensor_type_of(call.args[1]).dtype.known();
    const auto share = [&](int on, int off) {
      const Expr mask =
          op("one_hot",
             {call.args[0], build::scalar_like(call.dout, on), build::scalar_like(call.dout, off)},
             {{"depth", call.attrs->get_int("depth")}, {"axis", call.attrs->get_int("axis")}});
      const Expr sum = op("sum", {mask * call.dout});
      return tensor_type_of(sum).dtype == DTypeTerm(dtype) ? sum
                                                           : op("cast", {sum}, {{"dtype", dtype}});
    };
    return {nullptr, share(1, 0), share(0, 1)};
  };
  lang::set_input_forms(def.name, {{}, {.default_value = 1.0}, {.default_value = 0.0}});
  lang::OpRegistry::instance().add(std::move(def));
}

// --- strided_slice ---

struct SliceRange {
  std::int64_t begin;
  std::int64_t end;  // kOpen: to the end of the axis
  std::int64_t stride;
};
constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kFar = std::int64_t{1} << 30;  // what people write for "to the end"
// No axis is so long: what lies beyond, a stride too, means the same as this.
constexpr std::int64_t kBeyond = std::int64_t{1} << 60;

// The range for each axis of the data; nullopt for an axis that is not sliced.
std::vector<std::optional<SliceRange>> slice_ranges(const AttrsRef& attrs, std::size_t rank) {
  const auto list = [&](const char* key) {
    return attrs->is_null(key) ? std::vector<std::int64_t>() : attrs->get_ints(key);
  };
  const std::vector<std::int64_t> begin = list("begin");
  const std::vector<std::int64_t> end = list("end");
  const std::vector<std::int64_t> strides = list("strides");
  const std::vector<std::int64_t> axes = list("axes");
  const bool by_size = attrs->get_string("slice_mode") == "size";
  std::vector<std::optional<SliceRange>> ranges(rank);
  const std::size_t count =
      attrs->is_null("axes") ? std::max(begin.size(), end.size()) : axes.size();
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t axis = attrs->is_null("axes") ? k : position_of(axes[k], rank);
    const auto held = [](std::int64_t number) { return std::clamp(number, -kBeyond, kBeyond); };
    SliceRange range{k < begin.size() ? held(begin[k]) : 0,
                     k < end.size() ? std::max(end[k], -kBeyond) : kOpen, 1};
    if (by_size) {
      range.end = range.end < 0 || range.end >= kFar ? kOpen : range.begin + range.end;
    } else if (k < strides.size()) {
      range.stride = held(strides[k]);
    }
    if (range.end >= kFar) range.end = kOpen;
    ranges[axis] = range;
  }
  return ranges;
}

std::int64_t wrapped(std::int64_t index, std::int64_t extent) {
  return index < 0 ? index + extent : index;
}

std::int64_t first_index(const SliceRange& range, std::int64_t extent) {
  const std::int64_t low = range.stride < 0 ? -1 : 0;
  return std::clamp(wrapped(range.begin, extent), low, range.stride < 0 ? extent - 1 : extent);
}

std::int64_t slice_extent(const SliceRange& range, std::int64_t extent) {
  const std::int64_t begin = first_index(range, extent);
  if (range.stride > 0) {
    const std::int64_t end = range.end == kOpen
                                 ? extent
                                 : std::clamp(wrapped(range.end, extent), std::int64_t{0}, extent);
    return std::max<std::int64_t>(0, (end - begin + range.stride - 1) / range.stride);
  }
  const std::int64_t end =
      range.end == kOpen ? extent - 1
                         : std::clamp(wrapped(range.end, extent), std::int64_t{-1}, extent - 1);
  return std::max<std::int64_t>(0, (begin - end - range.stride - 1) / -range.stride);
}

// What can be said of the extent for a dim that is not constant; the program's run settles the
// rest.
Dim symbolic_extent(const SliceRange& range, const Dim& dim) {
  if (range.stride < 1) return Dim::any();
  const Dim begin = range.begin < 0 ? dim + range.begin : Dim(range.begin);
  if (range.end != kOpen && range.end >= 0)
    return Dim::any();  // whichever is nearer, it or the axis's end
  const Dim end = range.end == kOpen ? dim : dim + range.end;
  return Dim::floor_div(end - begin + (range.stride - 1), range.stride);
}

void check_slice(const TypeCall& call, const Shape* shape) {
  const AttrsRef& attrs = call.attrs;
  const std::string& mode = attrs->get_string("slice_mode");
  if (mode != "end" && mode != "size") {
    call.fail(DiagnosticKind::BadAttribute,
              "`slice_mode` is \"" + mode + "\", and must be \"end\" or \"size\"");
  }
  const std::vector<std::int64_t> begin = attrs->get_ints("begin");
  const std::size_t ends = attrs->get_ints("end").size();
  if (!attrs->is_null("strides") && mode == "end") {
    for (const std::int64_t stride : attrs->get_ints("strides")) {
      if (stride == 0) call.fail(DiagnosticKind::BadAttribute, "a stride must not be 0");
    }
  }
  if (!attrs->is_null("axes") && attrs->get_ints("axes").size() != begin.size()) {
    call.fail(DiagnosticKind::BadAttribute, "`axes` and `begin` have different lengths");
  }
  if (!shape) return;
  if (!attrs->is_null("axes")) {
    for (const std::int64_t axis : attrs->get_ints("axes")) check_axis(call, axis, *shape);
  } else if (std::max(begin.size(), ends) > shape->rank()) {
    const bool is_end = ends > begin.size();
    call.fail(DiagnosticKind::RankMismatch, std::string(is_end ? "`end`" : "`begin`") + " lists " +
                                                std::to_string(is_end ? ends : begin.size()) +
                                                " positions, and shape `" + to_string(*shape) +
                                                "` has rank " + std::to_string(shape->rank()));
  }
}

RuleOutcome strided_slice_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const Shape& shape = as_tensor(data).shape;
  const Shape known = result_shape(call, as_tensor(data).dtype);
  check_slice(call, shape.has_rank() ? &shape : nullptr);
  if (!shape.has_rank()) return RuleOutcome::Stuck;
  const auto ranges = slice_ranges(call.attrs, shape.rank());
  const Shape result = with_rank(call, known, shape.rank());
  bool waits = false;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    const Dim& dim = shape[axis];
    if (!ranges[axis]) {
      call.solver.unify(result[axis], dim);
    } else if (dim.is_constant()) {
      call.solver.unify(result[axis], Dim(slice_extent(*ranges[axis], dim.constant())));
    } else if (state_of(dim) == DimState::Flexible) {
      waits = true;
    } else {
      call.solver.unify(result[axis], symbolic_extent(*ranges[axis], dim));
    }
  }
  return waits ? RuleOutcome::Stuck : RuleOutcome::Solved;
}

// The index into the data of element `out` of the slice; `begins` are the first indices.
Indices slice_place(const std::vector<std::optional<SliceRange>>& ranges,
                    const std::vector<Expr>& begins, const Indices& out) {
  Indices place = out;
  for (std::size_t axis = 0; axis < ranges.size(); ++axis) {
    if (!ranges[axis]) continue;
    const Expr steps = ranges[axis]->stride == 1
                           ? out[axis]
                           : build::mul(out[axis], build::index_constant(ranges[axis]->stride));
    place[axis] = build::add(steps, begins[axis]);
  }
  return place;
}

// The first index of the slice as a scalar, also for a dim that is not constant.
Expr begin_of(const Expr& data, std::size_t axis, const SliceRange& range) {
  const Dim& dim = dims_of(data)[axis];
  if (dim.is_constant()) return build::index_constant(first_index(range, dim.constant()));
  const Expr extent = extent_of(data, axis);
  const Expr begin = range.begin < 0 ? build::add(extent, build::index_constant(range.begin))
                                     : build::index_constant(range.begin);
  const Expr inside =
      build::prim(Prim::Max, {begin, build::index_constant(range.stride < 0 ? -1 : 0)});
  const Expr last = range.stride < 0 ? build::sub(extent, build::index_constant(1)) : extent;
  return build::prim(Prim::Min, {inside, last});
}

std::vector<Expr> begins_of(const Expr& data,
                            const std::vector<std::optional<SliceRange>>& ranges) {
  std::vector<Expr> begins(ranges.size());
  for (std::size_t axis = 0; axis < ranges.size(); ++axis) {
    if (ranges[axis]) begins[axis] = begin_of(data, axis, *ranges[axis]);
  }
  return begins;
}

void add_strided_slice() {
  OpDef def;
  def.name = "strided_slice";
  def.level = 4;
  def.doc =
      "Every `strides`-th element from `begin` up to, not with, `end`, for each listed axis.\n"
      "Negative positions count from the end; positions beyond the axis are moved to its ends, as "
      "in NumPy. "
      "With slice_mode=\"size\" `end` holds lengths (-1: all that follow) and `strides` does not "
      "count.";
  def.example =
      "strided_slice([1, 2, 3, 4, 5], begin=[1], end=[5], strides=[2])\n// expect: [2, 4]";
  def.inputs = {{"data", "the tensor"}};
  def.attrs = {
      required_attr("begin", AttrKind::IntOrIntList, "first positions; where the list is short: 0"),
      required_attr("end", AttrKind::IntOrIntList, "positions after the last ones, or lengths"),
      nullable_attr("strides", AttrKind::IntOrIntList,
                    "steps; None, or where the list is short: 1"),
      optional_attr("slice_mode", AttrKind::String, "end", "end or size"),
      nullable_attr("axes", AttrKind::IntOrIntList,
                    "the axes that the lists speak of; None: the first")};
  def.type_rule = strided_slice_rule;
  def.definition = [](const DefinitionCall& call) {
    const auto ranges = slice_ranges(call.attrs, dims_of(call.args[0]).size());
    const std::vector<Expr> begins = begins_of(call.args[0], ranges);
    return build::comprehension(lang::as<TensorType>(call.result)->shape.dims(),
                                [&](const Indices& out) {
                                  return build::at(call.args[0], slice_place(ranges, begins, out));
                                });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const auto ranges = slice_ranges(call.attrs, dims_of(call.args[0]).size());
    const std::vector<Expr> begins = begins_of(call.args[0], ranges);
    return {scatter_into(call.args[0], call.dout,
                         [&](const Indices& out) { return slice_place(ranges, begins, out); })};
  };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- dim_of, shape_of ---

void add_dim_of() {
  OpDef def;
  def.name = "dim_of";
  def.level = 0;
  def.doc = "The extent of an axis as an int64 scalar.";
  def.example = "dim_of([[1, 2, 3], [4, 5, 6]], axis=1)\n// expect: 3i64";
  def.inputs = {{"data", "the tensor; its values do not count"}};
  def.attrs = {optional_attr("axis", AttrKind::Int, 0, "the axis")};
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    call.returns(lang::scalar_type(DType::Int64));
    if (!as_tensor(data).shape.has_rank()) return RuleOutcome::Stuck;
    check_axis(call, call.attrs->get_int("axis"), as_tensor(data).shape);
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    const std::vector<Dim>& dims = dims_of(call.args[0]);
    return build::index_constant(
        dims[position_of(call.attrs->get_int("axis"), dims.size())].constant());
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_shape_of() {
  OpDef def;
  def.name = "shape_of";
  def.level = 10;
  def.doc = "The extents of all axes as a vector of integers, int32 unless `dtype` says otherwise.";
  def.example = "shape_of([[1, 2, 3], [4, 5, 6]])\n// expect: [2, 3]";
  def.inputs = {{"data", "the tensor; its values do not count"}};
  def.attrs = {nullable_attr("dtype", AttrKind::DType, "dtype of the result; None: int32")};
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    const Shape known = result_shape(call, attr_dtype(call.attrs, "dtype", DType::Int32));
    const Shape result = with_rank(call, known, 1);
    if (!as_tensor(data).shape.has_rank()) return RuleOutcome::Stuck;
    call.solver.unify(result[0], Dim(static_cast<std::int64_t>(as_tensor(data).shape.rank())));
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    const auto& result = *lang::as<TensorType>(call.result);
    const DType dtype = result.dtype.known();
    return build::comprehension(result.shape.dims(), [&](const Indices& out) {
      Expr value = build::constant_int(dtype, 0);
      const std::vector<std::int64_t> extents = extents_of(dims_of(call.args[0]));
      for (std::size_t axis = extents.size(); axis-- > 0;) {
        const Expr here =
            build::prim(Prim::Eq, {out[0], build::index_constant(static_cast<std::int64_t>(axis))});
        value = build::select(here, build::constant_int(dtype, extents[axis]), value);
      }
      return value;
    });
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_ndarray_size() {
  OpDef def;
  def.name = "ndarray_size";
  def.level = 10;
  def.doc = "The number of elements as a scalar, int32 unless `dtype` says otherwise.";
  def.example = "ndarray_size([[1, 2, 3], [4, 5, 6]])\n// expect: 6";
  def.inputs = {{"data", "the tensor; its values do not count"}};
  def.attrs = {nullable_attr("dtype", AttrKind::DType, "dtype of the result; None: int32")};
  def.type_rule = [](TypeCall& call) {
    call.tensor(0);
    const DTypeTerm dtype = attr_dtype(call.attrs, "dtype", DType::Int32);
    call.returns(lang::tensor_type(Shape(), dtype));
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    return build::constant_int(lang::as<TensorType>(call.result)->dtype.known(),
                               product(dims_of(call.args[0])).constant());
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_indexing_operators() {
  add_take();
  add_one_hot();
  add_strided_slice();
  add_dim_of();
  add_shape_of();
  add_ndarray_size();
}

}  // namespace relay::stdlib
