#include "parser/format_tokens.h"

#include <algorithm>

#include "lang/diagnostic.h"
#include "parser/comments.h"

namespace relay::parser {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

}  // namespace

TokenReader::TokenReader(const SyntaxTree& tree, DocumentMaker& make)
    : make_(make),
      text_(tree.source->text()),
      strict_(tree.strict),
      cursor_(text_.data()),
      end_(text_.data() + text_.size()) {
  match_brackets();
}

void TokenReader::match_brackets() {
  std::vector<std::size_t> open;
  const char* const begin = text_.data();
  for (const char* p = begin; p != end_;) {
    p = skip_gap(p, end_, Breaks::Skip).end;
    if (p == end_) break;
    const auto offset = static_cast<std::uint32_t>(p - begin);
    if (*p == '"') {
      for (++p; p != end_ && *p != '"'; ++p) {
        if (*p == '\\' && !strict_ && p + 1 != end_) ++p;
      }
    } else if (*p == '(' || *p == '[' || *p == '{') {
      open.push_back(brackets_.size());
      brackets_.emplace_back(offset, 0);
    } else if ((*p == ')' || *p == ']' || *p == '}') && !open.empty()) {
      brackets_[open.back()].second = offset + 1;
      open.pop_back();
    }
    if (p != end_) ++p;
  }
}

const char* TokenReader::next() const { return skip_gap(cursor_, end_, Breaks::Skip).end; }

bool TokenReader::at(std::string_view text) const {
  const char* p = next();
  return std::string_view(p, static_cast<std::size_t>(end_ - p)).starts_with(text);
}

bool TokenReader::at_end() const { return next() == end_; }

std::uint32_t TokenReader::closed_at() const {
  const std::uint32_t here = offset();
  const auto found = std::lower_bound(brackets_.begin(), brackets_.end(), std::pair(here, 0U));
  return found != brackets_.end() && found->first == here ? found->second : 0;
}

bool TokenReader::next_comment(const char*& from, Comment& comment) const {
  const char* p = from;
  comment.breaks_before = 0;
  for (; p != end_ && (is_blank(*p) || *p == '\n'); ++p) comment.breaks_before += *p == '\n';
  if (end_ - p < 2 || p[0] != '/' || (p[1] != '/' && p[1] != '*')) return false;
  comment.is_line = p[1] == '/';
  const char* stop = end_of_comment(p, end_);
  from = stop;
  while (comment.is_line && is_blank(stop[-1])) --stop;
  comment.text = {p, static_cast<std::size_t>(stop - p)};
  const char* after = std::find_if_not(from, end_, is_blank);
  comment.ends_line = after == end_ || *after == '\n';
  return true;
}

// In the middle of a line: a line comment moves to its end, a block comment stays.
Document TokenReader::with_comments(Document token) {
  Comment comment;
  const char* from = cursor_;
  if (!next_comment(from, comment)) return token;
  std::vector<Document> parts;
  do {
    cursor_ = from;
    if (comment.is_line) {
      parts.push_back(make_.suffix(comment.text));
    } else {
      parts.push_back(make_.text(comment.text));
      parts.push_back(make_.text(" "));
    }
  } while (next_comment(from, comment));
  parts.push_back(token);
  return make_.concat(std::move(parts));
}

Document TokenReader::take(std::string_view text) {
  RELAY_CHECK(at(text), "the formatter expects `" + std::string(text) + "` at byte " +
                            std::to_string(offset()));
  const Document token = with_comments(make_.text(text));
  cursor_ = next() + text.size();
  return token;
}

Document TokenReader::take(const Node& leaf) {
  RELAY_CHECK(offset() == leaf.begin, "the formatter expects the token at byte " +
                                          std::to_string(leaf.begin) + ", not " +
                                          std::to_string(offset()));
  std::string_view text = text_.substr(leaf.begin, leaf.end - leaf.begin);
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);  // metadata goes on to the end
  const Document token = with_comments(make_.text(text));
  cursor_ = text_.data() + leaf.end;
  return token;
}

bool TokenReader::take_if(std::string_view text, std::vector<Document>& comments) {
  if (!at(text)) return false;
  const char* const token = next();
  Comment comment;
  for (const char* from = cursor_; next_comment(from, comment); cursor_ = from) {
    if (comment.is_line) {
      comments.push_back(make_.suffix(comment.text));
    } else {
      comments.push_back(make_.text(" "));
      comments.push_back(make_.text(comment.text));
    }
  }
  cursor_ = token + text.size();
  return true;
}

void TokenReader::trailing(std::vector<Document>& into) {
  Comment comment;
  for (const char* from = cursor_; next_comment(from, comment); cursor_ = from) {
    if (comment.breaks_before > 0 || !comment.ends_line) return;
    into.push_back(make_.suffix(comment.text));
  }
}

void TokenReader::beside(std::vector<Document>& into) {
  Comment comment;
  for (const char* from = cursor_; next_comment(from, comment); cursor_ = from) {
    if (comment.breaks_before > 0 || comment.ends_line) return;
    into.push_back(make_.beside(comment.text));
  }
}

void TokenReader::leading(std::vector<Document>& into, bool to_token) {
  Comment comment;
  bool first = true;
  for (const char* from = cursor_; next_comment(from, comment); cursor_ = from) {
    if (!first) into.push_back(separator(comment.breaks_before));
    into.push_back(make_.text(comment.text));
    first = false;
  }
  if (!first && to_token) into.push_back(separator(std::count(cursor_, next(), '\n')));
}

Document TokenReader::separator(std::ptrdiff_t breaks) {
  if (breaks > 1) return make_.empty_line();
  return breaks == 1 ? make_.hard_line() : make_.text(" ");
}

bool TokenReader::is_empty_line_next() const {
  Comment comment;
  const char* from = cursor_;
  if (next_comment(from, comment)) return comment.breaks_before > 1;
  return std::count(cursor_, next(), '\n') > 1;
}

bool TokenReader::is_break_next() const {
  Comment comment;
  const char* from = cursor_;
  if (next_comment(from, comment)) return comment.breaks_before > 0 || comment.ends_line;
  return std::find(cursor_, next(), '\n') != next();
}

bool TokenReader::is_comment_next() const {
  Comment comment;
  const char* from = cursor_;
  return next_comment(from, comment);
}

}  // namespace relay::parser
