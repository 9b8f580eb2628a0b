#include "notebook/positions.h"

#include <algorithm>

#include "lang/utf8.h"
#include "repl/command.h"
#include "repl/entry_lines.h"

namespace relay::notebook {

std::size_t byte_at(std::string_view text, std::size_t code_points) {
  std::size_t byte = 0;
  for (; code_points > 0 && byte < text.size(); --code_points)
    byte += std::max<std::size_t>(lang::code_point_length(text.substr(byte)), 1);
  return byte;
}

std::size_t code_point_at(std::string_view text, std::size_t byte) {
  return lang::code_points(text.substr(0, byte));
}

Part part_at(std::string_view cell, std::size_t cursor) {
  repl::EntryLines lines(0);
  Part part{0, cell.size(), false};
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = std::min(cell.find('\n', begin), cell.size());
    const std::string_view line = cell.substr(begin, end - begin);
    if ((lines.is_empty() || lines.ends_before(line)) && repl::as_command(line)) {
      if (cursor < begin) return {part.begin, begin - 1, false};
      if (cursor <= end) return {begin, end, true};
      part.begin = std::min(end + 1, cell.size());
      lines.abandon();
    } else {
      lines.feed(line, [&] { return end < cell.size(); });
      if (cursor <= end && lines.is_empty()) return {part.begin, end, false};
    }
    if (end == cell.size()) return part;
    begin = end + 1;
  }
}

}  // namespace relay::notebook
