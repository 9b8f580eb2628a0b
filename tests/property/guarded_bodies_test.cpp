// Index notation with an `if` around what may fail: reads out of range, divisions by zero. A
// kernel, on lanes and native, gives what evaluation point by point gives: the same bits, or the
// same error at the same place.

#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "repl/session.h"
#include "tests/support/by_point.h"
#include "tests/support/native_code.h"
#include "tests/support/property.h"
#include "tests/support/random.h"

namespace relay::tests {
namespace {

constexpr std::size_t kPrograms = 300;

// Scalar code over x: float32[n], m: float32[n, p] and d: int64[n], in which reads have indices of
// any range. `same` stands around the bodies of loops; it returns its argument.
class Bodies {
 public:
  explicit Bodies(std::uint64_t seed) : random_(seed) {
    n_ = 1 + random_.below(random_.one_in(4) ? 70 : 9);
    p_ = 1 + random_.below(random_.one_in(4) ? 40 : 6);
  }

  // A program that defines `f`, which is called with `x`, `m` and `d`.
  std::string text() {
    const std::size_t rows = n_ + random_.below(4);
    const bool is_matrix = random_.one_in(2);
    std::string loops = fmt::format("i < {}", rows);
    indices_ = {"i"};
    if (is_matrix) {
      loops += fmt::format(", j < {}", p_ + random_.below(3));
      indices_.push_back("j");
    }
    const std::string body = number(4);
    return fmt::format(
        "let x = for i < {0} {{ cast(mod(i * 7, 11), dtype=\"float32\") * 0.5 - 2.0 }}\n"
        "let m = for i < {0}, j < {1} {{ cast(mod(i * 5 + j * 3, 13), dtype=\"float32\") - 6.0 }}\n"
        "let d = for i < {0} {{ mod(i * 3, 7) - 1 }}\n"
        "def f(x: Tensor[({0}), float32], m: Tensor[({0}, {1}), float32], d: Tensor[({0}), int64]) "
        "{{\n  for {2} {{ same({3}) }}\n}}\n",
        n_, p_, loops, body);
  }

 private:
  std::string pick(const std::vector<std::string>& from) {
    return from[random_.below(from.size())];
  }
  std::size_t either(std::size_t a, std::size_t b) { return random_.one_in(2) ? a : b; }

  // An int64.
  std::string index(int depth) {
    const std::string i = pick(indices_);
    const std::size_t c = random_.below(4);
    switch (random_.below(depth > 0 ? 12 : 7)) {
      case 0:
      case 1:
        return i;
      case 2:
        return fmt::format("({} - {})", i, c);
      case 3:
        return fmt::format("({} + {})", i, c);
      case 4:
        return fmt::format("({} - {})", n_ - 1, i);
      case 5:
        return fmt::format("({} * 2 - {})", i, c);
      case 6:
        return fmt::format("({} % {})", i, c + 1);
      case 7:
        return fmt::format("({} + {})", i, pick(indices_));
      case 8:
        return fmt::format("({} - {})", i, pick(indices_));
      case 9:
        return read("d", {index(depth - 1)}, "0i64", depth);
      case 10: {
        const std::string divisor = index(depth - 1);
        return guarded(fmt::format("{} != 0", divisor),
                       fmt::format("{} {} {}", index(depth - 1), pick({"/", "%"}), divisor),
                       "1i64");
      }
      default:
        return fmt::format("(if {} {{ {} }} else {{ {} }})", condition(depth - 1), index(depth - 1),
                           index(depth - 1));
    }
  }

  // Mostly with the guard; now and then without, so that something fails.
  std::string guarded(const std::string& guard, const std::string& body, const std::string& other) {
    if (random_.below(25) == 24) return fmt::format("({})", body);
    return fmt::format("(if {} {{ {} }} else {{ {} }})", guard, body, other);
  }

  std::string read(const std::string& tensor, const std::vector<std::string>& indices,
                   const std::string& other, int depth) {
    std::string guard;
    for (std::size_t axis = 0; axis < indices.size(); ++axis) {
      std::size_t extent = axis == 0 ? n_ : p_;
      if (random_.below(60) == 59) ++extent;
      if (axis > 0) guard += " && ";
      switch (random_.below(3)) {
        case 0:
          guard += fmt::format("{0} >= 0 && {0} < {1}", indices[axis], extent);
          break;
        case 1:
          guard += fmt::format("!({0} < 0 || {0} > {1} - 1)", indices[axis], extent);
          break;
        default:
          guard += fmt::format("0 <= {0} && {1} > {0}", indices[axis], extent);
      }
    }
    if (depth > 1 && random_.one_in(4)) guard += fmt::format(" && {}", condition(depth - 2));
    return guarded(guard, fmt::format("{}[{}]", tensor, fmt::join(indices, ", ")), other);
  }

