#include "loops/schedule.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "loops/launch_editor.h"
#include "loops/launch_sizes.h"

namespace relay::loops {

using lang::DiagnosticKind;
using lang::ScheduledNest;

namespace {

constexpr std::int64_t kMostCached = std::int64_t{1} << 28;  // elements of a copy

std::int32_t leaves_of(const lang::Type& type) {
  const auto* tuple = lang::as<lang::TupleType>(type);
  if (tuple == nullptr) return 1;
  std::int32_t count = 0;
  for (const lang::Type& field : tuple->fields) count += leaves_of(field);
  return count;
}

// What a tensor's own code does: its reductions, the names of their indices, and the leaf arguments
// that it reads.
class BodyFinder {
 public:
  explicit BodyFinder(const Stages& stages) : stages_(stages) {}

  void look_at(NodeId id) {
    if (!seen_.insert(id).second) return;
    const Node& node = stages_.nodes[static_cast<std::size_t>(id)];
    if (node.kind == NodeKind::Reduce) {
      ++reductions;
      for (const IndexVarId var : stages_.vars(node))
        reduced.push_back(stages_.var_names[static_cast<std::size_t>(var)]);
    }
    for (const NodeId arg : stages_.args(node)) look_at(arg);
    if (node.kind != NodeKind::Read) return;
    const TensorDef& read = stages_.tensors[static_cast<std::size_t>(node.ref)];
    if (read.kind == TensorKind::Argument) leaves.insert(read.leaf);
    // What an operator makes for one point is part of the point's own code.
    if (read.kind == TensorKind::Map && read.point_axes > 0) look_at(read.body);
  }

  std::size_t reductions = 0;
  std::vector<std::string> reduced;
  std::set<std::int32_t> leaves;

 private:
  const Stages& stages_;
  std::set<NodeId> seen_;
};

// Has the nest take the steps that are about it; the function may have others, which the other
// steps are about. What a step makes of a loop is known once it is done, and no name says what it
// was made of: `a_b` may be an index as well as `a` and `b`, fused.
void apply_own_steps(ScheduledNest& nest, const lang::ScheduleSteps& steps) {
  for (const lang::ScheduleStep& step : steps) {
    if (!nest.concerns(step)) continue;
    if (auto refusal = nest.apply(step, "the function")) throw lang::Failure(*refusal);
  }
  if (auto refusal = nest.check()) throw lang::Failure(*refusal);
}

}  // namespace

std::optional<GroupSchedule> GroupSchedule::of(const lang::Function& group, const Stages& stages) {
  const std::string* text = lang::schedule_of(group);
  if (text == nullptr) return std::nullopt;
  GroupSchedule schedule;
  std::int32_t leaf = 0;
  for (const lang::VariableRef& param : group.params) {
    if (!lang::as<lang::TupleType>(param->type)) schedule.arguments_.emplace(param->name, leaf);
    leaf += leaves_of(param->type);
  }
  std::vector<ScheduledNest> nests;
  std::vector<TensorId> ids;
  for (std::size_t at = 0; at < stages.tensors.size(); ++at) {
    const TensorDef& def = stages.tensors[at];
    if (def.kind != TensorKind::Map || def.vars.empty() || def.point_axes > 0) continue;
    std::vector<std::string> domain;
    for (const IndexVarId var : def.vars)
      domain.push_back(stages.var_names[static_cast<std::size_t>(var)]);
    if (std::find(domain.begin(), domain.end(), "") != domain.end()) continue;
    // Of two loops of one name, as derivatives may have, no step could tell which it is about.
    if (std::set(domain.begin(), domain.end()).size() < domain.size()) continue;
    BodyFinder body(stages);
    body.look_at(def.body);
    if (body.reductions > 1) body.reduced.clear();
    std::vector<std::string> tensors;
    for (const auto& [name, place] : schedule.arguments_) {
      if (body.leaves.contains(place)) tensors.push_back(name);
    }
    nests.emplace_back(std::move(domain), std::move(body.reduced), body.reductions,
                       std::move(tensors), def.name);
    ids.push_back(static_cast<TensorId>(at));
  }
  const lang::ScheduleSteps steps = lang::read_schedule(*text);
  for (std::size_t i = 0; i < nests.size(); ++i) {
    // One by one: what a function inside of the function computes is here as often as it is called,
    // and all of these are the one nest of the text.
    if (lang::inherits_schedule(group)) {
      (void)lang::take_over(steps, nests[i]);
    } else {
      apply_own_steps(nests[i], steps);
    }
    if (nests[i].is_changed()) schedule.nests_.emplace(ids[i], nests[i]);
  }
  for (const ScheduledNest& guest : nests) {
    if (!guest.computed_at()) continue;
    for (std::size_t i = 0; i < nests.size(); ++i) {
      if (nests[i].loops().front().name == guest.computed_at()->text)
        schedule.nests_.emplace(ids[i], nests[i]);
    }
  }
  return schedule;
}

const ScheduledNest* GroupSchedule::nest_of(TensorId tensor) const {
  const auto found = nests_.find(tensor);
  return found == nests_.end() ? nullptr : &found->second;
}

std::optional<std::int32_t> GroupSchedule::argument(const std::string& name) const {
  const auto found = arguments_.find(name);
  if (found == arguments_.end()) return std::nullopt;
  return found->second;
}

namespace {

class NestScheduler {
 public:
  NestScheduler(const ScheduledNest& schedule, NamedLaunch nest, const ArgumentOf& argument,
                const MakeBuffer& make_buffer)
      : schedule_(schedule),
        argument_(argument),
        make_buffer_(make_buffer),
        nest_(std::move(nest)) {}

