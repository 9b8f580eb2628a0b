// Index notation whose loops may have no points, around code that may fail and does not depend on
// all of the indices. A body without points is never evaluated, wherever parts of it are computed;
// and a kernel, on lanes and native, gives a value exactly where evaluation point by point does.

#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "repl/session.h"
#include "tests/support/by_point.h"
#include "tests/support/property.h"
#include "tests/support/random.h"

namespace relay::tests {
namespace {

constexpr std::size_t kPrograms = 200;

// Scalar code over x: float32[a], m: float32[a, b] and the numbers k, n and p, all of which may be
// 0. `same` stands around the bodies of loops; it returns its argument.
class EmptyBodies {
 public:
  explicit EmptyBodies(std::uint64_t seed) : random_(seed) {
    for (std::size_t* extent : {&a_, &b_, &n_, &p_, &k_}) *extent = extent_or_nothing();
  }

  bool has_points() const { return n_ > 0 && (!is_matrix_ || p_ > 0); }

  // A program that defines `f`, which is called with `x`, `m` and `d`.
  std::string text() {
    is_matrix_ = random_.one_in(3);
    indices_ = {"i"};
    if (is_matrix_) indices_.push_back("j");
    const std::string body = number(4);
    return fmt::format(
        "let x = for i < {0} {{ cast(i, dtype=\"float32\") * 0.5 - 2.0 }}\n"
        "let m = for i < {0}, j < {1} {{ cast(i * 5 + j * 3, dtype=\"float32\") - 6.0 }}\n"
        "let d = [{2}i64, {3}i64, {4}i64]\n"
        "def g[a, b](x: Tensor[(a), float32], m: Tensor[(a, b), float32], n: int64, p: int64, "
        "k: int64) {{\n  for i < n{5} {{ same({6}) }}\n}}\n"
        "def f(x: Tensor[({0}), float32], m: Tensor[({0}, {1}), float32], d: Tensor[(3), int64]) "
        "{{ g(x, m, d[0], d[1], d[2]) }}\n",
        a_, b_, n_, p_, k_, is_matrix_ ? ", j < p" : "", body);
  }

 private:
  std::size_t extent_or_nothing() { return random_.one_in(2) ? 0 : 1 + random_.below(3); }
  std::string pick(const std::vector<std::string>& from) {
    return from[random_.below(from.size())];
  }

  // An int64, mostly none of the indices.
  std::string index() {
    switch (random_.below(6)) {
      case 0:
        return pick(indices_);
      case 1:
        return "(k + 1)";
      case 2:
        return fmt::format("(7 / {})", pick({"k", "p", "n"}));
      case 3:
        return fmt::format("({} % {})", pick({"n", "p", pick(indices_)}), pick({"k", "2"}));
      default:
        return "k";
    }
  }

  std::string condition() {
    return fmt::format("{} {} {}", pick({"k", "p", pick(indices_)}), pick({">", "==", "<"}),
                       random_.below(2));
  }

  std::string loop(const std::string& extent, int depth) {
    const std::string name = fmt::format("q{}", names_++);
    indices_.push_back(name);
    const std::string body = number(depth - 1);
    indices_.pop_back();
    return fmt::format("(sum {} < {} {{ same({}) }})", name, extent, body);
  }

  // A float32.
  std::string number(int depth) {
    switch (random_.below(depth > 0 ? 10 : 4)) {
      case 0:
        return fmt::format("{}.5", random_.below(5));
      case 1:
        return fmt::format("x[{}]", index());
      case 2:
        return fmt::format("m[{}, {}]", index(), index());
      case 3:
        return fmt::format("cast({}, dtype=\"float32\")", index());
      case 4:
        return fmt::format("(if {} {{ {} }} else {{ {} }})", condition(), number(depth - 1),
                           number(depth - 1));
      case 5:
      case 6:
        return loop(pick({"p", "n", "7 / (k + 1)", "2", pick(indices_)}), depth);
      case 7: {
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
  std::size_t a_ = 0;
  std::size_t b_ = 0;
  std::size_t n_ = 0;
  std::size_t p_ = 0;
  std::size_t k_ = 0;
  std::vector<std::string> indices_;
  bool is_matrix_ = false;
  int names_ = 0;
};

TEST_CASE("a body without points is never evaluated") {
  repl::Session points(verified(interp::JitMode::Off));
  repl::Session lanes(verified(interp::JitMode::Off));
  repl::Session native(verified(interp::JitMode::Always));
  std::size_t empty = 0;
  std::size_t failed = 0;
  const auto all = seeds(kPrograms);
  for (const std::uint64_t seed : all) {
    EmptyBodies bodies(seed);
    const std::string text = bodies.text();
    CAPTURE(seed, text);
    const Outcome expected = outcome_by_point(points, text);
    CAPTURE(expected.text);
    if (!bodies.has_points()) {
      ++empty;
      CHECK(expected.is_value);
    }
    failed += !expected.is_value;
    for (repl::Session* session : {&lanes, &native}) {
      const Outcome found = outcome_by_kernel(*session, text);
      CAPTURE(found.text);
      // Of several errors, they may find different ones.
      CHECK(found.is_value == expected.is_value);
      if (expected.is_value) CHECK(found.text == expected.text);
    }
  }
  if (all.size() >= 100) {
    CHECK(empty > all.size() / 4);
    CHECK(failed > all.size() / 10);
  }
}

}  // namespace
}  // namespace relay::tests
