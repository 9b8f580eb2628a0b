#include "loops/kernel_builder.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "loops/bordered_window.h"
#include "loops/operand_view.h"
#include "loops/pieces.h"
#include "loops/reduce_op.h"
#include "loops/reduction_tree.h"

namespace relay::loops {

namespace {

// With so many in a kernel no more windows are written out, as compiling them takes longer.
constexpr std::size_t kMostValues = 512;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccd;
}

std::uint64_t hash_of(const DraftInstruction& instruction) {
  std::uint64_t hash = static_cast<std::uint64_t>(instruction.code) |
                       static_cast<std::uint64_t>(instruction.dtype) << 8 |
                       static_cast<std::uint64_t>(instruction.prim) << 16 |
                       static_cast<std::uint64_t>(static_cast<std::uint32_t>(instruction.home))
                           << 32;
  hash = mix(hash, static_cast<std::uint32_t>(instruction.axis));
  hash = mix(hash, static_cast<std::uint32_t>(instruction.buffer));
  hash = mix(hash, instruction.bits);
  hash = mix(hash, static_cast<std::uint64_t>(instruction.number));
  for (ValueId arg : instruction.args) hash = mix(hash, static_cast<std::uint32_t>(arg));
  hash = mix(hash, static_cast<std::uint64_t>(instruction.address.constant));
  for (const auto& term : instruction.address.terms) {
    hash = mix(hash, static_cast<std::uint32_t>(term.atom));
    hash = mix(hash, static_cast<std::uint64_t>(term.coefficient));
  }
  return hash;
}

bool same(const DraftInstruction& a, const DraftInstruction& b) {
  return a.code == b.code && a.dtype == b.dtype && a.prim == b.prim && a.axis == b.axis &&
         a.buffer == b.buffer && a.home == b.home && a.bits == b.bits && a.number == b.number &&
         a.args == b.args && a.address == b.address;
}

bool is_narrow_float(DType dtype) { return dtype == DType::Float16 || dtype == DType::BFloat16; }

}  // namespace

KernelBuilder::KernelBuilder(const Stages& stages, std::span<const Storage> storage,
                             std::span<const StoredAt> places)
    : stages_(stages), storage_(storage), places_(places), vars_(stages.var_extents.size()) {
  draft_.regions.emplace_back();
  open_.push_back(0);
  instances_.push_back({-1, {}});
}

// --- Kernels ---

IndexExpr KernelBuilder::new_axis(std::int64_t extent, std::int32_t home, std::string name) {
  const auto axis = static_cast<std::int32_t>(draft_.extents.size());
  draft_.extents.push_back(extent);
  draft_.axis_names.push_back(std::move(name));
  draft_.axis_home.push_back(home);
  draft_.axis_is_value.push_back(false);
  if (home == 0) {
    draft_.domain.push_back(axis);
  } else {
    draft_.regions[static_cast<std::size_t>(home)].axes.push_back(axis);
  }
  return draft_.space.axis(axis, extent);
}

void KernelBuilder::open_domain(std::span<const IndexVarId> vars) {
  for (IndexVarId var : vars) {
    const std::int64_t extent = stages_.var_extents[static_cast<std::size_t>(var)];
    const std::string& name = stages_.var_names[static_cast<std::size_t>(var)];
    vars_[static_cast<std::size_t>(var)] = extent == 1 ? IndexExpr{} : new_axis(extent, 0, name);
  }
}

void KernelBuilder::store(const Operand& result, const std::vector<IndexExpr>& at,
                          const std::vector<std::int64_t>& strides) {
  draft_.regions[0].result = value_of(result);
  for (std::size_t i = 0; i < at.size(); ++i)
    draft_.destination = draft_.destination + at[i] * strides[i];
  draft_.destination = settled(draft_.destination);
}

void KernelBuilder::build_map(TensorId tensor, std::int32_t buffer) {
  const TensorDef& def = stages_.tensors[static_cast<std::size_t>(tensor)];
  if (buffer < 0) {
    open_domain(def.vars);
  } else {
    for (std::size_t axis = 0; axis < def.vars.size(); ++axis)
      open_axis(def, axis, 0, stages_.var_extents[static_cast<std::size_t>(def.vars[axis])]);
  }
  store_map(def, buffer);
}

void KernelBuilder::build_nest(TensorId tensor, std::int32_t buffer) {
  const TensorDef& def = stages_.tensors[static_cast<std::size_t>(tensor)];
  is_nest_ = true;
  open_domain(def.vars);
  store_map(def, buffer);
}

