// Padding: nn.pad, nn.mirror_pad, nn.dilate.

#include "lang/call_form.h"
#include "stdlib/ops/formula.h"
#include "stdlib/ops/types.h"
#include "stdlib/ops/window.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

struct Width {
  std::int64_t front;
  std::int64_t back;
};

// `pad_width`: a pair for each axis.
std::vector<Width> widths_of(const AttrsRef& attrs) {
  std::vector<Width> widths;
  for (const AttrValue& pair : *attrs->find("pad_width")->as_list()) {
    const AttrValue::List& ends = *pair.as_list();
    widths.push_back({*ends[0].as_int(), *ends[1].as_int()});
  }
  return widths;
}

bool is_list_of_pairs(const AttrValue& value) {
  if (!value.as_list()) return false;
  for (const AttrValue& pair : *value.as_list()) {
    const AttrValue::List* ends = pair.as_list();
    if (!ends || ends->size() != 2 || !(*ends)[0].as_int() || !(*ends)[1].as_int()) return false;
  }
  return true;
}

// Result: the data's type with every axis longer by its widths. `least_kept`: a mirror image needs
// an axis longer than the width by this.
RuleOutcome pad_rule(TypeCall& call, std::optional<std::int64_t> least_kept) {
  const AttrValue& given = *call.attrs->find("pad_width");
  if (!is_list_of_pairs(given))
    bad_attribute(
        call, "`pad_width` must be a pair of integers for each axis, such as `[[0, 0], [1, 1]]`");
  const std::vector<Width> widths = widths_of(call.attrs);
  const Type data = call.tensor(0);
  const Shape known = result_shape(call, as_tensor(data).dtype);
  const Shape& shape = as_tensor(data).shape;
  if (shape.has_rank() && shape.rank() != widths.size()) {
    bad_attribute(call, "`pad_width` has " + std::to_string(widths.size()) + " pairs and `" +
                            to_string(shape) + "` has rank " + std::to_string(shape.rank()));
  }
  const Shape from = with_rank(call, shape, widths.size());
  const Shape to = with_rank(call, known, widths.size());
  for (std::size_t axis = 0; axis < widths.size(); ++axis) {
    const auto [front, back] = widths[axis];
    const Dim kept = from[axis] + Dim(front) + Dim(back);
    if (kept.is_constant() && kept.constant() < 0) {
      bad_attribute(call, "`pad_width` cuts off more than axis " + std::to_string(axis) +
                              " of extent " + from[axis].to_string() + " has");
    }
    if (least_kept && from[axis].is_constant() &&
        std::max(front, back) > from[axis].constant() - *least_kept) {
      bad_attribute(call, "axis " + std::to_string(axis) + " of extent " + from[axis].to_string() +
                              " is too short to be reflected over " +
                              std::to_string(std::max(front, back)));
    }
    call.solver.unify(to[axis], kept);
  }
  return RuleOutcome::Solved;
}

// The nearest element of an axis is there, unless it has none.
void check_has_edges(const TypeCall& call, const Shape& shape) {
  if (!shape.has_rank()) return;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    if (!shape[axis].is_constant(0)) continue;
    bad_attribute(call,
                  "axis " + std::to_string(axis) + " has no element that `edge` could repeat");
  }
}

// Where element `out` of a padded axis comes from: the nearest element, or a reflection in the ends
// (`edge`: 1 repeats the end itself, 0 does not).
Expr nearest_inside(const Expr& index, const Expr& extent) {
  const Expr above = build::prim(Prim::Max, {index, build::index_constant(0)});
  return build::prim(Prim::Min, {above, build::sub(extent, build::index_constant(1))});
}

