#include "loops/lower.h"

#include <algorithm>

#include <fmt/format.h>

#include "lang/function_fact.h"
#include "lang/schedule.h"
#include "loops/bands.h"
#include "loops/bounds.h"
#include "loops/expand.h"
#include "loops/finish.h"
#include "loops/inline.h"
#include "loops/kernel_builder.h"
#include "loops/pieces.h"
#include "loops/placement.h"
#include "loops/reuse.h"
#include "loops/schedule.h"
#include "loops/slices.h"
#include "loops/split_sums.h"
#include "loops/stored_reads.h"
#include "loops/updates.h"
#include "loops/windows.h"

namespace relay::loops {

namespace {

constexpr std::int64_t kOrderCost = 60;  // scalar operations for an element, about

class Lowerer {
 public:
  Lowerer(const lang::Function& group, std::span<const Layout> args, KernelLibrary* library,
          Rearranged rearranged)
      : stages_(expand(group, args)),
        rearranged_(rearranged),
        schedule_(GroupSchedule::of(group, stages_)) {
    if (library && !schedule_) split_sums(stages_, *library);
    // A nest with a schedule is no library's, so its bits are those of the index notation.
    StorageChoice choice = choose_storage(stages_, schedule_ ? nullptr : library);
    if (schedule_) {
      settle_storage(*schedule_, stages_, choice.storage);
    } else {
      updates_ = find_updates(stages_, choice);
    }
    reads_ = stored_reads(stages_, choice);
    find_all_pieces(choice);
    storage_ = std::move(choice.storage);
    library_ = std::move(choice.library);
    find_chains();
    if (schedule_) hosts_ = find_hosts(*schedule_, stages_, storage_, readers_);
    places_.resize(stages_.tensors.size());
    results_.resize(stages_.tensors.size());
    for (const Layout& arg : args) buffer_dtypes_.push_back(arg.dtype);
    for (const auto& literal : stages_.literals) buffer_dtypes_.push_back(literal->dtype());
    first_literal_ = static_cast<std::int32_t>(args.size());
    first_made_ = static_cast<std::int32_t>(buffer_dtypes_.size());
  }

  LoweredGroup run() {
    is_added_.assign(stages_.tensors.size(), false);
    for (std::size_t i = 0; i < stages_.tensors.size(); ++i) {
      if (is_added_[i]) continue;
      is_added_[i] = true;  // before: no kernel that it needs may take it along
      add(static_cast<TensorId>(i));
    }
    while (!joints_.empty()) emit(0);
    for (TensorId result : stages_.results) {
      const ResultLeaf& leaf = results_[static_cast<std::size_t>(result)];
      if (leaf.buffer >= first_made_)
        group_.made[static_cast<std::size_t>(leaf.buffer - first_made_)].is_temporary = false;
      group_.results.push_back(leaf);
    }
    group_.literals = std::move(stages_.literals);
    drop_unused();
    return std::move(group_);
  }

 private:
  // Tensors that one kernel is to compute, and that no other has read yet.
  struct Joint {
    std::vector<std::int64_t> extents;  // of the domain; none is 1
    std::vector<TensorId> members;
    std::vector<TensorId> reads;  // of all
    bool is_full = false;         // others need not try
  };

  void add(TensorId id) {
    const auto at = static_cast<std::size_t>(id);
    const TensorDef& def = stages_.tensors[at];
    switch (def.kind) {
      case TensorKind::Argument:
        place(id, def.leaf, def.strides);
        return;
      case TensorKind::Literal:
        place(id, first_literal_ + def.leaf, def.strides);
        return;
      case TensorKind::Map:
        add_map(id, storage_[at]);
        return;
      case TensorKind::Scatter:
        if (storage_[at] != Storage::Stored) return;
        if (const auto found = library_.find(id); found != library_.end()) {
          add_library(id, found->second);
        } else if (chain_of_[at] >= 0) {
          add_slice(id, chains_[static_cast<std::size_t>(chain_of_[at])]);
        } else {
          add_scatter(id);
        }
        return;
      case TensorKind::Whole:
        if (storage_[at] == Storage::Stored) add_whole(id);
        return;
    }
  }

