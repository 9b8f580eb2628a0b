#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parser/document.h"
#include "parser/format_tokens.h"
#include "parser/syntax.h"

namespace relay::parser {

// Lays out a syntax tree. Each function takes the tokens of its node from the reader, in order.
class Formatter {
 public:
  explicit Formatter(const SyntaxTree& tree) : tree_(tree), tokens_(tree, make_) {}
  std::string run();

 private:
  using Nodes = std::span<const Node* const>;
  using Parts = std::vector<Document>;

  // --- Items (format_item.cpp) ---
  void file(const Node& node, Parts& into);
  Document item(const Node& node);
  Document def(const Node& node);
  Document type_def(const Node& node);
  Document constructor(const Node& node);
  Document schedule(const Node& node);
  Document schedule_steps(Nodes steps);
  Document version(const Node& node);
  Document rule(const Node& node);

  // --- Functions and types (format_type.cpp) ---
  Document function(const Node& node);
  Document param(const Node& node);
  Document annotation(const Node& node);
  Document tensor_type(const Node& node);
  Document function_type(const Node& node);
  Document named(const Node& node, char open);  // `List[A]`, `Cons(x, _)`
  Document dotted(const Node& node);

  // --- Any node (format_node.cpp) ---
  Document any(const Node& node);
  Document content(const Node& node);

  // --- Expressions (format_expr.cpp) ---
  Document binding(const Node& node);  // `let x = e`, `%0 = e`
  Document sequence(const Node& node);
  Document parens(const Node& node);
  Document tuple(const Node& node);
  Document call(const Node& node);
  Document slice(const Node& node);
  Document with(const Node& node);
  Document attribute(const Node& node, std::string_view sign);
  Document infix(const Node& node);
  Document infix_range(const Node& node, std::size_t first, std::size_t last);
  Document prefix(const Node& node);
  Document pipe(const Node& node);
  Document if_chain(const Node& node);
  Document match(const Node& node);
  Document arm(const Node& node);
  Document arm_body(const Node& node);
  Document list(const Node& node);
  Document binders(Nodes nodes);
  Document binder(const Node& node);
  Document loop(const Node& node);
  Document scatter(const Node& node);
  Document word_call(const Node& node, std::string_view word);  // `ref(e)`

  // --- What they share (format_list.cpp) ---
  enum class Commas : unsigned char {
    Drop,   // none behind the last element
    Broken  // one there when each element has its line
  };
  struct ListShape {
    char open;
    char close;
    Commas commas = Commas::Broken;
    bool spaced = false;       // `{ a, b }`
    bool keeps_lines = false;  // broken if a new line follows the opening bracket
    bool filled = false;       // as many elements on a line as fit
    bool rows = false;         // each element has its line
    bool tight = false;        // on one line, whatever its length: parts of types
    bool hugs = false;
    bool one_keeps_comma = false;  // behind a single element, if it is written
  };
  using Element = std::function<Document(const Node&)>;
  // A bracketed list with commas. One that hugs has its brackets on the lines of a single large
  // element: `f(x, fn (y) {` ... `})`.
  Document bracketed(const ListShape& shape, Nodes nodes, const Element& element);
  Document bracketed(const ListShape& shape, Nodes nodes) {
    return bracketed(shape, nodes, [this](const Node& node) { return any(node); });
  }
  struct ListParts;
  void list_elements(const ListShape& shape, Nodes nodes, const Element& element, ListParts& list);
  static bool is_hugged(Nodes nodes, const ListParts& list);
  // `{ body }`, not in a group of its own.
  Document open_block(const Document& open, const std::function<Document()>& body);
  Document open_block(const Node& body) {
    return open_block(take("{"), [&] { return any(body); });
  }
  Document block(const Node& body) { return make_.group(open_block(body)); }
  // Comments before a closing bracket; before that of brackets that hold nothing else.
  void closing_comments(Parts& into);
  void inside_nothing(Parts& into);
  // Is the next token a bracket around the node that no node stands for?
  bool is_surrounded(const Node& node) const;

  Document text(std::string_view text) { return make_.text(text); }
  Document take(std::string_view text) { return tokens_.take(text); }
  Document concat(std::initializer_list<Document> parts) { return make_.concat(parts); }
  // A line, or an empty one where the source has that.
  Document next_line(Document line) {
    return tokens_.is_empty_line_next() ? make_.empty_line() : line;
  }

  const SyntaxTree& tree_;
  DocumentMaker make_;
  TokenReader tokens_;
  int brackets_ = 0;  // open ones: in the light notation, outside of them an operator ends its line
};

}  // namespace relay::parser
