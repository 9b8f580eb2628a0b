#include "parser/resolver.h"

// What is said of names to who asked for it (parser/occurrences.h).
namespace relay::parser {

void Resolver::note(NameKind kind, Span where, std::string_view name, Span definition,
                    bool is_definition) {
  if (!occurrences_ || where.begin == where.end || where.source != tree_.source) return;
  occurrences_->push_back({where, kind, std::string(name), definition, is_definition});
}

void Resolver::note_definition(NameKind kind, const Node& name) {
  note(kind, span(name), name_text(name), span(name), true);
}

void Resolver::note_global(const Symbol& symbol, Span where) {
  if (!occurrences_) return;
  if (symbol.own_global && !is_ahead(symbol)) {
    note(NameKind::Global, where, prefix_ + std::string(symbol.text), *symbol.own_global);
  } else if (symbol.outer_global) {
    note(NameKind::Global, where, symbol.outer_global->name, {});
  }
}

void Resolver::note_constructor(const lang::Constructor& constructor, Span where) {
  note(NameKind::Constructor, where, constructor.name, constructor.span);
}

// A record's fields are known by their names: which record it is only inference knows.
void Resolver::note_field(const Node& name, bool is_definition) {
  note(NameKind::Field, span(name), tree_.text(name), {}, is_definition);
}

// `(f, g as h)`: both names of what has two.
void Resolver::note_imported(const Node& import) {
  const Node* names = import.find(Syntax::ImportNames);
  if (!names || !occurrences_) return;
  for (const Node* name : names->children()) {
    if (name->kind != Syntax::ImportName) continue;
    const lang::Definition* meant = scope_.lookup(tree_.text(*name->last()));
    if (!meant) continue;
    for (const Node* each : name->children()) note(NameKind::Global, span(*each), meant->name, {});
  }
}

// A parameter of a function of this text, where that is written; of another one, none.
lang::Span Resolver::span_of_parameter(std::string_view function, std::string_view name) const {
  const auto def = own_defs_.find(function);
  if (def == own_defs_.end()) return {};
  const Node* params = def->second->child(1)->find(Syntax::Params);
  if (!params) return {};
  for (const Node* param : params->children()) {
    if (name_text(*param->child(0)) == name) return span(*param->child(0));
  }
  return {};
}

}  // namespace relay::parser
