// What passes make of a program grows with the program, and no faster.

#include <algorithm>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "lang/memory.h"
#include "repl/session.h"
#include "tests/support/family.h"
#include "tests/support/property.h"

namespace relay::tests {
namespace {

// def f1(x) { f0(f0(x)) } and so on: each level calls the one below twice.
std::string tower(int levels) {
  std::string text = "def f0(x: float32) -> float32 { x * 0.5 + 1.0 }\n";
  for (int i = 1; i < levels; ++i)
    text += fmt::format("def f{0}(x: float32) -> float32 {{ f{1}(f{1}(x)) }}\n", i, i - 1);
  return text;
}

std::int64_t lines_after_inlining(int levels) {
  repl::Session session{repl::SessionOptions{}};
  const auto errors = session.run("<tower>", tower(levels), nullptr);
  if (!errors.empty()) FAIL(rendered(errors));
  const auto inlined = session.optimised({.passes = "Inline"});
  if (!inlined) FAIL(rendered(inlined.errors()));
  CHECK(inlined->generic.empty());
  return std::count(inlined->text.begin(), inlined->text.end(), '\n');
}

TEST_CASE("inlining a tower of calls is linear in its levels") {
  const std::int64_t few = lines_after_inlining(12);
  const std::int64_t many = lines_after_inlining(24);
  INFO("12 levels: " << few << " lines, 24: " << many);
  CHECK(few > 12 * 8);  // something is inlined
  CHECK(many < 3 * few);
}

// A function whose body is a chain of `let`s, each made of the one before.
struct Chain {
  const char* name;
  const char* before;  // definitions that it uses
  const char* type;    // of the parameter and the variables
  const char* step;    // {0} is the number of the line, {1} the variable before
  const char* result;  // {0} is the last variable
  const char* argument;
};

const Chain kChains[] = {
    {"arithmetic", "", "float32", "sin({1}) * x", "{0}", "1.5"},
    {"tensors", "", "Tensor[(4), float32]", "tanh({1}) * x", "sum({0})", "[1.0, 2.0, 3.0, 4.0]"},
    {"branches", "", "float32", "if ({1} > {0}.0) {{ sin({1}) }} else {{ {1} * 0.5 }}", "{0}",
     "1.5"},
    {"side by side", "", "float32", "{1} + (if (x > {0}.0) {{ sin(x) }} else {{ x * 0.5 }})", "{0}",
     "1.5"},
    {"calls of a branch", "def g(x: float32) {{ if (x > 0.0) {{ x * 0.5 }} else {{ x }} }}\n",
     "float32", "g({1})", "{0}", "1.5"},
    {"functions", "", "float32", "(fn (y) {{ y * {0}.0 + x }})({1})", "{0}", "1.5"},
    {"index notation", "", "Tensor[(4), float32]", "for i {{ {1}[i] * x[i] + 1.0 }}", "sum({0})",
     "[1.0, 2.0, 3.0, 4.0]"},
    {"matches", "", "float32", "match ({1}, x) {{ (p, q) => p * q }}", "{0}", "1.5"},
};

std::string program(const Chain& chain, int lines, const char* call) {
  std::string text = fmt::format(fmt::runtime(chain.before));
  text += fmt::format("def f(x: {}) -> float32 {{\n", chain.type);
  for (int i = 0; i < lines; ++i) {
    const std::string last = i == 0 ? "x" : fmt::format("a{}", i - 1);
    text += fmt::format("  let a{} = {};\n", i, fmt::format(fmt::runtime(chain.step), i, last));
  }
  text += fmt::format(fmt::runtime(chain.result), fmt::format("a{}", lines - 1)) + "\n}\n";
  return text + fmt::format(fmt::runtime(call), chain.argument) + "\n";
}

std::int64_t allocations_of(const std::string& text) {
  repl::Session session{repl::SessionOptions{}};
  const std::int64_t before = lang::allocations_made();
  const auto errors = session.run("<chain>", text, nullptr);
  const std::int64_t count = lang::allocations_made() - before;
  if (!errors.empty()) FAIL(text << rendered(errors));
  return count;
}

// 240 lines more cost twice what 120 lines more cost where all passes are linear, and 3.2 times
// where the dearest is quadratic. The shortest program is longer than what is inlined.
void check_linear(const Chain& chain, const char* call) {
  const std::int64_t one = allocations_of(program(chain, 240, call));
  const std::int64_t two = allocations_of(program(chain, 360, call));
  const std::int64_t four = allocations_of(program(chain, 600, call));
  INFO(chain.name << ", " << call << ": " << one << ", " << two << ", " << four);
  CHECK(two - one > 120);  // each line costs something
  CHECK(four - two < (two - one) * 5 / 2);
}

TEST_CASE("to check and run a chain of lets costs the same for each line") {
  for (const Chain& chain : kChains) check_linear(chain, "f({})");
}

// The same inside of index notation, whose body is a graph: each line uses two of those before it.
struct BodyChain {
  const char* name;
  const char* around;  // {0} are the lines
  const char* first;
  const char* step;    // {0} is the number of the line, {1} and {2} the variables before
  const char* result;  // {0} is the last variable
};

const BodyChain kBodyChains[] = {
    {"a sum of all points", "sum(for i < 20 {{ {0} }})", "x[i]", "sin({1}) * {1} + cos({2})",
     "{0}"},
    {"a reduction", "sum i < 20 {{ {0} }}", "x[i]", "sin({1}) * {1} + cos({2})", "{0}"},
    {"an extreme", "max i < 20 {{ {0} }}", "x[i]", "sin({1}) * {1} + cos({2})", "{0}"},
    {"a reduction inside", "sum(for i < 20 {{ sum k < 20 {{ {0} }} }})", "x[i] * x[k]",
     "sin({1}) * {1} + cos({2})", "{0}"},
    {"a logarithm of sums", "sum i < 20 {{ log(1.0 + sum k < 20 {{ exp({0}) }}) }}", "x[i] * x[k]",
     "0.9 * {1} + tanh({2})", "{0}"},
    {"after a reduction", "sum i < 20 {{ {0} }}", "sum k < 20 {{ x[i] * x[k] }}",
     "sin({1}) * {1} + cos({2})", "{0}"},
    {"choices", "sum(for i < 20 {{ {0} }})", "x[i]",
     "if {1} > 0.1 {{ {1} * {2} }} else {{ sin({1}) }}", "{0}"},
    {"a read in each line", "sum(for i < 20 {{ {0} }})", "x[i]",
     "sin({1}) * x[(i + {0}) % 20] + {2}", "{0}"},
    {"rows", "sum(for i < 20 {{ {0} }})", "x * x[i]", "sin({1}) * {1} + cos({2})", "sum({0})"},
    {"a tuple", "let (p, q) = for i < 20 {{ {0} }}; sum(p) + sum(q * q)", "x[i]",
     "sin({1}) * {1} + cos({2})", "({0}, {0} * 2.0)"},
};

std::string program(const BodyChain& chain, int lines, const char* call) {
  std::string body = fmt::format("let a0 = {}; ", fmt::format(fmt::runtime(chain.first)));
  for (int i = 1; i < lines; ++i) {
    const std::string before = fmt::format("a{}", i - 1);
    const std::string second = fmt::format("a{}", std::max(i - 2, 0));
    body +=
        fmt::format("let a{} = {}; ", i, fmt::format(fmt::runtime(chain.step), i, before, second));
  }
  body += fmt::format(fmt::runtime(chain.result), fmt::format("a{}", lines - 1));
  return fmt::format(
      "def f(x: Tensor[(20), float32]) {{ {} }}\n"
      "let x = for i < 20 {{ cast(i, dtype=\"float32\") / 20.0 }}\n{}\n",
      fmt::format(fmt::runtime(chain.around), body), call);
}

// What looks at such a graph as at a tree does not come to an end here.
void check_linear(const BodyChain& chain, const char* call) {
  const std::int64_t one = allocations_of(program(chain, 40, call));
  const std::int64_t two = allocations_of(program(chain, 60, call));
  const std::int64_t four = allocations_of(program(chain, 100, call));
  INFO(chain.name << ", " << call << ": " << one << ", " << two << ", " << four);
  CHECK(two - one > 20);
  CHECK(four - two < (two - one) * 3);
}

TEST_CASE("bodies and their derivatives cost the same for each line") {
  for (const BodyChain& chain : kBodyChains) {
    for (const char* call : {"f(x)", "grad(f)(x)", "jvp(f)(x, x)", "jvp(grad(f))(x, x)",
                             "grad(fn (x) { sum(grad(f)(x)) })(x)"})
      check_linear(chain, call);
  }
}

// `if … else if …`, whose branches share a value and read the same elements.
std::string branches_in_a_row(int count, const char* call) {
  std::string text;
  for (int i = count; i > 0; --i)
    text += fmt::format("if x[i] > {0}.0 / 200.0 {{ y * {0}.0 / x[i] }} else ", i);
  return fmt::format(
      "def f(x: Tensor[(20), float32]) {{ sum i < 20 {{ let y = sin(x[i]); {}{{ y }} }} }}\n"
      "let x = for i < 20 {{ 0.1 + cast(i, dtype=\"float32\") / 20.0 }}\n{}\n",
      text, call);
}

TEST_CASE("branches in a row and their derivatives cost the same each") {
  for (const char* call : {"f(x)", "grad(f)(x)", "jvp(f)(x, x)"}) {
    const std::int64_t one = allocations_of(branches_in_a_row(40, call));
    const std::int64_t two = allocations_of(branches_in_a_row(60, call));
    const std::int64_t four = allocations_of(branches_in_a_row(100, call));
    INFO(call << ": " << one << ", " << two << ", " << four);
    CHECK(two - one > 20);
    CHECK(four - two < (two - one) * 3);
  }
}

// --- Families ---

struct Cost {
  std::int64_t allocations;
  bool is_refused;
};

// Also of a program that is refused, if that is because a named limit was reached.
Cost cost_up_to_a_limit(const std::string& text) {
  repl::Session session{repl::SessionOptions{}};
  const std::int64_t before = lang::allocations_made();
  const auto errors = session.run("<family>", text, nullptr);
  const std::int64_t count = lang::allocations_made() - before;
  for (const lang::Diagnostic& error : errors) {
    const bool is_limit = error.kind == lang::DiagnosticKind::TypeTooLarge ||
                          error.kind == lang::DiagnosticKind::Unsupported;
    if (!is_limit) FAIL_CHECK(text << rendered({error}));
  }
  return {count, !errors.empty()};
}

// Twice the size costs four times as much at most, as where each level is copied once, and nothing
// of a hundred lines more than a few hundred milliseconds.
TEST_CASE("no family of short programs costs more than the square of its size") {
  constexpr std::int64_t kSome = 30'000;
  constexpr std::int64_t kMost = 10'000'000;
  for (const Family& family : families()) {
    const Cost one = cost_up_to_a_limit(program_of(family, 24));
    const Cost two = cost_up_to_a_limit(program_of(family, 48));
    const Cost four = cost_up_to_a_limit(program_of(family, 96));
    INFO(family.name << ": " << one.allocations << ", " << two.allocations << ", "
                     << four.allocations << (four.is_refused ? ", refused" : ""));
    CHECK(four.allocations < kMost);
    if (four.is_refused) continue;
    CHECK(four.allocations - two.allocations < 5 * (two.allocations - one.allocations) + kSome);
  }
}

// Each of its sums waits for the extents of as many axes as the other reads away: they wake each
// other, and each runs once for all that woke it.
TEST_CASE("operators that wait for many unknowns do not run for each of them again and again") {
  const Cost cost = cost_up_to_a_limit(R"(
def f0(x) { x[0] }
def f2(x) { f0(f0(f0(f0(x)))) }
def a(x) { for i < 2 { f2(f2(x)) } }
def c(x) { a(a(a(a(e(x))))) }
def d(x) { f2(f2(f2(f2(c(c(x)))))) }
def e(x) { d(d(x) + x + x) }
def g(x) { e(e(x)) }
)");
  CHECK(!cost.is_refused);
  CHECK(cost.allocations < 500'000);
}

TEST_CASE("the gradient of a chain of lets costs the same for each line") {
  for (const Chain& chain : kChains) check_linear(chain, "grad(f)({})");
}

}  // namespace
}  // namespace relay::tests
