#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relay::repl {

// What becomes of a line between two texts.
struct LineEdit {
  char sign;  // ' ' stays, '-' goes, '+' comes
  std::string_view line;
};
// A shortest list of edits, by the longest common subsequence. Cost: quadratic in the number of
// lines between the first and the last difference; where that is too much, all of these go and
// come.
std::vector<LineEdit> line_edits(const std::vector<std::string>& before,
                                 const std::vector<std::string>& after);

// The lines of a text, without their line breaks.
std::vector<std::string> lines_of(std::string_view text);

// Two texts in one: what stays behind two blanks, what goes behind `- `, what comes behind `+ `; in
// colours, red and green. Long stretches that stay are left out but for `context` lines.
std::string shown_difference(std::string_view before, std::string_view after, bool has_colours,
                             std::size_t context = 3);

}  // namespace relay::repl