void KernelBuilder::build_piece(TensorId tensor, std::int32_t buffer, std::size_t axis,
                                std::int64_t begin, std::int64_t end) {
  const TensorDef& def = stages_.tensors[static_cast<std::size_t>(tensor)];
  for (std::size_t i = 0; i < def.vars.size(); ++i) {
    if (i == axis) {
      open_axis(def, i, begin, end);
    } else {
      open_axis(def, i, 0, def.shape[i]);
    }
  }
  store_map(def, buffer);
}

// Rows of what is reshaped are an axis of their own, so that nothing is divided.
void KernelBuilder::open_axis(const TensorDef& def, std::size_t axis, std::int64_t begin,
                              std::int64_t end) {
  const std::int64_t length = find_row_length(stages_, storage_, def, axis, begin, end);
  IndexExpr along;
  if (length > 0) {
    const IndexExpr row = new_axis((end - begin) / length, 0);
    along = row * length + new_axis(length, 0);
  } else if (end - begin != 1) {
    along = new_axis(end - begin, 0);
  }
  vars_[static_cast<std::size_t>(def.vars[axis])] = along + IndexSpace::constant(begin);
}

void KernelBuilder::store_map(const TensorDef& def, std::int32_t buffer) {
  draft_.output = buffer;
  std::vector<IndexExpr> at;
  for (IndexVarId var : def.vars) at.push_back(vars_[static_cast<std::size_t>(var)]);
  store(evaluate(def.body, 0), at, row_major(def.shape));
}

void KernelBuilder::build_update(TensorId tensor, std::span<const SliceRead> slices,
                                 std::int32_t buffer) {
  slices_ = slices;
  build_map(tensor, buffer);
}

void KernelBuilder::build_slice(TensorId slice, std::int32_t buffer) {
  const TensorDef& def = stages_.tensors[static_cast<std::size_t>(slice)];
  const Node& read = stages_.nodes[static_cast<std::size_t>(def.body)];
  open_domain(def.vars);
  draft_.output = buffer;
  std::vector<IndexExpr> indices;
  for (const NodeId index : stages_.indices(read)) indices.push_back(evaluate(index, 0).index);
  const auto& shape = stages_.tensors[static_cast<std::size_t>(read.ref)].shape;
  Masks masks;
  bool is_never_read = false;
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    if (is_within(indices[axis], shape[axis])) continue;
    masks.push_back(in_range(indices[axis], shape[axis]));
    is_never_read |= draft_.values[static_cast<std::size_t>(masks.back())].code == Code::Constant;
  }
  std::vector<IndexExpr> at;
  for (IndexVarId var : def.vars) at.push_back(vars_[static_cast<std::size_t>(var)]);
  store(is_never_read ? operand_of(constant(def.dtype, 0)) : load(read.ref, indices, masks), at,
        row_major(def.shape));
}

void KernelBuilder::build_copy(TensorId source, std::int32_t buffer) {
  const TensorDef& def = stages_.tensors[static_cast<std::size_t>(source)];
  draft_.output = buffer;
  std::vector<IndexExpr> at;
  for (std::int64_t extent : def.shape)
    at.push_back(extent == 1 ? IndexExpr{} : new_axis(extent, 0));
  const bool is_stored = storage_[static_cast<std::size_t>(source)] == Storage::Stored;
  store(is_stored ? load(source, at) : inlined(source, at), at, row_major(def.shape));
}

void KernelBuilder::build_scatter(TensorId tensor, std::int32_t buffer) {
  const TensorDef& def = stages_.tensors[static_cast<std::size_t>(tensor)];
  open_domain(def.vars);
  draft_.output = buffer;
  draft_.store = StoreKind::Combine;
  draft_.combine = def.op;
  std::vector<IndexExpr> at;
  for (NodeId index : def.indices) at.push_back(evaluate(index, 0).index);
  Node place;
  place.ref = tensor;
  place.span = def.span;
  check_indices(place, at);
  store(evaluate(def.body, 0), at, row_major(def.shape));
}

void KernelBuilder::build_joint(std::span<const JointTensor> tensors) {
  for (const JointTensor& each : tensors) joint_.push_back(each.tensor);
  std::vector<IndexExpr> axes;
  for (IndexVarId var : stages_.tensors[static_cast<std::size_t>(tensors[0].tensor)].vars) {
    const std::int64_t extent = stages_.var_extents[static_cast<std::size_t>(var)];
    if (extent != 1) axes.push_back(new_axis(extent, 0));
  }
  for (const JointTensor& each : tensors) add_joint(each, axes);
}

