#include "models/nnvm/operators.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace relay::models::nnvm {

const Operator* Dialect::find(std::string_view name) const {
  const auto found = std::ranges::find(operators, name, &Operator::name);
  return found == operators.end() ? nullptr : &*found;
}

std::string operator_page(const Dialect& dialect) {
  std::map<std::string_view, std::string> lines;
  for (const Operator& each : dialect.operators) {
    std::string text(each.becomes);
    if (text.empty()) {
      // The expression, with names for its parts.
      const std::pair<std::string_view, std::string_view> parts[] = {
          {"{0}", "x"}, {"{1}", "y"}, {"{2}", "z"}, {"{s}", "s"}, {"{dtype}", "…"}};
      text = each.word;
      for (const auto& [part, name] : parts) {
        for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos;)
          text.replace(at, part.size(), name);
      }
      text = "`" + text + "`";
    }
    lines.emplace(each.name, std::move(text));
  }
  std::string page = "| operator | becomes |\n| --- | --- |\n";
  for (const auto& [name, text] : lines) page += fmt::format("| `{}` | {} |\n", name, text);
  return page;
}

}  // namespace relay::models::nnvm
