#include "opt/analysis_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/print.h"

namespace relay::opt {

namespace {

std::string indented(const std::string& lines) {
  std::string text;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    text += "\n  " + lines.substr(at, end - at);
    at = end == std::string::npos ? lines.size() : end + 1;
  }
  return text;
}

}  // namespace

std::string of_each_function(const PassProgram& program,
                             const std::function<std::string(const lang::Expr&)>& of) {
  std::string text;
  const bool is_alone = program.functions().size() == 1;
  for (const auto& entry : program.functions()) {
    const std::string found = of(entry.function);
    if (entry.name.empty() && is_alone) {
      text += found + "\n";
    } else {
      const bool is_long = found.find('\n') != std::string::npos;
      text += fmt::format("{}:{}\n", entry.name.empty() ? "the expression" : entry.name,
                          is_long ? indented(found) : " " + found);
    }
  }
  return text;
}

std::string listed(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::string in_one_line(const lang::Expr& expr) {
  const std::string text = lang::print_light(expr);
  const std::size_t end = text.find('\n');
  return end == std::string::npos ? text : text.substr(0, end) + " …";
}

}  // namespace relay::opt