  // --- Kernels of several tensors ---
  // A tensor that has been added waits for others that can be computed with it, until something
  // reads it that cannot.

  void find_chains() {
    chains_ = find_slices(stages_, storage_);
    std::erase_if(chains_, [&](const SliceChain& chain) {
      return std::any_of(chain.links.begin(), chain.links.end(),
                         [&](TensorId link) { return library_.count(link) > 0; });
    });
    chain_of_.assign(stages_.tensors.size(), -1);
    readers_.resize(stages_.tensors.size());
    for (std::size_t i = 0; i < chains_.size(); ++i) {
      for (const TensorId link : chains_[i].links) {
        chain_of_[static_cast<std::size_t>(link)] = static_cast<std::int32_t>(i);
        std::erase(reads_[static_cast<std::size_t>(link)],
                   stages_.tensors[static_cast<std::size_t>(link)].init);
      }
    }
    for (std::size_t at = 0; at < reads_.size(); ++at) {
      // What reads the last link reads all.
      std::vector<TensorId>& reads = reads_[at];
      for (std::size_t i = reads.size(); i-- > 0;) {
        const std::int32_t chain = chain_of_[static_cast<std::size_t>(reads[i])];
        if (chain < 0) continue;
        const auto& links = chains_[static_cast<std::size_t>(chain)].links;
        reads.insert(reads.end(), links.begin(), links.end());
      }
      if (storage_[at] == Storage::Inlined) continue;
      for (const TensorId read : reads)
        readers_[static_cast<std::size_t>(read)].push_back(static_cast<TensorId>(at));
    }
  }

  std::vector<std::int64_t> points_of(TensorId id) const {
    std::vector<std::int64_t> extents;
    for (IndexVarId var : stages_.tensors[static_cast<std::size_t>(id)].vars) {
      const std::int64_t extent = stages_.var_extents[static_cast<std::size_t>(var)];
      if (extent != 1) extents.push_back(extent);
    }
    return extents;
  }

  static bool meet(const std::vector<TensorId>& a, const std::vector<TensorId>& b) {
    return std::any_of(a.begin(), a.end(), [&](TensorId each) {
      return std::find(b.begin(), b.end(), each) != b.end();
    });
  }

  // Emits the kernels that make what `id` reads, but for its own.
  void emit_reads(TensorId id) {
    const auto& reads = reads_[static_cast<std::size_t>(id)];
    for (std::size_t i = joints_.size(); i-- > 0;) {
      // One that is emitted may take others along.
      if (i < joints_.size() && !contains(joints_[i].members, id) &&
          meet(joints_[i].members, reads))
        emit(i);
    }
  }

  static bool contains(const std::vector<TensorId>& list, TensorId id) {
    return std::find(list.begin(), list.end(), id) != list.end();
  }

  // The buffer of `id` is known.
  void add_waiting(TensorId id) {
    std::vector<TensorId> reads = reads_[static_cast<std::size_t>(id)];
    Joint* const joint = joint_for(id, reads);
    if (joint) {
      joint->members.push_back(id);
      joint->reads.insert(joint->reads.end(), reads.begin(), reads.end());
    } else {
      joints_.push_back({points_of(id), {id}, std::move(reads)});
    }
    emit_reads(id);
  }

  // A kernel that `id` can be computed with: first one that makes what it reads, else one that
  // reads a tensor that it reads too.
  Joint* joint_for(TensorId id, const std::vector<TensorId>& reads) {
    const std::vector<std::int64_t> extents = points_of(id);
    std::vector<TensorId> shared = reads;
    std::erase_if(shared, [&](TensorId read) {
      return count_of(stages_.tensors[static_cast<std::size_t>(read)].shape) == 1;
    });
    for (const bool is_read : {true, false}) {
      for (Joint& joint : joints_) {
        if (joint.extents != extents || !meet(is_read ? joint.members : joint.reads, shared))
          continue;
        if (can_join(id, joint)) return &joint;
      }
    }
    return nullptr;
  }

