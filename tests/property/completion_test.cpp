// Completion against programs: wherever a program uses a name, what can be completed from its first
// letters has that name. And whatever a text is cut to, completion answers.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "lang/source.h"
#include "parser/read.h"
#include "parser/syntax.h"
#include "repl/session.h"
#include "tests/support/program_files.h"
#include "tests/support/property.h"
#include "tests/support/random.h"

namespace relay::tests {
namespace {

namespace fs = std::filesystem;
using parser::Node;
using parser::Syntax;

// The file with blanks in the place of its `:commands`, which are no part of the language.
std::string read_program(const fs::path& path) {
  std::ifstream file(path);
  std::string text;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(':')) line.clear();
    text += line + '\n';
  }
  return text;
}

struct Use {
  std::size_t begin;
  std::size_t end;
};

// The names of a program that stand where they have a meaning already: no names of what is bound
// there, no keys of attributes of functions, and nothing in a pattern but constructors.
class Uses {
 public:
  explicit Uses(const parser::SyntaxTree& tree) : tree_(tree) { visit(*tree.root); }
  const std::vector<Use>& list() const { return uses_; }

 private:
  void use(const Node& node) { uses_.push_back({node.begin, node.end}); }
  void visit_from(const Node& node, std::size_t first) {
    for (std::size_t i = first; i < node.count; ++i) visit(*node.child(i));
  }
  void pattern(const Node& node) {
    switch (node.kind) {
      case Syntax::Name:
        if (std::isupper(static_cast<unsigned char>(tree_.text(node).front()))) use(node);
        return;
      case Syntax::TypedPattern:
        visit_from(node, 1);
        return;
      case Syntax::ConstructorPattern:
      case Syntax::RecordPattern:
        use(*node.child(0));
        for (std::size_t i = 1; i < node.count; ++i) pattern(*node.child(i));
        return;
      case Syntax::FieldPattern:
        pattern(*node.child(1));
        return;
      case Syntax::TuplePattern:
        for (const Node* each : node.children()) pattern(*each);
        return;
      default:
        return;
    }
  }
  void visit(const Node& node) {
    switch (node.kind) {
      case Syntax::Name:
        use(node);
        return;
      case Syntax::Dotted:
        for (const Node* each : node.children()) use(*each);
        return;
      case Syntax::Attr:
        // `x=1` among parameters declares, and among arguments it names a parameter.
        if (!in_params_ && node.child(0)->kind == Syntax::Name) use(*node.child(0));
        visit_from(node, 1);
        return;
      case Syntax::Params:
        in_params_ = true;
        for (const Node* each : node.children()) {
          in_params_ = each->kind == Syntax::Attr;
          visit(*each);
        }
        in_params_ = false;
        return;
      case Syntax::Param:
      case Syntax::Binder:
      case Syntax::Constructor:
        visit_from(node, 1);
        return;
      case Syntax::RecordFields:
        for (std::size_t i = 1; i < node.count; i += 2) visit(*node.child(i));
        return;
      case Syntax::Let:
      case Syntax::TopLet:
      case Syntax::Arm:
        pattern(*node.child(0));
        visit_from(node, 1);
        return;
      case Syntax::Schedule:
        if (node.count > 1 && node.child(1)->kind == Syntax::ScheduleParams) {
          visit_from(node, 2);
        } else {
          visit_from(node, 0);
        }
        return;
      case Syntax::Tangent:
        visit_from(node, 0);
        return;
      case Syntax::Def:
      case Syntax::TypeDef:
      case Syntax::ExternType:
        visit_from(node, 1);
        return;
      case Syntax::TypeParams:
      case Syntax::Import:
      case Syntax::FreeVar:
      case Syntax::Meta:
        return;
      default:
        visit_from(node, 0);
        return;
    }
  }

  const parser::SyntaxTree& tree_;
  std::vector<Use> uses_;
  bool in_params_ = false;
};

// Does a candidate stand for this use, be it with what is before it, as in `nn.softmax`, or with
// `=` behind it? A namespace stands for what is in it.
bool has_name(const repl::Completions& found, std::string_view text, const Use& use) {
  if (found.begin > use.begin) return false;
  const std::string_view whole = text.substr(found.begin, use.end - found.begin);
  return std::any_of(
      found.candidates.begin(), found.candidates.end(), [&](const repl::Candidate& each) {
        std::string_view name = each.text;
        if (name.ends_with(" = ")) name.remove_suffix(3);
        if (name.ends_with("=") || name.ends_with(".")) name.remove_suffix(1);
        const bool is_space = name.starts_with(whole) && name.substr(whole.size()).starts_with(".");
        return name == whole || is_space;
      });
}

