// Gradients of index notation that reads elements at moved and reversed places, in one row or
// column, and under conditions, of extents that are numbers or variables: what each read gives is
// gathered, or added where it belongs (ad/placed). Forward mode says what is right, at first and
// second order; the tiers give the same bits.

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

constexpr std::size_t kPrograms = 250;

// `total` of x: float64[n] and a: float64[n, p], of which an extent may be 0.
class Reads {
 public:
  explicit Reads(std::uint64_t seed) : random_(seed) {
    n_ = random_.below(random_.one_in(4) ? 70 : 7);
    p_ = random_.one_in(3) ? n_ : random_.below(6);
    has_variables_ = random_.one_in(2);
    // Points of a tensor that has none, where types do not say so: docs/limits.md.
    if (has_variables_ && (n_ == 0 || p_ == 0)) n_ = p_ = 0;
  }

  std::string text() {
    std::string loops = fmt::format("i < {}", extent());
    indices_ = {"i"};
    if (random_.one_in(2)) {
      loops += fmt::format(", j < {}", extent());
      indices_.push_back("j");
    }
    const std::string body = number(3);
    return fmt::format(
        "def body{0}(x: Tensor[({1}), float64], a: Tensor[({1}, {2}), float64], k: int64) {{\n"
        "  for {3} {{ {4} }}\n"
        "}}\n"
        "def total(x: Tensor[({5}), float64], a: Tensor[({5}, {6}), float64]) {{\n"
        "  let y = body(x, a, {7}i64) + body(x, a, 1i64);\n"
        "  sum(y * y)\n"
        "}}\n"
        "let x = for i < {5} {{ cast(i * 7 % 11, dtype=\"float64\") * 0.1 - 0.4 }}\n"
        "let a = for i < {5}, j < {6} {{ cast((i * 5 + j * 3) % 13, dtype=\"float64\") * 0.1 - 0.5 "
        "}}\n",
        has_variables_ ? "[n, p]" : "", rows(), columns(), loops, body, n_, p_, random_.below(6));
  }

 private:
  std::string pick(const std::vector<std::string>& from) {
    return from[random_.below(from.size())];
  }
  std::string rows() const { return has_variables_ ? "n" : std::to_string(n_); }
  std::string columns() const { return has_variables_ ? "p" : std::to_string(p_); }

  std::string extent() {
    const std::string whole = random_.one_in(2) ? rows() : columns();
    const std::size_t number = whole == rows() ? n_ : p_;
    if (has_variables_ && n_ == 0) return whole;
    switch (random_.below(5)) {
      case 0:
        return std::to_string(random_.below(5));
      case 1: {
        const std::size_t less = random_.below(std::min<std::size_t>(number, 3) + 1);
        return has_variables_ ? fmt::format("{} - {}", whole, less) : std::to_string(number - less);
      }
      default:
        return whole;
    }
  }

  std::string index(const std::string& whole) {
    const std::string i = pick(indices_);
    const std::size_t c = random_.below(4);
    switch (random_.below(11)) {
      case 0:
      case 1:
        return i;
      case 9:
        return fmt::format("({} * {} + {} - {})", i, 2 + c % 2, pick(indices_), c / 2);
      case 2:
        return fmt::format("({} - {})", i, c);
      case 3:
        return fmt::format("({} + {})", i, c);
      case 4:
        return fmt::format("({} - {} - {})", whole, 1 + random_.below(2), i);
      case 5:
        return "k";
      case 6:  // refused where it is known to be out of range
        return c < (whole == rows() ? n_ : p_) ? std::to_string(c) : "k";
      case 7:
        return fmt::format("({} - k)", i);
      case 8:
        return fmt::format("({} + {})", i, pick(indices_));
      default:
        return fmt::format("({} * 2 - {})", i, c);
    }
  }

  std::string read() {
    const bool is_matrix = random_.one_in(2);
    const std::string row = index(rows());
    std::string guard = fmt::format("{0} >= 0 && {0} < {1}", row, rows());
    if (random_.one_in(3)) guard += fmt::format(" && {}", condition());
    std::string element = fmt::format("x[{}]", row);
    if (is_matrix) {
      const std::string column = index(columns());
      guard += fmt::format(" && {0} >= 0 && {0} < {1}", column, columns());
      element = fmt::format("a[{}, {}]", row, column);
    }
    if (random_.one_in(3))
      return fmt::format("(if !({}) {{ {} }} else {{ {} }})", guard, number(0), element);
    return fmt::format("(if {} {{ {} }} else {{ 0.25f64 }})", guard, element);
  }

  std::string condition() {
    return fmt::format("{} {} {}", pick(indices_), pick({"<", "<=", ">", ">=", "==", "!="}),
                       random_.one_in(2) ? "k" : std::to_string(random_.below(n_ + 1)));
  }

  std::string number(int depth) {
    switch (depth > 0 ? random_.below(10) : 0) {
      case 0:
        return fmt::format("0.{}f64", 1 + random_.below(9));
      case 1:
        return fmt::format("sin({})", number(depth - 1));
      case 2:
        return fmt::format("(if {} {{ {} }} else {{ {} }})", condition(), number(depth - 1),
                           number(depth - 1));
      case 3: {
        if (indices_.back() == "q") return read();
        const std::string range =
            random_.one_in(2) ? std::to_string(1 + random_.below(3)) : extent();
        indices_.push_back("q");  // often few: the digits of a place, or a window
        const std::string body = number(depth - 1);
        indices_.pop_back();
        return fmt::format("(sum q < {} {{ {} }})", range, body);
      }
      case 4:
      case 5:
        return fmt::format("({} {} {})", number(depth - 1), pick({"+", "-", "*"}),
                           number(depth - 1));
      default:
        return fmt::format("({} * {})", read(), random_.one_in(2) ? read() : number(depth - 1));
    }
  }

  Random random_;
  std::size_t n_;
  std::size_t p_;
  bool has_variables_;
  std::vector<std::string> indices_;
};

TEST_CASE("gradients of reads at moved places are the same in either tier") {
  check_tiers_of<Reads>(kPrograms, "let m = a\nlet d = x\ndef f(x, m, d) { grad(total)(x, m) }\n");
}

TEST_CASE("derivatives of reads at moved places agree") {
  check_true_of<Reads>(
      kPrograms, "1e-9",
      "let u = cos(a)\n"
      "let v = sin(a * 1.7)\n"
      "def along(x, a) { let g = grad(total)(x, a); sum(g.0 * sin(x)) + sum(g.1 * u) }\n"
      "def agree(x, a) { let s = grad(along)(x, a);\n"
      "  (near(along(x, a), jvp(total)(x, a, sin(x), u).1),\n"
      "   near(sum(s.0 * cos(x)) + sum(s.1 * v), jvp(along)(x, a, cos(x), v).1)) }\n",
      {"check_grad(total, x, a)", "agree(x, a)"});
}

}  // namespace
}  // namespace relay::tests
