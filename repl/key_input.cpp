#include "repl/key_input.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cwchar>
#include <utility>

#include "repl/signals.h"

namespace relay::repl {

namespace {

constexpr char kEscape = '\x1b';
constexpr wchar_t kReplacement = 0xFFFD;
}  // namespace

KeyInput::KeyInput(int descriptor, std::function<bool(std::string_view)> is_bound,
                   std::function<void(Change)> on_change)
    : descriptor_(descriptor), is_bound_(std::move(is_bound)), on_change_(std::move(on_change)) {}

// Bytes are read one by one: what is not read yet is the terminal's, which drops it at Ctrl-C.
std::optional<char> KeyInput::byte() {
  if (pushed_back_) return std::exchange(pushed_back_, std::nullopt);
  while (true) {
    std::array<pollfd, 2> wanted = {pollfd{Signals::waiting(), POLLIN, 0},
                                    pollfd{descriptor_, POLLIN, 0}};
    if (poll(wanted.data(), wanted.size(), -1) < 0) {
      if (errno == EINTR) continue;
      break;
    }
    if (const int signal = Signals::take()) {
      if (signal == SIGINT) {
        stop_ = Stop::Interrupted;
        return std::nullopt;
      }
      on_change_(signal == SIGCONT ? Change::Continued : Change::Resized);
      continue;
    }
    char result = 0;
    const ssize_t count = read(descriptor_, &result, 1);
    if (count == 1) return result;
    if (count == 0 || (errno != EINTR && errno != EAGAIN)) break;
  }
  stop_ = Stop::End;
  return std::nullopt;
}

std::optional<wchar_t> KeyInput::character(char first) {
  std::mbstate_t state{};
  wchar_t result = 0;
  char c = first;
  for (bool is_first = true;; is_first = false) {
    const std::size_t length = std::mbrtowc(&result, &c, 1, &state);
    if (length == 0 || length == 1) return result;
    if (length == static_cast<std::size_t>(-1)) {
      // The byte that does not fit may begin the next character.
      if (!is_first) pushed_back_ = c;
      return kReplacement;
    }
    const auto following = byte();
    if (!following) return std::nullopt;
    c = *following;
  }
}

// What stands behind an ESC. A sequence has no end mark but its shape (ECMA-48, 5.4).
void KeyInput::read_sequence() {
  const auto second = byte();
  if (!second) return;
  if (*second == kEscape) {  // Alt with an arrow, on some terminals
    pushed_back_ = kEscape;
    return;
  }
  if (*second != '[' && *second != 'O') {
    ready_.push_back(kEscape);
    if (const auto letter = character(*second)) ready_.push_back(*letter);
    return;
  }
  std::string sequence{kEscape, *second};
  constexpr std::size_t kLongest = 32;
  while (sequence.size() < kLongest) {
    const auto next = byte();
    if (!next) return;
    sequence += *next;
    const bool is_parameter = *next >= ' ' && *next <= '?';
    if (!is_parameter) break;
  }
  if (is_bound_(sequence)) ready_.insert(ready_.end(), sequence.begin(), sequence.end());
}

std::optional<wchar_t> KeyInput::next() {
  stop_ = Stop::None;
  while (ready_.empty()) {
    const auto first = byte();
    if (first && *first == kEscape) {
      read_sequence();
    } else if (first) {
      if (const auto letter = character(*first)) ready_.push_back(*letter);
    }
    if (stop_ != Stop::None) {
      ready_.clear();
      pushed_back_.reset();
      return std::nullopt;
    }
  }
  const wchar_t result = ready_.front();
  ready_.pop_front();
  return result;
}

}  // namespace relay::repl
