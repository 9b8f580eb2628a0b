// `relay fmt` keeps the program, its comments, and what it has formatted: over every golden file,
// example and file of the standard library, as they are and with comments strewn in.

#include "parser/format.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "lang/alpha_equal.h"
#include "lang/print.h"
#include "lang/source.h"
#include "parser/parse.h"
#include "repl/session.h"
#include "tests/support/program_files.h"
#include "tests/support/property.h"

namespace relay::tests {
namespace {

namespace fs = std::filesystem;

// The file without its `:commands`, which are no part of the language.
std::string read_program(const fs::path& path) {
  std::ifstream file(path);
  std::string text;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(':')) text += line + '\n';
  }
  return text;
}

enum class What { Code, Text, Comment };

// Calls `see(what, piece)` for the pieces of a program in their order.
template <class F>
void split(const std::string& text, F&& see) {
  const bool strict = text.starts_with("#[version");
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t begin = at;
    What what = What::Code;
    if (text[at] == '"') {
      what = What::Text;
      for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\' && !strict;
      ++at;
    } else if (text.compare(at, 2, "//") == 0) {
      what = What::Comment;
      at = std::min(text.find('\n', at), text.size());
    } else if (text.compare(at, 2, "/*") == 0) {
      what = What::Comment;
      int depth = 0;
      do {
        const bool opens = text.compare(at, 2, "/*") == 0;
        const bool closes = text.compare(at, 2, "*/") == 0;
        depth += opens ? 1 : (closes ? -1 : 0);
        at += opens || closes ? 2 : 1;
      } while (depth > 0 && at < text.size());
    } else {
      ++at;
    }
    see(what, text.substr(begin, std::min(at, text.size()) - begin));
  }
}

std::vector<std::string> comments_of(const std::string& text) {
  std::vector<std::string> comments;
  split(text, [&](What what, std::string piece) {
    if (what != What::Comment) return;
    piece.erase(piece.find_last_not_of(" \t\r") + 1);
    comments.push_back(std::move(piece));
  });
  std::sort(comments.begin(), comments.end());
  return comments;
}

// With a block comment at every space between tokens.
std::string with_block_comments(const std::string& text) {
  std::string out;
  int count = 0;
  split(text, [&](What what, const std::string& piece) {
    out += piece;
    if (what == What::Code && piece == " ") out += "/* b" + std::to_string(++count) + " */ ";
  });
  return out;
}

// With a comment at the end of every line, and one on a line of its own behind it.
std::string with_line_comments(const std::string& text) {
  std::string out;
  int count = 0;
  bool is_comment = false;
  split(text, [&](What what, const std::string& piece) {
    if (what == What::Code && piece == "\n" && !is_comment) {
      ++count;
      out += " // e" + std::to_string(count) + "\n// o" + std::to_string(count);
    }
    out += piece;
    if (piece != " ") is_comment = what == What::Comment;
  });
  return out;
}

void check_same_program(const parser::Parsed& before, const parser::Parsed& after) {
  REQUIRE(before.items.size() == after.items.size());
  for (std::size_t i = 0; i < before.items.size(); ++i) {
    const parser::Item& a = before.items[i];
    const parser::Item& b = after.items[i];
    CHECK(a.kind == b.kind);
    CHECK(a.name == b.name);
    if (a.kind == parser::ItemKind::Expression) CHECK(a.hide_value == b.hide_value);
    // Constructors of the text's own types are equal by name only.
    if (a.expr && !lang::alpha_equal(a.expr, b.expr, true))
      CHECK(lang::print(a.expr) == lang::print(b.expr));
    CHECK(a.doc == b.doc);
    if (a.type_def) CHECK(lang::print_type_def(*a.type_def) == lang::print_type_def(*b.type_def));
  }
}

// The formatted text.
std::string check_format(lang::SourceStore& sources, const lang::Module& scope,
                         const std::string& text) {
  const auto before = parser::parse(*sources.add("<before>", text), scope);
  if (!before.ok()) return "";
  const auto formatted = parser::format(*sources.add("<before>", text));
  INFO(text);
  REQUIRE(formatted.ok());
  INFO(*formatted);
  const auto after = parser::parse(*sources.add("<after>", *formatted), scope);
  if (!after.ok()) CHECK(rendered(after.errors()) == "");
  REQUIRE(after.ok());
  check_same_program(*before, *after);
  CHECK(comments_of(text) == comments_of(*formatted));
  return *formatted;
}

void check_settled(lang::SourceStore& sources, const std::string& formatted) {
  if (formatted.empty()) return;
  const auto again = parser::format(*sources.add("<again>", formatted));
  REQUIRE(again.ok());
  CHECK(*again == formatted);
}

TEST_CASE("formatting keeps programs and comments, and what is formatted") {
  repl::Session session({});
  lang::SourceStore sources;
  int seen = 0;
  for (const fs::path& path : program_files()) {
    INFO("RELAY FILE: " << path);
    const std::string text = read_program(path);
    const std::string formatted = check_format(sources, session.module(), text);
    check_settled(sources, formatted);
    seen += formatted.empty() ? 0 : 1;
  }
  CHECK(seen > 50);
}

TEST_CASE("formatting keeps comments wherever they stand") {
  repl::Session session({});
  lang::SourceStore sources;
  for (const fs::path& path : program_files()) {
    INFO("RELAY FILE: " << path);
    const std::string text = read_program(path);
    check_settled(sources, check_format(sources, session.module(), with_block_comments(text)));
    check_settled(sources, check_format(sources, session.module(), with_line_comments(text)));
  }
}

TEST_CASE("formatting keeps generated programs, and what is formatted") {
  constexpr std::size_t kPrograms = 200;
  repl::Session session({});
  lang::SourceStore sources;
  for (const std::uint64_t seed : seeds(kPrograms)) {
    ProgramOptions options;
    options.smooth = seed % 2 == 0;
    options.references = true;
    options.combinators = seed % 3 == 0;
    const RandomProgram program = random_program(seed, options);
    INFO(replay(program, "formatting keeps generated programs*"));
    const std::string text = program.text + program.call + "\n";
    const std::string formatted = check_format(sources, session.module(), text);
    CHECK(formatted != "");
    check_settled(sources, formatted);
    check_settled(sources, check_format(sources, session.module(), with_block_comments(text)));
    check_settled(sources, check_format(sources, session.module(), with_line_comments(text)));
  }
}

}  // namespace
}  // namespace relay::tests
