// Non-maximum suppression for each class: vision.all_class_non_max_suppression,
// vision.regular_non_max_suppression. A row of the suppression is a class of a batch.

#include <limits>

#include "lang/attrs_struct.h"
#include "stdlib/ops/image.h"
#include "stdlib/ops/sampling.h"
#include "stdlib/ops/suppression.h"
#include "stdlib/ops/types.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

// --- class_candidates: the boxes of each class from best to worst ---

RuleOutcome candidates_rule(TypeCall& call) {
  const Shape boxes = input_of_rank(call, 0, 3, PrimOperands::kFloat);
  const Shape scores = input_of_rank(call, 1, 3, PrimOperands::kFloat);
  for (const std::size_t input : {2, 3}) input_of_rank(call, input, 0, PrimOperands::kNumeric);
  call.solver.unify(boxes[2], Dim(4));
  call.solver.unify(scores[0], boxes[0]);
  call.solver.unify(scores[2], boxes[1]);
  const Dim rows = boxes[0] * scores[1];
  const Shape each({rows, boxes[1]});
  const Type bools = lang::tensor_type(each, DType::Bool);
  const DTypeTerm& dtype = as_tensor(call.tensor(0)).dtype;
  call.returns(lang::tuple_type({lang::tensor_type(each, DType::Int64),
                                 lang::tensor_type(Shape({rows, boxes[1], Dim(4)}), dtype), bools,
                                 bools, bools}));
  return RuleOutcome::Solved;
}

Expr candidates(const DefinitionCall& call) {
  const Expr& boxes = call.args[0];
  const Expr& scores = call.args[1];
  const std::int64_t classes = std::max<std::int64_t>(dims_of(scores)[1].constant(), 1);
  const bool inclusive = call.attrs->get_bool("inclusive");
  const Scalar limit = cast_scalar(call.tensor(1).dtype.known(), call.args[3]);
  const Scalar share = call.args[2];
  const Dim& count = dims_of(boxes)[1];
  const Dim rows = dims_of(boxes)[0] * dims_of(scores)[1];
  const auto score = [&](const Expr& row, const Expr& box) -> Scalar {
    return build::at(scores, {floor_div(row, classes), floor_mod(row, classes), box});
  };
  const auto each = [&](const std::function<Expr(const Indices&)>& element) {
    return build::comprehension({rows, count}, element);
  };
  const Expr keys = each([&](const Indices& i) -> Expr {
    const Scalar value = score(i[0], i[1]);
    return value.number(0) - value;
  });
  return build::let("order", op("sort_order", {keys}), [&](const Expr& order) {
    const Expr corners = build::comprehension({rows, count, Dim(4)}, [&](const Indices& i) -> Expr {
      const auto corner = [&](const Scalar& k) -> Scalar {
        return build::at(boxes, {floor_div(i[0], classes), build::at(order, {i[0], i[1]}), k});
      };
      const Scalar axis = floor_mod(i[2], 2);
      const Scalar a = corner(axis);
      const Scalar b = corner(axis + 2);
      return choose(Scalar(i[2]) < 2, min_of(a, b), max_of(a, b));
    });
    const Expr yes = build::constant(DType::Bool, 1);
    const Expr suppressed = each([&](const Indices& i) -> Expr {
      const Scalar value = score(i[0], build::at(order, i));
      const Scalar is_over = inclusive ? value >= limit : (value > limit) & (share > 0);
      return not_of(is_over);
    });
    const Expr same = each([&](const Indices&) { return yes; });
    return build::tuple({order, corners, same, same, suppressed});
  });
}

