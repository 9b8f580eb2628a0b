// Counting loops that multiply a row by the same matrix in each step: where they begin at a number
// that is written out, all rows are multiplied at once (opt/step_products); where it is not known,
// step by step. Both give the same, and so do their gradients.

#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "repl/session.h"
#include "tests/support/property.h"
#include "tests/support/random.h"

namespace relay::tests {
namespace {

constexpr std::size_t kPrograms = 60;

using Extents = std::vector<std::int64_t>;

std::string type_of(const Extents& extents) {
  return fmt::format("Tensor[({}), float64]", fmt::join(extents, ", "));
}

std::string numbers(const Extents& extents, const char* function) {
  std::string binders, sum;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    binders += fmt::format("{}i{} < {}", i > 0 ? ", " : "", i, extents[i]);
    sum += fmt::format("{}{} * i{}", i > 0 ? " + " : "", 2 * i + 3, i);
  }
  return fmt::format("for {} {{ 0.3 * {}(cast({}, dtype=\"float64\")) }}", binders, function, sum);
}

class CountingLoop {
 public:
  explicit CountingLoop(std::uint64_t seed) : random_(seed) {
    number_ = pick({"", "i64"});
    steps_ = 4 + static_cast<std::int64_t>(random_.below(6));
    choose_count();
    choose_product();
  }

  // Defines `near`, and `known` and `open` of (xs, w), which are to give the same.
  std::string text() {
    const bool is_local = random_.one_in(3);
    const std::string more = is_local ? "" : ", xs, w, b";
    const std::string next = pick({"tanh(P + h)", "tanh(P + b + 0.3 * h)", "0.5 * tanh(h - P)"});
    std::string call = fmt::format("go({}, {}{})", step_, with(next, product_), more);
    if (random_.one_in(4)) {
      call = fmt::format(
          "let y = {1}; if sum(y) > 0.0 {{ go({0}, tanh(y + h){2}) }} else {{ "
          "go({0}, 0.3 * y{2}) }}",
          step_, product_, more);
    }
    const std::string data = fmt::format("xs: {}, w: {}", type_of(rows_), type_of(matrix_));
    const std::string body =
        fmt::format("(n: {}, h: {}{}) -> {} {{ if {} {{ {} }} else {{ {} }} }}",
                    number_.empty() ? "int32" : "int64", type_of(state_),
                    is_local ? "" : fmt::format(", {}, b: float64", data), type_of(state_), test_,
                    goes_on_ ? call : "h", goes_on_ ? "h" : call);
    const auto from = [&](const std::string& start) {
      return fmt::format("({}) {{ {}go({}, h0{}) }}\n", data,
                         is_local ? "let b = 0.25f64; let go = fn " + body + "; " : "", start,
                         is_local ? "" : ", xs, w, 0.25");
    };
    return fmt::format(
        "let (xs, w, h0) = ({}, {}, {})\n"
        "let begin = {}\n{}"
        "def known{}def open{}"
        "def near(a, b) {{ max(abs(a - b)) < 1e-12 }}\n"
        "def slopes(f, {}) {{ grad(fn (xs, w) {{ sum(sin(f(xs, w))) }})(xs, w) }}\n",
        numbers(rows_, "sin"), numbers(matrix_, "cos"), numbers(state_, "sin"), numbered(start_),
        is_local ? "" : "def go" + body + "\n", from(numbered(start_)), from("begin"), data);
  }

 private:
  std::string pick(const std::vector<std::string>& from) {
    return from[random_.below(from.size())];
  }
  static std::string with(std::string text, const std::string& product) {
    return text.replace(text.find('P'), 1, product);
  }
  std::string numbered(std::int64_t number) const {
    const std::string text = fmt::format("{}{}", number < 0 ? -number : number, number_);
    return number < 0 ? fmt::format("(0{} - {})", number_, text) : text;
  }

  void choose_count() {
    const bool is_up = !random_.one_in(3);
    const std::int64_t end = is_up ? steps_ - static_cast<std::int64_t>(random_.below(2))
                                   : static_cast<std::int64_t>(random_.below(2)) - 1;
    start_ = static_cast<std::int64_t>(random_.below(2));
    if (!is_up) start_ = steps_ - 1 - start_;
    step_ = (is_up ? "n + 1" : "n - 1") + number_;
    const std::string at = numbered(end), last = numbered(is_up ? end - 1 : end + 1);
    const std::string on = is_up ? "<" : ">", over = is_up ? ">" : "<";
    goes_on_ = random_.one_in(2);
    test_ = goes_on_ ? pick({"n != " + at, "n " + on + " " + at, "n " + on + "= " + last,
                             at + " " + over + " n", last + " " + over + "= n"})
                     : pick({"n == " + at, "n " + over + "= " + at, "n " + over + " " + last,
                             at + " == n", last + " " + on + " n"});
  }

  void choose_product() {
    const std::int64_t inner = 16 + static_cast<std::int64_t>(random_.below(3));
    const std::int64_t outer = 16 + static_cast<std::int64_t>(random_.below(8));
    const std::string row = pick({"xs[n]", "take(xs, n, axis=0)"});
    switch (random_.below(4)) {
      case 0:
        rows_ = {steps_, inner};
        state_ = {outer};
        product_ = fmt::format("nn.dense({}, w)", row);
        break;
      case 1:
        rows_ = {steps_, inner};
        state_ = {outer};
        product_ = fmt::format("w @ {}", row);
        break;
      case 2:
        rows_ = {steps_, inner};
        state_ = {1, outer};
        product_ = fmt::format("nn.dense(reshape({}, newshape=[1, {}]), w)", row, inner);
        break;
      default:
        rows_ = {steps_, 2, inner};
        state_ = {2, outer};
        product_ = fmt::format("({} @ w)", row);
    }
    matrix_ = rows_.size() == 3 ? Extents{inner, outer} : Extents{outer, inner};
  }

  Random random_;
  std::string number_;  // the suffix of the counter's numbers
  std::int64_t steps_ = 0, start_ = 0;
  std::string step_, test_, product_;
  bool goes_on_ = false;  // where the test holds
  Extents rows_, matrix_, state_;
};

}  // namespace

TEST_CASE("products of all steps give what products of each step do") {
  repl::SessionOptions options;
  options.verify = true;
  repl::Session session(options);
  std::size_t joined = 0;
  const auto all = seeds(kPrograms);
  for (const std::uint64_t seed : all) {
    const std::string text = CountingLoop(seed).text();
    CAPTURE(seed, text);
    const auto errors = session.run("<program>", text, nullptr);
    if (!errors.empty()) {
      FAIL_CHECK(rendered(errors));
      continue;
    }
    const auto agree = session.evaluate(
        "(near(known(xs, w), open(xs, w)), { let ((a, b), (c, d)) = (slopes(known, xs, w), "
        "slopes(open, xs, w)); near(a, c) && near(b, d) })");
    if (!agree) FAIL_CHECK(rendered(agree.errors()));
    if (agree) CHECK(lang::to_string(*agree) == "(True, True)");
    const auto shown = session.show("opt", "known");
    if (!shown) FAIL_CHECK(rendered(shown.errors()));
    joined += shown && shown->find("products") != std::string::npos ? 1 : 0;
  }
  if (all.size() >= 50) CHECK(joined > all.size() / 2);
}

}  // namespace relay::tests
