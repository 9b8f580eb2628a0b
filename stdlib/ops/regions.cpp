#include "stdlib/ops/regions.h"

#include <algorithm>
#include <string>

#include "stdlib/ops/attr_range.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/types.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

Expr index_of(std::int64_t value) { return build::index_constant(value); }
Expr both(const Expr& a, const Expr& b) { return a ? build::prim(Prim::And, {a, b}) : b; }

// --- strided_set and strided_get ---

// A slice of one axis whose bounds are values. As in `strided_slice`, negative positions count from
// the end, and those beyond the axis are moved to its ends.
struct Slice {
  Expr first;
  Expr last;  // the first position that no longer belongs to it
  Expr stride;
  Expr is_backwards;
};

// How many leading axes `begin`, `end` or `strides` (inputs 2 to 4) is for.
std::size_t length_of(const DefinitionCall& call, std::size_t arg) {
  return static_cast<std::size_t>(dims_of(call.args[arg])[0].constant());
}

// An axis for which there is no bound begins, or ends, where it does itself; the stride is 1.
Slice slice_of(const DefinitionCall& call, std::size_t axis) {
  const std::int64_t extent = dims_of(call.args[0])[axis].constant();
  const auto value = [&](std::size_t arg) -> Expr {
    if (axis >= length_of(call, arg)) return nullptr;
    return build::cast_to(DType::Int64,
                          build::at(call.args[arg], {index_of(static_cast<std::int64_t>(axis))}));
  };
  Slice slice;
  slice.stride = value(4);
  if (!slice.stride) slice.stride = index_of(1);
  slice.is_backwards = build::prim(Prim::Lt, {slice.stride, index_of(0)});
  const Expr low = build::select(slice.is_backwards, index_of(-1), index_of(0));
  const Expr high = build::select(slice.is_backwards, index_of(extent - 1), index_of(extent));
  const auto settled = [&](const Expr& given) {
    const Expr is_negative = build::prim(Prim::Lt, {given, index_of(0)});
    const Expr wrapped = build::select(is_negative, build::add(given, index_of(extent)), given);
    return build::prim(Prim::Min, {build::prim(Prim::Max, {wrapped, low}), high});
  };
  const Expr begin = value(2);
  const Expr end = value(3);
  slice.first = begin ? settled(begin) : build::select(slice.is_backwards, high, low);
  slice.last = end ? settled(end) : build::select(slice.is_backwards, low, high);
  return slice;
}

Expr is_inside(const Slice& slice, const Expr& position) {
  const Expr forwards = both(build::prim(Prim::Ge, {position, slice.first}),
                             build::prim(Prim::Lt, {position, slice.last}));
  const Expr backwards = both(build::prim(Prim::Le, {position, slice.first}),
                              build::prim(Prim::Gt, {position, slice.last}));
  return build::select(slice.is_backwards, backwards, forwards);
}

// How many leading axes are sliced.
std::size_t sliced_axes(const DefinitionCall& call) {
  return std::max({length_of(call, 2), length_of(call, 3), length_of(call, 4)});
}

RuleOutcome region_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const Type other = call.tensor(1);
  for (std::size_t i = 2; i < 5; ++i) {
    call.solver.require(call.tensor_node(i).dtype, PrimOperands::kInt);
    with_rank(call, call.tensor_node(i).shape, 1);
  }
  call.solver.unify(as_tensor(data).dtype, as_tensor(other).dtype);
  const Shape& shape = as_tensor(data).shape;
  const Shape& values = as_tensor(other).shape;
  if (!shape.has_rank()) return RuleOutcome::Stuck;
  const Shape ranked = with_rank(call, values, values.has_rank() ? values.rank() : shape.rank());
  if (ranked.rank() != shape.rank()) {
    call.fail(DiagnosticKind::RankMismatch, "`" + call.op.name + "` of `" + to_string(shape) +
                                                "` with values `" + to_string(ranked) +
                                                "`: their ranks differ");
  }
  for (std::size_t i = 2; i < 5; ++i) {
    const Dim length = call.tensor_node(i).shape[0];
    if (!length.is_constant() || length.constant() <= static_cast<std::int64_t>(shape.rank()))
      continue;
    call.fail(DiagnosticKind::RankMismatch, "`" + call.op.inputs[i].name + "` has " +
                                                length.to_string() + " elements, and shape `" +
                                                to_string(shape) + "` has rank " +
                                                std::to_string(shape.rank()));
  }
  return RuleOutcome::Solved;
}

std::vector<InputSpec> region_inputs(const char* values) {
  return {{"data", "the tensor"},
          {"v", values},
          {"begin", "first positions, for the leading axes"},
          {"end", "positions after the last ones"},
          {"strides", "steps"}};
}