  std::string condition(int depth) {
    switch (random_.below(depth > 0 ? 6 : 2)) {
      case 0:
        return fmt::format("{} {} {}", pick(indices_), pick({"<", "<=", ">", ">=", "==", "!="}),
                           random_.below(n_ + 1));
      case 1: {
        // Not with itself: beside what is always false nothing need be computed that may fail.
        const std::string left = index(0), right = index(0);
        return fmt::format("{} {} {}", left, pick({"<", "<=", ">", ">=", "==", "!="}),
                           left == right ? right + " + 1" : right);
      }
      case 2:
        return fmt::format("({} && {})", condition(depth - 1), condition(depth - 1));
      case 3:
        return fmt::format("({} || {})", condition(depth - 1), condition(depth - 1));
      case 4:
        return fmt::format("!({})", condition(depth - 1));
      default:
        return fmt::format("{} > {}.0", number(depth - 1), random_.below(3));
    }
  }

  // A float32.
  std::string number(int depth) {
    switch (depth > 0 ? random_.below(10) : random_.below(3)) {
      case 0:
        return fmt::format("{}.5", random_.below(5));
      case 1:
        return read("x", {index(depth - 1)}, "0.25", depth);
      case 2:
        return read("m", {index(depth - 1), index(depth - 1)}, "0.75", depth);
      case 3:
      case 4:
        return fmt::format("({} {} {})", number(depth - 1), pick({"+", "-", "*", "/"}),
                           number(depth - 1));
      case 5:
      case 6:
        return fmt::format("(if {} {{ {} }} else {{ {} }})", condition(depth - 1),
                           number(depth - 1), number(depth - 1));
      case 7: {
        if (is_inside_) return fmt::format("exp({} * 0.1)", number(depth - 1));
        is_inside_ = true;
        indices_.push_back("k");
        const std::string body = number(depth - 1);
        indices_.pop_back();
        is_inside_ = false;
        return fmt::format("({} k < {} {{ same({}) }})", pick({"sum", "max", "prod"}),
                           1 + random_.below(random_.one_in(3) ? 40 : 4), body);
      }
      case 8:
        return fmt::format("cast({}, dtype=\"float32\")", index(depth - 1));
      default: {
        const std::string name = fmt::format("t{}", names_++);
        const std::string value = number(depth - 1);
        return fmt::format("{{ let {0} = {1}; {2} * {0} }}", name, value, number(depth - 1));
      }
    }
  }

  Random random_;
  std::size_t n_;
  std::size_t p_;
  std::vector<std::string> indices_;
  bool is_inside_ = false;
  int names_ = 0;
};

std::int64_t number_of_reductions(std::string_view program) {
  constexpr std::string_view kBinder = " k < ";
  std::int64_t count = 0;
  for (auto at = program.find(kBinder); at != std::string_view::npos;
       at = program.find(kBinder, at + 1))
    ++count;
  return count;
}

TEST_CASE("what an `if` guards gives the same by kernel and by point") {
  repl::Session points(verified(interp::JitMode::Off));
  repl::Session lanes(verified(interp::JitMode::Off));
  repl::Session native(verified(interp::JitMode::Always));
  std::int64_t good = 0;
  std::int64_t kernels = 0;
  const auto all = seeds(kPrograms);
  for (const std::uint64_t seed : all) {
    const std::string text = Bodies(seed).text();
    CAPTURE(seed, text);
    const Outcome expected = outcome_by_point(points, text);
    good += expected.is_value;
    const std::int64_t before = lanes.evaluator().statistics().kernels_run_lanes;
    CHECK(outcome_by_kernel(lanes, text).text == expected.text);
    // Three tensors, the body, its reductions where they are the same at many points of it, and now
    // and then something else that is.
    const std::int64_t now = lanes.evaluator().statistics().kernels_run_lanes - before;
    CHECK(now <= 6 + number_of_reductions(text));
    kernels += now;
    CHECK(outcome_by_kernel(native, text).text == expected.text);
  }
  const auto count = static_cast<std::int64_t>(all.size());
  if (count >= 100) {
    CHECK(good > count / 2);  // some fail, most do not
    CHECK(good < count);
    CHECK(kernels > count * 39 / 10);  // a body that only reads one tensor is a view of it
  }
  for (const std::string& code : without_native_code(native.evaluator().statistics()))
    FAIL_CHECK("no native code for " << code << ", RELAY_SEED=" << first_seed());
}

// Which branch is taken says what may fail, also in a derivative.
TEST_CASE("what an `if` guards has derivatives where it has a value") {
  repl::Session session(verified(interp::JitMode::Off));
  std::size_t good = 0;
  const auto all = seeds(kPrograms / 2);
  for (const std::uint64_t seed : all) {
    const std::string text =
        "def same(x) { x }\n" + Bodies(seed).text() + "def total(x, m) { sum(f(x, m, d)) }\n";
    CAPTURE(seed, text);
    const auto errors = session.run("<program>", text, nullptr);
    if (!errors.empty()) FAIL_CHECK(rendered(errors));
    if (!session.evaluate("f(x, m, d)")) continue;
    ++good;
    for (const char* derivative : {"grad(total)(x, m)", "jvp(total)(x, m, x, m)"}) {
      const auto given = session.evaluate(derivative);
      if (!given) FAIL_CHECK(derivative << "\n" << rendered(given.errors()));
    }
  }
  if (all.size() >= 100) CHECK(good > all.size() / 2);
}

}  // namespace
}  // namespace relay::tests