repl::Session& session_in(const std::string& folder) {
  static std::map<std::string, std::unique_ptr<repl::Session>> sessions;
  auto& session = sessions[folder];
  if (!session) {
    repl::SessionOptions options;
    options.jit = interp::JitMode::Off;
    options.search_path = {folder};
    session = std::make_unique<repl::Session>(std::move(options));
  }
  return *session;
}

bool is_inside_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Where the imports of a golden file are, which it may say (tests/README.md).
std::string folder_of_imports(const fs::path& path, const std::string& text) {
  const std::string key = "// folder: ";
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return path.parent_path().string();
  const std::size_t begin = at + key.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

struct Tally {
  std::size_t uses = 0;
  std::size_t found = 0;
  std::vector<std::string> missed = {};
};

void complete_uses(const fs::path& path, Random& random, std::size_t most, Tally& tally) {
  const lang::Source source(path.string(), read_program(path));
  const std::string text(source.text());
  if (text.starts_with("#[version") || text.find("args: --strict") != std::string::npos) return;
  const parser::SyntaxTree tree = parser::read_text(source, false, true);
  if (!tree.errors.empty()) return;
  std::vector<Use> uses = Uses(tree).list();
  repl::Session& session = session_in(folder_of_imports(path, text));
  for (std::size_t i = 0; i < std::min(most, uses.size()); ++i) {
    std::swap(uses[i], uses[i + random.below(uses.size() - i)]);
    const Use use = uses[i];
    const std::size_t length = use.end - use.begin;
    std::size_t kept = length == 1 ? 1 : 1 + random.below(length - 1);
    while (use.begin + kept < use.end && is_inside_character(text[use.begin + kept])) ++kept;
    const std::string cut = text.substr(0, use.begin + kept) + text.substr(use.end);
    const auto found = session.complete(cut, use.begin + kept);
    ++tally.uses;
    if (has_name(found, text, use)) {
      ++tally.found;
    } else {
      const auto place = source.position(static_cast<std::uint32_t>(use.begin));
      tally.missed.push_back(fmt::format("{}:{}:{}: `{}` from {} letters", path.string(),
                                         place.line, place.column, text.substr(use.begin, length),
                                         kept));
    }
  }
}

}  // namespace

// RELAY_ALL_USES=1 looks at every use, and lists those whose name is not found.
TEST_CASE("the name at a place is among what can be completed there", "[completion]") {
  const bool all = std::getenv("RELAY_ALL_USES") != nullptr;
  Tally tally;
  for (const std::uint64_t seed : seeds(1)) {
    Random random(seed);
    for (const fs::path& path : program_files()) {
      if (path.filename().string().starts_with("bad_")) continue;
      complete_uses(path, random, all ? 1'000'000 : 4, tally);
    }
  }
  std::string missed;
  for (const std::string& each : tally.missed) missed += each + "\n";
  if (all) std::cout << missed << tally.found << " of " << tally.uses << " found\n";
  INFO(missed << tally.found << " of " << tally.uses << " found");
  CHECK(tally.uses > 500);
  CHECK(static_cast<double>(tally.found) > 0.99 * static_cast<double>(tally.uses));
}

TEST_CASE("whatever a text is cut to, completion answers", "[completion]") {
  const std::vector<fs::path> paths = program_files();
  for (const std::uint64_t seed : seeds(400)) {
    Random random(seed);
    const fs::path& path = paths[random.below(paths.size())];
    std::ifstream file(path);
    const std::string whole((std::istreambuf_iterator<char>(file)), {});
    // A piece from anywhere, so that closing brackets without opening ones are there, too.
    const std::size_t begin = random.below(3) == 0 ? random.below(whole.size() + 1) : 0;
    std::string text = whole.substr(begin, 1 + random.below(3000));
    if (!text.empty() && random.below(2) == 0)
      text[random.below(text.size())] = static_cast<char>(random.below(256));
    const std::size_t cursor = random.below(text.size() + 1);
    INFO(path << " from " << begin << ", seed " << seed);
    repl::Session& session = session_in(path.parent_path().string());
    const std::size_t before = session.module().definitions().size();
    const repl::Completions found = session.complete(text, cursor);
    CHECK(found.begin <= found.end);
    CHECK(found.end == cursor);
    CHECK(session.module().definitions().size() == before);
    const repl::Completions again = session.complete(text, cursor);
    REQUIRE(again.candidates.size() == found.candidates.size());
  }
}

}  // namespace relay::tests
