#include "loops/placement.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace relay::loops {

using lang::ScheduledNest;

namespace {

// At so many places of a kernel a tensor that dissolves may be computed.
constexpr double kMostPlaces = 1000;

bool is_result(const Stages& stages, TensorId id) {
  return std::find(stages.results.begin(), stages.results.end(), id) != stages.results.end();
}

// Adds `places` for each read in the body of a tensor to what is read.
void count_places(const Stages& stages, const TensorDef& def, double places,
                  std::vector<double>& counts) {
  std::vector<NodeId> roots = def.indices;
  if (def.body >= 0) roots.push_back(def.body);
  for (const NodeId read : reads_of(stages, std::move(roots)))
    counts[static_cast<std::size_t>(stages.nodes[static_cast<std::size_t>(read)].ref)] += places;
}

void check_inlined(const GroupSchedule& schedule, const Stages& stages,
                   const std::vector<Storage>& storage) {
  std::vector<double> counts(stages.tensors.size(), 0);
  // Readers stand behind what they read.
  for (auto id = static_cast<TensorId>(stages.tensors.size()); id-- > 0;) {
    const auto at = static_cast<std::size_t>(id);
    const TensorDef& def = stages.tensors[at];
    const bool dissolves = storage[at] == Storage::Inlined;
    if (storage[at] != Storage::Nowhere)
      count_places(stages, def, dissolves ? counts[at] : 1, counts);
    const ScheduledNest* const nest = schedule.nest_of(id);
    if (dissolves && nest && nest->is_inlined() && counts[at] > kMostPlaces)
      refuse(fmt::format("computing `{}` at more than {} places of a kernel", nest->made(),
                         kMostPlaces),
             *nest);
    if (def.init < 0 || storage[at] == Storage::Nowhere) continue;
    const ScheduledNest* const whole = schedule.nest_of(def.init);
    if (whole && whole->is_inlined())
      refuse(fmt::format("inlining `{}`, all of which is needed in memory", whole->made()), *whole);
  }
}

}  // namespace

void settle_storage(const GroupSchedule& schedule, const Stages& stages,
                    std::vector<Storage>& storage) {
  for (const auto& [id, nest] : schedule.nests()) {
    Storage& where = storage[static_cast<std::size_t>(id)];
    if (where == Storage::Nowhere) continue;
    where = nest.is_inlined() ? Storage::Inlined : Storage::Stored;
    if (nest.is_inlined() && is_result(stages, id))
      refuse(fmt::format("inlining `{}`, which is needed outside of its kernel", nest.made()),
             nest);
  }
  check_inlined(schedule, stages, storage);
}

std::map<TensorId, TensorId> find_hosts(const GroupSchedule& schedule, const Stages& stages,
                                        const std::vector<Storage>& storage,
                                        const std::vector<std::vector<TensorId>>& readers) {
  std::map<TensorId, TensorId> hosts;
  for (auto id = static_cast<TensorId>(stages.tensors.size()); id-- > 0;) {
    const ScheduledNest* const nest = schedule.nest_of(id);
    if (!nest || !nest->computed_at() || storage[static_cast<std::size_t>(id)] != Storage::Stored)
      continue;
    const std::string& loop = nest->computed_at()->text;
    std::set<TensorId> found;
    for (const TensorId reader : readers[static_cast<std::size_t>(id)]) {
      const ScheduledNest* const reading = schedule.nest_of(reader);
      const auto behind = hosts.find(reader);
      if (reading && reading->loops().front().name == loop) {
        found.insert(reader);
      } else if (reading && behind != hosts.end() && reading->computed_at()->text == loop) {
        found.insert(behind->second);
      } else {
        found.insert(-1);
      }
    }
    if (is_result(stages, id) || found.size() != 1 || *found.begin() < 0)
      refuse(fmt::format("computing `{}` at `{}`, whose nest is not all that needs it",
                         nest->made(), loop),
             *nest);
    hosts.emplace(id, *found.begin());
  }
  return hosts;
}

}  // namespace relay::loops