void KernelBuilder::add_joint(const JointTensor& joint, std::span<const IndexExpr> axes) {
  const TensorDef& def = stages_.tensors[static_cast<std::size_t>(joint.tensor)];
  std::vector<IndexExpr> point;
  std::size_t next = 0;
  for (IndexVarId var : def.vars) {
    const bool is_one = stages_.var_extents[static_cast<std::size_t>(var)] == 1;
    point.push_back(is_one ? IndexExpr{} : axes[next++]);
  }
  const auto instance = static_cast<std::int32_t>(instances_.size());
  instances_.push_back({joint.tensor, point});
  for (std::size_t i = 0; i < point.size(); ++i)
    vars_[static_cast<std::size_t>(def.vars[i])] = point[i];
  Operand value = evaluate(def.body, instance);
  if (joint.buffer < 0) return;
  std::vector<IndexExpr> at = std::move(point);
  if (def.kind == TensorKind::Scatter) {
    at.clear();
    for (NodeId index : def.indices) at.push_back(evaluate(index, instance).index);
    // 0 + x is not x for -0.
    value =
        operand_of(emit_primitive(Prim::Add, def.dtype, {constant(def.dtype, 0), value_of(value)}));
  }
  DraftStore made{value_of(value), joint.buffer, {}};
  const std::vector<std::int64_t> strides = row_major(def.shape);
  for (std::size_t i = 0; i < at.size(); ++i)
    made.destination = made.destination + at[i] * strides[i];
  made.destination = settled(made.destination);
  if (draft_.output >= 0) {
    draft_.further.push_back(std::move(made));
    return;
  }
  draft_.output = made.output;
  draft_.regions[0].result = made.value;
  draft_.destination = std::move(made.destination);
}

bool KernelBuilder::is_full() const {
  constexpr std::size_t kMostStores = 32;
  constexpr std::size_t kMostValues = 400;
  return draft_.further.size() >= kMostStores || draft_.values.size() > kMostValues;
}

bool KernelBuilder::is_joint() const {
  if (is_full()) return false;
  // The body, and one reduction that all read: two might want to be walked in different ways.
  if (draft_.regions.size() > 2 || !draft_.sites.empty()) return false;
  for (const TensorId tensor : joint_) {
    const auto count = std::count_if(instances_.begin(), instances_.end(),
                                     [&](const Instance& each) { return each.tensor == tensor; });
    if (count != 1) return false;
  }
  return std::none_of(draft_.values.begin(), draft_.values.end(), [](const auto& value) {
    const bool divides =
        value.code == Code::Primitive && (value.prim == Prim::Div || value.prim == Prim::FloorDiv ||
                                          value.prim == Prim::Mod || value.prim == Prim::FloorMod);
    return divides && lang::is_int(value.dtype);
  });
}

std::optional<ResultLeaf> KernelBuilder::as_view(const std::vector<std::int64_t>& shape) const {
  if (draft_.regions.size() > 1 || !draft_.sites.empty() || draft_.store != StoreKind::Assign)
    return std::nullopt;
  const DraftInstruction& result =
      draft_.values[static_cast<std::size_t>(draft_.regions[0].result)];
  if (result.code != Code::Load && result.code != Code::ScalarInput) return std::nullopt;
  if (!result.args.empty()) return std::nullopt;
  ResultLeaf leaf;
  leaf.buffer = result.buffer;
  leaf.shape = shape;
  leaf.strides.assign(shape.size(), 0);
  leaf.offset = result.address.constant;
  // The domain axes are the axes of the result whose extent is not 1.
  std::vector<std::size_t> position(draft_.extents.size(), 0);
  std::size_t next = 0;
  for (std::int32_t axis : draft_.domain) {
    while (shape[next] == 1) ++next;
    position[static_cast<std::size_t>(axis)] = next++;
  }
  for (const auto& term : result.address.terms) {
    const auto& atom = draft_.space.atom(term.atom);
    if (atom.kind != IndexSpace::Atom::Kind::Axis) return std::nullopt;
    leaf.strides[position[static_cast<std::size_t>(atom.id)]] = term.coefficient;
  }
  return leaf;
}

// --- Where things stand ---

bool KernelBuilder::is_open(std::int32_t region) const {
  const auto depth =
      static_cast<std::size_t>(draft_.regions[static_cast<std::size_t>(region)].depth);
  return depth < open_.size() && open_[depth] == region;
}

std::int32_t KernelBuilder::deeper(std::int32_t a, std::int32_t b) const {
  return draft_.regions[static_cast<std::size_t>(a)].depth >=
                 draft_.regions[static_cast<std::size_t>(b)].depth
             ? a
             : b;
}

