#include <algorithm>
#include <cstdlib>
#include <string>

#include "lang/attrs_struct.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/formula.h"
#include "stdlib/ops/stretch.h"
#include "stdlib/ops/types.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

OpDef reshaping(const char* name, int level, const char* doc, const char* example) {
  OpDef def;
  def.name = name;
  def.level = level;
  def.doc = doc;
  def.example = example;
  def.inputs = {{"data", "the tensor"}};
  // The same elements in row-major order under another shape.
  def.definition = [](const DefinitionCall& call) {
    const std::vector<Dim>& to = lang::as<TensorType>(call.result)->shape.dims();
    return build::comprehension(to, [&](const Indices& out) {
      return build::at(call.args[0],
                       reshape_indices(extents_of(dims_of(call.args[0])), extents_of(to), out));
    });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {op("reshape_like", {call.dout, call.args[0]})};
  };
  return def;
}

// --- reshape ---

// Reads `newshape` against a shape of known rank.
class ReshapeReader {
 public:
  ReshapeReader(const TypeCall& call, Shape from, std::vector<std::int64_t> codes)
      : call_(call), from_(std::move(from)), codes_(std::move(codes)) {}

  // The result's dims; nullopt for one that waits for an unknown.
  std::vector<std::optional<Dim>> read() {
    const std::vector<std::int64_t>& codes = codes_;
    const bool zero_is_copy = !call_.attrs->get_bool("allowzero");
    for (std::size_t k = 0; k < codes.size(); ++k) {
      const std::int64_t code = codes[k];
      if (code > 0 || (code == 0 && !zero_is_copy)) {
        if (next_ < from_.rank()) left_ = left_ * from_[next_++];
        right_ = right_ * code;
        out_.emplace_back(Dim(code));
      } else if (code == 0) {
        out_.emplace_back(take());
      } else if (code == -1) {
        if (inferred_) bad("`newshape` has more than one -1");
        inferred_ = out_.size();
        if (next_ < from_.rank()) left_ = left_ * from_[next_++];
        out_.emplace_back();
      } else if (code == -2) {
        while (next_ < from_.rank()) out_.emplace_back(take());
      } else if (code == -3) {
        const Dim first = take();
        out_.emplace_back(first * take());
      } else if (code == -4) {
        if (k + 2 >= codes.size()) bad("-4 in `newshape` must be followed by two extents");
        split(codes[k + 1], codes[k + 2]);
        k += 2;
      } else {
        bad("`newshape` holds " + std::to_string(code) +
            ", and must hold extents or codes from -4 to 0");
      }
    }
    while (next_ < from_.rank()) left_ = left_ * from_[next_++];
    settle();
    return out_;
  }

 private:
  Dim take() {
    if (next_ >= from_.rank()) {
      bad("`newshape` asks for more axes than `" + to_string(from_) + "` has");
    }
    return from_[next_++];
  }

  void split(std::int64_t first, std::int64_t second) {
    const Dim whole = take();
    if (first == -1 && second == -1) bad("-4 in `newshape` is followed by two -1");
    if (first < -1 || second < -1 || first == 0 || second == 0) {
      bad("-4 in `newshape` must be followed by two positive extents or one and -1");
    }
    const std::int64_t known = first == -1 ? second : first;
    const Dim rest = first == -1 || second == -1 ? Dim::floor_div(whole, known) : Dim(second);
    if (whole.is_constant() && !(rest * known == whole)) {
      bad("-4 in `newshape` cannot split " + whole.to_string() + " into " + std::to_string(first) +
          " and " + std::to_string(second));
    }
    out_.emplace_back(first == -1 ? rest : Dim(first));
    out_.emplace_back(first == -1 ? Dim(second) : rest);
  }

  // The -1, or the check that the number of elements stays.
  void settle() {
    if (!inferred_) {
      const bool disagree = left_.is_constant() && right_.is_constant() && !(left_ == right_);
      // Without elements all shapes agree, whatever has been copied.
      if (disagree && !(whole_from() == Dim(0) && whole_to() == Dim(0))) mismatch();
      return;
    }
    if (left_.is_constant() && right_.is_constant()) {
      const std::int64_t divisor = right_.constant();
      if (divisor == 0 || left_.constant() % divisor != 0) mismatch();
    }
    if (state_of(left_) != DimState::Flexible) out_[*inferred_] = Dim::floor_div(left_, right_);
  }