Expr reflected(const Expr& index, const Expr& extent, std::int64_t edge) {
  // Below 0: -index - edge. From extent on: 2 * extent - 2 + edge - index.
  const Expr below = build::sub(build::index_constant(-edge), index);
  const Expr last = build::add(extent, extent);
  const Expr above = build::sub(build::add(last, build::index_constant(edge - 2)), index);
  const Expr from_front =
      build::select(build::prim(Prim::Lt, {index, build::index_constant(0)}), below, index);
  const Expr source = build::select(build::prim(Prim::Ge, {index, extent}), above, from_front);
  return nearest_inside(source, extent);
}

using SourceOf = std::function<Expr(const Expr& index, const Expr& extent)>;

Expr padded_by(const Expr& data, const std::vector<Width>& widths, const SourceOf& source) {
  const std::vector<Dim>& dims = dims_of(data);
  std::vector<Dim> result;
  for (std::size_t axis = 0; axis < dims.size(); ++axis)
    result.push_back(dims[axis] + Dim(widths[axis].front + widths[axis].back));
  return build::comprehension(result, [&](const Indices& out) {
    Indices inside = out;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      const auto [front, back] = widths[axis];
      if (front == 0 && back == 0) continue;
      inside[axis] =
          source(build::sub(out[axis], build::index_constant(front)), extent_expr(dims[axis]));
    }
    return build::at(data, inside);
  });
}

// The data with `value` at its ends. Dims may be symbolic.
Expr padded_with(const Expr& data, const std::vector<Width>& widths, const Expr& value) {
  const std::vector<Dim>& dims = dims_of(data);
  std::vector<Dim> result;
  bool same = true;
  bool empty = false;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    result.push_back(dims[axis] + Dim(widths[axis].front + widths[axis].back));
    same &= widths[axis].front == 0 && widths[axis].back == 0;
    empty |= dims[axis].is_constant(0);
  }
  if (same) return data;
  return build::comprehension(result, [&](const Indices& out) {
    if (empty) return value;
    Indices inside = out;
    Expr is_inside;
    const auto require = [&](const Expr& condition) {
      is_inside = is_inside ? build::prim(Prim::And, {is_inside, condition}) : condition;
    };
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      const auto [front, back] = widths[axis];
      if (front == 0 && back == 0) continue;
      const Expr extent = extent_expr(dims[axis]);
      const Expr own = build::sub(out[axis], build::index_constant(front));
      if (front > 0) require(build::prim(Prim::Ge, {own, build::index_constant(0)}));
      if (back > 0) require(build::prim(Prim::Lt, {own, extent}));
      // `select` evaluates both sides, so the index must be good outside too.
      const Expr above = build::prim(Prim::Max, {own, build::index_constant(0)});
      inside[axis] = build::prim(Prim::Min, {above, build::sub(extent, build::index_constant(1))});
    }
    // A width that cuts off leaves nothing outside.
    const Expr read = build::at(data, inside);
    return is_inside ? build::select(is_inside, read, value) : read;
  });
}

// Adds each element of the adjoint to the element that it was copied from.
Expr scattered_back(const Expr& data, const Expr& dout, const std::vector<Width>& widths,
                    const SourceOf& source) {
  return scatter_into(data, dout, [&](const Indices& out) {
    Indices inside = out;
    for (std::size_t axis = 0; axis < out.size(); ++axis) {
      const auto [front, back] = widths[axis];
      if (front == 0 && back == 0) continue;
      inside[axis] =
          source(build::sub(out[axis], build::index_constant(front)), extent_of(data, axis));
    }
    return inside;
  });
}

SourceOf source_of(const std::string& mode) {
  if (mode == "edge") return nearest_inside;
  const std::int64_t edge = mode == "SYMMETRIC" ? 1 : 0;
  return [edge](const Expr& index, const Expr& extent) { return reflected(index, extent, edge); };
}

