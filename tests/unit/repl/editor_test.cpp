// Keys become an entry, without a terminal and without a parser: an entry is complete with a `;`.

#include "repl/editor/editor.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "repl/editor/paste.h"
#include "tests/support/typed_script.h"

namespace relay::repl::editor {
namespace {

using Outcome = Editor::Outcome;

Completions words_that_fit(std::string_view text, std::size_t cursor) {
  std::size_t begin = cursor;
  while (begin > 0 && text[begin - 1] >= 'a' && text[begin - 1] <= 'z') --begin;
  Completions found{begin, cursor, {}};
  for (const char* word : {"softmax", "softplus", "sort", "tanh"})
    if (std::string_view(word).starts_with(text.substr(begin, cursor - begin)))
      found.candidates.push_back({word, "an operator"});
  return found;
}

struct Typing {
  explicit Typing(const std::vector<std::string>& entries = {}) : history("") {
    for (const std::string& entry : entries) history.add(entry);
    editor.clear();
  }

  Outcome type(std::string_view keys) {
    Outcome outcome = Outcome::Editing;
    KeyDecoder decoder;
    for (const char byte : tests::bytes_of_keys(keys)) {
      decoder.feed(byte);
      while (const auto key = decoder.next()) outcome = editor.on_key(*key);
    }
    return outcome;
  }
  // The text, with a `|` where the cursor is.
  std::string shown() const {
    std::string text = editor.text();
    return text.insert(editor.cursor(), "|");
  }
  std::string notes() const {
    std::string text;
    for (const Scene::Note& note : editor.scene().notes)
      text += (note.is_selected ? ">" : "") + note.text + ' ';
    return text;
  }

