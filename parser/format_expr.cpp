// Expressions.

#include <algorithm>
#include <limits>

#include "lang/infix.h"
#include "parser/formatter.h"

namespace relay::parser {

namespace {

int precedence_of(std::string_view symbol) {
  const lang::Infix* infix = lang::find_infix(symbol);
  RELAY_CHECK(infix, "no infix operator");
  return infix->precedence;
}

bool is_short(const Node& node) {
  return node.count == 0 || (node.kind == Syntax::Prefix && node.last()->count == 0);
}

}  // namespace

Document Formatter::sequence(const Node& node) {
  Parts parts;
  for (const Node* child : node.children()) {
    if (!parts.empty()) {
      parts.push_back(next_line(make_.line()));
      tokens_.leading(parts);
    }
    parts.push_back(any(*child));
    if (child == node.last()) break;
    tokens_.take_if(";", parts);
    parts.push_back(text(";"));
    tokens_.trailing(parts);
  }
  return make_.concat(std::move(parts));
}

// `let x: T = e`, `%0 = e`: the word, then all but the value.
Document Formatter::binding(const Node& node) {
  Parts parts;
  if (node.kind != Syntax::Bind) {
    parts.push_back(take("let"));
    parts.push_back(text(" "));
  }
  for (const Node* child : node.children()) {
    if (child == node.last()) break;
    parts.push_back(any(*child));
  }
  parts.push_back(text(" "));
  parts.push_back(take("="));
  parts.push_back(text(" "));
  parts.push_back(any(*node.last()));
  return make_.concat(std::move(parts));
}

Document Formatter::parens(const Node& node) {
  return bracketed({.open = '(', .close = ')', .commas = Commas::Drop, .hugs = true},
                   node.children());
}

Document Formatter::tuple(const Node& node) {
  std::vector<const Node*> elements;
  for (const Node* child : node.children()) {
    if (child->kind != Syntax::Mark) elements.push_back(child);
  }
  return bracketed({.open = '(', .close = ')', .one_keeps_comma = true}, elements);
}

Document Formatter::call(const Node& node) {
  const Document callee = any(*node.child(0));
  return concat(
      {callee, bracketed({.open = '(', .close = ')', .hugs = true}, node.children().subspan(1))});
}

Document Formatter::slice(const Node& node) {
  Parts parts;
  for (const Node* child : node.children()) {
    if (!parts.empty()) parts.push_back(take(":"));
    if (child->kind != Syntax::Empty) parts.push_back(any(*child));
    if (parts.empty()) parts.push_back(text(""));
  }
  return make_.concat(std::move(parts));
}

Document Formatter::attribute(const Node& node, std::string_view sign) {
  const Document key = any(*node.child(0));
  Parts comments;
  tokens_.take_if("=", comments);
  return concat({key, make_.concat(std::move(comments)), text(sign), any(*node.child(1))});
}

Document Formatter::with(const Node& node) {
  const Document record = any(*node.child(0));
  const Document word = concat({text(" "), take("with"), text(" ")});
  return concat({record, word,
                 bracketed({.open = '{', .close = '}', .spaced = true, .keeps_lines = true},
                           node.children().subspan(1),
                           [this](const Node& field) { return attribute(field, " = "); })});
}

Document Formatter::infix(const Node& node) { return infix_range(node, 0, node.count - 1); }

// The children from `first` to `last`, both operands.
Document Formatter::infix_range(const Node& node, std::size_t first, std::size_t last) {
  if (first == last) return any(*node.child(first));
  int loosest = std::numeric_limits<int>::max();
  for (std::size_t i = first + 1; i < last; i += 2)
    loosest = std::min(loosest, precedence_of(tree_.text(*node.child(i))));
  Parts rest;
  Document head = nullptr;
  std::size_t begin = first;
  for (std::size_t i = first + 1; i <= last + 1; i += 2) {
    if (i < last && precedence_of(tree_.text(*node.child(i))) != loosest) continue;
    const Document operand = infix_range(node, begin, i - 1);
    if (head) {
      rest.push_back(operand);
    } else {
      head = operand;
    }
    if (i > last) break;
    rest.push_back(text(" "));
    rest.push_back(tokens_.take(*node.child(i)));
    tokens_.trailing(rest);
    rest.push_back(make_.line());
    tokens_.leading(rest);
    begin = i + 1;
  }
  return make_.group(concat({head, make_.nest(make_.concat(std::move(rest)))}));
}

Document Formatter::prefix(const Node& node) {
  Parts parts;
  for (const Node* child : node.children()) {
    const bool is_not = child->kind == Syntax::Symbol && tree_.text(*child) == "!";
    parts.push_back(any(*child));
    if (is_not && tokens_.at("[")) parts.push_back(text(" "));  // `![` would index
  }
  return make_.concat(std::move(parts));
}

Document Formatter::pipe(const Node& node) {
  std::vector<const Node*> steps;
  const Node* head = &node;
  while (head->kind == Syntax::Pipe && (head == &node || !is_surrounded(*head))) {
    steps.push_back(head->child(1));
    head = head->child(0);
  }
  const Document value = any(*head);
  Parts rest;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (brackets_ > 0) {
      rest.push_back(make_.line());
      tokens_.leading(rest);
      rest.push_back(take("|>"));
      rest.push_back(text(" "));
    } else {
      rest.push_back(text(" "));
      rest.push_back(take("|>"));
      tokens_.trailing(rest);
      rest.push_back(make_.line());
      tokens_.leading(rest);
    }
    rest.push_back(any(**step));
    if (brackets_ > 0) tokens_.trailing(rest);
  }
  return make_.group(concat({value, make_.nest(make_.concat(std::move(rest)))}));
}

