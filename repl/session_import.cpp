// What a text imports: read once, and again by a later text where a file has been edited since.

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "lang/memory.h"
#include "repl/import_names.h"
#include "repl/session_state.h"

namespace relay::repl {

using lang::Definition;
using lang::Diagnostic;
using lang::Origin;
using parser::Item;
using parser::ItemKind;

void Session::Impl::import_files(const lang::Source& source, parser::Notation notation,
                                 const std::string& directory, lang::Module& scope,
                                 ImportedFile* importer, Exports* passed_on) {
  const auto items = guarded([&] { return parser::imports_of(source, notation); });
  if (!items) throw lang::Failure(items.errors());
  for (const parser::ImportItem& item : *items) {
    ImportedFile& file = imports.find(item.path, directory, item.span);
    if (importer) importer->imports.push_back(&file);
    bring_up_to_date(file, item.span);
    scope.import(file.exports.module);
    if (passed_on) passed_on->module.import(file.exports.module);
    const std::map<std::string, std::string> names = imported_names(item, file);
    if (std::optional<Diagnostic> hidden = hidden_import(item, file, names))
      warnings.push_back(std::move(*hidden));
    for (const auto& [name, full_name] : names) {
      scope.alias(name, full_name);
      if (passed_on) passed_on->names[name] = full_name;
    }
  }
}

void Session::Impl::bring_up_to_date(ImportedFile& file, lang::Span span) {
  const Imports::Reading reading(imports, file.path, span);
  if (!imports.is_to_be_looked_at(file)) return;
  if (!file.is_loaded) return load(file, span);
  const std::vector<ImportedFile*> imported = file.imports;
  for (ImportedFile* each : imported) bring_up_to_date(*each, span);
  if (!file.text && imports.read(file, span) != file.source->text()) reload(file, span);
}

// What the file has defined is replaced in whole or not at all.
void Session::Impl::reload(ImportedFile& file, lang::Span span) {
  const ImportedFile before = file;
  std::vector<Definition> definitions;
  std::vector<std::optional<lang::Value>> values;
  for (const Definition* each : module.definitions()) {
    if (each->origin != Origin::Imported || !each->name.starts_with(file.prefix)) continue;
    definitions.push_back(*each);
    const lang::Value* value = pipeline.value(each->name);
    values.push_back(value ? std::optional<lang::Value>(*value) : std::nullopt);
  }
  for (const Definition& each : definitions) module.remove(each.name);
  try {
    load(file, span);
  } catch (...) {
    const lang::Unfailing unfailing;
    file = before;
    for (std::size_t i = 0; i < definitions.size(); ++i) {
      if (values[i]) pipeline.set_value(definitions[i].name, *values[i]);
      module.define(definitions[i]);
      forget(definitions[i].name);
    }
    throw;
  }
  for (const Definition& each : definitions) {
    forget(each.name);
    changed.emplace(each.name, span);
  }
}

void Session::Impl::load(ImportedFile& file, lang::Span span) {
  const lang::Source& source = *sources.add(file.path, imports.read(file, span));
  file.source = &source;
  file.imports.clear();
  Exports exports;
  lang::Module scope;
  scope.import(prelude);
  const std::string directory = std::filesystem::path(file.path).parent_path().string();
  try {
    import_files(source, parser::Notation::Auto, directory, scope, &file, &exports);
    const Pipeline::Beside beside(pipeline, directory);
    auto parsed = guarded([&] {
      return parser::parse(source, scope, parser::Notation::Auto, file.prefix).or_throw();
    });
    if (!parsed) throw lang::Failure(parsed.errors());
    std::erase_if(parsed->items,
                  [](const Item& item) { return item.kind == ItemKind::Expression; });
    std::vector<Diagnostic> errors = run_items(parsed->items, nullptr, Origin::Imported);
    if (!errors.empty()) throw lang::Failure(std::move(errors));
    for (const Item& item : parsed->items) add_export(item, file.prefix, exports);
  } catch (lang::Failure& failure) {
    failure.diagnostics.front().note(fmt::format("note: imported by {}:{}", span.source->name(),
                                                 span.source->position(span.begin).line));
    throw;
  }
  file.exports = std::move(exports);
  file.is_loaded = true;
}

void Session::Impl::add_export(const Item& item, const std::string& prefix, Exports& exports) {
  if (item.kind == ItemKind::Type) exports.module.define(item.type_def);
  if (item.kind != ItemKind::Def && item.kind != ItemKind::Let) return;
  for (const std::string& name : names_of(item)) {
    exports.module.define(*module.find(name));
    exports.names[name.substr(prefix.size())] = name;
  }
}

}  // namespace relay::repl
