#include "parser/parse.h"

#include "parser/comments.h"
#include "parser/mends.h"
#include "parser/notation.h"
#include "parser/read.h"
#include "parser/recovery.h"
#include "parser/resolve.h"
#include "parser/strings.h"

namespace relay::parser {

Reading parse_all(const lang::Source& source, const lang::Module& scope, Notation notation,
                  const std::string& prefix, Occurrences* occurrences) {
  SyntaxTree tree = read_text(source, is_strict(source, notation), true);
  if (!tree.errors.empty()) add_mends(tree);
  return resolve(tree, scope, prefix, occurrences);
}

lang::Result<Parsed> parse(const lang::Source& source, const lang::Module& scope, Notation notation,
                           const std::string& prefix) {
  Reading reading = parse_all(source, scope, notation, prefix);
  if (!reading.errors.empty()) return std::move(reading.errors);
  return std::move(reading.parsed);
}

std::vector<ImportItem> imports_of(const lang::Source& source, Notation notation) {
  std::vector<ImportItem> imports;
  if (source.text().find("import") == std::string_view::npos) return imports;
  const SyntaxTree tree = read_text(source, is_strict(source, notation), true);
  for (const Node* item : tree.root->children()) {
    const Node* import = item->find(Syntax::Import);
    if (!import) continue;
    const Node& path = *import->child(0);
    ImportItem& found = imports.emplace_back();
    found.path = read_string(tree.text(path), tree.strict);
    found.span = tree.span(path);
    if (const Node* prefix = import->find(Syntax::ImportPrefix))
      found.prefix = tree.text(*prefix->child(0));
    const Node* names = import->find(Syntax::ImportNames);
    if (!names) continue;
    found.names.emplace();
    for (const Node* name : names->children()) {
      if (name->kind != Syntax::ImportName) continue;
      found.names->push_back({std::string(tree.text(*name->child(0))),
                              std::string(tree.text(*name->last())), tree.span(*name->child(0))});
    }
  }
  return imports;
}

Completeness completeness(std::string_view text) {
  const lang::Source source("", std::string(text));
  // Documentation waits for its item.
  const Gap gap = skip_gap(text.data(), text.data() + text.size(), Breaks::Skip, true);
  if (gap.end == text.data() + text.size() && gap.doc_begin) return Completeness::Incomplete;
  try {
    read_text(source, is_strict(source, Notation::Auto), false);
    return Completeness::Complete;
  } catch (SyntaxStop& stop) {
    if (stop.at_end) return Completeness::Incomplete;
    return has_open_brackets(text) ? Completeness::Broken : Completeness::Complete;
  }
}

lang::Result<lang::Type> parse_type(const lang::Source& source, const lang::Module& scope) {
  try {
    const SyntaxTree tree = read_type(source);
    return resolve_type(tree, scope);
  } catch (SyntaxStop& stop) {
    return std::move(stop.diagnostic);
  } catch (lang::Failure& failure) {
    return std::move(failure.diagnostics);
  }
}

}  // namespace relay::parser
