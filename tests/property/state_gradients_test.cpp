// Gradients of loops that change a matrix in places, reading its rows, columns and elements, also
// at indices that conditions choose: their tapes keep slices of it (ad/saved_slices). Differences
// and forward mode say what is right, at first and second order; the tiers give the same bits.

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

// `total` of x: float64[n, p], after some steps of a loop.
class States {
 public:
  explicit States(std::uint64_t seed) : random_(seed) {
    n_ = 2 + random_.below(random_.one_in(4) ? 30 : 5);
    p_ = random_.one_in(3) ? n_ : 2 + random_.below(5);
    has_variables_ = random_.one_in(2);
  }

  std::string text() {
    const std::string type = fmt::format("Tensor[({}, {}), float64]", rows(), columns());
    std::string steps = step();
    if (random_.one_in(3))
      steps = fmt::format("if k % 2 == 0 {{ {} }} else {{ {} }}", steps, step());
    return fmt::format(
        "def turn{0}(x: {1}, k: int64) -> {1} {{\n"
        "  if k >= {2} {{ x }} else {{ {3} }}\n"
        "}}\n"
        "def total(x: Tensor[({4}, {5}), float64]) {{ let y = turn(x, {6}i64); sum(y * y) }}\n"
        "let x = for i < {4}, j < {5} {{ cast((i * 5 + j * 3) % 13, dtype=\"float64\") * 0.1 - 0.5 "
        "}}\n",
        has_variables_ ? "[n, p]" : "", type, 2 + random_.below(3), steps, n_, p_,
        random_.below(2));
  }

 private:
  std::string pick(const std::vector<std::string>& from) {
    return from[random_.below(from.size())];
  }
  std::string rows() const { return has_variables_ ? "n" : std::to_string(n_); }
  std::string columns() const { return has_variables_ ? "p" : std::to_string(p_); }

  std::string step() {
    std::string row;
    is_row_known_ = random_.one_in(3);
    if (is_row_known_) row = fmt::format("let row = x[{}]; ", fixed(rows()));
    return fmt::format("{}turn(for i < {}, j < {} {{ {} }}, k + 1)", row, rows(), columns(),
                       body());
  }

  std::string body() {
    const std::string changed = fmt::format("x[i, j] * 0.5 + 0.4 * {}", number(3));
    switch (random_.below(3)) {
      case 0:
        return changed;
      case 1:
        return fmt::format("if {} {{ {} }} else {{ x[i, j] }}", condition(), changed);
      default:
        return fmt::format("if {} {{ {} }} else {{ if {} {{ {} }} else {{ x[i, j] }} }}",
                           condition(), changed, condition(), number(2));
    }
  }

  // An index that is the same at all points.
  std::string fixed(const std::string& extent) {
    const std::size_t c = random_.below(4);
    return pick({fmt::format("k % {}", extent), fmt::format("(k + {}) % {}", c, extent),
                 fmt::format("(2 * k + {}) % {}", c, extent), std::to_string(c % 2)});
  }

  std::string index(const std::string& own, const std::string& extent) {
    switch (random_.below(8)) {
      case 0:
      case 1:
      case 2:
        return fixed(extent);
      case 3:
        return fmt::format("({} + {}) % {}", own, random_.below(3), extent);
      case 4:
        return fmt::format("if {} {{ {} }} else {{ 0i64 }}", condition(), fixed(extent));
      case 5:
        return fmt::format("if {} {{ {} }} else {{ {} }}", condition(), own, fixed(extent));
      default:
        return own;
    }
  }

  std::string read() {
    if (is_row_known_ && random_.one_in(3)) return fmt::format("row[{}]", index("j", columns()));
    const std::string condition_of_both = condition();
    if (random_.one_in(6))
      return fmt::format("x[if {0} {{ {1} }} else {{ 0i64 }}, if {0} {{ {2} }} else {{ 0i64 }}]",
                         condition_of_both, index("i", rows()), index("j", columns()));
    return fmt::format("x[{}, {}]", index("i", rows()), index("j", columns()));
  }

  std::string condition() {
    const std::string of_one =
        fmt::format("{} {} {}", pick({"i", "j"}), pick({"<", "<=", ">", ">=", "==", "!="}),
                    random_.one_in(2) ? "k" : std::to_string(random_.below(n_ + 1)));
    return random_.one_in(3) ? fmt::format("{} {} {}", of_one, pick({"&&", "||"}), condition())
                             : of_one;
  }

  std::string number(int depth) {
    switch (depth > 0 ? random_.below(8) : 0) {
      case 0:
        return read();
      case 1:
        return fmt::format("sin({})", number(depth - 1));
      case 2:
        return fmt::format("(if {} {{ {} }} else {{ {} }})", condition(), number(depth - 1),
                           number(depth - 1));
      case 3:
        return fmt::format("(0.3 * sum i < {} {{ {} }})", rows(), number(depth - 1));
      case 4:
        return fmt::format("({} {} {})", number(depth - 1), pick({"+", "-"}), number(depth - 1));
      default:
        return fmt::format("({} * {})", read(), random_.one_in(2) ? read() : number(depth - 1));
    }
  }

  Random random_;
  std::size_t n_;
  std::size_t p_;
  bool has_variables_;
  bool is_row_known_ = false;
};

TEST_CASE("gradients of loops that change a matrix are the same in either tier") {
  check_tiers_of<States>(kPrograms, "let m = x\nlet d = x\ndef f(x, m, d) { grad(total)(x) }\n");
}

TEST_CASE("derivatives of loops that change a matrix agree") {
  check_true_of<States>(kPrograms, "1e-9",
                        "let u = cos(x)\n"
                        "def along(x) { sum(grad(total)(x) * sin(x)) }\n"
                        "def agree(x) { (near(along(x), jvp(total)(x, sin(x)).1),\n"
                        "  near(sum(grad(along)(x) * u), jvp(along)(x, u).1)) }\n",
                        {"check_grad(total, x)", "agree(x)"});
}

}  // namespace
}  // namespace relay::tests
