// Transposes of linear functions: y · f(x) is x · transpose(f)(y). With one step that is not linear
// in its argument the function is refused.

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

constexpr std::size_t kPrograms = 80;

// `f` of x: float64[n], which gives a float64[m], by steps that are linear.
class Linear {
 public:
  explicit Linear(std::uint64_t seed, bool has_flaw = false) : random_(seed), has_flaw_(has_flaw) {
    n_ = 2 + random_.below(6);
  }

  std::string text() {
    std::string body = "let v = x; ";
    vectors_ = {{"v", n_}};
    const std::size_t steps = 2 + random_.below(5);
    const std::size_t flaw = has_flaw_ ? random_.below(steps) : steps;
    for (std::size_t i = 0; i < steps; ++i) {
      // What comes behind a flaw reads it.
      const Vector of = flaw < i ? vectors_.back() : vectors_[random_.below(vectors_.size())];
      body += step(fmt::format("v{}", i), of, i == flaw);
    }
    const Vector& last = vectors_.back();
    return fmt::format(
        "let w = for i < 40, j < 40 {{ sin(cast(i * 12 + j, dtype=\"float64\")) }}\n"
        "def half(a: float64, k: int64) -> float64 {{ if k <= 0 {{ a }} else {{ 0.5 * half(a, k - "
        "1) "
        "}} }}\n"
        "def turned[k](a: Tensor[(k), float64], n: int64) -> Tensor[(k), float64] {{\n"
        "  if n <= 0 {{ a }} else {{ turned(for i {{ a[i] - 0.3 * sum j {{ a[j] * w[i % 40, j % "
        "40] }} "
        "}}, n - 1) }}\n"
        "}}\n"
        "def f(x: Tensor[({0}), float64]) {{ {1}{2} }}\n"
        "let x = for i < {0} {{ cos(cast(i * 3 + 1, dtype=\"float64\")) }}\n"
        "let y = for i < {3} {{ sin(cast(i * 5 + 2, dtype=\"float64\")) }}\n",
        n_, body, last.name, last.extent);
  }

 private:
  struct Vector {
    std::string name;
    std::size_t extent;
  };
  std::string pick(const std::vector<std::string>& from) {
    return from[random_.below(from.size())];
  }

  // A number that is linear in elements of `of`, at `index`, which runs below any extent.
  std::string number(const Vector& of, const std::string& index) {
    const std::string read =
        fmt::format("{}[({} + {}) % {}]", of.name, index, random_.below(3), of.extent);
    switch (random_.below(5)) {
      case 0:
        return fmt::format("(w[{} % 40, 3] * {} - {}[0])", index, read, of.name);
      case 1:
        return fmt::format("(if {} % 2 == 0 {{ {} }} else {{ 0.0 }})", index, read);
      case 2:
        return fmt::format("half({}, {} % 3)", read, index);
      default:
        return fmt::format("({} / 3.0)", read);
    }
  }

  std::string flawed(const Vector& of) {
    return pick(
        {fmt::format("{0} * {0}", of.name), fmt::format("sin({})", of.name),
         fmt::format("{} + 1.0", of.name), fmt::format("abs({})", of.name),
         fmt::format("for i < {1} {{ if {0}[i] > 0.1 {{ {0}[i] }} else {{ 0.5 * {0}[i] }} }}",
                     of.name, of.extent),
         fmt::format("{0} * sum({0})", of.name),
         fmt::format("for i < {1} {{ w[0, 1] / {0}[i] }}", of.name, of.extent),
         fmt::format("for i < {1} {{ {0}[i] * max j < {1} {{ {0}[j] }} }}", of.name, of.extent)});
  }

  std::string step(const std::string& name, const Vector& of, bool is_flaw) {
    std::string text;
    std::size_t extent = of.extent;
    switch (is_flaw ? 9 : random_.below(8)) {
      case 0:
      case 1:
        extent = 2 + random_.below(6);
        text = fmt::format("for i < {} {{ sum j < {} {{ w[i, j] * {} }} }}", extent, of.extent,
                           number(of, "j"));
        break;
      case 2:
        text = fmt::format("for i < {} {{ {} + {} }}", extent, number(of, "i"), number(of, "i"));
        break;
      case 3:
        text = fmt::format("turned({}, {}i64)", of.name, 1 + random_.below(2));
        break;
      case 4:
        text = fmt::format("{0} - sum({0}) * 0.25", of.name);
        break;
      case 5:
        extent = of.extent - 1;
        text = extent > 1 ? fmt::format("{}[1:{}]", of.name, of.extent) : "-" + of.name;
        if (extent <= 1) extent = of.extent;
        break;
      case 6:
        text = fmt::format("let (a, b) = (2.0 * {0}, {0}[0]); a - b", of.name);
        text = "{ " + text + " }";
        break;
      case 7:
        text = fmt::format("reverse({}, axis=0) / 2.0", of.name);
        break;
      default:
        text = flawed(of);
    }
    vectors_.push_back({name, extent});
    return fmt::format("let {} = {}; ", name, text);
  }

  Random random_;
  bool has_flaw_;
  std::size_t n_;
  std::vector<Vector> vectors_;
};

TEST_CASE("transposes of linear functions are adjoint to them") {
  check_true_of<Linear>(kPrograms, "1e-9",
                        "def agree(x, y) {\n"
                        "  let turned = transpose(f);\n"
                        "  (near(sum(y * f(x)), sum(x * turned(y))),\n"
                        "    near(sum(y * f(x)), sum(y * transpose(turned)(x))))\n"
                        "}\n",
                        {"agree(x, y)"});
}

TEST_CASE("functions with a step that is not linear have no transpose") {
  repl::Session session(verified(interp::JitMode::Off));
  for (const std::uint64_t seed : seeds(kPrograms)) {
    const std::string text = Linear(seed, true).text();
    CAPTURE(seed, text);
    const auto errors = session.run("<program>", text, nullptr);
    if (!errors.empty()) FAIL_CHECK(rendered(errors));
    const auto given = session.evaluate("transpose(f)(y)");
    if (given) FAIL_CHECK("a transpose: " << lang::to_string(*given));
    if (!given)
      CHECK(rendered(given.errors()).find("needs a linear function") != std::string::npos);
  }
}

}  // namespace
}  // namespace relay::tests
