#include "parser/value_text.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "parser/read.h"
#include "parser/syntax.h"

namespace relay::parser {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

class ValueReader {
 public:
  explicit ValueReader(const SyntaxTree& tree) : tree_(tree) {}

  // False: `offender()` is no value.
  bool read(const Node& node) {
    switch (node.kind) {
      case Syntax::Number:
      case Syntax::String:
        return true;
      case Syntax::Name:
        return name(node);
      case Syntax::Prefix:
        return sign(node) || offend(node);
      case Syntax::Parens:
      case Syntax::Tuple:
      case Syntax::List:
        return std::all_of(node.children().begin(), node.children().end(), [&](const Node* child) {
          return child->kind == Syntax::Mark || read(*child);
        });
      case Syntax::Call:
        return call(node);
      default:
        return offend(node);
    }
  }

  const Node* offender() const { return offender_; }
  std::vector<lang::Span> names;

 private:
  bool offend(const Node& node) {
    offender_ = &node;
    return false;
  }

  bool name(const Node& node) {
    const std::string_view text = tree_.text(node);
    if (text != "True" && text != "False" && !is_special(node)) names.push_back(tree_.span(node));
    return true;
  }

  bool is_special(const Node& node) const {
    return node.kind == Syntax::Name && (tree_.text(node) == "nan" || tree_.text(node) == "inf");
  }

  // One sign before a number.
  bool sign(const Node& node) const {
    return node.count == 2 && (node.last()->kind == Syntax::Number || is_special(*node.last())) &&
           (tree_.text(*node.child(0)) == "-" || tree_.text(*node.child(0)) == "+");
  }

  bool call(const Node& node) {
    if (node.child(0)->kind != Syntax::Name) return offend(node);
    names.push_back(tree_.span(*node.child(0)));
    return std::all_of(node.children().begin() + 1, node.children().end(), [&](const Node* child) {
      return child->kind == Syntax::Mark ||
             read(child->kind == Syntax::Attr ? *child->last() : *child);
    });
  }

  const SyntaxTree& tree_;
  const Node* offender_ = nullptr;
};

}  // namespace

ValueText read_value(const lang::Source& source) {
  const SyntaxTree tree = read_text(source, false, true);
  ValueText value;
  value.errors = tree.errors;
  if (!value.errors.empty()) return value;
  const auto items = tree.root->children();
  const Node* item = items.size() == 1 ? items[0]->find(Syntax::TopExpr) : nullptr;
  ValueReader reader(tree);
  lang::Span wrong{&source, 0, static_cast<std::uint32_t>(source.text().size())};
  if (item && items[0]->count == 1) {
    const Node& whole = *item->child(0);
    if (reader.read(whole)) {
      value.text = tree.text(whole);
      value.names = std::move(reader.names);
      return value;
    }
    wrong = tree.span(*reader.offender());
  }
  value.errors.push_back(
      Diagnostic(DiagnosticKind::BadCommand, "an argument is a value, and this is none", wrong)
          .note("note: values are numbers, booleans, strings, and tuples, tensors and constructors "
                "of values"));
  return value;
}

}  // namespace relay::parser
