#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "repl/choices.h"
#include "repl/command_parts.h"
#include "repl/commands.h"
#include "repl/display.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

constexpr std::size_t kLeastColumns = 20;
constexpr std::size_t kMostThreads = 1024;

std::string describe_settings(Session& session) {
  const Display display = display_for_output(session.options().shown);
  const std::string lines = display.lines == 0 ? "any" : std::to_string(display.lines);
  std::string text;
  const auto setting = [&](std::string_view name, std::string_view value, std::string_view what) {
    text += fmt::format("{:<8} {:<8} {}\n", name, value, what);
  };
  setting("jit", name_of(kJitModes, session.evaluator().mode()),
          "when functions and kernels are compiled");
  setting("kernels", name_of(kLibraryKernels, session.options().kernels),
          "kernels of a library for products and windows");
  setting("threads", std::to_string(session.evaluator().threads()), "which share one kernel");
  setting("columns", std::to_string(display.columns), "how wide a value is shown");
  setting("lines", lines, "about how many lines of it");
  setting("plot", name_of(kPlots, session.options().shown.plots), "what a plot is drawn with");
  return text;
}

// A number from `least` to `most`; nothing for `auto`, by which the terminal or the machine
// decides.
std::optional<std::optional<std::size_t>> parse_number(std::string_view text, std::size_t least,
                                                       std::size_t most) {
  if (text == "auto") return std::optional<std::size_t>();
  std::size_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  if (!is_number || number < least || number > most) return std::nullopt;
  return std::optional<std::size_t>(number);
}

bool set_shown(Session& session, std::optional<std::size_t> ShownSize::*part, std::size_t least,
               std::string_view value) {
  constexpr std::size_t kMost = 100'000;
  const auto size = parse_number(value, least, kMost);
  if (!size) return false;
  ShownSize shown = session.options().shown;
  shown.*part = *size;
  session.set_shown(shown);
  return true;
}

bool set_threads(Session& session, std::string_view value) {
  const auto threads = parse_number(value, 1, kMostThreads);
  if (!threads) return false;
  session.evaluator().set_threads(static_cast<int>(threads->value_or(0)));
  return true;
}

bool set(Session& session, std::string_view name, std::string_view value) {
  if (name == "jit") {
    const auto mode = choice_called(kJitModes, value);
    if (mode) session.set_jit(*mode);
    return mode.has_value();
  }
  if (name == "kernels") {
    const auto kernels = choice_called(kLibraryKernels, value);
    if (kernels) session.set_kernels(*kernels);
    return kernels.has_value();
  }
  if (name == "threads") return set_threads(session, value);
  if (name == "plot") {
    const auto plots = choice_called(kPlots, value);
    ShownSize shown = session.options().shown;
    shown.plots = plots.value_or(shown.plots);
    session.set_shown(shown);
    return plots.has_value();
  }
  if (name == "columns") return set_shown(session, &ShownSize::columns, kLeastColumns, value);
  if (name == "lines") return set_shown(session, &ShownSize::lines, 1, value);
  return false;
}

}  // namespace

CommandOutcome run_set(Session& session, std::string_view argument) {
  if (argument.empty()) return output(describe_settings(session));
  const auto [name, value] = split_word(argument);
  if (set(session, name, value)) return output(describe_settings(session));
  Diagnostic wrong(
      DiagnosticKind::BadCommand,
      fmt::format("`:set` takes `jit` and {}; `kernels` and {}; `plot` and {}; or `threads`, "
                  "`columns` (from {} on) or `lines` and a number or auto",
                  fmt::join(names_of(kJitModes), ", "), fmt::join(names_of(kLibraryKernels), ", "),
                  fmt::join(names_of(kPlots), ", "), kLeastColumns));
  if (name == "memory" || name == "time") wrong.note("help: `:limit` sets what an entry may take");
  return failed(std::move(wrong));
}

}  // namespace relay::repl
