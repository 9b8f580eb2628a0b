// Recursive loops that read elements and rows of arrays, with states that are numbers and small
// arrays: their gradients have the same bits, or the same error, in both tiers, and agree with
// tangents, the second ones too.

#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/support/by_point.h"
#include "tests/support/property.h"
#include "tests/support/random.h"

namespace relay::tests {
namespace {

// A loop over x: float64[n], m: float64[n, p], w: float64[4], with the states s: float64[3], a, b.
class ArrayLoops {
 public:
  explicit ArrayLoops(std::uint64_t seed) : random_(seed) {
    n_ = 2 + random_.below(7);
    p_ = 2 + random_.below(random_.one_in(3) ? 30 : 4);
  }

  std::string text() {
    const std::string x = random_.one_in(2) ? fmt::format("Tensor[({}), float64]", n_) : "?";
    const bool is_generic = x == "?";
    std::string text = fmt::format(
        "let x = for i < {0} {{ cast(mod(i * 7, 11), dtype=\"float64\") * 0.13 - 0.6 }}\n"
        "let m = for i < {0}, j < {1} {{ cast(mod(i * 5 + j * 3, 13), dtype=\"float64\") * 0.1 - "
        "0.5 }}\n"
        "let w = [0.5f64, -0.3f64, 0.8f64, 0.1f64]\n",
        n_, p_);
    text += fmt::format(
        "def go{0}(x: Tensor[({1}), float64], m: Tensor[({1}, {2}), float64], w: Tensor[(4), "
        "float64], s: Tensor[(3), float64], k: int64, a: float64, b: float64) -> float64 {{\n"
        "  if k == {3}i64 {{ a + b * 0.5 + sum(s) }} else {{ {4} }}\n}}\n",
        is_generic ? "[n]" : "", is_generic ? "n" : std::to_string(n_), p_, n_, step());
    return text +
           "def total(x, m, w) { go(x, m, w, [0.1f64, 0.2f64, 0.3f64], 0i64, 0.4f64, 0.7f64) }\n";
  }

 private:
  std::string pick(const std::vector<std::string>& from) {
    return from[random_.below(from.size())];
  }

  std::string step() {
    if (random_.one_in(3))
      return fmt::format("if {} {{ {} }} else {{ {} }}", condition(2), call(), call());
    if (random_.one_in(4)) return fmt::format("{} + 0.7 * {}", number(3), call());
    return call();
  }

  std::string call() {
    const std::string s = random_.one_in(2) ? "s" : fmt::format("[s[1], {}, s[0]]", number(2));
    const std::string next = random_.one_in(2) ? fmt::format("tanh({})", number(3)) : number(3);
    return fmt::format("{{ let c = {}; go(x, m, {}, {}, k + 1i64, c, {}) }}", next,
                       random_.one_in(5) ? "w * 0.5" : "w", s,
                       random_.one_in(2) ? number(3) : "a * 0.5");
  }

  // Of an array of n; now and then out of range.
  std::string index() {
    if (random_.one_in(60)) return "k + 1i64";
    return pick({"k", fmt::format("{}i64 - k", n_ - 1), fmt::format("(k * 3i64) % {}i64", n_), "0",
                 fmt::format("(k + 1i64) % {}i64", n_)});
  }

  std::string condition(int depth) {
    return random_.one_in(2) ? "k % 2i64 == 0i64" : fmt::format("{} > 0.1", number(depth - 1));
  }

  std::string number(int depth) {
    switch (depth > 0 ? random_.below(14) : random_.below(7)) {
      case 0:
        return fmt::format("0.{}f64", 1 + random_.below(9));
      case 1:
        return "a";
      case 2:
        return "b";
      case 3:
      case 4:
        return fmt::format("x[{}]", index());
      case 5:
        return pick({"w[k % 4i64]", "w[1]", "s[k % 3i64]", "s[2]"});
      case 6:
        return fmt::format("m[{}, {}]", index(), pick({"0", "1", "k % 2i64"}));
      case 7:
        return fmt::format("sum(m[{}])", index());
      case 8: {
        const std::string name = fmt::format("r{}", names_++);
        return fmt::format("{{ let {0} = m[{1}]; {0}[0] * {0}[k % 2i64] }}", name, index());
      }
      case 9:
        return fmt::format("{}({})", pick({"tanh", "sin", "sigmoid"}), number(depth - 1));
      case 10:
        return fmt::format("(if {} {{ {} }} else {{ {} }})", condition(depth - 1),
                           number(depth - 1), number(depth - 1));
      default:
        return fmt::format("({} {} {})", number(depth - 1), pick({"+", "-", "*"}),
                           number(depth - 1));
    }
  }

  Random random_;
  std::size_t n_;
  std::size_t p_;
  int names_ = 0;
};

TEST_CASE("gradients of loops over arrays give the same in either tier") {
  repl::Session interpreted(verified(interp::JitMode::Off));
  repl::Session native(verified(interp::JitMode::Always));
  constexpr std::size_t kLoops = 60;
  std::int64_t good = 0;
  const auto all = seeds(kLoops);
  for (const std::uint64_t seed : all) {
    const std::string text =
        ArrayLoops(seed).text() + "let d = w\ndef f(x, m, d) { grad(total)(x, m, d) }\n";
    CAPTURE(seed, text);
    const Outcome expected = outcome_by_kernel(interpreted, text);
    good += expected.is_value;
    CHECK(outcome_by_kernel(native, text).text == expected.text);
  }
  if (all.size() >= 50) CHECK(good > static_cast<std::int64_t>(all.size()) / 2);
}

TEST_CASE("derivatives of loops over arrays agree with tangents") {
  repl::Session session(verified(interp::JitMode::Off));
  constexpr std::size_t kLoops = 60;
  std::int64_t good = 0;
  const auto all = seeds(kLoops);
  for (const std::uint64_t seed : all) {
    const std::string text =
        ArrayLoops(seed).text() +
        "let u = cos(m)\n"
        "let v = sin(m * 1.7)\n"
        "def along(x, m, w) { let g = grad(total)(x, m, w); sum(g.0 * sin(x)) + sum(g.1 * u) + "
        "sum(g.2 * w) }\n"
        "def near(a: float64, b: float64) { abs(a - b) <= 1e-7 * (1.0 + abs(a) + abs(b)) }\n"
        "def second(m) { along(x, m, w) }\n"
        "def agree(x, m, w) { (near(along(x, m, w), jvp(total)(x, m, w, sin(x), u, w).1),\n"
        "  near(sum(grad(second)(m) * v), jvp(second)(m, v).1)) }\n";
    CAPTURE(seed, text);
    const auto errors = session.run("<program>", text, nullptr);
    if (!errors.empty()) FAIL_CHECK(rendered(errors));
    if (!errors.empty() || !session.evaluate("total(x, m, w)")) continue;
    ++good;
    const auto agree = session.evaluate("agree(x, m, w)");
    if (!agree) FAIL_CHECK(rendered(agree.errors()));
    if (agree) CHECK(lang::to_string(*agree) == "(True, True)");
  }
  if (all.size() >= 50) CHECK(good > static_cast<std::int64_t>(all.size()) / 2);
}

}  // namespace
}  // namespace relay::tests