  bool can_join(TensorId id, Joint& joint) const {
    if (joint.is_full) return false;
    // What is made of several parts must be whole before it is read.
    for (const TensorId read : reads_[static_cast<std::size_t>(id)]) {
      if (chain_of_[static_cast<std::size_t>(read)] >= 0 && contains(joint.members, read))
        return false;
    }
    std::vector<JointTensor> tensors;
    for (const TensorId member : joint.members) tensors.push_back(stored(member));
    tensors.push_back(stored(id));
    KernelBuilder builder(stages_, storage_, places_);
    builder.build_joint(tensors);
    joint.is_full = builder.is_full();
    return builder.is_joint();
  }

  // Adds later tensors to a kernel that is about to be emitted, where all that they read is there.
  void add_later(Joint& joint) {
    for (std::size_t at = 0; at < stages_.tensors.size(); ++at) {
      const auto id = static_cast<TensorId>(at);
      if (!is_free_map(id) || !meet(joint.reads, reads_[at]) || points_of(id) != joint.extents)
        continue;
      const auto is_ready = [&](TensorId read) { return is_there(read); };
      if (!std::all_of(reads_[at].begin(), reads_[at].end(), is_ready) || !can_join(id, joint))
        continue;
      make(id);
      is_added_[at] = true;
      joint.members.push_back(id);
    }
  }

  // A tensor of the shape of an argument that it reads may take that one's memory, if nothing else
  // reads it later: what can be computed from it before, is.
  void read_before(const std::vector<TensorId>& made, const std::vector<TensorId>& reads) {
    const std::size_t before = pending_.size();
    pending_.insert(pending_.end(), made.begin(), made.end());
    for (const TensorId read : reads) {
      const TensorDef& from = stages_.tensors[static_cast<std::size_t>(read)];
      if (from.kind != TensorKind::Argument || count_of(from.shape) < kFewestInPlace) continue;
      const bool may_take = std::any_of(made.begin(), made.end(), [&](TensorId each) {
        const TensorDef& to = stages_.tensors[static_cast<std::size_t>(each)];
        return to.shape == from.shape && to.dtype == from.dtype;
      });
      if (may_take) read_before(read);
    }
    pending_.resize(before);
  }

  void read_before(TensorId argument) {
    for (std::size_t i = joints_.size(); i-- > 0;) {
      if (i < joints_.size() && contains(joints_[i].reads, argument) &&
          !meet(joints_[i].reads, pending_))
        emit(i);
    }
    for (std::size_t at = 0; at < stages_.tensors.size(); ++at) {
      const auto id = static_cast<TensorId>(at);
      const std::vector<TensorId>& reads = reads_[at];
      if (!is_free_map(id) || !contains(reads, argument) || meet(reads, pending_) ||
          !std::all_of(reads.begin(), reads.end(), [&](TensorId each) { return is_there(each); }))
        continue;
      is_added_[at] = true;
      KernelBuilder builder(stages_, storage_, places_);
      builder.build_map(id, make(id));
      launch(builder);
    }
  }

  // Is it stored, by a kernel like others, and has not been added?
  bool is_free_map(TensorId id) const {
    const auto at = static_cast<std::size_t>(id);
    const TensorDef& def = stages_.tensors[at];
    return !is_added_[at] && def.kind == TensorKind::Map && storage_[at] == Storage::Stored &&
           !library_.count(id) && !nest_of(id) && !pieces_.contains(id) && !updates_.contains(id) &&
           count_of(def.shape) > 0;
  }

  bool is_there(TensorId read) const {
    const bool waits = std::any_of(joints_.begin(), joints_.end(), [&](const Joint& other) {
      return contains(other.members, read);
    });
    return places_[static_cast<std::size_t>(read)].buffer >= 0 && !waits &&
           !contains(pending_, read);
  }

  JointTensor stored(TensorId id) const {
    return {id, places_[static_cast<std::size_t>(id)].buffer};
  }

