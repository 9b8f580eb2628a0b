// Memory that runs out, at every place where it is asked for: the n-th allocation fails, for n
// after n, until a program gets by without an n-th. Each time there is an error of ours, and the
// session lives. RELAY_FAULTS=all tries every n, else some of them.

#include <cstdlib>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "lang/memory.h"
#include "lang/stop.h"
#include "repl/session.h"
#include "tests/support/property.h"
#include "tests/support/text_diff.h"

namespace relay::tests {
namespace {

struct Program {
  const char* name;
  const char* text;  // entries, with an empty line between
  interp::JitMode jit = interp::JitMode::Auto;
};

constexpr Program kPrograms[] = {
    {"arithmetic", "let x = [[1.0, 2.0], [3.0, 4.0]]\nx * x + 1.0"},
    {"definitions", "def f(x) { x * x }\ndef g(x) { f(f(x)) }\ng(3.0)"},
    {"gradient", "def f(x) { sum(sin(x) * x) }\ngrad(f)([1.0, 2.0, 3.0])"},
    {"data",
     "type List[a] { Nil, Cons(a, List[a]) }\n"
     "def total(l: List[int32]) -> int32 { match l { Nil => 0, Cons(h, t) => h + total(t) } }\n"
     "total(Cons(1, Cons(2, Nil)))"},
    {"index notation",
     "let a = [[1.0, 2.0], [3.0, 4.0]]\nfor i, j { sum k { a[i, k] * a[k, j] } }"},
    {"second order", "grad(grad(fn (x: float32) { x * x * x }))(2.0)"},
    {"closures", "def twice(f) { fn (x) { f(f(x)) } }\ntwice(fn (x) { x * 2.0 })(1.5)"},
    {"references",
     "let r = ref(1.0)\ndef bump() { ref_write(r, ref_read(r) * 2.0) }\nbump()\nref_read(r)"},
    {"errors", "def f(x) { x + [1.0, 2.0, 3.0] }\nf([1.0, 2.0])\nlet y = nonsense(1)"},
    {"redefinitions",
     "def f(x) { x * x }\ndef g(x) { f(f(x)) }\ng(3.0)\n\ndef f(x) { x + 1.0 }\n\ng(3.0)\n\n"
     "def g(x) { for i < 3 { f(x[i]) } }\ng([1.0, 2.0, 3.0])\n\ndef f(x) { sin(x) }"},
    {"native functions",
     "def f(n: int32, x: float32) -> float32 { if (n <= 0) { x } else { f(n - 1, x * 0.5) } }\n"
     "f(40, 1.0)\n\ndef f(n: int32, x: float32) -> float32 { x }\n\nf(40, 1.0)",
     interp::JitMode::Always},
    {"operators", "nn.softmax([[1.0, 2.0], [3.0, 4.0]])\nargsort([3.0, 1.0, 2.0])"},
};

constexpr std::int64_t kSome = 25;  // failures of a program, in a run of all tests

repl::SessionOptions options_of(const Program& program) {
  repl::SessionOptions options;
  options.jit = program.jit;
  return options;
}

struct Entry {
  std::string file = "<program>";
  std::string text;
};

std::vector<Entry> entries_of(const Program& program) {
  std::vector<Entry> entries(1);
  for (const std::string& line : split_lines(program.text)) {
    if (line.empty())
      entries.emplace_back();
    else
      entries.back().text += line + '\n';
  }
  return entries;
}

// How many were told to stop. Allocates nothing of its own.
std::int64_t run(repl::Session& session, std::vector<Entry>& entries) {
  std::int64_t stopped = 0;
  for (Entry& entry : entries) {
    const auto errors = session.run(std::move(entry.file), std::move(entry.text), nullptr);
    for (const lang::Diagnostic& error : errors) stopped += lang::is_stop(error.kind) ? 1 : 0;
  }
  return stopped;
}

// How many allocations the program makes when all is well.
std::int64_t allocations_of(const Program& program) {
  repl::Session session(options_of(program));
  std::vector<Entry> entries = entries_of(program);
  lang::fail_allocation(0);
  run(session, entries);
  return lang::fail_allocation(0);
}

TEST_CASE("the n-th allocation fails, and the session says so and lives") {
  const char* const wanted = std::getenv("RELAY_FAULTS");
  const bool wants_all = wanted && std::string(wanted) == "all";
  for (const Program& program : kPrograms) {
    const std::int64_t count = allocations_of(program);
    const std::int64_t step = wants_all ? 1 : std::max<std::int64_t>(count / kSome, 1);
    std::int64_t reported = 0;
    for (std::int64_t n = 1; n <= count; n += step) {
      INFO(program.name << ", allocation " << n << " of " << count);
      repl::Session session(options_of(program));
      std::vector<Entry> entries = entries_of(program);
      lang::fail_allocation(n);
      reported += run(session, entries);
      lang::fail_allocation(0);
      const auto two = session.evaluate("1 + 1");
      if (!two) FAIL(rendered(two.errors()));
      const auto again = session.run("<program>", "let kept = 20\nkept + 1", nullptr);
      if (!again.empty()) FAIL(rendered(again));
    }
    INFO(program.name);
    CHECK(reported > 0);
    if (wants_all) fmt::print("{}: {} allocations, {} reported\n", program.name, count, reported);
  }
}

}  // namespace
}  // namespace relay::tests
