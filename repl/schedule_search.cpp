#include "repl/schedule_search.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace relay::repl {

using lang::ScheduleArg;
using lang::ScheduledLoop;
using lang::ScheduledNest;
using lang::ScheduleStep;
using lang::ScheduleSteps;

namespace {

constexpr std::array<int, 7> kSplits = {4, 2, 6, 3, 8, 1, 5};
constexpr std::array<int, 5> kLanes = {16, 8, 32, 24, 64};

ScheduleArg arg(std::string text) { return {std::move(text), {}}; }

bool take(ScheduledNest& nest, const ScheduleStep& step) {
  ScheduledNest changed = nest;
  if (changed.apply(step, "")) return false;
  nest = std::move(changed);
  return true;
}

}  // namespace

void ScheduleSearch::draw(ScheduledNest& nest) {
  std::vector<std::string> domain = nest.domain();
  if (domain.empty()) return;
  const std::string lanes = domain.back();
  take(nest, {"split", {arg(lanes), arg(std::to_string(kLanes[below(kLanes.size())]))}, {}});
  std::string rows;
  if (domain.size() > 1 && !one_in(4)) {
    rows = domain[domain.size() - 2];
    take(nest, {"split", {arg(rows), arg(std::to_string(kSplits[below(kSplits.size())]))}, {}});
  }
  // Outside the whole loops and outer parts, in some order; then reductions; then the tile.
  std::vector<ScheduleArg> order;
  for (const ScheduledLoop& loop : nest.loops()) {
    if (!loop.is_reduction && !loop.extent) order.push_back(arg(loop.name));
  }
  if (one_in(2)) std::shuffle(order.begin(), order.end(), random_);
  const std::string outermost = order.empty() ? "" : order.front().text;
  for (const ScheduledLoop& loop : nest.loops()) {
    if (loop.is_reduction) order.push_back(arg(loop.name));
  }
  if (!rows.empty()) order.push_back(arg(rows + "_i"));
  order.push_back(arg(lanes + "_i"));
  if (order.size() > 1) take(nest, {"reorder", order, {}});
  take(nest, {"vectorize", {arg(lanes + "_i")}, {}});
  if (!rows.empty()) take(nest, {"unroll", {arg(rows + "_i")}, {}});
  if (!outermost.empty() && !one_in(4)) take(nest, {"parallel", {arg(outermost)}, {}});
  for (const std::string& tensor : nest.tensors()) {
    if (one_in(2)) take(nest, {"cache", {arg(tensor)}, {}});
  }
}

ScheduleSteps ScheduleSearch::drawn() {
  ScheduleSteps steps;
  std::string outermost;  // loop of the nest behind, where it is computed in memory
  for (auto each = nests_.rbegin(); each != nests_.rend(); ++each) {
    ScheduledNest nest = *each;
    if (!outermost.empty() && one_in(2)) {
      take(nest, one_in(3) ? ScheduleStep{"inline", {arg(nest.made())}, {}}
                           : ScheduleStep{"compute_at", {arg(nest.made()), arg(outermost)}, {}});
    } else {
      draw(nest);
      if (nest.check()) continue;
      outermost = nest.loops().front().name;
    }
    steps.insert(steps.begin(), nest.steps().begin(), nest.steps().end());
  }
  return is_legal(steps) ? steps : ScheduleSteps{};
}

bool ScheduleSearch::is_legal(const ScheduleSteps& steps) const {
  std::vector<ScheduledNest> nests = nests_;
  return !lang::apply_schedule(steps, nests, "");
}

ScheduleSteps ScheduleSearch::changed(const ScheduleSteps& steps) {
  constexpr int kAttempts = 20;
  for (int attempt = 0; attempt < kAttempts && !steps.empty(); ++attempt) {
    ScheduleSteps made = steps;
    const std::size_t at = below(made.size());
    ScheduleStep& step = made[at];
    if (one_in(4)) {
      made.erase(made.begin() + static_cast<std::ptrdiff_t>(at));
    } else if (step.word == "split") {
      step.args[1].text =
          std::to_string(one_in(2) ? kLanes[below(kLanes.size())] : kSplits[below(kSplits.size())]);
    } else if (step.word == "reorder") {
      std::swap(step.args[below(step.args.size())], step.args[below(step.args.size())]);
    } else {
      const std::vector<std::string> tensors = nests_[below(nests_.size())].tensors();
      if (tensors.empty()) continue;
      made.push_back({"cache", {arg(tensors[below(tensors.size())])}, {}});
    }
    if (is_legal(made)) return made;
  }
  return drawn();
}

}  // namespace relay::repl
