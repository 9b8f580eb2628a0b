// Imported files that are edited between the entries of a session.

#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "repl/session.h"
#include "tests/support/typed_program.h"

namespace relay::repl {
namespace {

class Prompt {
 public:
  Prompt() : session_(options()) {}

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.path() + "/" + name, std::ios::binary) << text;
  }
  // What it shows, else its first error or warning: `Kind: message`.
  std::string enter(const std::string& text) {
    shown_.clear();
    const auto errors = session_.run("<entry>", text, [&](const ItemResult& result) {
      if (result.kind == parser::ItemKind::Expression) shown_ = lang::to_string(result.value);
    });
    if (!errors.empty()) note(errors);
    return shown_;
  }

 private:
  void note(const std::vector<lang::Diagnostic>& found) {
    shown_ = std::string(lang::name_of(found.front().kind)) + ": " + found.front().message;
  }
  SessionOptions options() {
    SessionOptions options;
    options.search_path = {folder_.path()};
    options.warn = [this](const auto& warnings) { note(warnings); };
    return options;
  }

  tests::TemporaryFolder folder_;
  std::string shown_;
  Session session_;
};

TEST_CASE("an imported file that was edited is read again, by whatever way it is imported") {
  Prompt prompt;
  prompt.write("edited_a.relay",
               "import \"edited_b.relay\"\nlet base = 10\n"
               "def up(x) = add_some(x) + base\n");
  prompt.write("edited_b.relay", "def add_some(x) = x + 1\n");
  CHECK(prompt.enter("import \"edited_a.relay\"; up(1)") == "12");
  CHECK(prompt.enter("def mine(x: int32) { up(x) * 2 }").empty());
  CHECK(prompt.enter("mine(1)") == "24");
  prompt.write("edited_b.relay", "def add_some(x) = x + 2\n");
  CHECK(prompt.enter("mine(1)") == "24");
  CHECK(prompt.enter("import \"edited_a.relay\"; mine(1)") == "26");
}

TEST_CASE("what no longer fits an edited file is told, and a file with a mistake changes nothing") {
  Prompt prompt;
  prompt.write("edited.relay", "let base = 10\ndef up(x) = x + base\n");
  CHECK(prompt.enter("import \"edited.relay\"; def mine(x: int32) { up(x) * 2 }").empty());
  prompt.write("edited.relay", "let base = 20\ndef up(x, y) = x + y + base\n");
  CHECK(prompt.enter("import \"edited.relay\"") ==
        "StaleDefinition: `edited.up` has changed, and `mine` does not fit it any more");
  CHECK(prompt.enter("up(1, 2)") == "23");
  prompt.write("edited.relay", "let base = 30\ndef up(x) = nope(x)\n");
  CHECK(prompt.enter("import \"edited.relay\"") == "UnknownName: unknown name `nope`");
  prompt.write("edited.relay", "let base = 30\ndef up(x) = x + [base, 1.5] + True\n");
  CHECK(prompt.enter("import \"edited.relay\"").starts_with("DTypeMismatch"));
  CHECK(prompt.enter("up(1, 2)") == "23");
  CHECK(prompt.enter("base") == "20");
  prompt.write("edited.relay", "def down(x) = x\n");
  CHECK(prompt.enter("import \"edited.relay\"").starts_with("StaleDefinition"));
  CHECK(prompt.enter("down(1)") == "1");
  CHECK(prompt.enter("up(1, 2)") == "UnknownName: unknown name `up`");
}

}  // namespace
}  // namespace relay::repl
