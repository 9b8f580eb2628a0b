#include "tests/support/xml.h"

#include <cctype>
#include <set>
#include <vector>

namespace relay::tests {

namespace {

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == ':' || c == '_';
}

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  std::string trouble() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '<') {
        if (const std::string wrong = tag(); !wrong.empty()) return wrong;
        continue;
      }
      if (c == '&' && !is_reference()) return place("`&` stands alone");
      if (static_cast<unsigned char>(c) < ' ' && c != '\n') return place("a control character");
      if (open_.empty() && c != '\n') return place("text outside of the document");
      ++at_;
    }
    return open_.empty() && elements_ > 0 ? "" : place("the document does not end");
  }

 private:
  std::string place(const std::string& what) const {
    return what + " at byte " + std::to_string(at_);
  }
  bool is_reference() const {
    for (const char* each : {"&amp;", "&lt;", "&gt;", "&quot;"}) {
      if (text_.compare(at_, std::string(each).size(), each) == 0) return true;
    }
    return false;
  }
  std::string name() {
    std::string result;
    while (at_ < text_.size() && is_name(text_[at_])) result += text_[at_++];
    return result;
  }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string tag() {
    ++at_;
    if (take('/')) {
      const std::string ended = name();
      if (open_.empty() || open_.back() != ended) return place("`" + ended + "` was not begun");
      open_.pop_back();
      return take('>') ? "" : place("a tag does not end");
    }
    const std::string begun = name();
    if (begun.empty()) return place("a tag has no name");
    if (open_.empty() && elements_++ > 0) return place("a second document");
    std::set<std::string> attributes;
    while (take(' ')) {
      const std::string attribute = name();
      if (attribute.empty() || !attributes.insert(attribute).second || !take('=') || !take('"'))
        return place("an attribute is wrong");
      while (at_ < text_.size() && text_[at_] != '"') {
        if (text_[at_] == '<' || (text_[at_] == '&' && !is_reference()))
          return place("an attribute holds `<` or `&`");
        ++at_;
      }
      if (!take('"')) return place("an attribute does not end");
    }
    const bool is_empty = take('/');
    if (!is_empty) open_.push_back(begun);
    return take('>') ? "" : place("a tag does not end");
  }

  const std::string& text_;
  std::size_t at_ = 0;
  int elements_ = 0;
  std::vector<std::string> open_;
};

}  // namespace

std::string xml_trouble(const std::string& text) { return Reader(text).trouble(); }

}  // namespace relay::tests
