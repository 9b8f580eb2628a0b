#include <limits>

#include "bench/gradbench/gradbench.h"

namespace {

struct Data {
  Numbers points, centroids;
  std::size_t n, k, d;
};

// Which centroid is nearest, and how far it is, squared.
std::pair<std::size_t, double> nearest(const Data& in, std::size_t i) {
  std::pair<std::size_t, double> best{0, std::numeric_limits<double>::infinity()};
  for (std::size_t j = 0; j < in.k; ++j) {
    double sum = 0;
    for (std::size_t a = 0; a < in.d; ++a) {
      const double e = in.points[i * in.d + a] - in.centroids[j * in.d + a];
      sum += e * e;
    }
    if (sum < best.second) best = {j, sum};
  }
  return best;
}

double cost(const Data& in) {
  double sum = 0;
  for (std::size_t i = 0; i < in.n; ++i) sum += nearest(in, i).second;
  return sum;
}

// The gradient is 2 (size * centroid - sum of the cluster), the diagonal of the Hessian 2 size.
void dir(const Data& in, Numbers& result) {
  std::vector<std::size_t> sizes(in.k);
  result.assign(in.k * in.d, 0);
  for (std::size_t i = 0; i < in.n; ++i) {
    const std::size_t j = nearest(in, i).first;
    ++sizes[j];
    for (std::size_t a = 0; a < in.d; ++a)
      result[j * in.d + a] += in.centroids[j * in.d + a] - in.points[i * in.d + a];
  }
  for (std::size_t j = 0; j < in.k; ++j) {
    for (std::size_t a = 0; a < in.d; ++a) result[j * in.d + a] /= static_cast<double>(sizes[j]);
  }
}

}  // namespace

Functions functions(const Inputs& inputs) {
  Data in{inputs.numbers("points"), inputs.numbers("centroids"), 0, 0,
          inputs.shape("points").at(1)};
  in.n = in.points.size() / in.d;
  in.k = in.centroids.size() / in.d;
  return {{"cost", [in](Results& out) { out.numbers.assign(1, cost(in)); }},
          {"dir", [in](Results& out) { dir(in, out.numbers); }}};
}
