#include <algorithm>
#include <cmath>

#include "bench/gradbench/gradbench.h"

namespace {

double primal(const Numbers& x) {
  const double largest = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (const double each : x) sum += std::exp(each - largest);
  return largest + std::log(sum);
}

void gradient(const Numbers& x, Numbers& slopes) {
  slopes.resize(x.size());
  const double largest = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += slopes[i] = std::exp(x[i] - largest);
  for (double& each : slopes) each /= sum;
}

}  // namespace

Functions functions(const Inputs& inputs) {
  const Numbers x = inputs.numbers("x");
  return {{"primal", [x](Results& out) { out.numbers.assign(1, primal(x)); }},
          {"gradient", [x](Results& out) { gradient(x, out.numbers); }}};
}
