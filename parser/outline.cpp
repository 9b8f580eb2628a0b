#include "parser/outline.h"

#include "parser/notation.h"
#include "parser/parse.h"
#include "parser/read.h"
#include "parser/syntax.h"

namespace relay::parser {

namespace {

std::string_view bare(std::string_view name) {
  if (!name.empty() && (name.front() == '@' || name.front() == '%')) name.remove_prefix(1);
  return name;
}

std::optional<std::vector<std::string>> parameters_of(const SyntaxTree& tree,
                                                      const Node& definition) {
  const Node* function = definition.find(Syntax::Function);
  const Node* parameters = function ? function->find(Syntax::Params) : nullptr;
  if (!parameters) return std::nullopt;
  std::vector<std::string> names;
  for (const Node* parameter : parameters->children()) {
    // `x=1` may mean an attribute: then this is no list of parameters to count.
    if (parameter->kind != Syntax::Param || parameter->find(Syntax::Default)) return std::nullopt;
    names.emplace_back(bare(tree.text(*parameter->child(0))));
  }
  return names;
}

}  // namespace

Outline outline_of(const lang::Source& source) {
  const SyntaxTree tree = read_text(source, is_strict(source, Notation::Auto), true);
  Outline outline;
  outline.syntax_errors = tree.errors;
  for (const Node* item : tree.root->children()) {
    if (item->find(Syntax::TopExpr)) outline.has_expressions = true;
    const Node* definition = item->find(Syntax::Def);
    if (!definition) definition = item->find(Syntax::TopLet);
    if (!definition || bare(tree.text(*definition->child(0))) != "main") continue;
    outline.has_main = true;
    outline.main_parameters = parameters_of(tree, *definition);
  }
  return outline;
}

}  // namespace relay::parser
