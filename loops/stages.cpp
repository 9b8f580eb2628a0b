#include "loops/stages.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "lang/extents.h"
#include "loops/reduce_op.h"

namespace relay::loops {

std::vector<NodeId> reads_of(const Stages& stages, std::vector<NodeId> roots) {
  std::vector<NodeId> reads;
  for_each_node(stages, std::move(roots), [&](NodeId id, const Node& node) {
    if (node.kind == NodeKind::Read) reads.push_back(id);
  });
  return reads;
}

std::int64_t count_of(std::span<const std::int64_t> shape) {
  // No element has more than 8 bytes.
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 8;
  const auto count = lang::product_of(shape);
  if (count && *count <= kMost) return *count;
  lang::fail(
      lang::DiagnosticKind::OutOfMemory,
      fmt::format("a tensor of shape `({})` is larger than any memory", fmt::join(shape, ", ")));
}

std::int64_t points_of(std::span<const std::int64_t> extents) {
  if (const auto count = lang::product_of(extents)) return *count;
  lang::fail(lang::DiagnosticKind::Unsupported,
             fmt::format("not supported: a loop of more than 2^63 steps, over `({})`",
                         fmt::join(extents, ", ")));
}

std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;)
    // May wrap where an extent is 0; such a tensor has no element.
    strides[i - 1] =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(strides[i]) *
                                  static_cast<std::uint64_t>(std::max<std::int64_t>(shape[i], 1)));
  return strides;
}

namespace {

std::uint64_t mix_in(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccd;
}

}  // namespace

TensorDef tensor_over(const Stages& stages, std::span<const IndexVarId> vars, NodeId body,
                      lang::Span span) {
  TensorDef def;
  def.vars.assign(vars.begin(), vars.end());
  for (const IndexVarId var : vars)
    def.shape.push_back(stages.var_extents[static_cast<std::size_t>(var)]);
  def.body = body;
  def.dtype = stages.nodes[static_cast<std::size_t>(body)].dtype;
  def.span = span;
  return def;
}

NodeFactory::NodeFactory(Stages& stages)
    : stages_(stages), table_(256, -1), hashes_(stages.nodes.size()) {
  stages_.nodes.reserve(64);
  stages_.operands.reserve(128);
  hashes_.reserve(64);
}

void NodeFactory::grow() {
  std::vector<NodeId> larger(table_.size() * 2, -1);
  const std::size_t mask = larger.size() - 1;
  for (NodeId id : table_) {
    if (id < 0) continue;
    std::size_t at = hashes_[static_cast<std::size_t>(id)] & mask;
    while (larger[at] >= 0) at = (at + 1) & mask;
    larger[at] = id;
  }
  table_ = std::move(larger);
}

NodeId NodeFactory::intern(Node made, std::span<const std::int32_t> args,
                           std::span<const std::int32_t> vars) {
  std::uint64_t hash =
      static_cast<std::uint64_t>(made.kind) | static_cast<std::uint64_t>(made.dtype) << 8 |
      static_cast<std::uint64_t>(made.prim) << 16 | static_cast<std::uint64_t>(made.op) << 24 |
      static_cast<std::uint64_t>(made.is_checked) << 32;
  hash = mix_in(hash, static_cast<std::uint32_t>(made.ref));
  hash = mix_in(hash, made.bits);
  for (std::int32_t arg : args) hash = mix_in(hash, static_cast<std::uint32_t>(arg));
  for (std::int32_t var : vars) hash = mix_in(hash, static_cast<std::uint32_t>(var));
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash & mask;
  for (; table_[at] >= 0; at = (at + 1) & mask) {
    const NodeId id = table_[at];
    if (hashes_[static_cast<std::size_t>(id)] != hash) continue;
    const Node& known = node(id);
    if (known.kind == made.kind && known.dtype == made.dtype && known.prim == made.prim &&
        known.op == made.op && known.is_checked == made.is_checked && known.ref == made.ref &&
        known.bits == made.bits && std::ranges::equal(stages_.args(known), args) &&
        std::ranges::equal(stages_.vars(known), vars)) {
      return id;
    }
  }
  made.first_arg = static_cast<std::uint32_t>(stages_.operands.size());
  made.arg_count = static_cast<std::uint32_t>(args.size());
  // By value: `args` may point into `operands`.
  const std::vector<std::int32_t> kept(args.begin(), args.end());
  stages_.operands.insert(stages_.operands.end(), kept.begin(), kept.end());
  made.first_var = static_cast<std::uint32_t>(stages_.operands.size());
  made.var_count = static_cast<std::uint32_t>(vars.size());
  stages_.operands.insert(stages_.operands.end(), vars.begin(), vars.end());
  made.has_reduce = made.kind == NodeKind::Reduce;
  made.has_read = made.kind == NodeKind::Read;
  for (std::int32_t arg : kept) {
    made.has_reduce = made.has_reduce || node(arg).has_reduce;
    made.has_read = made.has_read || node(arg).has_read;
  }
  const auto id = static_cast<NodeId>(stages_.nodes.size());
  stages_.nodes.push_back(made);
  hashes_.push_back(hash);
  table_[at] = id;
  if (stages_.nodes.size() * 2 > table_.size()) grow();
  return id;
}

