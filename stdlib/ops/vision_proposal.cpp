// vision.proposal: regions of interest from a region proposal network (Faster R-CNN).

#include <cmath>

#include "stdlib/ops/image.h"
#include "stdlib/ops/sampling.h"
#include "stdlib/ops/suppression.h"
#include "stdlib/ops/types.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

std::vector<AttrSpec> proposal_attrs() {
  const auto list = [](std::vector<double> values) {
    AttrValue::List numbers(values.begin(), values.end());
    return AttrValue(std::move(numbers));
  };
  return {
      optional_attr("scales", AttrKind::FloatList, list({4, 8, 16, 32}), "sizes of the anchors"),
      optional_attr("ratios", AttrKind::FloatList, list({0.5, 1, 2}),
                    "heights of the anchors over their widths"),
      optional_attr("feature_stride", AttrKind::Int, 16,
                    "distance of two places of the feature map in the image"),
      optional_attr("threshold", AttrKind::Float, 0.7,
                    "two regions may share so much and not more"),
      optional_attr("rpn_pre_nms_top_n", AttrKind::Int, 6000,
                    "how many of the best regions are looked at"),
      optional_attr("rpn_post_nms_top_n", AttrKind::Int, 300, "regions of the result"),
      optional_attr("rpn_min_size", AttrKind::Int, 16,
                    "regions that are smaller, times the scale of the image, come last"),
      optional_attr("iou_loss", AttrKind::Bool, false,
                    "the network predicts corners instead of centres and extents")};
}

std::int64_t anchor_count(const AttrsRef& attrs) {
  return static_cast<std::int64_t>(attrs->get_floats("scales").size() *
                                   attrs->get_floats("ratios").size());
}

struct ProposalShapes {
  Dim batch;
  Dim boxes;  // that are looked at
};

ProposalShapes check_proposal(TypeCall& call) {
  for (const char* key : {"scales", "ratios"}) {
    const std::vector<double> values = call.attrs->get_floats(key);
    bool fits = !values.empty();
    for (const double value : values) fits = fits && value > 0;
    if (!fits)
      lang::fail(DiagnosticKind::BadAttribute,
                 "`" + std::string(key) + "` must be positive numbers", call.span);
  }
  for (const char* key : {"feature_stride", "rpn_pre_nms_top_n", "rpn_post_nms_top_n"}) {
    if (call.attrs->get_int(key) < 1)
      lang::fail(DiagnosticKind::BadAttribute, "`" + std::string(key) + "` must be at least 1",
                 call.span);
  }
  const auto ranked = [&](std::size_t input, std::size_t rank) {
    return input_of_rank(call, input, rank, PrimOperands::kFloat);
  };
  const Shape scores = ranked(0, 4);
  const Shape moves = ranked(1, 4);
  const Shape info = ranked(2, 2);
  const DTypeTerm& dtype = as_tensor(call.tensor(0)).dtype;
  for (const std::size_t input : {1, 2})
    call.solver.unify(as_tensor(call.tensor(input)).dtype, dtype);
  const Dim anchors(anchor_count(call.attrs));
  call.solver.unify(scores[1], anchors * Dim(2));
  call.solver.unify(moves, Shape({scores[0], anchors * Dim(4), scores[2], scores[3]}));
  call.solver.unify(info, Shape({scores[0], Dim(3)}));
  check_has_elements(call, scores, {2, 3});
  const Dim all = anchors * scores[2] * scores[3];
  const std::int64_t most = call.attrs->get_int("rpn_pre_nms_top_n");
  return {scores[0], all.is_constant() ? Dim(std::min(all.constant(), most)) : Dim::any()};
}

// The corners of the anchors at the first place, for each ratio those of all scales.
std::array<std::vector<double>, 4> anchor_corners(const AttrsRef& attrs) {
  std::array<std::vector<double>, 4> corners;
  const auto base = static_cast<double>(attrs->get_int("feature_stride"));
  const double centre = 0.5 * (base - 1);
  for (const double ratio : attrs->get_floats("ratios")) {
    const double width = std::floor(std::sqrt(std::floor(base * base / ratio)) + 0.5);
    const double height = std::floor(width * ratio + 0.5);
    for (const double scale : attrs->get_floats("scales")) {
      const double half_width = 0.5 * (width * scale - 1);
      const double half_height = 0.5 * (height * scale - 1);
      corners[0].push_back(centre - half_width);
      corners[1].push_back(centre - half_height);
      corners[2].push_back(centre + half_width);
      corners[3].push_back(centre + half_height);
    }
  }
  return corners;
}

