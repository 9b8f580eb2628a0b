#pragma once

#include <string_view>
#include <vector>

#include "parser/document.h"
#include "parser/syntax.h"

namespace relay::parser {

// The tokens of a text in their order, with the comments between them, as documents. Whoever lays
// out a tree asks for each token that it writes; asking for another than the next one stops on a
// bug of ours, so nothing is lost and nothing moves.
class TokenReader {
 public:
  TokenReader(const SyntaxTree& tree, DocumentMaker& make);

  // The next token, which must read `text`; of a word or sign only what `text` says is taken.
  Document take(std::string_view text);
  // The next token, which must begin where the leaf does.
  Document take(const Node& leaf);
  // Takes the next token if it reads so. Its comments are kept in `comments`.
  bool take_if(std::string_view text, std::vector<Document>& comments);

  bool at(std::string_view text) const;
  bool at_end() const;
  std::uint32_t offset() const { return static_cast<std::uint32_t>(next() - text_.data()); }
  // Where the bracket that is the next token is closed: the offset behind it. 0 if the next token
  // opens none.
  std::uint32_t closed_at() const;

  // Comments that stand on the line of the last token and end it.
  void trailing(std::vector<Document>& into);
  // Those that stand on that line and do not end it.
  void beside(std::vector<Document>& into);
  // The comments before the next token, each on a line of its own as far as that was so; with
  // `to_token` the token then begins as it did, behind them or on the next line.
  void leading(std::vector<Document>& into, bool to_token = true);
  // Is there an empty line before the next comment or token?
  bool is_empty_line_next() const;
  // Does a new line, or a comment that ends the line, follow?
  bool is_break_next() const;
  bool is_comment_next() const;

 private:
  struct Comment {
    std::string_view text;
    int breaks_before;  // line breaks between what stands before and it
    bool ends_line;     // nothing but a line break, or the end of the text, follows
    bool is_line;       // `// ...`
  };
  // The next comment at `from`; none if a token comes first. Moves `from` behind it.
  bool next_comment(const char*& from, Comment& comment) const;
  const char* next() const;  // the next token
  Document with_comments(Document token);
  Document separator(std::ptrdiff_t breaks);
  void match_brackets();

  DocumentMaker& make_;
  const std::string_view text_;
  const bool strict_;
  const char* cursor_;
  const char* const end_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> brackets_;  // opener, closer; by opener
};

}  // namespace relay::parser
