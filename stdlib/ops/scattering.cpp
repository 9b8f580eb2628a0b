#include <algorithm>
#include <string>

#include "lang/attrs_struct.h"
#include "stdlib/ops/accumulate.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/formula.h"
#include "stdlib/ops/places.h"
#include "stdlib/ops/types.h"

// Values that are written where integers say, several of them perhaps to one place.
namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

DType dtype_of(const Expr& tensor) { return tensor_type_of(tensor).dtype.known(); }

// --- One scatter, whatever its indices look like ---

using PlaceOf = std::function<Indices(const Indices&)>;

struct Scatter {
  const char* name;  // of the operator
  const char* mode_key;
  Expr data;
  Expr indices;
  Expr updates;
  AttrsRef attrs;
  PlaceOf place;  // in the data, of an element of the updates

  const std::string& mode() const { return attrs->get_string(mode_key); }
  // The same places with other data and values, in another mode.
  Expr again(const Expr& into, const Expr& values, const char* mode) const {
    std::vector<lang::Attr> list = attrs->list;
    for (lang::Attr& attr : list) {
      if (attr.key == mode_key) attr.value = mode;
    }
    return op(name, {into, indices, values}, std::move(list));
  }
  // What `tensor`, of the data's shape, holds at the place of each update.
  Expr at_places(const Expr& tensor) const {
    return generate_like(updates,
                         [&](const Indices& i) { return build::checked_at(tensor, place(i)); });
  }
};

// --- Which update counts ---

// The row-major position of element `i` of `tensor` (any dims).
Expr linear_position(const Expr& tensor, const Indices& i) {
  if (i.empty()) return build::index_constant(0);
  Expr linear = i[0];
  for (std::size_t axis = 1; axis < i.size(); ++axis)
    linear = build::add(build::mul(linear, extent_of(tensor, axis)), i[axis]);
  return linear;
}

// The row-major position of the last update of each element of the data; -1 where there is none.
Expr last_update(const Scatter& scatter) {
  const Expr none =
      generate_like(scatter.data, [](const Indices&) { return build::index_constant(-1); });
  const Expr own = generate_like(
      scatter.updates, [&](const Indices& i) { return linear_position(scatter.updates, i); });
  return scatter.again(none, own, "update");
}

Expr as_row(const Expr& tensor) {
  return op("reshape", {tensor}, {{"newshape", AttrValue::ints({-1})}});
}

// The row-major positions in the data to which the updates go, as a vector.
Expr places_row(const Scatter& scatter) {
  return as_row(generate_like(scatter.updates, [&](const Indices& i) {
    return linear_position(scatter.data, scatter.place(i));
  }));
}

// How many later updates go to the place of each update.
Expr later_updates(const Scatter& scatter) {
  return op("reshape_like", {op("equal_behind", {places_row(scatter)}), scatter.updates});
}

// 0.5 to the power of an int64 tensor, as floats like those of `like`.
Expr half_to_the(const Expr& count, const Expr& like) {
  const DType dtype = accumulator_of(dtype_of(like));
  return op("power", {build::constant(dtype, 0.5), as_dtype(count, dtype)});
}

// The share that the data keeps, after each update has halved what stood there.
Expr kept_share(const Scatter& scatter) {
  const Expr zeros =
      generate_like(scatter.data, [](const Indices&) { return build::index_constant(0); });
  const Expr ones =
      generate_like(scatter.updates, [](const Indices&) { return build::index_constant(1); });
  return half_to_the(scatter.again(zeros, ones, "add"), scatter.data);
}

Expr update_share(const Scatter& scatter) {
  return half_to_the(op("add", {later_updates(scatter), build::index_constant(1)}), scatter.data);
}

// --- Definitions (constant dims) ---

