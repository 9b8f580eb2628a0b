// Index notation whose bodies call functions: with branches, recursive, of whole tensors, of
// records, of what they have captured; in loops whose extents are integers of any type. Gradients
// have the same bits in both tiers, agree with central differences and with tangents, and second
// ones do too.

#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/support/by_point.h"
#include "tests/support/check_programs.h"
#include "tests/support/property.h"
#include "tests/support/random.h"

namespace relay::tests {
namespace {

constexpr std::size_t kPrograms = 80;

// Bodies over x: float64[n], m: float64[n, p], w: float64[4].
class PointBodies {
 public:
  explicit PointBodies(std::uint64_t seed) : random_(seed) {
    n_ = 2 + random_.below(4);
    p_ = 2 + random_.below(3);
    // More points than a byte counts.
    is_wide_ = random_.one_in(8);
  }

  // Defines x, m, w and `total`, a function of them.
  std::string text() {
    std::string text = fmt::format(
        "let x = for i < {0} {{ cast(mod(i * 7, 11), dtype=\"float64\") * 0.13 - 0.6 }}\n"
        "let m = for i < {0}, j < {1} {{ cast(mod(i * 5 + j * 3, 13), dtype=\"float64\") * 0.1 - "
        "0.57 }}\n"
        "let w = [0.5f64, -0.3f64, 0.8f64, 0.1f64]\n"
        "type Both {{ Both {{ u: Tensor[({0}), float64], s: float64 }} }}\n",
        n_, p_);
    for (int k = 0; k < 3; ++k) text += helper(k);
    text +=
        "def deep(x, i: int64, k: int32) -> float64 {\n"
        "  if k == 0 { x[i] } else { sin(deep(x, i, k - 1)) * 0.7 + x[i] }\n}\n"
        "def of_both(r: Both, i: int64) -> float64 {\n"
        "  if r.u[i] > 0.1f64 { r.u[i] * r.s } else { r.u[i] - r.s }\n}\n"
        "def whole(x) { tanh(x * 1.1f64) + sum(x) }\n"
        "def net(x, k: int32) { if k == 0 { x } else { net(tanh(x * 1.1f64), k - 1) } }\n";
    const std::size_t rows = is_wide_ ? 12 : n_;
    const std::size_t columns = is_wide_ ? 12 : p_;
    indices_ = {"i", "j"};
    const std::string body = number(4);
    const std::string first = integer_type(), second = integer_type();
    text += fmt::format(
        "def go(x: Tensor[({0}), float64], m: Tensor[({0}, {1}), float64], w: Tensor[(4), "
        "float64], e: {2}, g: {3}) -> float64 {{\n"
        "  let r = Both(u = x, s = w[0]);\n  sum(for i < e, j < g {{ {4} }})\n}}\n",
        n_, p_, first, second, body);
    return text + fmt::format(
                      "def total(x, m, w) {{ go(x, m, w, cast({}, dtype=\"{}\"), "
                      "cast({}, dtype=\"{}\")) }}\n",
                      rows, first, columns, second);
  }

 private:
  std::string pick(const std::vector<std::string>& from) {
    return from[random_.below(from.size())];
  }
  std::string integer_type() { return pick({"int8", "int16", "int32", "int64", "uint8"}); }

  // Of a row.
  std::string index() {
    const std::string& i = indices_[random_.below(indices_.size())];
    switch (random_.below(4)) {
      case 0:
        if (i == "i" && !is_wide_) return i;
        [[fallthrough]];
      case 1:
        return fmt::format("mod({}, {}i64)", i, n_);
      case 2:
        return fmt::format("mod({} * 3i64 + 1i64, {}i64)", i, n_);
      default:
        return fmt::format("{}i64", random_.below(n_));
    }
  }

  std::string extent() {
    switch (random_.below(4)) {
      case 0:
        return pick(indices_);  // which may be 0
      case 1:
        return pick({"e", "g"});
      default:
        return fmt::format("{}{}", 1 + random_.below(3), pick({"i8", "i16", "i32", "i64"}));
    }
  }

  std::string condition() {
    const std::string i = pick(indices_);
    return pick({fmt::format("{} > 0", i), fmt::format("mod({}, 2i64) == 0", i),
                 fmt::format("x[{}] > 0.1f64", index())});
  }

