#include "repl/editor/buffer.h"

#include <algorithm>
#include <utility>

#include "lang/letters.h"
#include "repl/editor/width.h"

namespace relay::repl::editor {

namespace {

constexpr std::size_t kKills = 32;
constexpr std::size_t kChanges = 500;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

}  // namespace

void KillRing::add(std::string text) {
  kills_.insert(kills_.begin(), std::move(text));
  if (kills_.size() > kKills) kills_.pop_back();
}

void KillRing::extend(std::string_view text, bool in_front) {
  if (kills_.empty()) return add(std::string(text));
  kills_.front().insert(in_front ? 0 : kills_.front().size(), text);
}

void KillRing::rotate() {
  if (!kills_.empty()) std::rotate(kills_.begin(), kills_.begin() + 1, kills_.end());
}

void Buffer::record(bool is_letter) {
  const bool continues = is_letter && run_end_ != 0 && run_end_ == cursor_;
  if (!continues) before_.push_back({text_, cursor_});
  if (before_.size() > kChanges) before_.erase(before_.begin());
  run_end_ = 0;
}

void Buffer::set(std::string text, bool recorded) {
  if (recorded) record();
  run_end_ = 0;
  text_ = std::move(text);
  cursor_ = text_.size();
}

void Buffer::clear() {
  text_.clear();
  cursor_ = 0;
  before_.clear();
  run_end_ = 0;
}

void Buffer::insert(std::string_view text, bool is_typed) {
  if (text.empty()) return;
  record(is_typed);
  text_.insert(cursor_, text);
  cursor_ += text.size();
  if (is_typed) run_end_ = cursor_;
}

void Buffer::replace(std::size_t begin, std::size_t end, std::string_view text) {
  record();
  text_.replace(begin, end - begin, text);
  cursor_ = begin + text.size();
}

std::string Buffer::cut(std::size_t begin, std::size_t end) {
  if (begin >= end) return "";
  record();
  std::string taken = text_.substr(begin, end - begin);
  text_.erase(begin, end - begin);
  cursor_ = begin;
  return taken;
}

void Buffer::transpose() {
  const std::size_t middle = cursor_ == text_.size() || text_[cursor_] == '\n' ? left() : cursor_;
  if (middle == 0) return;
  const std::size_t begin = character_before(text_, middle);
  const std::size_t end = character_after(text_, middle);
  if (text_[begin] == '\n' || middle == end || text_[middle] == '\n') return;
  record();
  std::rotate(text_.begin() + static_cast<std::ptrdiff_t>(begin),
              text_.begin() + static_cast<std::ptrdiff_t>(middle),
              text_.begin() + static_cast<std::ptrdiff_t>(end));
  cursor_ = end;
}

bool Buffer::undo() {
  if (before_.empty()) return false;
  text_ = std::move(before_.back().text);
  cursor_ = before_.back().cursor;
  before_.pop_back();
  run_end_ = 0;
  return true;
}

std::size_t Buffer::left() const { return character_before(text_, cursor_); }
std::size_t Buffer::right() const { return character_after(text_, cursor_); }

std::size_t Buffer::word_left() const {
  std::size_t at = cursor_;
  while (at > 0 && !lang::is_word_byte(text_[at - 1])) --at;
  while (at > 0 && lang::is_word_byte(text_[at - 1])) --at;
  return at;
}

std::size_t Buffer::word_right() const {
  std::size_t at = cursor_;
  while (at < text_.size() && !lang::is_word_byte(text_[at])) ++at;
  while (at < text_.size() && lang::is_word_byte(text_[at])) ++at;
  return at;
}

std::size_t Buffer::blank_left() const {
  std::size_t at = cursor_;
  while (at > 0 && is_blank(text_[at - 1])) --at;
  while (at > 0 && !is_blank(text_[at - 1])) --at;
  return at;
}

std::size_t Buffer::line_begin() const {
  const std::size_t found = cursor_ == 0 ? std::string::npos : text_.rfind('\n', cursor_ - 1);
  return found == std::string::npos ? 0 : found + 1;
}

std::size_t Buffer::line_end() const { return std::min(text_.find('\n', cursor_), text_.size()); }

bool Buffer::is_on_first_line() const { return line_begin() == 0; }
bool Buffer::is_on_last_line() const { return line_end() == text_.size(); }

void Buffer::move_to_line(std::size_t begin, int column) {
  set_cursor(begin);
  int here = 0;
  while (cursor_ < text_.size() && text_[cursor_] != '\n') {
    const std::size_t next = right();
    here += columns_of(std::string_view(text_).substr(cursor_, next - cursor_));
    if (here > column) break;
    cursor_ = next;
  }
}

void Buffer::move_up() {
  const std::size_t begin = line_begin();
  if (begin == 0) return;
  const int column = columns_of(std::string_view(text_).substr(begin, cursor_ - begin));
  cursor_ = begin - 1;
  move_to_line(line_begin(), column);
}

void Buffer::move_down() {
  const std::size_t begin = line_begin();
  const std::size_t end = line_end();
  if (end == text_.size()) return;
  move_to_line(end + 1, columns_of(std::string_view(text_).substr(begin, cursor_ - begin)));
}

}  // namespace relay::repl::editor