Expr folded(const Scatter& scatter, ReduceOp fold) {
  const bool sums = fold == ReduceOp::Sum || fold == ReduceOp::Prod;
  const DType dtype = dtype_of(scatter.data);
  const DType wide = sums && lang::is_float(dtype) ? accumulator_of(dtype) : dtype;
  const Expr result = build::let("init", as_dtype(scatter.data, wide), [&](const Expr& init) {
    return build::scatter(fold, init, dims_of(scatter.updates), [&](const Indices& i) {
      return std::pair{scatter.place(i), build::cast_to(wide, build::at(scatter.updates, i))};
    });
  });
  if (wide == dtype) return result;
  return build::let("wide", result, [&](const Expr& total) { return as_dtype(total, dtype); });
}

Expr averaged(const Scatter& scatter) {
  const DType dtype = dtype_of(scatter.data);
  const DType wide = accumulator_of(dtype);
  const Expr kept = as_dtype(scatter.data, wide) * kept_share(scatter);
  const Expr added = as_dtype(scatter.updates, wide) * update_share(scatter);
  return as_dtype(scatter.again(kept, added, "add"), dtype);
}

Expr scatter_definition(const Scatter& scatter) {
  const std::string& mode = scatter.mode();
  if (mode == "mean") return averaged(scatter);
  return folded(scatter, mode == "add"      ? ReduceOp::Sum
                         : mode == "mul"    ? ReduceOp::Prod
                         : mode == "min"    ? ReduceOp::Min
                         : mode == "update" ? ReduceOp::Set
                                            : ReduceOp::Max);
}

// --- Gradients (any dims): adjoints of the data and of the updates ---

using Adjoints = std::pair<Expr, Expr>;

Expr truth_as_number(const Expr& truth, const Expr& like) {
  return as_dtype(truth, dtype_of(like));
}
Expr ones_of(const Expr& tensor) {
  return generate_like(tensor,
                       [&](const Indices&) { return build::constant(dtype_of(tensor), 1); });
}

Adjoints update_gradient(const Scatter& scatter, const Expr& dout) {
  const Expr dupdates = build::let("last", last_update(scatter), [&](const Expr& last) {
    return generate_like(scatter.updates, [&](const Indices& i) {
      const Indices place = scatter.place(i);
      const Expr is_last = build::prim(
          Prim::Eq, {build::checked_at(last, place), linear_position(scatter.updates, i)});
      return build::select(is_last, build::checked_at(dout, place),
                           build::constant(dtype_of(dout), 0));
    });
  });
  return {scatter.again(dout, zeros_like(scatter.updates), "update"), dupdates};
}

Adjoints mean_gradient(const Scatter& scatter, const Expr& dout) {
  const DType dtype = dtype_of(dout);
  return {dout * as_dtype(kept_share(scatter), dtype),
          scatter.at_places(dout) * as_dtype(update_share(scatter), dtype)};
}

// Each factor's adjoint is the product of the others; nothing is divided.
Adjoints product_gradient(const Scatter& scatter, const Expr& dout) {
  const Expr row = as_row(as_dtype(scatter.updates, accumulator_of(dtype_of(dout))));
  const Expr others = op("product_of_others_at", {row, places_row(scatter)});
  const Expr scaled = build::let("scaled", dout * scatter.data,
                                 [&](const Expr& named) { return scatter.at_places(named); });
  return {dout * scatter.again(ones_of(scatter.data), scatter.updates, "mul"),
          scaled * op("reshape_like", {as_dtype(others, dtype_of(dout)), scatter.updates})};
}

// Those that share the extreme value share its adjoint.
Adjoints extreme_gradient(const Scatter& scatter, const Expr& out, const Expr& dout) {
  const Expr is_data = op("equal", {scatter.data, out});
  const Expr is_update = op("equal", {scatter.updates, scatter.at_places(out)});
  const Expr count =
      scatter.again(truth_as_number(is_data, dout), truth_as_number(is_update, dout), "add");
  const Expr share = dout / count;
  const Expr at_updates =
      build::let("share", share, [&](const Expr& named) { return scatter.at_places(named); });
  return {only_where(is_data, share), only_where(is_update, at_updates)};
}

