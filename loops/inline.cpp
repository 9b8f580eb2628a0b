#include "loops/inline.h"

#include <algorithm>
#include <set>
#include <utility>

#include "loops/pieces.h"

namespace relay::loops {

double cost_of(Prim prim) {
  switch (prim) {
    case Prim::Cast:
    case Prim::Neg:
    case Prim::Abs:
      return 0.5;
    case Prim::Div:
    case Prim::Sqrt:
      return 3;
    case Prim::Mod:
    case Prim::FloorDiv:
    case Prim::FloorMod:
      return 4;
    case Prim::Pow:
      return 30;
    default:
      break;
  }
  const bool is_math = prim >= Prim::Rsqrt && prim <= Prim::Erf;
  return is_math ? 10 : 1;
}

namespace {

constexpr double kStoreCost = 3;         // per element: store, and part of a pass over memory
constexpr double kFewOperations = 2000;  // about what another kernel costs
constexpr double kTurnedReads = 8;       // of each element, for which a copy pays
constexpr int kMaxNodes = 200;           // of one kernel, roughly
constexpr int kMostOfCondition = 5;      // steps in one another

// What one element of a tensor takes.
struct Body {
  double cost = 0;        // scalar operations
  double of_indices = 0;  // those of them that indices decide, which is done for whole vectors
  int nodes = 0;
  bool has_reduce = false;
  struct Use {
    TensorId tensor;
    double times;  // per element of the reader
    bool in_reduce;
    NodeId moved;  // an index that is more than a variable; -1: there is none
  };
  std::vector<Use> uses;
};

class Chooser {
 public:
  Chooser(const Stages& stages, KernelLibrary* library)
      : stages_(stages),
        library_(library),
        seen_(stages.nodes.size(), 0),
        storage_(stages.tensors.size(), Storage::Nowhere),
        facts_(stages.tensors.size()) {}

  StorageChoice run() {
    std::vector<bool> is_result(stages_.tensors.size(), false);
    for (TensorId result : stages_.results) {
      is_result[static_cast<std::size_t>(result)] = true;
      facts_[static_cast<std::size_t>(result)].evaluations += points(result);
    }
    find_siblings();
    // Readers stand behind what they read.
    for (auto i = static_cast<TensorId>(stages_.tensors.size()); i-- > 0;) {
      const auto at = static_cast<std::size_t>(i);
      const auto siblings = siblings_.find(i);
      if (siblings != siblings_.end()) choose_together(siblings->second);
      storage_[at] = choose(i, is_result[at]);
    }
    return {std::move(storage_), std::move(steps_)};
  }

 private:
  struct Facts {
    double evaluations = 0;  // of an element, over all readers
    int readers = 0;
    bool in_reduce = false;   // read inside a reduction
    bool in_several = false;  // read in several kernels
    bool is_operand = false;  // of a library: must be stored
    bool is_shared = false;   // much of it is part of its siblings too: must be stored
    TensorId root = 0;        // the stored tensor whose kernel this ends up in
    NodeId moved = -1;        // Body::Use::moved of the first use
    int nodes = 0;            // of the kernel, for roots
  };

  Storage choose(TensorId id, bool is_result) {
    const TensorDef& def = stages_.tensors[static_cast<std::size_t>(id)];
    if (def.kind == TensorKind::Argument || def.kind == TensorKind::Literal) return Storage::Stored;
    Facts& facts = facts_[static_cast<std::size_t>(id)];
    if (facts.evaluations == 0 && !is_result) return Storage::Nowhere;
    if (def.kind == TensorKind::Whole) {
      facts.root = id;
      read(def.init, points(def.init), false, id);
      return Storage::Stored;
    }
    // What a scatter starts from is zeros there, and not read.
    if (library_ && (choose_library(id, id, -1) || choose_addition(id, is_result))) {
      facts.root = id;
      return Storage::Stored;
    }
    const Body body = examine(def);
    const bool is_map = def.kind == TensorKind::Map;
    Storage storage =
        is_map && should_inline(def, body, facts, points(id)) ? Storage::Inlined : Storage::Stored;
    if (is_result) storage = is_map && body.cost == 0 ? Storage::View : Storage::Stored;
    if (facts.is_operand || facts.is_shared) storage = Storage::Stored;
    if (storage == Storage::Stored) {
      facts.evaluations = points_of_domain(def);
      facts.in_reduce = false;
      facts.in_several = false;
    }
    if (storage != Storage::Inlined) facts.root = id;
    facts_[static_cast<std::size_t>(facts.root)].nodes += body.nodes;
    spread(facts, body);
    if (!is_map) read(def.init, points(def.init), false, id);
    return storage;
  }