  void emit(std::size_t number) {
    Joint joint = std::move(joints_[number]);
    joints_.erase(joints_.begin() + static_cast<std::ptrdiff_t>(number));
    read_before(joint.members, joint.reads);
    add_later(joint);
    std::vector<JointTensor> tensors;
    for (const TensorId member : joint.members) {
      tensors.push_back(stored(member));
      if (!is_read_outside(member, joint)) tensors.back().buffer = -1;
    }
    KernelBuilder builder(stages_, storage_, places_);
    if (tensors.size() == 1 && chain_of_[static_cast<std::size_t>(tensors[0].tensor)] < 0) {
      builder.build_map(tensors[0].tensor, tensors[0].buffer);
    } else {
      builder.build_joint(tensors);
    }
    launch(builder);
  }

  bool is_read_outside(TensorId id, const Joint& joint) const {
    if (chain_of_[static_cast<std::size_t>(id)] >= 0 || contains(stages_.results, id)) return true;
    const auto& readers = readers_[static_cast<std::size_t>(id)];
    return std::any_of(readers.begin(), readers.end(),
                       [&](TensorId reader) { return !contains(joint.members, reader); });
  }

  void add_slice(TensorId id, const SliceChain& chain) {
    const TensorDef& def = stages_.tensors[static_cast<std::size_t>(id)];
    if (id == chain.links[0]) {
      const std::int32_t buffer = make(id);
      if (!chain.fills_all) {
        KernelBuilder copy(stages_, storage_, places_);
        copy.build_copy(def.init, buffer);
        launch(copy);
      }
    } else {
      place(id, places_[static_cast<std::size_t>(chain.links[0])].buffer, row_major(def.shape));
    }
    add_waiting(id);
  }

  // Tensors that only their own kernel read have got no memory.
  void drop_unused() {
    std::vector<std::int32_t> numbers(buffer_dtypes_.size(), -1);
    const auto each_use = [&](const auto& use) {
      for (Launch& step : group_.launches) {
        for (std::int32_t& buffer : step.buffers) use(buffer);
      }
      for (ResultLeaf& leaf : group_.results) use(leaf.buffer);
    };
    each_use([&](std::int32_t& buffer) { numbers[static_cast<std::size_t>(buffer)] = 0; });
    std::vector<MadeTensor> kept;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto number = static_cast<std::int32_t>(i);
      if (number < first_made_) {
        numbers[i] = number;
      } else if (numbers[i] == 0) {
        numbers[i] = first_made_ + static_cast<std::int32_t>(kept.size());
        kept.push_back(std::move(group_.made[i - static_cast<std::size_t>(first_made_)]));
      }
    }
    group_.made = std::move(kept);
    each_use([&](std::int32_t& buffer) { buffer = numbers[static_cast<std::size_t>(buffer)]; });
  }

  // --- Tensors ---

  void place(TensorId id, std::int32_t buffer, const std::vector<std::int64_t>& strides) {
    const auto at = static_cast<std::size_t>(id);
    places_[at] = {buffer, strides};
    results_[at] = {buffer, stages_.tensors[at].shape, strides, 0};
  }

  std::int32_t make_buffer(DType dtype, const std::vector<std::int64_t>& shape) {
    buffer_dtypes_.push_back(dtype);
    group_.made.push_back({dtype, shape, true});
    return static_cast<std::int32_t>(buffer_dtypes_.size()) - 1;
  }

  std::int32_t make(TensorId id) {
    const TensorDef& def = stages_.tensors[static_cast<std::size_t>(id)];
    const std::int32_t buffer = make_buffer(def.dtype, def.shape);
    place(id, buffer, row_major(def.shape));
    return buffer;
  }