IndexVarId NodeFactory::new_var(std::int64_t extent, std::string name) {
  stages_.var_extents.push_back(extent);
  stages_.var_names.push_back(std::move(name));
  return static_cast<IndexVarId>(stages_.var_extents.size() - 1);
}

NodeId NodeFactory::var(IndexVarId id) {
  if (stages_.var_extents[static_cast<std::size_t>(id)] == 1) return index_constant(0);
  Node made;
  made.kind = NodeKind::IndexVar;
  made.ref = id;
  return intern(made, {}, {});
}

NodeId NodeFactory::constant(DType dtype, std::uint64_t bits) {
  Node made;
  made.dtype = dtype;
  made.bits = bits;
  return intern(made, {}, {});
}

// int64 arithmetic on constants: extents and index maps depend on it. -1 where it does not fold.
NodeId NodeFactory::fold_integers(Prim prim, std::span<const NodeId> args) {
  std::array<std::int64_t, 2> value{};
  if (args.empty() || args.size() > 2) return -1;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const Node& arg = node(args[i]);
    if (arg.kind != NodeKind::Constant || arg.dtype != DType::Int64) return -1;
    value[i] = static_cast<std::int64_t>(arg.bits);
  }
  const auto a = static_cast<std::uint64_t>(value[0]);
  const auto b = static_cast<std::uint64_t>(value[1]);
  const auto wrapped = [&](std::uint64_t v) {
    return index_constant(static_cast<std::int64_t>(v));
  };
  const bool may_divide = value[1] > 0;
  switch (prim) {
    case Prim::Add:
      return wrapped(a + b);
    case Prim::Sub:
      return wrapped(a - b);
    case Prim::Mul:
      return wrapped(a * b);
    case Prim::Neg:
      return wrapped(0 - a);
    case Prim::Min:
      return index_constant(std::min(value[0], value[1]));
    case Prim::Max:
      return index_constant(std::max(value[0], value[1]));
    case Prim::Div:
      return may_divide ? index_constant(value[0] / value[1]) : -1;
    case Prim::Mod:
      return may_divide ? index_constant(value[0] % value[1]) : -1;
    case Prim::FloorDiv:
    case Prim::FloorMod: {
      if (!may_divide) return -1;
      std::int64_t quotient = value[0] / value[1];
      std::int64_t remainder = value[0] % value[1];
      if (remainder < 0) {
        remainder += value[1];
        --quotient;
      }
      return index_constant(prim == Prim::FloorMod ? remainder : quotient);
    }
    case Prim::Eq:
      return constant(DType::Bool, value[0] == value[1]);
    case Prim::Ne:
      return constant(DType::Bool, value[0] != value[1]);
    case Prim::Lt:
      return constant(DType::Bool, value[0] < value[1]);
    case Prim::Le:
      return constant(DType::Bool, value[0] <= value[1]);
    case Prim::Gt:
      return constant(DType::Bool, value[0] > value[1]);
    case Prim::Ge:
      return constant(DType::Bool, value[0] >= value[1]);
    default:
      return -1;
  }
}

