#include "loops/reuse.h"

#include <algorithm>
#include <utility>

#include "loops/launch_sizes.h"
#include "loops/stages.h"

namespace relay::loops {

namespace {

bool same_address(const Address& a, const Address& b, const Launch& launch) {
  if (number_of(a.offset, launch) != number_of(b.offset, launch)) return false;
  const auto within = [&](const Address& x, const Address& y) {
    return std::all_of(x.terms.begin(), x.terms.end(), [&](const AddressTerm& term) {
      return std::any_of(y.terms.begin(), y.terms.end(), [&](const AddressTerm& other) {
        return term.index == other.index &&
               number_of(term.stride, launch) == number_of(other.stride, launch);
      });
    });
  };
  return a.terms.size() == b.terms.size() && within(a, b) && within(b, a);
}

class Search {
 public:
  Search(LoweredGroup& group, std::span<const Layout> args)
      : group_(group), args_(args), first_made_(args.size() + group.literals.size()) {}

  // A temporary becomes the tensor that its last reader stores where it reads it.
  void join_temporaries() {
    for (std::size_t made = 0; made < group_.made.size(); ++made) {
      const std::size_t first = first_use(first_made_ + made);
      if (first == group_.launches.size() || runs_in_steps(first)) continue;
      for (std::size_t other = 0; other < group_.made.size(); ++other) {
        if (other == made || !ends_in(other, made, first)) continue;
        rename(first_made_ + other, first_made_ + made);
        made -= other < made ? 1 : 0;
        break;
      }
    }
  }

  void take_arguments() {
    std::vector<bool> taken(args_.size(), false);
    for (std::size_t made = 0; made < group_.made.size(); ++made) {
      const std::size_t first = first_use(first_made_ + made);
      if (first == group_.launches.size() || runs_in_steps(first)) continue;
      for (std::size_t arg = 0; arg < args_.size(); ++arg) {
        if (taken[arg] || !fits(arg, made) || !is_last_read(arg, first)) continue;
        if (!reads_where_it_writes(arg, first_made_ + made, group_.launches[first])) continue;
        taken[arg] = true;
        group_.reuse.push_back(
            {arg, made, is_copy(group_.launches[first]) ? std::optional(first) : std::nullopt});
        break;
      }
    }
  }

 private:
  static bool uses(const Launch& launch, std::size_t buffer) {
    return std::find(launch.buffers.begin(), launch.buffers.end(),
                     static_cast<std::int32_t>(buffer)) != launch.buffers.end();
  }

  // With others, which read in later steps what it has read.
  bool runs_in_steps(std::size_t launch) const {
    return std::any_of(group_.bands.begin(), group_.bands.end(), [&](const Band& band) {
      return launch >= band.first && launch < band.first + band.count;
    });
  }

  std::size_t first_use(std::size_t buffer) const {
    std::size_t at = 0;
    while (at < group_.launches.size() && !uses(group_.launches[at], buffer)) ++at;
    return at;
  }

  // Is launch `last`, which makes `made`, the last to read the temporary, and that where it stores?
  bool ends_in(std::size_t temporary, std::size_t made, std::size_t last) const {
    const MadeTensor& from = group_.made[temporary];
    const MadeTensor& to = group_.made[made];
    return from.is_temporary && from.window == 0 && to.window == 0 && from.dtype == to.dtype &&
           !from.shape.empty() && count_of(from.shape) == count_of(to.shape) &&
           is_last_read(first_made_ + temporary, last) &&
           reads_where_it_writes(first_made_ + temporary, first_made_ + made,
                                 group_.launches[last]);
  }

  // Buffer `from`, a tensor of the group's own, is `to`.
  void rename(std::size_t from, std::size_t to) {
    const auto name = [&](std::int32_t& buffer) {
      if (buffer == static_cast<std::int32_t>(from)) buffer = static_cast<std::int32_t>(to);
      if (buffer > static_cast<std::int32_t>(from)) --buffer;
    };
    for (Launch& launch : group_.launches) {
      for (std::int32_t& buffer : launch.buffers) name(buffer);
    }
    for (ResultLeaf& leaf : group_.results) name(leaf.buffer);
    group_.made.erase(group_.made.begin() + static_cast<std::ptrdiff_t>(from - first_made_));
  }

