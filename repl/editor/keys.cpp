#include "repl/editor/keys.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "lang/utf8.h"
#include "repl/editor/replacement.h"

namespace relay::repl::editor {

namespace {

constexpr char kEscape = '\x1b';
constexpr std::string_view kPasteBegin = "\x1b[200~";
constexpr std::string_view kPasteEnd = "\x1b[201~";
constexpr std::size_t kLongestSequence = 32;

using Code = Key::Code;

struct Named {
  std::string_view sequence;  // behind ESC
  Code code;
  bool shift = false;
  bool control = false;
};

// Where neither the letter nor the number at the end says all: rxvt's keys with Ctrl, shift-Tab.
constexpr Named kNamed[] = {
    {"[5C", Code::Right, false, true}, {"[5D", Code::Left, false, true},
    {"Oc", Code::Right, false, true},  {"Od", Code::Left, false, true},
    {"[Z", Code::Tab, true},
};

std::optional<Code> code_of_letter(char letter) {
  switch (letter) {
    case 'A':
      return Code::Up;
    case 'B':
      return Code::Down;
    case 'C':
      return Code::Right;
    case 'D':
      return Code::Left;
    case 'H':
      return Code::Home;
    case 'F':
      return Code::End;
    default:
      return std::nullopt;
  }
}

std::optional<Code> code_of_number(int number) {
  switch (number) {
    case 1:
    case 7:
      return Code::Home;
    case 3:
      return Code::Delete;
    case 4:
    case 8:
      return Code::End;
    case 5:
      return Code::PageUp;
    case 6:
      return Code::PageDown;
    default:
      return std::nullopt;
  }
}

// `ESC [ number ; modifiers letter`, both numbers 1 where they are left out.
std::optional<Key> key_of(std::string_view sequence) {
  for (const Named& named : kNamed)
    if (named.sequence == sequence) return Key{named.code, {}, named.shift, false, named.control};
  int numbers[2] = {0, 0};
  std::size_t which = 0;
  for (const char c : sequence.substr(1, sequence.size() - 2)) {
    if (c == ';' && which == 0) {
      which = 1;
    } else if (c >= '0' && c <= '9' && numbers[which] < 1000) {
      numbers[which] = numbers[which] * 10 + (c - '0');
    } else {
      return std::nullopt;
    }
  }
  const char last = sequence.back();
  const bool is_plain = numbers[0] == 0 || (numbers[0] == 1 && which == 1);
  const auto code = last == '~' ? code_of_number(numbers[0])
                    : is_plain  ? code_of_letter(last)
                                : std::nullopt;
  if (!code) return std::nullopt;
  const int modifiers = std::max(numbers[1] - 1, 0);
  return Key{*code, {}, (modifiers & 1) != 0, (modifiers & 2) != 0, (modifiers & 4) != 0};
}

// The beginning of a character that may still become one.
bool is_begun(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes.front());
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || bytes.size() >= length) return false;
  return std::all_of(bytes.begin() + 1, bytes.end(),
                     [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; });
}

}  // namespace

void KeyDecoder::reset() {
  ready_.clear();
  pending_.clear();
  pasted_.clear();
  alt_ = is_pasting_ = false;
}

std::optional<Key> KeyDecoder::next() {
  if (ready_.empty()) return std::nullopt;
  Key key = std::move(ready_.front());
  ready_.pop_front();
  return key;
}

void KeyDecoder::put(Key key) {
  key.alt = key.alt || alt_;
  alt_ = false;
  ready_.push_back(std::move(key));
}

void KeyDecoder::paste(char byte) {
  pasted_ += byte;
  if (!pasted_.ends_with(kPasteEnd)) return;
  pasted_.resize(pasted_.size() - kPasteEnd.size());
  is_pasting_ = false;
  alt_ = false;
  put({Code::Paste, std::exchange(pasted_, {})});
}

void KeyDecoder::put_sequence() {
  const std::string sequence = std::exchange(pending_, {});
  if (sequence == kPasteBegin) {
    is_pasting_ = true;
  } else if (auto key = key_of(std::string_view(sequence).substr(1))) {
    put(std::move(*key));
  }
  alt_ = false;
}

// A byte that stands where a key begins.
void KeyDecoder::begin(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  if (byte == '\r' || byte == '\n') return put({Code::Enter});
  if (byte == '\t') return put({Code::Tab});
  if (byte == '\x7f' || byte == '\b') return put({Code::Backspace});
  if (code == 0) return;
  if (code < ' ') {
    Key key{Code::Letter, {static_cast<char>(byte | 0x60)}};
    if (byte == '\x1f') key.text = "_";
    key.control = true;
    return put(std::move(key));
  }
  if (code < 0x80) return put({Code::Letter, {byte}});
  pending_ = byte;
  if (!is_begun(pending_)) {
    pending_.clear();
    put({Code::Letter, std::string(kReplacement)});
  }
}

void KeyDecoder::feed(char byte) {
  if (is_pasting_) return paste(byte);
  if (pending_.empty()) {
    if (byte == kEscape) {
      pending_ = byte;
    } else {
      begin(byte);
    }
    return;
  }
  if (pending_.front() != kEscape) {
    pending_ += byte;
    if (lang::code_point_length(pending_) == pending_.size()) {
      put({Code::Letter, std::exchange(pending_, {})});
    } else if (!is_begun(pending_)) {  // the byte that does not fit begins the next key
      pending_.clear();
      put({Code::Letter, std::string(kReplacement)});
      feed(byte);
    }
    return;
  }
  if (pending_.size() == 1) {
    if (byte == kEscape) {  // Alt with an arrow, on some terminals
      alt_ = true;
    } else if (byte == '[' || byte == 'O') {
      pending_ += byte;
    } else {
      pending_.clear();
      alt_ = true;
      begin(byte);
    }
    return;
  }
  pending_ += byte;
  const bool is_parameter = byte >= ' ' && byte <= '?';
  if (is_parameter && pending_.size() < kLongestSequence) return;
  put_sequence();
}

}  // namespace relay::repl::editor
