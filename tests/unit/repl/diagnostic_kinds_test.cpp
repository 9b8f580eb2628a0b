// Every kind of diagnostic is documented, and some test holds its place and its text.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include <catch2/catch.hpp>

#include "lang/diagnostic.h"
#include "repl/explain.h"

namespace relay::repl {
namespace {

namespace fs = std::filesystem;

// Kinds that no golden file can hold, and which test does.
const std::map<std::string, std::string> kElsewhere = {
    // The limit differs from build to build.
    {"NestingTooDeep", "tests/unit/parser/light_test.cpp"},
    // Without a limit of its own a test would take a quarter of the machine's memory.
    {"StackOverflow", "tests/unit/interp/stack_test.cpp"},
    // Only `relay check` leaves files unread.
    {"UnreadFile", "tests/cli/sandbox.out"},
    // Files may take what names they like.
    {"HiddenBuiltin", "tests/repl/forget.out"},
    // Somebody must press Ctrl-C.
    {"Interrupted", "tests/cli/interrupt.out"},
    // Rules are read by the passes.
    {"BadRule", "tests/cli/rewrite.out"},
    // A limit must have been set.
    {"OutOfTime", "tests/cli/limits.out"},
};

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The kinds that `// expect-error PLACE KIND: MESSAGE` comments name.
void add_expected(const std::string& text, std::set<std::string>& kinds) {
  const std::string key = "// expect-error ";
  for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
    const std::size_t kind = text.find(' ', at + key.size()) + 1;
    kinds.insert(text.substr(kind, text.find_first_of(": \n", kind) - kind));
  }
}

std::set<std::string> expected_somewhere() {
  std::set<std::string> kinds;
  for (const auto& entry : fs::recursive_directory_iterator("tests/golden")) {
    if (entry.path().extension() == ".relay") add_expected(read(entry.path()), kinds);
  }
  add_expected(read("docs/errors.md"), kinds);
  return kinds;
}

std::string all_kinds(std::size_t i) {
  return std::string(lang::name_of(static_cast<lang::DiagnosticKind>(i)));
}

TEST_CASE("every kind of diagnostic has a section in docs/errors.md") {
  const std::string page = read("docs/errors.md");
  CHECK(embedded_pages().front().text == page);
  for (std::size_t i = 0; i < lang::kDiagnosticKindCount; ++i) {
    const std::string kind = all_kinds(i);
    INFO(kind);
    const std::string_view section = section_of(page, kind);
    CHECK(!section.empty());
    if (kElsewhere.count(kind)) continue;
    std::set<std::string> shown;
    add_expected(std::string(section), shown);
    CHECK(shown == std::set<std::string>{kind});
  }
}

// Blocks that the tests run, and whether there is prose before the first and behind it.
struct Section {
  std::string run;
  bool explains = false;
  bool mends = false;
};

Section section_parts(std::string_view text) {
  Section section;
  std::istringstream lines{std::string(text)};
  bool in_block = false;
  bool is_run = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      in_block = !in_block;
      is_run = line.starts_with("```relay") || line.starts_with("```console");
    } else if (in_block) {
      if (is_run) section.run += line + '\n';
    } else if (!line.empty()) {
      (section.run.empty() ? section.explains : section.mends) = true;
    }
  }
  return section;
}

TEST_CASE("every kind of diagnostic has an explanation, an example that is run, and a mend") {
  const std::string page = read("docs/errors.md");
  for (std::size_t i = 0; i < lang::kDiagnosticKindCount; ++i) {
    const std::string kind = all_kinds(i);
    INFO(kind);
    const Section section = section_parts(section_of(page, kind));
    CHECK(section.explains);
    CHECK(section.run.find(kind) != std::string::npos);
    CHECK(section.mends);
  }
}

TEST_CASE("every kind of diagnostic is expected by a test") {
  const std::set<std::string> expected = expected_somewhere();
  for (std::size_t i = 0; i < lang::kDiagnosticKindCount; ++i) {
    const std::string kind = all_kinds(i);
    INFO(kind);
    const auto elsewhere = kElsewhere.find(kind);
    if (elsewhere == kElsewhere.end()) {
      CHECK(expected.count(kind) == 1);
    } else {
      CHECK(expected.count(kind) == 0);
      CHECK(read(elsewhere->second).find(kind) != std::string::npos);
    }
  }
}

TEST_CASE("explain finds a kind in any case and offers what is near") {
  const auto text = explain("broadcastmismatch");
  REQUIRE(text.ok());
  CHECK(text->starts_with("BroadcastMismatch\n"));
  CHECK(text->find("    error[BroadcastMismatch]: shapes ") != std::string::npos);
  CHECK(text->find("expect") == std::string::npos);
  const auto unknown = explain("BroadcastMissmatch");
  REQUIRE(!unknown.ok());
  CHECK(unknown.errors().front().notes ==
        std::vector<std::string>{"help: did you mean `BroadcastMismatch`?"});
}

}  // namespace
}  // namespace relay::repl
