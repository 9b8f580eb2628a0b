#pragma once

#include <string>
#include <string_view>

namespace relay::parser {

// What stands between two tokens.
struct Gap {
  const char* end;  // first byte of the next token, or the end of the text
  const char* open_comment =
      nullptr;  // a `/*` that is never closed; `end` is then the end of the text
  const char* doc_begin = nullptr;  // the last run of `///` lines, when asked for
  const char* doc_end = nullptr;
};

enum class Breaks : bool { Stop, Skip };  // line breaks end the gap, or are part of it

// Skips white space and comments; block comments nest. Inside a block comment line breaks do not
// count.
Gap skip_gap(const char* begin, const char* end, Breaks breaks, bool want_doc = false);

// The byte after the comment that begins at `begin`: behind its `*/`, or at the end of its line. It
// is closed before `end`.
const char* end_of_comment(const char* begin, const char* end);

// The prose of a run of `///` lines: without the slashes, one leading space and the indent.
std::string doc_text(std::string_view lines);

}  // namespace relay::parser