std::vector<Expr> scatter_gradient(const Scatter& scatter, const Expr& out, const Expr& dout) {
  const std::string& mode = scatter.mode();
  const Adjoints adjoints = mode == "update" ? update_gradient(scatter, dout)
                            : mode == "add"  ? Adjoints{dout, scatter.at_places(dout)}
                            : mode == "mean" ? mean_gradient(scatter, dout)
                            : mode == "mul"  ? product_gradient(scatter, dout)
                                             : extreme_gradient(scatter, out, dout);
  return {adjoints.first, nullptr, adjoints.second};
}

// --- The operators ---

// False while the dtype has to be known first.
bool check_mode(const TypeCall& call, const char* key, const DTypeTerm& dtype) {
  const std::string& mode = call.attrs->get_string(key);
  const auto known = {"update", "add", "mul", "mean", "min", "max"};
  if (std::find(known.begin(), known.end(), mode) == known.end()) {
    call.fail(DiagnosticKind::BadAttribute,
              "`" + std::string(key) + "` is \"" + mode +
                  "\", and must be \"update\", \"add\", \"mul\", \"mean\", \"min\" or \"max\"");
  }
  if (mode == "mean" && dtype.is_known() && !lang::is_float(dtype.known())) {
    call.fail(DiagnosticKind::Unsupported,
              "not supported: the mean of integers in `" + call.op.name + "`");
  }
  if (mode != "update") call.solver.require(dtype, PrimOperands::kNumeric);
  return mode != "mean" || dtype.is_known();
}

// Of updates beyond the indices of a `scatter_elements` nothing is used.
Expr used_updates(const std::string& name, const Expr& indices, const Expr& updates) {
  if (name != "scatter_elements") return updates;
  const Shape& at = tensor_type_of(indices).shape;
  const bool agree =
      at == tensor_type_of(updates).shape &&
      std::none_of(at.dims().begin(), at.dims().end(), [](const Dim& dim) { return dim.is_any(); });
  return agree ? updates : op("slice_like", {updates, indices});
}

using ScatterOf = Scatter (*)(const std::vector<Expr>&, const AttrsRef&);

void register_scatter(OpDef def, ScatterOf of) {
  def.level = 3;
  def.definition = [of, name = def.name](const DefinitionCall& call) {
    const Expr used = used_updates(name, call.args[1], call.args[2]);
    return build::let("used", used, [&](const Expr& updates) {
      return scatter_definition(of({call.args[0], call.args[1], updates}, call.attrs));
    });
  };
  def.gradient = [of, name = def.name](const GradientCall& call) {
    const Expr used = used_updates(name, call.args[1], call.args[2]);
    const Scatter scatter = of({call.args[0], call.args[1], used}, call.attrs);
    std::vector<Expr> adjoints = scatter_gradient(scatter, call.out, call.dout);
    if (used != call.args[2]) {
      adjoints[2] = build::let("dused", adjoints[2], [&](const Expr& dused) {
        return scatter_into(call.args[2], dused, [](const Indices& i) { return i; });
      });
    }
    return adjoints;
  };
  lang::OpRegistry::instance().add(std::move(def));
}

constexpr const char* kModes =
    "update (the last one counts), add, mul, mean (each update in turn is averaged with what "
    "stands there), min or max";

Scatter elements_scatter(const std::vector<Expr>& args, const AttrsRef& attrs) {
  const std::size_t axis = position_of(attrs->get_int("axis"), dims_of(args[0]).size());
  return {"scatter_elements",
          "reduction",
          args[0],
          args[1],
          args[2],
          attrs,
          [data = args[0], indices = args[1], axis](const Indices& i) {
            return element_place(data, indices, axis, i);
          }};
}