// Regions as the network predicts them, numbered by row, column and anchor.
struct Regions {
  const DefinitionCall& call;
  DType dtype;
  std::int64_t anchors, width;

  explicit Regions(const DefinitionCall& call)
      : call(call),
        dtype(call.tensor(0).dtype.known()),
        anchors(anchor_count(call.attrs)),
        width(dims_of(call.args[0])[3].constant()) {}

  Scalar row(const Scalar& n) const { return floor_div(floor_div(n, anchors), width); }
  Scalar column(const Scalar& n) const { return floor_mod(floor_div(n, anchors), width); }
  Scalar anchor(const Scalar& n) const { return floor_mod(n, anchors); }
  Scalar info(const Expr& batch, std::int64_t k) const {
    return build::at(call.args[2], {batch, build::index_constant(k)});
  }
  Scalar move(const Expr& batch, const Scalar& n, const Scalar& k) const {
    return build::at(call.args[1], {batch, anchor(n) * 4 + k, row(n), column(n)});
  }
  // Corner `k` (x1, y1, x2, y2) inside the image.
  Scalar corner(const Expr& batch, const Scalar& n, const Scalar& k) const {
    const auto corners = anchor_corners(call.attrs);
    const Scalar is_x = floor_mod(k, 2) == 0;
    const auto stride = static_cast<double>(call.attrs->get_int("feature_stride"));
    const Scalar shift = cast_scalar(dtype, choose(is_x, column(n), row(n))) * stride;
    const auto side = [&](std::size_t low) {
      return choose(is_x, pick(corners[low], anchor(n), dtype),
                    pick(corners[low + 1], anchor(n), dtype)) +
             shift;
    };
    const Scalar low = side(0);
    const Scalar high = side(2);
    const Scalar is_low = k < 2;
    const Scalar last = choose(is_x, info(batch, 1), info(batch, 0)) - 1;
    const auto inside = [&](const Scalar& x) { return max_of(min_of(x, last), x.number(0)); };
    if (call.attrs->get_bool("iou_loss"))
      return inside(choose(is_low, low, high) + move(batch, n, k));
    const Scalar axis = floor_mod(k, 2);
    const Scalar extent = high - low + 1;
    const Scalar centre = move(batch, n, axis) * extent + (low + 0.5 * (extent - 1));
    const Scalar length = Scalar(build::prim(Prim::Exp, {move(batch, n, axis + 2)})) * extent;
    const Scalar half = 0.5 * (length - 1);
    return inside(choose(is_low, centre - half, centre + half));
  }
};

RuleOutcome proposal_candidates_rule(TypeCall& call) {
  const ProposalShapes shapes = check_proposal(call);
  const Shape rows({shapes.batch, shapes.boxes});
  const Type bools = lang::tensor_type(rows, DType::Bool);
  call.returns(lang::tuple_type({lang::tensor_type(Shape({shapes.batch, shapes.boxes, Dim(4)}),
                                                   as_tensor(call.tensor(0)).dtype),
                                 bools, bools, bools}));
  return RuleOutcome::Solved;
}

Expr ordered(const DefinitionCall& call, const Expr& corners, const Expr& small,
             const Expr& order) {
  const Regions regions(call);
  const auto& types = static_cast<const lang::TupleType&>(*call.result);
  const std::vector<Dim>& dims = as_tensor(types.fields[0]).shape.dims();
  const auto least = static_cast<double>(call.attrs->get_int("rpn_min_size"));
  const Expr best = build::comprehension(dims, [&](const Indices& i) -> Expr {
    const Expr n = build::at(order, {i[0], i[1]});
    const Scalar value = build::at(corners, {i[0], n, i[2]});
    const Scalar more = regions.info(i[0], 2) * (least / 2);
    const Scalar grown = choose(Scalar(i[2]) < 2, value - more, value + more);
    return choose(build::at(small, {i[0], n}), grown, value);
  });
  const auto all = [&](bool value) {
    return build::comprehension({dims[0], dims[1]}, [&](const Indices&) {
      return build::constant(DType::Bool, value ? 1 : 0);
    });
  };
  return build::tuple({best, all(true), all(true), all(false)});
}

