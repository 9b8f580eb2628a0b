#include "lang/source.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "lang/call_site.h"
#include "lang/diagnostic.h"

namespace relay::lang {

Source::Source(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)) {
  if (text_.starts_with("\xEF\xBB\xBF")) text_.erase(0, 3);
  if (text_.size() >= std::numeric_limits<std::uint32_t>::max()) {
    fail(DiagnosticKind::FileError, "`" + name_ + "` is larger than 4 GiB");
  }
  line_starts_.push_back(0);
  for (std::size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1)) {
    line_starts_.push_back(static_cast<std::uint32_t>(at + 1));
  }
}

Source::Position Source::position(std::uint32_t offset) const {
  offset = std::min(offset, static_cast<std::uint32_t>(text_.size()));
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto line = static_cast<std::uint32_t>(after - line_starts_.begin());
  return {line, offset - line_starts_[line - 1] + 1};
}

Source::Position Source::place(std::uint32_t offset) const {
  const Position at = position(offset);
  const std::string_view before = line(at.line).substr(0, at.column - 1);
  const auto characters = std::count_if(before.begin(), before.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  });
  return {at.line, static_cast<std::uint32_t>(characters) + 1};
}

std::string_view Source::line(std::uint32_t line) const {
  RELAY_CHECK(line >= 1 && line <= line_starts_.size(), "line out of range");
  const std::size_t begin = line_starts_[line - 1];
  std::size_t end = line < line_starts_.size() ? line_starts_[line] - 1 : text_.size();
  if (end > begin && text_[end - 1] == '\r') --end;
  return text().substr(begin, end - begin);
}

std::string_view Span::text() const {
  if (!source || begin >= end) return {};
  const std::string_view text =
      source->text().empty() ? place_of(*this).span.source->text() : source->text();
  return begin > text.size() ? std::string_view() : text.substr(begin, end - begin);
}

Span join(const Span& a, const Span& b) {
  if (!a) return b;
  if (!b || a.source != b.source) return a;
  return {a.source, std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

const Source* SourceStore::add(std::string name, std::string text) {
  return sources_.emplace_back(std::make_unique<Source>(std::move(name), std::move(text))).get();
}

}  // namespace relay::lang
