// Index notation whose bodies make tensors: rows taken whole, lists of numbers, operators on them.
// A kernel, on lanes and native, gives what evaluation point by point gives: the same bits, or the
// same error at the same place.

#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/support/by_point.h"
#include "tests/support/native_code.h"
#include "tests/support/property.h"
#include "tests/support/random.h"

namespace relay::tests {
namespace {

constexpr std::size_t kPrograms = 300;

// Bodies over x: float32[n], m: float32[n, p], d: int64[n].
class RowBodies {
 public:
  explicit RowBodies(std::uint64_t seed) : random_(seed) {
    n_ = 1 + random_.below(random_.one_in(4) ? 40 : 7);
    p_ = 1 + random_.below(random_.one_in(4) ? 40 : 5);
  }

  // A program that defines `f`, which is called with `x`, `m` and `d`.
  std::string text() {
    indices_ = {"i"};
    const bool gives_rows = random_.one_in(3);
    const std::string body =
        gives_rows ? fmt::format("same_row({})", row(4)) : fmt::format("same({})", number(4));
    return fmt::format(
        "let x = for i < {0} {{ cast(mod(i * 7, 11), dtype=\"float32\") * 0.5 - 2.0 }}\n"
        "let m = for i < {0}, j < {1} {{ cast(mod(i * 5 + j * 3, 13), dtype=\"float32\") - 6.0 }}\n"
        "let w = for i < {1}, j < {1} {{ cast(mod(i * 3 + j * 7, 5), dtype=\"float32\") * 0.25 }}\n"
        "let d = for i < {0} {{ mod(i * 3, {0}) }}\n"
        "def f(x: Tensor[({0}), float32], m: Tensor[({0}, {1}), float32], d: Tensor[({0}), int64]) "
        "{{\n  for i < {0} {{ {2} }}\n}}\n",
        n_, p_, body);
  }

  // A program whose `f` is a loop over a tensor of p elements, p below 6: small tensors in native
  // code.
  std::string loop_text() {
    p_ = 1 + random_.below(5);
    is_loop_ = true;
    indices_ = {"(k % 3)"};
    return fmt::format(
        "let x = for i < 3 {{ cast(i, dtype=\"float32\") * 0.5 - 0.5 }}\n"
        "let m = for i < 3, j < {0} {{ cast(mod(i * 5 + j * 3, 13), dtype=\"float32\") * 0.1 }}\n"
        "let w = for i < {0}, j < {0} {{ cast(mod(i * 3 + j * 7, 5), dtype=\"float32\") * 0.25 }}\n"
        "let d = for i < 3 {{ mod(i + 1, 3) }}\n"
        "def step(r: Tensor[({0}), float32], m: Tensor[(3, {0}), float32], x: Tensor[(3), "
        "float32], "
        "d: Tensor[(3), int64], k: int64) -> Tensor[({0}), float32] {{\n"
        "  if k == 0i64 {{ r }} else {{ step(same_row({1}), m, x, d, k - 1i64) }}\n}}\n"
        "def f(x: Tensor[(3), float32], m: Tensor[(3, {0}), float32], d: Tensor[(3), int64]) {{ "
        "step(m[1], m, x, d, 4i64) }}\n",
        p_, row(4));
  }

 private:
  std::string pick(const std::vector<std::string>& from) {
    return from[random_.below(from.size())];
  }

  // Of a tensor with n rows; now and then out of range.
  std::string index() {
    const std::string i = pick(indices_);
    if (is_loop_) return random_.one_in(3) ? fmt::format("d[{}]", i) : i;
    switch (random_.below(30)) {
      case 29:
        return fmt::format("{} + 1", i);
      case 28:
        return fmt::format("{} - 1", i);
      default:
        break;
    }
    switch (random_.below(4)) {
      case 0:
      case 1:
        return i;
      case 2:
        return fmt::format("{} - {}", n_ - 1, i);
      default:
        return fmt::format("d[{}]", i);
    }
  }