  // --- Siblings: the tensors that one comprehension makes, a tuple at each point ---

  // What reads a sibling stands behind all of them.
  void find_siblings() {
    std::vector<TensorId> siblings;
    const auto close = [&] {
      if (siblings.size() > 1) siblings_.emplace(siblings.back(), siblings);
      siblings.clear();
    };
    for (std::size_t at = 0; at < stages_.tensors.size(); ++at) {
      const TensorDef& def = stages_.tensors[at];
      const bool is_one = def.kind == TensorKind::Map && !def.vars.empty();
      if (is_one && !siblings.empty() &&
          stages_.tensors[static_cast<std::size_t>(siblings.back())].vars != def.vars)
        close();
      if (is_one) siblings.push_back(static_cast<TensorId>(at));
    }
    close();
  }

  // Where they would dissolve into several kernels, or one that reads them at several places, and
  // what they have in common would be computed for each, one kernel computes it for all of them.
  void choose_together(const std::vector<TensorId>& siblings) {
    std::vector<TensorId> read;
    bool are_apart = false;
    for (const TensorId each : siblings) {
      const Facts& facts = facts_[static_cast<std::size_t>(each)];
      if (facts.evaluations == 0) continue;
      if (!read.empty()) {
        const Facts& first = facts_[static_cast<std::size_t>(read[0])];
        are_apart = are_apart || facts.root != first.root || facts.moved != first.moved;
      }
      read.push_back(each);
    }
    if (!are_apart) return;
    choices_count_by_part_ = true;
    double apart = 0;
    for (const TensorId each : read) {
      const Body body = examine(stages_.tensors[static_cast<std::size_t>(each)]);
      apart += body.cost - body.of_indices;
    }
    ++stamp_;
    piece_var_ = -1;
    Body together;
    for (const TensorId each : read)
      visit(stages_.tensors[static_cast<std::size_t>(each)].body, 1, false, together);
    choices_count_by_part_ = false;
    const double saved = apart - (together.cost - together.of_indices);
    const double stored = (kStoreCost + 1) * static_cast<double>(read.size());
    if (saved <= stored || (saved - stored) * points(read[0]) <= kFewOperations) return;
    for (const TensorId each : read) facts_[static_cast<std::size_t>(each)].is_shared = true;
  }

  // Does the library compute `id` as the sums of products that `sum` is, added to `start` if there
  // is one?
  bool choose_library(TensorId id, TensorId sum, TensorId start) {
    for (Recognised& call : recognise(stages_, sum)) {
      if (start >= 0) {
        auto* const contraction = std::get_if<Contraction>(&call.form);
        if (!contraction) continue;
        contraction->adds = true;
      }
      auto kernel = library_->choose(call.form);
      if (!kernel) continue;
      for (const TensorId operand : {call.left, call.right}) {
        read(operand, points(operand), false, id);
        facts_[static_cast<std::size_t>(operand)].is_operand = true;
      }
      if (start >= 0) read(start, points(id), false, id);
      steps_.emplace(id, LibraryStep{std::move(call), std::move(kernel), start});
      return true;
    }
    return false;
  }

  // Of a sum of two tensors that is stored in any case: is one of them a library's, and read by
  // nothing else?
  bool choose_addition(TensorId id, bool is_result) {
    const TensorDef& def = stages_.tensors[static_cast<std::size_t>(id)];
    const bool is_stored = is_result || facts_[static_cast<std::size_t>(id)].is_operand;
    if (!is_stored || def.kind != TensorKind::Map || !lang::is_float(def.dtype)) return false;
    const Node& sum = stages_.nodes[static_cast<std::size_t>(def.body)];
    if (sum.kind != NodeKind::Primitive || sum.prim != Prim::Add) return false;
    const TensorId left = read_in_place(def, stages_.args(sum)[0]);
    const TensorId right = read_in_place(def, stages_.args(sum)[1]);
    if (left < 0 || right < 0 || left == right) return false;
    return (is_read_once(right) && choose_library(id, right, left)) ||
           (is_read_once(left) && choose_library(id, left, right));
  }

  // The tensor whose element at the same place `node` is, or -1.
  TensorId read_in_place(const TensorDef& def, NodeId id) const {
    const Node& node = stages_.nodes[static_cast<std::size_t>(id)];
    if (node.kind != NodeKind::Read || node.is_guarded) return -1;
    if (stages_.tensors[static_cast<std::size_t>(node.ref)].shape != def.shape) return -1;
    const auto indices = stages_.args(node);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const Node& index = stages_.nodes[static_cast<std::size_t>(indices[i])];
      const bool is_same = index.kind == NodeKind::IndexVar && index.ref == def.vars[i];
      if (!is_same && def.shape[i] != 1) return -1;
    }
    return node.ref;
  }