  History history;
  bool has_more = false;
  Editor editor{{[](std::string_view text, bool) { return text.find(';') != std::string::npos; },
                 [this] { return has_more; }, words_that_fit},
                history};
};

TEST_CASE("editor: enter runs what is complete, and begins a line in what is not") {
  Typing typing;
  CHECK(typing.type("a<Enter>b") == Outcome::Editing);
  CHECK(typing.shown() == "a\nb|");
  CHECK(typing.type(";<M-Enter>") == Outcome::Editing);
  CHECK(typing.shown() == "a\nb;\n|");
  CHECK(typing.type("<Up><Up><Enter>") == Outcome::Entry);
  CHECK(typing.editor.text() == "a\nb;\n");
}

TEST_CASE("editor: an empty line at the end of a block abandons it, unless it is being pasted") {
  Typing typing;
  CHECK(typing.type("a<Enter><Enter>") == Outcome::Abandoned);
  typing.editor.clear();
  typing.has_more = true;
  CHECK(typing.type("a<Enter><Enter>b") == Outcome::Editing);
  CHECK(typing.shown() == "a\n\nb|");
}

TEST_CASE("editor: ctrl-d leaves, ends a block, and deletes") {
  Typing typing;
  CHECK(typing.type("<C-d>") == Outcome::End);
  CHECK(typing.type("ab<Left><C-d>") == Outcome::Editing);
  CHECK(typing.shown() == "a|");
  CHECK(typing.type("<C-d>") == Outcome::Editing);
  CHECK(typing.type("<Enter><C-d>") == Outcome::Entry);
}

TEST_CASE("editor: what is cut comes back") {
  Typing typing;
  typing.type("alpha beta gamma<C-w><C-w>x<C-y>");
  CHECK(typing.shown() == "alpha xbeta gamma|");
  typing.type("<C-a><M-d><C-e><C-y>");
  CHECK(typing.shown() == " xbeta gammaalpha|");
  typing.type("<M-y>");
  CHECK(typing.shown() == " xbeta gammabeta gamma|");
  typing.type("<C-_>");
  CHECK(typing.shown() == " xbeta gammaalpha|");
  typing.type("<C-u>one<Enter>two<Up><C-k>");
  CHECK(typing.shown() == "one|two");
}

TEST_CASE("editor: up and down move in the block before they leave it") {
  Typing typing({"old;", "first\nsecond;", "other;"});
  typing.type("<Up><Up>");
  CHECK(typing.shown() == "first\nsecond;|");
  typing.type("<Up>");
  CHECK(typing.shown() == "first|\nsecond;");
  typing.type("<Up>");
  CHECK(typing.shown() == "old;|");
  typing.type("<Down><Down><Down>");
  CHECK(typing.shown() == "|");
  typing.type("<PageUp><PageUp><PageUp>");
  CHECK(typing.shown() == "old;|");
}

TEST_CASE("editor: up finds what begins so") {
  Typing typing({"let a = 1;", "sum(a);", "let b = 2;"});
  typing.type("let<Up><Up>");
  CHECK(typing.shown() == "let a = 1;|");
  typing.type("<Up>");
  CHECK(typing.shown() == "let a = 1;|");
  typing.type("<Down><Down>");
  CHECK(typing.shown() == "let|");
  typing.type("<Up>X<C-_><C-_>");
  CHECK(typing.shown() == "let|");
}

TEST_CASE("editor: ctrl-r finds what has it inside, ever older, and lets go") {
  Typing typing({"let a = 1;", "sum(a);", "a + 1;"});
  typing.type("draft<C-r>a");
  CHECK(typing.shown() == "|a + 1;");
  CHECK(typing.notes() == "search: a ");
  typing.type("<C-r>");
  CHECK(typing.shown() == "sum(|a);");
  typing.type(" = ");
  CHECK(typing.shown() == "let |a = 1;");
  typing.type("?");
  CHECK(typing.notes() == "search: a = ?   (not found) ");
  typing.type("<Backspace><C-g>");
  CHECK(typing.shown() == "draft|");
  CHECK(typing.type("<C-r>sum<Enter>") == Outcome::Entry);
  CHECK(typing.editor.text() == "sum(a);");
}

TEST_CASE("editor: tab writes what is sure, lists the rest, and goes through it") {
  Typing typing;
  typing.type("x = s<Tab>");
  CHECK(typing.shown() == "x = so|");
  CHECK(typing.notes() == "softmax softplus sort ");
  typing.type("<Tab>");
  CHECK(typing.shown() == "x = softmax|");
  CHECK(typing.notes() == ">softmax softplus sort ");
  typing.type("<Tab><Tab><Tab><S-Tab>");
  CHECK(typing.shown() == "x = sort|");
  typing.type("(");
  CHECK(typing.shown() == "x = sort(|");
  CHECK(typing.notes().empty());
  typing.type("t<Tab>");
  CHECK(typing.shown() == "x = sort(tanh|");
  CHECK(typing.notes().empty());
}

TEST_CASE("editor: an open list narrows as letters follow, and candidates come by themselves") {
  Typing typing;
  typing.type("s<Tab>f<Tab>");
  CHECK(typing.shown() == "soft|");
  CHECK(typing.notes() == "softmax softplus ");
  typing.type("m");
  CHECK(typing.notes() == "softmax ");
  typing.type("<C-u>so");
  CHECK(typing.notes().empty());
  typing.editor.suggest();
  CHECK(typing.notes() == "softmax softplus sort ");
  typing.type(" ");
  CHECK(typing.notes().empty());
}

TEST_CASE("editor: tab at the beginning of a line is two blanks") {
  Typing typing;
  typing.type("a<Enter><Tab>b");
  CHECK(typing.shown() == "a\n  b|");
}

TEST_CASE("a pasted text keeps its tabs and loses what controls") {
  CHECK(pasted_text("a\r\n\tb\x1b[A\rc\n\n") == "a\n\tb[A\nc");
  CHECK(pasted_text("\n").empty());
}

TEST_CASE("of a pasted transcript the inputs are left") {
  CHECK(pasted_text("Relay 0.1\nrelay> let x = 1\nx : int32\nrelay> def f(x) {\n  ...>   x\n  "
                    "...> \n  ...> }\nf : fn\nrelay>\n") == "let x = 1\ndef f(x) {\n  x\n\n}");
  CHECK(pasted_text("x relay> y") == "x relay> y");
}

}  // namespace
}  // namespace relay::repl::editor
