#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relay::tests {

// The lines of a text, without their line breaks. A line break at the end begins no further line.
std::vector<std::string> split_lines(std::string_view text);
std::string join_lines(const std::vector<std::string>& lines);  // with a line break after each

// A unified diff with three lines of context; empty if the texts have the same lines.
// Cost: quadratic in the number of lines between the first and the last difference.
std::string unified_diff(std::string_view before, std::string_view after,
                         std::string_view before_name, std::string_view after_name);

}  // namespace relay::tests
