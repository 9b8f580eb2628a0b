#include "interp/out_of_range.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace relay::interp {

lang::Diagnostic index_out_of_range(std::int64_t index, std::size_t axis,
                                    const std::vector<std::int64_t>& shape, lang::Span span) {
  const std::int64_t extent = shape[axis];
  // Axes that `...` leaves out stand behind the others here: the axis has another number in the
  // text.
  if (span && span.text().find("...") != std::string_view::npos)
    return {lang::DiagnosticKind::IndexOutOfRange,
            fmt::format("index {} is out of range for an axis of extent {}", index, extent), span};
  return lang::Diagnostic(
             lang::DiagnosticKind::IndexOutOfRange,
             fmt::format("index {} is out of range for axis {} of extent {}", index, axis, extent),
             span)
      .note(fmt::format("note: the indexed tensor has shape `({})`", fmt::join(shape, ", ")));
}

}  // namespace relay::interp