Expr proposal_candidates(const DefinitionCall& call) {
  const Regions regions(call);
  const std::vector<Dim>& dims = dims_of(call.args[0]);
  const Dim batch = dims[0];
  const Dim count(regions.anchors * dims[2].constant() * dims[3].constant());
  const auto stride = static_cast<double>(call.attrs->get_int("feature_stride"));
  const auto least = static_cast<double>(call.attrs->get_int("rpn_min_size"));
  const Expr predicted = build::comprehension(
      {batch, count, Dim(4)},
      [&](const Indices& i) -> Expr { return regions.corner(i[0], i[1], i[2]); });
  return build::let("corners", predicted, [&](const Expr& corners) {
    const Expr too_small = build::comprehension({batch, count}, [&](const Indices& i) -> Expr {
      const auto side = [&](std::int64_t k) -> Scalar {
        return build::at(corners, {i[0], i[1], build::index_constant(k)});
      };
      const Scalar limit = regions.info(i[0], 2) * least;
      return (side(2) - side(0) + 1 < limit) | (side(3) - side(1) + 1 < limit);
    });
    return build::let("small", too_small, [&](const Expr& small) {
      const Expr keys = build::comprehension({batch, count}, [&](const Indices& i) -> Expr {
        const Scalar n = i[1];
        const Scalar score =
            build::at(call.args[0], {i[0], regions.anchor(n) + static_cast<double>(regions.anchors),
                                     regions.row(n), regions.column(n)});
        const Scalar rows = to_index(regions.info(i[0], 0) / stride);
        const Scalar columns = to_index(regions.info(i[0], 1) / stride);
        const Scalar is_out =
            (regions.row(n) >= rows) | (regions.column(n) >= columns) | Scalar(build::at(small, i));
        return score.number(0) - choose(is_out, score.number(-1), score);
      });
      return build::let("order", op("sort_order", {keys}),
                        [&](const Expr& order) { return ordered(call, corners, small, order); });
    });
  });
}

