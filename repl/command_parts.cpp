#include "repl/command_parts.h"

#include <algorithm>

#include <fmt/format.h>

namespace relay::repl {

CommandOutcome output(std::string text) { return {std::move(text), {}, false}; }

CommandOutcome failed(lang::Diagnostic diagnostic) { return {"", {std::move(diagnostic)}, false}; }

CommandOutcome outcome_of(lang::Result<std::string> result) {
  if (!result) return {"", result.errors(), false};
  if (!result->empty() && result->back() != '\n') *result += '\n';
  return output(std::move(*result));
}

CommandOutcome outcome_of(const lang::Result<Session::Passed>& passed) {
  if (!passed) return {"", passed.errors(), false};
  std::string told;
  for (const std::string& name : passed->generic)
    told += fmt::format("// `{}` is generic, and stays as it is\n", name);
  return output(told + passed->text);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::pair<std::string_view, std::string_view> split_word(std::string_view text) {
  text = trimmed(text);
  const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
  return {text.substr(0, end), trimmed(text.substr(end))};
}

std::string_view plain_name(std::string_view name) {
  if (name.starts_with('@')) name.remove_prefix(1);
  return name;
}

}  // namespace relay::repl
