#include "repl/environment.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "lang/op.h"
#include "lang/print.h"
#include "lang/source.h"
#include "repl/let_function.h"

namespace relay::repl {

using lang::Definition;
using lang::Origin;

namespace {

// `_` and `_3`, which results have.
bool is_result(std::string_view name) {
  return name.starts_with('_') &&
         std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string on_one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    const bool is_space = c == '\n' || c == ' ';
    if (!is_space || !line.ends_with(' ')) line += is_space ? ' ' : c;
  }
  // The last of a list in lines has a comma behind it.
  if (line.ends_with(", }")) line.replace(line.size() - 3, 3, " }");
  return line;
}

std::string imports_of(const lang::Module& module, std::size_t width) {
  std::map<std::string, std::vector<std::string>> files;
  for (const Definition* each : module.definitions()) {
    if (each->origin != Origin::Imported || !each->instance_of.empty() || !each->span) continue;
    if (!owner_of_gradient(module, each->name).empty()) continue;
    files[each->span.source->name()].push_back(each->name);
  }
  std::string text;
  for (const auto& [file, names] : files) {
    text += fmt::format("  \"{}\"\n", file);
    const std::string list = wrapped(fmt::format("{}", fmt::join(names, ", ")), width - 4);
    for (std::size_t at = 0; at < list.size();) {
      const std::size_t end = std::min(list.find('\n', at), list.size());
      text += fmt::format("    {}\n", list.substr(at, end - at));
      at = end + 1;
    }
  }
  return text;
}

}  // namespace

bool is_written(const Definition& definition, const lang::Module& module) {
  return definition.origin == Origin::Own && definition.instance_of.empty() &&
         !is_result(definition.name) && owner_of_gradient(module, definition.name).empty();
}

std::string describe_environment(const lang::Module& module,
                                 const std::function<std::string(const Definition&)>& type_of,
                                 std::size_t width) {
  std::string text;
  const auto add = [&](const char* heading, const std::string& lines) {
    if (!lines.empty()) text += fmt::format("{}\n{}", heading, lines);
  };
  add("imports", imports_of(module, width));
  std::string types;
  for (const lang::TypeDef* type : module.types()) {
    const bool is_own = type->origin == Origin::Own && module.find_type(type->name) == type;
    if (is_own)
      types += shortened("  " + on_one_line(lang::print_light_type_def(*type)), width) + "\n";
  }
  add("types", types);
  std::vector<Row> functions;
  std::vector<Row> values;
  for (const Definition* each : module.definitions()) {
    if (!is_written(*each, module)) continue;
    (each->function ? functions : values).push_back({each->name, ": " + type_of(*each)});
  }
  constexpr std::size_t kName = 24;
  add("functions", in_columns(functions, kName, width, "  "));
  add("values", in_columns(values, kName, width, "  "));
  return text.empty() ? "nothing has been defined or imported here\n" : text;
}

}  // namespace relay::repl