  std::vector<ScheduledLaunch> run() {
    check_order(nest_.launch, schedule_);
    LaunchEditor whole(nest_);
    fuse(whole);
    const std::vector<Part> parts = parts_of(whole);
    nest_.axes = whole.names();
    nest_.launch = whole.take();
    for (const Part& part : parts) {
      LaunchEditor editor(nest_);
      for (const Box& box : part.boxes) editor.cut(box.axis, box.begin, box.end);
      settle(editor, part.share);
      if (part.is_main) {
        put_in_schedule(editor);
      } else {
        drop_fused(editor);
        launches_.push_back(
            {editor.take(), ScheduledLaunch::Kind::Rest, divisor_of(schedule_.domain().front())});
      }
    }
    return std::move(launches_);
  }

 private:
  struct Box {
    std::int32_t axis;
    std::int64_t begin, end;
  };
  // A part of the points: `share` of them.
  struct Part {
    std::vector<Box> boxes;
    bool is_main = false;
    double share = 1;
  };

  void fuse(LaunchEditor& editor) {
    for (const ScheduledNest::Fuse& each : schedule_.fuses()) {
      const std::int32_t outer = editor.axis(each.outer);
      const std::int32_t inner = editor.axis(each.inner);
      if (outer >= 0 && inner >= 0) {
        if (!editor.fuse(outer, inner, each.result))
          refuse(fmt::format("fusing `{}` and `{}` here", each.outer, each.inner), schedule_);
      } else if (outer >= 0 || inner >= 0) {
        editor.rename(std::max(outer, inner), each.result);
      }
    }
  }

  // Axes that have become part of another are no loops any more.
  void drop_fused(LaunchEditor& editor) const {
    if (schedule_.fuses().empty()) return;
    std::vector<std::int32_t> domain;
    for (std::int32_t axis = 0; axis < editor.kernel().domain_rank; ++axis) {
      if (!editor.names()[static_cast<std::size_t>(axis)].empty()) domain.push_back(axis);
    }
    editor.put_in_order(domain, false);
  }

  // By what the extent of a loop of the nest must be divided.
  std::int64_t divisor_of(const std::string& name) const {
    std::int64_t divisor = 1;
    std::string at = name;
    for (const ScheduledNest::Split& split : schedule_.splits()) {
      if (split.of != at) continue;
      divisor *= split.size;
      at = split.outer;
    }
    return divisor;
  }

  // First the part that all sizes divide, then what is left along each axis.
  std::vector<Part> parts_of(const LaunchEditor& editor) const {
    std::vector<Part> parts;
    std::vector<Box> before;
    double share = 1;
    for (const std::string& name : schedule_.domain()) {
      const bool is_split =
          std::any_of(schedule_.splits().begin(), schedule_.splits().end(),
                      [&](const ScheduledNest::Split& split) { return split.of == name; });
      if (!is_split) continue;
      const std::int64_t divisor = divisor_of(name);
      const std::int32_t axis = editor.axis(name);
      if (axis < 0) return {{{}, false, 1}};  // one step, which cannot be split
      const std::int64_t extent = editor.extent(axis);
      const std::int64_t end = extent / divisor * divisor;
      if (end == extent) continue;
      Part rest{before, false,
                share * static_cast<double>(extent - end) / static_cast<double>(extent)};
      rest.boxes.push_back({axis, end, extent});
      parts.push_back(std::move(rest));
      if (end == 0) return parts;
      before.push_back({axis, 0, end});
      share *= static_cast<double>(end) / static_cast<double>(extent);
    }
    parts.insert(parts.begin(), Part{before, true, share});
    return parts;
  }

