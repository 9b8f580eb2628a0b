#include "repl/breakpoints.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "repl/info.h"
#include "repl/names.h"
#include "repl/users.h"

namespace relay::repl {

using lang::Definition;
using lang::DiagnosticKind;

namespace {

bool has_lines(const Definition& definition) {
  return definition.function && definition.span && definition.origin != lang::Origin::Prelude;
}

std::uint32_t first_line_of(const Definition& definition) {
  return definition.span.source->position(definition.span.begin).line;
}
std::uint32_t last_line_of(const Definition& definition) {
  return definition.span.source->position(definition.span.end).line;
}
bool has_line(const Definition& definition, std::uint32_t line) {
  return first_line_of(definition) <= line && line <= last_line_of(definition);
}

std::uint32_t line_number(std::string_view text) {
  std::uint32_t line = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), line);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || line == 0) {
    lang::fail(DiagnosticKind::BadCommand,
               fmt::format("`{}` is no number of a line; `:break f:3` has one", text));
  }
  return line;
}

}  // namespace

// The function in that line of a file, which is given by its name or the end of its path.
const Definition* Breakpoints::function_at(const std::string& file, std::uint32_t line) const {
  for (const Definition* each : module_.definitions()) {
    if (!has_lines(*each) || !has_line(*each, line)) continue;
    const std::string& name = each->span.source->name();
    if (name == file || name.ends_with("/" + file)) return each;
  }
  return nullptr;
}

Breakpoints::Breakpoint Breakpoints::read(const std::string& what) const {
  Breakpoint made{what, 0};
  if (const std::size_t colon = what.rfind(':'); colon != std::string::npos)
    made = {what.substr(0, colon), line_number(std::string_view(what).substr(colon + 1))};
  const Definition* definition = module_.lookup(made.function);
  if (!definition && made.line > 0) definition = function_at(made.function, made.line);
  if (!definition && !find_operator(made.function)) unknown_name(made.function, module_);
  if (!definition || !has_lines(*definition)) {
    lang::fail(DiagnosticKind::BadCommand,
               fmt::format("`{}` has no lines here to stop at: `:break` takes a function of yours",
                           made.function));
  }
  made.function = definition->name;
  if (made.line > 0 && !has_line(*definition, made.line)) {
    lang::fail(
        DiagnosticKind::BadCommand,
        fmt::format("`{}` has the lines {} to {} of {}", made.function, first_line_of(*definition),
                    last_line_of(*definition), definition->span.source->name()));
  }
  return made;
}

std::string Breakpoints::set(const std::string& what) {
  const Breakpoint made = read(what);
  if (!has(made.function, made.line)) list_.push_back(made);
  return describe(made);
}

void Breakpoints::clear(const std::string& what) {
  const auto removed = std::erase_if(list_, [&](const Breakpoint& each) {
    return what.empty() || each.function == what ||
           what == fmt::format("{}:{}", each.function, each.line);
  });
  if (!what.empty() && removed == 0)
    lang::fail(DiagnosticKind::BadCommand, fmt::format("`{}` has no breakpoint", what));
}

std::string Breakpoints::describe(const Breakpoint& breakpoint) const {
  const Definition* definition = module_.find(breakpoint.function);
  if (!definition || !has_lines(*definition))
    return fmt::format("`{}`, which is no function any more\n", breakpoint.function);
  if (breakpoint.line == 0) {
    return fmt::format("`{}`, where it is entered: {}\n", breakpoint.function,
                       describe_place(definition->span));
  }
  return fmt::format("`{}`, at {}, line {}\n", breakpoint.function, definition->span.source->name(),
                     breakpoint.line);
}

std::string Breakpoints::describe() const {
  std::string text;
  for (const Breakpoint& each : list_) text += describe(each);
  return text.empty() ? "no breakpoint is set\n" : text;
}

bool Breakpoints::has(const std::string& function, std::uint32_t line) const {
  return std::any_of(list_.begin(), list_.end(), [&](const Breakpoint& each) {
    return each.function == function && each.line == line;
  });
}

bool Breakpoints::stops_at_line(const std::string& function, lang::Span place) const {
  return place && has(function, place.source->position(place.begin).line);
}

std::unordered_set<std::string> Breakpoints::functions_on_the_way() const {
  const Users users(module_, has_lines);
  std::unordered_set<std::string> reached;
  for (const Breakpoint& each : list_) {
    reached.insert(each.function);
    for (const Definition* user : users.of(each.function)) reached.insert(user->name);
  }
  return reached;
}

}  // namespace relay::repl