RuleOutcome scatter_elements_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const Shape& shape = as_tensor(data).shape;
  const Shape& at = call.tensor_node(1).shape;
  call.solver.require(call.tensor_node(1).dtype, PrimOperands::kInt);
  call.solver.unify(as_tensor(data).dtype, call.tensor_node(2).dtype);
  const bool is_settled_mode = check_mode(call, "reduction", as_tensor(data).dtype);
  call.returns(data);
  if (!shape.has_rank()) return RuleOutcome::Stuck;
  check_axis(call, call.attrs->get_int("axis"), shape);
  if (at.has_rank() && at.rank() != shape.rank()) {
    call.fail(DiagnosticKind::RankMismatch, "`scatter_elements` into `" + to_string(shape) +
                                                "` with indices `" + to_string(at) +
                                                "`: their ranks differ");
  }
  const Shape indices = with_rank(call, at, shape.rank());
  const Shape updates = with_rank(call, call.tensor_node(2).shape, shape.rank());
  for (std::size_t k = 0; k < shape.rank(); ++k) {
    if (!indices[k].is_constant() || !updates[k].is_constant()) continue;
    if (indices[k].constant() <= updates[k].constant()) continue;
    call.fail(DiagnosticKind::ShapeMismatch,
              "`scatter_elements` with indices `" + to_string(indices) + "` and updates `" +
                  to_string(updates) + "`: axis " + std::to_string(k) +
                  " of the updates is too short");
  }
  return is_settled_mode ? RuleOutcome::Solved : RuleOutcome::Stuck;
}

void add_scatter_elements() {
  OpDef def;
  def.name = "scatter_elements";
  def.doc =
      "The data with each update combined into the element that its index names along an axis.\n"
      "There is an update for each index, at the same place; there may be more, which do not "
      "count. "
      "On the other axes an update goes to its own position. A "
      "negative index counts from the end, one out of range is an error. Updates to one place are "
      "combined in row-major order; float16 and bfloat16 are summed in float32.";
  def.example = "scatter_elements([1, 2, 3], [2, 0, 2], [7, 8, 9])\n// expect: [8, 2, 9]";
  def.inputs = {{"data", "what is written into"},
                {"indices", "integers"},
                {"updates", "the values, of the shape of the indices or larger"}};
  def.attrs = {optional_attr("axis", AttrKind::Int, 0, "the axis along which the indices point"),
               optional_attr("reduction", AttrKind::String, "update", kModes)};
  lang::set_attrs_struct(def.name, "ScatterElementsAttrs", {"axis"});
  def.type_rule = scatter_elements_rule;
  register_scatter(std::move(def), elements_scatter);
}

Scatter nd_scatter(const std::vector<Expr>& args, const AttrsRef& attrs) {
  const std::size_t rows = dims_of(args[1]).size() - 1;
  VectorIndex by;
  by.coordinates = dims_of(args[0]).size() - (dims_of(args[2]).size() - rows);
  return {"scatter_nd",
          "mode",
          args[0],
          args[1],
          args[2],
          attrs,
          [data = args[0], indices = args[1], by, rows](const Indices& i) {
            const auto split = i.begin() + static_cast<std::ptrdiff_t>(rows);
            return vector_place(data, indices, by, Indices(i.begin(), split),
                                Indices(split, i.end()));
          }};
}

