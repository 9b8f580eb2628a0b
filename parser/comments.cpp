#include "parser/comments.h"

#include <cstring>

namespace relay::parser {
namespace {

// The byte after the comment that begins at `p`; null if it is never closed.
const char* end_of_block_comment(const char* p, const char* end) {
  int depth = 0;
  while (end - p >= 2) {
    if (p[0] == '/' && p[1] == '*') {
      ++depth;
      p += 2;
    } else if (p[0] == '*' && p[1] == '/') {
      p += 2;
      if (--depth == 0) return p;
    } else {
      ++p;
    }
  }
  return nullptr;
}

const char* end_of_line(const char* p, const char* end) {
  const void* found = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
  return found ? static_cast<const char*>(found) : end;
}

bool is_doc_line(const char* p, const char* end) {
  return end - p >= 3 && p[2] == '/' && (end - p == 3 || p[3] != '/');
}

}  // namespace

Gap skip_gap(const char* begin, const char* end, Breaks breaks, bool want_doc) {
  Gap gap{begin};
  const char* p = begin;
  int lines_since_doc = 0;
  for (; p != end;) {
    if (*p == ' ' || *p == '\t') {
      ++p;
    } else if (*p == '\n' || (*p == '\r' && end - p >= 2 && p[1] == '\n')) {
      if (breaks == Breaks::Stop) break;
      if (*p == '\n') ++lines_since_doc;
      ++p;
    } else if (*p == '/' && end - p >= 2 && p[1] == '/') {
      const char* stop = end_of_line(p, end);
      if (want_doc && is_doc_line(p, end)) {
        if (!gap.doc_begin || lines_since_doc > 1) gap.doc_begin = p;
        gap.doc_end = stop;
        lines_since_doc = 0;
      }
      p = stop;
    } else if (*p == '/' && end - p >= 2 && p[1] == '*') {
      const char* after = end_of_block_comment(p, end);
      if (!after) {
        gap.open_comment = p;
        p = end;
        break;
      }
      p = after;
    } else {
      break;
    }
  }
  gap.end = p;
  return gap;
}

const char* end_of_comment(const char* begin, const char* end) {
  return begin[1] == '/' ? end_of_line(begin, end) : end_of_block_comment(begin, end);
}

std::string doc_text(std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const std::size_t stop = lines.find('\n');
    std::string_view line = lines.substr(0, stop);
    lines = stop == std::string_view::npos ? std::string_view() : lines.substr(stop + 1);
    const std::size_t slashes = line.find("///");
    if (slashes == std::string_view::npos) continue;
    line.remove_prefix(slashes + 3);
    if (line.starts_with(' ')) line.remove_prefix(1);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t')) {
      line.remove_suffix(1);
    }
    if (!text.empty()) text += '\n';
    text += line;
  }
  return text;
}

}  // namespace relay::parser
