// Keys at the prompt as nobody types them, on a pseudo-terminal: letters, control keys, arrows,
// sequences that end in the middle, halves of characters, pasted lines, other sizes of the window.
// However it was treated, after Ctrl-C it answers `1 + 1`, and Ctrl-D at an empty line leaves.
// RELAY_SEED and RELAY_COUNT: which sessions, and how many.

#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tests/support/isolated_cases.h"
#include "tests/support/random.h"
#include "tests/support/replay.h"
#include "tests/support/typed_program.h"

namespace {

using namespace relay;         // NOLINT: the program's own file
using namespace relay::tests;  // NOLINT

constexpr int kRows = 24;
constexpr int kColumns = 80;
constexpr int kAttempts = 3;
constexpr int kPatience = 20;  // seconds for each
constexpr std::chrono::milliseconds kMoment{2000};

constexpr std::string_view kWords[] = {
    "1 + 1\r",
    "def f(x) { x * 2.0 }\r",
    "f(",
    ":ty",
    ":type f\r",
    ":help\r",
    "[1.0, 2.0",
    "match (x) {\r",
    "größe 日本 😀",
    "\"a text",
    "// a comment\r",
    "def forever(n: int32) -> int32 { forever(n + 1) }\rforever(0)\r",
    "for i < 4 { sum k < 2000000000 { sin(cast(k + i, dtype=\"float32\")) } }\r",
    "let x = [[1.0, 2.0],\n  [3.0, 4.0]]\nx @ x\n",
    "if (True) {\n  1\n}\nelse {\n  2\n}\n",
    "\x1b[200~def g(x) {\n  x\n}\ng(1)\n\x1b[201~",
    "\x1b[200~never ended",
};

constexpr std::string_view kSequences[] = {
    "\x1b[A",
    "\x1b[B",
    "\x1b[C",
    "\x1b[D",
    "\x1b[H",
    "\x1b[F",
    "\x1b[3~",
    "\x1bOA",
    "\x1bOD",
    "\x1b[1;5C",
    "\x1b[1;5D",
    "\x1b[5~",
    "\x1b[Z",
    "\x1b[15~",
    "\x1b"
    "b",
    "\x1b"
    "f",
    "\x1b"
    "d",
    "\x1b\x7f",
    "\x1b",
    "\x1b[",
    "\x1bO",
    "\x1b[9",
    "\x1b[999999999C",
    "\xc3",
    "\xe6\x97",
    "\xff\xfe",
    "\xf0\x9f\x98",
};

// Not Ctrl-Z and Ctrl-\, which stop and end it as they should, and not Ctrl-S, which stops the
// terminal.
constexpr std::string_view kControls =
    "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x14\x15\x16\x17\x18"
    "\x19\x1d\x1e\x1f\x7f";

struct Key {
  std::string bytes;
  int rows = 0;  // another size of the window, if not 0
  int columns = 0;
};

std::vector<Key> keys_of(std::uint64_t seed) {
  Random random(seed);
  std::vector<Key> keys;
  for (std::size_t i = 1 + random.below(80); i > 0; --i) {
    Key key;
    switch (random.below(12)) {
      case 0:
      case 1:
      case 2:
        key.bytes = kControls[random.below(kControls.size())];
        break;
      case 3:
      case 4:
      case 5:
        key.bytes = kSequences[random.below(std::size(kSequences))];
        break;
      case 6:
      case 7:
        key.bytes = kWords[random.below(std::size(kWords))];
        break;
      case 8:
        key.rows = 2 + static_cast<int>(random.below(60));
        key.columns = 2 + static_cast<int>(random.below(200));
        break;
      case 9:  // any bytes but those that stop it
        for (std::size_t k = random.below(20); k > 0; --k) {
          const char byte = static_cast<char>(random.below(256));
          if (!std::memchr("\x1a\x1c\x13", byte, 3)) key.bytes += byte;
        }
        break;
      default:
        for (std::size_t k = 1 + random.below(12); k > 0; --k)
          key.bytes += static_cast<char>(' ' + random.below(95));
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

std::string describe(const std::vector<Key>& keys) {
  std::string text = "keys:";
  for (const Key& key : keys) {
    text += ' ';
    if (key.rows) text += fmt::format("<{}x{}>", key.rows, key.columns);
    for (const char byte : key.bytes) {
      const auto code = static_cast<unsigned char>(byte);
      text += code > ' ' && code < 0x7f && code != '\\' ? std::string(1, byte)
                                                        : fmt::format("\\x{:02x}", code);
    }
  }
  return text;
}

// Without what colours and moves.
std::string plain(std::string_view output) {
  std::string text;
  for (std::size_t i = 0; i < output.size(); ++i) {
    if (output[i] != '\x1b') {
      if (output[i] != '\r') text += output[i];
      continue;
    }
    if (i + 1 < output.size() && output[i + 1] != '[') {
      ++i;
      continue;
    }
    for (i += 2; i < output.size() && (output[i] < '@' || output[i] > '~'); ++i) continue;
  }
  return text;
}

// May the keys have ended it so? By Ctrl-D and `:quit`, and by Ctrl-C three times before what ran
// has answered the first.
bool may_have_ended(const std::vector<Key>& keys, int status) {
  std::string all;
  for (const Key& key : keys) all += key.bytes;
  if (status == 0) return all.find_first_of("\x04:") != std::string::npos;
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGINT &&
         std::count(all.begin(), all.end(), '\x03') >= 2;
}

std::string how_it_ended(int status) {
  return WIFSIGNALED(status) ? fmt::format("killed by signal {}", WTERMSIG(status))
                             : fmt::format("exit code {}", WEXITSTATUS(status));
}

class Typist {
 public:
  explicit Typist(const std::string& home)
      : program_({relay_program(), "--threads=1", "--root=" + home},
                 {{{"HOME", home}, {"TERM", "xterm"}, {"LC_ALL", "C.UTF-8"}},
                  kRows,
                  kColumns,
                  kPatience}) {}

  std::string run(const std::vector<Key>& keys) {
    if (!answers("", "relay> ")) return "there is no prompt";
    for (const Key& key : keys) {
      if (key.rows) program_.resize(key.rows, key.columns);
      program_.type(key.bytes);
    }
    program_.resize(kRows, kColumns);
    // Time to take them, as Ctrl-C drops those that are not.
    program_.wait([](const Screen&) { return false; }, kMoment / 10);
    // What still runs is stopped, and a line is given up, with keys that come at the same moment.
    // The prompt that comes then may not be seen: the terminal drops what has not been read when
    // Ctrl-C is pressed.
    bool is_answered = false;
    for (int i = 0; i < kAttempts && !is_answered; ++i) {
      if (i > 0) tally("asked again");
      const std::size_t from = program_.output().size();
      program_.type("\x03");
      program_.wait([&](const Screen&) { return since(from).ends_with("relay> "); }, kMoment);
      is_answered = answers(fmt::format("{} + 1\r", 20000 + i), fmt::format("{} :", 20001 + i));
      if (program_.has_ended()) {
        const int status = *program_.wait_for_end();
        const bool is_right = may_have_ended(keys, status);
        if (is_right) tally("ended by a key");
        return is_right ? "" : how_it_ended(status) + ":\n" + last_output();
      }
    }
    if (!is_answered) return "no answer:\n" + last_output();
    program_.type("\x04");
    const auto status = program_.wait_for_end();
    if (!status) return "Ctrl-D does not leave:\n" + last_output();
    return *status == 0 ? "" : how_it_ended(*status);
  }

 private:
  std::string since(std::size_t from) const {
    return plain(std::string_view(program_.output()).substr(from));
  }
  bool answers(std::string_view keys, std::string_view wanted) {
    const std::size_t from = program_.output().size();
    program_.type(keys);
    return program_.wait([&](const Screen&) {
      return program_.has_ended() || since(from).find(wanted) != std::string::npos;
    });
  }
  std::string last_output() const {
    constexpr std::size_t kMost = 1500;
    const std::string text = since(0);
    return text.substr(text.size() - std::min(text.size(), kMost));
  }

  TypedProgram program_;
};

}  // namespace

int main(int, char** argv) {
  try {
    IsolatedCases cases;
    cases.name = "sessions of keys";
    cases.first = first_seed();
    cases.count = case_count(20, 8);
    cases.batch = 20;
    cases.describe = [](std::uint64_t seed) { return describe(keys_of(seed)); };
    cases.check = [](std::uint64_t seed) {
      const TemporaryFolder home;
      return Typist(home.path()).run(keys_of(seed));
    };
    return run_isolated(cases);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 2;
  }
}
