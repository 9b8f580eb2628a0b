#include "repl/table.h"

#include <algorithm>

#include "lang/utf8.h"
#include "repl/columns.h"
#include "repl/value_line.h"

namespace relay::repl {

namespace {

constexpr int kDeepestIndent = 7;  // levels
constexpr std::size_t kLeastFirst = 6;
constexpr std::size_t kLeastSecond = 5;

}  // namespace

std::string table_text(const Table& table) {
  std::vector<std::size_t> widths = {kLeastFirst, kLeastSecond};
  for (std::size_t i = 2; i < table.headings.size(); ++i)
    widths.push_back(lang::code_points(table.headings[i]));
  std::vector<std::vector<std::string>> lines = {table.headings};
  for (const Table::Line& each : table.lines) {
    std::vector<std::string> cells = each.cells;
    const int indent = 2 * std::min(each.depth, kDeepestIndent);
    cells[0] = std::string(static_cast<std::size_t>(indent), ' ') + shortened(cells[0], kValueLine);
    cells.resize(table.headings.size());
    for (std::size_t i = 0; i < cells.size(); ++i)
      widths[i] = std::max(widths[i], lang::code_points(cells[i]));
    lines.push_back(std::move(cells));
  }
  std::string text;
  for (const auto& cells : lines) {
    std::string line;
    for (std::size_t i = 0; i + 1 < cells.size(); ++i) line += filled(cells[i], widths[i]) + " | ";
    line += cells.back();
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace relay::repl
