#pragma once

#include <string>
#include <vector>

namespace relay::repl {

// What has been found out line by line, in cells: for the prompt a text, and what there is to know
// for whoever draws tables of its own.
struct Table {
  struct Line {
    int depth = 0;                        // of the first cell, which is a line of a program
    std::vector<std::string> cells = {};  // the last ones may be missing
  };
  std::vector<std::string> headings;
  std::vector<Line> lines;
};

// In columns, the first as deep as the line; each line with its break.
std::string table_text(const Table& table);

}  // namespace relay::repl