RuleOutcome scatter_nd_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const Shape& shape = as_tensor(data).shape;
  const Shape& at = call.tensor_node(1).shape;
  const Shape& updates = call.tensor_node(2).shape;
  call.solver.require(call.tensor_node(1).dtype, PrimOperands::kInt);
  call.solver.unify(as_tensor(data).dtype, call.tensor_node(2).dtype);
  const bool is_settled_mode = check_mode(call, "mode", as_tensor(data).dtype);
  call.returns(data);
  if (!shape.has_rank() || !at.has_rank() || !updates.has_rank()) return RuleOutcome::Stuck;
  const auto mismatch = [&](const std::string& why) {
    call.fail(DiagnosticKind::ShapeMismatch,
              "`scatter_nd` into `" + to_string(shape) + "` with indices `" + to_string(at) +
                  "` and updates `" + to_string(updates) + "`: " + why);
  };
  const std::size_t rows = at.rank() - 1;
  if (at.rank() == 0 || updates.rank() < rows || updates.rank() - rows > shape.rank()) {
    mismatch(
        "the updates have the axes of the indices but the first, then those of the data "
        "behind its coordinates");
  }
  const std::size_t coordinates = shape.rank() - (updates.rank() - rows);
  if (at[0].is_constant() && !at[0].is_constant(static_cast<std::int64_t>(coordinates))) {
    mismatch("the first axis of the indices is " + at[0].to_string() + ", and there are " +
             std::to_string(coordinates) + " coordinates");
  }
  call.solver.unify(at[0], Dim(static_cast<std::int64_t>(coordinates)));
  for (std::size_t axis = 0; axis < updates.rank(); ++axis) {
    const Dim& wanted = axis < rows ? at[axis + 1] : shape[coordinates + axis - rows];
    if (wanted.is_constant() && updates[axis].is_constant() && !(wanted == updates[axis])) {
      mismatch("axis " + std::to_string(axis) + " of the updates is " + updates[axis].to_string() +
               " and must be " + wanted.to_string());
    }
    call.solver.unify(updates[axis], wanted);
  }
  return is_settled_mode ? RuleOutcome::Solved : RuleOutcome::Stuck;
}

void add_scatter_nd() {
  OpDef def;
  def.name = "scatter_nd";
  def.doc =
      "The data with each update combined into the element or slice at its coordinates, which "
      "stand along the first axis of the indices.\n"
      "Indices of shape (m, y..) take updates of shape (y.., the axes of the data behind the first "
      "m). A negative coordinate counts from the end, one out of range is an error. Updates to one "
      "place are combined in row-major order; float16 and bfloat16 are summed in float32.";
  def.example =
      "scatter_nd([[1, 2], [3, 4]], [[1, 0], [0, 1]], [7, 8])\n// expect: [[1, 8], [7, 4]]";
  def.inputs = {{"data", "what is written into"},
                {"indices", "integers; coordinate m of update y at [m, y]"},
                {"updates", "the values"}};
  def.attrs = {optional_attr("mode", AttrKind::String, "update", kModes)};
  lang::set_attrs_struct(def.name, "ScatterNDAttrs");
  def.type_rule = scatter_nd_rule;
  register_scatter(std::move(def), nd_scatter);
}

// By the order that sorting gives: equal elements stand together, in their own order.
Expr equal_behind_definition(const DefinitionCall& call) {
  const Expr& row = call.args[0];
  const std::vector<Dim>& dims = dims_of(row);
  return build::let("order", op("sort_order", {row}), [&](const Expr& order) {
    const Expr sorted = build::comprehension(
        dims, [&](const Indices& k) { return build::at(row, {build::at(order, k)}); });
    return build::let("sorted", sorted, [&](const Expr& ascending) {
      const Expr ends =
          op("searchsorted", {ascending, row}, {{"right", true}, {"dtype", DType::Int64}});
      return build::let("ends", ends, [&](const Expr& end) {
        const Expr ranks = op("invert_permutation", {order});
        return build::let("ranks", ranks, [&](const Expr& rank) {
          return build::comprehension(dims, [&](const Indices& i) {
            const Expr last = build::sub(build::at(end, i), build::index_constant(1));
            return build::sub(last, build::at(rank, i));
          });
        });
      });
    });
  });
}

