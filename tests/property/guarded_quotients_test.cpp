// Quotients and logarithms that a condition keeps from being needed where their operand is 0.
// Derivatives of index notation with them, to second order and in either mode, are what they are
// where that operand is 1 instead: nothing of it gets through a side that is not taken.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/support/check_programs.h"
#include "tests/support/random.h"

namespace relay::tests {
namespace {

constexpr std::size_t kPrograms = 120;

// Bodies over a matrix x and operands z0 to z4, which are 0 where the condition of their number
// does not hold; the last two are matrices, and the last condition is a bound. With 18 rows and
// columns what is the same at many points is computed there only.
class Quotients {
 public:
  explicit Quotients(std::uint64_t seed) : random_(seed), extent_(random_.one_in(3) ? 18 : 5) {}

  // Defines x, the operands `zero` and `one` of each kind, and `total`, a function of x and these.
  std::string text() {
    std::string conditions, operands;
    for (int k = 0; k < 3; ++k) {
      const std::string rest =
          fmt::format("mod(i * {} + {}, {}) > {}", 1 + random_.below(3), random_.below(5),
                      2 + random_.below(3), random_.below(2));
      conditions += fmt::format("let c{} = for i < {} {{ {} }}\n", k, extent_, rest);
      operands += fmt::format(
          "def z{0}(other) {{ for i < {1} {{ if c{0}[i] {{ 0.7f64 + 0.1 * cast(mod(i, 5), "
          "dtype=\"float64\") }} else {{ other }} }} }}\n",
          k, extent_);
    }
    conditions +=
        fmt::format("let c3 = for i < {0}, j < {0} {{ mod(i * 3 + j, 4) > 1 }}\n", extent_);
    for (const char* of_both : {"3[i, j]", "4[i, j]"})
      operands += fmt::format(
          "def z{1:.1}(other) {{ for i < {0}, j < {0} {{ if {2} {{ 0.8f64 + 0.1 * "
          "cast(mod(i + j, 7), dtype=\"float64\") }} else {{ other }} }} }}\n",
          extent_, of_both, condition(of_both));
    const std::string body = number(5, {});
    return conditions + operands +
           fmt::format(
               "def both(other) {{ (z0(other), z1(other), z2(other), z3(other), z4(other)) }}\n"
               "let zero = both(0.0f64)\n"
               "let one = both(1.0f64)\n"
               "let x = for i < {0}, j < {0} {{ 0.6f64 + 0.04 * cast(mod(i * 5 + j * 3, 13), "
               "dtype=\"float64\") }}\n"
               "def total(x: Tensor[({0}, {0}), float64], z) {{\n"
               "  let z0 = z.0; let z1 = z.1; let z2 = z.2; let z3 = z.3; let z4 = z.4;\n"
               "  let d = x[2, 3] + 0.5;\n"
               "  let y = for i < {0}, j < {0} {{ {1} }};\n"
               "  sum(y * y)\n}}\n",
               extent_, body);
  }

 private:
  // Of condition k, and of which index it is asked.
  using Side = std::string;
  using Sides = std::set<Side>;

  std::string pick(const std::vector<std::string>& from) {
    return from[random_.below(from.size())];
  }

  Side side() {
    const std::string index = pick(indices_);
    if (random_.one_in(3))
      return fmt::format("{}[{}, {}]", 3 + random_.below(2), index, pick(indices_));
    return fmt::format("{}[{}]", random_.below(3), index);
  }

  // The last one compares the indices.
  static std::string condition(const Side& side) {
    if (side[0] != '4') return "c" + side;
    return fmt::format("({} > {} + 1)", side.substr(2, 1), side.substr(5, 1));
  }

  // A choice by one side, by two, or by one and the other side of another.
  std::string choice(int depth, const Sides& taken) {
    const Side first = side(), second = side();
    Sides one = taken, both = taken;
    one.insert(first);
    both.insert({first, second});
    switch (random_.below(5)) {
      case 0:
        return fmt::format("(if {} && {} {{ {} }} else {{ {} }})", condition(first),
                           condition(second), number(depth - 1, both), number(depth - 1, taken));
      case 1:
        return fmt::format("(if !{} {{ {} }} else {{ {} }})", condition(first),
                           number(depth - 1, taken), number(depth - 1, one));
      case 2:
        return fmt::format("(if {} {{ {} }} else if {} {{ {} }} else {{ {} }})", condition(first),
                           number(depth - 1, one), condition(second),
                           number(depth - 1, with(taken, second)), number(depth - 1, taken));
      case 3:
        return fmt::format("(if !{} || !{} {{ {} }} else {{ {} }})", condition(first),
                           condition(second), number(depth - 1, taken), number(depth - 1, both));
      default:
        return fmt::format("(if {} {{ {} }} else {{ {} }})", condition(first),
                           number(depth - 1, one), number(depth - 1, taken));
    }
  }