  [[noreturn]] void mismatch() const {
    std::string codes;
    for (const std::int64_t code : call_.attrs->get_ints("newshape")) {
      codes += (codes.empty() ? "" : ", ") + std::to_string(code);
    }
    // Counted whole where that can be done, else at each place on the axes that are copied.
    const bool is_whole =
        inferred_ ? left_ == whole_from() : whole_from().is_constant() && whole_to().is_constant();
    const Dim before = is_whole ? whole_from() : left_;
    const Dim after = is_whole && !inferred_ ? whole_to() : right_;
    const std::string elements = before == Dim(1) ? " element" : " elements";
    const std::string verdict =
        inferred_ ? (before == Dim(1) ? " is no multiple of " : " are no multiple of ")
                  : " against ";
    call_.fail(DiagnosticKind::ShapeMismatch,
               "cannot reshape `" + to_string(from_) + "` to `[" + codes +
                   "]`: " + before.to_string() + elements + verdict + after.to_string() +
                   (is_whole ? "" : " at each place on the axes that are copied"));
  }
  Dim whole_from() const {
    Dim whole = 1;
    for (const Dim& dim : from_.dims()) whole = whole * dim;
    return whole;
  }
  Dim whole_to() const {
    Dim whole = 1;
    for (const std::optional<Dim>& dim : out_) whole = whole * dim.value_or(Dim(1));
    return whole;
  }
  [[noreturn]] void bad(std::string message) const {
    call_.fail(DiagnosticKind::BadAttribute, std::move(message));
  }

  const TypeCall& call_;
  const Shape from_;
  const std::vector<std::int64_t> codes_;
  std::size_t next_ = 0;  // axis of from_
  std::vector<std::optional<Dim>> out_;
  std::optional<std::size_t> inferred_;  // where the -1 stands
  Dim left_ = 1;                         // elements of from_ that were not copied
  Dim right_ = 1;                        // elements of the extents that were written
};

// `from_right`: codes and axes are matched from the last to the first.
RuleOutcome reshape_rule(TypeCall& call, bool from_right) {
  const Type data = call.tensor(0);
  const auto& tensor = static_cast<const TensorType&>(*data);
  const Shape known = result_shape(call, tensor.dtype);
  std::vector<std::int64_t> codes = call.attrs->get_ints("newshape");
  std::vector<std::optional<Dim>> dims;
  if (tensor.shape.has_rank()) {
    std::vector<Dim> from = tensor.shape.dims();
    if (from_right) std::reverse(codes.begin(), codes.end());
    if (from_right) std::reverse(from.begin(), from.end());
    dims = ReshapeReader(call, Shape(std::move(from)), std::move(codes)).read();
    if (from_right) std::reverse(dims.begin(), dims.end());
  } else {
    for (const std::int64_t code : codes) {
      if (code < -1 || code == 0) return RuleOutcome::Stuck;
      dims.emplace_back(code == -1 ? std::nullopt : std::optional<Dim>(code));
    }
  }
  const Shape result = with_rank(call, known, dims.size());
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis]) call.solver.unify(result[axis], *dims[axis]);
  }
  return is_settled(tensor.shape) ? RuleOutcome::Solved : RuleOutcome::Stuck;
}

