#include "parser/strings.h"

namespace relay::parser {

std::string read_string(std::string_view quoted, bool strict) {
  const std::string_view text = quoted.substr(1, quoted.size() - 2);
  if (strict || text.find('\\') == std::string_view::npos) return std::string(text);
  std::string value;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      value += text[i];
      continue;
    }
    const char next = text[++i];
    value += next == 'n' ? '\n' : next == 't' ? '\t' : next;
  }
  return value;
}

}  // namespace relay::parser
