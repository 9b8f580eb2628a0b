#include "bench/gradbench/gradbench.h"

namespace {

// One step of Runge and Kutta's method keeps these: the four places at which slopes were taken, and
// the slopes.
struct Step {
  explicit Step(std::size_t n) : places(4, Numbers(n)), slopes(4, Numbers(n)) {}
  std::vector<Numbers> places, slopes;
};
const double kAhead[4] = {0, 0.5, 0.5,
                          1};  // where the next slope is taken, in steps along the last one
const double kWeights[4] = {1, 2, 2, 1};  // of the slopes, in sixths

void slope(const Numbers& x, const Numbers& y, Numbers& result) {
  result[0] = x[0];
  for (std::size_t i = 1; i < x.size(); ++i) result[i] = x[i] * y[i - 1];
}

void advance(const Numbers& x, Numbers& y, double h, Step& step) {
  const std::size_t n = x.size();
  step.places[0] = y;
  slope(x, y, step.slopes[0]);
  for (int k = 1; k < 4; ++k) {
    for (std::size_t i = 0; i < n; ++i)
      step.places[k][i] = y[i] + kAhead[k] * h * step.slopes[k - 1][i];
    slope(x, step.places[k], step.slopes[k]);
  }
  for (std::size_t i = 0; i < n; ++i) {
    y[i] += h / 6 *
            (step.slopes[0][i] + 2 * step.slopes[1][i] + 2 * step.slopes[2][i] + step.slopes[3][i]);
  }
}

void primal(const Numbers& x, std::int64_t s, Step& step, Numbers& y) {
  y.assign(x.size(), 0);
  for (std::int64_t i = 0; i < s; ++i) advance(x, y, 2.0 / static_cast<double>(s), step);
}

// From the adjoint of y behind the step to that of y before it; what comes to x is added.
void retreat(const Numbers& x, double h, const Step& step, Numbers& y_adjoint, Numbers& x_adjoint,
             Numbers& behind, Numbers& slope_adjoint) {
  const std::size_t n = x.size();
  behind = y_adjoint;
  for (int k = 3; k >= 0; --k) {
    if (k == 3) {
      for (std::size_t i = 0; i < n; ++i) slope_adjoint[i] = h / 6 * behind[i];
    }
    const Numbers& place = step.places[k];
    x_adjoint[0] += slope_adjoint[0];
    for (std::size_t i = 1; i < n; ++i) x_adjoint[i] += slope_adjoint[i] * place[i - 1];
    // The adjoint of the place is that of y and, times a part of the step, of the slope before.
    const double along = kAhead[k] * h, weight = k > 0 ? h / 6 * kWeights[k - 1] : 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double adjoint = i + 1 < n ? slope_adjoint[i + 1] * x[i + 1] : 0;
      y_adjoint[i] += adjoint;
      slope_adjoint[i] = weight * behind[i] + along * adjoint;
    }
  }
}

void gradient(const Numbers& x, std::int64_t s, std::vector<Step>& steps, Numbers& x_adjoint) {
  const double h = 2.0 / static_cast<double>(s);
  Numbers y(x.size(), 0), behind(x.size()), slope_adjoint(x.size());
  for (Step& step : steps) advance(x, y, h, step);
  x_adjoint.assign(x.size(), 0);
  y.assign(x.size(), 0);
  y.back() = 1;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    retreat(x, h, *step, y, x_adjoint, behind, slope_adjoint);
}

}  // namespace

Functions functions(const Inputs& inputs) {
  const Numbers x = inputs.numbers("x");
  const std::int64_t s = inputs.integer("s");
  Step step(x.size());
  std::vector<Step> steps(static_cast<std::size_t>(s), step);
  return {{"primal", [=](Results& out) mutable { primal(x, s, step, out.numbers); }},
          {"gradient", [=](Results& out) mutable { gradient(x, s, steps, out.numbers); }}};
}