std::int32_t KernelBuilder::home_of(const IndexExpr& index) const {
  std::int32_t home = 0;
  for (const auto& term : index.terms) {
    const auto& atom = draft_.space.atom(term.atom);
    switch (atom.kind) {
      case IndexSpace::Atom::Kind::Axis:
        home = deeper(home, draft_.axis_home[static_cast<std::size_t>(atom.id)]);
        break;
      case IndexSpace::Atom::Kind::FloorDiv:
        home = deeper(home, home_of(atom.numerator));
        break;
      case IndexSpace::Atom::Kind::Opaque:
        home = deeper(home, draft_.values[static_cast<std::size_t>(atom.id)].home);
        break;
    }
  }
  return home;
}

std::int32_t KernelBuilder::home_of(const Operand& operand) const {
  return operand.is_index ? home_of(operand.index)
                          : draft_.values[static_cast<std::size_t>(operand.value)].home;
}

// The deepest region outside of `region` (which is at `depth`) that it takes values from.
std::int32_t KernelBuilder::outside_home(std::int32_t region, std::int32_t depth) const {
  std::int32_t home = 0;
  const auto note = [&](std::int32_t other) {
    if (draft_.regions[static_cast<std::size_t>(other)].depth < depth) home = deeper(home, other);
  };
  const DraftRegion& inside = draft_.regions[static_cast<std::size_t>(region)];
  for (ValueId id : inside.code) {
    const DraftInstruction& instruction = draft_.values[static_cast<std::size_t>(id)];
    for (ValueId arg : instruction.args) note(draft_.values[static_cast<std::size_t>(arg)].home);
    note(home_of(instruction.address));
    for (const auto& term : instruction.address.terms) note(home_of(IndexExpr{0, {term}}));
    if (instruction.code == Code::Reduce) note(outside_home(instruction.region, depth));
  }
  note(draft_.values[static_cast<std::size_t>(inside.result)].home);
  return home;
}

// --- Instructions ---

ValueId KernelBuilder::emit(DraftInstruction instruction) {
  std::int32_t home = home_of(instruction.address);
  for (ValueId arg : instruction.args)
    home = deeper(home, draft_.values[static_cast<std::size_t>(arg)].home);
  if (instruction.code == Code::Axis)
    home = draft_.axis_home[static_cast<std::size_t>(instruction.axis)];
  instruction.home = home;
  const std::uint64_t hash = hash_of(instruction);
  const auto [first, last] = known_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (same(draft_.values[static_cast<std::size_t>(it->second)], instruction)) return it->second;
  }
  const auto id = static_cast<ValueId>(draft_.values.size());
  draft_.regions[static_cast<std::size_t>(home)].code.push_back(id);
  draft_.values.push_back(std::move(instruction));
  known_.emplace(hash, id);
  return id;
}

ValueId KernelBuilder::emit_primitive(Prim prim, DType dtype, std::vector<ValueId> args) {
  DraftInstruction instruction;
  instruction.code = Code::Primitive;
  instruction.dtype = dtype;
  instruction.prim = prim;
  instruction.args = std::move(args);
  return emit(std::move(instruction));
}

ValueId KernelBuilder::constant(DType dtype, std::uint64_t bits) {
  DraftInstruction instruction;
  instruction.dtype = dtype;
  instruction.bits = bits;
  return emit(std::move(instruction));
}

// An int64 that comes from sizes: only what is the same for most sizes is part of the code.
ValueId KernelBuilder::number(std::int64_t value) {
  if (value >= -1 && value <= 2) return constant(DType::Int64, static_cast<std::uint64_t>(value));
  DraftInstruction instruction;
  instruction.code = Code::SizeValue;
  instruction.number = value;
  return emit(std::move(instruction));
}

ValueId KernelBuilder::atom_value(AtomId id) {
  const IndexSpace::Atom atom = draft_.space.atom(id);
  switch (atom.kind) {
    case IndexSpace::Atom::Kind::Opaque:
      return atom.id;
    case IndexSpace::Atom::Kind::Axis: {
      draft_.axis_is_value[static_cast<std::size_t>(atom.id)] = true;
      DraftInstruction instruction;
      instruction.code = Code::Axis;
      instruction.axis = atom.id;
      return emit(std::move(instruction));
    }
    case IndexSpace::Atom::Kind::FloorDiv:
      break;
  }
  // The divisor is part of the code: division by a constant is several times as fast.
  const auto range = draft_.space.range(atom.numerator);
  const Prim prim = range && range->low >= 0 ? Prim::Div : Prim::FloorDiv;
  const ValueId divisor = constant(DType::Int64, static_cast<std::uint64_t>(atom.divisor));
  return emit_primitive(prim, DType::Int64, {index_value(atom.numerator), divisor});
}

