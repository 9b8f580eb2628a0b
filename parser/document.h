#pragma once

#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace relay::parser {

// Text with choices of where its lines break. A group is laid out flat if that fits into the
// width, else the lines that belong to it, and not to a group inside, break.
//
// Sources: Wadler, "A prettier printer" (2003); Lindig, "Strictly Pretty" (2000), for the loop
// that needs neither laziness nor recursion; the line suffixes are Prettier's.
struct DocumentNode;
using Document = const DocumentNode*;

enum class DocumentKind : unsigned char {
  Text,
  Line,      // a space, or a line break
  SoftLine,  // nothing, or a line break
  HardLine,  // always a line break; with one empty line before if `count` is 2
  Suffix,    // goes to the end of its line: a comment `// ...`
  Beside,    // behind a space, or as a Suffix where its group is broken: a comment `/* ... */`
  IfBroken,  // text that is there only when its group is broken
  Nest,      // one step further to the right
  Group,
  Concat,
};

struct DocumentNode {
  DocumentKind kind;
  bool breaks = false;    // holds a hard line or a suffix, so no group around it is flat
  int count = 1;          // HardLine
  std::size_t width = 0;  // laid out flat, in code points
  std::string_view text;
  std::vector<Document> parts;
};

// Makes documents, which live as long as it does. Texts are views of what must live as long.
class DocumentMaker {
 public:
  Document text(std::string_view text);
  Document line() { return &line_; }
  Document soft_line() { return &soft_line_; }
  Document hard_line() { return &hard_line_; }
  Document empty_line() { return &empty_line_; }
  Document suffix(std::string_view text);
  Document beside(std::string_view text);
  Document if_broken(std::string_view text);
  Document nest(Document inner);
  Document group(Document inner);
  Document concat(std::vector<Document> parts);
  Document concat(std::initializer_list<Document> parts) {
    return concat(std::vector<Document>(parts));
  }

 private:
  DocumentNode* make(DocumentKind kind, std::string_view text);

  std::deque<DocumentNode> nodes_;
  const DocumentNode line_{DocumentKind::Line, false, 1, 1, {}, {}};
  const DocumentNode soft_line_{DocumentKind::SoftLine, false, 1, 0, {}, {}};
  const DocumentNode hard_line_{DocumentKind::HardLine, true, 1, 0, {}, {}};
  const DocumentNode empty_line_{DocumentKind::HardLine, true, 2, 0, {}, {}};
};

// The text of the document in lines of at most `width` code points where its choices allow that.
// No line ends in a space. Cost: linear in the document's size.
std::string render(Document document, std::size_t width);

}  // namespace relay::parser
