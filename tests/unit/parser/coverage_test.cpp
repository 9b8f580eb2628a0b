// Every rule of the grammars is matched by some golden file: what no test reads, nobody knows to
// work.

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>

#include <catch2/catch.hpp>
#include <tao/pegtl/demangle.hpp>
#include <tao/pegtl/visit.hpp>

#include "interp/stack.h"
#include "parser/actions.h"

namespace {

namespace p = tao::pegtl;
namespace grammar = relay::parser::grammar;

std::map<std::string_view, std::size_t>& matches() {
  static std::map<std::string_view, std::size_t> counts;
  return counts;
}

template <class Rule>
struct counting : p::normal<Rule> {
  static constexpr bool enable = true;
  template <class Input, class... States>
  static void success(const Input&, States&&...) {
    ++matches()[p::demangle<Rule>()];
  }
};

// Only what has a name of its own: `relay::parser::grammar::call`, no template's instances.
template <class Rule>
struct enter {
  static void visit(std::map<std::string_view, std::size_t>& counts) {
    const std::string_view name = p::demangle<Rule>();
    if (name.starts_with("relay::parser::grammar::") && name.find('<') == std::string_view::npos)
      counts.try_emplace(name, 0);
  }
};

template <class Rule>
void read_counting(const relay::lang::Source& source, bool strict) {
  relay::parser::SyntaxTree tree;
  tree.source = &source;
  tree.strict = strict;
  relay::parser::Builder builder(tree, true);
  p::memory_input<p::tracking_mode::lazy, p::eol::lf, const char*> in(
      source.text().data(), source.text().data() + source.text().size(), "");
  try {
    p::parse<Rule, grammar::action, counting>(in, builder);
  } catch (relay::parser::SyntaxStop&) {
    // Files about errors: what was read before counts.
  }
}

void read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  const relay::lang::Source source(path.string(), text.str());
  const bool strict = source.text().find("#[version") == 0;
  relay::interp::EvaluationStack::instance().run([&] {
    if (strict) {
      read_counting<grammar::strict_file>(source, true);
    } else {
      read_counting<grammar::light_file>(source, false);
    }
  });
}

}  // namespace

TEST_CASE("every rule of the grammars is matched by some golden file") {
  matches().clear();
  p::visit<grammar::strict_file, enter>(matches());
  p::visit<grammar::light_file, enter>(matches());
  REQUIRE(matches().size() > 100);
  for (const auto& entry : std::filesystem::recursive_directory_iterator("tests/golden")) {
    if (entry.path().extension() == ".relay") read_file(entry.path());
  }
  for (const auto& [name, count] : matches()) {
    CAPTURE(name);
    CHECK(count > 0);
  }
}