void add_equal_behind() {
  OpDef def;
  def.name = "equal_behind";
  def.is_step = true;
  def.level = 0;
  def.doc = "For each element of a vector of integers, how many behind it are equal, as int64.";
  def.example = "equal_behind([5, 7, 5, 5])\n// expect: [2, 0, 1, 0]";
  def.inputs = {{"data", "a vector of integers"}};
  def.type_rule = [](TypeCall& call) {
    const Shape shape = with_rank(call, call.tensor_node(0).shape, 1);
    call.solver.require(call.tensor_node(0).dtype, PrimOperands::kInt);
    call.returns(lang::tensor_type(shape, DTypeTerm(DType::Int64)));
    return RuleOutcome::Solved;
  };
  def.definition = equal_behind_definition;
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

// In the order of the places, those of one place stand together: the products of what stands before
// each and behind it are recurrences that begin anew where the place changes.
Expr others_at_definition(const DefinitionCall& call) {
  const std::vector<Dim>& dims = dims_of(call.args[0]);
  const DType dtype = call.tensor(0).dtype.known();
  const Expr zero = build::constant(dtype, 0);
  const Expr one = build::constant(dtype, 1);
  const auto in_order = [&](const Expr& row, const Expr& order) {
    return build::comprehension(
        dims, [&](const Indices& k) { return build::at(row, {build::at(order, k)}); });
  };
  return build::let("order", op("sort_order", {call.args[1]}), [&](const Expr& order) {
    return build::let("places", in_order(call.args[1], order), [&](const Expr& places) {
      return build::let("factors", in_order(call.args[0], order), [&](const Expr& x) {
        // By `step`, -1 or 1: the neighbour's position, and whether it has the same place.
        const auto neighbour = [&](const Expr& k, int step) {
          return clamp_index(build::add(k, build::index_constant(step)), 0, dims[0].constant() - 1);
        };
        const auto is_same = [&](const Expr& k, int step) {
          const Expr other = neighbour(k, step);
          return build::prim(
              Prim::And,
              {build::prim(Prim::Ne, {other, k}),
               build::prim(Prim::Eq, {build::at(places, {other}), build::at(places, {k})})});
        };
        const auto products = [&](int step) {
          const Expr terms = build::comprehension(dims, [&](const Indices& k) {
            return build::select(is_same(k[0], step), zero, one);
          });
          const Expr factors = build::comprehension(dims, [&](const Indices& k) {
            const Expr from = step < 0 ? neighbour(k[0], -1) : k[0];
            return build::select(is_same(k[0], -1), build::at(x, {from}), zero);
          });
          return op("linear_recurrence", {factors, terms}, {{"reverse", step > 0}});
        };
        return build::let("others", products(-1) * products(1), [&](const Expr& others) {
          return build::let("ranks", op("invert_permutation", {order}),
                            [&](const Expr& ranks) { return in_order(others, ranks); });
        });
      });
    });
  });
}

void add_product_of_others_at() {
  OpDef def;
  def.name = "product_of_others_at";
  def.is_step = true;
  def.level = 0;
  def.doc =
      "For each element of a vector the product of all others that have the same place; nothing is "
      "divided. The derivative of a scatter that multiplies is made of it.";
  def.example =
      "product_of_others_at([2.0, 0.0, 5.0, 3.0], [7, 1, 7, 7])\n// expect: [15.0, 1.0, 6.0, 10.0]";
  def.inputs = {{"data", "the factors"}, {"places", "integers, one for each"}};
  def.type_rule = [](TypeCall& call) {
    const Shape shape = with_rank(call, call.tensor_node(0).shape, 1);
    call.solver.unify(call.tensor_node(1).shape, shape);
    call.solver.require(call.tensor_node(0).dtype, PrimOperands::kFloat);
    call.solver.require(call.tensor_node(1).dtype, PrimOperands::kInt);
    call.returns(lang::tensor_type(shape, call.tensor_node(0).dtype));
    return RuleOutcome::Solved;
  };
  def.definition = others_at_definition;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_scattering_operators() {
  add_scatter_elements();
  add_scatter_nd();
  add_equal_behind();
  add_product_of_others_at();
}

}  // namespace relay::stdlib