// An element of the region reads its value. One outside reads some value that is there, in vain; a
// region that is larger than the values reads where there is none, which is an error.
Expr strided_set_definition(const DefinitionCall& call) {
  const Expr& data = call.args[0];
  const Expr& values = call.args[1];
  const std::vector<Dim>& dims = dims_of(data);
  const std::size_t sliced = sliced_axes(call);
  const bool nothing = product(dims_of(values)).is_constant(0);
  if (nothing) {
    return build::comprehension(dims, [&](const Indices& i) { return build::at(data, i); });
  }
  std::vector<Slice> slices;
  for (std::size_t axis = 0; axis < sliced; ++axis) slices.push_back(slice_of(call, axis));
  return build::comprehension(dims, [&](const Indices& i) {
    Expr holds;
    Indices place = i;
    for (std::size_t axis = 0; axis < sliced; ++axis) {
      const Expr way = build::sub(i[axis], slices[axis].first);
      const Expr rest = build::prim(Prim::FloorMod, {way, slices[axis].stride});
      holds = both(holds, both(is_inside(slices[axis], i[axis]),
                               build::prim(Prim::Eq, {rest, index_of(0)})));
      place[axis] = build::prim(Prim::FloorDiv, {way, slices[axis].stride});
    }
    if (!holds) return build::checked_at(values, place);
    for (Expr& index : place) index = build::select(holds, index, index_of(0));
    return build::select(holds, build::checked_at(values, place), build::at(data, i));
  });
}

Expr strided_get_definition(const DefinitionCall& call) {
  const Expr& data = call.args[0];
  const std::vector<Dim>& dims = dims_of(data);
  const DType dtype = call.tensor(0).dtype.known();
  const std::vector<Dim>& out_dims = lang::as<TensorType>(call.result)->shape.dims();
  const std::size_t sliced = sliced_axes(call);
  const Expr zero = build::constant(dtype, 0);
  if (product(dims).is_constant(0))
    return build::comprehension(out_dims, [&](const Indices&) { return zero; });
  std::vector<Slice> slices;
  for (std::size_t axis = 0; axis < sliced; ++axis) slices.push_back(slice_of(call, axis));
  return build::comprehension(out_dims, [&](const Indices& out) {
    Expr holds;
    Indices place = out;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      const std::int64_t last = dims[axis].constant() - 1;
      if (axis < sliced) {
        place[axis] = build::add(slices[axis].first, build::mul(out[axis], slices[axis].stride));
        holds = both(holds, is_inside(slices[axis], place[axis]));
      } else {
        holds = both(holds, build::prim(Prim::Le, {out[axis], index_of(last)}));
      }
      place[axis] = clamp_index(place[axis], 0, last);
    }
    const Expr element = build::at(data, place);
    return holds ? build::select(holds, element, zero) : element;
  });
}

std::vector<Expr> with_bounds(const GradientCall& call, const Expr& data, const Expr& values) {
  return {data, values, call.args[2], call.args[3], call.args[4]};
}

