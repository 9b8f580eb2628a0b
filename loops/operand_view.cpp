#include "loops/operand_view.h"

#include <algorithm>

#include "loops/terms.h"

namespace relay::loops {

namespace {

// How many copies a read looks through: programs may chain any number.
constexpr int kDeepest = 32;

bool is_constant(const Node& node, std::int64_t value) {
  return node.kind == NodeKind::Constant && node.dtype == DType::Int64 &&
         static_cast<std::int64_t>(node.bits) == value;
}

bool is_primitive(const Node& node, Prim prim) {
  return node.kind == NodeKind::Primitive && node.prim == prim;
}

}  // namespace

std::vector<std::int64_t> strides_of(const TensorDef& def) {
  const bool has_own = def.kind == TensorKind::Argument || def.kind == TensorKind::Literal;
  std::vector<std::int64_t> strides = has_own ? def.strides : row_major(def.shape);
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (def.shape[i] == 1) strides[i] = 0;
  }
  return strides;
}

bool is_affine(const IndexExpr& index, const IndexSpace& space) {
  return std::all_of(index.terms.begin(), index.terms.end(), [&](const IndexTerm& term) {
    return space.atom(term.atom).kind == IndexSpace::Atom::Kind::Axis;
  });
}

std::optional<IndexExpr> address_of(const OperandView& view) {
  IndexExpr address = IndexSpace::constant(view.offset);
  for (const ViewAxis& axis : view.axes) {
    if (axis.is_masked || axis.divisor != 1) return std::nullopt;
    address = address + axis.index * axis.stride;
  }
  return address;
}

// int64 nodes as index forms, under one meaning of the index variables.
struct OperandReader::Evaluation {
  const Stages& stages;
  IndexSpace& space;
  const IndexEnv& env;
  std::unordered_map<NodeId, std::optional<IndexExpr>> known = {};

  const Node& node(NodeId id) const { return stages.nodes[static_cast<std::size_t>(id)]; }

  std::optional<IndexExpr> operator()(NodeId id) {
    const auto found = known.find(id);
    if (found != known.end()) return found->second;
    auto value = fresh(node(id));
    known.emplace(id, value);
    return value;
  }

  std::optional<IndexExpr> fresh(const Node& node) {
    if (node.dtype != DType::Int64) return std::nullopt;
    if (node.kind == NodeKind::Constant)
      return IndexSpace::constant(static_cast<std::int64_t>(node.bits));
    if (node.kind == NodeKind::IndexVar) {
      const auto found = env.find(node.ref);
      if (found == env.end()) return std::nullopt;
      return found->second;
    }
    if (node.kind != NodeKind::Primitive) return std::nullopt;
    std::vector<IndexExpr> args;
    for (NodeId arg : stages.args(node)) {
      auto value = (*this)(arg);
      if (!value) return std::nullopt;
      args.push_back(std::move(*value));
    }
    if (node.prim == Prim::Neg) return args[0] * -1;
    return args.size() == 2 ? binary(node.prim, args[0], args[1]) : std::nullopt;
  }

  std::optional<IndexExpr> binary(Prim prim, const IndexExpr& a, const IndexExpr& b) {
    switch (prim) {
      case Prim::Add:
        return a + b;
      case Prim::Sub:
        return a - b;
      case Prim::Mul:
        if (b.is_constant()) return a * b.constant;
        if (a.is_constant()) return b * a.constant;
        return std::nullopt;
      case Prim::FloorDiv:
      case Prim::FloorMod:
        if (!b.is_constant() || b.constant <= 0) return std::nullopt;
        return prim == Prim::FloorDiv ? space.floor_div(a, b.constant)
                                      : space.floor_mod(a, b.constant);
      case Prim::Min:
      case Prim::Max: {
        const auto difference = space.range(a - b);
        if (difference && difference->high <= 0) return prim == Prim::Min ? a : b;
        if (difference && difference->low >= 0) return prim == Prim::Min ? b : a;
        return std::nullopt;
      }
      default:
        return std::nullopt;
    }
  }
};

// The comparisons that hold where `condition` does, and only there; no value for what is none.
std::optional<std::vector<NodeId>> OperandReader::parts_of(NodeId condition) const {
  std::vector<NodeId> parts;
  std::vector<NodeId> open = {condition};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (node(id).kind != NodeKind::Primitive) return std::nullopt;
    const auto args = stages_.args(node(id));
    if (node(id).prim == Prim::And) {
      open.insert(open.end(), args.begin(), args.end());
    } else if (args.size() == 2) {
      parts.push_back(id);
    } else {
      return std::nullopt;
    }
  }
  return parts;
}

