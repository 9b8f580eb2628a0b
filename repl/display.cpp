#include "repl/display.h"

#include <fmt/format.h>

#include "lang/print.h"

namespace relay::repl {

namespace {

std::string describe_value(const ItemResult& result, const Display& display) {
  const std::string value = result.value.is_empty() ? "<function>" : lang::to_string(result.value);
  const bool has_lines = value.find('\n') != std::string::npos;
  const std::string number =
      display.numbers && result.number > 0 ? fmt::format("  // _{}", result.number) : std::string();
  // A value of several lines is followed by its type on a line of its own.
  return fmt::format("{}{}: {}{}\n", value, has_lines ? "\n" : " ", result.type, number);
}

}  // namespace

std::string describe(const ItemResult& result, const Display& display) {
  switch (result.kind) {
    case parser::ItemKind::Def:
    case parser::ItemKind::Let:
      return fmt::format("{} : {}\n", result.name, result.type);
    case parser::ItemKind::Expression:
      if (result.hide_value || result.type == "()") return "";
      return describe_value(result, display);
    default:
      return "";
  }
}

}  // namespace relay::repl