void add_pad() {
  OpDef def;
  def.name = "nn.pad";
  def.level = 2;
  def.doc =
      "The data with more elements at the ends of its axes: a value, the nearest element (`edge`) "
      "or "
      "the\nelements next to the end mirrored (`reflect`, which does not repeat the end itself).\n"
      "A negative width cuts elements off.";
  def.example =
      "nn.pad([1, 2, 3], 0, pad_width=[[1, 2]])\n// expect: [0, 1, 2, 3, 0, 0]\n"
      "nn.pad([1, 2, 3], 0, pad_width=[[2, 0]], pad_mode=\"reflect\")\n// expect: [3, 2, 1, 2, 3]";
  def.inputs = {{"data", "the tensor"},
                {"pad_value", "a scalar: what is put around it, in the dtype of the data"}};
  def.attrs = {
      required_attr("pad_width", AttrKind::Any,
                    "for each axis how many elements in front and behind, as `[[0, 0], [1, 1]]`"),
      optional_attr("pad_mode", AttrKind::String, "constant", "`constant`, `edge` or `reflect`")};
  def.type_rule = [](TypeCall& call) {
    const std::string& mode = call.attrs->get_string("pad_mode");
    if (mode != "constant" && mode != "edge" && mode != "reflect")
      bad_attribute(call, "`pad_mode` is `constant`, `edge` or `reflect`, not `" + mode + "`");
    const Type data = call.tensor(0);
    const Type value = call.tensor(1);
    call.solver.unify(as_tensor(value).shape, Shape());
    call.solver.require(as_tensor(value).dtype, PrimOperands::kAnyDType);
    if (mode == "reflect") return pad_rule(call, 1);
    if (mode == "edge") check_has_edges(call, as_tensor(data).shape);
    return pad_rule(call, std::nullopt);
  };
  def.definition = [](const DefinitionCall& call) {
    const std::vector<Width> widths = widths_of(call.attrs);
    const std::string& mode = call.attrs->get_string("pad_mode");
    if (mode != "constant") return padded_by(call.args[0], widths, source_of(mode));
    return padded_with(call.args[0], widths,
                       build::cast_to(call.tensor(0).dtype.known(), call.args[1]));
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const std::vector<Width> widths = widths_of(call.attrs);
    const std::string& mode = call.attrs->get_string("pad_mode");
    const Expr& data = call.args[0];
    if (mode != "constant")
      return {scattered_back(data, call.dout, widths, source_of(mode)), nullptr};
    // Padding by the negated widths undoes it: what was added is cut off, what was cut off is 0.
    AttrValue::List undone;
    for (const Width& width : widths)
      undone.push_back(AttrValue::ints({-width.front, -width.back}));
    const Expr inside = op("nn.pad", {call.dout, build::scalar_like(call.dout, 0)},
                           {{"pad_width", AttrValue(std::move(undone))}});
    if (!is_float_tensor(call.args[1])) return {inside, nullptr};
    const Expr around = op("sum", {call.dout}) - op("sum", {inside});
    return {inside, op("cast_like", {around, call.args[1]})};
  };
  lang::set_input_forms(def.name, {{}, {.default_value = 0}});
  lang::OpRegistry::instance().add(std::move(def));
}

