// Recurrent loops over a large matrix, whose gradients keep the rows of sixteen steps and add one
// product of them (opt/step_sums): the adjoint of the matrix in a direction is the tangent in that
// direction, in loops of any length, on lanes and in native code.

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

constexpr std::size_t kPrograms = 16;

class RecurrentLoop {
 public:
  explicit RecurrentLoop(std::uint64_t seed) : random_(seed) {
    width_ = 184 + static_cast<std::int64_t>(random_.below(8));
    steps_ = 1 + static_cast<std::int64_t>(random_.below(40));
    rows_ = static_cast<std::int64_t>(random_.below(6));
  }

  // Defines `loss` of (w, v), and a point and a direction to go from there.
  std::string text() {
    const std::string state = rows_ == 0 ? fmt::format("Tensor[({}), float64]", width_)
                                         : fmt::format("Tensor[({}, {}), float64]", rows_, width_);
    const std::string matrix = fmt::format("Tensor[({0}, {0}), float64]", width_);
    std::string next = fmt::format("tanh({} + xs[n])", product("w"));
    if (random_.one_in(3)) next = fmt::format("0.5 * {} + 0.5 * h", next);
    if (random_.one_in(3)) next = fmt::format("sin({} + {})", next, product("v"));
    const std::string call = fmt::format("go(n + 1, {}, xs, w, v)", next);
    std::string body = call;
    if (random_.one_in(3))
      body = fmt::format("if {} {{ {} }} else {{ go(n + 1, 0.9 * h, xs, w, v) }}", test(), call);
    if (random_.one_in(4))
      body = fmt::format(
          "let y = {}; if {} {{ go(n + 1, y, xs, w, v) }} else "
          "{{ go(n + 1, sin(y), xs, v, w) }}",
          next, test());
    // Some loops end by themselves, and use what they have summed.
    const std::string stop = random_.one_in(4) ? fmt::format("n == {} || sum(h) > 3.0", steps_)
                                               : fmt::format("n == {}", steps_);
    const std::string end = random_.one_in(3) ? "h + 0.1 * " + product("w") : "h";
    const std::string shape = rows_ == 0 ? "" : fmt::format("r < {}, ", rows_);
    return fmt::format(
        "def go(n: int32, h: {0}, xs: {5}, w: {1}, v: {1}) -> {0} {{ if {2} {{ {3} }} else {{ {4} "
        "}} }}\n"
        "let xs = for n < {6}, {7}j < {8} {{ 0.4 * sin(cast(5 * n + 3 * j{9}, dtype=\"float64\")) "
        "}}\n"
        "let (w, v, dw, dv) = ({10}, {11}, {12}, {13})\n"
        "def loss(w: {1}, v: {1}) {{ sum(sin(go(0, 0.3 * xs[0], xs, w, v))) }}\n",
        state, matrix, stop, end, body,
        rows_ == 0 ? fmt::format("Tensor[({}, {}), float64]", steps_, width_)
                   : fmt::format("Tensor[({}, {}, {}), float64]", steps_, rows_, width_),
        steps_, shape, width_, rows_ == 0 ? "" : " + r", numbers("sin", 3), numbers("cos", 5),
        numbers("cos", 2), numbers("sin", 7));
  }

 private:
  std::string pick(const std::vector<std::string>& from) {
    return from[random_.below(from.size())];
  }
  std::string test() { return pick({"n % 3 != 0", "sum(h) > 0.1", "n < 4"}); }
  std::string numbers(const char* function, int factor) const {
    return fmt::format(
        "for i < {0}, j < {0} {{ 0.05 * {1}(cast({2} * i + 3 * j, dtype=\"float64\")) }}", width_,
        function, factor);
  }
  std::string product(const char* w) {
    if (rows_ > 0)
      return fmt::format(fmt::runtime(pick({"nn.dense(h, {0})", "(h @ {0})",
                                            "(for r, i {{ sum j {{ h[r, j] * {0}[i, j] }} }})"})),
                         w);
    return fmt::format(fmt::runtime(pick({"nn.dense(h, {0})", "(h @ {0})", "({0} @ h)",
                                          "(for i {{ sum j {{ {0}[i, j] * h[j] }} }})",
                                          "(for i {{ sum j {{ 0.5 * h[j] * {0}[j, i] }} }})"})),
                       w);
  }

  Random random_;
  std::int64_t width_ = 0, steps_ = 0;
  std::int64_t rows_ = 0;  // of the state; 0: it is a vector
};

}  // namespace

TEST_CASE("sums of products over the steps of a loop are the adjoint of the matrix") {
  const auto all = seeds(kPrograms);
  std::size_t collected = 0;
  for (const std::uint64_t seed : all) {
    const std::string text = RecurrentLoop(seed).text();
    CAPTURE(seed, text);
    for (const interp::JitMode mode : {interp::JitMode::Always, interp::JitMode::Off}) {
      repl::Session session(verified(mode));
      const auto errors = session.run("<program>", text, nullptr);
      if (!errors.empty()) {
        FAIL_CHECK(rendered(errors));
        continue;
      }
      const auto agree = session.evaluate(
          "{ let (gw, gv) = grad(loss)(w, v); let t = jvp(loss)(w, v, dw, dv).1; "
          "abs(sum(gw * dw) + sum(gv * dv) - t) <= 1e-9 * (1.0 + abs(t)) }");
      if (!agree) FAIL_CHECK(rendered(agree.errors()));
      if (agree) CHECK(lang::to_string(*agree) == "True");
      const auto shown = session.show("flow", "grad(loss)");
      if (!shown) FAIL_CHECK(rendered(shown.errors()));
      collected += shown && shown->find("collecting") != std::string::npos ? 1 : 0;
    }
  }
  if (all.size() >= 16) CHECK(collected >= all.size() / 2);  // each is seen twice
}

}  // namespace relay::tests
