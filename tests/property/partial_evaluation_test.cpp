// The partial evaluator keeps values to the bit (derivatives up to rounding), and what is printed:
// of generated programs, of calls of them all of which is known, and of the expressions of the
// golden files and examples.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "parser/notation.h"
#include "repl/session.h"
#include "tests/support/program_files.h"
#include "tests/support/property.h"
#include "tests/support/shrink.h"

namespace relay::tests {
namespace {

constexpr const char* kPasses = "PartialEvaluate,DeadCodeElimination ";

// A session that keeps what is printed.
struct Printing {
  std::string printed;
  repl::Session session;

  Printing() : session(options()) {}

  repl::SessionOptions options() {
    repl::SessionOptions made;
    made.jit = interp::JitMode::Off;
    made.write = [this](std::string_view text) { printed += text; };
    return made;
  }

  // What was printed, and the value or the kinds of errors; all NaNs are one.
  std::string run(const std::string& text) {
    printed.clear();
    auto value = session.evaluate(text);
    if (value) return printed + lang::to_string(*value);
    std::string kinds;
    for (const auto& error : value.errors()) kinds += std::string(lang::name_of(error.kind)) + "\n";
    return printed + kinds;
  }
};

// The text of the functions, or of the expression, after the passes; else says why not.
std::string after_passes(repl::Session& session, const std::string& expression,
                         std::string& trouble) {
  auto passed = session.optimised({.passes = kPasses + expression});
  if (passed) return passed->text;
  trouble = "the passes: " + rendered(passed.errors());
  return "";
}

// The same text, but for the rounding of numbers where `is_rounded`.
bool agree(const std::string& a, const std::string& b, bool is_rounded) {
  if (a == b || !is_rounded) return a == b;
  const char* x = a.c_str();
  const char* y = b.c_str();
  while (*x && *y) {
    char* behind_x = nullptr;
    char* behind_y = nullptr;
    const double one = std::strtod(x, &behind_x);
    const double other = std::strtod(y, &behind_y);
    const bool is_number = behind_x > x && behind_y > y;
    if (is_number && std::abs(one - other) > 1e-9 * (1 + std::abs(one))) return false;
    if (!is_number && *x != *y) return false;
    x = is_number ? behind_x : x + 1;
    y = is_number ? behind_y : y + 1;
  }
  return *x == *y;
}

// What is wrong; empty if nothing is.
std::string trouble_of(const RandomProgram& program) {
  Printing before;
  const auto errors = before.session.run("<program>", program.text, nullptr);
  if (!errors.empty()) return rendered(errors);
  const std::string expected = before.run(program.call);
  // Without an annotation that printing drops it may have no types.
  const auto typed = before.session.optimised({.passes = "InferType"});
  Printing again;
  if (!typed || !again.session.run("<typed>", typed->text, nullptr).empty()) return "";
  std::string trouble;
  const std::string text = after_passes(before.session, "", trouble);
  if (!trouble.empty()) return trouble;
  Printing after;
  const auto wrong = after.session.run("<passed>", text, nullptr);
  if (!wrong.empty()) return text + "\n" + rendered(wrong);
  const std::string found = after.run(program.call);
  // Code that differentiation has made may be regrouped, in one way before and in another behind.
  const bool is_rounded = program.uses(Feature::Gradient);
  if (!agree(expected, found, is_rounded)) return text + "\n" + expected + "\nbecomes " + found;
  // The arguments are known now.
  const std::string call = after_passes(before.session, program.call, trouble);
  if (!trouble.empty()) return trouble;
  Printing closed;
  if (!closed.session.run("<program>", program.text, nullptr).empty()) return "it ran before";
  std::string last;
  const auto bad = closed.session.run("<call>", call, [&](const repl::ItemResult& item) {
    if (item.kind == parser::ItemKind::Expression) last = lang::to_string(item.value);
  });
  if (!bad.empty()) return call + "\n" + rendered(bad);
  return agree(expected, last, is_rounded) ? "" : call + "\n" + expected + "\nbecomes " + last;
}

void check_programs(const ProgramOptions& drawn, std::size_t count, const char* test) {
  for (const std::uint64_t seed : seeds(count)) {
    const RandomProgram program = random_program(seed, drawn);
    if (trouble_of(program).empty()) continue;
    const RandomProgram smallest = shrunk(
        program, drawn, [](const RandomProgram& smaller) { return !trouble_of(smaller).empty(); });
    FAIL_CHECK(replay(smallest, test) << "\n" << trouble_of(smallest));
  }
}

TEST_CASE("partial evaluation keeps the bits of generated programs") {
  ProgramOptions drawn;
  drawn.smooth = false;
  drawn.scalar_result = false;
  check_programs(drawn, 120, "partial evaluation keeps the bits of generated programs");
}

TEST_CASE("partial evaluation keeps the bits of programs with references") {
  ProgramOptions drawn;
  drawn.smooth = false;
  drawn.references = true;
  check_programs(drawn, 120, "partial evaluation keeps the bits of programs with references");
}

TEST_CASE("partial evaluation keeps the bits of programs of combinators") {
  ProgramOptions drawn;
  drawn.combinators = true;
  check_programs(drawn, 60, "partial evaluation keeps the bits of programs of combinators");
}

// Nobody can write down what is left: a name that an import does not give, a list of tensors of
// several extents without its type.
constexpr const char* kUnwritable[] = {"imports.relay", "list_of_layers.relay"};

// The expressions of a file, as texts.
std::optional<std::vector<std::string>> expressions_of(repl::Session& session,
                                                       const std::string& path) {
  std::vector<std::string> texts;
  const auto errors = session.run_file(path, [&](const repl::ItemResult& item) {
    if (item.kind == parser::ItemKind::Expression) texts.emplace_back(item.span.text());
  });
  if (!errors.empty()) return std::nullopt;
  return texts;
}

TEST_CASE("partial evaluation keeps values and output of the golden files and examples") {
  std::size_t compared = 0;
  for (const std::filesystem::path& path : program_files()) {
    const std::string folder = path.parent_path().string();
    const bool is_run = folder == "tests/golden/run" || folder.starts_with("examples");
    const bool is_unwritable = std::find(std::begin(kUnwritable), std::end(kUnwritable),
                                         path.filename()) != std::end(kUnwritable);
    if (!is_run || folder.ends_with("imports") || is_unwritable) continue;
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (parser::is_strict(lang::Source(path.string(), text), parser::Notation::Auto)) continue;
    // The same expressions in two sessions: as they are, and after the passes.
    Printing before;
    Printing after;
    const auto texts = expressions_of(before.session, path.string());
    if (!texts || !expressions_of(after.session, path.string())) continue;
    for (const std::string& expression : *texts) {
      INFO(path.string() << ": " << expression);
      // What it names may be something else by the end of the file, and not every string can be
      // printed.
      auto as_it_was = after.session.optimised({.passes = "InferType " + expression});
      if (!as_it_was || !after.session.type_of(as_it_was->text)) continue;
      std::string trouble;
      const std::string passed = after_passes(after.session, expression, trouble);
      CHECK(trouble == "");
      if (!trouble.empty()) continue;
      const std::string expected = before.run(expression);
      std::string last;
      after.printed.clear();
      const auto errors = after.session.run("<passed>", passed, [&](const repl::ItemResult& item) {
        if (item.kind == parser::ItemKind::Expression) last = lang::to_string(item.value);
      });
      INFO(passed);
      CHECK(rendered(errors) == "");
      CHECK(after.printed + last == expected);
      ++compared;
    }
  }
  CHECK(compared > 200);
}

// What is left of a program, in light notation.
std::string left_of(const std::string& text, const std::string& passes) {
  Printing printing;
  const auto errors = printing.session.run("<program>", text, nullptr);
  if (!errors.empty()) FAIL(rendered(errors));
  const auto passed = printing.session.optimised({.passes = passes});
  if (!passed) FAIL(rendered(passed.errors()));
  return passed->text;
}

// A straight-line function of `steps` operators, differentiated as Relay does it to the higher
// order: each number is (value, ref(gradient)), and `bp` holds the function that runs backwards.
std::string higher_order_gradient(int steps) {
  std::string text =
      "def main(x: float32) {\n"
      "  let bp = ref(fn () -> () { () });\n"
      "  let d0 = (x, ref(0.0));\n";
  for (int i = 1; i <= steps; ++i) {
    text += fmt::format(
        "  let d{0} = (d{1}.0 * sin(d{2}.0), ref(0.0));\n"
        "  let old{0} = ref_read(bp);\n"
        "  ref_write(bp, fn () {{\n"
        "    let g = ref_read(d{0}.1);\n"
        "    ref_write(d{1}.1, ref_read(d{1}.1) + g * sin(d{2}.0));\n"
        "    ref_write(d{2}.1, ref_read(d{2}.1) + g * d{1}.0 * cos(d{2}.0));\n"
        "    old{0}()\n"
        "  }});\n",
        i, i - 1, i / 2);
  }
  return text + fmt::format(
                    "  ref_write(d{0}.1, 1.0);\n"
                    "  let back = ref_read(bp);\n"
                    "  back();\n"
                    "  (d{0}.0, ref_read(d0.1))\n}}\n",
                    steps);
}

TEST_CASE("nothing is left of the references and functions of a straight-line gradient") {
  for (const int steps : {1, 2, 7, 40}) {
    const std::string text = left_of(higher_order_gradient(steps), kPasses);
    INFO(text);
    CHECK(text.find("ref") == std::string::npos);
    CHECK(text.find("fn") == std::string::npos);
    const auto lines = std::count(text.begin(), text.end(), '\n');
    CHECK(lines < 10 * steps + 10);
  }
}

TEST_CASE("partial evaluation of what doubles at each level grows with max_size only") {
  std::string text = "def f0(x: float32) -> float32 { sin(x) }\n";
  constexpr int kLevels = 24;
  for (int i = 1; i < kLevels; ++i)
    text +=
        fmt::format("def f{0}(x: float32) -> float32 {{ f{1}(x) + f{1}(x * 2.0) }}\n", i, i - 1);
  text += fmt::format("def main(x: float32) {{ f{}(x) }}\n", kLevels - 1);
  const std::string unused = ",RemoveUnusedFunctions";
  const std::size_t none = left_of(text, "PartialEvaluate(max_size=0)" + unused).size();
  for (const int most : {100, 1000, 4000}) {
    const std::string passes = fmt::format("PartialEvaluate(max_size={})", most) + unused;
    const std::size_t size = left_of(text, passes).size();
    INFO(most << " nodes: " << size << " bytes");
    // Each function of the module may grow.
    CHECK(size < none + static_cast<std::size_t>(kLevels * most) * 12);
  }
}

TEST_CASE("partial evaluation ends where the program does not") {
  for (const char* text : {
           "def f(x: float32) -> float32 { f(x) }\ndef main() { f(1.0) }\n",
           "def f(n: int32) -> int32 { f(n + 1) }\ndef main() { f(0) }\n",
           "def f(n: int32) -> int32 { f(-n) }\ndef main() { f(5) }\n",
           "def f(xs: List[int32]) -> int32 { f(Cons(1, xs)) }\ndef main() { f(Nil) }\n",
           "def f(n: int32, m: int32) -> int32 { if n == 0 { g(m, 9) } else { f(n - 1, m) } }\n"
           "def g(n: int32, m: int32) -> int32 { if n == 0 { f(m, 9) } else { g(n - 1, m) } }\n"
           "def main() { f(9, 9) }\n",
           "def main(x: float32) { let r = ref(fn (y: float32) { y }); ref_write(r, fn (y: "
           "float32) "
           "{ ref_read(r)(y + 1.0) }); let f = ref_read(r); f(x) }\n",
       }) {
    INFO(text);
    CHECK(left_of(text, kPasses).find("main") != std::string::npos);
  }
}

}  // namespace
}  // namespace relay::tests
