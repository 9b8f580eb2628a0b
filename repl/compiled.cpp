#include "repl/compiled.h"

#include <map>

#include <fmt/format.h>

#include "lang/call_site.h"
#include "repl/columns.h"

namespace relay::repl {

namespace {

using Report = interp::FunctionReport;
using FunctionForm = Report::Form;
using FunctionTier = Report::Tier;

constexpr std::size_t kNameWidth = 36;

// Code may have been moved to a call: what is told is where it is written.
std::string place(lang::Span moved) {
  const lang::Span span = lang::place_of(moved).span;
  if (!span) return {};
  const auto at = span.source->place(span.begin);
  return fmt::format("{}:{}:{}", span.source->name(), at.line, at.column);
}

std::uint32_t line_of(lang::Span moved) {
  const lang::Span span = lang::place_of(moved).span;
  return span.source->place(span.begin).line;
}

std::string place_and_text(lang::Span span) {
  constexpr std::size_t kCode = 40;
  return span ? fmt::format("{} `{}`", place(span), shortened(span.text(), kCode)) : std::string();
}

std::string reason(const lang::Diagnostic& why) {
  constexpr std::string_view kPrefix = "not supported: ";
  return why.message.starts_with(kPrefix) ? why.message.substr(kPrefix.size()) : why.message;
}

std::string size_of_code(std::size_t bytes) {
  if (bytes == 0) return {};
  return bytes < 10'000 ? fmt::format("{} B", bytes)
                        : fmt::format("{:.0f} KiB", static_cast<double>(bytes) / 1024);
}

std::string milliseconds(double seconds) {
  return seconds >= 5e-5 ? fmt::format("{:.1f} ms", seconds * 1e3) : std::string();
}

std::string name_of(const Report& report) {
  std::string name = report.name;
  if (report.form == FunctionForm::Entry) return place(report.span);
  if (report.form == FunctionForm::Nest && report.span) {
    const std::string_view text = report.span.text();
    name = text.substr(0, std::min(text.find_first_of(" \t\n"), text.size()));
  }
  if (report.form == FunctionForm::Function) return name;
  if (name.empty()) name = report.form == FunctionForm::Nest ? "for" : "fn";
  return report.owner.empty() ? fmt::format("{} at {}", name, place(report.span))
                              : fmt::format("{} in {}", name, report.owner);
}

std::string_view name_of(FunctionTier tier) {
  switch (tier) {
    case FunctionTier::Native:
      return "native";
    case FunctionTier::Kernels:
      return "kernels";
    case FunctionTier::Interpreted:
    case FunctionTier::Refused:
      return "interpreted";
  }
  return {};
}

constexpr std::string_view kOff = "`--jit=off`: all functions are interpreted\n";

std::string threshold(interp::JitMode mode, std::int64_t native_heat) {
  if (mode == interp::JitMode::Always) return "a function becomes native code at its first call";
  return fmt::format("a function becomes native code at {} calls, tail calls of itself included",
                     grouped(native_heat));
}

}  // namespace

std::string describe_functions(const std::vector<Report>& functions, interp::JitMode mode,
                               std::int64_t native_heat) {
  std::string text(mode == interp::JitMode::Off ? kOff : "");
  if (functions.empty()) {
    text += "no function has run since the last definition changed\n";
    return mode == interp::JitMode::Off ? text : text + threshold(mode, native_heat) + "\n";
  }
  std::map<std::string, int> counts;
  for (const Report& each : functions) ++counts[name_of(each)];
  text += fmt::format("{:<{}} {:<11} {:>11} {:>9} {:>8}\n", "function", kNameWidth, "tier", "calls",
                      "compiling", "code");
  bool is_waiting = false;
  for (const Report& each : functions) {
    std::string name = name_of(each);
    if (counts[name] > 1 && each.form == FunctionForm::Function) {
      name += lang::to_string(each.type).substr(2);  // without `fn`
    } else if (counts[name] > 1 && each.span) {
      name += fmt::format(", line {}", line_of(each.span));
    }
    std::string line =
        fmt::format("{} {:<11} {:>11} {:>9} {:>8}", filled(shortened(name, kNameWidth), kNameWidth),
                    name_of(each.tier), grouped(each.calls), milliseconds(each.compile_seconds),
                    size_of_code(each.code_size));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    is_waiting = is_waiting || each.tier == FunctionTier::Interpreted;
    if (each.tier == FunctionTier::Refused)
      text +=
          fmt::format("  {}\n    {}\n", reason(*each.refusal), place_and_text(each.refusal->span));
  }
  if (is_waiting && mode != interp::JitMode::Off) text += threshold(mode, native_heat) + "\n";
  return text;
}

std::string describe_function(const Report& function, interp::JitMode mode,
                              std::int64_t native_heat) {
  std::string text = fmt::format("{} : {}\n", name_of(function), lang::to_string(function.type));
  const std::string calls =
      fmt::format("{} call{}", grouped(function.calls), function.calls == 1 ? "" : "s");
  switch (function.tier) {
    case FunctionTier::Native: {
      text += fmt::format("native code: {}", size_of_code(function.code_size));
      text += function.compiled_with.empty()
                  ? fmt::format(", compiled in {}", milliseconds(function.compile_seconds))
                  : fmt::format(", compiled with {}", function.compiled_with);
      text += fmt::format("; {} by the interpreter\n", calls);
      for (const Report::Part& part : function.interpreted) {
        text += fmt::format("{} in it: {}\n", part.why.empty() ? "interpreted" : "a kernel",
                            place_and_text(part.span));
        if (!part.why.empty()) text += fmt::format("  {}\n", part.why);
      }
      return text;
    }
    case FunctionTier::Kernels:
      return text +
             fmt::format("nothing in it but kernels: they have native code of their own; {}\n",
                         calls);
    case FunctionTier::Interpreted:
      text += fmt::format("interpreted: {}", calls);
      return text + (mode == interp::JitMode::Off ? std::string("; `--jit=off`\n")
                                                  : "; " + threshold(mode, native_heat) + "\n");
    case FunctionTier::Refused:
      text += fmt::format("interpreted: {}; it cannot be native code\n", calls);
      // As an error is shown, without its first line.
      lang::Diagnostic why = *function.refusal;
      why.label(why.span, reason(why));
      std::string shown = lang::render(why);
      return text + shown.substr(shown.find('\n') + 1);
  }
  return text;
}

std::string describe_refused(const std::vector<interp::NativeListing::Refused>& refused) {
  std::string text;
  for (const auto& each : refused) {
    text +=
        fmt::format("{} is interpreted: {}\n",
                    each.name.empty() ? "the expression" : "`" + each.name + "`", reason(each.why));
    if (each.why.span) text += fmt::format("  {}\n", place_and_text(each.why.span));
  }
  return text;
}

std::string describe_loops(const std::vector<interp::LoopReport>& loops) {
  if (loops.empty()) return {};
  std::string text = "index notation without a kernel\n";
  for (const auto& each : loops) {
    text += fmt::format("  {}{}`{}`{}\n", place(each.span), each.span ? " " : "", each.text,
                        each.is_native ? " is a native loop" : " runs point by point");
    const bool tells_more = each.place && each.place != each.span;
    text += fmt::format("    {}{}{}\n", each.reason, tells_more ? ": " : "",
                        tells_more ? place_and_text(each.place) : std::string());
    for (const lang::Obstacle& part : each.repeated) {
      text += fmt::format("    computed again at each point, without its indices: {}\n      {}\n",
                          place_and_text(part.place), part.reason);
    }
  }
  return text;
}

}  // namespace relay::repl
