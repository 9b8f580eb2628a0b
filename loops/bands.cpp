#include "loops/bands.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <vector>

#include "lang/dtype.h"
#include "loops/address_walk.h"
#include "loops/launch_sizes.h"

namespace relay::loops {

namespace {

class LaunchRows {
 public:
  explicit LaunchRows(const Launch& launch) : launch_(launch), addresses_(launch) {}

  // By buffer of the group; nothing where the launch cannot be in a band.
  std::optional<std::map<std::int32_t, RowWalk>> walks() {
    if (launch_.library) return walks_of_library();
    const Kernel& kernel = launch_.kernel;
    if (launch_.cost_of_rows > 0 || launch_.whole || launch_.is_scheduled ||
        kernel.store != StoreKind::Assign || kernel.domain_rank == 0 || kernel.polls ||
        !kernel.sites.empty())
      return std::nullopt;
    for (const Region& region : kernel.regions) {
      for (const Instruction& instruction : region.code) {
        if (instruction.code == Code::Load) add(instruction.buffer, instruction.address);
        if (instruction.code == Code::ScalarInput) note(instruction.buffer, {0, false, 1});
        if (may_divide(instruction)) return std::nullopt;
      }
    }
    add(kernel.output, kernel.destination);
    for (const FurtherStore& store : kernel.further) add(store.output, store.destination);
    count_ = number_of(kernel.extents[0], launch_);
    return walks_;
  }

  // Rows of what walks() has told of.
  std::int64_t count() const { return count_; }

 private:
  std::optional<std::map<std::int32_t, RowWalk>> walks_of_library() {
    const std::optional<RowWise> rows = launch_.library->kernel->by_rows();
    if (!rows) return std::nullopt;
    const auto from = [](RowWalk walk, std::int64_t offset) {
      walk.is_in_row = walk.is_in_row && offset >= 0 && offset + walk.extent <= walk.stride;
      return walk;
    };
    note(0, from(rows->left, launch_.library->left_offset));
    note(1, from(rows->right, launch_.library->right_offset));
    note(2, rows->result);
    count_ = rows->rows;
    return walks_;
  }

  static bool may_divide(const Instruction& instruction) {
    return instruction.code == Code::Primitive && !lang::is_float(instruction.dtype) &&
           (instruction.prim == Prim::Div || instruction.prim == Prim::Mod);
  }

  void add(std::int32_t buffer, const Address& address) {
    const AddressWalk reached = addresses_.of(address);
    RowWalk walk;
    walk.stride = reached.stride;
    walk.is_in_row =
        walk.is_in_row && reached.is_affine && reached.low >= 0 && reached.high < reached.stride;
    walk.extent = reached.high - reached.low + 1;
    note(buffer, walk);
  }

  void note(std::int32_t buffer, const RowWalk& walk) {
    const std::int32_t own = launch_.buffers[static_cast<std::size_t>(buffer)];
    const auto [found, is_new] = walks_.try_emplace(own, walk);
    if (is_new) return;
    RowWalk& before = found->second;
    before.is_in_row = before.is_in_row && walk.is_in_row && before.stride == walk.stride;
    before.extent = std::max(before.extent, walk.extent);
  }

  const Launch& launch_;
  AddressWalks addresses_;
  std::map<std::int32_t, RowWalk> walks_;
  std::int64_t count_ = 1;
};

// As if so many rows were one.
RowWalk together(RowWalk walk, std::int64_t rows) {
  walk.extent += (rows - 1) * std::abs(walk.stride);
  walk.stride *= rows;
  return walk;
}

class BandSearch {
 public:
  BandSearch(const LoweredGroup& group, std::size_t arg_count) : group_(group) {
    // A tensor that takes the memory of an argument is the argument, too.
    const std::size_t made = arg_count + group.literals.size();
    for (const Reuse& reuse : group.reuse)
      memory_[static_cast<std::int32_t>(made + reuse.made)].push_back(
          static_cast<std::int32_t>(reuse.arg));
  }

