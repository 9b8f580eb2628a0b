#include "parser/attributed_names.h"

#include <utility>

#include "parser/read.h"
#include "parser/resolver.h"

namespace relay::parser {

namespace {

bool is_word(const SyntaxTree& tree, const Node& value) {
  const std::string_view text = tree.text(value);
  return value.kind == Syntax::Name && text != "True" && text != "False" && text != "None" &&
         !lang::parse_dtype(text);
}

// Only a string can be told from whatever else an expression is.
std::string unnamed_value(const SyntaxTree& tree, const Node& value) {
  if (value.kind != Syntax::String) {
    lang::fail(lang::DiagnosticKind::SyntaxError,
               "expected the name of an option, as in `max_depth=4`, or a string",
               tree.span(value));
  }
  const std::string_view quoted = tree.text(value);
  return std::string(quoted.substr(1, quoted.size() - 2));  // names have no escapes
}

}  // namespace

lang::Result<AttributedNames> parse_attributed_names(const lang::Source& source) {
  try {
    const SyntaxTree tree = read_attributed_names(source);
    const lang::Module nothing;
    Resolver resolver(tree, nothing);
    AttributedNames names{{}, tree.root->end};
    for (const Node* each : tree.root->children()) {
      std::vector<lang::Attr> attrs;
      for (const Node* attr : each->children().subspan(1)) {
        const bool is_named = attr->kind == Syntax::Attr;
        const Node& value = is_named ? *attr->child(1) : *attr;
        if (is_word(tree, value)) {
          attrs.push_back({is_named ? std::string(tree.text(*attr->child(0))) : std::string(),
                           std::string(tree.text(value)), tree.span(*attr)});
        } else if (!is_named) {
          attrs.push_back({"", unnamed_value(tree, value), tree.span(value)});
        } else {
          attrs.push_back(resolver.attribute(*attr));
        }
      }
      names.list.push_back({std::string(tree.text(*each->child(0))),
                            lang::make_attrs(std::move(attrs)), tree.span(*each->child(0))});
    }
    if (!resolver.errors().empty()) return std::move(resolver.errors());
    return names;
  } catch (SyntaxStop& stop) {
    return std::move(stop.diagnostic);
  } catch (lang::Failure& failure) {
    return std::move(failure.diagnostics);
  }
}

}  // namespace relay::parser