  // By one tensor, and no result: nothing else needs it.
  bool is_read_once(TensorId id) {
    const auto& results = stages_.results;
    if (std::find(results.begin(), results.end(), id) != results.end()) return false;
    if (readers_.empty()) count_readers();
    return readers_[static_cast<std::size_t>(id)] == 1;
  }

  // Of each tensor, by how many others it is read.
  void count_readers() {
    readers_.assign(stages_.tensors.size(), 0);
    for (const TensorDef& def : stages_.tensors) {
      if (def.init >= 0) ++readers_[static_cast<std::size_t>(def.init)];
      if (def.body < 0) continue;
      std::set<TensorId> read;
      for (const Body::Use& use : examine(def).uses) read.insert(use.tensor);
      for (const TensorId each : read) ++readers_[static_cast<std::size_t>(each)];
    }
  }

  double points(TensorId id) const {
    return static_cast<double>(count_of(stages_.tensors[static_cast<std::size_t>(id)].shape));
  }
  double points_of_domain(const TensorDef& def) const {
    double product = 1;
    for (IndexVarId var : def.vars)
      product *= static_cast<double>(stages_.var_extents[static_cast<std::size_t>(var)]);
    return product;
  }

  Body examine(const TensorDef& def) {
    Body body;
    piece_var_ = -1;
    if (def.kind == TensorKind::Map) {
      const auto id = static_cast<TensorId>(&def - stages_.tensors.data());
      if (const auto pieces = find_pieces(stages_, storage_, id)) {
        piece_var_ = def.vars[pieces->axis];
        piece_ = {0, def.shape[pieces->axis]};
      }
    }
    body.has_reduce = stages_.nodes[static_cast<std::size_t>(def.body)].has_reduce;
    ++stamp_;
    visit(def.body, 1, false, body);
    for (NodeId index : def.indices) visit(index, 1, false, body);
    return body;
  }

  void visit(NodeId id, double times, bool in_reduce, Body& body) {
    // Once per tensor, or twice: inside of reductions and outside.
    const std::int32_t mark = 2 * stamp_ + (in_reduce ? 0 : 1);
    std::int32_t& seen = seen_[static_cast<std::size_t>(id)];
    if (seen >= mark) return;
    seen = mark;
    const Node& node = stages_.nodes[static_cast<std::size_t>(id)];
    ++body.nodes;
    double inner = times;
    bool inside = in_reduce;
    switch (node.kind) {
      case NodeKind::Primitive:
        // What is computed from indices alone mostly turns into addresses.
        if (node.has_read || node.dtype != DType::Int64) body.cost += times * cost_of(node.prim);
        if (!node.has_read && node.dtype == DType::Bool)
          body.of_indices += times * cost_of(node.prim);
        break;
      case NodeKind::Read:
        body.uses.push_back({node.ref, times, in_reduce, moved_index(node)});
        break;
      case NodeKind::Reduce:
        for (IndexVarId var : stages_.vars(node))
          inner *= static_cast<double>(stages_.var_extents[static_cast<std::size_t>(var)]);
        body.cost += inner;
        inside = true;
        break;
      default:
        break;
    }
    const bool is_choice = node.kind == NodeKind::Primitive && node.prim == Prim::Select;
    if (is_choice && piece_var_ >= 0 && visit_pieces(node, inner, inside, body)) return;
    const auto args = stages_.args(node);
    // What indices decide is decided for parts of rows, and only one branch is computed in each.
    const bool is_by_part =
        is_choice && choices_count_by_part_ && is_decided_by_indices(args[0], kMostOfCondition);
    for (std::size_t i = 0; i < args.size(); ++i)
      visit(args[i], is_by_part && i > 0 ? inner / 2 : inner, inside, body);
  }

  // Is it made of indices, and of numbers that are the same at all points?
  bool is_decided_by_indices(NodeId id, int budget) const {
    const Node& node = stages_.nodes[static_cast<std::size_t>(id)];
    if (node.kind == NodeKind::Reduce || budget == 0) return false;
    const auto args = stages_.args(node);
    if (node.kind == NodeKind::Read) return args.empty();
    return std::all_of(args.begin(), args.end(),
                       [&](NodeId arg) { return is_decided_by_indices(arg, budget - 1); });
  }

