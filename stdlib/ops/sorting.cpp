// Sorting and what is made of it. There is one primitive, the order of rows; everything else reads
// along it.

#include "stdlib/ops/sorting.h"

#include <string>

#include "lang/attrs_struct.h"
#include "lang/call_form.h"
#include "stdlib/ops/types.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

// --- sort_order: the primitive that the others are made of ---

void add_sort_order() {
  OpDef def;
  def.name = "sort_order";
  def.level = 0;
  def.doc =
      "The positions of the elements of each row (the last axis) from small to large.\n"
      "Equal elements keep their order, NaN comes last. A primitive: `sort`, `topk` and `unique` "
      "are made of it.";
  def.example = "sort_order([3.0, 1.0, 2.0])\n// expect: [1, 2, 0]";
  def.inputs = {{"data", "the rows"}};
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    const auto& rows = as_tensor(data);
    call.returns(lang::tensor_type(rows.shape, DTypeTerm(DType::Int64)));
    if (!rows.shape.has_rank()) return RuleOutcome::Stuck;
    if (rows.shape.rank() == 0)
      call.fail(DiagnosticKind::RankMismatch, "a scalar has no row to sort");
    return RuleOutcome::Solved;
  };
  def.primitive = lang::TensorPrimitive::Order;
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- The order along an axis ---

// Which element of `data` stands at each place once it is sorted along `axis`. Equal elements keep
// their order in both directions: a descending order is read from the far end of the order of the
// rows backwards.
class AxisOrder {
 public:
  AxisOrder(const Expr& data, const AttrsRef& attrs)
      : axis_(position_of(attrs->get_int("axis"), dims_of(data).size())),
        last_(dims_of(data)[axis_].constant() - 1),
        ascends_(attrs->get_bool("is_ascend")),
        data_(data) {}

  // Binds the order around `body`.
  Expr bind(const std::function<Expr(const AxisOrder&)>& body) {
    const std::size_t rank = dims_of(data_).size();
    const bool is_plain = ascends_ && axis_ + 1 == rank;
    return build::let("rows", is_plain ? data_ : rows(), [&](const Expr& bound) {
      return build::let("order", op("sort_order", {bound}), [&](const Expr& order) {
        order_ = order;
        return body(*this);
      });
    });
  }

  // The position along the axis of the element that belongs at `place`, an int64 scalar.
  Expr position(const Indices& place) const {
    Indices row = place;
    row.erase(row.begin() + static_cast<std::ptrdiff_t>(axis_));
    row.push_back(mirrored(place[axis_]));
    return mirrored(build::at(order_, row));
  }
  Expr element(const Indices& place) const {
    Indices from = place;
    from[axis_] = position(place);
    return build::at(data_, from);
  }

 private:
  Expr mirrored(const Expr& index) const {
    return ascends_ ? index : build::sub(build::index_constant(last_), index);
  }
  // The data with the axis last, backwards for a descending order.
  Expr rows() const {
    std::vector<Dim> dims = dims_of(data_);
    const Dim extent = dims[axis_];
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis_));
    dims.push_back(extent);
    return build::comprehension(dims, [&](const Indices& row) {
      Indices from(row.begin(), row.end() - 1);
      from.insert(from.begin() + static_cast<std::ptrdiff_t>(axis_), mirrored(row.back()));
      return build::at(data_, from);
    });
  }

  std::size_t axis_;
  std::int64_t last_;
  bool ascends_;
  Expr data_;
  Expr order_;
};

std::vector<AttrSpec> sort_attrs(const char* dtype_doc) {
  return {optional_attr("axis", AttrKind::Int, -1, "the axis along which to sort"),
          optional_attr("is_ascend", AttrKind::Bool, true, "from small to large"),
          nullable_attr("dtype", AttrKind::DType, dtype_doc)};
}

// The shape, once `axis` has been found to be one of its own.
RuleOutcome check_sorted_axis(TypeCall& call, const Shape& shape) {
  if (!shape.has_rank()) return RuleOutcome::Stuck;
  check_axis(call, call.attrs->get_int("axis"), shape);
  return RuleOutcome::Solved;
}

// --- argsort, sort ---

