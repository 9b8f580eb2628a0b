// Keys at random for the prompt's editor, in process: after each of them its text, its cursor and
// the emulated screen are what a model of them says, which edits a list of characters and wraps
// them by counting. RELAY_SEED and RELAY_COUNT: which cases, and how many.

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "repl/editor/editor.h"
#include "repl/editor/view.h"
#include "tests/support/isolated_cases.h"
#include "tests/support/random.h"
#include "tests/support/replay.h"
#include "tests/support/screen.h"
#include "tests/support/typed_script.h"

namespace {

using namespace relay::repl::editor;  // NOLINT: the program's own file
using namespace relay::tests;         // NOLINT

constexpr std::string_view kKeys[] = {
    "a",         "Z",           "9",
    " ",         "_",           "(",
    "é",         "日",          "😀",
    "<Left>",    "<Right>",     "<Home>",
    "<End>",     "<C-a>",       "<C-e>",
    "<M-Enter>", "<M-Enter>",   "<Up>",
    "<Down>",    "<C-k>",       "<C-u>",
    "<C-y>",     "<Backspace>", "<Delete>",
    "<C-_>",     "<F9>",        "<Paste>one<Break>日 2<Break></Paste>"};

std::vector<std::string> keys_of(std::uint64_t seed) {
  Random random(seed);
  std::vector<std::string> keys;
  for (std::size_t i = 20 + random.below(200); i > 0; --i)
    keys.emplace_back(kKeys[random.below(std::size(kKeys))]);
  return keys;
}

// A list of characters, and where the cursor is among them.
struct Model {
  std::vector<std::string> characters;
  std::size_t cursor = 0;
  std::vector<std::string> cut;
  bool cuts = false;  // was the last key one that cuts?
  std::vector<Model> before;
  bool types = false;  // was it a letter?

  static int width(const std::string& c) { return c == "日" || c == "😀" ? 2 : 1; }
  bool is_break(std::size_t at) const { return characters[at] == "\n"; }
  std::size_t begin(std::size_t at) const {
    while (at > 0 && !is_break(at - 1)) --at;
    return at;
  }
  std::size_t end(std::size_t at) const {
    while (at < characters.size() && !is_break(at)) ++at;
    return at;
  }
  std::string text() const {
    std::string all;
    for (const std::string& c : characters) all += c;
    return all;
  }
  std::size_t offset() const {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < cursor; ++i) bytes += characters[i].size();
    return bytes;
  }

  void change() {
    Model state{characters, cursor, {}, false, {}, false};
    before.push_back(std::move(state));
  }
  void insert(const std::vector<std::string>& more) {
    if (more.empty()) return;
    characters.insert(characters.begin() + static_cast<std::ptrdiff_t>(cursor), more.begin(),
                      more.end());
    cursor += more.size();
  }
  void erase(std::size_t first, std::size_t last) {
    if (first == last) return;
    change();
    characters.erase(characters.begin() + static_cast<std::ptrdiff_t>(first),
                     characters.begin() + static_cast<std::ptrdiff_t>(last));
    cursor = first;
  }
  void kill(std::size_t first, std::size_t last, bool cut_before, bool in_front) {
    if (first == last) return;
    const std::vector<std::string> taken(characters.begin() + static_cast<std::ptrdiff_t>(first),
                                         characters.begin() + static_cast<std::ptrdiff_t>(last));
    if (!cut_before) cut.clear();
    cut.insert(in_front ? cut.begin() : cut.end(), taken.begin(), taken.end());
    erase(first, last);
  }
  void go_to_line(std::size_t first, int column) {
    cursor = first;
    int here = 0;
    while (cursor < characters.size() && !is_break(cursor) &&
           (here += width(characters[cursor])) <= column)
      ++cursor;
  }
  int column() const {
    int columns = 0;
    for (std::size_t i = begin(cursor); i < cursor; ++i) columns += width(characters[i]);
    return columns;
  }

