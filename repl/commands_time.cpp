#include <charconv>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "repl/columns.h"
#include "repl/command_parts.h"
#include "repl/commands.h"
#include "repl/tune.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

// What has run in place of native code.
std::string_view uncompiled(const interp::Statistics& before, const interp::Statistics& after) {
  if (after.kernels_run_library > before.kernels_run_library)
    return "nothing is compiled: libraries do this";
  if (after.kernels_run_lanes > before.kernels_run_lanes)
    return "nothing is compiled: this runs on lanes";
  return "nothing to compile is in this";
}

}  // namespace

CommandOutcome run_time(Session& session, std::string_view argument) {
  std::string text;
  const auto& statistics = session.evaluator().statistics();
  for (const auto& [mode, name] :
       {std::pair{interp::JitMode::Off, "interpreter"}, {interp::JitMode::Always, "jit"}}) {
    const interp::Statistics before = statistics;
    const auto timing = session.time(std::string(argument), mode);
    if (!timing) return {"", timing.errors(), false};
    const bool is_last = mode == interp::JitMode::Always;
    const bool is_compiled = statistics.kernels_run_native > before.kernels_run_native ||
                             statistics.functions_compiled > before.functions_compiled;
    if (is_last && !is_compiled) {
      return output(fmt::format("{}{:<12} {}\n{}", text, name, uncompiled(before, statistics),
                                timing->loops));
    }
    if (timing->has_effects) {
      return output(fmt::format("{:<12} {:>9}   with checking; run once, as it has effects\n{}",
                                name, duration(timing->first_seconds), timing->loops));
    }
    text += fmt::format("{:<12} {:>9}   median of {} runs; first {} with checking and compiling\n",
                        name, duration(timing->median_seconds), timing->runs,
                        duration(timing->first_seconds));
    if (is_last) text += timing->loops;
  }
  return output(std::move(text));
}

CommandOutcome run_bench(Session& session, std::string_view argument) {
  std::string text = fmt::format("{:<12} {:>9} {:>9}   {:<22} {:>6}  {:>9}\n", "", "median",
                                 "least", "half of them between", "runs", "compiling");
  std::vector<double> medians;
  std::string loops;
  for (const auto& [mode, name] :
       {std::pair{interp::JitMode::Off, "interpreter"}, {interp::JitMode::Always, "jit"}}) {
    const auto timing = session.time(std::string(argument), mode);
    if (!timing) return {"", timing.errors(), false};
    if (timing->has_effects) {
      return failed(
          Diagnostic(DiagnosticKind::BadCommand, "what has an effect is not run again and again")
              .note("help: `:time` runs it once"));
    }
    const std::string between = fmt::format("{} and {}", duration(timing->lower_quartile),
                                            duration(timing->upper_quartile));
    text += fmt::format("{:<12} {:>9} {:>9}   {:<22} {:>6}  {:>9}\n", name,
                        duration(timing->median_seconds), duration(timing->least_seconds), between,
                        timing->runs,
                        timing->compiling_seconds > 0 ? duration(timing->compiling_seconds) : "-");
    medians.push_back(timing->median_seconds);
    loops = timing->loops;
  }
  if (medians[1] > 0)
    text += fmt::format("native code takes {:.3g} of the interpreter's time\n",
                        medians[1] / medians[0]);
  return output(text + loops);
}

CommandOutcome run_profile(Session& session, std::string_view argument) {
  auto profile = session.profile(std::string(argument));
  if (!profile) return {"", profile.errors(), false};
  return {std::move(profile->table), std::move(profile->errors), false};
}

CommandOutcome run_tune(Session& session, std::string_view argument) {
  auto text = tune_command(session, argument);
  if (!text) return {"", text.errors(), false};
  return output(std::move(*text));
}

CommandOutcome run_seconds(Session& session, std::string_view argument) {
  const auto [count, text] = split_word(argument);
  int runs = 0;
  const auto parsed = std::from_chars(count.data(), count.data() + count.size(), runs);
  if (parsed.ec != std::errc() || runs < 1 || text.empty()) {
    return failed(Diagnostic(DiagnosticKind::BadCommand, "usage: :seconds RUNS EXPR"));
  }
  const auto seconds = session.run_times(std::string(text), runs);
  if (!seconds) return {"", seconds.errors(), false};
  return output(fmt::format("{}\n", fmt::join(*seconds, " ")));
}

}  // namespace relay::repl