// What the value is where the conditions hold.
NodeId OperandReader::where(const std::vector<NodeId>& conditions, NodeId value) const {
  while (is_primitive(node(value), Prim::Select)) {
    const auto args = stages_.args(node(value));
    const auto parts = parts_of(args[0]);
    const bool is_taken =
        parts && std::all_of(parts->begin(), parts->end(), [&](NodeId part) {
          return std::find(conditions.begin(), conditions.end(), part) != conditions.end();
        });
    if (!is_taken) return value;
    value = args[1];
  }
  return value;
}

// What is at least 0 where the comparison holds, and only there.
std::optional<IndexExpr> OperandReader::bounded_by(NodeId comparison, Evaluation& evaluation) {
  const auto args = stages_.args(node(comparison));
  const auto left = evaluation(args[0]);
  const auto right = evaluation(args[1]);
  if (!left || !right) return std::nullopt;
  switch (node(comparison).prim) {
    case Prim::Ge:
      return *left - *right;
    case Prim::Gt:
      return *left - *right - IndexSpace::constant(1);
    case Prim::Le:
      return *right - *left;
    case Prim::Lt:
      return *right - *left - IndexSpace::constant(1);
    default:
      return std::nullopt;
  }
}

bool OperandReader::always_holds(NodeId condition, Evaluation& evaluation) {
  const auto bounded = bounded_by(condition, evaluation);
  const auto range = bounded ? space_.range(*bounded) : std::nullopt;
  return range && range->low >= 0;
}

// Takes out of `conditions` what this axis explains.
std::optional<ViewAxis> OperandReader::axis_of(NodeId index, std::int64_t extent,
                                               Evaluation& evaluation, Conditions& conditions) {
  ViewAxis axis;
  axis.extent = extent;
  const auto take = [&](const auto& is_wanted) {
    const auto found = std::find_if(conditions.open.begin(), conditions.open.end(), is_wanted);
    if (found == conditions.open.end()) return false;
    conditions.open.erase(found);
    return true;
  };
  // The comparison itself, or another one that says the same.
  const auto take_bound = [&](Prim prim, NodeId left, std::int64_t right,
                              const std::optional<IndexExpr>& bounded) {
    return take([&](NodeId id) {
      const auto args = stages_.args(node(id));
      const bool is_it =
          is_primitive(node(id), prim) && args[0] == left && is_constant(node(args[1]), right);
      return is_it || (bounded && bounded_by(id, evaluation) == bounded);
    });
  };
  index = where(conditions.all, index);
  // `select` evaluates both sides, so indices are clamped.
  for (int i = 0; i < 2; ++i) {
    const bool is_clamp = (is_primitive(node(index), Prim::Min) &&
                           is_constant(node(stages_.args(node(index))[1]), extent - 1)) ||
                          (is_primitive(node(index), Prim::Max) &&
                           is_constant(node(stages_.args(node(index))[1]), 0));
    if (is_clamp) index = stages_.args(node(index))[0];
  }
  const auto at = evaluation(index);
  const auto left_over = at ? IndexSpace::constant(extent - 1) - *at : at;
  const bool is_below_masked = take_bound(Prim::Ge, index, 0, at);
  const bool is_above_masked = take_bound(Prim::Lt, index, extent, left_over);
  NodeId start = index;
  if (is_primitive(node(index), Prim::FloorDiv)) {
    const auto args = stages_.args(node(index));
    for (const NodeId condition : conditions.open) {
      if (!is_primitive(node(condition), Prim::Eq)) continue;
      const Node& remainder = node(stages_.args(node(condition))[0]);
      if (!is_primitive(remainder, Prim::FloorMod)) continue;
      const auto parts = stages_.args(remainder);
      if (parts[0] != args[0] || parts[1] != args[1]) continue;
      if (node(args[1]).kind != NodeKind::Constant) continue;
      if (!is_constant(node(stages_.args(node(condition))[1]), 0)) continue;
      take([&](NodeId id) { return id == condition; });
      start = args[0];
      axis.divisor = static_cast<std::int64_t>(node(args[1]).bits);
      break;
    }
  }
  auto value = evaluation(start);
  if (!value || axis.divisor < 1) return std::nullopt;
  axis.index = std::move(*value);
  const auto range = space_.range(axis.index);
  const bool is_inside_below = range && range->low >= 0;
  const bool is_inside_above = range && range->high < extent * axis.divisor;
  if (!is_inside_below && !is_below_masked) return std::nullopt;
  if (!is_inside_above && !is_above_masked) return std::nullopt;
  axis.is_masked = !is_inside_below || !is_inside_above || axis.divisor != 1;
  return axis;
}