void add_strided_set() {
  OpDef def;
  def.name = "strided_set";
  def.level = 4;
  def.doc =
      "The data with the values `v` in place of the slice begin:end:strides of its leading axes.\n"
      "The bounds are vectors, read as `strided_slice` reads them. An axis for which one of them "
      "is "
      "too short has no such bound, and the stride 1. It is an error if the slice has more "
      "elements than `v`, or a stride is "
      "0; elements of `v` beyond the slice do not count.";
  def.example = "strided_set([1, 2, 3, 4], [8, 9], [1], [4], [2])\n// expect: [1, 8, 3, 9]";
  def.inputs = region_inputs("the values, of the slice's shape");
  def.type_rule = [](TypeCall& call) {
    call.returns(call.tensor(0));
    return region_rule(call);
  };
  def.definition = strided_set_definition;
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {op("strided_set", with_bounds(call, call.dout, zeros_like(call.args[1]))),
            op("strided_get", with_bounds(call, call.dout, call.args[1])), nullptr, nullptr,
            nullptr};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

void add_strided_get() {
  OpDef def;
  def.name = "strided_get";
  def.is_step = true;
  def.level = 0;
  def.doc =
      "The slice begin:end:strides of the data, filled up with 0 to the shape of `v`: what "
      "`strided_set` overwrites.";
  def.example = "strided_get([1, 2, 3, 4], [0, 0], [1], [4], [2])\n// expect: [2, 4]";
  def.inputs = region_inputs("a tensor of the result's shape; its values do not count");
  def.type_rule = [](TypeCall& call) {
    call.returns(lang::tensor_type(call.tensor_node(1).shape, call.tensor_node(0).dtype));
    return region_rule(call);
  };
  def.definition = strided_get_definition;
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {op("strided_set", with_bounds(call, zeros_like(call.args[0]), call.dout)), nullptr,
            nullptr, nullptr, nullptr};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- matrix_set_diag ---

// Diagonals of matrices with so many rows and columns, as `matrix_set_diag` packs them: the ones
// from k1 to k2, the last one first, each moved to the left or to the right of its row.
struct Diagonals {
  Expr rows;
  Expr columns;
  std::int64_t k1;
  std::int64_t k2;
  bool right_above;
  bool right_below;

  // How many elements the diagonal `k` has.
  Expr length(const Expr& k) const {
    const Expr down = build::add(rows, build::prim(Prim::Min, {k, index_of(0)}));
    const Expr across = build::sub(columns, build::prim(Prim::Max, {k, index_of(0)}));
    return build::prim(Prim::Min, {down, across});
  }
  // Where the first element of diagonal `k` stands in its row of `width` elements.
  Expr offset(const Expr& k, const Expr& width) const {
    if (!right_above && !right_below) return index_of(0);
    const Expr room = build::sub(width, length(k));
    if (right_above && right_below) return room;
    const Expr is_above = build::prim(Prim::Ge, {k, index_of(0)});
    return build::select(is_above, right_above ? room : index_of(0),
                         right_below ? room : index_of(0));
  }
};

Diagonals diagonals_of(const AttrsRef& attrs, const Expr& input) {
  const std::size_t rank = dims_of(input).size();
  return {extent_of(input, rank - 2),
          extent_of(input, rank - 1),
          attrs->get_int("k1"),
          attrs->get_int("k2"),
          attrs->get_bool("super_diag_right_align"),
          attrs->get_bool("sub_diag_right_align")};
}

// The extent of a packed row: that of the longest diagonal. Nothing while it cannot be said.
std::optional<Dim> packed_width(const Dim& rows, const Dim& columns, std::int64_t k1,
                                std::int64_t k2) {
  const Dim down = rows + Dim(std::min<std::int64_t>(k2, 0));
  const Dim across = columns - Dim(std::max<std::int64_t>(k1, 0));
  if (down == across) return down;
  if (!down.is_constant() || !across.is_constant()) return std::nullopt;
  return Dim(std::min(down.constant(), across.constant()));
}

RuleOutcome matrix_set_diag_rule(TypeCall& call) {
  const Type input = call.tensor(0);
  const Type diagonal = call.tensor(1);
  const std::int64_t k1 = call.attrs->get_int("k1");
  const std::int64_t k2 = call.attrs->get_int("k2");
  for (const std::int64_t k : {k1, k2}) {
    if (k < -kLargestCount || k > kLargestCount)
      bad_attribute(call, "there is no diagonal " + std::to_string(k));
  }
  if (k1 > k2) {
    call.fail(DiagnosticKind::BadAttribute, "`k1` is " + std::to_string(k1) +
                                                ", and must not be more than `k2`, " +
                                                std::to_string(k2));
  }
  call.solver.unify(as_tensor(input).dtype, as_tensor(diagonal).dtype);
  call.returns(input);
  const Shape& shape = as_tensor(input).shape;
  if (!shape.has_rank()) return RuleOutcome::Stuck;
  if (shape.rank() < 2) {
    call.fail(DiagnosticKind::RankMismatch,
              "`matrix_set_diag` of `" + to_string(shape) + "`, which is no matrix");
  }
  const Dim& rows = shape[shape.rank() - 2];
  const Dim& columns = shape[shape.rank() - 1];
  std::vector<Dim> wanted(shape.dims().begin(), shape.dims().end() - 2);
  if (k1 != k2) wanted.emplace_back(k2 - k1 + 1);
  const auto width = packed_width(rows, columns, k1, k2);
  if (width && width->is_constant() && width->constant() < 1) {
    call.fail(DiagnosticKind::BadAttribute, "a matrix of `" + to_string(shape) +
                                                "` has no diagonals from " + std::to_string(k1) +
                                                " to " + std::to_string(k2));
  }
  wanted.push_back(width ? *width : call.solver.fresh_dim());
  const Shape& given = as_tensor(diagonal).shape;
  bool fits = !given.has_rank() || given.rank() == wanted.size();
  for (std::size_t axis = 0; fits && given.has_rank() && axis < wanted.size(); ++axis) {
    fits = !given[axis].is_constant() || !wanted[axis].is_constant() || given[axis] == wanted[axis];
  }
  if (!fits) {
    call.fail(DiagnosticKind::ShapeMismatch, "the diagonals of `" + to_string(shape) + "` from " +
                                                 std::to_string(k1) + " to " + std::to_string(k2) +
                                                 " have the shape `" + to_string(Shape(wanted)) +
                                                 "`, found `" + to_string(given) + "`");
  }
  call.solver.unify(given, Shape(std::move(wanted)));
  return is_settled(shape) ? RuleOutcome::Solved : RuleOutcome::Stuck;
}

Expr matrix_set_diag_definition(const DefinitionCall& call) {
  const Expr& diagonal = call.args[1];
  const Diagonals diagonals = diagonals_of(call.attrs, call.args[0]);
  const std::int64_t width = dims_of(diagonal).back().constant();
  return build::comprehension(dims_of(call.args[0]), [&](const Indices& i) {
    const Expr& row = i[i.size() - 2];
    const Expr& column = i.back();
    const Expr k = build::sub(column, row);
    const Expr nearest = clamp_index(k, diagonals.k1, diagonals.k2);
    const Expr along = build::prim(Prim::Min, {row, column});
    const Expr at = build::add(along, diagonals.offset(nearest, index_of(width)));
    Indices place(i.begin(), i.end() - 2);
    if (diagonals.k1 != diagonals.k2) place.push_back(build::sub(index_of(diagonals.k2), nearest));
    place.push_back(clamp_index(at, 0, width - 1));
    return build::select(build::prim(Prim::Eq, {k, nearest}), build::at(diagonal, place),
                         build::at(call.args[0], i));
  });
}

// What stands at the place from which element `out` of the diagonals goes; 0 for padding.
Expr diagonal_element(const Diagonals& diagonals, const Expr& matrices, const Indices& out,
                      const Expr& width) {
  const bool one = diagonals.k1 == diagonals.k2;
  const Expr k =
      one ? index_of(diagonals.k1) : build::sub(index_of(diagonals.k2), out[out.size() - 2]);
  const Expr along = build::sub(out.back(), diagonals.offset(k, width));
  const Expr inside = both(build::prim(Prim::Ge, {along, index_of(0)}),
                           build::prim(Prim::Lt, {along, diagonals.length(k)}));
  const Expr zero = index_of(0);
  const auto clamped = [&](const Expr& index, const Expr& extent) {
    const Expr above = build::prim(Prim::Max, {index, zero});
    return build::prim(Prim::Min, {above, build::sub(extent, index_of(1))});
  };
  const Expr row = build::sub(along, build::prim(Prim::Min, {k, zero}));
  const Expr column = build::add(along, build::prim(Prim::Max, {k, zero}));
  Indices place(out.begin(), out.end() - (one ? 1 : 2));
  place.push_back(clamped(row, diagonals.rows));
  place.push_back(clamped(column, diagonals.columns));
  return build::select(inside, build::at(matrices, place),
                       build::constant(tensor_type_of(matrices).dtype.known(), 0));
}

void add_matrix_set_diag() {
  OpDef def;
  def.name = "matrix_set_diag";
  def.level = 10;
  def.doc =
      "The matrices on the last two axes with the diagonals `k1` to `k2` replaced.\n"
      "Diagonals count from the main one, 0, to the right. One diagonal is a row of its length; "
      "several are packed as rows, from k2 down to k1, as long as the longest: shorter ones stand "
      "to the right or to the left of their row, by the two attributes for those above (and on) "
      "the main diagonal and for those below it. Padding does not count.";
  def.example = "matrix_set_diag([[1, 2], [3, 4]], [8, 9])\n// expect: [[8, 2], [3, 9]]";
  def.inputs = {{"input", "the matrices"}, {"diagonal", "the diagonals"}};
  def.attrs = {optional_attr("k1", AttrKind::Int, 0, "the first diagonal"),
               optional_attr("k2", AttrKind::Int, 0, "the last diagonal"),
               optional_attr("super_diag_right_align", AttrKind::Bool, true,
                             "diagonals above the main one stand to the right"),
               optional_attr("sub_diag_right_align", AttrKind::Bool, false,
                             "diagonals below the main one stand to the right")};
  def.type_rule = matrix_set_diag_rule;
  def.definition = matrix_set_diag_definition;
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const Expr& diagonal = call.args[1];
    const Diagonals diagonals = diagonals_of(call.attrs, call.args[0]);
    const Expr width = extent_of(diagonal, dims_of(diagonal).size() - 1);
    return {op("matrix_set_diag", {call.dout, zeros_like(diagonal)}, call.attrs->list),
            generate_like(diagonal, [&](const Indices& out) {
              return diagonal_element(diagonals, call.dout, out, width);
            })};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_region_operators() {
  add_strided_set();
  add_strided_get();
  add_matrix_set_diag();
}

}  // namespace relay::stdlib