  void settle(LaunchEditor& editor, double share) const {
    Launch& launch = editor.launch();
    launch.is_scheduled = true;
    launch.is_parallel = std::any_of(
        schedule_.loops().begin(), schedule_.loops().end(),
        [](const lang::ScheduledLoop& loop) { return loop.run == lang::LoopRun::Parallel; });
    launch.cost = static_cast<std::int64_t>(static_cast<double>(launch.cost) * share) + 1;
  }

  void put_in_schedule(LaunchEditor& editor) {
    for (const ScheduledNest::Split& split : schedule_.splits()) {
      const std::int32_t axis = editor.axis(split.of);
      RELAY_CHECK(axis >= 0, "an axis that is split is there");
      editor.split(axis, split.size, split.outer, split.inner);
    }
    std::vector<const lang::ScheduledLoop*> loops;  // of the domain
    for (const lang::ScheduledLoop& loop : schedule_.loops()) {
      if (!loop.is_reduction) loops.push_back(&loop);
    }
    const std::size_t rank = schedule_.tile_rank();
    std::vector<std::int32_t> domain;
    std::size_t outside = 0;  // the axes that are not in the tile
    for (std::size_t i = 0; i < loops.size(); ++i) {
      const std::int32_t axis = editor.axis(loops[i]->name);
      if (axis < 0) continue;
      domain.push_back(axis);
      if (i + rank < loops.size()) ++outside;
    }
    Kernel& kernel = editor.kernel();
    if (rank > 0) {
      check_one_walk(kernel);
      kernel.tile_rank = static_cast<std::int32_t>(domain.size() - outside);
      kernel.has_lanes = loops.back()->run == lang::LoopRun::Vectorized;
    }
    find_order(editor);
    for (const std::string& name : schedule_.cached()) cache(editor, name);
    editor.put_in_order(domain, outside == 0);
    const std::int64_t outermost = editor.kernel().domain_rank == 0 ? 1 : editor.extent(0);
    launches_.push_back({editor.take()});
    find_polls(launches_.back().launch, outermost);
  }

  // A tile has no reduction, or one with one index.
  void check_one_walk(const Kernel& kernel) const {
    if (kernel.regions.size() == 1) return;
    if (kernel.regions.size() == 2 && kernel.regions[1].axes.size() == 1) return;
    refuse("a tile around a reduction of several indices, or around several", schedule_);
  }

  // The axes in the order in which the loops stand, those of reductions too.
  void find_order(LaunchEditor& editor) {
    order_.clear();
    for (const lang::ScheduledLoop& loop : schedule_.loops()) {
      const std::int32_t axis = editor.axis(loop.name);
      if (axis >= 0) order_.push_back(axis);
    }
    // Those of several reductions are no loops of the schedule.
    for (const Region& region : editor.kernel().regions) {
      for (const std::int32_t axis : region.axes) {
        if (std::find(order_.begin(), order_.end(), axis) == order_.end()) order_.push_back(axis);
      }
    }
  }

  // What the nest reads of an argument, copied in the order in which it reads it.
  void cache(LaunchEditor& editor, const std::string& name) {
    const std::optional<std::int32_t> leaf = argument_(name);
    if (!leaf) refuse(fmt::format("a copy of `{}`, which is no argument", name), schedule_);
    Kernel& kernel = editor.kernel();
    std::vector<Instruction*> loads;
    std::map<ValueId, std::int32_t> axis_of;
    for (Region& region : kernel.regions) {
      for (Instruction& each : region.code) {
        if (each.code == Code::Axis) axis_of[each.id] = each.axis;
        if (each.code == Code::Load &&
            editor.launch().buffers[static_cast<std::size_t>(each.buffer)] == *leaf)
          loads.push_back(&each);
      }
    }
    if (loads.size() != 1)
      refuse(fmt::format("a copy of `{}`, which is read at {} places", name, loads.size()),
             schedule_);
    Instruction& load = *loads.front();
    const bool is_plain =
        std::all_of(load.address.terms.begin(), load.address.terms.end(),
                    [&](const AddressTerm& term) { return axis_of.contains(term.index); });
    if (!is_plain || !load.args.empty())
      refuse(fmt::format("a copy of `{}`, which is read at an index that is computed, or where a "
                         "condition holds",
                         name),
             schedule_);
    std::vector<AddressTerm> terms;
    for (const std::int32_t axis : order_) {
      for (const AddressTerm& term : load.address.terms) {
        if (axis_of.at(term.index) == axis) terms.push_back(term);
      }
    }
    if (terms.empty()) return;
    std::vector<std::int64_t> shape;
    std::int64_t count = 1;
    for (const AddressTerm& term : terms) {
      shape.push_back(editor.extent(axis_of.at(term.index)));
      if (shape.back() > kMostCached / std::max<std::int64_t>(count, 1))
        refuse(fmt::format("a copy of `{}` of more than {} elements", name, kMostCached),
               schedule_);
      count *= shape.back();
    }
    const DType dtype = kernel.buffers[static_cast<std::size_t>(load.buffer)].dtype;
    const std::int32_t made = make_buffer_(dtype, shape);
    launches_.push_back(
        {copy(editor.launch(), load, terms, shape, *leaf, made), ScheduledLaunch::Kind::Copy});
    launches_.back().launch.is_parallel = editor.launch().is_parallel;
    const std::vector<std::int64_t> strides = row_major(shape);
    load.address = {};
    load.address.offset = Size::literal(0);
    for (std::size_t i = 0; i < terms.size(); ++i)
      load.address.terms.push_back({terms[i].index, stride_of(strides[i], editor.launch())});
    load.buffer = static_cast<std::int32_t>(kernel.buffers.size());
    kernel.buffers.push_back({dtype, false});
    editor.launch().buffers.push_back(made);
  }

