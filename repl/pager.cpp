#include "repl/pager.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "lang/utf8.h"
#include "repl/child.h"
#include "repl/output.h"

namespace relay::repl {

namespace {

// What takes room: no looks (ESC [ ... letter), and no graphics (ESC P ... ESC \\), which take rows
// that nobody can count here.
std::string without_sequences(std::string_view line) {
  std::string shown;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line.substr(i, 2) == "\x1b[") {
      i += 2;
      while (i < line.size() && (line[i] < '@' || line[i] > '~')) ++i;
    } else if (line.substr(i, 2) == "\x1bP") {
      i = std::min(line.find("\x1b\\", i), line.size() - 2) + 1;
    } else {
      shown += line[i];
    }
  }
  return shown;
}

// Also of lines that the terminal breaks.
std::size_t rows_of(std::string_view text, std::size_t columns) {
  std::size_t rows = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::size_t length = lang::code_points(without_sequences(text.substr(0, end)));
    rows += std::max<std::size_t>((length + columns - 1) / columns, 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return rows;
}

}  // namespace

void put_paged(std::string_view text) {
  const TerminalSize size = terminal_size();
  const char* const chosen = std::getenv("PAGER");
  const std::string pager = chosen ? chosen : "less -FRX";
  const bool fits = !has_cursor(STDOUT_FILENO) || rows_of(text, size.columns) < size.rows;
  const std::string whole(text);
  if (fits || pager.empty() || !run_on_terminal(pager, &whole)) put_output(text);
}

}  // namespace relay::repl
