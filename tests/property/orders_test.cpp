// Derivatives of the orders 1 to 4 of each construct of the language, each level by forward or by
// reverse mode, in both tiers (RELAY_COUNT=1: all of them): beside the Taylor series of the same
// function in C++.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "lang/sanitizer.h"
#include "repl/session.h"
#include "tests/support/property.h"
#include "tests/support/series.h"

namespace relay::tests {
namespace {

// A program that defines `f`, a function of one number, and the same function of series.
struct Construct {
  const char* name;
  const char* text;
  Series (*series)(const Series& x);
};

Series power(const Series& x, int n) {
  Series result = 1;
  for (int i = 0; i < n; ++i) result = result * x;
  return result;
}

const Construct kConstructs[] = {
    {"if",
     "def f(x: float64) -> float64 {\n"
     "  let y = if x < 1.0 { sin(x) * x } else { exp(x) / x };\n"
     "  if y * y < 0.25 { y * x } else { if x < 0.0 { y } else { y * y * cos(x) } }\n"
     "}\n",
     [](const Series& x) {
       const Series y = x.value() < 1 ? sin(x) * x : exp(x) / x;
       return (y * y).value() < 0.25 ? y * x : x.value() < 0 ? y : y * y * cos(x);
     }},
    {"match",
     "type Shape { Circle(float64), Box(float64, float64), Point }\n"
     "def area(s) {\n"
     "  match s { Circle(r) => exp(r) * r, Box(a, b) => a * a * sin(b), Point => 1.0 }\n"
     "}\n"
     "def shape(x) { if x < 0.0 { Point } else { if x < 1.0 { Circle(x * x) } else { Box(x, "
     "cos(x)) } } }\n"
     "def f(x: float64) -> float64 { area(shape(x)) * area(Box(x, x)) * area(Point) }\n",
     [](const Series& x) {
       const auto box = [](const Series& a, const Series& b) { return a * a * sin(b); };
       return (x.value() < 0 ? 1 : x.value() < 1 ? exp(x * x) * x * x : box(x, cos(x))) * box(x, x);
     }},
    {"loop",
     "def step(i: int32, x: float64, y: float64) -> float64 {\n"
     "  if i == 0 { y } else { step(i - 1, x, sin(y) * x + y) }\n"
     "}\n"
     "def f(x: float64) -> float64 { step(5, x, x) }\n",
     [](const Series& x) {
       Series y = x;
       for (int i = 0; i < 5; ++i) y = sin(y) * x + y;
       return y;
     }},
    {"loop that ends by its value",
     "def grow(x: float64, y: float64) -> float64 { if y > 20.0 { y } else { grow(x, y * (1.0 + x "
     "* x)) } }\n"
     "def f(x: float64) -> float64 { grow(x, cos(x)) }\n",
     [](const Series& x) {
       Series y = cos(x);
       while (y.value() <= 20) y = y * (1 + x * x);
       return y;
     }},
    {"iterate",
     "def f(x: float64) -> float64 {\n"
     "  let (a, b) = iterate(fn (s) { let (a, b) = s; (b * x, a + sin(b)) }, 4)((x, 1.0));\n"
     "  a * b\n"
     "}\n",
     [](const Series& x) {
       Series a = x;
       Series b = 1;
       for (int i = 0; i < 4; ++i) {
         const Series next = b * x;
         b = a + sin(b);
         a = next;
       }
       return a * b;
     }},
    {"recursion",
     "def f(x: float64) -> float64 { nested(x, 4) }\n"
     "def nested(x: float64, n: int32) -> float64 {\n"
     "  if n == 0 { x } else { sin(nested(x, n - 1)) * x + nested(x * 0.5, n - 1) }\n"
     "}\n",
     [](const Series& x) {
       struct Nested {
         static Series at(const Series& x, int n) {
           return n == 0 ? x : sin(at(x, n - 1)) * x + at(x * 0.5, n - 1);
         }
       };
       return Nested::at(x, 4);
     }},
    {"mutual recursion",
     "def even(x: float64, n: int32) -> float64 { if n == 0 { x } else { sin(odd(x, n - 1)) } }\n"
     "def odd(x: float64, n: int32) -> float64 { if n == 0 { 1.0 } else { x * x * even(x, n - 1) } "
     "}\n"
     "def f(x: float64) -> float64 { even(x, 4) + odd(x, 3) }\n",
     [](const Series& x) {
       const Series odd = x * x * sin(x * x * x);
       return sin(odd) + odd;
     }},
    {"list",
     "def powers(x: float64, y: float64, n: int32) { if n == 0 { Nil } else { Cons(y, powers(x, x "
     "* y, n - 1)) } }\n"
     "def total(l) { match l { Nil => 0.0f64, Cons(y, rest) => sin(y) + y * total(rest) } }\n"
     "def f(x: float64) -> float64 { total(powers(x, 1.0, 4)) + foldl(fn (s, y) { s * y }, x, "
     "powers(x, 2.0, 3)) }\n",
     [](const Series& x) {
       Series total = 0;
       for (int i = 3; i >= 0; --i) total = sin(power(x, i)) + power(x, i) * total;
       return total + 8 * power(x, 4);
     }},
    {"tree",
     "type Shrub { Leaf(float64), Fork(Shrub, Shrub) }\n"
     "def grown(x: float64, n: int32) -> Shrub {\n"
     "  if n == 0 { Leaf(x) } else { Fork(grown(x * 0.5, n - 1), grown(x, n - 1)) }\n"
     "}\n"
     "def folded(t: Shrub) -> float64 {\n"
     "  match t { Leaf(y) => exp(y), Fork(a, b) => folded(a) * sin(folded(b)) }\n"
     "}\n"
     "def f(x: float64) -> float64 { folded(grown(x, 3)) }\n",
     [](const Series& x) {
       struct Shrub {
         static Series folded(const Series& x, int n) {
           return n == 0 ? exp(x) : folded(x * 0.5, n - 1) * sin(folded(x, n - 1));
         }
       };
       return Shrub::folded(x, 3);
     }},
    {"record",
     "type Pair[a, b] { Pair { left: a, right: b } }\n"
     "def turned(p: Pair[float64, float64], x: float64) {\n"
     "  Pair(left = p.right * x, right = (p with { left = sin(p.left) }).left)\n"
     "}\n"
     "def f(x: float64) -> float64 {\n"
     "  let p = turned(turned(Pair(left = x, right = x * x), cos(x)), x);\n"
     "  p.left * p.left + p.right\n"
     "}\n",
     [](const Series& x) {
       const Series left = sin(x) * x;
       return left * left + sin(x * x * cos(x));
     }},
    {"closure",
     "def composed(f, g) { fn (y) { f(g(y)) } }\n"
     "def f(x: float64) -> float64 {\n"
     "  let h = fn (y: float64) { sin(y) * x };\n"
     "  composed(composed(h, h), fn (y) { y + h(x) })(x * x)\n"
     "}\n",
     [](const Series& x) {
       const auto h = [&](const Series& y) { return sin(y) * x; };
       return h(h(x * x + h(x)));
     }},
    {"closures in data",
     "def all(fs, y: float64) -> float64 { match fs { Nil => y, Cons(g, rest) => all(rest, g(y)) } "
     "}\n"
     "def f(x: float64) -> float64 {\n"
     "  let scaled = fn (y: float64) { x * y };\n"
     "  let chosen = if x < 1.0 { fn (y: float64) { exp(y) * x } } else { scaled };\n"
     "  all(Cons(scaled, Cons(fn (y: float64) { sin(y + x) }, Cons(chosen, Nil))), x)\n"
     "}\n",
     [](const Series& x) {
       const Series y = sin(x * x + x);
       return x.value() < 1 ? exp(y) * x : x * y;
     }},
    {"reference",
     "def f(x: float64) -> float64 {\n"
     "  let r = ref(x);\n"
     "  ref_write(r, ref_read(r) * sin(x));\n"
     "  let before = ref_read(r);\n"
     "  ref_write(r, exp(ref_read(r)) * x);\n"
     "  before * ref_read(r)\n"
     "}\n",
     [](const Series& x) {
       const Series before = x * sin(x);
       return before * exp(before) * x;
     }},
    {"reference in a loop",
     "def times(r, x: float64, n: int32) -> () {\n"
     "  if n == 0 { () } else { ref_write(r, ref_read(r) * x + sin(ref_read(r))); times(r, x, n - "
     "1) }\n"
     "}\n"
     "def f(x: float64) -> float64 { let r = ref(x * x); times(r, x, 4); ref_read(r) * x }\n",
     [](const Series& x) {
       Series r = x * x;
       for (int i = 0; i < 4; ++i) r = r * x + sin(r);
       return r * x;
     }},
    {"index notation",
     "def f(x: float64) -> float64 {\n"
     "  let a = for i < 3 { sin(x * cast(i + 1, float64)) };\n"
     "  let b = for i < 3, j < 3 { let y = a[i] * x; exp(y) * a[j] };\n"
     "  sum i { let r = sum j { b[i, j] * a[j] }; r * r + a[i] }\n"
     "}\n",
     [](const Series& x) {
       Series sum = 0;
       const Series squares = power(sin(x), 2) + power(sin(x * 2), 2) + power(sin(x * 3), 2);
       for (int i = 1; i <= 3; ++i) {
         const Series a = sin(x * i);
         sum = sum + power(exp(a * x) * squares, 2) + a;
       }
       return sum;
     }},
    {"branches and reads out of the middle",
     "def f(x: float64) -> float64 {\n"
     "  let a = for i < 5 { x + cast(i, float64) };\n"
     "  sum(for i < 5 { if i > 0 { a[i] * sin(a[i - 1]) } else { a[4 - i] * x } })\n"
     "}\n",
     [](const Series& x) {
       Series sum = (x + 4) * x;
       for (int i = 1; i < 5; ++i) sum = sum + (x + i) * sin(x + (i - 1));
       return sum;
     }},
    {"products and extremes over an index",
     "def f(x: float64) -> float64 {\n"
     "  let a = for i < 4 { x * cast(i + 1, float64) + 0.5 };\n"
     "  (prod i { a[i] }) * (max i { sin(a[i] * 0.1) }) + (min i { a[i] * a[i] })\n"
     "}\n",
     [](const Series& x) {
       Series product = 1;
       Series most = -2;
       Series least = 1e9;
       for (int i = 1; i <= 4; ++i) {
         const Series a = x * i + 0.5;
         product = product * a;
         const Series sine = sin(a * 0.1);
         if (sine.value() > most.value()) most = sine;
         if ((a * a).value() < least.value()) least = a * a;
       }
       return product * most + least;
     }},
    {"calls and loops inside of index notation",
     "def raised(y: float64, n: int64) -> float64 { if n == 0 { 1.0 } else { y * raised(y, n - 1) "
     "} }\n"
     "def f(x: float64) -> float64 { sum i < 4 { raised(sin(x), i) * x } }\n",
     [](const Series& x) { return x * (1 + sin(x) + power(sin(x), 2) + power(sin(x), 3)); }},
    {"scatter",
     "def f(x: float64) -> float64 {\n"
     "  let a = for i < 6 { sin(x * cast(i + 1, float64)) };\n"
     "  let sums = scatter sum (for i < 3 { x }) i < 6 { [i % 3] => a[i] * x };\n"
     "  let products = scatter prod (for i < 2 { x }) i < 4 { [i % 2] => a[i] + x };\n"
     "  (sum i { sums[i] * sums[i] }) + products[0] * products[1]\n"
     "}\n",
     [](const Series& x) {
       const auto a = [&](int i) { return sin(x * (i + 1)); };
       Series sum = 0;
       for (int i = 0; i < 3; ++i) sum = sum + power(x + a(i) * x + a(i + 3) * x, 2);
       return sum + x * (a(0) + x) * (a(2) + x) * (x * (a(1) + x) * (a(3) + x));
     }},
    {"other elements",
     "def f(x: float64) -> float64 {\n"
     "  let a = for i < 4 { x * cast(i + 1, float64) };\n"
     "  let b = a with { [1] = sin(a[2]), [-1] = x * x };\n"
     "  let c = b with { [0] = b[3] * b[1] };\n"
     "  prod i { c[i] }\n"
     "}\n",
     [](const Series& x) {
       const Series one = sin(x * 3);
       return x * x * one * one * (x * 3) * (x * x);
     }},
    {"operators",
     "def f(x: float64) -> float64 {\n"
     "  let a = stack([x, x * x, sin(x)], axis=0);\n"
     "  let m = reshape(concatenate((a, a * x, exp(a)), axis=0), [3, 3]);\n"
     "  let h = tanh(nn.dense(m, transpose(m)));\n"
     "  sum(nn.softmax(a)[0:2]) * sum(h[1]) + sum(h * m)\n"
     "}\n",
     [](const Series& x) {
       const Series a[3] = {x, x * x, sin(x)};
       Series m[3][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
       Series weights = 0;
       for (int i = 0; i < 3; ++i) {
         m[0][i] = a[i];
         m[1][i] = a[i] * x;
         m[2][i] = exp(a[i]);
         weights = weights + m[2][i];
       }
       Series row = 0;
       Series all = 0;
       for (int i = 0; i < 3; ++i) {
         for (int j = 0; j < 3; ++j) {
           Series product = 0;
           for (int k = 0; k < 3; ++k) product = product + m[i][k] * m[k][j];
           const Series h = tanh(product);
           if (i == 1) row = row + h;
           all = all + h * m[i][j];
         }
       }
       return (m[2][0] + m[2][1]) / weights * row + all;
     }},
    {"a gradient of its own",
     "def cube(x: float64) -> float64 { x * x * x } with gradient fn (x, dy) { 3.0 * x * x * dy }\n"
     "def f(x: float64) -> float64 { cube(sin(x)) * cube(x) }\n",
     [](const Series& x) { return power(sin(x) * x, 3); }},
    {"checkpoint",
     "def f(x: float64) -> float64 {\n"
     "  let h = fn (y: float64) { sin(y) * y };\n"
     "  annotation.checkpoint(h(annotation.checkpoint(h(x)) * x))\n"
     "}\n",
     [](const Series& x) {
       const Series y = sin(x) * x * x;
       return sin(y) * y;
     }},
    {"derivatives",
     "def h(y: float64) -> float64 { sin(y) * y * y }\n"
     "def f(x: float64) -> float64 { grad(h)(x) * jvp(h)(x, x).1 }\n",
     [](const Series& x) {
       const Series slope = cos(x) * x * x + sin(x) * x * 2;
       return slope * slope * x;
     }},
};

// Points on either side of what the programs branch on.
constexpr double kPoints[] = {0.7, 1.3, -0.6};

// All ways to take so many derivatives: a letter for each level, the innermost first.
std::vector<std::string> ways(std::size_t orders) {
  std::vector<std::string> all = {""};
  for (std::size_t at = 0; at < all.size() && all[at].size() < orders; ++at) {
    for (const char mode : {'f', 'r'}) all.push_back(all[at] + mode);
  }
  return all;
}

// Which of the highest order a construct takes in native code, too, where most of the time is
// LLVM's: four of sixteen, among which each pair of modes is the inner one once and the outer one
// once, others for the next construct.
bool is_native(const std::string& way, std::size_t construct) {
  if (way.size() < Series::kOrders || is_count_given()) return true;
  const auto pair = [&](std::size_t at) {
    return (way[at] == 'r' ? 1u : 0u) + (way[at + 1] == 'r' ? 2u : 0u);
  };
  return pair(2) == (pair(0) + construct) % 4;
}

// The program, and beside `f` a function for each way: `f_fr` is the gradient of the tangent.
std::string with_derivatives(const Construct& construct, const std::vector<std::string>& ways) {
  std::string text = construct.text;
  for (const std::string& way : ways) {
    if (way.empty()) continue;
    const std::string inner = way.size() == 1 ? "f" : "f_" + way.substr(0, way.size() - 1);
    text += fmt::format("def f_{}(x: float64) -> float64 {{ {} }}\n", way,
                        way.back() == 'f' ? fmt::format("jvp({})(x, 1.0).1", inner)
                                          : fmt::format("grad({})(x)", inner));
  }
  return text;
}

struct Call {
  std::string text;
  double exact;  // what it is by the series
  bool in_both;  // tiers
};

repl::SessionOptions options_of(interp::JitMode jit) {
  repl::SessionOptions options;
  options.jit = jit;
  return options;
}

// The value of each call of `calls`, in one tier.
std::vector<double> values(interp::JitMode jit, const std::string& program,
                           const std::vector<Call>& calls) {
  repl::Session session(options_of(jit));
  const auto errors = session.run("<program>", program, nullptr);
  INFO(program);
  REQUIRE(rendered(errors) == "");
  std::vector<double> results;
  for (const Call& call : calls) {
    INFO(call.text);
    const auto value = session.evaluate(call.text);
    if (!value) FAIL(rendered(value.errors()));
    REQUIRE(value->dtype() == lang::DType::Float64);
    results.push_back(std::bit_cast<double>(static_cast<std::uint64_t>(value->bits())));
  }
  return results;
}

void check_orders(std::size_t number, std::size_t orders) {
  const Construct& construct = kConstructs[number];
  const auto all = ways(orders);
  const std::string program = with_derivatives(construct, all);
  std::vector<Call> calls;
  for (const std::string& way : all) {
    for (const double x : kPoints) {
      calls.push_back({fmt::format("f{}{}({}f64)", way.empty() ? "" : "_", way, x),
                       construct.series(Series::variable(x)).derivative(way.size()),
                       is_native(way, number)});
    }
  }
  // Those in both tiers come first.
  const auto rest = std::stable_partition(calls.begin(), calls.end(),
                                          [](const Call& call) { return call.in_both; });
  const auto lanes = values(interp::JitMode::Off, program, calls);
  const auto native = values(interp::JitMode::Always, program, {calls.begin(), rest});
  for (std::size_t i = 0; i < calls.size(); ++i) {
    INFO(construct.name << ", " << calls[i].text << "\n" << construct.text);
    CHECK(lanes[i] == Approx(calls[i].exact).epsilon(1e-9).margin(1e-9));
    if (i >= native.size()) continue;
    CHECK(std::bit_cast<std::uint64_t>(native[i]) == std::bit_cast<std::uint64_t>(lanes[i]));
  }
}

#ifdef RELAY_ASAN
constexpr std::size_t kOrders = 2;  // all four pairs of modes
#else
constexpr std::size_t kOrders = Series::kOrders;
#endif

// One test for each part of the table, so that they may run at the same time.
void check_part(std::size_t part, std::size_t parts) {
  for (std::size_t i = part; i < std::size(kConstructs); i += parts) check_orders(i, kOrders);
}
TEST_CASE("derivatives to the fourth order in all modes") { check_part(0, 4); }
TEST_CASE("derivatives to the fourth order in all modes (more)") { check_part(1, 4); }
TEST_CASE("derivatives to the fourth order in all modes (and more)") { check_part(2, 4); }
TEST_CASE("derivatives to the fourth order in all modes (yet more)") { check_part(3, 4); }

}  // namespace
}  // namespace relay::tests