  void add_map(TensorId id, Storage storage) {
    if (storage == Storage::Inlined && nest_of(id)) check_inlined(id, *nest_of(id));
    if (storage == Storage::Nowhere || storage == Storage::Inlined) return;
    const TensorDef& def = stages_.tensors[static_cast<std::size_t>(id)];
    if (count_of(def.shape) == 0) {
      make(id);
      return;
    }
    if (const auto found = library_.find(id); found != library_.end()) {
      add_library(id, found->second);
      return;
    }
    if (const lang::ScheduledNest* nest = nest_of(id)) {
      add_scheduled(id, *nest);
      return;
    }
    if (storage == Storage::View && rearranged_ == Rearranged::View) {
      KernelBuilder builder(stages_, storage_, places_);
      builder.build_map(id, -1);
      if (auto view = builder.as_view(def.shape)) {
        results_[static_cast<std::size_t>(id)] = std::move(*view);
        return;
      }
    }
    if (const auto found = updates_.find(id); found != updates_.end()) {
      add_update(id, found->second);
      return;
    }
    if (const auto found = pieces_.find(id); found != pieces_.end()) {
      add_pieces(id, found->second);
      return;
    }
    make(id);
    add_waiting(id);
  }

  void find_all_pieces(const StorageChoice& choice) {
    for (std::size_t at = 0; at < stages_.tensors.size(); ++at) {
      const auto id = static_cast<TensorId>(at);
      if (stages_.tensors[at].kind != TensorKind::Map || choice.storage[at] != Storage::Stored ||
          choice.library.contains(id) || updates_.contains(id) || nest_of(id))
        continue;
      if (auto pieces = find_pieces(stages_, choice.storage, id))
        pieces_.emplace(id, std::move(*pieces));
    }
  }

  // As a schedule says; null: none does.
  const lang::ScheduledNest* nest_of(TensorId id) const {
    return schedule_ ? schedule_->nest_of(id) : nullptr;
  }

  NamedLaunch whole_nest(TensorId id, std::int32_t buffer) {
    KernelBuilder builder(stages_, storage_, places_);
    builder.build_nest(id, buffer);
    NamedLaunch nest;
    nest.launch = finish_as_it_is(std::move(builder.draft()), buffer_dtypes_, nest.axes);
    return nest;
  }

  void check_inlined(TensorId id, const lang::ScheduledNest& schedule) {
    const TensorDef& def = stages_.tensors[static_cast<std::size_t>(id)];
    if (count_of(def.shape) == 0) return;
    check_order(whole_nest(id, make_buffer(def.dtype, def.shape)).launch, schedule);
  }

  // As its schedule says.
  void add_scheduled(TensorId id, const lang::ScheduledNest& schedule) {
    emit_reads(id);
    NamedLaunch nest = whole_nest(id, make(id));
    if (const auto host = hosts_.find(id); host != hosts_.end()) {
      check_order(nest.launch, schedule);
      add_guest(id, host->second, std::move(nest.launch), schedule);
      return;
    }
    const auto new_buffer = [&](DType dtype, const std::vector<std::int64_t>& shape) {
      return make_buffer(dtype, shape);
    };
    const auto argument = [&](const std::string& name) { return schedule_->argument(name); };
    const auto guests = guests_.find(id);
    for (ScheduledLaunch& part : schedule_nest(schedule, std::move(nest), argument, new_buffer)) {
      if (part.kind == ScheduledLaunch::Kind::Copy || guests == guests_.end() ||
          guests->second.empty()) {
        add_kernel(std::move(part.launch));
      } else {
        add_host(guests->second, std::move(part));
      }
    }
  }

  // A tensor that is computed in the steps of another's nest, which stands behind it.
  struct Guest {
    Launch launch;
    const lang::ScheduledNest* schedule;
  };

  void add_guest(TensorId id, TensorId host, Launch launch, const lang::ScheduledNest& schedule) {
    const auto rows = stages_.tensors[static_cast<std::size_t>(id)].shape.front();
    std::vector<Guest>& guests = guests_[host];
    // Of one row there is nothing to leave for later, nor of what it reads.
    if (rows == 1) {
      for (Guest& before : guests) add_kernel(std::move(before.launch));
      guests.clear();
      add_kernel(std::move(launch));
      return;
    }
    launch.is_scheduled = true;
    guests.push_back({std::move(launch), &schedule});
  }