ValueId KernelBuilder::index_value(const IndexExpr& index) {
  if (index.is_constant()) return number(index.constant);
  // What changes in outer loops first, so that partial sums stay there.
  std::vector<IndexTerm> terms = index.terms;
  const auto depth = [&](const IndexTerm& term) {
    return draft_.regions[static_cast<std::size_t>(home_of(IndexExpr{0, {term}}))].depth;
  };
  std::stable_sort(terms.begin(), terms.end(),
                   [&](const IndexTerm& a, const IndexTerm& b) { return depth(a) < depth(b); });
  ValueId sum = index.constant != 0 ? number(index.constant) : -1;
  for (const auto& term : terms) {
    ValueId value = atom_value(term.atom);
    const bool subtracts = sum >= 0 && term.coefficient == -1;
    if (term.coefficient != 1 && !subtracts)
      value = emit_primitive(Prim::Mul, DType::Int64, {value, number(term.coefficient)});
    if (sum >= 0)
      value = emit_primitive(subtracts ? Prim::Sub : Prim::Add, DType::Int64, {sum, value});
    sum = value;
  }
  return sum;
}

// An address over axes and values only: divisions become values.
IndexExpr KernelBuilder::settled(const IndexExpr& address) {
  IndexExpr result = IndexSpace::constant(address.constant);
  for (const auto& term : address.terms) {
    IndexExpr atom{0, {{term.atom, 1}}};
    if (draft_.space.atom(term.atom).kind == IndexSpace::Atom::Kind::FloorDiv)
      atom = draft_.space.opaque(atom_value(term.atom));
    result = result + atom * term.coefficient;
  }
  return result;
}

KernelBuilder::Operand KernelBuilder::operand_of(ValueId value, std::optional<IndexRange> range) {
  Operand operand;
  operand.value = value;
  const DraftInstruction& instruction = draft_.values[static_cast<std::size_t>(value)];
  if (instruction.dtype != DType::Int64) return operand;
  operand.is_index = true;
  if (instruction.code == Code::Constant) {
    operand.index = IndexSpace::constant(static_cast<std::int64_t>(instruction.bits));
  } else {
    operand.index = draft_.space.opaque(value, range);
  }
  return operand;
}

std::optional<std::uint64_t> KernelBuilder::constant_bits(const Operand& operand) const {
  if (operand.is_index) {
    if (operand.index.is_constant()) return static_cast<std::uint64_t>(operand.index.constant);
    return std::nullopt;
  }
  const DraftInstruction& instruction = draft_.values[static_cast<std::size_t>(operand.value)];
  if (instruction.code == Code::Constant) return instruction.bits;
  return std::nullopt;
}

// --- Nodes ---

KernelBuilder::Operand KernelBuilder::evaluate(NodeId id, std::int32_t instance) {
  const Node& node = stages_.nodes[static_cast<std::size_t>(id)];
  Operand result;
  if (node.kind == NodeKind::IndexVar) {
    result.is_index = true;
    result.index = vars_[static_cast<std::size_t>(node.ref)];
    return result;
  }
  if (node.kind == NodeKind::Constant && node.dtype == DType::Int64) {
    result.is_index = true;
    result.index.constant = static_cast<std::int64_t>(node.bits);
    return result;
  }
  if (node.kind == NodeKind::Constant) {
    result.value = constant(node.dtype, node.bits);
    return result;
  }
  const std::uint64_t key =
      static_cast<std::uint64_t>(instance) << 32 | static_cast<std::uint32_t>(id);
  const auto found = memo_.find(key);
  if (found != memo_.end() && is_open(found->second.home)) return found->second.operand;
  result = evaluate_fresh(id, instance);
  memo_[key] = {result, home_of(result)};
  return result;
}

KernelBuilder::Operand KernelBuilder::evaluate_fresh(NodeId id, std::int32_t instance) {
  const Node& node = stages_.nodes[static_cast<std::size_t>(id)];
  switch (node.kind) {
    case NodeKind::Primitive:
      return primitive(node, instance);
    case NodeKind::Read:
      return read(node, instance);
    default:
      return reduce(node, instance);
  }
}