void add_proposal_candidates() {
  OpDef def;
  def.name = "proposal_candidates";
  def.is_step = true;
  def.level = 0;
  def.doc =
      "What `vision.proposal` begins with: the corners of the best regions of each image from the "
      "highest score down,\nand as bools their labels, whether they may suppress others, and "
      "whether "
      "they take no part.";
  def.example =
      "proposal_candidates([[[[0.1]], [[0.9]]]], [[[[0.0]], [[0.0]], [[0.0]], [[0.0]]]], [[8.0, "
      "8.0, "
      "1.0]],\n  scales=[1.0], ratios=[1.0], feature_stride=4, rpn_min_size=1).0\n"
      "// expect: [[[0.0, 0.0, 3.0, 3.0]]]";
  def.inputs = {
      {"cls_prob", "scores: batch, background and foreground of each anchor, height, width"},
      {"bbox_pred",
       "how the regions differ: batch, four numbers for each anchor, height, "
       "width"},
      {"im_info", "a row for each image: height, width, scale"}};
  def.attrs = proposal_attrs();
  def.type_rule = proposal_candidates_rule;
  def.definition = proposal_candidates;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- proposal_regions: the result, once suppression is done ---

void add_proposal_regions() {
  OpDef def;
  def.name = "proposal_regions";
  def.is_step = true;
  def.level = 0;
  def.doc = "What `vision.proposal` ends with: the regions that stay, over and over, as rows.";
  def.example =
      "proposal_regions([[[0.0, 0.0, 3.0, 3.0], [1.0, 1.0, 2.0, 2.0]]], [[False, True]], count=2)\n"
      "// expect: [[0.0, 0.0, 0.0, 3.0, 3.0], [0.0, 0.0, 0.0, 3.0, 3.0]]";
  def.inputs = {{"corners", "batch, regions, corners"},
                {"suppressed", "which regions do not stay; not all of them"}};
  def.attrs = {required_attr("count", AttrKind::Int, "regions of the result for each image")};
  def.type_rule = [](TypeCall& call) {
    const Shape corners = with_rank(call, as_tensor(call.tensor(0)).shape, 3);
    call.solver.unify(corners[2], Dim(4));
    call.solver.unify(call.tensor(1),
                      lang::tensor_type(Shape({corners[0], corners[1]}), DType::Bool));
    call.returns(lang::tensor_type(Shape({corners[0] * Dim(call.attrs->get_int("count")), Dim(5)}),
                                   as_tensor(call.tensor(0)).dtype));
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    const std::int64_t count = call.attrs->get_int("count");
    const Expr& corners = call.args[0];
    const std::vector<Dim>& dims = dims_of(corners);
    const DType dtype = call.tensor(0).dtype.known();
    const Expr kept = build::comprehension({dims[0], dims[1]}, [&](const Indices& i) -> Expr {
      return not_of(build::at(call.args[1], i));
    });
    return build::let("kept", kept, [&](const Expr& holds) {
      return build::let("counts", counts_of(holds), [&](const Expr& counts) {
        return build::let("first", those_first(holds), [&](const Expr& first) {
          return build::comprehension(
              as_tensor(call.result).shape.dims(), [&](const Indices& i) -> Expr {
                const Scalar batch = floor_div(i[0], count);
                const Scalar some = max_of(build::at(counts, {batch}), build::index_constant(1));
                const Expr place = build::prim(Prim::FloorMod, {floor_mod(i[0], count), some});
                const Scalar side =
                    build::at(corners, {batch, build::at(first, {batch, place}),
                                        max_of(Scalar(i[1]) - 1, build::index_constant(0))});
                return choose(Scalar(i[1]) == 0, cast_scalar(dtype, batch), side);
              });
        });
      });
    });
  };
  lang::OpRegistry::instance().add(std::move(def));
}

void add_proposal() {
  OpDef def;
  def.name = "vision.proposal";
  def.level = 5;
  def.doc =
      "Regions of interest from a region proposal network, as rows of image, x1, y1, x2, y2.\n"
      "Anchors at all places are moved as predicted and cut off at the image; the best "
      "`rpn_pre_nms_top_n` are looked at\nfrom the highest score down, and one that shares more "
      "than "
      "`threshold` of the area that both cover (extents counted\nin elements) with a better one "
      "that "
      "stays is dropped. Where fewer stay than `rpn_post_nms_top_n`, they are repeated\nin order. "
      "It "
      "is a loop with one pass over the regions for each place at which one stays.";
  def.example =
      "vision.proposal([[[[0.1]], [[0.9]]]], [[[[0.0]], [[0.0]], [[0.0]], [[0.0]]]], [[8.0, 8.0, "
      "1.0]],\n  scales=[1.0], ratios=[1.0], feature_stride=4, rpn_min_size=1, "
      "rpn_post_nms_top_n=1)\n// expect: [[0.0, 0.0, 0.0, 3.0, 3.0]]";
  def.inputs = {
      {"cls_prob", "scores: batch, background and foreground of each anchor, height, width"},
      {"bbox_pred",
       "how the regions differ: batch, four numbers for each anchor, height, "
       "width"},
      {"im_info", "a row for each image: height, width, scale"}};
  def.attrs = proposal_attrs();
  def.type_rule = [](TypeCall& call) {
    const ProposalShapes shapes = check_proposal(call);
    call.returns(lang::tensor_type(
        Shape({shapes.batch * Dim(call.attrs->get_int("rpn_post_nms_top_n")), Dim(5)}),
        as_tensor(call.tensor(0)).dtype));
    return RuleOutcome::Solved;
  };
  def.expansion = [](const DefinitionCall& call) {
    const Expr begin = op("proposal_candidates", call.args, call.attrs->list);
    return build::let("candidates", begin, [&](const Expr& all) {
      const auto part = [&](std::uint32_t field, const auto& body) {
        return build::let("part", build::project(all, field), body);
      };
      return part(0, [&](const Expr& corners) {
        return part(1, [&](const Expr& labels) {
          return part(2, [&](const Expr& active) {
            return part(3, [&](const Expr& none) {
              Suppression given{
                  corners, labels, active, none,
                  build::constant(DType::Float64, call.attrs->get_float("threshold"))};
              given.inclusive = false;
              given.closed = true;
              return op("proposal_regions", {corners, suppressed_boxes(given)},
                        {{"count", call.attrs->get_int("rpn_post_nms_top_n")}});
            });
          });
        });
      });
    });
  };
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_proposal_operators() {
  add_proposal_candidates();
  add_proposal_regions();
  add_proposal();
}

}  // namespace relay::stdlib
