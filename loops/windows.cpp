#include "loops/windows.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "loops/address_walk.h"
#include "loops/launch_sizes.h"
#include "loops/stages.h"

namespace relay::loops {

namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

class WindowReads {
 public:
  explicit WindowReads(const Launch& launch) : launch_(launch), addresses_(launch) {}

  // Of what is read from the group's buffer; not is_known where an index is computed. No read: low
  // is above high.
  struct Found {
    bool is_known = true;
    Band::WindowRead read{0, 0, 0, -1};
  };
  Found of(std::int32_t buffer) const {
    Found found;
    for (const Region& region : launch_.kernel.regions) {
      for (const Instruction& each : region.code) {
        if (each.code != Code::Load && each.code != Code::ScalarInput) continue;
        if (launch_.buffers[static_cast<std::size_t>(each.buffer)] != buffer) continue;
        if (each.code == Code::ScalarInput || !add(addresses_.of(each.address), found.read))
          found.is_known = false;
      }
    }
    return found;
  }

 private:
  static bool add(const AddressWalk& walk, Band::WindowRead& all) {
    if (!walk.is_affine) return false;
    if (all.low > all.high) {
      all = {0, walk.stride, walk.low, walk.high};
      return true;
    }
    all.low = std::min(all.low, walk.low);
    all.high = std::max(all.high, walk.high);
    return all.stride == walk.stride;
  }

  const Launch& launch_;
  AddressWalks addresses_;
};

std::int64_t points_of(const Launch& launch) {
  return launch.kernel.domain_rank == 0 ? 1 : number_of(launch.kernel.extents[0], launch);
}

// What the launches read of one another; false where an index is computed.
bool find_reads(Band& band, const std::vector<Launch>& launches,
                const std::vector<std::int32_t>& buffers) {
  for (std::size_t reading = 1; reading < launches.size(); ++reading) {
    const WindowReads reads(launches[reading]);
    for (std::size_t window = 0; window < std::min(reading, buffers.size()); ++window) {
      WindowReads::Found found = reads.of(buffers[window]);
      if (!found.is_known) return false;
      if (found.read.low > found.read.high) continue;
      found.read.window = window;
      band.window_reads[reading].push_back(found.read);
      // Less than a row further at each point: all points need the same rows.
      if (std::abs(found.read.stride) < band.windows[window].row_elements &&
          points_of(launches[reading]) > 1)
        band.step = points_of(launches.back());
    }
  }
  return true;
}

}  // namespace

bool has_windows(const LoweredGroup& group) {
  return std::any_of(group.bands.begin(), group.bands.end(),
                     [](const Band& band) { return !band.windows.empty(); });
}

void find_points(const Band& band, PointRange points, std::vector<PointRange>& by_launch) {
  by_launch.assign(band.count, {});
  by_launch.back() = points;
  for (std::size_t reading = band.count; reading-- > 0;) {
    const auto [begin, end] = by_launch[reading];
    if (begin >= end) continue;
    for (const Band::WindowRead& read : band.window_reads[reading]) {
      const Band::Window& window = band.windows[read.window];
      const std::int64_t first = read.stride * begin;
      const std::int64_t last = read.stride * (end - 1);
      // Where a condition forbids a read, its place may be outside.
      const PointRange rows = {
          std::max<std::int64_t>(floor_div(std::min(first, last) + read.low, window.row_elements),
                                 0),
          std::min(floor_div(std::max(first, last) + read.high, window.row_elements) + 1,
                   window.rows)};
      if (rows.begin >= rows.end) continue;
      PointRange& all = by_launch[read.window];
      const bool is_first = all.begin >= all.end;
      all.begin = is_first ? rows.begin : std::min(all.begin, rows.begin);
      all.end = is_first ? rows.end : std::max(all.end, rows.end);
    }
  }
}

const Band* add_windows(LoweredGroup& group, std::int32_t first_made, std::vector<Launch> makers,
                        Launch reader, std::int64_t step) {
  std::vector<Launch> launches = std::move(makers);
  launches.push_back(std::move(reader));
  const std::int64_t points = points_of(launches.back());
  Band band{group.launches.size(), launches.size()};
  band.rows = points;
  band.step = std::min(step, points);
  band.window_reads.resize(launches.size());
  std::vector<std::int32_t> buffers;
  for (std::size_t i = 0; i + 1 < launches.size(); ++i) {
    buffers.push_back(launches[i].buffers[static_cast<std::size_t>(launches[i].kernel.output)]);
    const std::vector<std::int64_t>& shape =
        group.made[static_cast<std::size_t>(buffers.back() - first_made)].shape;
    if (points_of(launches[i]) != shape.front()) return nullptr;
    band.windows.push_back({shape.front(), row_major(shape).front()});
  }
  if (!find_reads(band, launches, buffers)) return nullptr;
  std::vector<PointRange> by_launch;
  for (std::int64_t begin = 0; begin < points; begin += band.step) {
    find_points(band, {begin, std::min(begin + band.step, points)}, by_launch);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      std::int64_t& window = group.made[static_cast<std::size_t>(buffers[i] - first_made)].window;
      window = std::max({window, by_launch[i].end - by_launch[i].begin, std::int64_t{1}});
    }
  }
  for (Launch& launch : launches) group.launches.push_back(std::move(launch));
  group.bands.push_back(std::move(band));
  return &group.bands.back();
}

}  // namespace relay::loops