KernelBuilder::Operand KernelBuilder::primitive(const Node& node, std::int32_t instance) {
  const auto ids = stages_.args(node);
  std::array<Operand, 3> operands;
  const int within = node.prim == Prim::Select ? 1 : 0;
  selects_ += within;
  for (std::size_t i = 0; i < ids.size(); ++i) operands[i] = evaluate(ids[i], instance);
  selects_ -= within;
  const std::span<const Operand> args(operands.data(), ids.size());
  if (node.prim == Prim::Select) {
    if (const auto condition = constant_bits(args[0])) return *condition != 0 ? args[1] : args[2];
  }
  if (!masks_.empty() && lang::divides_integers(node.prim, node.dtype)) {
    const auto divisor = constant_bits(args[1]);
    if (!divisor || *divisor == 0) {
      const ValueId one = constant(node.dtype, lang::bits_from_int(node.dtype, 1));
      operands[1] = operand_of(
          emit_primitive(Prim::Select, node.dtype, {all_of(masks_), value_of(args[1]), one}));
    }
  }
  std::optional<Operand> simple;
  if (node.dtype == DType::Int64) {
    simple = index_primitive(node.prim, args);
  } else if (node.dtype == DType::Bool) {
    simple = args.back().is_index && args.size() == 2 ? comparison(node.prim, args[0], args[1])
                                                      : logic(node.prim, args);
  }
  if (simple) return *simple;
  std::vector<ValueId> values;
  values.reserve(args.size());
  for (const Operand& arg : args) values.push_back(value_of(arg));
  return operand_of(emit_primitive(node.prim, node.dtype, std::move(values)));
}

// --- Reading tensors ---

bool KernelBuilder::is_in_memory(TensorId tensor) const {
  return storage_[static_cast<std::size_t>(tensor)] == Storage::Stored &&
         std::find(joint_.begin(), joint_.end(), tensor) == joint_.end();
}

KernelBuilder::Operand KernelBuilder::read(const Node& node, std::int32_t instance) {
  std::vector<IndexExpr> indices;
  indices.reserve(node.arg_count);
  for (NodeId arg : stages_.indices(node)) indices.push_back(evaluate(arg, instance).index);
  if (are_within(node, indices)) return read_at(node, std::move(indices), {});
  if (node.is_guarded) {
    if (auto masked = guarded_read(node, indices, instance)) return *masked;
  }
  if (node.is_checked) {
    check_indices(node, indices);
    ++checks_;
    const Operand element = read_at(node, std::move(indices), masks_);
    --checks_;
    return element;
  }
  const bool is_stored = is_in_memory(node.ref);
  // Of what has no element, a masked read gives what the mask hides.
  const auto& shape = stages_.tensors[static_cast<std::size_t>(node.ref)].shape;
  if (is_stored && selects_ > 0 && count_of(shape) == 0) return operand_of(constant(node.dtype, 0));
  if (is_stored || selects_ == 0) guard_indices(node, indices, is_stored);
  return read_at(node, std::move(indices), masks_);
}

KernelBuilder::Operand KernelBuilder::read_at(const Node& node, std::vector<IndexExpr> indices,
                                              Masks masks) {
  for (const SliceRead& each : slices_) {
    if (&node != &stages_.nodes[static_cast<std::size_t>(each.read)]) continue;
    std::vector<IndexExpr> at;
    for (IndexVarId var : each.vars) at.push_back(vars_[static_cast<std::size_t>(var)]);
    return load(each.slice, at, masks);
  }
  return is_in_memory(node.ref) ? load(node.ref, indices, masks)
                                : inlined(node.ref, std::move(indices), std::move(masks));
}

Site KernelBuilder::site_of(const Node& node, std::size_t axis) const {
  const TensorDef& def = stages_.tensors[static_cast<std::size_t>(node.ref)];
  const std::size_t points = std::min(def.point_axes, axis);
  return {node.span,
          nullptr,
          static_cast<std::int32_t>(axis - points),
          {def.shape.begin() + static_cast<std::ptrdiff_t>(points), def.shape.end()}};
}

void KernelBuilder::check_index(const IndexExpr& index, std::int64_t extent, Site site,
                                ValueId guard) {
  DraftInstruction check;
  check.code = Code::CheckIndex;
  check.args = {index_value(index)};
  if (guard >= 0) check.args.push_back(guard);
  check.number = extent;
  check.site = static_cast<std::int32_t>(draft_.sites.size());
  const std::size_t before = draft_.values.size();
  emit(std::move(check));
  // The site is no part of what makes checks equal: the first of two equal ones is the one that
  // fails.
  if (draft_.values.size() > before) draft_.sites.push_back(std::move(site));
}

bool KernelBuilder::is_within(const IndexExpr& index, std::int64_t extent) const {
  const auto range = draft_.space.range(index);
  return range && range->low >= 0 && range->high < extent;
}

