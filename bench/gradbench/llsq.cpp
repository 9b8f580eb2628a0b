#include "bench/gradbench/gradbench.h"

namespace {

double place(std::int64_t i, std::int64_t n) {
  return -1 + 2 * static_cast<double>(i) / static_cast<double>(n - 1);
}

double residual(const Numbers& x, double t) {
  double sum = (t > 0) - (t < 0), power = 1;
  for (const double each : x) {
    sum -= each * power;
    power *= t;
  }
  return sum;
}

double primal(const Numbers& x, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double r = residual(x, place(i, n));
    sum += r * r;
  }
  return sum / 2;
}

void gradient(const Numbers& x, std::int64_t n, Numbers& slopes) {
  slopes.assign(x.size(), 0);
  for (std::int64_t i = 0; i < n; ++i) {
    const double t = place(i, n);
    double adjoint = -residual(x, t);
    for (double& each : slopes) {
      each += adjoint;
      adjoint *= t;
    }
  }
}

}  // namespace

Functions functions(const Inputs& inputs) {
  const Numbers x = inputs.numbers("x");
  const std::int64_t n = inputs.integer("n");
  return {{"primal", [=](Results& out) { out.numbers.assign(1, primal(x, n)); }},
          {"gradient", [=](Results& out) { gradient(x, n, out.numbers); }}};
}
