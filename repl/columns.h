#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Text in columns, which are counted in code points.
namespace relay::repl {

// Spaces and line breaks beside each other are one space; none at the beginning.
std::string on_one_line(std::string_view text);
// On one line, of at most `width`: what is cut off is an ellipsis.
std::string shortened(std::string_view text, std::size_t width);
// With spaces behind it.
std::string filled(const std::string& text, std::size_t width);
// In lines of at most `width`, broken between words.
std::string wrapped(std::string_view text, std::size_t width);
// A line for each row: the name, as wide as the longest that is no longer than `most`, and the
// text, both on a line of at most `width`. A longer name pushes its text to the right.
struct Row {
  std::string name;
  std::string text;
};
std::string in_columns(const std::vector<Row>& rows, std::size_t most, std::size_t width,
                       std::string_view indent = "");
// 1,234,567
std::string grouped(std::int64_t number);
// In the unit that fits: "1.5 ms".
std::string duration(double seconds);

}  // namespace relay::repl