void add_class_candidates() {
  OpDef def;
  def.name = "class_candidates";
  def.is_step = true;
  def.level = 0;
  def.doc =
      "What suppression for each class begins with: for each class of each batch the order of the "
      "boxes by their\nscores, and in that order their corners, labels, whether they may suppress "
      "others, and whether they take no part.";
  def.example =
      "class_candidates([[[0.0, 0.0, 1.0, 1.0], [1.0, 0.0, 0.0, 1.0]]], [[[0.5, 0.9]]], 0.5, "
      "0.6).4\n"
      "// expect: [[False,  True]]";
  def.inputs = {{"boxes", "batch, boxes, corners"},
                {"scores", "batch, classes, boxes"},
                {"iou_threshold", "0 or less: no box takes part, unless `inclusive`"},
                {"score_threshold", "what a score must be above"}};
  def.attrs = {optional_attr("inclusive", AttrKind::Bool, false,
                             "a score of exactly the threshold takes part")};
  def.type_rule = candidates_rule;
  def.definition = candidates;
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

// Binds the order and the result of the suppression around body.
Expr with_suppression(const std::vector<Expr>& inputs, bool inclusive_score, bool inclusive_share,
                      const std::function<Expr(const Expr& order, const Expr& done)>& body) {
  const Expr begin = op("class_candidates", inputs, {{"inclusive", inclusive_score}});
  return build::let("candidates", begin, [&](const Expr& all) {
    std::vector<Expr> parts;
    const std::function<Expr()> bind = [&]() -> Expr {
      if (parts.size() < 5) {
        const auto field = static_cast<std::uint32_t>(parts.size());
        return build::let("part", build::project(all, field), [&](const Expr& part) {
          parts.push_back(part);
          return bind();
        });
      }
      Suppression given{parts[1], parts[2], parts[3], parts[4], inputs[2]};
      given.inclusive = inclusive_share;
      return build::let("suppressed", suppressed_boxes(given),
                        [&](const Expr& done) { return body(parts[0], done); });
    };
    return bind();
  });
}

// Which boxes stay: those of the first `most` of each row that are not suppressed.
Expr first_survivors(const Expr& suppressed, const std::optional<Scalar>& most,
                     const std::function<Expr(const Expr&)>& body) {
  const std::vector<Dim>& dims = dims_of(suppressed);
  const Expr kept = build::comprehension(dims, [&](const Indices& i) -> Expr {
    return choose(build::at(suppressed, i), build::index_constant(0), build::index_constant(1));
  });
  return build::let("kept", kept, [&](const Expr& ones) {
    const Expr ranks = op("cumsum", {ones}, {{"axis", 1}, {"exclusive", true}});
    return build::let("rank", ranks, [&](const Expr& rank) {
      const Expr stays = build::comprehension(dims, [&](const Indices& i) -> Expr {
        const Scalar is_kept = Scalar(build::at(ones, i)) == 1;
        if (!most) return is_kept;
        return is_kept & ((*most < 0) | (Scalar(build::at(rank, i)) < *most));
      });
      return build::let("stays", stays, body);
    });
  });
}

// --- all_class_survivors, vision.all_class_non_max_suppression ---

AttrSpec format_attr() {
  return optional_attr("output_format", AttrKind::String, "onnx",
                       "onnx: rows of batch, class and box; tensorflow: for each batch rows of "
                       "class and box, and scores");
}

void return_indices(TypeCall& call, const Dim& batch, const Dim& classes, const Dim& boxes) {
  check_one_of(call, "output_format", {"onnx", "tensorflow"});
  if (call.attrs->get_string("output_format") == "onnx") {
    call.returns(
        lang::tuple_type({lang::tensor_type(Shape({batch * classes * boxes, Dim(3)}), DType::Int64),
                          lang::tensor_type(Shape({Dim(1)}), DType::Int64)}));
    return;
  }
  const Dim all = classes * boxes;
  call.returns(lang::tuple_type({lang::tensor_type(Shape({batch, all, Dim(2)}), DType::Int64),
                                 lang::tensor_type(Shape({batch, all}), DType::Float32),
                                 lang::tensor_type(Shape({batch}), DType::Int64)}));
}

Expr all_class_survivors(const DefinitionCall& call) {
  const Expr& scores = call.args[0];
  const Expr& order = call.args[1];
  const bool is_onnx = call.attrs->get_string("output_format") == "onnx";
  const std::int64_t batch = dims_of(scores)[0].constant();
  const std::int64_t classes = std::max<std::int64_t>(dims_of(scores)[1].constant(), 1);
  const std::int64_t boxes = std::max<std::int64_t>(dims_of(scores)[2].constant(), 1);
  const std::int64_t all = dims_of(scores)[1].constant() * dims_of(scores)[2].constant();
  const std::vector<Dim> flat =
      is_onnx ? std::vector<Dim>{Dim(1), Dim(batch * all)} : std::vector<Dim>{Dim(batch), Dim(all)};
  const Scalar most = cast_scalar(DType::Int64, call.args[3]);
  return first_survivors(call.args[2], most, [&](const Expr& stays) {
    const Expr laid_out = build::comprehension(flat, [&](const Indices& i) -> Expr {
      const Scalar row = floor_div(i[1], boxes) + Scalar(i[0]) * static_cast<double>(classes);
      return build::at(stays, {row, floor_mod(i[1], boxes)});
    });
    return build::let("holds", laid_out, [&](const Expr& holds) {
      return build::let("counts", counts_of(holds), [&](const Expr& counts) {
        return build::let("first", those_first(holds), [&](const Expr& first) {
          // Batch, class and box of a place of the result.
          const auto parts = [&](const Expr& group, const Expr& place) {
            const Scalar at = build::at(first, {group, place});
            const Scalar row = floor_div(at, boxes) + Scalar(group) * static_cast<double>(classes);
            const Scalar box = build::at(order, {row, floor_mod(at, boxes)});
            return std::array<Scalar, 3>{floor_div(row, classes), floor_mod(row, classes), box};
          };
          const auto or_none = [&](const Expr& group, const Expr& place, const Scalar& value) {
            return choose(Scalar(place) < build::at(counts, {group}), value, value.number(-1)).expr;
          };
          if (is_onnx) {
            const Expr none = build::index_constant(0);
            const Expr rows = build::comprehension({flat[1], Dim(3)}, [&](const Indices& i) {
              const auto [b, c, box] = parts(none, i[0]);
              const Scalar k = i[1];
              return or_none(none, i[0], choose(k == 0, b, choose(k == 1, c, box)));
            });
            return build::tuple({rows, counts});
          }
          const Expr rows = build::comprehension({flat[0], flat[1], Dim(2)}, [&](const Indices& i) {
            const auto [b, c, box] = parts(i[0], i[1]);
            return or_none(i[0], i[1], choose(Scalar(i[2]) == 0, c, box));
          });
          const Expr found = build::comprehension(flat, [&](const Indices& i) {
            const auto [b, c, box] = parts(i[0], i[1]);
            return or_none(i[0], i[1], cast_scalar(DType::Float32, build::at(scores, {b, c, box})));
          });
          return build::tuple({rows, found, counts});
        });
      });
    });
  });
}

void add_all_class_survivors() {
  OpDef def;
  def.name = "all_class_survivors";
  def.is_step = true;
  def.level = 0;
  def.doc =
      "What `vision.all_class_non_max_suppression` ends with: its result, once suppression is "
      "done.";
  def.example =
      "all_class_survivors([[[0.5, 0.9]]], [[1i64, 0i64]], [[False, True]], 5)\n"
      "// expect: ([[0i64, 0, 1], [-1, -1, -1]], [1i64])";
  def.inputs = {{"scores", "batch, classes, boxes"},
                {"order", "of the boxes of each class of each batch"},
                {"suppressed", "in that order"},
                {"max_output_boxes_per_class", "negative: all"}};
  def.attrs = {format_attr()};
  def.type_rule = [](TypeCall& call) {
    const Shape scores = input_of_rank(call, 0, 3, PrimOperands::kFloat);
    const Shape rows({scores[0] * scores[1], scores[2]});
    call.solver.unify(call.tensor(1), lang::tensor_type(rows, DType::Int64));
    call.solver.unify(call.tensor(2), lang::tensor_type(rows, DType::Bool));
    input_of_rank(call, 3, 0, PrimOperands::kInt);
    return_indices(call, scores[0], scores[1], scores[2]);
    return RuleOutcome::Solved;
  };
  def.definition = all_class_survivors;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_all_class_non_max_suppression() {
  OpDef def;
  def.name = "vision.all_class_non_max_suppression";
  def.level = 5;
  def.doc =
      "For each class the boxes that do not overlap a better one by too much, as in ONNX.\n"
      "A box whose score is not above `score_threshold` takes no part; one that shares "
      "`iou_threshold` or more of the\narea that both cover with a better box that stays is "
      "dropped; "
      "with an `iou_threshold` of 0 or less nothing\nstays. Gives rows of indices, from the best "
      "score down within each class, and how many count; -1 fills what is\nbehind them. It is a "
      "loop "
      "with one pass over all boxes of all classes for each place at which one stays.";
  def.example =
      "vision.all_class_non_max_suppression([[[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.5]]],\n"
      "  [[[0.8, 0.9]]], 5, 0.5, 0.1)\n// expect: ([[0i64, 0, 1], [-1, -1, -1]], [1i64])";
  def.inputs = {{"boxes", "batch, boxes, corners"},
                {"scores", "batch, classes, boxes"},
                {"max_output_boxes_per_class", "negative: all"},
                {"iou_threshold", "how much two boxes may share"},
                {"score_threshold", "what a score must be above"}};
  def.attrs = {format_attr()};
  lang::set_attrs_struct(def.name, "AllClassNonMaximumSuppressionAttrs");
  def.type_rule = [](TypeCall& call) {
    const Shape boxes = input_of_rank(call, 0, 3, PrimOperands::kFloat);
    const Shape scores = input_of_rank(call, 1, 3, PrimOperands::kFloat);
    scalar_input(call, 2, PrimOperands::kInt);
    for (const std::size_t input : {3, 4}) scalar_input(call, input, PrimOperands::kNumeric);
    call.solver.unify(boxes[2], Dim(4));
    call.solver.unify(scores[0], boxes[0]);
    call.solver.unify(scores[2], boxes[1]);
    return_indices(call, boxes[0], scores[1], boxes[1]);
    return RuleOutcome::Solved;
  };
  def.expansion = [](const DefinitionCall& given) {
    return with_scalars(given, {2, 3, 4}, [](const DefinitionCall& call) {
      return with_suppression({call.args[0], call.args[1], call.args[3], call.args[4]}, false, true,
                              [&](const Expr& order, const Expr& done) {
                                return op("all_class_survivors",
                                          {call.args[1], order, done, call.args[2]},
                                          call.attrs->list);
                              });
    });
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- regular_survivors, vision.regular_non_max_suppression ---

std::vector<AttrSpec> regular_attrs() {
  return {
      required_attr("max_detections_per_class", AttrKind::Int, "boxes that stay of a class"),
      required_attr("max_detections", AttrKind::Int, "boxes of the result"),
      required_attr("num_classes", AttrKind::Int,
                    "how many classes there are; scores of more begin with the background"),
      required_attr("iou_threshold", AttrKind::Float, "two boxes may share so much and not more"),
      required_attr("score_threshold", AttrKind::Float, "the least score")};
}

void check_regular(const TypeCall& call) {
  for (const char* key : {"max_detections_per_class", "max_detections", "num_classes"}) {
    if (call.attrs->get_int(key) < 0)
      lang::fail(DiagnosticKind::BadAttribute, "`" + std::string(key) + "` must not be negative",
                 call.span);
  }
}

void return_detections(TypeCall& call, const Dim& batch) {
  const DTypeTerm& dtype = as_tensor(call.tensor(0)).dtype;
  const Dim count(call.attrs->get_int("max_detections"));
  const Type numbers = lang::tensor_type(Shape({batch, count}), dtype);
  call.returns(lang::tuple_type({lang::tensor_type(Shape({batch, count, Dim(4)}), dtype), numbers,
                                 numbers, lang::tensor_type(Shape({batch}), DType::Int32)}));
}

// `scores`: batch, classes, boxes.
Expr regular_survivors(const DefinitionCall& call) {
  const Expr& boxes = call.args[0];
  const Expr& scores = call.args[1];
  const Expr& order = call.args[2];
  const DType dtype = call.tensor(0).dtype.known();
  const std::int64_t batch = dims_of(scores)[0].constant();
  const std::int64_t classes = std::max<std::int64_t>(dims_of(scores)[1].constant(), 1);
  const std::int64_t count = std::max<std::int64_t>(dims_of(scores)[2].constant(), 1);
  const std::int64_t all = dims_of(scores)[1].constant() * dims_of(scores)[2].constant();
  const std::int64_t most = call.attrs->get_int("max_detections");
  const Scalar per_class = build::index_constant(call.attrs->get_int("max_detections_per_class"));
  return first_survivors(call.args[3], per_class, [&](const Expr& stays) {
    struct Place {
      Scalar row, label, position;
    };
    const auto place_of = [&](const Expr& group, const Scalar& at) -> Place {
      const Scalar label = floor_div(at, count);
      return {Scalar(group) * static_cast<double>(classes) + label, label, floor_mod(at, count)};
    };
    const auto score_at = [&](const Expr& group, const Place& place) -> Scalar {
      const Expr box = build::at(order, {place.row, place.position});
      return cast_scalar(dtype, build::at(scores, {group, place.label, box}));
    };
    const std::vector<Dim> flat = {Dim(batch), Dim(all)};
    const Expr holds_all = build::comprehension(flat, [&](const Indices& i) -> Expr {
      const Place place = place_of(i[0], i[1]);
      return build::at(stays, {place.row, place.position});
    });
    return build::let("holds", holds_all, [&](const Expr& holds) {
      const Expr keys = build::comprehension(flat, [&](const Indices& i) -> Expr {
        const Scalar score = score_at(i[0], place_of(i[0], i[1]));
        return choose(build::at(holds, i), score.number(0) - score,
                      score.number(std::numeric_limits<double>::infinity()));
      });
      return build::let("best", op("sort_order", {keys}), [&](const Expr& best) {
        return build::let("counts", counts_of(holds), [&](const Expr& counts) {
          const auto result = [&](const std::vector<Dim>& dims, const auto& value) {
            return build::comprehension(dims, [&](const Indices& i) -> Expr {
              if (all == 0) return build::constant(dtype, 0);
              const Scalar k = min_of(i[1], build::index_constant(all - 1));
              const Place place = place_of(i[0], build::at(best, {i[0], k}));
              const Scalar found = value(i, place);
              const Scalar is_there = Scalar(i[1]) < build::at(counts, {i[0]});
              return choose(is_there, found, found.number(0));
            });
          };
          const std::vector<Dim> dims = {Dim(batch), Dim(most)};
          const Expr corners =
              result({Dim(batch), Dim(most), Dim(4)}, [&](const Indices& i, const Place& place) {
                const Expr box = build::at(order, {place.row, place.position});
                return Scalar(build::at(boxes, {i[0], box, i[2]}));
              });
          const Expr labels = result(dims, [&](const Indices&, const Place& place) {
            return cast_scalar(dtype, place.label);
          });
          const Expr found = result(
              dims, [&](const Indices& i, const Place& place) { return score_at(i[0], place); });
          const Expr numbers = build::comprehension({Dim(batch)}, [&](const Indices& i) -> Expr {
            return cast_scalar(DType::Int32,
                               min_of(build::at(counts, i), build::index_constant(most)));
          });
          return build::tuple({corners, labels, found, numbers});
        });
      });
    });
  });
}

void add_regular_survivors() {
  OpDef def;
  def.name = "regular_survivors";
  def.is_step = true;
  def.level = 0;
  def.doc =
      "What `vision.regular_non_max_suppression` ends with: its result, once suppression is done.";
  def.example =
      "regular_survivors([[[0.0, 0.0, 1.0, 1.0]]], [[[0.5]]], [[0i64]], [[False]],\n"
      "  max_detections_per_class=1, max_detections=1, num_classes=1, iou_threshold=0.5, "
      "score_threshold=0.1).2\n// expect: [[0.5]]";
  def.inputs = {{"boxes", "batch, boxes, corners"},
                {"scores", "batch, classes, boxes"},
                {"order", "of the boxes of each class of each batch"},
                {"suppressed", "in that order"}};
  def.attrs = regular_attrs();
  def.type_rule = [](TypeCall& call) {
    check_regular(call);
    const Shape boxes = input_of_rank(call, 0, 3, PrimOperands::kFloat);
    const Shape scores = input_of_rank(call, 1, 3, PrimOperands::kFloat);
    const Shape rows({scores[0] * scores[1], scores[2]});
    call.solver.unify(call.tensor(2), lang::tensor_type(rows, DType::Int64));
    call.solver.unify(call.tensor(3), lang::tensor_type(rows, DType::Bool));
    return_detections(call, boxes[0]);
    return RuleOutcome::Solved;
  };
  def.definition = regular_survivors;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_regular_non_max_suppression() {
  OpDef def;
  def.name = "vision.regular_non_max_suppression";
  def.level = 5;
  def.doc =
      "For each class the boxes that do not overlap a better one by too much, and of all classes "
      "the best, as in TFLite.\n"
      "A box whose score is below `score_threshold` takes no part; one that shares more than "
      "`iou_threshold` of the area\nthat both cover with a better box that stays is dropped. Gives "
      "boxes, classes, scores and how many there are, all\nas numbers of the boxes' dtype; 0 fills "
      "what is behind them. It is a loop with one pass over all boxes of all\nclasses for each "
      "place "
      "at which one stays.";
  def.example =
      "vision.regular_non_max_suppression([[[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.5]]], [[[0.8], "
      "[0.9]]],\n  max_detections_per_class=2, max_detections=2, num_classes=1, iou_threshold=0.5, "
      "score_threshold=0.1).2\n// expect: [[0.9, 0.0]]";
  def.inputs = {{"boxes", "batch, boxes, corners"}, {"scores", "batch, boxes, classes"}};
  def.attrs = regular_attrs();
  lang::set_attrs_struct(def.name, "RegularNonMaximumSuppressionAttrs");
  def.type_rule = [](TypeCall& call) {
    check_regular(call);
    const Shape boxes = input_of_rank(call, 0, 3, PrimOperands::kFloat);
    const Shape scores = input_of_rank(call, 1, 3, PrimOperands::kFloat);
    call.solver.unify(boxes[2], Dim(4));
    call.solver.unify(scores[0], boxes[0]);
    call.solver.unify(scores[1], boxes[1]);
    if (scores[2].is_constant() && scores[2].constant() < call.attrs->get_int("num_classes")) {
      call.fail(DiagnosticKind::ShapeMismatch,
                "`num_classes` is " + std::to_string(call.attrs->get_int("num_classes")) +
                    ", and `scores` has " + scores[2].to_string() + " classes");
    }
    return_detections(call, boxes[0]);
    return RuleOutcome::Solved;
  };
  def.expansion = [](const DefinitionCall& call) {
    const std::int64_t classes = call.attrs->get_int("num_classes");
    const Expr by_class = op("transpose", {call.args[1]}, {{"axes", AttrValue::ints({0, 2, 1})}});
    const Expr foreground =
        classes == 0 ? op("strided_slice", {by_class},
                          {{"begin", AttrValue::ints({0})},
                           {"end", AttrValue::ints({0})},
                           {"axes", AttrValue::ints({1})}})
                     : op("strided_slice", {by_class},
                          {{"begin", AttrValue::ints({-classes})},
                           {"end", AttrValue::ints({std::numeric_limits<std::int32_t>::max()})},
                           {"axes", AttrValue::ints({1})}});
    const auto number = [&](const char* key) {
      return build::constant(DType::Float64, call.attrs->get_float(key));
    };
    return build::let("scores", foreground, [&](const Expr& scores) {
      return with_suppression(
          {call.args[0], scores, number("iou_threshold"), number("score_threshold")}, true, false,
          [&](const Expr& order, const Expr& done) {
            return op("regular_survivors", {call.args[0], scores, order, done}, call.attrs->list);
          });
    });
  };
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_class_suppression_operators() {
  add_class_candidates();
  add_all_class_survivors();
  add_all_class_non_max_suppression();
  add_regular_survivors();
  add_regular_non_max_suppression();
}

}  // namespace relay::stdlib
