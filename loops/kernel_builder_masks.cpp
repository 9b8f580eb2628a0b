#include <algorithm>

#include "loops/kernel_builder.h"

// Reads that count only where a condition is true. What is read is what is in the tensor: a read is
// masked by where its indices are in range, which is known in outer loops than the condition is,
// and for whole vectors at once; the condition only says where being out of range is an error.
namespace relay::loops {

bool KernelBuilder::are_within(const Node& node, const std::vector<IndexExpr>& indices) const {
  const auto& shape = stages_.tensors[static_cast<std::size_t>(node.ref)].shape;
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    if (!is_within(indices[axis], shape[axis])) return false;
  }
  return true;
}

ValueId KernelBuilder::in_range(const IndexExpr& index, std::int64_t extent) {
  const auto range = draft_.space.range(index);
  if (extent == 0 || (range && (range->high < 0 || range->low >= extent)))
    return constant(DType::Bool, 0);
  DraftInstruction instruction;
  instruction.code = Code::InRange;
  instruction.dtype = DType::Bool;
  instruction.args = {index_value(index)};
  instruction.number = extent;
  return emit(std::move(instruction));
}

// -1 for none of them.
ValueId KernelBuilder::all_of(const Masks& masks) {
  ValueId all = -1;
  for (const ValueId mask : masks)
    all = all < 0 ? mask : emit_primitive(Prim::And, DType::Bool, {all, mask});
  return all;
}

// Nothing, where the guard turns out to be true everywhere.
std::optional<KernelBuilder::Operand> KernelBuilder::guarded_read(
    const Node& node, const std::vector<IndexExpr>& indices, std::int32_t instance) {
  const auto nothing = [&] { return operand_of(constant(node.dtype, 0)); };
  const Operand guard = evaluate(stages_.guard(node), instance);
  if (const auto known = constant_bits(guard)) {
    if (*known == 0) return nothing();
    return std::nullopt;
  }
  Facts facts;
  add_facts(stages_.guard(node), instance, true, facts);
  const auto& shape = stages_.tensors[static_cast<std::size_t>(node.ref)].shape;
  Masks masks;
  bool is_never_read = false;
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    const IndexExpr& index = indices[axis];
    if (is_within(index, shape[axis])) continue;
    if (!is_proven(index, shape[axis], facts)) {
      Masks guards = {guard.value};
      guards.insert(guards.end(), masks_.begin(), masks_.end());
      check_index(index, shape[axis], site_of(node, axis), all_of(guards));
    }
    masks.push_back(in_range(index, shape[axis]));
    is_never_read |= draft_.values[static_cast<std::size_t>(masks.back())].code == Code::Constant;
  }
  if (is_never_read) return nothing();
  return read_at(node, indices, std::move(masks));
}

// `larger` is at least `smaller` + `by`.
void KernelBuilder::add_fact(const IndexExpr& larger, const IndexExpr& smaller, std::int64_t by,
                             Facts& facts) {
  const IndexExpr fact = larger - smaller - IndexSpace::constant(by);
  if (draft_.space.range(larger) && draft_.space.range(smaller) && draft_.space.range(fact))
    facts.push_back(fact);
}

// What follows for indices where the node is `is_true`.
void KernelBuilder::add_facts(NodeId id, std::int32_t instance, bool is_true, Facts& facts) {
  const Node& node = stages_.nodes[static_cast<std::size_t>(id)];
  if (node.kind != NodeKind::Primitive || node.dtype != DType::Bool) return;
  const auto args = stages_.args(node);
  if (node.prim == Prim::Not) return add_facts(args[0], instance, !is_true, facts);
  if (node.prim == (is_true ? Prim::And : Prim::Or)) {
    for (const NodeId arg : args) add_facts(arg, instance, is_true, facts);
    return;
  }
  const auto is_index = [&](NodeId arg) {
    return stages_.nodes[static_cast<std::size_t>(arg)].dtype == DType::Int64;
  };
  if (args.size() != 2 || !is_index(args[0]) || !is_index(args[1])) return;
  const IndexExpr a = evaluate(args[0], instance).index;
  const IndexExpr b = evaluate(args[1], instance).index;
  switch (node.prim) {
    case Prim::Lt:
      return is_true ? add_fact(b, a, 1, facts) : add_fact(a, b, 0, facts);
    case Prim::Le:
      return is_true ? add_fact(b, a, 0, facts) : add_fact(a, b, 1, facts);
    case Prim::Gt:
      return is_true ? add_fact(a, b, 1, facts) : add_fact(b, a, 0, facts);
    case Prim::Ge:
      return is_true ? add_fact(a, b, 0, facts) : add_fact(b, a, 1, facts);
    case Prim::Eq:
    case Prim::Ne:
      if ((node.prim == Prim::Eq) == is_true) {
        add_fact(a, b, 0, facts);
        add_fact(b, a, 0, facts);
      } else if (const auto range = draft_.space.range(a - b)) {
        // The end of a range that is left out.
        if (range->low == 0) add_fact(a, b, 1, facts);
        if (range->high == 0) add_fact(b, a, 1, facts);
      }
      return;
    default:
      return;
  }
}

// Does one of the facts say so?
bool KernelBuilder::is_proven(const IndexExpr& index, std::int64_t extent,
                              const Facts& facts) const {
  const IndexSpace& space = draft_.space;
  const auto range = space.range(index);
  if (!range) return false;
  const auto is_natural = [&](const IndexExpr& value) {
    return std::any_of(facts.begin(), facts.end(), [&](const IndexExpr& fact) {
      const auto above = space.range(value - fact);
      return above && above->low >= 0;
    });
  };
  const IndexExpr rest = IndexSpace::constant(extent - 1) - index;
  return (range->low >= 0 || is_natural(index)) &&
         (range->high < extent || (space.range(rest) && is_natural(rest)));
}

}  // namespace relay::loops
