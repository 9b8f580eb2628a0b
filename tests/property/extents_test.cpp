// Extents that one dimension says are equal are, or there is an error: whatever way two values of
// unknown extents come to meet, whichever of them is larger, in both tiers.

#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "repl/session.h"

namespace relay::tests {
namespace {

const char* const kDefinitions = R"(
def upto(n) { for i < n { as_float(i) + 1.0 } }
def grid(a, b) { for i < a, j < b { 1.0 } }
def inner(x, y) { sum i { x[i] * y[i] } }
def added[n](x: Tensor[(n), float32], y: Tensor[(n), float32]) -> Tensor[(n), float32] { x + y }
def square[n](m: Tensor[(n, n), float32]) { n }
def in_tuple[n](t: (Tensor[(n), float32], Tensor[(n), float32])) { t.0 + t.1 }
def shaped[s](x: Tensor[s, float32], y: Tensor[s, float32]) { x + y }
def twice[n](x: Tensor[(n), float32], y: Tensor[(2 * n), float32]) { sum(x) + sum(y) }
def thirds(x, y) {
  let xs = concatenate((x, x), axis=0);
  let ys = concatenate((y, y, y), axis=0);
  x[0] + y[0] + sum(added(xs, ys))
}
def stretched[n](x: Tensor[(n), float32], m: Tensor[(n, n), float32], y) { x + y + sum(m) }
def again[n](x: Tensor[(n), float32], y: Tensor[(n), float32], k: int32) -> float32 {
  if (k == 0) { sum(x) + sum(y) } else { again(x, y, k - 1) }
}
def given[n](f: fn (int32) -> Tensor[(n), float32], g: fn (int32) -> Tensor[(n), float32]) {
  dot(f(0), g(0))
}
def in_let[n](x: Tensor[(n), float32], y, z: Tensor[(?), float32]) {
  let w: Tensor[(n), float32] = z;
  (x + y, w)
}
def in_result[n](x: Tensor[(n), float32], y, z: Tensor[(?), float32]) -> Tensor[(n), float32] {
  if (sum(x + y) > 0.0) { z } else { z }
}
def first(f, x, y) { f(x, y) }
def last(x, y, f) { f(x, y) }
type Pair[n] { Pair(Tensor[(n), float32], Tensor[(n), float32]) }
type Named[n] { Named { left: Tensor[(n), float32], right: Tensor[(n), float32] } }
def with_pair[n](p: Pair[n], x: Tensor[(n), float32]) {
  match p { Pair(a, b) => sum i { a[i] * x[i] } }
}
)";

// `$a` and `$b` are two extents.
const char* const kWays[] = {
    "dot(upto($a), upto($b))",
    "inner(upto($a), upto($b))",
    "added(upto($a), upto($b))",
    "square(grid($a, $b))",
    "in_tuple((upto($a), upto($b)))",
    "shaped(upto($a), upto($b))",
    "twice(upto($a), upto($b + $b))",
    "thirds(upto(3 * $a), upto(2 * $b))",
    "stretched(upto($a), grid($a, $b), upto(1))",
    "stretched(upto($a), grid($b, $a), upto(1))",
    "stretched(upto($a), grid($b, $b), upto(1))",
    "again(upto($a), upto($b), 2)",
    "given(fn (i) { upto($a) }, fn (i) { upto($b) })",
    "in_let(upto($a), upto(1), upto($b))",
    "in_result(upto($a), upto(1), upto($b))",
    "(fn (x, y) { dot(x, y) })(upto($a), upto($b))",
    "grad(dot)(upto($a), upto($b))",
    "grad(fn (x) { dot(x, upto($b)) })(upto($a))",
    "first(dot, upto($a), upto($b))",
    "last(upto($a), upto($b), dot)",
    "{ let f: fn (Tensor[(?), float32], Tensor[(?), float32]) -> float32 = dot;"
    "  f(upto($a), upto($b)) }",
    "{ let f = if (upto(2)[0] > 0.0) { inner } else { dot }; f(upto($a), upto($b)) }",
    "{ let f = fn (x, y) { sum i { x[i] * y[i] } }; f(upto($a), upto($b)) }",
    "{ let f = fn [n](m: Tensor[(n, n), float32]) { n }; f(grid($a, $b)) }",
    "last(upto($a), upto($b), fn [n](x: Tensor[(n), float32], y: Tensor[(n), float32]) { x + y })",
    "Pair(upto($a), upto($b))",
    "first(Pair, upto($a), upto($b))",
    "last(upto($a), upto($b), Pair)",
    "Named(right = upto($a), left = upto($b))",
    "Named(upto($a), upto($a)) with { right = upto($b) }",
    "Named(zeros([$a]), zeros([$a])) with { right = upto($b) }",
    "match Pair(upto($a), upto($b)) { Pair(a, b) => a + b }",
    "with_pair(Pair(upto($a), upto($a)), upto($b))",
    "for i { upto($a)[i] + upto($b)[i] }",
    "grid(2, $a) @ grid($b, 2)",
    "stack((upto($a), upto($b)))",
    "concatenate((grid(2, $a), grid(2, $b)), axis=0)",
    "nn.dense(grid(2, $a), grid(2, $b))",
    "nn.bias_add(grid(2, $a), upto($b))",
};

std::string with_extents(std::string text, int a, int b) {
  for (std::size_t at = text.find('$'); at != std::string::npos; at = text.find('$'))
    text.replace(at, 2, std::to_string(text[at + 1] == 'a' ? a : b));
  return text;
}

void check_ways(interp::JitMode jit) {
  repl::SessionOptions options;
  options.verify = true;
  options.jit = jit;
  repl::Session session(options);
  REQUIRE(session.run("<definitions>", kDefinitions, nullptr).empty());
  for (const char* way : kWays) {
    for (const auto& [a, b] : {std::pair(3, 4), {4, 3}, {1, 4}, {4, 1}, {3, 3}, {1, 1}}) {
      const std::string text = with_extents(way, a, b);
      INFO(text);
      const auto value = session.evaluate(text);
      CHECK(bool(value) == (a == b));
      if (value) continue;
      using lang::DiagnosticKind;
      const DiagnosticKind kind = value.errors().front().kind;
      INFO(value.errors().front().message);
      CHECK((kind == DiagnosticKind::ShapeMismatchAtRunTime ||
             kind == DiagnosticKind::ShapeMismatch || kind == DiagnosticKind::BroadcastMismatch));
    }
  }
}

TEST_CASE("unknown extents that must be equal are compared") {
  check_ways(interp::JitMode::Off);
  check_ways(interp::JitMode::Always);
}

}  // namespace
}  // namespace relay::tests