  std::vector<Band> run() {
    std::size_t ready = 0;  // of the bands that a schedule has made
    for (std::size_t i = 0; i < group_.launches.size(); ++i) {
      if (ready < group_.bands.size() && group_.bands[ready].first == i) {
        i += group_.bands[ready].count - 1;
        bands_.push_back(group_.bands[ready++]);
        touched_.clear();
        continue;
      }
      const Launch& launch = group_.launches[i];
      LaunchRows rows(launch);
      auto walks = rows.walks();
      if (!walks) {
        bands_.push_back({i});
        touched_.clear();
        continue;
      }
      if (!joins(rows.count(), *walks, launch)) {
        bands_.push_back({i, 0, rows.count()});
        touched_.clear();
      }
      Band& band = bands_.back();
      ++band.count;
      for (const auto& [buffer, walk] : *walks)
        touch(band, buffer, together(walk, rows.count() / band.rows), launch);
    }
    return std::move(bands_);
  }

 private:
  struct Touched {
    RowWalk walk;
    bool is_written = false;
  };

  // Makes the last band's rows those of the launch where it has fewer.
  bool joins(std::int64_t rows, const std::map<std::int32_t, RowWalk>& walks,
             const Launch& launch) {
    if (bands_.empty() || touched_.empty()) return false;
    Band& band = bands_.back();
    const std::int64_t fewer = std::min(rows, band.rows);
    if (fewer == 0 || rows % fewer != 0 || band.rows % fewer != 0) return false;
    const std::int64_t joined = band.rows / fewer;
    if (joined > 1 && joined * band.row_bytes > kBandPartBytes) return false;
    bool meets = false;
    for (const auto& [buffer, own] : walks) {
      const RowWalk walk = together(own, rows / fewer);
      const auto touched = touched_.find(buffer);
      meets =
          meets || (touched != touched_.end() && touched->second.walk.is_in_row && walk.is_in_row);
      const bool writes = is_output(buffer, launch);
      if (!agrees(buffer, walk, joined, writes)) return false;
      if (const auto same = memory_.find(buffer); writes && same != memory_.end()) {
        for (const std::int32_t arg : same->second) {
          if (!agrees(arg, walk, joined, true)) return false;
        }
      }
    }
    if (!meets) return false;  // nothing would stay in cache for it
    band.rows = fewer;
    band.row_bytes *= joined;
    for (auto& [buffer, touched] : touched_) touched.walk = together(touched.walk, joined);
    return true;
  }

  // With what earlier launches of the band do there.
  // `joined` of whose rows are one now.
  bool agrees(std::int32_t buffer, const RowWalk& walk, std::int64_t joined, bool writes) const {
    const auto found = touched_.find(buffer);
    if (found == touched_.end() || (!writes && !found->second.is_written)) return true;
    const RowWalk before = together(found->second.walk, joined);
    return before.is_in_row && walk.is_in_row && before.stride == walk.stride;
  }

  static bool is_output(std::int32_t buffer, const Launch& launch) {
    if (launch.library) return launch.buffers[2] == buffer;
    for (std::size_t i = 0; i < launch.buffers.size(); ++i) {
      if (launch.buffers[i] == buffer && launch.kernel.buffers[i].is_output) return true;
    }
    return false;
  }

  void touch(Band& band, std::int32_t buffer, const RowWalk& walk, const Launch& launch) {
    const auto [found, is_new] = touched_.try_emplace(buffer, Touched{walk});
    found->second.is_written |= is_output(buffer, launch);
    if (!is_new) {
      const RowWalk& before = found->second.walk;
      if (!walk.is_in_row || walk.stride != before.stride) found->second.walk.is_in_row = false;
      return;
    }
    for (std::size_t i = 0; i < launch.buffers.size(); ++i) {
      if (launch.buffers[i] != buffer) continue;
      const DType dtype =
          launch.library ? dtype_of(launch.library->form) : launch.kernel.buffers[i].dtype;
      const auto size = static_cast<std::int64_t>(lang::size_of(dtype));
      band.row_bytes += size * std::max(std::abs(walk.stride), walk.extent);
      break;
    }
  }

  const LoweredGroup& group_;
  std::map<std::int32_t, std::vector<std::int32_t>> memory_;  // arguments that a tensor may take
  std::vector<Band> bands_;
  std::map<std::int32_t, Touched> touched_;  // by the last band
};

}  // namespace

void find_bands(LoweredGroup& group, std::size_t arg_count) {
  group.bands = BandSearch(group, arg_count).run();
}

}  // namespace relay::loops