  void press(std::string_view key) {
    const bool cut_before = std::exchange(cuts, false);
    const bool typed_before = std::exchange(types, false);
    const std::size_t first = begin(cursor);
    const std::size_t last = end(cursor);
    if (key == "<Left>") cursor -= cursor > 0 ? 1 : 0;
    if (key == "<Right>") cursor += cursor < characters.size() ? 1 : 0;
    if (key == "<Home>" || key == "<C-a>") cursor = first;
    if (key == "<End>" || key == "<C-e>") cursor = last;
    if (key == "<Up>" && first > 0) go_to_line(begin(first - 1), column());
    if (key == "<Down>" && last < characters.size()) go_to_line(last + 1, column());
    if (key == "<Backspace>") erase(cursor - (cursor > 0 ? 1 : 0), cursor);
    if (key == "<Delete>") erase(cursor, cursor + (cursor < characters.size() ? 1 : 0));
    if (key == "<M-Enter>") change(), insert({"\n"});
    if (key == "<C-k>" || key == "<C-u>") {
      const bool forward = key == "<C-k>";
      const std::size_t to = cursor == last && last < characters.size() ? last + 1 : last;
      kill(forward ? cursor : first, forward ? to : cursor, cut_before, !forward);
      cuts = true;
    }
    if (key == "<C-y>" && !cut.empty()) change(), insert(cut);
    if (key.starts_with("<Paste>")) change(), insert({"o", "n", "e", "\n", "日", " ", "2"});
    if (key == "<C-_>" && !before.empty()) {
      characters = before.back().characters;
      cursor = before.back().cursor;
      before.pop_back();
    }
    if (key[0] != '<') {
      if (!typed_before) change();
      insert({std::string(key)});
      types = true;
    }
  }

  // The rows of the screen, and the cursor, as `row column` behind them.
  std::string rows(int columns) const {
    std::string all = "relay> ";
    int column = 7;
    int row = 0;
    std::string place;
    for (std::size_t i = 0; i <= characters.size(); ++i) {
      const bool is_end = i == characters.size() || is_break(i);
      if (column + (is_end ? 1 : width(characters[i])) > columns && (!is_end || i == cursor)) {
        all += '\n', ++row, column = 0;
      }
      if (i == cursor) place = fmt::format("{} {}", row, column);
      if (i == characters.size()) break;
      if (is_end) {
        all += "\n  ...> ", ++row, column = 7;
      } else {
        all += characters[i], column += width(characters[i]);
      }
    }
    std::string trimmed;
    for (const char c : all + '\n') {
      if (c == '\n') trimmed.erase(trimmed.find_last_not_of(' ') + 1);
      trimmed += c;
    }
    return trimmed.erase(trimmed.find_last_not_of('\n') + 1) + '\n' + place;
  }
};

std::string run(std::uint64_t seed) {
  constexpr int kRows = 400;  // all of it fits
  Random random(seed);
  const int columns = 9 + static_cast<int>(random.below(40));
  History history("");
  Editor editor({[](std::string_view, bool) { return true; }, [] { return false; }, nullptr},
                history);
  View view({kRows, static_cast<std::size_t>(columns), true, true});
  Screen screen(kRows, columns);
  Model model;
  KeyDecoder decoder;
  for (const std::string& key : keys_of(seed)) {
    if (key == "<F9>") {
      for (const char byte : std::string_view("\x1b[20~")) decoder.feed(byte);
    } else {
      for (const char byte : bytes_of_keys(key)) decoder.feed(byte);
    }
    while (const auto next = decoder.next()) editor.on_key(*next);
    if (key != "<F9>") model.press(key);
    screen.feed(view.draw(editor.scene()));
    const std::string wanted =
        fmt::format("{}|{}\n{}", model.text(), model.offset(), model.rows(columns));
    const std::string actual = fmt::format("{}|{}\n{}\n{} {}", editor.text(), editor.cursor(),
                                           screen.text(), screen.row(), screen.column());
    if (wanted != actual)
      return fmt::format("after {} in {} columns, expected\n{}\nbut there is\n{}", key, columns,
                         wanted, actual);
  }
  return "";
}

std::string describe(std::uint64_t seed) {
  std::string text = "keys:";
  for (const std::string& key : keys_of(seed)) text += ' ' + key;
  return text;
}

}  // namespace

int main(int, char** argv) {
  try {
    IsolatedCases cases;
    cases.name = "texts edited";
    cases.first = first_seed();
    cases.count = case_count(300, 50);
    cases.batch = 100;
    cases.describe = describe;
    cases.check = run;
    return run_isolated(cases);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 2;
  }
}
