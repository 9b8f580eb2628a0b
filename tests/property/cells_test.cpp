// Programs that make and free millions of cells, in both tiers: the memory in use is afterwards
// what it was, and both give the same.

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "lang/cell_memory.h"
#include "lang/memory.h"
#include "repl/session.h"
#include "tests/support/property.h"

namespace relay::tests {
namespace {

const char* const kDefinitions = R"(
type Tree { Leaf, Node(Tree, int32, Tree) }
def build(n: int32, rest: List[int32]) -> List[int32] { if n == 0 { rest } else { build(n - 1, Cons(n, rest)) } }
def increased(xs: List[int32]) -> List[int32] { match xs { Nil => Nil, Cons(h, t) => Cons(h + 1, increased(t)) } }
def evens(xs: List[int32]) -> List[int32] {
  match xs { Nil => Nil, Cons(h, t) => if h % 2 == 0 { Cons(h, evens(t)) } else { evens(t) } }
}
def append(xs: List[int32], ys: List[int32]) -> List[int32] {
  match xs { Nil => ys, Cons(h, t) => Cons(h, append(t, ys)) }
}
def merge(xs: List[int32], ys: List[int32]) -> List[int32] {
  match xs {
    Nil => ys,
    Cons(x, xt) => match ys {
      Nil => xs,
      Cons(y, yt) => if x < y { Cons(x, merge(xt, ys)) } else { Cons(y, merge(xs, yt)) }
    }
  }
}
def total(xs: List[int32], sum: int32) -> int32 { match xs { Nil => sum, Cons(h, t) => total(t, sum + h) } }
def pairs(n: int32, rest: List[(int32, List[int32])]) -> List[(int32, List[int32])] {
  if n == 0 { rest } else { pairs(n - 1, Cons((n, Cons(n, Nil)), rest)) }
}
def firsts(xs: List[(int32, List[int32])], sum: int32) -> int32 {
  match xs { Nil => sum, Cons((n, _), t) => firsts(t, sum + n) }
}
def seconds(xs: List[(int32, List[int32])], sum: int32) -> int32 {
  match xs { Nil => sum, Cons((_, Cons(n, _)), t) => seconds(t, sum + n), Cons(_, t) => seconds(t, sum) }
}
def insert(t: Tree, k: int32) -> Tree {
  match t {
    Leaf => Node(Leaf, k, Leaf),
    Node(l, v, r) => if k < v { Node(insert(l, k), v, r) } else { if k > v { Node(l, v, insert(r, k)) } else { t } }
  }
}
def grown(n: int32, seed: int32, t: Tree) -> Tree {
  if n == 0 { t } else { grown(n - 1, (seed * 1103 + 12345) % 65536, insert(t, seed)) }
}
def weight(t: Tree) -> int32 { match t { Leaf => 0, Node(l, v, r) => weight(l) + v + weight(r) } }
def member(t: Tree, k: int32) -> bool {
  match t { Leaf => False, Node(l, v, r) => if k < v { member(l, k) } else { if k > v { member(r, k) } else { True } } }
}
def found(t: Tree, k: int32, sum: int32) -> int32 {
  if k == 0 { sum } else { found(t, k - 1, sum + if member(t, k) { 1 } else { 0 }) }
}
def divided(t: Tree, by: int32) -> Tree {
  match t {
    Leaf => Leaf,
    Node(Node(a, m, b), n, c) => Node(Node(divided(b, by - 1), m / by, a), n, c),
    Node(l, n, r) => Node(l, n, divided(r, by))
  }
}
def some(n: int32, xs: List[int32]) -> int32 {
  match xs { Nil => 0, Cons(h, _) => if n == 0 { h } else { some(n - 1, append(xs, Nil)) } }
}
)";

const std::vector<std::string> kCalls = {
    "total(increased(build(200000, Nil)), 0)",
    "total(evens(increased(build(200000, Nil))), 0)",
    "total(append(build(100000, Nil), build(100000, Nil)), 0)",
    "total(merge(build(50000, Nil), increased(build(50000, Nil))), 0)",
    "firsts(pairs(100000, Nil), 0) + seconds(pairs(100000, Nil), 0)",
    "let t = grown(3000, 7, Leaf)",
    "weight(t) + found(t, 30000, 0)",
    "some(200, build(100, Nil))",
    "weight(divided(t, 100))",
    "weight(divided(t, 2))",  // fails
    "weight(divided(grown(300, 7, Leaf), 2))",
    "let kept = build(100000, Nil)",
    "total(merge(kept, kept), 0) + total(increased(kept), 0) + total(kept, 0)",
    "let t = Leaf",
    "let kept = Nil",
};

// What the calls give, and the memory in use after each of several rounds.
struct Seen {
  std::string text;
  std::vector<std::size_t> used;
};

Seen run(interp::JitMode mode) {
  repl::SessionOptions options;
  options.jit = mode;
  repl::Session session(options);
  const auto errors = session.run("<cells>", kDefinitions, nullptr);
  if (!errors.empty()) FAIL(rendered(errors));
  Seen seen;
  for (int round = 0; round < 4; ++round) {
    for (const std::string& call : kCalls) {
      std::string text;
      const auto failures = session.run("<cells>", call, [&](const repl::ItemResult& result) {
        text += lang::to_string(result.value);
      });
      for (const lang::Diagnostic& failure : failures) text += failure.message;
      seen.text += text + "\n";
    }
    lang::trim_cells();
    seen.used.push_back(lang::memory_used());
  }
  return seen;
}

TEST_CASE("memory of cells comes back, and both tiers make the same of them") {
  const Seen interpreted = run(interp::JitMode::Off);
  const Seen native = run(interp::JitMode::Always);
  CHECK(interpreted.text == native.text);
  CHECK(interpreted.text.find("zero") != std::string::npos);
  for (const Seen* seen : {&interpreted, &native}) {
    constexpr std::size_t kSpare = 4 << 20;  // what sessions remember, slabs with a cell in use
    CHECK(seen->used.back() <= seen->used[1] + kSpare);
  }
}

}  // namespace
}  // namespace relay::tests