void KernelBuilder::check_indices(const Node& node, const std::vector<IndexExpr>& indices) {
  const auto& shape = stages_.tensors[static_cast<std::size_t>(node.ref)].shape;
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    if (!is_within(indices[axis], shape[axis]))
      check_index(indices[axis], shape[axis], site_of(node, axis), all_of(masks_));
  }
}

// A type rule says that such a read stays within its tensor. What is seen to leave it is refused;
// where intervals are too coarse to see either, or do not see that an index has been checked
// before, a read of memory is checked when it runs.
void KernelBuilder::guard_indices(const Node& node, const std::vector<IndexExpr>& indices,
                                  bool is_stored) {
  const auto& shape = stages_.tensors[static_cast<std::size_t>(node.ref)].shape;
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    const IndexExpr& index = indices[axis];
    if (is_within(index, shape[axis])) continue;
    const auto range = draft_.space.range(index);
    if (!range || !is_affine(index, draft_.space) || checks_ > 0) {
      if (is_stored) check_index(index, shape[axis], {node.span, node.reader}, all_of(masks_));
      continue;
    }
    if (!masks_.empty()) continue;  // it is outside where the mask is false
    // Axes take all their values, independently: both ends are reached.
    const std::int64_t outside = range->low < 0 ? range->low : range->high;
    lang::fail(lang::DiagnosticKind::IndexOutOfRange,
               fmt::format("{} element {} on axis {} of a tensor of shape `({})`",
                           node.reader ? fmt::format("`{}` reads", node.reader->name)
                                       : std::string("this reads"),
                           outside, axis, fmt::join(shape, ", ")),
               node.span);
  }
}

KernelBuilder::Operand KernelBuilder::load(TensorId tensor, const std::vector<IndexExpr>& indices,
                                           const Masks& masks) {
  const TensorDef& def = stages_.tensors[static_cast<std::size_t>(tensor)];
  const StoredAt& place = places_[static_cast<std::size_t>(tensor)];
  RELAY_CHECK(place.buffer >= 0, "a kernel reads a tensor that is not stored yet");
  DraftInstruction instruction;
  instruction.code = indices.empty() ? Code::ScalarInput : Code::Load;
  instruction.dtype = def.dtype;
  instruction.buffer = place.buffer;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (def.shape[i] != 1)
      instruction.address = instruction.address + indices[i] * place.strides[i];
  }
  instruction.address = settled(instruction.address);
  if (instruction.code == Code::Load) instruction.args = masks;
  return operand_of(emit(std::move(instruction)));
}

KernelBuilder::Operand KernelBuilder::inlined(TensorId tensor, std::vector<IndexExpr> indices,
                                              Masks masks) {
  const TensorDef& def = stages_.tensors[static_cast<std::size_t>(tensor)];
  RELAY_CHECK(def.kind == TensorKind::Map, "only maps dissolve into their readers");
  std::size_t instance = 1;
  while (instance < instances_.size() &&
         (instances_[instance].tensor != tensor || instances_[instance].indices != indices ||
          instances_[instance].masks != masks))
    ++instance;
  for (std::size_t i = 0; i < indices.size(); ++i)
    vars_[static_cast<std::size_t>(def.vars[i])] = indices[i];
  if (instance == instances_.size()) instances_.push_back({tensor, std::move(indices), masks});
  masks_.swap(masks);
  Operand result = evaluate(def.body, static_cast<std::int32_t>(instance));
  masks_.swap(masks);
  return result;
}

// --- Reductions ---

KernelBuilder::Operand KernelBuilder::reduce_nothing(const Node& node) {
  if (is_arg(node.op) || node.op == ReduceOp::Max || node.op == ReduceOp::Min) {
    lang::fail(lang::DiagnosticKind::ShapeMismatchAtRunTime,
               fmt::format("`{}` over nothing has no value", lang::name_of(node.op)));
  }
  return operand_of(constant(node.dtype, identity_bits(node.op, node.dtype)));
}

// What is folded.
KernelBuilder::Operand KernelBuilder::element_of(const Node& node, std::int32_t instance) {
  const auto operands = stages_.args(node);
  const Operand element = evaluate(operands[0], instance);
  if (node.op != ReduceOp::Dot) return element;
  const ValueId factor = value_of(element);
  const ValueId other = value_of(evaluate(operands[1], instance));
  return operand_of(emit_primitive(Prim::Mul, node.dtype, {factor, other}));
}

