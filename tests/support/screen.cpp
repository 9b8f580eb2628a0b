#include "tests/support/screen.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "lang/utf8.h"

namespace relay::tests {

namespace {

char32_t code_of(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  char32_t code = character.size() == 1 ? first : first & (0x7FU >> character.size());
  for (std::size_t i = 1; i < character.size(); ++i)
    code = (code << 6) | (static_cast<unsigned char>(character[i]) & 0x3FU);
  return code;
}

int width_of(std::string_view character) {
  struct Range {
    char32_t first, last;
  };
  constexpr std::array<Range, 8> kWide = {{{0x1100, 0x115F},
                                           {0x2E80, 0xA4CF},
                                           {0xAC00, 0xD7A3},
                                           {0xF900, 0xFAFF},
                                           {0xFE30, 0xFE6F},
                                           {0xFF00, 0xFF60},
                                           {0x1F300, 0x1FAFF},
                                           {0x20000, 0x3FFFD}}};
  const char32_t code = code_of(character);
  if (code >= 0x300 && code <= 0x36F) return 0;
  const bool is_wide = std::any_of(kWide.begin(), kWide.end(), [&](const Range& range) {
    return code >= range.first && code <= range.last;
  });
  return is_wide ? 2 : 1;
}

std::string joined(const std::vector<Screen::Cell>& cells) {
  std::string text;
  for (const Screen::Cell& cell : cells) text += cell.text;
  return text.erase(text.find_last_not_of(' ') + 1);
}

bool is_end_of_sequence(char c) { return c >= '@' && c <= '~'; }

}  // namespace

Screen::Screen(int rows, int columns) : rows_(rows), columns_(columns) {
  table_.assign(static_cast<std::size_t>(rows), Row(static_cast<std::size_t>(columns)));
}

void Screen::resize(int rows, int columns) {
  while (row_ >= rows) {
    above_.push_back(joined(table_.front()));
    table_.erase(table_.begin());
    --row_;
  }
  rows_ = rows;
  columns_ = columns;
  table_.resize(static_cast<std::size_t>(rows));
  for (Row& row : table_) row.resize(static_cast<std::size_t>(columns));
  column_ = std::min(column_, columns);
}

std::vector<std::string> Screen::lines() const {
  std::vector<std::string> all = above_;
  for (const Row& row : table_) all.push_back(joined(row));
  return all;
}

std::string Screen::text() const {
  std::string text;
  for (const std::string& line : lines()) text += line + '\n';
  return text.erase(text.find_last_not_of('\n') + 1);
}

std::string Screen::line() const { return joined(table_[static_cast<std::size_t>(row_)]); }

void Screen::new_line() {
  if (row_ + 1 < rows_) {
    ++row_;
    return;
  }
  above_.push_back(joined(table_.front()));
  std::rotate(table_.begin(), table_.begin() + 1, table_.end());
  table_.back().assign(static_cast<std::size_t>(columns_), Cell{});
}

void Screen::put(std::string_view character) {
  const int width = width_of(character);
  if (width == 0) {
    if (column_ > 0) current()[static_cast<std::size_t>(column_ - 1)].text += character;
    return;
  }
  if (column_ + width > columns_) {
    column_ = 0;
    new_line();
  }
  Row& row = current();
  const auto at = row.begin() + column_;
  if (inserts_) {
    row.insert(at, static_cast<std::size_t>(width), Cell{});
    row.resize(static_cast<std::size_t>(columns_));
  }
  for (int i = 0; i < width; ++i)
    row[static_cast<std::size_t>(column_ + i)] = {std::string(i == 0 ? character : ""), look()};
  column_ += width;
}

void Screen::control(char c) {
  constexpr int kTab = 8;
  if (c == '\r') column_ = 0;
  if (c == '\n') new_line();
  if (c == '\b') column_ = std::max(0, std::min(column_, columns_ - 1) - 1);
  if (c == '\t') column_ = std::min(columns_ - 1, (column_ / kTab + 1) * kTab);
  if (c == '\a') ++bells_;
}

// The numbers of `ESC [ … m`: 0 plain, 1 to 7 marks, 30 to 37 and 90 to 97 colours.
void Screen::set_looks(std::string_view numbers) {
  constexpr std::array<std::string_view, 8> kColours = {"black", "red",     "green", "yellow",
                                                        "blue",  "magenta", "cyan",  "white"};
  std::istringstream rest{std::string(numbers)};
  std::string number;
  bool is_first = true;
  while (std::getline(rest, number, ';') || std::exchange(is_first, false)) {
    is_first = false;
    const int code = std::atoi(number.c_str());
    const auto digit = static_cast<std::size_t>(code % 10);
    if (code == 0) marks_ = {}, colour_.clear();
    if (code >= 1 && code <= 4) marks_[digit - 1] = true;
    if (code == 7) marks_[4] = true;
    if (code == 22) marks_[0] = marks_[1] = false;
    if (code == 24) marks_[3] = false;
    if (code == 27) marks_[4] = false;
    if (code == 39) colour_.clear();
    if (digit < 8 && (code / 10 == 3 || code / 10 == 9))
      colour_ = std::string(code / 10 == 9 ? "bright-" : "") + std::string(kColours[digit]);
  }
}

std::string Screen::look() const {
  constexpr std::array<std::string_view, 5> kMarks = {"bold", "dim", "italic", "underline",
                                                      "reverse"};
  std::string words;
  for (std::size_t i = 0; i < kMarks.size(); ++i)
    if (marks_[i]) words += (words.empty() ? "" : " ") + std::string(kMarks[i]);
  if (!colour_.empty()) words += (words.empty() ? "" : " ") + colour_;
  return words;
}

void Screen::run_sequence(std::string_view sequence) {
  ++sequences_;
  std::array<int, 2> numbers = {0, 0};
  std::size_t which = 0;
  for (const char c : sequence) {
    if (c >= '0' && c <= '9') numbers[which] = numbers[which] * 10 + (c - '0');
    if (c == ';') which = 1;
  }
  const int count = std::max(1, numbers[0]);
  Row& row = current();
  const auto at = row.begin() + std::min(column_, columns_);
  const auto far = std::min(columns_ - std::min(column_, columns_), count);
  switch (sequence.back()) {
    case 'A':
      row_ = std::max(0, row_ - count);
      break;
    case 'B':
      row_ = std::min(rows_ - 1, row_ + count);
      break;
    case 'C':
      column_ = std::min(columns_ - 1, column_ + count);
      break;
    case 'D':
      column_ = std::max(0, column_ - count);
      break;
    case 'G':
      column_ = std::min(columns_, count) - 1;
      break;
    case 'H':
      row_ = std::min(rows_, count) - 1;
      column_ = std::min(columns_, std::max(1, numbers[1])) - 1;
      break;
    case 'J':
      for (int i = numbers[0] == 2 ? 0 : row_ + 1; i < rows_; ++i)
        table_[static_cast<std::size_t>(i)].assign(static_cast<std::size_t>(columns_), Cell{});
      [[fallthrough]];
    case 'K':
      std::fill(numbers[0] == 2 ? row.begin() : at, row.end(), Cell{});
      break;
    case 'P':
      row.erase(at, at + far);
      row.resize(static_cast<std::size_t>(columns_));
      break;
    case '@':
      row.insert(at, static_cast<std::size_t>(far), Cell{});
      row.resize(static_cast<std::size_t>(columns_));
      break;
    case 'h':
    case 'l':
      if (sequence == "4h" || sequence == "4l") inserts_ = sequence.back() == 'h';
      break;
    case 'm':
      ++looks_;
      set_looks(sequence.substr(0, sequence.size() - 1));
      break;
    default:
      break;
  }
}

void Screen::feed(std::string_view bytes) {
  for (const char c : bytes) {
    pending_ += c;
    if (pending_.front() == '\x1b') {
      if (pending_.size() == 2 && c != '[') {
        ++sequences_;
        pending_.clear();
      } else if (pending_.size() > 2 && is_end_of_sequence(c)) {
        run_sequence(std::string_view(pending_).substr(2));
        pending_.clear();
      }
    } else if (static_cast<unsigned char>(pending_.front()) < ' ' || pending_.front() == '\x7f') {
      control(c);
      pending_.clear();
    } else if (lang::code_point_length(pending_) == pending_.size()) {
      put(pending_);
      pending_.clear();
    } else if (pending_.size() >= 4) {
      put("?");
      pending_.clear();
    }
  }
}

}  // namespace relay::tests