  std::string helper(int k) {
    static const std::vector<std::string> kBodies = {
        "if i > 0 { x[i - 1] * x[i] } else { x[i] }",
        "if x[i] > 0.1f64 { x[i] * x[i] } else { -x[i] }",
        "let a = x[i] * 0.5f64; if i % 2i64 == 0 { sum k < i { x[k] * a } } else { tanh(a) }",
        "match (if x[i] > 0.1f64 { Some(x[i]) } else { None }) { Some(v) => v * v, None => x[0] }",
        "if i == 0 { sum(x) } else { x[i] * x[0] }",
        "let y = net(x, 2); y[i] * x[i]"};
    return fmt::format("def h{}(x, i: int64) -> float64 {{ {} }}\n", k, pick(kBodies));
  }

  std::string loop(int depth) {
    if (indices_.size() > 2) return number(depth - 1);
    const std::string name = fmt::format("q{}", names_++);
    const std::string range = extent();
    indices_.push_back(name);
    const std::string body = number(depth - 1);
    indices_.pop_back();
    return fmt::format("(sum {} < {} {{ {} }})", name, range, body);
  }

  std::string call(int depth) {
    switch (random_.below(6)) {
      case 0:
        return fmt::format("deep(x, {}, 2)", index());
      case 1:
        return fmt::format("of_both(r, {})", index());
      case 2:
        return fmt::format("{}[{}]", pick({"whole(x)", "net(x, 2)", "tanh(x)"}), index());
      case 3: {
        const std::string name = fmt::format("c{}", names_++);
        const std::string at = index();
        return fmt::format(
            "{{ let {0} = fn (q: int64) {{ if x[q] > 0.1f64 {{ x[q] * {1} }} else {{ x[q] }} }}; "
            "{0}({2}) + {0}(0i64) }}",
            name, number(depth - 2), at);
      }
      default:
        return fmt::format("h{}(x, {})", random_.below(3), index());
    }
  }

  // A float64.
  std::string number(int depth) {
    switch (depth > 0 ? random_.below(14) : random_.below(4)) {
      case 0:
        return fmt::format("0.{}f64", 1 + random_.below(9));
      case 1:
        return fmt::format("x[{}]", index());
      case 2:
        return fmt::format("m[{}, {}]", index(), pick({"0", "1", "mod(j, 2i64)"}));
      case 3:
        return pick({"w[1]", "w[3]", "r.s"});
      case 4:
        return fmt::format("{}({})", pick({"tanh", "sin", "sigmoid"}), number(depth - 1));
      case 5:
        return fmt::format("(if {} {{ {} }} else {{ {} }})", condition(), number(depth - 1),
                           number(depth - 1));
      case 6:
        return loop(depth);
      case 7:
      case 8:
      case 9:
        return call(depth);
      case 10: {
        const std::string name = fmt::format("t{}", names_++);
        const std::string value = number(depth - 1);
        return fmt::format("{{ let {0} = {1}; {2} * {0} }}", name, value, number(depth - 1));
      }
      default:
        return fmt::format("({} {} {})", number(depth - 1), pick({"+", "-", "*"}),
                           number(depth - 1));
    }
  }

  Random random_;
  std::size_t n_;
  std::size_t p_;
  bool is_wide_;
  std::vector<std::string> indices_;
  int names_ = 0;
};

TEST_CASE("gradients of functions that index notation calls are the same in either tier") {
  check_tiers_of<PointBodies>(kPrograms, "let d = w\ndef f(x, m, d) { grad(total)(x, m, d) }\n");
}

TEST_CASE("derivatives of functions that index notation calls agree") {
  check_true_of<PointBodies>(
      kPrograms, "1e-7",
      "let u = cos(m)\n"
      "let v = sin(m * 1.7)\n"
      "def along(x, m, w) { let g = grad(total)(x, m, w); sum(g.0 * sin(x)) + sum(g.1 * u) + "
      "sum(g.2 * w) }\n"
      "def second(x, m) { along(x, m, w) }\n"
      "def agree(x, m, w) { let s = grad(second)(x, m);\n"
      "  (near(along(x, m, w), jvp(total)(x, m, w, sin(x), u, w).1),\n"
      "   near(sum(s.0 * cos(x)) + sum(s.1 * v), jvp(second)(x, m, cos(x), v).1)) }\n",
      {"check_grad(total, x, m, w)", "agree(x, m, w)"});
}

}  // namespace
}  // namespace relay::tests