std::optional<OperandView> OperandReader::target_of(TensorId target,
                                                    std::span<const NodeId> indices,
                                                    const IndexEnv& env) {
  const std::vector<std::int64_t> strides = row_major(def(target).shape);
  Evaluation evaluation{stages_, space_, env};
  OperandView view;
  view.terminal = target;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    auto index = evaluation(indices[i]);
    if (!index) return std::nullopt;
    const std::int64_t extent = def(target).shape[i];
    const auto range = space_.range(*index);
    if (!range || range->low < 0 || range->high >= extent) return std::nullopt;
    ViewAxis axis;
    axis.extent = extent;
    axis.stride = strides[i];
    axis.index = std::move(*index);
    view.axes.push_back(std::move(axis));
  }
  return view;
}

std::optional<OperandReader::Read> OperandReader::read_of(NodeId id, const IndexEnv& env,
                                                          std::span<const NodeId> guards) {
  Conditions conditions;
  const auto add = [&](NodeId condition) {
    const auto parts = parts_of(condition);
    for (const NodeId part : parts.value_or(std::vector<NodeId>())) {
      const auto& all = conditions.all;
      if (std::find(all.begin(), all.end(), part) == all.end()) conditions.all.push_back(part);
    }
    return parts.has_value();
  };
  if (!std::all_of(guards.begin(), guards.end(), add)) return std::nullopt;
  for (id = where(conditions.all, id); is_primitive(node(id), Prim::Select);
       id = where(conditions.all, id)) {
    const auto args = stages_.args(node(id));
    if (!is_zero(node(args[2])) || !add(args[0])) return std::nullopt;
  }
  conditions.open = conditions.all;
  const Node& read = node(id);
  if (read.kind != NodeKind::Read) return std::nullopt;
  Evaluation evaluation{stages_, space_, env};
  Read result;
  result.tensor = read.ref;
  const TensorDef& target = def(read.ref);
  const auto indices = stages_.indices(read);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    auto axis = axis_of(indices[i], target.shape[i], evaluation, conditions);
    if (!axis) return std::nullopt;
    result.axes.push_back(std::move(*axis));
  }
  for (const NodeId condition : conditions.open) {
    if (!always_holds(condition, evaluation)) return std::nullopt;
  }
  return result;
}

// The strides of a read's tensor in the deepest tensor that it is a strided view of.
OperandView OperandReader::settled(Read read) const {
  IndexSpace space;
  OperandReader inner(stages_, space);
  std::vector<IndexExpr> indices;
  for (std::size_t i = 0; i < read.axes.size(); ++i)
    indices.push_back(space.axis(static_cast<std::int32_t>(i), read.axes[i].extent));
  OperandView view;
  view.axes = std::move(read.axes);
  TensorId tensor = read.tensor;
  for (int depth = 0;; ++depth) {
    const TensorDef& at = def(tensor);
    const std::vector<std::int64_t> strides = strides_of(at);
    IndexExpr address;
    for (std::size_t i = 0; i < indices.size(); ++i) address = address + indices[i] * strides[i];
    if (is_affine(address, space)) {
      view.terminal = tensor;
      view.offset = address.constant;
      for (ViewAxis& axis : view.axes) axis.stride = 0;
      for (const IndexTerm& term : address.terms)
        view.axes[static_cast<std::size_t>(space.atom(term.atom).id)].stride = term.coefficient;
    }
    const bool is_copy = at.kind == TensorKind::Map && node(at.body).kind == NodeKind::Read;
    if (!is_copy || depth == kDeepest) return view;
    IndexEnv env;
    for (std::size_t i = 0; i < indices.size(); ++i) env[at.vars[i]] = indices[i];
    auto deeper = inner.read_of(at.body, env);
    if (!deeper) return view;
    tensor = deeper->tensor;
    indices.clear();
    for (ViewAxis& axis : deeper->axes) indices.push_back(std::move(axis.index));
  }
}

std::vector<OperandView> OperandReader::views_of(NodeId id, const IndexEnv& env,
                                                 std::span<const NodeId> guards) {
  std::vector<OperandView> views;
  auto read = read_of(id, env, guards);
  for (int depth = 0; read && depth <= kDeepest; ++depth) {
    views.insert(views.begin(), settled(*read));
    const TensorDef& at = def(read->tensor);
    // What lies behind a mask is no longer a function of these indices.
    const bool is_masked = std::any_of(read->axes.begin(), read->axes.end(),
                                       [](const ViewAxis& axis) { return axis.is_masked; });
    if (is_masked || at.kind != TensorKind::Map) break;
    IndexEnv inside;
    for (std::size_t i = 0; i < read->axes.size(); ++i) inside[at.vars[i]] = read->axes[i].index;
    read = read_of(at.body, inside);
  }
  return views;
}

}  // namespace relay::loops
