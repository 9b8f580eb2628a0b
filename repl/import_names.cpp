#include "repl/import_names.h"

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/diagnostic.h"
#include "lang/op.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

[[noreturn]] void refuse(const parser::ImportItem& item, const parser::ImportItem::Name& name,
                         const ImportedFile& file) {
  Diagnostic diagnostic(DiagnosticKind::UnknownName,
                        fmt::format("`{}` defines no `{}`", item.path, name.name), name.span);
  std::vector<std::string> known;
  for (const auto& [each, full_name] : file.exports.names) known.push_back(each);
  for (const lang::TypeDef* type : file.exports.module.types()) known.push_back(type->name);
  const std::vector<std::string> closest = lang::closest_names(name.name, known);
  if (!closest.empty()) diagnostic.note(fmt::format("help: did you mean `{}`?", closest.front()));
  throw lang::Failure(std::move(diagnostic));
}

// A data type or constructor comes along anyway.
void check_type(const parser::ImportItem& item, const parser::ImportItem::Name& name,
                const ImportedFile& file) {
  const bool is_type =
      file.exports.module.find_type(name.name) || file.exports.module.find_constructor(name.name);
  if (!is_type) refuse(item, name, file);
  if (name.here == name.name) return;
  lang::fail(
      DiagnosticKind::Unsupported,
      fmt::format("not supported: another name for the data type or constructor `{}`", name.name),
      name.span);
}

}  // namespace

std::map<std::string, std::string> imported_names(const parser::ImportItem& item,
                                                  const ImportedFile& file) {
  std::map<std::string, std::string> names;
  if (item.names) {
    for (const parser::ImportItem::Name& name : *item.names) {
      const auto found = file.exports.names.find(name.name);
      if (found == file.exports.names.end()) {
        check_type(item, name, file);
      } else {
        names[name.here] = found->second;
      }
    }
    return names;
  }
  const std::string before = item.prefix.empty() ? "" : item.prefix + ".";
  for (const auto& [name, full_name] : file.exports.names) names[before + name] = full_name;
  return names;
}

std::optional<Diagnostic> hidden_import(const parser::ImportItem& item, const ImportedFile& file,
                                        const std::map<std::string, std::string>& names) {
  std::vector<std::string> hidden;
  for (const auto& [here, full_name] : names) {
    const bool is_its_own = full_name.starts_with(file.prefix);  // and not passed on by it
    if (is_its_own && lang::OpRegistry::instance().find(here)) hidden.push_back(here);
  }
  if (hidden.empty()) return std::nullopt;
  const std::string& first = hidden.front();
  lang::Span span = item.span;
  if (item.names) {
    for (const parser::ImportItem::Name& name : *item.names) {
      if (name.here == first) span = name.span;
    }
  }
  Diagnostic warning(
      DiagnosticKind::HiddenImport,
      hidden.size() == 1
          ? fmt::format("the operator `{}` hides that of `{}`", first, item.path)
          : fmt::format("operators hide `{}` of `{}`", fmt::join(hidden, "`, `"), item.path),
      span);
  warning.note(
      fmt::format("help: `{}` is the imported one, and `import \"{}\" (NAME as OTHER)` "
                  "gives one another name",
                  names.at(first), item.path));
  return warning;
}

}  // namespace relay::repl
