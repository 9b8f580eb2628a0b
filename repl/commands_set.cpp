#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "repl/command_parts.h"
#include "repl/commands.h"
#include "repl/display.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

constexpr std::pair<std::string_view, interp::JitMode> kModes[] = {
    {"off", interp::JitMode::Off},
    {"auto", interp::JitMode::Auto},
    {"always", interp::JitMode::Always}};

std::string describe_settings(Session& session) {
  const Display display = display_for_output(session.options().shown);
  std::string text;
  for (const auto& [name, mode] : kModes) {
    if (mode == session.evaluator().mode())
      text += fmt::format("jit      {:<8} when functions and kernels are compiled\n", name);
  }
  text += fmt::format("columns  {:<8} how wide a value is shown\n", display.columns);
  text += fmt::format("lines    {:<8} about how many lines of it\n",
                      display.lines == 0 ? "any" : std::to_string(display.lines));
  return text;
}

// A number of at least `least`; nothing for `auto`, by which the terminal decides.
std::optional<std::optional<std::size_t>> parse_size(std::string_view text, std::size_t least) {
  if (text == "auto") return std::optional<std::size_t>();
  std::size_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  constexpr std::size_t kMost = 100'000;
  if (!is_number || number < least || number > kMost) return std::nullopt;
  return std::optional<std::size_t>(number);
}

bool set(Session& session, std::string_view name, std::string_view value) {
  if (name == "jit") {
    for (const auto& [mode_name, mode] : kModes) {
      if (mode_name != value) continue;
      session.set_jit(mode);
      return true;
    }
    return false;
  }
  if (name != "columns" && name != "lines") return false;
  constexpr std::size_t kLeastColumns = 20;
  const auto size = parse_size(value, name == "columns" ? kLeastColumns : 1);
  if (!size) return false;
  ShownSize shown = session.options().shown;
  (name == "columns" ? shown.columns : shown.lines) = *size;
  session.set_shown(shown);
  return true;
}

}  // namespace

CommandOutcome run_set(Session& session, std::string_view argument) {
  if (argument.empty()) return output(describe_settings(session));
  const auto [name, value] = split_word(argument);
  if (set(session, name, value)) return output(describe_settings(session));
  Diagnostic wrong(DiagnosticKind::BadCommand,
                   "`:set` takes `jit` and off, auto or always, or `columns` (from 20 on) or "
                   "`lines` and a number or auto");
  if (name == "threads" || name == "kernels")
    wrong.note(fmt::format("note: `--{}` is chosen when the program starts", name));
  if (name == "memory" || name == "time") wrong.note("help: `:limit` sets what an entry may take");
  return failed(std::move(wrong));
}

}  // namespace relay::repl