void add_mirror_pad() {
  OpDef def;
  def.name = "nn.mirror_pad";
  def.level = 2;
  def.doc =
      "The data continued at its ends by its mirror image: `SYMMETRIC` repeats the end itself, "
      "`REFLECT`\ndoes not.";
  def.example =
      "nn.mirror_pad([1, 2, 3], pad_width=[[2, 1]])\n// expect: [2, 1, 1, 2, 3, 3]\n"
      "nn.mirror_pad([1, 2, 3], mode=\"REFLECT\", pad_width=[[2, 1]])\n// expect: [3, 2, 1, 2, 3, "
      "2]";
  def.inputs = {{"data", "the tensor"}};
  def.attrs = {optional_attr("mode", AttrKind::String, "SYMMETRIC", "`SYMMETRIC` or `REFLECT`"),
               required_attr("pad_width", AttrKind::Any,
                             "for each axis how many elements in front and behind")};
  def.type_rule = [](TypeCall& call) {
    const std::string& mode = call.attrs->get_string("mode");
    if (mode != "SYMMETRIC" && mode != "REFLECT")
      bad_attribute(call, "`mode` is `SYMMETRIC` or `REFLECT`, not `" + mode + "`");
    return pad_rule(call, mode == "REFLECT" ? 1 : 0);
  };
  def.definition = [](const DefinitionCall& call) {
    return padded_by(call.args[0], widths_of(call.attrs),
                     source_of(call.attrs->get_string("mode")));
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {scattered_back(call.args[0], call.dout, widths_of(call.attrs),
                           source_of(call.attrs->get_string("mode")))};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- nn.dilate: fill values between the elements ---

void add_dilate() {
  OpDef def;
  def.name = "nn.dilate";
  def.level = 10;
  def.doc =
      "The elements moved apart: along each axis `stride - 1` fill values between two of them.";
  def.example = "nn.dilate([1, 2, 3], strides=[2])\n// expect: [1, 0, 2, 0, 3]";
  def.inputs = {{"data", "the tensor"}};
  def.attrs = {optional_attr("strides", AttrKind::IntList, AttrValue::ints({1, 1}),
                             "for each axis, 1 or more"),
               optional_attr("dilation_value", AttrKind::Float, 0.0, "the fill value")};
  def.type_rule = [](TypeCall& call) {
    const std::vector<std::int64_t> strides = call.attrs->get_ints("strides");
    const Type data = call.tensor(0);
    const Shape known = result_shape(call, as_tensor(data).dtype);
    const Shape& shape = as_tensor(data).shape;
    if (shape.has_rank() && shape.rank() != strides.size()) {
      bad_attribute(call, "`strides` has " + std::to_string(strides.size()) + " values and `" +
                              to_string(shape) + "` has rank " + std::to_string(shape.rank()));
    }
    const Shape from = with_rank(call, shape, strides.size());
    const Shape to = with_rank(call, known, strides.size());
    for (std::size_t axis = 0; axis < strides.size(); ++axis) {
      if (strides[axis] < 1) bad_attribute(call, "`strides` must be at least 1");
      call.solver.unify(to[axis], (from[axis] - Dim(1)) * Dim(strides[axis]) + Dim(1));
    }
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    const std::vector<std::int64_t> strides = call.attrs->get_ints("strides");
    const Expr& data = call.args[0];
    const DType dtype = call.tensor(0).dtype.known();
    const Expr fill = build::cast_to(
        dtype, build::constant(DType::Float64, call.attrs->get_float("dilation_value")));
    return build::comprehension(
        lang::as<TensorType>(call.result)->shape.dims(), [&](const Indices& out) {
          Indices inside = out;
          Expr holds;
          for (std::size_t axis = 0; axis < out.size(); ++axis) {
            if (strides[axis] == 1) continue;
            const Expr stride = build::index_constant(strides[axis]);
            inside[axis] = build::prim(Prim::FloorDiv, {out[axis], stride});
            const Expr hit = build::prim(
                Prim::Eq,
                {build::prim(Prim::FloorMod, {out[axis], stride}), build::index_constant(0)});
            holds = holds ? build::prim(Prim::And, {holds, hit}) : hit;
          }
          const Expr read = build::at(data, inside);
          return holds ? build::select(holds, read, fill) : read;
        });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const std::vector<std::int64_t> strides = call.attrs->get_ints("strides");
    return {generate_like(call.args[0], [&](const Indices& out) {
      Indices indices = out;
      for (std::size_t axis = 0; axis < out.size(); ++axis)
        indices[axis] = build::mul(out[axis], build::index_constant(strides[axis]));
      return build::at(call.dout, indices);
    })};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_padding_operators() {
  add_pad();
  add_mirror_pad();
  add_dilate();
}

}  // namespace relay::stdlib