void add_reshape() {
  OpDef def = reshaping(
      "reshape", 3,
      "The same elements, row by row, under another shape.\n"
      "`newshape` lists extents. 0 copies the input's next extent, -1 is what remains, -2 copies "
      "all that "
      "remain, -3 joins the next two axes, -4 splits the next one into the two extents that "
      "follow.",
      "reshape([[1, 2, 3], [4, 5, 6]], newshape=[3, -1])\n// expect: [[1, 2], [3, 4], [5, 6]]");
  def.attrs = {required_attr("newshape", AttrKind::IntOrIntList, "extents and codes"),
               optional_attr("allowzero", AttrKind::Bool, false, "0 is an extent, not a code")};
  def.type_rule = [](TypeCall& call) { return reshape_rule(call, false); };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_reverse_reshape() {
  OpDef def = reshaping(
      "contrib_reverse_reshape", 10,
      "The same elements, row by row, under another shape, given by codes that are matched from "
      "the right.\n"
      "The codes are those of `reshape`, read from the last one to the first against the last axis "
      "to the first; so the two extents of -4 stand in front of it.",
      "contrib_reverse_reshape([[1, 2, 3], [4, 5, 6]], newshape=[-1, 0])\n"
      "// expect: [[1, 2, 3], [4, 5, 6]]");
  def.attrs = {required_attr("newshape", AttrKind::IntOrIntList, "extents and codes"),
               optional_attr("allowzero", AttrKind::Bool, false, "0 is an extent, not a code")};
  lang::set_attrs_struct(def.name, "ReshapeAttrs");
  def.type_rule = [](TypeCall& call) { return reshape_rule(call, true); };
  lang::OpRegistry::instance().add(std::move(def));
}

// `data` with axes [lhs_begin, lhs_end) replaced by the other's [rhs_begin, rhs_end).
RuleOutcome reshape_like_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const Type like = call.tensor(1);
  const auto& from = static_cast<const TensorType&>(*data);
  const Shape& to = static_cast<const TensorType&>(*like).shape;
  const Shape known = result_shape(call, from.dtype);
  const auto position = [&](const char* key, const Shape& shape) {
    if (call.attrs->is_null(key)) return shape.rank();
    const std::int64_t axis = call.attrs->get_int(key);
    if (axis != static_cast<std::int64_t>(shape.rank())) check_axis(call, axis, shape);
    return position_of(axis, shape.rank());
  };
  const bool whole = call.attrs->get_int("lhs_begin") == 0 && call.attrs->is_null("lhs_end") &&
                     call.attrs->get_int("rhs_begin") == 0 && call.attrs->is_null("rhs_end");
  if (whole) call.solver.unify(known, to);
  if (!from.shape.has_rank() || !to.has_rank()) return RuleOutcome::Stuck;
  const std::size_t lhs_begin = position("lhs_begin", from.shape);
  const std::size_t lhs_end = position("lhs_end", from.shape);
  const std::size_t rhs_begin = position("rhs_begin", to);
  const std::size_t rhs_end = position("rhs_end", to);
  if (lhs_begin > lhs_end || rhs_begin > rhs_end) {
    call.fail(DiagnosticKind::BadAttribute, "a range of axes ends before it begins");
  }
  const std::vector<Dim>& a = from.shape.dims();
  const std::vector<Dim>& b = to.dims();
  std::vector<Dim> dims(a.begin(), a.begin() + lhs_begin);
  dims.insert(dims.end(), b.begin() + rhs_begin, b.begin() + rhs_end);
  dims.insert(dims.end(), a.begin() + lhs_end, a.end());
  const Dim before = product(a);
  const Dim after = product(dims);
  if (before.is_constant() && after.is_constant() && !(before == after)) {
    call.fail(DiagnosticKind::ShapeMismatch,
              "cannot reshape `" + to_string(from.shape) + "` to `" + to_string(Shape(dims)) +
                  "`: " + before.to_string() + " elements against " + after.to_string());
  }
  if (!whole) call.solver.unify(known, Shape(std::move(dims)));
  return is_settled(from.shape) && is_settled(to) ? RuleOutcome::Solved : RuleOutcome::Stuck;
}

