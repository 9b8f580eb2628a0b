#include "parser/tokens.h"

#include <algorithm>

#include "lang/letters.h"
#include "lang/utf8.h"
#include "parser/comments.h"
#include "parser/notation.h"
#include "parser/parse.h"
#include "parser/read.h"
#include "parser/scan.h"

namespace relay::parser {
namespace {

using namespace grammar;  // NOLINT: the scanners

class Tokens {
 public:
  Tokens(std::string_view text, Strings strings)
      : begin_(text.data()),
        at_(begin_),
        end_(begin_ + text.size()),
        may_break_(strings == Strings::OverLines) {}

  std::vector<Token> run() {
    while (true) {
      comments();
      if (at_ == end_) return std::move(tokens_);
      token();
    }
  }

 private:
  std::size_t offset(const char* p) const { return static_cast<std::size_t>(p - begin_); }

  void put(TokenKind kind, const char* stop, bool is_open = false) {
    tokens_.push_back({kind, offset(at_), offset(stop), is_open});
    at_ = stop;
  }

  // Gaps are skipped as the grammar skips them; what in them is no white space is a comment.
  void comments() {
    const Gap gap = skip_gap(at_, end_, Breaks::Skip);
    while (at_ != gap.end) {
      if (*at_ != '/') {
        ++at_;
        continue;
      }
      const bool is_open = at_ == gap.open_comment;
      const char* const stop = is_open ? gap.end : end_of_comment(at_, gap.end);
      put(TokenKind::Comment, stop, is_open);
    }
  }

  void token() {
    const char c = *at_;
    if (c == '(' || c == '[' || c == '{') return put(TokenKind::Open, at_ + 1);
    if (c == ')' || c == ']' || c == '}') return put(TokenKind::Close, at_ + 1);
    if (c == '"') return string();
    if (const char* const stop = scan_light_number(at_, end_)) return put(TokenKind::Number, stop);
    if (const std::string_view name = scan_name(at_, end_, false); !name.empty()) {
      const bool is_word = is_keyword(name, false) || is_reduction_here(name);
      return put(is_word ? TokenKind::Keyword : TokenKind::Name, at_ + name.size());
    }
    if (const char* const stop = scan_infix(at_, end_, false))
      return put(TokenKind::Operator, stop);
    const std::size_t length = lang::code_point_length({at_, static_cast<std::size_t>(end_ - at_)});
    put(TokenKind::Operator, at_ + std::max<std::size_t>(length, 1));
  }

  // `sum k < n { .. }` is index notation, `sum(x)` a call.
  bool is_reduction_here(std::string_view name) const {
    if (!is_reduction(name)) return false;
    const Gap gap = skip_gap(at_ + name.size(), end_, Breaks::Stop);
    return lang::letter_length({gap.end, static_cast<std::size_t>(end_ - gap.end)}) != 0;
  }

  void string() {
    const char* q = at_ + 1;
    while (q != end_ && *q != '"' && (may_break_ || *q != '\n'))
      q += *q == '\\' && end_ - q > 1 ? 2 : 1;
    const bool is_open = q == end_ || *q != '"';
    put(TokenKind::String, is_open ? q : q + 1, is_open);
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  const bool may_break_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text, Strings strings) {
  return Tokens(text, strings).run();
}

std::optional<Place> mistake_in(std::string_view text) {
  const lang::Source source("", std::string(text));
  try {
    read_text(source, is_strict(source, Notation::Auto), false);
    return std::nullopt;
  } catch (SyntaxStop& stop) {
    if (stop.at_end) return std::nullopt;
    return Place{stop.diagnostic.span.begin, stop.diagnostic.span.end};
  }
}

}  // namespace relay::parser
