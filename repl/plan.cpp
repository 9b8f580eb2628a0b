#include "repl/plan.h"

#include <map>

#include <fmt/format.h>

#include "lang/memory.h"
#include "repl/columns.h"
#include "repl/machine_limits.h"

namespace relay::repl {

namespace {

using Part = interp::Plan::Part;

constexpr std::size_t kPlanWidth = 40;  // of the code as it was written

const MachineLimits& limits_on(int threads) {
  static std::map<int, MachineLimits> known;
  const auto found = known.find(threads);
  if (found != known.end()) return found->second;
  constexpr std::size_t kKibi = 1024;
  const std::vector<std::size_t> sizes = {24 * kKibi, 768 * kKibi, 8 * kKibi * kKibi,
                                          96 * kKibi * kKibi};
  return known.emplace(threads, measure_limits(threads, sizes)).first->second;
}

std::string row(const Part& part, const MachineLimits& limits) {
  const bool is_group = part.bytes > 0;
  const double runs = static_cast<double>(part.runs);
  const double least = runs * limits.seconds(part.operations, part.bytes, part.bytes);
  const std::string share =
      is_group && part.seconds > 0 ? fmt::format("{:.0f} %", 100 * least / part.seconds) : "";
  return fmt::format("{:>9} {:>6} {:>14} {:>10} {:>8}  {}: {}\n", duration(part.seconds), share,
                     is_group ? grouped(static_cast<std::int64_t>(part.operations)) : "",
                     is_group ? lang::describe_bytes(static_cast<std::size_t>(part.bytes)) : "",
                     grouped(part.runs), shortened(part.text, kPlanWidth), part.consists_of);
}

}  // namespace

std::string describe_plan(const interp::Plan& plan, int threads) {
  if (plan.parts().empty()) return "nothing is launched: no kernels, and no native functions\n";
  const MachineLimits& limits = limits_on(threads);
  std::string text = fmt::format("{:>9} {:>6} {:>14} {:>10} {:>8}  what\n", "time", "limit",
                                 "operations", "bytes", "runs");
  for (const Part& part : plan.parts()) text += row(part, limits);
  return text +
         fmt::format(
             "the limit, on {} thread{}: {:.0f} GFLOP/s of float32, {:.0f} GB/s in cache and "
             "{:.0f} in memory\n",
             threads, threads == 1 ? "" : "s", limits.operations / 1e9,
             limits.bytes[1].second / 1e9, limits.bytes.back().second / 1e9);
}

}  // namespace relay::repl