  void add_host(const std::vector<Guest>& guests, ScheduledLaunch part) {
    std::vector<Launch> launches;
    for (const Guest& guest : guests) launches.push_back(guest.launch);
    const Band* const band =
        add_windows(group_, first_made_, std::move(launches), std::move(part.launch), part.step);
    const lang::ScheduledNest& schedule = *guests.back().schedule;
    if (!band)
      refuse(fmt::format("computing `{}` where it is read at an index that is computed",
                         schedule.made()),
             schedule);
    const bool is_main = part.kind == ScheduledLaunch::Kind::Main;
    if (is_main && band->step > part.step)
      refuse(fmt::format("computing `{}` at `{}`, each step of which needs the same rows of it",
                         schedule.made(), schedule.computed_at()->text),
             schedule);
  }

  // By a kernel for each.
  void add_pieces(TensorId id, const Pieces& pieces) {
    emit_reads(id);
    const std::int32_t buffer = make(id);
    std::int64_t begin = 0;
    for (const std::int64_t end : pieces.ends) {
      KernelBuilder piece(stages_, storage_, places_);
      piece.build_piece(id, buffer, pieces.axis, begin, end);
      launch(piece);
      begin = end;
    }
  }

  // By a kernel of its own, after its slices.
  void add_update(TensorId id, const std::vector<SliceRead>& slices) {
    const IndexVarId row = stages_.tensors[static_cast<std::size_t>(id)].vars.front();
    std::vector<std::size_t> by_rows;
    for (const SliceRead& each : slices) {
      if (is_added_[static_cast<std::size_t>(each.slice)]) continue;
      is_added_[static_cast<std::size_t>(each.slice)] = true;
      emit_reads(each.slice);
      KernelBuilder slice(stages_, storage_, places_);
      slice.build_slice(each.slice, make(each.slice));
      if (!each.vars.empty() && each.vars.front() == row) by_rows.push_back(group_.launches.size());
      launch(slice);
    }
    emit_reads(id);
    KernelBuilder update(stages_, storage_, places_);
    update.build_update(id, slices, make(id));
    launch(update);
    for (const std::size_t i : by_rows) {
      group_.launches[i].cost_of_rows = group_.launches.back().cost;
      group_.launches[i].deals_rows = true;
    }
    group_.launches.back().deals_rows = true;
  }

  void add_library(TensorId id, LibraryStep& from) {
    emit_reads(id);
    const auto buffer_of = [&](TensorId operand) {
      const std::int32_t buffer = places_[static_cast<std::size_t>(operand)].buffer;
      RELAY_CHECK(buffer >= 0, "a library reads a tensor that is not stored yet");
      return buffer;
    };
    const std::int32_t result = make(id);
    if (from.start >= 0) {
      KernelBuilder copy(stages_, storage_, places_);
      copy.build_copy(from.start, result);
      launch(copy);
    }
    Launch step;
    // Several products take as long as one operation on lanes.
    step.cost = static_cast<std::int64_t>(std::min(products_of(from.call.form) / 16, 9e18));
    step.buffers = {buffer_of(from.call.left), buffer_of(from.call.right), result};
    step.library = Launch::Library{std::move(from.call.form), std::move(from.kernel),
                                   from.call.left_offset, from.call.right_offset};
    group_.launches.push_back(std::move(step));
  }

  void add_whole(TensorId id) {
    emit_reads(id);
    const TensorDef& def = stages_.tensors[static_cast<std::size_t>(id)];
    const std::int64_t count = count_of(def.shape);
    const DType dtype = stages_.tensors[static_cast<std::size_t>(def.init)].dtype;
    const StoredAt& source = places_[static_cast<std::size_t>(def.init)];
    std::int32_t input = source.buffer;
    if (input < 0 || source.strides != row_major(def.shape)) {
      input = make_buffer(dtype, def.shape);
      if (count > 0) {
        KernelBuilder copy(stages_, storage_, places_);
        copy.build_copy(def.init, input);
        launch(copy);
      }
    }
    const std::int32_t output = make(id);
    if (count == 0) return;
    Launch step;
    const std::int64_t extent = def.shape.empty() ? 1 : def.shape.back();
    step.whole = Launch::Whole{def.primitive, dtype, count / extent, extent};
    step.buffers = {input, output};
    step.cost = count * (def.primitive == lang::TensorPrimitive::Order ? kOrderCost : 1);
    group_.launches.push_back(std::move(step));
  }