  std::string condition(int depth) {
    if (random_.one_in(2)) return fmt::format("{} % 2 == 0", pick(indices_));
    return fmt::format("{} > {}.0", number(depth - 1), random_.below(3));
  }

  // A float32 tensor of shape (p).
  std::string row(int depth) {
    switch (depth > 0 ? random_.below(15) : random_.below(2)) {
      case 0:
        if (is_loop_) return "r";
        [[fallthrough]];
      case 1:
        return fmt::format("m[{}]", index());
      case 2:
      case 3:
        return fmt::format("({} {} {})", row(depth - 1), pick({"+", "-", "*"}), row(depth - 1));
      case 4:
        return fmt::format("({} {} {})", row(depth - 1), pick({"+", "-", "*"}), number(depth - 1));
      case 5:
        return fmt::format("{}({} * 0.1)", pick({"exp", "sin", "tanh"}), row(depth - 1));
      case 6:
        return fmt::format("nn.softmax({})", row(depth - 1));
      case 7: {
        const std::string name = fmt::format("k{}", names_++);
        return fmt::format("(for {0} < {1} {{ {2}[{0}] * {3} }})", name, p_, row(depth - 1),
                           number(depth - 1));
      }
      case 8:
        return fmt::format("reverse({}, axis=0)", row(depth - 1));
      case 9:
        return fmt::format("(if {} {{ {} }} else {{ {} }})", condition(depth - 1), row(depth - 1),
                           row(depth - 1));
      case 10: {
        const std::string name = fmt::format("r{}", names_++);
        const std::string value = row(depth - 1);
        return fmt::format("{{ let {0} = {1}; {0} * {2} + {0} }}", name, value, row(depth - 1));
      }
      case 11: {
        std::vector<std::string> numbers;
        if (p_ > 5) return row(depth - 1);
        for (std::size_t k = 0; k < p_; ++k) numbers.push_back(number(depth - 2));
        return fmt::format("[{}]", fmt::join(numbers, ", "));
      }
      case 12:
        return fmt::format("nn.dense(expand_dims({}, axis=0), w)[0]", row(depth - 1));
      case 13:
        return fmt::format("concatenate(({0}, {1}))[{2}:{3}]", row(depth - 1), row(depth - 1),
                           p_ / 2, p_ / 2 + p_);
      default:
        return fmt::format("maximum({}, {})", row(depth - 1), row(depth - 1));
    }
  }

  // A float32.
  std::string number(int depth) {
    switch (depth > 0 ? random_.below(11) : random_.below(2)) {
      case 0:
        return fmt::format("{}.5", random_.below(5));
      case 1:
        return fmt::format("x[{}]", index());
      case 2:
      case 3:
        return fmt::format("({} {} {})", number(depth - 1), pick({"+", "-", "*"}),
                           number(depth - 1));
      case 4:
      case 5:
        return fmt::format("{}({})", pick({"sum", "max", "mean"}), row(depth - 1));
      case 6:
        return fmt::format("{}[{}]", row(depth - 1), random_.below(p_));
      case 7:
        return fmt::format("{}[{}]", row(depth - 1), pick(indices_));  // it may have fewer elements
      case 8: {
        if (indices_.size() > 1) return fmt::format("sum({})", row(depth - 1));
        indices_.push_back("j");
        const std::string body = number(depth - 1);
        indices_.pop_back();
        return fmt::format("(sum j < {} {{ same({}) }})", 1 + random_.below(n_), body);
      }
      case 9: {
        const std::string name = fmt::format("q{}", names_++);
        const std::string value = row(depth - 1);
        return fmt::format("{{ let {0} = {1}; {0}[0] * {2} + sum({0}) }}", name, value,
                           number(depth - 1));
      }
      default:
        return fmt::format("(if {} {{ {} }} else {{ {} }})", condition(depth - 1),
                           number(depth - 1), number(depth - 1));
    }
  }