NodeId NodeFactory::primitive(Prim prim, std::span<const NodeId> args, DType result) {
  if (prim == Prim::Cast) return cast(args[0], result);
  const NodeId folded = fold_integers(prim, args);
  if (folded >= 0) return folded;
  if (prim == Prim::Pow) {
    const Node& exponent = node(args[1]);
    const auto is = [&](std::int64_t value) {
      return exponent.kind == NodeKind::Constant &&
             exponent.bits == lang::bits_from_int(exponent.dtype, value);
    };
    if (is(1)) return args[0];
    if (is(2)) return primitive(Prim::Mul, std::array{args[0], args[0]}, result);
  }
  if (prim == Prim::Select) {
    const Node& condition = node(args[0]);
    if (condition.kind == NodeKind::Constant) return condition.bits != 0 ? args[1] : args[2];
    // What `&&` and `||` stand for.
    const auto is_truth = [&](NodeId id, std::uint64_t bits) {
      const Node& at = node(id);
      return at.kind == NodeKind::Constant && at.dtype == DType::Bool && at.bits == bits;
    };
    if (is_truth(args[2], 0))
      return primitive(Prim::And, std::array{args[0], args[1]}, DType::Bool);
    if (is_truth(args[1], 1)) return primitive(Prim::Or, std::array{args[0], args[2]}, DType::Bool);
    // A choice within a choice by the same condition is none.
    const auto arm = [&](NodeId id, std::size_t number) {
      const Node& at = node(id);
      const bool is_choice = at.kind == NodeKind::Primitive && at.prim == Prim::Select;
      return is_choice && stages_.args(at)[0] == args[0] ? stages_.args(at)[number] : id;
    };
    const std::array<NodeId, 3> chosen = {args[0], arm(args[1], 1), arm(args[2], 2)};
    if (chosen[1] != args[1] || chosen[2] != args[2]) return primitive(prim, chosen, result);
  }
  Node made;
  made.kind = NodeKind::Primitive;
  made.dtype = result;
  made.prim = prim;
  return intern(made, args, {});
}

NodeId NodeFactory::cast(NodeId id, DType dtype) {
  const Node from = node(id);
  if (from.dtype == dtype) return id;
  const bool is_index_like = lang::is_int(from.dtype) && lang::is_int(dtype);
  if (from.kind == NodeKind::Constant && is_index_like) {
    return constant(dtype, lang::bits_from_int(dtype, lang::int_from_bits(from.dtype, from.bits)));
  }
  Node made;
  made.kind = NodeKind::Primitive;
  made.dtype = dtype;
  made.prim = Prim::Cast;
  const std::array<NodeId, 1> args = {id};
  return intern(made, args, {});
}

NodeId NodeFactory::read(TensorId tensor, std::span<const NodeId> indices, bool is_checked,
                         lang::Span span, const lang::OpDef* reader, NodeId guard) {
  Node made;
  made.kind = NodeKind::Read;
  made.dtype = stages_.tensors[static_cast<std::size_t>(tensor)].dtype;
  made.ref = tensor;
  made.is_checked = is_checked;
  made.span = span;
  made.reader = reader;
  if (guard < 0) return intern(made, indices, {});
  made.is_guarded = true;
  std::vector<NodeId> args(indices.begin(), indices.end());
  args.push_back(guard);
  return intern(made, args, {});
}

NodeId NodeFactory::read_at(TensorId tensor, std::span<const IndexVarId> vars, lang::Span span) {
  std::vector<NodeId> indices;
  for (const IndexVarId each : vars) indices.push_back(var(each));
  return read(tensor, indices, false, span);
}

NodeId NodeFactory::reduce(ReduceOp op, std::span<const IndexVarId> vars,
                           std::span<const NodeId> operands) {
  Node made;
  made.kind = NodeKind::Reduce;
  made.dtype = is_arg(op) ? DType::Int64 : node(operands[0]).dtype;
  made.op = op;
  return intern(made, operands, vars);
}

}  // namespace relay::loops
