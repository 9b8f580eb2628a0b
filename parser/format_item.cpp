// Files and their items.

#include "parser/format.h"
#include "parser/formatter.h"
#include "parser/notation.h"
#include "parser/read.h"

namespace relay::parser {

namespace {

constexpr std::size_t kWidth = 100;

// Is a `;` behind it mere noise?
bool ends_by_itself(const Node& item, std::string_view text) {
  return item.kind == Syntax::TypeDef || item.kind == Syntax::ExternType ||
         item.kind == Syntax::Rule || (item.kind == Syntax::Def && text.ends_with('}'));
}

}  // namespace

std::string Formatter::run() {
  Parts parts;
  tokens_.leading(parts, tree_.root->count > 0);
  file(*tree_.root, parts);
  if (!tokens_.at_end() || tokens_.is_comment_next()) {
    if (!parts.empty()) parts.push_back(next_line(make_.hard_line()));
    tokens_.leading(parts, false);
  }
  RELAY_CHECK(tokens_.at_end(), "the formatter left a part of the text");
  std::string out = render(make_.concat(std::move(parts)), kWidth);
  if (!out.empty()) out += '\n';
  return out;
}

void Formatter::file(const Node& node, Parts& into) {
  bool first = true;
  for (const Node* child : node.children()) {
    if (!first) {
      into.push_back(next_line(make_.hard_line()));
      tokens_.leading(into);
    }
    first = false;
    into.push_back(any(*child));
    tokens_.trailing(into);
  }
}

Document Formatter::item(const Node& node) {
  const std::size_t at = node.child(0)->kind == Syntax::Doc ? 1 : 0;
  const Node& inner = *node.child(at);
  Parts parts{any(inner)};
  const bool has_mark = tokens_.offset() < node.end && tokens_.take_if(";", parts);
  if (has_mark && !ends_by_itself(inner, tree_.text(inner))) parts.push_back(text(";"));
  return make_.concat(std::move(parts));
}

Document Formatter::def(const Node& node) {
  const Document definition =
      concat({take("def"), text(" "), any(*node.child(0)), function(*node.child(1))});
  if (node.count < 3) return definition;
  const Node& clause = *node.child(2);
  const Document with = concat({text(" "), take("with"), text(" ")});
  if (clause.kind == Syntax::Tangent) return concat({definition, with, any(clause)});
  const Document word = concat({take("gradient"), text(" ")});
  return concat({definition, with, word, any(clause)});
}

Document Formatter::type_def(const Node& node) {
  Parts parts;
  if (node.kind == Syntax::ExternType) {
    parts.push_back(take("extern"));
    parts.push_back(text(" "));
  }
  parts.push_back(take("type"));
  parts.push_back(text(" "));
  Nodes rest = node.children();
  parts.push_back(any(*rest[0]));
  rest = rest.subspan(1);
  if (!rest.empty() && rest[0]->kind == Syntax::TypeParams) {
    parts.push_back(any(*rest[0]));
    rest = rest.subspan(1);
  }
  if (tokens_.offset() < node.end) {
    parts.push_back(text(" "));
    parts.push_back(
        bracketed({.open = '{', .close = '}', .spaced = true, .keeps_lines = true}, rest));
  }
  return make_.concat(std::move(parts));
}

Document Formatter::constructor(const Node& node) {
  if (node.count < 2 || node.child(1)->kind != Syntax::RecordFields) return named(node, '(');
  const Document name = any(*node.child(0));
  const Nodes children = node.child(1)->children();
  std::vector<const Node*> names;
  for (std::size_t i = 0; i < children.size(); i += 2) names.push_back(children[i]);
  std::size_t at = 0;
  const Document fields =
      bracketed({.open = '{', .close = '}', .spaced = true, .keeps_lines = true}, names,
                [&](const Node& field) {
                  const Document field_name = any(field);
                  at += 2;
                  return concat({field_name, any(*children[at - 1])});
                });
  return concat({name, text(" "), fields});
}

Document Formatter::schedule_steps(Nodes steps) {
  Parts parts;
  for (const Node* step : steps) {
    while (tokens_.take_if(";", parts)) {
    }
    parts.push_back(any(*step));
    if (step == steps.back()) break;
    while (tokens_.take_if(";", parts)) {
    }
    parts.push_back(text(";"));
    tokens_.trailing(parts);
    parts.push_back(next_line(make_.line()));
    tokens_.leading(parts);
  }
  while (tokens_.take_if(";", parts)) {
  }
  return make_.concat(std::move(parts));
}

// On one line, with `;` between the steps, or each on its own.
Document Formatter::schedule(const Node& node) {
  Parts parts{take("schedule"), text(" "), any(*node.child(0))};
  Nodes steps = node.children().subspan(1);
  if (!steps.empty() && steps[0]->kind == Syntax::ScheduleParams) {
    parts.push_back(any(*steps[0]));
    steps = steps.subspan(1);
  }
  parts.push_back(text(" "));
  const Document open = take("{");
  if (steps.empty()) {
    while (tokens_.take_if(";", parts)) {
    }
    parts.push_back(open);
    inside_nothing(parts);
    parts.push_back(take("}"));
    return make_.concat(std::move(parts));
  }
  parts.push_back(make_.group(open_block(open, [&] { return schedule_steps(steps); })));
  return make_.concat(std::move(parts));
}

Document Formatter::version(const Node& node) {
  const Document open = concat({take("#"), take("["), take("version"), text(" "), take("=")});
  const Document number = any(*node.child(0));
  return concat({open, text(" "), number, take("]")});
}

// `rule f(x) where c { p } => { e }`
Document Formatter::rule(const Node& node) {
  Parts parts;
  const Node* body = nullptr;  // the one before
  bool is_behind_signature = false;
  for (const Node* child : node.children()) {
    if (is_behind_signature && child->kind != Syntax::Where) {
      if (body) parts.push_back(concat({text(" "), take("=>")}));
      parts.push_back(text(" "));
      parts.push_back(block(*child));
      body = child;
      continue;
    }
    if (child->kind == Syntax::Where) {
      const Document word = concat({text(" "), take("where"), text(" ")});
      parts.push_back(word);
    }
    parts.push_back(any(*child));
    if (child->kind == Syntax::Word) parts.push_back(text(" "));
    is_behind_signature = is_behind_signature || child->kind == Syntax::Params;
  }
  return make_.concat(std::move(parts));
}

lang::Result<std::string> format(const lang::Source& source, Notation notation) {
  SyntaxTree tree = read_text(source, is_strict(source, notation), true);
  if (!tree.errors.empty()) return std::move(tree.errors);
  return Formatter(tree).run();
}

}  // namespace relay::parser