  // Of a choice between two parts of the axis along which the tensor is made in pieces, each branch
  // is computed in its own part.
  bool visit_pieces(const Node& choice, double times, bool inside, Body& body) {
    const auto args = stages_.args(choice);
    const Node& condition = stages_.nodes[static_cast<std::size_t>(args[0])];
    if (condition.kind != NodeKind::Primitive || condition.prim != Prim::Lt) return false;
    const Node& index = stages_.nodes[static_cast<std::size_t>(stages_.args(condition)[0])];
    const Node& bound = stages_.nodes[static_cast<std::size_t>(stages_.args(condition)[1])];
    const auto [begin, end] = piece_;
    if (index.kind != NodeKind::IndexVar || index.ref != piece_var_ ||
        bound.kind != NodeKind::Constant)
      return false;
    const std::int64_t turn = std::clamp(static_cast<std::int64_t>(bound.bits), begin, end);
    const double part = static_cast<double>(turn - begin) /
                        static_cast<double>(std::max<std::int64_t>(end - begin, 1));
    piece_ = {begin, turn};
    visit(args[1], times * part, inside, body);
    piece_ = {turn, end};
    visit(args[2], times * (1 - part), inside, body);
    piece_ = {begin, end};
    return true;
  }

  // A copy with another axis last: neighbours would be read from far apart.
  bool is_turned(const TensorDef& def) const {
    const Node& node = stages_.nodes[static_cast<std::size_t>(def.body)];
    if (def.vars.empty() || node.kind != NodeKind::Read) return false;
    const auto indices = stages_.indices(node);
    const auto is_of_last = [&](NodeId id) {
      const Node& index = stages_.nodes[static_cast<std::size_t>(id)];
      return index.kind == NodeKind::IndexVar && index.ref == def.vars.back();
    };
    return indices.size() > 1 && !is_of_last(indices.back()) &&
           std::any_of(indices.begin(), indices.end(), is_of_last);
  }

  bool should_inline(const TensorDef& def, const Body& body, const Facts& facts,
                     double count) const {
    const bool fits = facts_[static_cast<std::size_t>(facts.root)].nodes + body.nodes <= kMaxNodes;
    if (body.cost == 0)  // a copy, a constant
      return facts.evaluations < kTurnedReads * count || !is_turned(def);
    if (!fits) return false;
    // A scatter goes over its points one by one, after what it starts from has been made.
    const TensorKind kind = stages_.tensors[static_cast<std::size_t>(facts.root)].kind;
    if (body.has_reduce && kind == TensorKind::Scatter && body.cost * count > kFewOperations)
      return false;
    if (body.has_reduce)
      return facts.readers == 1 && !facts.in_reduce && !facts.in_several &&
             facts.evaluations <= count;
    const double again = (facts.evaluations - count) * body.cost;
    if (again <= kFewOperations) return true;
    const double loads = facts.in_reduce ? 0 : facts.evaluations;
    return again <= kStoreCost * count + loads;
  }

  void spread(const Facts& reader, const Body& body) {
    for (const Body::Use& use : body.uses) {
      read(use.tensor, reader.evaluations * use.times, use.in_reduce || reader.in_reduce,
           reader.root, reader.in_several, use.moved);
    }
  }

  NodeId moved_index(const Node& read) const {
    for (const NodeId index : stages_.indices(read)) {
      if (stages_.nodes[static_cast<std::size_t>(index)].kind != NodeKind::IndexVar) return index;
    }
    return -1;
  }

  void read(TensorId tensor, double evaluations, bool in_reduce, TensorId root,
            bool in_several = false, NodeId moved = -1) {
    Facts& facts = facts_[static_cast<std::size_t>(tensor)];
    facts.evaluations += evaluations;
    facts.in_reduce = facts.in_reduce || in_reduce;
    const bool is_first = facts.readers++ == 0;
    facts.in_several = facts.in_several || in_several || (!is_first && facts.root != root);
    const auto nodes_of = [&](TensorId id) { return facts_[static_cast<std::size_t>(id)].nodes; };
    if (is_first) facts.moved = moved;
    if (is_first || nodes_of(root) > nodes_of(facts.root)) facts.root = root;
  }

  const Stages& stages_;
  KernelLibrary* library_;
  std::map<TensorId, LibraryStep> steps_;
  std::vector<std::int32_t> seen_;
  std::int32_t stamp_ = 0;
  std::vector<Storage> storage_;
  std::vector<Facts> facts_;
  std::vector<int> readers_;                            // once they have been counted
  std::map<TensorId, std::vector<TensorId>> siblings_;  // by the last of them
  // Of what is examined, where it is made in pieces: along what, and which part is visited.
  IndexVarId piece_var_ = -1;
  bool choices_count_by_part_ = false;
  std::pair<std::int64_t, std::int64_t> piece_;
};

}  // namespace

StorageChoice choose_storage(const Stages& stages, KernelLibrary* library) {
  return Chooser(stages, library).run();
}

}  // namespace relay::loops
