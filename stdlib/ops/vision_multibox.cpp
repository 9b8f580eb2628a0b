// vision.multibox_prior, vision.multibox_transform_loc: the boxes of SSD.

#include <cmath>

#include "lang/attrs_struct.h"
#include "stdlib/ops/image.h"
#include "stdlib/ops/sampling.h"
#include "stdlib/ops/suppression.h"
#include "stdlib/ops/types.h"

namespace relay::stdlib {

namespace build = lang::build;

namespace {

void check_count(const TypeCall& call, const char* key, std::size_t least, std::size_t most) {
  const std::size_t count = call.attrs->get_floats(key).size();
  if (least <= count && count <= most) return;
  lang::fail(DiagnosticKind::BadAttribute,
             "`" + std::string(key) + "` has " + std::to_string(count) + " values, and must have " +
                 (least == most ? std::to_string(least) : "at least " + std::to_string(least)),
             call.span);
}

// --- vision.multibox_prior ---

constexpr std::size_t kAnyCount = 1 << 20;

RuleOutcome prior_rule(TypeCall& call) {
  check_count(call, "sizes", 1, kAnyCount);
  check_count(call, "ratios", 1, kAnyCount);
  check_count(call, "steps", 2, 2);
  check_count(call, "offsets", 2, 2);
  for (const double ratio : call.attrs->get_floats("ratios")) {
    if (!(ratio > 0))
      lang::fail(DiagnosticKind::BadAttribute, "`ratios` must be positive", call.span);
  }
  const Type data = call.tensor(0);
  call.solver.require(as_tensor(data).dtype, PrimOperands::kFloat);
  const Shape known = result_shape(call, as_tensor(data).dtype);
  const Shape from = with_rank(call, as_tensor(data).shape, 4);
  const std::size_t boxes =
      call.attrs->get_floats("sizes").size() + call.attrs->get_floats("ratios").size() - 1;
  call.solver.unify(
      known, Shape({Dim(1), from[2] * from[3] * Dim(static_cast<std::int64_t>(boxes)), Dim(4)}));
  return RuleOutcome::Solved;
}

Expr multibox_prior(const DefinitionCall& call) {
  const AttrsRef& attrs = call.attrs;
  const auto& result = as_tensor(call.result);
  const DType dtype = result.dtype.known();
  const std::vector<double> sizes = attrs->get_floats("sizes");
  const std::vector<double> ratios = attrs->get_floats("ratios");
  const std::vector<double> steps = attrs->get_floats("steps");
  const std::vector<double> offsets = attrs->get_floats("offsets");
  const std::int64_t height = dims_of(call.args[0])[2].constant();
  const std::int64_t width = dims_of(call.args[0])[3].constant();
  // Half the extents of each kind of box: all sizes with the first ratio, which counts as 1, then
  // the first size with the other ratios.
  std::vector<double> half_widths, half_heights;
  const double aspect = static_cast<double>(height) / static_cast<double>(width);
  for (const double size : sizes) {
    half_widths.push_back(size * aspect / 2);
    half_heights.push_back(size / 2);
  }
  for (std::size_t i = 1; i < ratios.size(); ++i) {
    half_widths.push_back(sizes[0] * aspect * std::sqrt(ratios[i]) / 2);
    half_heights.push_back(sizes[0] / std::sqrt(ratios[i]) / 2);
  }
  const auto kinds = static_cast<std::int64_t>(half_widths.size());
  const auto step = [](double given, std::int64_t extent) {
    return given > 0 ? given : 1 / static_cast<double>(extent);
  };
  return build::comprehension(result.shape.dims(), [&](const Indices& i) -> Expr {
    const Scalar kind = floor_mod(i[1], kinds);
    const Scalar place = floor_div(i[1], kinds);
    const Scalar y = cast_scalar(dtype, floor_div(place, width)) + offsets[0];
    const Scalar x = cast_scalar(dtype, floor_mod(place, width)) + offsets[1];
    const Scalar is_x = floor_mod(i[2], 2) == 0;
    const Scalar centre = choose(is_x, x * step(steps[1], width), y * step(steps[0], height));
    const Scalar half =
        choose(is_x, pick(half_widths, kind, dtype), pick(half_heights, kind, dtype));
    const Scalar side = choose(Scalar(i[2]) < 2, centre - half, centre + half);
    if (!attrs->get_bool("clip")) return side;
    return min_of(max_of(side, side.number(0)), side.number(1));
  });
}

void add_multibox_prior() {
  OpDef def;
  def.name = "vision.multibox_prior";
  def.level = 5;
  def.doc =
      "Prior boxes around the places of a feature map, as x1, y1, x2, y2 where the map is 1 wide "
      "and "
      "1 high.\n"
      "At each place stand boxes of all `sizes`, then boxes of the first size with the `ratios` "
      "behind the first.\nOnly the height and the width of the data count.";
  def.example =
      "vision.multibox_prior(zeros(shape=[1, 1, 1, 2], dtype=\"float32\"), sizes=[0.5])\n"
      "// expect: [[[0.125,  0.25, 0.375,  0.75], [0.625,  0.25, 0.875,  0.75]]]";
  def.inputs = {{"data", "the feature map: batch, channels, height, width"}};
  const auto list = [](std::vector<double> values) {
    AttrValue::List numbers(values.begin(), values.end());
    return AttrValue(std::move(numbers));
  };
  def.attrs = {optional_attr("sizes", AttrKind::FloatList, list({1.0}), "heights of the boxes"),
               optional_attr("ratios", AttrKind::FloatList, list({1.0}), "widths over heights"),
               optional_attr("steps", AttrKind::FloatList, list({-1.0, -1.0}),
                             "distances of rows and columns; 0 or less: as the map has them"),
               optional_attr("offsets", AttrKind::FloatList, list({0.5, 0.5}),
                             "where in a place of the map its boxes are centred: y, x"),
               optional_attr("clip", AttrKind::Bool, false, "cut the boxes off at 0 and 1")};
  lang::set_attrs_struct(def.name, "MultiBoxPriorAttrs");
  def.type_rule = prior_rule;
  def.definition = multibox_prior;
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- vision.multibox_transform_loc ---

RuleOutcome transform_rule(TypeCall& call) {
  check_count(call, "variances", 4, 4);
  if (call.attrs->get_bool("keep_background")) {
    lang::fail(DiagnosticKind::Unsupported,
               "not supported: `vision.multibox_transform_loc` with `keep_background`", call.span);
  }
  const auto ranked = [&](std::size_t input, std::size_t rank) {
    return input_of_rank(call, input, rank, PrimOperands::kFloat);
  };
  const Shape classes = ranked(0, 3);
  const Shape moves = ranked(1, 2);
  const Shape anchors = ranked(2, 3);
  const DTypeTerm& dtype = as_tensor(call.tensor(0)).dtype;
  for (const std::size_t input : {1, 2})
    call.solver.unify(as_tensor(call.tensor(input)).dtype, dtype);
  call.solver.unify(moves, Shape({classes[0], classes[2] * Dim(4)}));
  call.solver.unify(anchors, Shape({Dim(1), classes[2], Dim(4)}));
  call.returns(lang::tuple_type({lang::tensor_type(Shape({classes[0], classes[2], Dim(6)}), dtype),
                                 lang::tensor_type(Shape({classes[0]}), DType::Int32)}));
  return RuleOutcome::Solved;
}

struct Decoding {
  const DefinitionCall& call;
  DType dtype;

  std::vector<Dim> rows() const { return {dims_of(call.args[0])[0], dims_of(call.args[0])[2]}; }
  // The number of the best class behind the background; of equal ones the first. NaN is never best.
  Expr best() const {
    const std::int64_t classes = dims_of(call.args[0])[1].constant();
    return build::comprehension(rows(), [&](const Indices& i) -> Expr {
      if (classes < 2) return build::index_constant(0);
      const Scalar found =
          build::reduction(ReduceOp::ArgMax, {Dim(classes - 1)}, [&](const Indices& k) -> Expr {
            const Scalar p = build::at(call.args[0], {i[0], Scalar(k[0]) + 1, i[1]});
            return choose(p == p, p, p.number(-1));
          });
      return found + 1;
    });
  }
  Scalar score(const Expr& best, const Expr& row, const Expr& anchor) const {
    return build::at(call.args[0], {row, build::at(best, {row, anchor}), anchor});
  }
  // Corner `k` (x1, y1, x2, y2) of the box that an anchor has become.
  Scalar corner(const Expr& row, const Expr& anchor, const Scalar& k) const {
    const std::vector<double> variances = call.attrs->get_floats("variances");
    const Scalar axis = floor_mod(k, 2);
    const auto of_anchor = [&](const Scalar& side) -> Scalar {
      return build::at(call.args[2], {build::index_constant(0), anchor, side});
    };
    const auto move = [&](const Scalar& which) -> Scalar {
      return Scalar(build::at(call.args[1], {row, Scalar(anchor) * 4 + which})) *
             pick(variances, which, dtype);
    };
    const Scalar low = of_anchor(axis);
    const Scalar high = of_anchor(axis + 2);
    const Scalar extent = high - low;
    const Scalar centre = move(axis) * extent + (low + high) * 0.5;
    const Scalar half = Scalar(build::prim(Prim::Exp, {move(axis + 2)})) * extent * 0.5;
    const Scalar side = choose(k < 2, centre - half, centre + half);
    if (!call.attrs->get_bool("clip")) return side;
    return min_of(max_of(side, side.number(0)), side.number(1));
  }
};

Expr transform_loc(const DefinitionCall& call) {
  const Decoding decode{call, call.tensor(0).dtype.known()};
  const std::vector<Dim> rows = decode.rows();
  const bool has_classes = dims_of(call.args[0])[1].constant() > 1;
  const double threshold = call.attrs->get_float("threshold");
  return build::let("best", decode.best(), [&](const Expr& best) {
    const Expr valid = build::comprehension(rows, [&](const Indices& i) -> Expr {
      if (!has_classes) return build::constant(DType::Bool, 0);
      const Scalar score = decode.score(best, i[0], i[1]);
      return (score > -1) & (score >= threshold);
    });
    return build::let("valid", valid, [&](const Expr& holds) {
      return build::let("counts", counts_of(holds), [&](const Expr& counts) {
        return build::let("order", those_first(holds), [&](const Expr& order) {
          const Expr boxes =
              build::comprehension({rows[0], rows[1], Dim(6)}, [&](const Indices& i) -> Expr {
                const Expr anchor = build::at(order, {i[0], i[1]});
                const Scalar k = i[2];
                const Scalar label =
                    cast_scalar(decode.dtype, Scalar(build::at(best, {i[0], anchor})) - 1);
                const Scalar score = has_classes ? decode.score(best, i[0], anchor) : label;
                const Scalar side =
                    decode.corner(i[0], anchor, max_of(k - 2, build::index_constant(0)));
                const Scalar value = choose(k == 0, label, choose(k == 1, score, side));
                return choose(Scalar(i[1]) < build::at(counts, {i[0]}), value, value.number(-1));
              });
          const Expr numbers = build::comprehension({rows[0]}, [&](const Indices& i) -> Expr {
            return cast_scalar(DType::Int32, build::at(counts, i));
          });
          return build::tuple({boxes, numbers});
        });
      });
    });
  });
}

void add_multibox_transform_loc() {
  OpDef def;
  def.name = "vision.multibox_transform_loc";
  def.level = 5;
  def.doc =
      "The boxes that prior boxes have become: rows of class, score, x1, y1, x2, y2, and how many "
      "there are.\n"
      "The best class counts, not class 0, which is the background; classes of the result begin "
      "behind it. Boxes whose\nscore is below `threshold` are left out, and -1 fills the rows "
      "behind. A score that is NaN is never best.";
  def.example =
      "vision.multibox_transform_loc([[[0.1, 0.8], [0.9, 0.2]]], [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, "
      "0.0, "
      "0.0]],\n  [[[0.0, 0.0, 0.5, 1.0], [0.5, 0.0, 1.0, 1.0]]], threshold=0.5)\n"
      "// expect: ([[[ 0.0,  0.9,  0.0,  0.0,  0.5,  1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0]]], "
      "[1])";
  def.inputs = {{"cls_prob", "scores: batch, classes, anchors"},
                {"loc_pred", "how the boxes differ: batch, four numbers for each anchor"},
                {"anchor", "the prior boxes: 1, anchors, x1 y1 x2 y2"}};
  AttrValue::List variances = {AttrValue(0.1), AttrValue(0.1), AttrValue(0.2), AttrValue(0.2)};
  def.attrs = {optional_attr("clip", AttrKind::Bool, true, "cut the boxes off at 0 and 1"),
               optional_attr("threshold", AttrKind::Float, 0.01, "the least score"),
               optional_attr("variances", AttrKind::FloatList, AttrValue(std::move(variances)),
                             "what the four numbers are multiplied by"),
               optional_attr("keep_background", AttrKind::Bool, false, "not supported")};
  lang::set_attrs_struct(def.name, "MultiBoxTransformLocAttrs");
  def.type_rule = transform_rule;
  def.definition = transform_loc;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_multibox_operators() {
  add_multibox_prior();
  add_multibox_transform_loc();
}

}  // namespace relay::stdlib