void add_reshape_like() {
  OpDef def =
      reshaping("reshape_like", 3,
                "The elements of the first input under the shape of the second.\n"
                "With `lhs_` and `rhs_` attributes only a range of the axes is replaced.",
                "reshape_like([1, 2, 3, 4], [[0, 0], [0, 0]])\n// expect: [[1, 2], [3, 4]]");
  def.inputs.push_back({"shape_like", "a tensor of the wanted shape"});
  def.attrs = {
      optional_attr("lhs_begin", AttrKind::Int, 0, "first axis of the data to replace"),
      nullable_attr("lhs_end", AttrKind::Int, "the axis after the last one; None: the end"),
      optional_attr("rhs_begin", AttrKind::Int, 0, "first axis of the other to take"),
      nullable_attr("rhs_end", AttrKind::Int, "the axis after the last one; None: the end")};
  def.type_rule = reshape_like_rule;
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {op("reshape_like", {call.dout, call.args[0]}), nullptr};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

void add_batch_flatten() {
  OpDef def = reshaping("nn.batch_flatten", 2, "All axes but the first joined into one.",
                        "nn.batch_flatten([[[1], [2]], [[3], [4]]])\n// expect: [[1, 2], [3, 4]]");
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    const auto& tensor = static_cast<const TensorType&>(*data);
    const Shape result = with_rank(call, result_shape(call, tensor.dtype), 2);
    if (!tensor.shape.has_rank()) return RuleOutcome::Stuck;
    if (tensor.shape.rank() == 0) {
      call.fail(DiagnosticKind::RankMismatch,
                "`nn.batch_flatten` of a scalar: there is no first axis");
    }
    call.solver.unify(result[0], tensor.shape[0]);
    const std::vector<Dim>& dims = tensor.shape.dims();
    const Dim rest = product(std::vector<Dim>(dims.begin() + 1, dims.end()));
    if (state_of(rest) == DimState::Flexible && dims.size() > 2) return RuleOutcome::Stuck;
    call.solver.unify(result[1], rest);
    return RuleOutcome::Solved;
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- transpose, squeeze, expand_dims ---

// Axis k of the result is axis order[k] of the data.
std::vector<std::size_t> transpose_order(const AttrsRef& attrs, std::size_t rank) {
  std::vector<std::size_t> order;
  if (attrs->is_null("axes") || attrs->get_ints("axes").empty()) {
    for (std::size_t axis = rank; axis-- > 0;) order.push_back(axis);
  } else {
    for (const std::int64_t axis : attrs->get_ints("axes"))
      order.push_back(position_of(axis, rank));
  }
  return order;
}

RuleOutcome transpose_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const auto& tensor = static_cast<const TensorType&>(*data);
  const bool reverses = call.attrs->is_null("axes") || call.attrs->get_ints("axes").empty();
  const std::size_t listed = reverses ? 0 : call.attrs->get_ints("axes").size();
  Shape known = result_shape(call, tensor.dtype);
  if (!reverses) known = with_rank(call, known, listed);
  if (!tensor.shape.has_rank() && reverses) return RuleOutcome::Stuck;
  const Shape shape =
      tensor.shape.has_rank() ? tensor.shape : with_rank(call, tensor.shape, listed);
  if (!reverses && listed != shape.rank()) {
    call.fail(DiagnosticKind::RankMismatch, "`axes` lists " + std::to_string(listed) +
                                                " axes, and shape `" + to_string(shape) + "` has " +
                                                std::to_string(shape.rank()));
  }
  if (!reverses) {
    for (const std::int64_t axis : call.attrs->get_ints("axes")) check_axis(call, axis, shape);
  }
  std::vector<bool> seen(shape.rank());
  std::vector<Dim> dims;
  for (const std::size_t axis : transpose_order(call.attrs, shape.rank())) {
    if (seen[axis]) {
      call.fail(DiagnosticKind::BadAttribute,
                "`axes` lists axis " + std::to_string(axis) + " twice");
    }
    seen[axis] = true;
    dims.push_back(shape[axis]);
  }
  call.solver.unify(known, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

void add_transpose() {
  OpDef def =
      reshaping("transpose", 3,
                "The axes in another order; without `axes`, reversed. Of a function that is "
                "linear, `transpose(f)` is its transpose.",
                "transpose([[1, 2, 3], [4, 5, 6]])\n// expect: [[1, 4], [2, 5], [3, 6]]");
  def.attrs = {nullable_attr("axes", AttrKind::IntList,
                             "for each axis of the result, which one of the data it is")};
  def.type_rule = transpose_rule;
  def.definition = [](const DefinitionCall& call) {
    const std::vector<std::size_t> order =
        transpose_order(call.attrs, dims_of(call.args[0]).size());
    return build::comprehension(lang::as<TensorType>(call.result)->shape.dims(),
                                [&](const Indices& out) {
                                  Indices indices(order.size());
                                  for (std::size_t axis = 0; axis < order.size(); ++axis)
                                    indices[order[axis]] = out[axis];
                                  return build::at(call.args[0], indices);
                                });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    if (call.attrs->is_null("axes")) return {op("transpose", {call.dout})};
    const std::vector<std::size_t> order =
        transpose_order(call.attrs, dims_of(call.args[0]).size());
    std::vector<std::int64_t> inverse(order.size());
    for (std::size_t axis = 0; axis < order.size(); ++axis) {
      inverse[order[axis]] = static_cast<std::int64_t>(axis);
    }
    return {op("transpose", {call.dout}, {{"axes", AttrValue::ints(inverse)}})};
  };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- rotate_axes: what `x[..., i]` stands on, whatever the rank ---

// For each axis of the result, which one of the data it is.
std::size_t rotated_axis(std::int64_t count, std::size_t axis, std::size_t rank) {
  const auto extent = static_cast<std::int64_t>(rank);
  return static_cast<std::size_t>((static_cast<std::int64_t>(axis) + extent - count) % extent);
}

void demand_rank(const TypeCall& call, const Shape& shape, std::int64_t least, const char* where) {
  if (static_cast<std::int64_t>(shape.rank()) >= least) return;
  call.fail(DiagnosticKind::RankMismatch, std::to_string(least) +
                                              (least == 1 ? " index " : " indices ") + where +
                                              " a tensor of rank " + std::to_string(shape.rank()));
}

constexpr std::int64_t kMostAxes = 1000;  // that attributes may ask for

// Of a tensor whose rank is not known.
bool settle_usual_rank(TypeCall& call, std::int64_t rank) {
  const Type data = call.tensor(0);
  const Shape& shape = static_cast<const TensorType&>(*data).shape;
  if (shape.has_rank() || rank < 0 || rank > kMostAxes) return false;
  with_rank(call, shape, static_cast<std::size_t>(rank));
  return true;
}

// How many axes there must be; beyond what any tensor has, the number says no more.
std::int64_t least_of_rotation(const lang::AttrsRef& attrs) {
  const auto held = [&](const char* key) {
    return std::clamp(attrs->get_int(key), -kMostAxes, kMostAxes);
  };
  return std::abs(held("count")) + held("others");
}

RuleOutcome rotate_axes_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const auto& tensor = static_cast<const TensorType&>(*data);
  const std::int64_t count = call.attrs->get_int("count");
  const Shape known = result_shape(call, tensor.dtype);
  if (!tensor.shape.has_rank() && !known.has_rank()) return RuleOutcome::Stuck;
  const Shape shape =
      tensor.shape.has_rank() ? tensor.shape : with_rank(call, tensor.shape, known.rank());
  demand_rank(call, shape, least_of_rotation(call.attrs), "around `...` for");
  std::vector<Dim> dims;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis)
    dims.push_back(shape[rotated_axis(count, axis, shape.rank())]);
  call.solver.unify(known, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

void add_rotate_axes() {
  OpDef def = reshaping("rotate_axes", 0,
                        "The last `count` axes in front of the others; with a negative `count`, "
                        "that many of the first behind them.",
                        "shape_of(rotate_axes(zeros([2, 3, 4]), 1))\n// expect: [4, 2, 3]");
  def.attrs = {required_attr("count", AttrKind::Int, "how many axes change their side"),
               optional_attr("others", AttrKind::Int, 0, "how many more there must be")};
  def.type_rule = rotate_axes_rule;
  def.usual = [](TypeCall& call, bool) {
    return settle_usual_rank(call, least_of_rotation(call.attrs) + 1);
  };
  def.definition = [](const DefinitionCall& call) {
    const std::int64_t count = call.attrs->get_int("count");
    return build::comprehension(lang::as<TensorType>(call.result)->shape.dims(),
                                [&](const Indices& out) {
                                  Indices indices(out.size());
                                  for (std::size_t axis = 0; axis < out.size(); ++axis)
                                    indices[rotated_axis(count, axis, out.size())] = out[axis];
                                  return build::at(call.args[0], indices);
                                });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {op("rotate_axes", {call.dout}, {{"count", -call.attrs->get_int("count")}})};
  };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- with_axes: what `x[i, :]` stands on ---

RuleOutcome with_axes_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  call.returns(data);
  const Shape& shape = static_cast<const TensorType&>(*data).shape;
  if (!shape.has_rank()) return RuleOutcome::Stuck;
  demand_rank(call, shape, call.attrs->get_int("least"), "into");
  return RuleOutcome::Solved;
}

void add_with_axes() {
  OpDef def;
  def.name = "with_axes";
  def.level = 0;
  def.doc = "The data itself, which must have at least this many axes.";
  def.example = "with_axes([1.0, 2.0], 1)\n// expect: [1.0, 2.0]";
  def.inputs = {{"data", "the tensor"}};
  def.attrs = {required_attr("least", AttrKind::Int, "how many axes there must be")};
  def.type_rule = with_axes_rule;
  def.usual = [](TypeCall& call, bool) {
    return settle_usual_rank(call, call.attrs->get_int("least"));
  };
  def.expansion = [](const DefinitionCall& call) { return call.args[0]; };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

RuleOutcome squeeze_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const auto& tensor = static_cast<const TensorType&>(*data);
  const Shape& shape = tensor.shape;
  const Shape known = result_shape(call, tensor.dtype);
  if (!shape.has_rank()) return RuleOutcome::Stuck;
  const bool all = call.attrs->is_null("axis");
  if (all && !is_settled(shape)) return RuleOutcome::Stuck;
  std::vector<bool> dropped(shape.rank());
  for (std::size_t axis = 0; all && axis < shape.rank(); ++axis)
    dropped[axis] = shape[axis].is_constant(1);
  if (!all) {
    for (const std::int64_t given : call.attrs->get_ints("axis")) {
      check_axis(call, given, shape);
      const std::size_t axis = position_of(given, shape.rank());
      const DimState state = state_of(shape[axis]);
      if (state == DimState::Flexible) call.solver.unify(shape[axis], Dim(1));
      if (state == DimState::Rigid ||
          (state == DimState::Constant && !shape[axis].is_constant(1))) {
        call.fail(DiagnosticKind::ShapeMismatch,
                  "cannot drop axis " + std::to_string(given) + " of `" + to_string(shape) +
                      "`: its extent is " + shape[axis].to_string() + ", not 1");
      }
      dropped[axis] = true;
    }
  }
  std::vector<Dim> dims;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    if (!dropped[axis]) dims.push_back(shape[axis]);
  }
  call.solver.unify(known, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

void add_squeeze() {
  OpDef def =
      reshaping("squeeze", 3, "The tensor without axes of extent 1; without `axis`, without any.",
                "squeeze([[1.0, 2.0]], axis=0)\n// expect: [1.0, 2.0]");
  def.attrs = {
      nullable_attr("axis", AttrKind::IntOrIntList, "the axes to drop; None: all of extent 1")};
  def.type_rule = squeeze_rule;
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

RuleOutcome expand_dims_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const auto& tensor = static_cast<const TensorType&>(*data);
  const Shape known = result_shape(call, tensor.dtype);
  const std::size_t count = new_axes(call);
  if (!tensor.shape.has_rank()) return RuleOutcome::Stuck;
  const auto rank = static_cast<std::int64_t>(tensor.shape.rank());
  const std::int64_t axis = call.attrs->get_int("axis");
  if (axis < -rank - 1 || axis > rank) {
    call.fail(DiagnosticKind::AxisOutOfRange, "axis " + std::to_string(axis) +
                                                  " is out of range for a new axis of shape `" +
                                                  to_string(tensor.shape) + "`");
  }
  std::vector<Dim> dims = tensor.shape.dims();
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis < 0 ? axis + rank + 1 : axis), count,
              Dim(1));
  call.solver.unify(known, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

void add_expand_dims() {
  OpDef def =
      reshaping("expand_dims", 1, "The tensor with new axes of extent 1 put in before `axis`.",
                "expand_dims([1.0, 2.0], axis=1)\n// expect: [[1.0], [2.0]]");
  def.attrs = {required_attr("axis", AttrKind::Int, "where; -1 is behind the last axis"),
               optional_attr("num_newaxis", AttrKind::Int, 1, "how many")};
  def.type_rule = expand_dims_rule;
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_shape_operators() {
  add_reshape();
  add_reverse_reshape();
  add_reshape_like();
  add_batch_flatten();
  add_transpose();
  add_rotate_axes();
  add_with_axes();
  add_squeeze();
  add_expand_dims();
  add_stretching_operators();
}

}  // namespace relay::stdlib
