// Gradients of index notation with factors and divisors that are the same at many points, also
// where conditions keep a division by 0 from being needed (index/common_factors, ad/transpose).
// Forward mode, which knows nothing of it, says what is right, at first and second order (there
// without divisions by 0: docs/limits.md); differences say the same; the tiers give the same bits.

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/support/by_point.h"
#include "tests/support/check_programs.h"
#include "tests/support/property.h"
#include "tests/support/random.h"

namespace relay::tests {
namespace {

constexpr std::size_t kPrograms = 120;

// `total` of x: float64[19, 18], and of z, which is 0 where a condition keeps it from being read.
class Factors {
 public:
  explicit Factors(std::uint64_t seed, std::string hole = "0.0f64")
      : random_(seed), hole_(std::move(hole)) {}

  std::string text() {
    const std::string loop = random_.one_in(3) ? turned() : plain();
    return "let x = for i < 19, j < 18 { cast((i * 5 + j * 3) % 13, dtype=\"float64\") * 0.1 - "
           "0.5 }\n"
           "let z = for j < 18 { if j > 3 { 0.5f64 + cast(j, dtype=\"float64\") } else { " +
           hole_ +
           " } }\n"
           "let holes = for j < 18 { j > 3 }\n" +
           loop;
  }

 private:
  std::string pick(const std::vector<std::string>& from) {
    return from[random_.below(from.size())];
  }

  std::string plain() {
    return fmt::format(
        "def total(x: Tensor[(19, 18), float64]) {{\n"
        "  let d = x[2, 3] + 1.5;\n"
        "  let y = for i < 19, j < 18 {{ {} }};\n"
        "  sum(y * y)\n"
        "}}\n",
        number(3));
  }

  // In the steps of a loop, which keeps what its derivative reads.
  std::string turned() {
    return fmt::format(
        "def turn(x: Tensor[(19, 18), float64], k: int64) -> Tensor[(19, 18), float64] {{\n"
        "  if k >= 3 {{ x }} else {{\n"
        "    let d = x[k, 3] + 1.5;\n"
        "    turn(for i < 19, j < 18 {{ if {} {{ {} }} else {{ 0.5 * x[i, j] }} }}, k + 1)\n"
        "  }}\n"
        "}}\n"
        "def total(x: Tensor[(19, 18), float64]) {{ let y = turn(x, 0i64); sum(y * y) }}\n",
        pick({"i > k && j > k", "i >= j && j > k", "j == k && i > k", "i > k"}), step_number());
  }

  std::string step_number() {
    const std::string divisor = pick({"(2.0 + x[k, k])", "(d * d)", "(2.0 + x[i, k])",
                                      "(2.0 + x[k, j] * x[k, j])", "exp(x[k, k])"});
    const std::string factors =
        pick({"x[i, k] * x[k, j]", "x[k, j]", "x[i, k]", "x[i, j] * x[i, k]"});
    const std::string more = random_.one_in(2) ? " / " + divisor : " * " + pick({"x[k, k]", "d"});
    return fmt::format("0.3 * x[i, j] - 0.1 * ({} / {}{})", factors, divisor, more);
  }

  std::string leaf() {
    return pick({"x[i, j]", "x[i, 2]", "x[4, j]", "d", "x[j, 1]", "sum k < 18 { x[i, k] }",
                 "sin(x[i, 0])"});
  }
  std::string divisor() {
    return pick({"(1.5 + x[i, 2] * x[i, 2])", "(d * d)", "d", "exp(x[4, j])", "(2.0 + x[i, j])",
                 "(2.0 + sqrt(1.0 + d * x[i, 1] * x[i, 1]))", "sum k < 18 { exp(x[i, k]) }"});
  }
  std::string number(int depth) {
    switch (depth > 0 ? random_.below(7) : 0) {
      case 0:
        return leaf();
      case 1:
        return fmt::format("({} {} {})", number(depth - 1), pick({"+", "-"}), number(depth - 1));
      case 2:
        return fmt::format("(if {} {{ {} / {} }} else {{ {} }})",
                           pick({"holes[j]", "j > 3", "i > 2 && holes[j]", "holes[j] && j > i"}),
                           number(depth - 1), random_.one_in(3) ? "z[j]" : "(z[j] * d)",
                           number(depth - 1));
      case 3:
        return fmt::format("sin({})", number(depth - 1));
      case 4:
        return fmt::format("({} * {} / {})", leaf(), number(depth - 1), divisor());
      default:
        return fmt::format("({} / {} * {})", number(depth - 1), divisor(), leaf());
    }
  }

  Random random_;
  std::string hole_;
};

class FactorsWithoutHoles : public Factors {
 public:
  explicit FactorsWithoutHoles(std::uint64_t seed) : Factors(seed, "2.5f64") {}
};

TEST_CASE("gradients with common factors are the same in either tier") {
  check_tiers_of<Factors>(kPrograms, "let m = x\ndef f(x, m, d) { grad(total)(x) }\nlet d = x\n");
}

TEST_CASE("gradients with common factors are what forward mode gives") {
  check_true_of<Factors>(kPrograms, "1e-9",
                         "let dx = sin(x)\n"
                         "def agree(x) { near(sum(grad(total)(x) * dx), jvp(total)(x, dx).1) }\n",
                         {"check_grad(total, x)", "agree(x)"});
}

TEST_CASE("second derivatives with common factors are what forward mode gives") {
  check_true_of<FactorsWithoutHoles>(
      kPrograms, "1e-8",
      "let u = cos(x)\n"
      "def along(x) { sum(grad(total)(x) * sin(x)) }\n"
      "def agree(x) { near(sum(grad(along)(x) * u), jvp(along)(x, u).1) }\n",
      {"agree(x)"});
}

}  // namespace
}  // namespace relay::tests