Document Formatter::if_chain(const Node& node) {
  Parts parts;
  for (std::size_t i = 0; i + 1 < node.count; i += 2) {
    if (i > 0) {
      parts.push_back(take("else"));
      parts.push_back(text(" "));
    }
    parts.push_back(take("if"));
    parts.push_back(text(" "));
    if (tree_.strict) {
      parts.push_back(bracketed({.open = '(', .close = ')', .commas = Commas::Drop, .hugs = true},
                                node.children().subspan(i, 1)));
    } else {
      parts.push_back(any(*node.child(i)));
    }
    parts.push_back(text(" "));
    parts.push_back(open_block(*node.child(i + 1)));
    if (i + 2 < node.count) parts.push_back(text(" "));
  }
  if (node.count % 2 == 0) return make_.group(make_.concat(std::move(parts)));
  parts.push_back(take("else"));
  parts.push_back(text(" "));
  parts.push_back(open_block(*node.last()));
  return make_.group(make_.concat(std::move(parts)));
}

Document Formatter::match(const Node& node) {
  Parts parts{take("match")};
  std::size_t at = 0;
  if (node.child(0)->kind == Syntax::Mark) parts.push_back(any(*node.child(at++)));
  parts.push_back(text(" "));
  parts.push_back(any(*node.child(at)));
  parts.push_back(text(" "));
  parts.push_back(bracketed({.open = '{', .close = '}', .spaced = true, .keeps_lines = true},
                            node.children().subspan(at + 1)));
  return make_.concat(std::move(parts));
}

// Other expressions, and a sequence in braces, go to the right by themselves where they need to.
Document Formatter::arm_body(const Node& node) {
  const bool is_bare = node.kind == Syntax::Sequence && !is_surrounded(node);
  return is_bare ? make_.nest(any(node)) : any(node);
}

Document Formatter::arm(const Node& node) {
  const Document pattern = any(*node.child(0));
  const Document arrow = concat({text(" "), take("=>"), text(" ")});
  return make_.group(concat({pattern, arrow, arm_body(*node.child(1))}));
}

Document Formatter::list(const Node& node) {
  const Nodes elements = node.children();
  const bool all_short =
      std::all_of(elements.begin(), elements.end(), [](const Node* e) { return is_short(*e); });
  bool rows = false;
  if (!all_short && elements.size() > 1) {
    const std::string_view between =
        tree_.source->text().substr(elements[0]->end, elements[1]->begin - elements[0]->end);
    rows = between.find('\n') != std::string_view::npos;
  }
  return bracketed({.open = '[', .close = ']', .filled = all_short, .rows = rows}, elements);
}

Document Formatter::binders(Nodes nodes) {
  Parts parts;
  for (const Node* binder : nodes) {
    if (!parts.empty()) {
      parts.push_back(take(","));
      parts.push_back(text(" "));
    }
    parts.push_back(any(*binder));
  }
  return make_.concat(std::move(parts));
}

Document Formatter::binder(const Node& node) {
  const Document variable = any(*node.child(0));
  if (node.count == 1) return variable;
  const Document sign = concat({text(" "), take("<"), text(" ")});
  return concat({variable, sign, any(*node.child(1))});
}

// `for i, j { … }`, `sum k { … }`
Document Formatter::loop(const Node& node) {
  const bool is_for = node.kind == Syntax::For;
  const Document word = is_for ? take("for") : any(*node.child(0));
  const std::size_t first = is_for ? 0 : 1;
  const Document indices = binders(node.children().subspan(first, node.count - 1 - first));
  return concat({word, text(" "), indices, text(" "), block(*node.last())});
}

Document Formatter::scatter(const Node& node) {
  const std::size_t last = node.count - 1;
  const Document word = concat({take("scatter"), text(" ")});
  const Document reduction = any(*node.child(0));
  const Document init = bracketed({.open = '(', .close = ')', .commas = Commas::Drop, .hugs = true},
                                  node.children().subspan(1, 1));
  const Document indices =
      last > 3 ? concat({binders(node.children().subspan(2, last - 3)), text(" ")}) : text("");
  const Document body = open_block(take("{"), [&] {
    const Document place = any(*node.child(last - 1));
    const Document arrow = concat({text(" "), take("=>"), text(" ")});
    return concat({place, arrow, arm_body(*node.child(last))});
  });
  return concat({word, reduction, init, text(" "), indices, make_.group(body)});
}

Document Formatter::word_call(const Node& node, std::string_view word) {
  const Document name = take(word);
  return concat({name, bracketed({.open = '(', .close = ')', .commas = Commas::Drop, .hugs = true},
                                 node.children())});
}

}  // namespace relay::parser