  Random random_;
  std::size_t n_;
  std::size_t p_;
  std::vector<std::string> indices_;
  bool is_loop_ = false;
  int names_ = 0;
};

TEST_CASE("bodies that make tensors give the same by kernel and by point") {
  repl::Session points(verified(interp::JitMode::Off));
  repl::Session lanes(verified(interp::JitMode::Off));
  repl::Session native(verified(interp::JitMode::Always));
  std::int64_t good = 0;
  std::int64_t other_errors = 0;  // where a point has several: which comes first is not promised
  const auto all = seeds(kPrograms);
  for (const std::uint64_t seed : all) {
    const std::string text = RowBodies(seed).text();
    CAPTURE(seed, text);
    const Outcome expected = outcome_by_point(points, text);
    good += expected.is_value;
    const Outcome found = outcome_by_kernel(lanes, text);
    CHECK(outcome_by_kernel(native, text).text == found.text);
    if (found.is_value || expected.is_value) {
      CHECK(found.text == expected.text);
    } else if (found.text != expected.text) {
      ++other_errors;
    }
  }
  const auto count = static_cast<std::int64_t>(all.size());
  if (count >= 100) {
    CHECK(good > count / 2);  // some fail, most do not
    CHECK(good < count);
    CHECK(other_errors < (count - good) / 10 + 1);
  }
  for (const std::string& code : without_native_code(native.evaluator().statistics()))
    FAIL_CHECK("no native code for " << code << ", RELAY_SEED=" << first_seed());
}

// In float64, without ties: the gradient along a direction is the tangent along it, of the sum and
// of its gradient along another one.
std::string with_derivatives(std::string text) {
  for (std::size_t at = 0; (at = text.find("float32", at)) != std::string::npos;)
    text.replace(at, 7, "float64");
  return "def same(y) { y }\ndef same_row(y) { y }\n" + text +
         "let n = m * 0.31 + sin(m * 9.7 + reverse(m, axis=0))\n"
         "let u = cos(m)\n"
         "let v = sin(m * 1.7)\n"
         "def total(m) { sum(f(x, m, d)) }\n"
         "def along(m) { sum(grad(total)(m) * u) }\n"
         "def near(a: float64, b: float64) { abs(a - b) <= 1e-7 * (1.0 + abs(a) + abs(b)) }\n"
         "def agree(m) { (near(along(m), jvp(total)(m, u).1),\n"
         "  near(sum(grad(along)(m) * v), jvp(along)(m, v).1)) }\n";
}

TEST_CASE("derivatives of bodies that make tensors agree with tangents") {
  repl::Session session(verified(interp::JitMode::Off));
  constexpr std::size_t kDerivatives = 60;
  std::int64_t good = 0;
  const auto all = seeds(kDerivatives);
  for (const std::uint64_t seed : all) {
    const std::string text = with_derivatives(RowBodies(seed).text());
    CAPTURE(seed, text);
    const auto errors = session.run("<program>", text, nullptr);
    if (!errors.empty() || !session.evaluate("f(x, n, d)")) continue;
    ++good;
    const auto agree = session.evaluate("agree(n)");
    if (!agree) FAIL_CHECK(rendered(agree.errors()));
    if (agree) CHECK(lang::to_string(*agree) == "(True, True)");
  }
  if (all.size() >= 50) CHECK(good > static_cast<std::int64_t>(all.size()) / 2);
}

TEST_CASE("loops over small tensors give the same in either tier") {
  repl::Session interpreted(verified(interp::JitMode::Off));
  repl::Session native(verified(interp::JitMode::Always));
  std::int64_t good = 0;
  const auto all = seeds(kPrograms);
  for (const std::uint64_t seed : all) {
    const std::string text = RowBodies(seed).loop_text();
    CAPTURE(seed, text);
    const Outcome expected = outcome_by_kernel(interpreted, text);
    good += expected.is_value;
    CHECK(outcome_by_kernel(native, text).text == expected.text);
  }
  const auto count = static_cast<std::int64_t>(all.size());
  CHECK(native.evaluator().statistics().functions_compiled >= good);
  if (count >= 100) CHECK(good > count / 2);
}

}  // namespace
}  // namespace relay::tests
