// vision.get_valid_counts, vision.non_max_suppression.

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

// A column of the boxes that an attribute names.
void check_column(const TypeCall& call, const char* key, const Dim& columns, std::int64_t least,
                  std::int64_t count = 1) {
  const std::int64_t column = call.attrs->get_int(key);
  if (column >= least && (!columns.is_constant() || column + count <= columns.constant())) return;
  lang::fail(DiagnosticKind::BadAttribute,
             "`" + std::string(key) + "` is " + std::to_string(column) + ", and a box has " +
                 columns.to_string() + " elements",
             call.span);
}

Scalar column_of(const Expr& data, const Expr& row, const Expr& box, std::int64_t column) {
  return build::at(data, {row, box, build::index_constant(column)});
}

// --- vision.get_valid_counts ---

RuleOutcome valid_counts_rule(TypeCall& call) {
  const Shape data = input_of_rank(call, 0, 3, PrimOperands::kFloat);
  scalar_input(call, 1, PrimOperands::kNumeric);
  check_column(call, "score_index", data[2], 0);
  check_column(call, "id_index", data[2], std::numeric_limits<std::int64_t>::min());
  const DTypeTerm& dtype = as_tensor(call.tensor(0)).dtype;
  call.returns(lang::tuple_type({lang::tensor_type(Shape({data[0]}), DType::Int32),
                                 lang::tensor_type(data, dtype),
                                 lang::tensor_type(Shape({data[0], data[1]}), DType::Int32)}));
  return RuleOutcome::Solved;
}

Expr valid_counts(const DefinitionCall& call) {
  const Expr& data = call.args[0];
  const std::vector<Dim>& dims = dims_of(data);
  const std::int64_t score = call.attrs->get_int("score_index");
  const std::int64_t id = call.attrs->get_int("id_index");
  const Scalar threshold = cast_scalar(call.tensor(0).dtype.known(), call.args[1]);
  const Expr valid = build::comprehension({dims[0], dims[1]}, [&](const Indices& i) -> Expr {
    const Scalar is_over = column_of(data, i[0], i[1], score) > threshold;
    return id < 0 ? is_over : is_over & (column_of(data, i[0], i[1], id) >= 0);
  });
  return build::let("valid", valid, [&](const Expr& holds) {
    return build::let("counts", counts_of(holds), [&](const Expr& counts) {
      return build::let("order", those_first(holds), [&](const Expr& order) {
        const Expr numbers = build::comprehension({dims[0]}, [&](const Indices& i) -> Expr {
          return cast_scalar(DType::Int32, build::at(counts, i));
        });
        const Expr boxes = build::comprehension(dims, [&](const Indices& i) -> Expr {
          const Scalar value = build::at(data, {i[0], build::at(order, {i[0], i[1]}), i[2]});
          return choose(Scalar(i[1]) < build::at(counts, {i[0]}), value, value.number(-1));
        });
        const Expr places = build::comprehension({dims[0], dims[1]}, [&](const Indices& i) -> Expr {
          const Scalar place = build::at(order, i);
          return cast_scalar(DType::Int32, choose(Scalar(i[1]) < build::at(counts, {i[0]}), place,
                                                  place.number(-1)));
        });
        return build::tuple({numbers, boxes, places});
      });
    });
  });
}

