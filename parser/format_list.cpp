// Bracketed lists and blocks.

#include <algorithm>

#include "parser/formatter.h"

namespace relay::parser {

namespace {

constexpr std::string_view kListSigns = "()[]{}";

std::string_view sign(char c) { return kListSigns.substr(kListSigns.find(c), 1); }

// Ends in a block or list of its own, so that its last line can carry a closing bracket.
bool is_large(Syntax kind) {
  return kind == Syntax::Function || kind == Syntax::Match || kind == Syntax::If ||
         kind == Syntax::For || kind == Syntax::Reduce || kind == Syntax::Scatter;
}
bool is_list_like(Syntax kind) {
  return kind == Syntax::List || kind == Syntax::Tuple || kind == Syntax::Call;
}

// Braces keep the lines that they have, so one that was broken here would stay so the next time.
bool has_braces(Document element) {
  if (element->kind == DocumentKind::Text) return element->text.find('{') != std::string_view::npos;
  return std::any_of(element->parts.begin(), element->parts.end(), has_braces);
}

}  // namespace

// The pieces of a list, before it is decided how they stand.
struct Formatter::ListParts {
  Parts head;                     // comments behind the opening bracket
  std::vector<Document> before;   // what separates each element from the one before
  std::vector<Document> element;  // with the comments before it
  std::vector<Document> comma;    // behind it
  std::vector<Document> after;    // comments behind that
  Parts tail;                     // comments before the closing bracket
};

void Formatter::closing_comments(Parts& into) {
  if (!tokens_.is_comment_next()) return;
  into.push_back(next_line(make_.hard_line()));
  tokens_.leading(into, false);
}

// `f(/* nothing */)`
void Formatter::inside_nothing(Parts& into) {
  Parts comments;
  tokens_.beside(comments);
  for (std::size_t i = 0; i < comments.size(); ++i)
    into.push_back(i == 0 ? text(comments[i]->text) : comments[i]);
}

void Formatter::list_elements(const ListShape& shape, Nodes nodes, const Element& element,
                              ListParts& list) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Parts whole;
    Parts comments;
    Parts trailing;
    const Document between = shape.rows    ? make_.hard_line()
                             : shape.tight ? text(" ")
                                           : make_.line();
    list.before.push_back(i == 0 ? text("") : next_line(between));
    tokens_.leading(whole);
    whole.push_back(element(*nodes[i]));
    const bool is_written = tokens_.take_if(",", comments);
    whole.insert(whole.end(), comments.begin(), comments.end());
    if (i + 1 == nodes.size()) tokens_.beside(trailing);
    tokens_.trailing(trailing);
    list.element.push_back(make_.concat(std::move(whole)));
    const bool always =
        i + 1 < nodes.size() || (nodes.size() == 1 && shape.one_keeps_comma && is_written);
    list.comma.push_back(
        always ? text(",") : (shape.commas == Commas::Broken ? make_.if_broken(",") : text("")));
    list.after.push_back(make_.concat(std::move(trailing)));
  }
}

bool Formatter::is_hugged(Nodes nodes, const ListParts& list) {
  constexpr std::size_t kRoomForOthers = 50;
  if (nodes.empty() || !list.head.empty() || !list.tail.empty()) return false;
  const std::size_t last = nodes.size() - 1;
  if (!list.after[last]->parts.empty()) return false;
  if (last == 0 && is_list_like(nodes[0]->kind)) return true;
  const std::size_t large = is_large(nodes[last]->kind) ? last : 0;
  if (!is_large(nodes[large]->kind)) return false;
  std::size_t width = 0;
  for (std::size_t i = 0; i <= last; ++i) {
    if (list.before[i]->breaks || list.after[i]->breaks) return false;
    if (i == large) continue;
    if (list.element[i]->breaks) return false;
    width += list.element[i]->width;
    if (width > kRoomForOthers || has_braces(list.element[i])) return false;
  }
  return true;
}

Document Formatter::bracketed(const ListShape& shape, Nodes nodes, const Element& element) {
  const Document open = take(sign(shape.open));
  const bool keeps = shape.rows || (shape.keeps_lines && tokens_.is_break_next());
  ListParts list;
  ++brackets_;
  tokens_.trailing(list.head);
  if (nodes.empty()) inside_nothing(list.tail);
  list_elements(shape, nodes, element, list);
  closing_comments(list.tail);
  --brackets_;
  const Document close = take(sign(shape.close));
  if (nodes.empty() && list.head.empty() && list.tail.empty()) return concat({open, close});

  Parts inner(std::move(list.head));
  if (shape.hugs && is_hugged(nodes, list)) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (i > 0) inner.push_back(text(", "));
      inner.push_back(list.element[i]);
    }
    return concat({open, make_.concat(std::move(inner)), close});
  }
  Document edge = shape.spaced ? make_.line() : shape.tight ? text("") : make_.soft_line();
  if (keeps && !nodes.empty()) edge = make_.hard_line();
  if (!nodes.empty()) inner.push_back(edge);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Document one = concat({list.before[i], list.element[i]});
    inner.push_back(shape.filled && i > 0 ? make_.group(one) : one);
    inner.push_back(list.comma[i]);
    inner.push_back(list.after[i]);
  }
  inner.insert(inner.end(), list.tail.begin(), list.tail.end());
  return make_.group(concat({open, make_.nest(make_.concat(std::move(inner))), edge, close}));
}

Document Formatter::open_block(const Document& open, const std::function<Document()>& body) {
  const bool keeps = tokens_.is_break_next();
  const Document edge = keeps ? make_.hard_line() : make_.line();
  Parts inner;
  ++brackets_;
  tokens_.trailing(inner);
  inner.push_back(edge);
  tokens_.leading(inner);
  inner.push_back(body());
  tokens_.trailing(inner);
  closing_comments(inner);
  --brackets_;
  return concat({open, make_.nest(make_.concat(std::move(inner))), edge, take("}")});
}

bool Formatter::is_surrounded(const Node& node) const {
  if (!tokens_.at("{") && !tokens_.at("(")) return false;
  return node.end < tokens_.closed_at();
}

}  // namespace relay::parser