  void add_scatter(TensorId id) {
    emit_reads(id);
    const TensorDef& def = stages_.tensors[static_cast<std::size_t>(id)];
    const bool is_filled = goes_on(stages_, storage_, def.init, id);
    const std::int32_t buffer =
        is_filled ? places_[static_cast<std::size_t>(def.init)].buffer : make(id);
    if (is_filled) {
      place(id, buffer, row_major(def.shape));
    } else if (count_of(def.shape) > 0) {
      read_before({id}, reads_[static_cast<std::size_t>(id)]);
      KernelBuilder copy(stages_, storage_, places_);
      copy.build_copy(def.init, buffer);
      launch(copy);
    }
    std::vector<std::int64_t> extents;
    for (IndexVarId var : def.vars)
      extents.push_back(stages_.var_extents[static_cast<std::size_t>(var)]);
    if (loops::points_of(extents) == 0) return;
    KernelBuilder scatter(stages_, storage_, places_);
    scatter.build_scatter(id, buffer);
    launch(scatter);
  }

  void launch(KernelBuilder& builder) {
    add_kernel(finish(std::move(builder.draft()), buffer_dtypes_));
  }

  void add_kernel(Launch launch) {
    group_.launches.push_back(std::move(launch));
#ifndef NDEBUG
    verify(group_.launches.back().kernel);
#endif
  }

  Stages stages_;
  const Rearranged rearranged_;
  const std::optional<GroupSchedule> schedule_;
  std::vector<Storage> storage_;
  std::map<TensorId, LibraryStep> library_;
  std::map<TensorId, std::vector<SliceRead>> updates_;
  std::map<TensorId, Pieces> pieces_;
  std::vector<std::vector<TensorId>> reads_;    // by tensor: from memory
  std::vector<std::vector<TensorId>> readers_;  // by tensor
  std::vector<SliceChain> chains_;
  std::vector<std::int32_t> chain_of_;  // by tensor: its chain, or -1
  std::map<TensorId, TensorId> hosts_;
  std::map<TensorId, std::vector<Guest>> guests_;  // by host
  std::vector<Joint> joints_;
  std::vector<TensorId> pending_;     // what is about to be computed, and is not there yet
  std::vector<bool> is_added_;        // by tensor
  std::vector<StoredAt> places_;      // by tensor
  std::vector<ResultLeaf> results_;   // by tensor
  std::vector<DType> buffer_dtypes_;  // by group buffer
  std::int32_t first_literal_ = 0;
  std::int32_t first_made_ = 0;
  LoweredGroup group_;
};

}  // namespace

bool is_whole(const ResultLeaf& leaf, const MadeTensor& tensor) {
  return leaf.offset == 0 && leaf.shape == tensor.shape && leaf.strides == row_major(tensor.shape);
}

lang::Result<LoweredGroup> lower(const lang::Function& group, std::span<const Layout> args,
                                 KernelLibrary* library, Rearranged rearranged) {
  auto result = lang::capture([&] {
    LoweredGroup lowered = Lowerer(group, args, library, rearranged).run();
    find_reuse(lowered, args);
    find_bands(lowered, args.size());
    verify_bounds(lowered, args);
    return lowered;
  });
  if (result || !lang::inherits_schedule(group)) return result;
  // What a derivative has made of the nests does not let them run so.
  const lang::Expr unscheduled =
      lang::without_facts(lang::Expr(&group), {lang::FunctionFact::InheritedSchedule});
  return lower(lang::cast<lang::Function>(unscheduled), args, library, rearranged);
}

}  // namespace relay::loops
