#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace relay::repl {

// What `:doc` says of a form of the language that is neither operator nor definition: `grad`,
// `for`, `if`. Nothing for other names.
std::optional<std::string> form_doc(std::string_view name);
// Its example: light notation with `// expect:` lines.
std::optional<std::string> form_example(std::string_view name);
std::vector<std::string> form_names();
// What it is, without its usage and its example; empty if there is none.
std::string form_summary(std::string_view name);
// A line of an example as the prompt would show it: what the tests expect in comments is output.
std::string shown_line(std::string_view line);
// An example as `:doc` shows it.
std::string example_text(std::string_view example);

// The operator that an infix or prefix sign is short for: `add` for `+`. Empty for other texts.
std::string_view operator_of_sign(std::string_view sign);

}  // namespace relay::repl
