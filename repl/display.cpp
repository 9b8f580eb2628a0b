#include "repl/display.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "lang/value.h"
#include "repl/columns.h"
#include "repl/not_finite.h"
#include "repl/output.h"

namespace relay::repl {

namespace {

std::string describe_value(const ItemResult& result, const Display& display) {
  const lang::ValuePrintOptions options{.columns = display.columns, .max_lines = display.lines};
  const std::string value =
      result.value.is_empty() ? "<function>" : lang::to_string(result.value, options);
  std::vector<std::string> notes;
  if (display.numbers && result.number > 0) notes.push_back(fmt::format("_{}", result.number));
  if (display.counts_errors && result.value.kind() != lang::ValueKind::Scalar) {
    const NotFinite found = count_not_finite(result.value);
    if (found.nans > 0) notes.push_back(grouped(found.nans) + " NaN");
    if (found.infinities > 0) notes.push_back(grouped(found.infinities) + " Inf");
  }
  const std::string comment =
      notes.empty() ? std::string() : fmt::format("  // {}", fmt::join(notes, ", "));
  // A value of several lines is followed by its type on a line of its own.
  const bool has_lines = value.find('\n') != std::string::npos;
  return fmt::format("{}{}: {}{}\n", value, has_lines ? "\n" : " ", result.type, comment);
}

}  // namespace

Display display_for_output(const ShownSize& shown) {
  constexpr std::size_t kMostLines = 20;
  constexpr std::size_t kLeastLines = 5;
  constexpr std::size_t kOthers = 4;  // the entry, the type and the next prompt are to be seen
  Display display;
  if (isatty(STDOUT_FILENO) != 0) {
    const TerminalSize size = terminal_size();
    display.columns = size.columns;
    display.lines = std::clamp(size.rows, kLeastLines + kOthers, kMostLines + kOthers) - kOthers;
    display.counts_errors = true;
  }
  display.columns = shown.columns.value_or(display.columns);
  display.lines = shown.lines.value_or(display.lines);
  return display;
}

std::string describe(const ItemResult& result, const Display& display) {
  switch (result.kind) {
    case parser::ItemKind::Def:
    case parser::ItemKind::Let:
      return fmt::format("{} : {}\n", result.name, result.type);
    case parser::ItemKind::Expression:
      if (result.hide_value || result.type == "()") return "";
      return describe_value(result, display);
    default:
      return "";
  }
}

std::string describe_all(const lang::Value& value, std::size_t columns) {
  return lang::to_string(
      value, {.max_elements = std::numeric_limits<std::int64_t>::max(), .columns = columns});
}

}  // namespace relay::repl
