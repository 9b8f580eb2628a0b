#include "repl/editor/paste.h"

#include "repl/editor/frame.h"

namespace relay::repl::editor {

namespace {

std::string plain(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_break = c == '\n' || c == '\r';
    if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    if (is_break) result += '\n';
    if (!is_break && (c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7f')))
      result += c;
  }
  return result.erase(result.find_last_not_of('\n') + 1);
}

// Terminals cut the blank at the end of a prompt that nothing follows.
bool has_prompt(std::string_view line, std::string_view prompt) {
  return line.starts_with(prompt) || line == prompt.substr(0, prompt.size() - 1);
}

}  // namespace

std::string pasted_text(std::string_view text) {
  const std::string lines = plain(text);
  if (!lines.starts_with(kPrompt) && lines.find('\n' + std::string(kPrompt)) == std::string::npos)
    return lines;
  std::string inputs;
  std::string_view rest = lines;
  bool is_input = false;  // the line before was one
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    const bool continues = is_input && has_prompt(line, kMorePrompt);
    is_input = has_prompt(line, kPrompt) || continues;
    if (is_input) {
      const std::string_view input = line.substr(std::min(line.size(), kPrompt.size()));
      if (!input.empty() || continues) inputs += std::string(input) + '\n';
    }
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return inputs.erase(inputs.find_last_not_of('\n') + 1);
}

}  // namespace relay::repl::editor
