// Jacobians and Hessians of functions that mix index notation, whose sums are computed for all
// directions at once (ad/batch_directions), with calls, branches, loops and operators, which are
// not. Derivatives along one direction at a time say what is right; the tiers give the same bits.

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "repl/session.h"
#include "tests/support/by_point.h"
#include "tests/support/check_programs.h"
#include "tests/support/property.h"
#include "tests/support/random.h"

namespace relay::tests {
namespace {

constexpr std::size_t kPrograms = 60;

// `value` of x: float64[n], or float64[n, p], which gives a float64[m].
class Steps {
 public:
  explicit Steps(std::uint64_t seed) : random_(seed) {
    n_ = 2 + random_.below(8);
    p_ = random_.one_in(3) ? 2 + random_.below(3) : 0;
    has_variables_ = p_ == 0 && random_.one_in(3);
  }

  std::string text() {
    const std::string extent = has_variables_ ? "n" : std::to_string(n_);
    const std::string given = p_ > 0 ? fmt::format("x: Tensor[({}, {}), float64]", n_, p_)
                                     : fmt::format("{}x: Tensor[({}), float64]", "", extent);
    std::string body = p_ > 0 ? fmt::format(
                                    "let v = for i < {} {{ sum j {{ x[i, j] * sin({}.0 * "
                                    "x[i, {}]) }} }}; ",
                                    n_, 1 + random_.below(2), random_.below(p_))
                              : "let v = x; ";
    vectors_ = {{"v", extent}};
    const std::size_t steps = 2 + random_.below(5);
    for (std::size_t i = 0; i < steps; ++i) body += step(i);
    const std::string more_axes = p_ > 0 ? fmt::format(", j < {}", p_) : "";
    const std::string place = p_ > 0 ? fmt::format("i * {} + j", p_) : "i";
    return fmt::format(
        "let w = for i < 40, j < 12 {{ sin(cast(i * 12 + j, dtype=\"float64\")) }}\n"
        "def chain(a: float64, k: int64) -> float64 {{\n"
        "  if k <= 0 {{ a }} else {{ chain(sin(a) + 0.5 * a, k - 1) }}\n"
        "}}\n"
        "def turned[k](a: Tensor[(k), float64], n: int64) -> Tensor[(k), float64] {{\n"
        "  if n <= 0 {{ a }} else {{\n"
        "    turned(for i {{ 0.3 * sum j {{ a[j] * w[i % 40, j % 12] }} + a[i] }}, n - 1)\n"
        "  }}\n"
        "}}\n"
        "def value{}({}) {{ {}{} }}\n"
        "let x = for i < {}{} {{ cast(({} * 3) % 7, dtype=\"float64\") * 0.2 - 0.5 }}\n"
        "def unit(k: int64) {{ for i < {}{} {{ if {} == k {{ 1f64 }} else {{ 0f64 }} }} }}\n"
        "def columns(j) {{ reshape(j, [-1, {}]) }}\n",
        has_variables_ ? "[n]" : "", given, body, result(), n_, more_axes, place, n_, more_axes,
        place, n_ * std::max<std::size_t>(p_, 1));
  }

 private:
  struct Vector {
    std::string name, extent;
  };
  const Vector& any() { return vectors_[random_.below(vectors_.size())]; }
  std::string pick(const std::vector<std::string>& from) {
    return from[random_.below(from.size())];
  }

  // One number of vectors and scalars that there are.
  std::string number(const std::string& index, const std::string& extent) {
    const Vector& of = any();
    const std::string at = of.extent == extent ? index : fmt::format("{} % {}", index, of.extent);
    const std::string read = fmt::format("{}[{}]", of.name, at);
    switch (random_.below(5)) {
      case 0:
        return fmt::format("sin({})", read);
      case 1:
        return fmt::format("{} * {}", read, read);
      case 2:
        return fmt::format("(if {} % 2 == 0 {{ {} }} else {{ 0.5 * {} }})", index, read, read);
      default:
        return scalars_.empty() ? read : fmt::format("{} * {}", read, pick(scalars_));
    }
  }

  std::string step(std::size_t i) {
    const std::string name = fmt::format("v{}", i);
    const Vector of = any();
    std::string text;
    switch (random_.below(9)) {
      case 0:
      case 1:
      case 2: {
        const std::string extent = std::to_string(2 + random_.below(12));
        text = fmt::format("for i < {} {{ sum j < {} {{ w[i % 40, j % 12] * {} }}{} }}", extent,
                           of.extent, number("j", of.extent),
                           random_.one_in(2) ? " + " + number("i", extent) : "");
        vectors_.push_back({name, extent});
        break;
      }
      case 3:
        text = fmt::format("for i < {} {{ {} }}", of.extent, number("i", of.extent));
        vectors_.push_back({name, of.extent});
        break;
      case 4:
        text =
            fmt::format("for i < {0} {{ chain({1}, i % 3) }}", of.extent, number("i", of.extent));
        vectors_.push_back({name, of.extent});
        break;
      case 5:
        text = fmt::format("turned({}, {}i64)", of.name, 1 + random_.below(2));
        vectors_.push_back({name, of.extent});
        break;
      case 6:
        text = fmt::format("if {0}[0] > {1} {{ {2}({0}) }} else {{ 0.5 * {0} }}", of.name,
                           pick({"0.0", "0.3", "-5.0"}), pick({"sin", "tanh"}));
        vectors_.push_back({name, of.extent});
        break;
      case 7:
        text = fmt::format("{}({} * {})", pick({"tanh", "sin"}), of.name, of.name);
        vectors_.push_back({name, of.extent});
        break;
      default:
        text = fmt::format("sum({0} * {0})", of.name);
        scalars_.push_back(name);
    }
    return fmt::format("let {} = {}; ", name, text);
  }

  std::string result() {
    const std::string extent = std::to_string(random_.one_in(4) ? 3 : 10 + random_.below(20));
    return fmt::format("for i < {} {{ {} + {} }}", extent, number("i", extent),
                       number("i", extent));
  }

  Random random_;
  std::size_t n_;
  std::size_t p_;  // 0: x is a vector
  bool has_variables_;
  std::vector<Vector> vectors_;
  std::vector<std::string> scalars_;
};

TEST_CASE("jacobians of mixed code are the same in either tier") {
  check_tiers_of<Steps>(kPrograms, "let m = x\nlet d = x\ndef f(x, m, d) { jacobian(value)(x) }\n");
}

TEST_CASE("jacobians of mixed code are the derivatives along each direction") {
  check_true_of<Steps>(kPrograms, "1e-10",
                       "def total(x) { sum(value(x)) }\n"
                       "let j = columns(jacobian(value)(x))\n"
                       "let h = columns(hessian(total)(x))\n"
                       "def agree(k: int64, first: float64) {\n"
                       "  let along = jvp(value)(x, unit(k)).1;\n"
                       "  let twice = reshape(hvp(total)(x, unit(k)), [-1]);\n"
                       "  (near(first, twice[0]), all(for i { near(j[i, k], along[i]) }), all(for "
                       "i { near(h[i, k], twice[i]) }))\n"
                       "}\n",
                       {"for k { agree(k, h[0, k]) }"});
}

}  // namespace
}  // namespace relay::tests