// One element, folded into the identity.
KernelBuilder::Operand KernelBuilder::reduce_one(const Node& node, std::int32_t instance) {
  for (IndexVarId var : stages_.vars(node)) vars_[static_cast<std::size_t>(var)] = {};
  const Operand element = element_of(node, instance);
  if (is_arg(node.op)) {
    Operand zero;
    zero.is_index = true;
    return zero;
  }
  // 0 + x is not x for -0.
  const bool adds = node.op == ReduceOp::Sum || node.op == ReduceOp::Dot;
  if (!adds || !lang::is_float(node.dtype)) return element;
  return operand_of(
      emit_primitive(Prim::Add, node.dtype, {constant(node.dtype, 0), value_of(element)}));
}

// Its terms, one after the other, folded in the order of loops/loop_ir.h. Of the identities only
// the zero of a sum of floats changes a bit, and that of negative zeros alone: it is added once.
KernelBuilder::Operand KernelBuilder::reduce_window(const Node& node,
                                                    const std::vector<std::int64_t>& extents) {
  const auto vars = stages_.vars(node);
  std::array<ValueId, kReductionLanes> terms;
  terms.fill(-1);
  std::vector<std::int64_t> at(extents.size(), 0);
  for (std::int64_t t = 0, count = points_of(extents); t < count; ++t) {
    for (std::size_t i = 0; i < at.size(); ++i)
      vars_[static_cast<std::size_t>(vars[i])] = IndexSpace::constant(at[i]);
    const auto place = static_cast<std::int32_t>(instances_.size());
    instances_.push_back({-1, {}});
    terms[static_cast<std::size_t>(t)] = value_of(element_of(node, place));
    for (std::size_t i = at.size(); i-- > 0;) {
      if (++at[i] < extents[i]) break;
      at[i] = 0;
    }
  }
  const ValueId all = combined(terms.data(), [&](ValueId a, ValueId b) {
    return b < 0 ? a : emit_primitive(prim_of(node.op), node.dtype, {a, b});
  });
  if (node.op != ReduceOp::Sum || !lang::is_float(node.dtype)) return operand_of(all);
  return operand_of(emit_primitive(Prim::Add, node.dtype, {constant(node.dtype, 0), all}));
}

KernelBuilder::Operand KernelBuilder::reduce(const Node& node, std::int32_t instance) {
  std::vector<std::int64_t> extents;
  for (IndexVarId var : stages_.vars(node))
    extents.push_back(stages_.var_extents[static_cast<std::size_t>(var)]);
  const std::int64_t count = points_of(extents);
  if (count == 0) return reduce_nothing(node);
  if (count == 1) return reduce_one(node, instance);
  // Sums and products of narrow floats accumulate in float32.
  const bool widens =
      is_narrow_float(node.dtype) && (node.op == ReduceOp::Sum || node.op == ReduceOp::Prod);
  if (open_.size() == 1 && !is_nest_ && !widens && draft_.values.size() < kMostValues &&
      is_bordered_window(stages_, node))
    return reduce_window(node, extents);
  const auto number = static_cast<std::int32_t>(draft_.regions.size());
  const auto depth = static_cast<std::int32_t>(open_.size());
  draft_.regions.emplace_back();
  draft_.regions.back().op = node.op;
  draft_.regions.back().depth = depth;
  open_.push_back(number);
  for (IndexVarId var : stages_.vars(node)) {
    const std::int64_t extent = stages_.var_extents[static_cast<std::size_t>(var)];
    const std::string& name = stages_.var_names[static_cast<std::size_t>(var)];
    vars_[static_cast<std::size_t>(var)] =
        extent == 1 ? IndexExpr{} : new_axis(extent, number, name);
  }
  DType dtype = node.dtype;
  ValueId result = value_of(element_of(node, instance));
  if (widens) result = emit_primitive(Prim::Cast, dtype = DType::Float32, {result});
  draft_.regions[static_cast<std::size_t>(number)].result = result;
  open_.pop_back();
  DraftInstruction instruction;
  instruction.code = Code::Reduce;
  instruction.dtype = dtype;
  instruction.region = number;
  instruction.home = outside_home(number, depth);
  const std::int32_t home = instruction.home;
  const auto id = static_cast<ValueId>(draft_.values.size());
  draft_.values.push_back(std::move(instruction));
  draft_.regions[static_cast<std::size_t>(home)].code.push_back(id);
  if (widens) return operand_of(emit_primitive(Prim::Cast, node.dtype, {id}));
  if (is_arg(node.op)) return operand_of(id, IndexRange{0, count - 1});
  return operand_of(id);
}

}  // namespace relay::loops