  bool fits(std::size_t arg, std::size_t made) const {
    const Layout& layout = args_[arg];
    const MadeTensor& tensor = group_.made[made];
    return layout.dtype == tensor.dtype && !tensor.shape.empty() &&
           count_of(layout.shape) == count_of(tensor.shape) &&
           layout.strides == row_major(layout.shape);
  }

  // Does the launch read all that it does with the buffer? Whose value nobody needs is only stored.
  static bool only_reads(const Launch& launch, std::size_t buffer) {
    if (!uses(launch, buffer)) return false;
    if (launch.whole || launch.library)
      return launch.buffers.back() != static_cast<std::int32_t>(buffer);
    for (std::size_t i = 0; i < launch.buffers.size(); ++i) {
      if (launch.buffers[i] == static_cast<std::int32_t>(buffer) &&
          launch.kernel.buffers[i].is_output)
        return false;
    }
    return true;
  }

  bool is_last_read(std::size_t buffer, std::size_t launch) const {
    if (!only_reads(group_.launches[launch], buffer)) return false;
    for (std::size_t later = launch + 1; later < group_.launches.size(); ++later) {
      if (uses(group_.launches[later], buffer)) return false;
    }
    return std::none_of(group_.results.begin(), group_.results.end(), [&](const ResultLeaf& leaf) {
      return leaf.buffer == static_cast<std::int32_t>(buffer);
    });
  }

  // Where the kernel stores into a buffer of the group. Null for a part of it.
  static const Address* destination_in(std::size_t buffer, const Launch& launch) {
    const Address* found = nullptr;
    const auto note = [&](std::int32_t output, const Address& destination) {
      if (launch.buffers[static_cast<std::size_t>(output)] != static_cast<std::int32_t>(buffer))
        return true;
      return std::exchange(found, &destination) == nullptr;
    };
    const Kernel& kernel = launch.kernel;
    bool is_whole = note(kernel.output, kernel.destination);
    for (const FurtherStore& store : kernel.further)
      is_whole = note(store.output, store.destination) && is_whole;
    return is_whole ? found : nullptr;
  }

  static bool reads_where_it_writes(std::size_t read, std::size_t made, const Launch& launch) {
    const Kernel& kernel = launch.kernel;
    if (launch.whole || launch.library || kernel.store != StoreKind::Assign) return false;
    const Address* const destination = destination_in(made, launch);
    if (!destination) return false;
    for (const Region& region : kernel.regions) {
      for (const Instruction& step : region.code) {
        if (step.code != Code::Load && step.code != Code::ScalarInput) continue;
        const auto buffer = launch.buffers[static_cast<std::size_t>(step.buffer)];
        if (buffer != static_cast<std::int32_t>(read)) continue;
        if (step.code == Code::ScalarInput || !same_address(step.address, *destination, launch))
          return false;
        // What is stored as it is may be taken from memory after another value was stored.
        if (!kernel.further.empty() && is_stored(step.id, kernel)) return false;
      }
    }
    return true;
  }

  static bool is_stored(ValueId value, const Kernel& kernel) {
    const auto is_it = [&](const FurtherStore& store) { return store.value == value; };
    return kernel.regions[0].result == value ||
           std::any_of(kernel.further.begin(), kernel.further.end(), is_it);
  }

  // Of a kernel that reads where it writes: does it do nothing else?
  static bool is_copy(const Launch& launch) {
    if (!launch.kernel.further.empty()) return false;
    const Region& body = launch.kernel.regions[0];
    return std::all_of(body.code.begin(), body.code.end(), [&](const Instruction& step) {
      return step.code == Code::Axis || (step.code == Code::Load && step.id == body.result);
    });
  }

  LoweredGroup& group_;
  std::span<const Layout> args_;
  std::size_t first_made_;
};

}  // namespace

void find_reuse(LoweredGroup& group, std::span<const Layout> args) {
  Search search(group, args);
  search.join_temporaries();
  search.take_arguments();
}

}  // namespace relay::loops