void add_get_valid_counts() {
  OpDef def;
  def.name = "vision.get_valid_counts";
  def.level = 5;
  def.doc =
      "The boxes whose score is above a threshold, moved to the front.\n"
      "Gives how many there are in each batch, the boxes, and where they stood. What is behind "
      "them "
      "is -1. A score\nthat is NaN is not above anything.";
  def.example =
      "vision.get_valid_counts([[[0.0, 0.2], [0.0, 0.9]]], 0.5)\n"
      "// expect: ([1], [[[ 0.0, 0.9], [-1.0, -1.0]]], [[ 1, -1]])";
  def.inputs = {{"data", "boxes: batch, boxes, elements of a box"},
                {"score_threshold", "what a score must be above, as a scalar"}};
  def.attrs = {nullable_attr("score_threshold", AttrKind::Any,
                             "Relay's texts repeat the input here; unused"),
               optional_attr("id_index", AttrKind::Int, 0,
                             "which element is the class; a box of a negative class does not "
                             "count. Negative: none is"),
               optional_attr("score_index", AttrKind::Int, 1, "which element is the score")};
  def.type_rule = valid_counts_rule;
  def.definition = [](const DefinitionCall& call) { return with_scalars(call, {1}, valid_counts); };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- vision.non_max_suppression ---

std::vector<AttrSpec> suppression_attrs() {
  return {
      optional_attr("force_suppress", AttrKind::Bool, false,
                    "boxes suppress others whatever their classes are"),
      optional_attr("top_k", AttrKind::Int, -1,
                    "how many of the best boxes are looked at; 0 or less: all"),
      optional_attr("coord_start", AttrKind::Int, 2, "the first of four elements: the corners"),
      optional_attr("score_index", AttrKind::Int, 1, "which element is the score"),
      optional_attr("id_index", AttrKind::Int, 0, "which element is the class; negative: none is"),
      optional_attr("return_indices", AttrKind::Bool, true,
                    "give indices of boxes instead of boxes"),
      optional_attr("invalid_to_bottom", AttrKind::Bool, false, "boxes that survive stand first")};
}

Shape suppression_shapes(TypeCall& call) {
  const Shape data = input_of_rank(call, 0, 3, PrimOperands::kFloat);
  const Shape counts = input_of_rank(call, 1, 1, PrimOperands::kInt);
  call.solver.unify(counts[0], data[0]);
  check_column(call, "score_index", data[2], 0);
  check_column(call, "coord_start", data[2], 0, 4);
  check_column(call, "id_index", data[2], std::numeric_limits<std::int64_t>::min());
  return data;
}

// nms_candidates: the boxes of each batch from best to worst, as suppression_step takes them.

RuleOutcome suppression_candidates_rule(TypeCall& call) {
  const Shape data = suppression_shapes(call);
  input_of_rank(call, 2, 0, PrimOperands::kNumeric);
  const DTypeTerm& dtype = as_tensor(call.tensor(0)).dtype;
  const Shape rows({data[0], data[1]});
  const Type bools = lang::tensor_type(rows, DType::Bool);
  call.returns(lang::tuple_type({lang::tensor_type(rows, DType::Int64),
                                 lang::tensor_type(Shape({data[0], data[1], Dim(4)}), dtype),
                                 lang::tensor_type(rows, dtype), bools, bools}));
  return RuleOutcome::Solved;
}

// The positions of the valid boxes from the highest score down, NaN behind them; then the others.
Expr order_by_score(const Expr& data, const Expr& counts, std::int64_t score) {
  const std::vector<Dim>& dims = dims_of(data);
  const Expr keys = build::comprehension({dims[0], dims[1]}, [&](const Indices& i) -> Expr {
    const Scalar value = column_of(data, i[0], i[1], score);
    const Scalar count = cast_scalar(DType::Int64, build::at(counts, {i[0]}));
    const Scalar is_number = (Scalar(i[1]) < count) & (value == value);
    return choose(is_number, value.number(0) - value,
                  value.number(std::numeric_limits<double>::infinity()));
  });
  return op("sort_order", {keys});
}

// How many boxes of a batch are looked at.
Scalar looked_at(const Expr& counts, const Expr& row, std::int64_t top_k) {
  const Scalar count = cast_scalar(DType::Int64, build::at(counts, {row}));
  return top_k > 0 ? min_of(count, build::index_constant(top_k)) : count;
}

Expr suppression_candidates(const DefinitionCall& call) {
  const Expr& data = call.args[0];
  const Expr& counts = call.args[1];
  const std::int64_t score = call.attrs->get_int("score_index");
  const std::int64_t id = call.attrs->get_int("id_index");
  const std::int64_t first = call.attrs->get_int("coord_start");
  const bool any_class = id < 0 || call.attrs->get_bool("force_suppress");
  const std::vector<Dim>& dims = dims_of(data);
  const std::vector<Dim> rows = {dims[0], dims[1]};
  const Scalar threshold = call.args[2];
  return build::let("order", order_by_score(data, counts, score), [&](const Expr& order) {
    const auto column = [&](const Indices& i, std::int64_t which) {
      return column_of(data, i[0], build::at(order, {i[0], i[1]}), which);
    };
    const Expr corners =
        build::comprehension({dims[0], dims[1], Dim(4)}, [&](const Indices& i) -> Expr {
          const Expr box = build::at(order, {i[0], i[1]});
          const auto corner = [&](const Scalar& k) -> Scalar {
            return build::at(data, {i[0], box, k + static_cast<double>(first)});
          };
          const Scalar axis = floor_mod(i[2], 2);
          const Scalar a = corner(axis);
          const Scalar b = corner(axis + 2);
          return choose(Scalar(i[2]) < 2, min_of(a, b), max_of(a, b));
        });
    const Expr labels = build::comprehension(rows, [&](const Indices& i) -> Expr {
      return any_class ? column(i, score).number(0) : column(i, id);
    });
    const Expr active = build::comprehension(rows, [&](const Indices& i) -> Expr {
      const Scalar yes = build::constant(DType::Bool, 1);
      return id < 0 ? yes : column(i, id) >= 0;
    });
    const Expr suppressed = build::comprehension(rows, [&](const Indices& i) -> Expr {
      const Scalar is_candidate =
          (Scalar(i[1]) < looked_at(counts, i[0], call.attrs->get_int("top_k"))) &
          (column(i, score) > 0) & (threshold > 0);
      return not_of(is_candidate);
    });
    return build::tuple({order, corners, labels, active, suppressed});
  });
}

// nms_survivors: from which boxes are suppressed to the result.

RuleOutcome survivors_rule(TypeCall& call, std::size_t first) {
  const Shape data = suppression_shapes(call);
  const Shape rows({data[0], data[1]});
  const Shape indices = input_of_rank(call, first, 2, PrimOperands::kInt);
  call.solver.unify(indices, rows);
  scalar_input(call, first + 1, PrimOperands::kInt);
  scalar_input(call, first + 2, PrimOperands::kNumeric);
  if (!call.attrs->get_bool("return_indices")) {
    call.returns(lang::tensor_type(data, as_tensor(call.tensor(0)).dtype));
  } else {
    call.returns(lang::tuple_type({lang::tensor_type(rows, DType::Int32),
                                   lang::tensor_type(Shape({data[0], Dim(1)}), DType::Int32)}));
  }
  return RuleOutcome::Solved;
}

struct Survivors {
  const DefinitionCall& call;
  Expr data, counts, indices, most, threshold, order, suppressed;

  std::vector<Dim> rows() const { return {dims_of(data)[0], dims_of(data)[1]}; }
  // Which box stands at a place of the result.
  Scalar box(const Indices& i) const {
    return choose(Scalar(threshold) > 0, build::at(order, {i[0], i[1]}), i[1]);
  }
  // How many survive before each box.
  Expr ranks() const {
    const Expr kept = build::comprehension(rows(), [&](const Indices& i) -> Expr {
      return choose(build::at(suppressed, i), build::index_constant(0), build::index_constant(1));
    });
    return op("cumsum", {kept}, {{"axis", 1}, {"exclusive", true}, {"dtype", DType::Int64}});
  }
  // A box that has no positive score takes no part, and stays.
  Expr stays(const Expr& rank) const {
    return build::comprehension(rows(), [&](const Indices& i) -> Expr {
      const std::int64_t score = call.attrs->get_int("score_index");
      const Scalar limit = cast_scalar(DType::Int64, most);
      const Scalar has_room = (limit < 0) | (Scalar(build::at(rank, i)) < limit);
      const Scalar takes_part = column_of(data, i[0], build::at(order, i), score) > 0;
      const Scalar survives =
          has_room & (not_of(build::at(suppressed, i)) | not_of(takes_part)) &
          (Scalar(i[1]) < looked_at(counts, i[0], call.attrs->get_int("top_k")));
      const Scalar is_valid = Scalar(i[1]) < cast_scalar(DType::Int64, build::at(counts, {i[0]}));
      return choose(Scalar(threshold) > 0, survives, is_valid);
    });
  }
};

Expr surviving_indices(const Survivors& given, const Expr& stays) {
  const std::vector<Dim> rows = given.rows();
  const Expr found = build::comprehension(rows, [&](const Indices& i) -> Expr {
    const Scalar index = cast_scalar(DType::Int32, build::at(given.indices, {i[0], given.box(i)}));
    return choose(build::at(stays, i), index, index.number(-1));
  });
  return build::let("found", found, [&](const Expr& index) {
    const Expr there = build::comprehension(
        rows, [&](const Indices& i) -> Expr { return Scalar(build::at(index, i)) >= 0; });
    return build::let("there", there, [&](const Expr& holds) {
      return build::let("counts", counts_of(holds), [&](const Expr& counts) {
        return build::let("first", those_first(holds), [&](const Expr& first) {
          const Expr moved = build::comprehension(rows, [&](const Indices& i) -> Expr {
            const Scalar value = build::at(index, {i[0], build::at(first, i)});
            return choose(Scalar(i[1]) < build::at(counts, {i[0]}), value, value.number(-1));
          });
          const Expr numbers =
              build::comprehension({rows[0], Dim(1)}, [&](const Indices& i) -> Expr {
                return cast_scalar(DType::Int32, build::at(counts, {i[0]}));
              });
          return build::tuple({moved, numbers});
        });
      });
    });
  });
}

Expr surviving_boxes(const Survivors& given, const Expr& stays, bool to_front) {
  const std::vector<Dim>& dims = dims_of(given.data);
  const Expr boxes = build::comprehension(dims, [&](const Indices& i) -> Expr {
    const Scalar value = build::at(given.data, {i[0], given.box(i), i[2]});
    return choose(build::at(stays, {i[0], i[1]}), value, value.number(-1));
  });
  if (!to_front) return boxes;
  return build::let("boxes", boxes, [&](const Expr& all) {
    const Expr there = build::comprehension(
        given.rows(), [&](const Indices& i) -> Expr { return column_of(all, i[0], i[1], 0) >= 0; });
    return build::let("there", there, [&](const Expr& holds) {
      return build::let("counts", counts_of(holds), [&](const Expr& counts) {
        return build::let("first", those_first(holds), [&](const Expr& first) {
          return build::comprehension(dims, [&](const Indices& i) -> Expr {
            const Scalar value = build::at(all, {i[0], build::at(first, {i[0], i[1]}), i[2]});
            return choose(Scalar(i[1]) < build::at(counts, {i[0]}), value, value.number(-1));
          });
        });
      });
    });
  });
}

Expr survivors(const DefinitionCall& call) {
  const Survivors given{call,         call.args[0], call.args[1], call.args[4],
                        call.args[5], call.args[6], call.args[2], call.args[3]};
  return build::let("rank", given.ranks(), [&](const Expr& rank) {
    return build::let("stays", given.stays(rank), [&](const Expr& stays) {
      return call.attrs->get_bool("return_indices")
                 ? surviving_indices(given, stays)
                 : surviving_boxes(given, stays, call.attrs->get_bool("invalid_to_bottom"));
    });
  });
}

void add_nms_candidates() {
  OpDef def;
  def.name = "nms_candidates";
  def.is_step = true;
  def.level = 0;
  def.doc =
      "What `vision.non_max_suppression` begins with: the order of the boxes by their scores, and "
      "in "
      "that order\ntheir corners, labels, whether they may suppress others, and whether they take "
      "no "
      "part.";
  def.example =
      "nms_candidates([[[0.0, 0.5, 0.0, 0.0, 1.0, 1.0], [0.0, 0.9, 1.0, 0.0, 0.0, 1.0]]], [2], "
      "0.5).0\n// expect: [[1, 0]]";
  def.inputs = {{"data", "boxes: batch, boxes, elements of a box"},
                {"valid_count", "how many boxes of each batch count"},
                {"iou_threshold", "0 or less: none takes part"}};
  def.attrs = suppression_attrs();
  def.type_rule = suppression_candidates_rule;
  def.definition = suppression_candidates;
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_nms_survivors() {
  OpDef def;
  def.name = "nms_survivors";
  def.is_step = true;
  def.level = 0;
  def.doc = "What `vision.non_max_suppression` ends with: its result, once suppression is done.";
  def.example =
      "nms_survivors([[[0.0, 0.5, 0.0, 0.0, 1.0, 1.0], [0.0, 0.9, 1.0, 0.0, 0.0, 1.0]]], [2],\n"
      "  [[1i64, 0i64]], [[False, True]], [[0, 1]], -1, 0.5)\n// expect: ([[ 1, -1]], [[1]])";
  def.inputs = {{"data", "boxes: batch, boxes, elements of a box"},
                {"valid_count", "how many boxes of each batch count"},
                {"order", "of the boxes, from best to worst"},
                {"suppressed", "in that order"},
                {"indices", "what stands for each box in the result"},
                {"max_output_size", "how many boxes survive at most; negative: all"},
                {"iou_threshold", "0 or less: the result is what was valid"}};
  def.attrs = suppression_attrs();
  def.type_rule = [](TypeCall& call) {
    const Type& first = call.tensor(0);
    const Shape data = with_rank(call, as_tensor(first).shape, 3);
    const Shape rows({data[0], data[1]});
    call.solver.unify(call.tensor(2), lang::tensor_type(rows, DType::Int64));
    call.solver.unify(call.tensor(3), lang::tensor_type(rows, DType::Bool));
    return survivors_rule(call, 4);
  };
  def.definition = survivors;
  lang::OpRegistry::instance().add(std::move(def));
}

Expr non_max_suppression(const DefinitionCall& call) {
  const Expr& data = call.args[0];
  const std::vector<lang::Attr>& attrs = call.attrs->list;
  const Expr begin = op("nms_candidates", {data, call.args[1], call.args[4]}, attrs);
  return build::let("candidates", begin, [&](const Expr& all) {
    const auto part = [&](std::uint32_t field, const char* name, auto body) {
      return build::let(name, build::project(all, field), body);
    };
    return part(1, "corners", [&](const Expr& corners) {
      return part(2, "labels", [&](const Expr& labels) {
        return part(3, "active", [&](const Expr& active) {
          return part(4, "none", [&](const Expr& none) {
            const Expr done = suppressed_boxes({corners, labels, active, none, call.args[4]});
            return op("nms_survivors",
                      {data, call.args[1], build::project(all, 0), done, call.args[2], call.args[3],
                       call.args[4]},
                      attrs);
          });
        });
      });
    });
  });
}

void add_non_max_suppression() {
  OpDef def;
  def.name = "vision.non_max_suppression";
  def.level = 5;
  def.doc =
      "Boxes that overlap a better one by too much are dropped, from the highest score down.\n"
      "A box is dropped if it shares `iou_threshold` or more of the area that both cover with a "
      "better box that stays,\nof its own class unless `force_suppress`. Boxes of a negative class "
      "drop no others. Scores of 0 and less take no\npart. Equal scores keep their order. Gives "
      "the "
      "indices of the boxes that stay and how many they are (-1 behind\nthem), or, without "
      "`return_indices`, the boxes in the order of their scores with -1 in the place of those "
      "that\n"
      "were dropped. It is a loop with one pass over all boxes for each box that stays.";
  def.example =
      "vision.non_max_suppression([[[0.0, 0.8, 0.0, 0.0, 2.0, 2.0], [0.0, 0.9, 0.0, 0.0, 2.0, "
      "1.5],\n"
      "  [0.0, 0.7, 5.0, 5.0, 6.0, 6.0]]], [3], [[0, 1, 2]], -1, 0.5)\n"
      "// expect: ([[ 1,  2, -1]], [[2]])";
  def.inputs = {
      {"data", "boxes: batch, boxes, elements of a box"},
      {"valid_count", "how many boxes of each batch count"},
      {"indices", "what stands for each box in the result"},
      {"max_output_size", "how many boxes stay at most; negative: all"},
      {"iou_threshold", "how much two boxes may share; 0 or less: all stay, as they are"}};
  def.attrs = suppression_attrs();
  lang::set_attrs_struct(def.name, "NonMaximumSuppressionAttrs");
  def.type_rule = [](TypeCall& call) { return survivors_rule(call, 2); };
  def.expansion = [](const DefinitionCall& call) {
    return with_scalars(call, {3, 4}, non_max_suppression);
  };
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_suppression_operators() {
  add_get_valid_counts();
  add_nms_candidates();
  add_nms_survivors();
  add_non_max_suppression();
}

}  // namespace relay::stdlib