  static Sides with(Sides sides, const Side& side) {
    sides.insert(side);
    return sides;
  }

  // What is bound where a side is not taken is read only where it is.
  std::string binding(int depth, const Sides& taken) {
    const std::string name = fmt::format("t{}", bound_.size());
    const Side needed = side();
    const std::string value = number(depth - 1, with(taken, needed));
    const std::size_t place = bound_.size();
    bound_.push_back({name, with(taken, needed)});
    const std::string rest =
        fmt::format("{} + {}", choice(depth - 1, taken), choice(depth - 1, taken));
    bound_[place].name.clear();  // out of scope
    return fmt::format("{{ let {} = {}; {} }}", name, value, rest);
  }

  std::string quotient(int depth, const Sides& taken) {
    const std::vector<Side> sides(taken.begin(), taken.end());
    const std::string operand = "z" + pick(sides);
    switch (random_.below(5)) {
      case 0:
        return fmt::format("({} / ({} * d))", number(depth - 1, taken), operand);
      case 1:
        return fmt::format("(log({} * {}) * {})", operand, pick({"x[i, j]", "x[j, 1]", "d"}),
                           number(depth - 1, taken));
      case 2:
        return fmt::format("sqrt({} * x[i, {}])", operand, random_.below(5));
      default:
        return fmt::format("({} / {})", number(depth - 1, taken), operand);
    }
  }

  // A float64.
  std::string number(int depth, const Sides& taken) {
    for (const Bound& each : bound_) {
      if (!each.name.empty() && random_.one_in(2) &&
          std::includes(taken.begin(), taken.end(), each.needed.begin(), each.needed.end()))
        return each.name;
    }
    switch (random_.below(depth > 0 ? 13 : 3)) {
      case 0:
        return fmt::format("x[{}, {}]", pick(indices_), pick({"i", "j", "0", "1"}));
      case 1:
        return pick({"x[i, j]", "x[j, i]", "d"});
      case 2:
        return fmt::format("0.{}f64", 1 + random_.below(9));
      case 3:
      case 4:
        return choice(depth, taken);
      case 5:
        return binding(depth, taken);
      case 6: {
        if (indices_.size() > 2) return "x[k, i]";
        indices_.push_back("k");
        const std::string inner = number(depth - 1, taken);
        indices_.pop_back();
        return fmt::format("({} k < {} {{ {} }})", pick({"sum", "max", "prod"}), extent_, inner);
      }
      case 12:
        return fmt::format("{}({})", pick({"sin", "tanh"}), number(depth - 1, taken));
      case 7:
      case 8:
        if (!taken.empty()) return quotient(depth, taken);
        [[fallthrough]];
      default:
        return fmt::format("({} {} {})", number(depth - 1, taken), pick({"+", "-", "*"}),
                           number(depth - 1, taken));
    }
  }

  struct Bound {
    std::string name;
    Sides needed;
  };

  Random random_;
  int extent_;  // of all indices
  std::vector<std::string> indices_ = {"i", "j"};
  std::vector<Bound> bound_;
};

TEST_CASE("what a condition keeps from being needed says nothing in derivatives") {
  check_true_of<Quotients>(
      kPrograms, "1e-9",
      "def same(a, b) { all i, j { near(a[i, j], b[i, j]) } }\n"
      "let u = cos(x * 9.0)\n"
      "def along(x, z) { sum(grad(fn (x) { total(x, z) })(x) * u) }\n"
      "def value(z) { total(x, z) }\n"
      "def first(z) { grad(fn (x) { total(x, z) })(x) }\n"
      "def tangent(z) { jvp(fn (x) { total(x, z) })(x, u).1 }\n"
      "def second(z) { grad(fn (x) { along(x, z) })(x) }\n"
      "def mixed(z) { grad(fn (x) { jvp(fn (x) { total(x, z) })(x, u).1 })(x) }\n"
      "def over(z) { hvp(fn (x) { total(x, z) })(x, u) }\n",
      {"near(value(zero), value(one))", "near(tangent(zero), tangent(one))",
       "same(first(zero), first(one))", "same(second(zero), second(one))",
       "same(over(zero), over(one))", "same(mixed(zero), mixed(one))",
       "same(second(one), over(one))"});
}

}  // namespace
}  // namespace relay::tests