  // One point of axis 0, of which there are so many, may take long.
  static void find_polls(Launch& launch, std::int64_t outermost) {
    launch.kernel.polls = launch.cost / std::max<std::int64_t>(outermost, 1) > kSliceCost;
  }

  // The launch that stores the elements at `terms`, row-major in that order.
  static Launch copy(const Launch& nest, const Instruction& load,
                     const std::vector<AddressTerm>& terms, const std::vector<std::int64_t>& shape,
                     std::int32_t from, std::int32_t to) {
    Launch launch;
    launch.is_scheduled = true;
    launch.buffers = {from, to};
    Kernel& kernel = launch.kernel;
    kernel.buffers = {{load.dtype, false}, {load.dtype, true}};
    kernel.output = 1;
    kernel.regions.resize(1);
    const std::vector<std::int64_t> strides = row_major(shape);
    Instruction read = load;
    read.buffer = 0;
    read.address = {};
    const std::int64_t offset = number_of(load.address.offset, nest);
    read.address.offset = offset == 0 ? Size::literal(0) : slot_of(offset, launch);
    for (std::size_t i = 0; i < terms.size(); ++i) {
      Instruction axis{};
      axis.code = Code::Axis;
      axis.dtype = DType::Int64;
      axis.axis = static_cast<std::int32_t>(i);
      axis.id = kernel.value_count++;
      kernel.regions[0].code.push_back(axis);
      kernel.extents.push_back(slot_of(shape[i], launch));
      read.address.terms.push_back({axis.id, stride_of(number_of(terms[i].stride, nest), launch)});
      kernel.destination.terms.push_back({axis.id, stride_of(strides[i], launch)});
      launch.cost = i == 0 ? shape[i] : launch.cost * shape[i];
    }
    kernel.destination.offset = Size::literal(0);
    kernel.domain_rank = static_cast<std::int32_t>(shape.size());
    read.id = kernel.value_count++;
    kernel.regions[0].code.push_back(read);
    kernel.regions[0].result = read.id;
    find_polls(launch, shape[0]);
    return launch;
  }

  const ScheduledNest& schedule_;
  const ArgumentOf& argument_;
  const MakeBuffer& make_buffer_;
  NamedLaunch nest_;
  std::vector<std::int32_t> order_;
  std::vector<ScheduledLaunch> launches_;
};

}  // namespace

void refuse(std::string_view what, const ScheduledNest& schedule) {
  std::string text = fmt::format("not supported: {}", what);
  // One in whose loop others are computed may have no steps of its own.
  if (schedule.is_changed())
    text += fmt::format(", for the schedule `{}`", lang::to_string(schedule.steps()));
  lang::fail(DiagnosticKind::Unsupported, std::move(text));
}

void check_order(const Launch& nest, const ScheduledNest& schedule) {
  if (nest.kernel.store != StoreKind::Assign)
    refuse("a nest that combines what it stores", schedule);
  if (may_fail(nest.kernel))
    refuse(
        "a nest whose indices are checked while it runs, or that divides integers, so that "
        "the first of several errors depends on the order",
        schedule);
}

std::vector<ScheduledLaunch> schedule_nest(const ScheduledNest& schedule, NamedLaunch nest,
                                           const ArgumentOf& argument,
                                           const MakeBuffer& make_buffer) {
  return NestScheduler(schedule, std::move(nest), argument, make_buffer).run();
}

}  // namespace relay::loops
