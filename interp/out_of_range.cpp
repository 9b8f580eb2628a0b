#include "interp/out_of_range.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/letters.h"

namespace relay::interp {
namespace {

// `i + 1` of `a[i + 1]`: what has this place among the indices.
struct Shifted {
  std::string_view name;
  char sign;
  std::int64_t by;
};
std::optional<Shifted> shifted_index(std::string_view read, std::size_t place) {
  const std::size_t open = read.rfind('[');
  if (open == std::string_view::npos || !read.ends_with(']')) return std::nullopt;
  std::string_view index = read.substr(open + 1, read.size() - open - 2);
  for (; place > 0; --place) {
    const std::size_t comma = index.find(',');
    if (comma == std::string_view::npos) return std::nullopt;
    index.remove_prefix(comma + 1);
  }
  index = index.substr(0, index.find(','));
  const std::size_t sign = index.find_first_of("+-");
  if (sign == std::string_view::npos) return std::nullopt;
  const auto without_blanks = [](std::string_view text) {
    const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
    return text.substr(first, text.find_last_not_of(' ') + 1 - first);
  };
  Shifted shifted{without_blanks(index.substr(0, sign)), index[sign], 0};
  const std::string_view by = without_blanks(index.substr(sign + 1));
  const auto [stop, error] = std::from_chars(by.data(), by.data() + by.size(), shifted.by);
  const bool is_name = lang::is_written_as_name(shifted.name) && !lang::is_digit(shifted.name[0]);
  if (!is_name || error != std::errc() || stop != by.data() + by.size()) return std::nullopt;
  return shifted;
}

// How far the index alone may go.
std::optional<std::string> help_for_shifted(std::string_view read, std::int64_t index,
                                            std::size_t axis, std::int64_t extent) {
  const auto shifted = shifted_index(read, axis);
  if (!shifted) return std::nullopt;
  const auto& [name, sign, by] = *shifted;
  if (sign == '+' && index >= extent && index - by < extent && by < extent)
    return fmt::format("help: `{0} + {1}` is in range for `{0} < {2}`, the extent less {1}", name,
                       by, extent - by);
  if (sign == '-' && index < 0 && index + by >= 0)
    return fmt::format(
        "help: `{0} - {1}` is in range from {1} on: `if {0} >= {1} {{ {2} }} else {{ … }}`", name,
        by, read);
  return std::nullopt;
}

}  // namespace

lang::Diagnostic index_out_of_range(std::int64_t index, std::size_t axis,
                                    const std::vector<std::int64_t>& shape, lang::Span span) {
  const std::int64_t extent = shape[axis];
  // Axes that `...` leaves out stand behind the others here: the axis has another number in the
  // text.
  if (span && span.text().find("...") != std::string_view::npos)
    return {lang::DiagnosticKind::IndexOutOfRange,
            fmt::format("index {} is out of range for an axis of extent {}", index, extent), span};
  lang::Diagnostic diagnostic(
      lang::DiagnosticKind::IndexOutOfRange,
      fmt::format("index {} is out of range for axis {} of extent {}", index, axis, extent), span);
  diagnostic.note(fmt::format("note: the indexed tensor has shape `({})`", fmt::join(shape, ", ")));
  if (auto help = help_for_shifted(span ? span.text() : "", index, axis, extent))
    diagnostic.note(std::move(*help));
  return diagnostic;
}

}  // namespace relay::interp
