// Functions, types, patterns and names.

#include "parser/formatter.h"

namespace relay::parser {

Document Formatter::function(const Node& node) {
  Parts parts;
  for (const Node* child : node.children()) {
    if (child == node.last()) break;
    if (child->kind == Syntax::Annotation) parts.push_back(text(" "));
    parts.push_back(any(*child));
  }
  if (tokens_.at("{")) {
    parts.push_back(text(" "));
    parts.push_back(block(*node.last()));
  } else {
    parts.push_back(text(" "));
    parts.push_back(take("="));
    parts.push_back(text(" "));
    parts.push_back(any(*node.last()));
  }
  return make_.concat(std::move(parts));
}

Document Formatter::param(const Node& node) {
  Parts parts;
  for (const Node* child : node.children()) {
    if (child->kind == Syntax::Attributes) parts.push_back(text(" "));
    parts.push_back(any(*child));
  }
  return make_.concat(std::move(parts));
}

Document Formatter::annotation(const Node& node) {
  const Document sign = tokens_.at(":") ? take(":") : concat({take("-"), take(">")});
  return concat({sign, text(" "), any(*node.child(0))});
}

Document Formatter::tensor_type(const Node& node) {
  const Document open = concat({take("Tensor"), take("[")});
  const Document shape = any(*node.child(0));
  const Document comma = take(",");
  const Document dtype = any(*node.child(1));
  return concat({open, shape, comma, text(" "), dtype, take("]")});
}

Document Formatter::function_type(const Node& node) {
  Parts parts{take("fn"), text(" ")};
  for (const Node* child : node.children()) {
    if (child == node.last()) break;
    parts.push_back(any(*child));
  }
  const Document arrow = concat({text(" "), take("-"), take(">"), text(" ")});
  parts.push_back(arrow);
  parts.push_back(any(*node.last()));
  return make_.concat(std::move(parts));
}

Document Formatter::named(const Node& node, char open) {
  const Document name = any(*node.child(0));
  if (tokens_.offset() >= node.end) return name;
  const char close = open == '(' ? ')' : ']';
  return concat(
      {name, bracketed({.open = open, .close = close, .commas = Commas::Drop, .tight = true},
                       node.children().subspan(1))});
}

Document Formatter::dotted(const Node& node) {
  Parts parts;
  for (const Node* child : node.children()) {
    if (!parts.empty()) parts.push_back(take("."));
    parts.push_back(any(*child));
  }
  return make_.concat(std::move(parts));
}

}  // namespace relay::parser