void add_argsort() {
  OpDef def;
  def.name = "argsort";
  def.level = 6;
  def.doc =
      "The positions that sort the data along an axis.\n"
      "Equal elements keep their order, in both directions. NaN counts as the largest value.";
  def.example =
      "argsort([3.0, 1.0, 2.0])\n// expect: [1, 2, 0]\n"
      "argsort([3.0, 1.0, 2.0], is_ascend=False)\n// expect: [0, 2, 1]";
  def.inputs = {{"data", "the values"}};
  def.attrs = sort_attrs("dtype of the positions; None: int32");
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    const Shape& shape = as_tensor(data).shape;
    call.returns(
        lang::tensor_type(shape, attr_dtype(call.attrs, "dtype", DTypeTerm(DType::Int32))));
    return check_sorted_axis(call, shape);
  };
  def.definition = [](const DefinitionCall& call) {
    const DType dtype = lang::as<TensorType>(call.result)->dtype.known();
    return AxisOrder(call.args[0], call.attrs).bind([&](const AxisOrder& order) {
      return build::comprehension(dims_of(call.args[0]), [&](const Indices& i) {
        return build::cast_to(dtype, order.position(i));
      });
    });
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

// The adjoint of data of which the elements at `positions` along the axis were taken.
Expr put_back(const GradientCall& call, const Expr& positions, const Expr& adjoint) {
  const std::size_t axis = position_of(call.attrs->get_int("axis"), dims_of(call.args[0]).size());
  return build::let("positions", positions, [&](const Expr& from) {
    return build::let("adjoint", adjoint, [&](const Expr& value) {
      return scatter_into(call.args[0], value, [&](const Indices& i) {
        Indices place = i;
        place[axis] = build::at(from, i);
        return place;
      });
    });
  });
}

void add_sort() {
  OpDef def;
  def.name = "sort";
  def.level = 6;
  def.doc =
      "The data sorted along an axis.\n"
      "NaN counts as the largest value. The adjoint goes back to where the elements stood.";
  def.example = "sort([3.0, 1.0, 2.0])\n// expect: [1.0, 2.0, 3.0]";
  def.inputs = {{"data", "the values"}};
  def.attrs = sort_attrs("not used: the dtype stays");
  lang::set_attrs_struct(def.name, "ArgsortAttrs");
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    call.returns(data);
    return check_sorted_axis(call, as_tensor(data).shape);
  };
  def.definition = [](const DefinitionCall& call) {
    return AxisOrder(call.args[0], call.attrs).bind([&](const AxisOrder& order) {
      return build::comprehension(dims_of(call.args[0]),
                                  [&](const Indices& i) { return order.element(i); });
    });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    if (!is_float_tensor(call.args[0])) return {nullptr};
    const Expr positions = op("argsort", {call.args[0]},
                              {{"axis", call.attrs->get_int("axis")},
                               {"is_ascend", call.attrs->get_bool("is_ascend")},
                               {"dtype", DType::Int64}});
    return {put_back(call, positions, call.dout)};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- topk ---

RuleOutcome topk_rule(TypeCall& call) {
  const std::string& kind = call.attrs->get_string("ret_type");
  if (kind != "both" && kind != "values" && kind != "indices") {
    lang::fail(DiagnosticKind::BadAttribute,
               "`ret_type` is `both`, `values` or `indices`, not `" + kind + "`", call.span);
  }
  const Type data = call.tensor(0);
  const Shape& shape = as_tensor(data).shape;
  const DTypeTerm index = attr_dtype(call.attrs, "dtype", DTypeTerm(DType::Int32));
  if (!shape.has_rank()) {
    if (kind != "both") result_shape(call, kind == "values" ? as_tensor(data).dtype : index);
    return RuleOutcome::Stuck;
  }
  check_axis(call, call.attrs->get_int("axis"), shape);
  const std::int64_t k = call.attrs->get_int("k");
  std::vector<Dim> dims = shape.dims();
  Dim& extent = dims[position_of(call.attrs->get_int("axis"), shape.rank())];
  if (k > 0 && extent.is_constant() && k > extent.constant()) {
    call.fail(DiagnosticKind::ShapeMismatch, "`k` is " + std::to_string(k) + ", and the axis has " +
                                                 extent.to_string() + " elements");
  }
  if (k > 0) extent = Dim(k);
  const Type values = lang::tensor_type(Shape(dims), as_tensor(data).dtype);
  const Type indices = lang::tensor_type(Shape(dims), index);
  call.returns(kind == "both"     ? lang::tuple_type({values, indices})
               : kind == "values" ? values
                                  : indices);
  return RuleOutcome::Solved;
}

Expr topk(const DefinitionCall& call) {
  const Expr& data = call.args[0];
  const std::string& kind = call.attrs->get_string("ret_type");
  const std::int64_t k = call.attrs->get_int("k");
  std::vector<Dim> dims = dims_of(data);
  Dim& extent = dims[position_of(call.attrs->get_int("axis"), dims.size())];
  if (k > extent.constant()) {
    lang::fail(
        DiagnosticKind::ShapeMismatchAtRunTime,
        "`topk` takes " + std::to_string(k) + " elements of an axis of " + extent.to_string(), {});
  }
  if (k > 0) extent = Dim(k);
  const DType index = attr_dtype(call.attrs, "dtype", DTypeTerm(DType::Int32)).known();
  return AxisOrder(data, call.attrs).bind([&](const AxisOrder& order) {
    const auto values = [&] {
      return build::comprehension(dims, [&](const Indices& i) { return order.element(i); });
    };
    const auto indices = [&] {
      return build::comprehension(
          dims, [&](const Indices& i) { return build::cast_to(index, order.position(i)); });
    };
    if (kind != "both") return kind == "values" ? values() : indices();
    return build::let("values", values(), [&](const Expr& first) {
      return build::let("indices", indices(), [&](const Expr& second) {
        return build::tuple({first, second});
      });
    });
  });
}

void add_topk() {
  OpDef def;
  def.name = "topk";
  def.level = 6;
  def.doc =
      "The `k` largest (or smallest) values along an axis in order, and their positions.\n"
      "Of equal values the first ones win. NaN counts as the largest value. More than there are is "
      "an error.";
  def.example =
      "topk([3.0, 1.0, 2.0], k=2)\n// expect: ([3.0, 2.0], [0, 2])\n"
      "topk([3.0, 1.0, 2.0], k=1, ret_type=\"values\", is_ascend=True)\n// expect: [1.0]";
  def.inputs = {{"data", "the values"}};
  def.attrs = {required_attr("k", AttrKind::Int, "how many; less than 1: all of them"),
               optional_attr("axis", AttrKind::Int, -1, "the axis along which to look"),
               optional_attr("ret_type", AttrKind::String, "both",
                             "`values`, `indices`, or a tuple of `both`"),
               optional_attr("is_ascend", AttrKind::Bool, false, "the smallest instead"),
               nullable_attr("dtype", AttrKind::DType, "dtype of the positions; None: int32")};
  lang::set_attrs_struct(def.name, "TopkAttrs", {"k"});
  def.type_rule = topk_rule;
  def.definition = topk;
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const std::string& kind = call.attrs->get_string("ret_type");
    if (kind == "indices" || !is_float_tensor(call.args[0])) return {nullptr};
    const Expr positions = op("topk", {call.args[0]},
                              {{"k", call.attrs->get_int("k")},
                               {"axis", call.attrs->get_int("axis")},
                               {"ret_type", "indices"},
                               {"is_ascend", call.attrs->get_bool("is_ascend")},
                               {"dtype", DType::Int64}});
    return {put_back(call, positions, kind == "both" ? build::project(call.dout, 0) : call.dout)};
  };
  lang::set_attr_default(def.name, "k", 1);
  lang::OpRegistry::instance().add(std::move(def));
}

// --- searchsorted ---

RuleOutcome searchsorted_rule(TypeCall& call) {
  const Type sorted = call.tensor(0);
  const Type values = call.tensor(1);
  call.solver.unify(as_tensor(sorted).dtype, as_tensor(values).dtype);
  const Shape& rows = as_tensor(sorted).shape;
  const Shape& shape = as_tensor(values).shape;
  call.returns(lang::tensor_type(shape, call.attrs->get_dtype("dtype")));
  if (!rows.has_rank()) return RuleOutcome::Stuck;
  if (rows.rank() == 0)
    call.fail(DiagnosticKind::RankMismatch, "the sorted sequence must not be a scalar");
  if (rows.rank() == 1) return RuleOutcome::Solved;
  if (!shape.has_rank()) return RuleOutcome::Stuck;
  if (shape.rank() != rows.rank()) {
    call.fail(DiagnosticKind::RankMismatch, "values of shape `" + to_string(shape) +
                                                "` have no place in sequences of shape `" +
                                                to_string(rows) + "`: the ranks differ");
  }
  for (std::size_t axis = 0; axis + 1 < rows.rank(); ++axis) {
    if (rows[axis].is_constant() && shape[axis].is_constant() && !(rows[axis] == shape[axis])) {
      call.fail(DiagnosticKind::ShapeMismatch,
                "values of shape `" + to_string(shape) + "` do not fit sequences of shape `" +
                    to_string(rows) + "`: axis " + std::to_string(axis) + " differs");
    }
    call.solver.unify(rows[axis], shape[axis]);
  }
  return RuleOutcome::Solved;
}

// Does `element` of the sequence stand before the place of `value`?
Expr stands_before(const Expr& element, const Expr& value, bool right) {
  const Expr plain = build::prim(right ? Prim::Le : Prim::Lt, {element, value});
  if (!lang::is_float(tensor_type_of(value).dtype.known())) return plain;
  const Expr is_nan = build::prim(Prim::IsNan, {value});
  if (right) return build::prim(Prim::Or, {plain, is_nan});
  const Expr is_number = build::prim(Prim::Not, {build::prim(Prim::IsNan, {element})});
  return build::prim(Prim::Or, {plain, build::prim(Prim::And, {is_nan, is_number})});
}

// Binary search in steps of powers of two: `place` elements are known to stand before the value.
Expr search(const Expr& sorted, const Indices& row, std::int64_t extent, const Expr& value,
            bool right, const Expr& place, std::int64_t step) {
  if (step == 0) return place;
  const Expr next = build::add(place, build::index_constant(step));
  return build::let("next", next, [&](const Expr& candidate) {
    Indices from = row;
    from.push_back(build::sub(build::prim(Prim::Min, {candidate, build::index_constant(extent)}),
                              build::index_constant(1)));
    const Expr fits = build::prim(Prim::Le, {candidate, build::index_constant(extent)});
    const Expr moves =
        build::prim(Prim::And, {fits, stands_before(build::at(sorted, from), value, right)});
    return build::let("place", build::select(moves, candidate, place), [&](const Expr& found) {
      return search(sorted, row, extent, value, right, found, step / 2);
    });
  });
}

Expr searchsorted(const DefinitionCall& call) {
  const Expr& sorted = call.args[0];
  const auto& result = *lang::as<TensorType>(call.result);
  const std::int64_t extent = dims_of(sorted).back().constant();
  std::int64_t step = 1;
  while (step <= extent / 2) step *= 2;
  return build::comprehension(result.shape.dims(), [&](const Indices& i) {
    Indices row;
    if (dims_of(sorted).size() > 1) row.assign(i.begin(), i.end() - 1);
    const Expr place = build::let("value", build::at(call.args[1], i), [&](const Expr& value) {
      return search(sorted, row, extent, value, call.attrs->get_bool("right"),
                    build::index_constant(0), extent == 0 ? 0 : step);
    });
    return build::cast_to(result.dtype.known(), place);
  });
}

void add_searchsorted() {
  OpDef def;
  def.name = "searchsorted";
  def.level = 6;
  def.doc =
      "Where each value belongs in a sorted sequence, so that it stays sorted.\n"
      "The sequence is one row for all values, or rows (the last axis) whose other axes are those "
      "of the values. NaN belongs behind all numbers.";
  def.example =
      "searchsorted([1.0, 2.0, 2.0, 3.0], [2.0, 9.0])\n// expect: [1, 4]\n"
      "searchsorted([1.0, 2.0, 2.0, 3.0], [2.0, 9.0], right=True)\n// expect: [3, 4]";
  def.inputs = {{"sorted_sequence", "rows in ascending order"}, {"values", "what to look for"}};
  def.attrs = {optional_attr("right", AttrKind::Bool, false, "behind equal elements, not in front"),
               optional_attr("dtype", AttrKind::DType, DType::Int32, "dtype of the result")};
  lang::set_attrs_struct(def.name, "SearchSortedAttrs");
  def.type_rule = searchsorted_rule;
  def.definition = searchsorted;
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_sorting_operators() {
  add_sort_order();
  add_argsort();
  add_sort();
  add_topk();
  add_searchsorted();
  add_unique();
}

}  // namespace relay::stdlib
