#include <algorithm>
#include <cmath>
#include <numbers>

#include "bench/gradbench/gradbench.h"

namespace {

struct Data {
  Numbers x, alpha, mu, q, l;
  double gamma;
  std::int64_t m;
  std::size_t n, k, d, t;  // t: elements below the diagonal
};

double lse(const double* v, std::size_t n) {
  const double largest = *std::max_element(v, v + n);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += std::exp(v[i] - largest);
  return largest + std::log(sum);
}

// Lower triangular factors of the inverse covariances, row by row.
Numbers factors(const Data& in) {
  Numbers result(in.k * in.d * in.d);
  for (std::size_t c = 0; c < in.k; ++c) {
    double* factor = &result[c * in.d * in.d];
    const double* below = &in.l[c * in.t];
    for (std::size_t j = 0; j < in.d; ++j) {
      factor[j * in.d + j] = std::exp(in.q[c * in.d + j]);
      for (std::size_t i = j + 1; i < in.d; ++i) factor[i * in.d + j] = *below++;
    }
  }
  return result;
}

// y = Q (x - mu); the sum of its squares.
double whitened(const Data& in, const double* factor, const double* x, const double* mu, double* e,
                double* y) {
  for (std::size_t j = 0; j < in.d; ++j) e[j] = x[j] - mu[j];
  double squares = 0;
  for (std::size_t i = 0; i < in.d; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j <= i; ++j) sum += factor[i * in.d + j] * e[j];
    y[i] = sum;
    squares += sum * sum;
  }
  return squares;
}

Numbers weights(const Data& in) {  // alpha and the logarithm of the determinant, of each component
  Numbers result(in.k);
  for (std::size_t c = 0; c < in.k; ++c) {
    result[c] = in.alpha[c];
    for (std::size_t i = 0; i < in.d; ++i) result[c] += in.q[c * in.d + i];
  }
  return result;
}

double constant(const Data& in) {
  const double d = static_cast<double>(in.d), freedom = d + static_cast<double>(in.m) + 1;
  double log_gamma = 0.25 * d * (d - 1) * std::log(std::numbers::pi);
  for (std::size_t j = 0; j < in.d; ++j)
    log_gamma += std::lgamma(0.5 * freedom - 0.5 * static_cast<double>(j));
  return static_cast<double>(in.k) *
         (freedom * d * std::log(in.gamma / std::sqrt(2.0)) - log_gamma);
}

double objective(const Data& in) {
  const Numbers q = factors(in), own = weights(in);
  Numbers e(in.d), y(in.d), beta(in.k);
  double sum = 0;
  for (std::size_t s = 0; s < in.n; ++s) {
    for (std::size_t c = 0; c < in.k; ++c) {
      beta[c] = own[c] - 0.5 * whitened(in, &q[c * in.d * in.d], &in.x[s * in.d], &in.mu[c * in.d],
                                        e.data(), y.data());
    }
    sum += lse(beta.data(), in.k);
  }
  sum -= static_cast<double>(in.n) *
         (0.5 * static_cast<double>(in.d) * std::log(2 * std::numbers::pi) +
          lse(in.alpha.data(), in.k));
  double squares = 0, logs = 0;
  for (const double each : q) squares += each * each;
  for (const double each : in.q) logs += each;
  return sum + constant(in) - 0.5 * in.gamma * in.gamma * squares +
         static_cast<double>(in.m) * logs;
}

// By alpha, mu, q, l, one behind the other.
void gradient(const Data& in, Numbers& slopes) {
  const Numbers q = factors(in), own = weights(in);
  const std::size_t d = in.d;
  slopes.assign(in.k + 2 * in.k * d + in.k * in.t, 0);
  double* alpha_adjoint = slopes.data();
  double* mu_adjoint = alpha_adjoint + in.k;
  double* q_adjoint = mu_adjoint + in.k * d;
  double* l_adjoint = q_adjoint + in.k * d;
  Numbers e(in.k * d), y(in.k * d), beta(in.k), factor_adjoint(in.k * d * d);
  for (std::size_t s = 0; s < in.n; ++s) {
    for (std::size_t c = 0; c < in.k; ++c) {
      beta[c] = own[c] - 0.5 * whitened(in, &q[c * d * d], &in.x[s * d], &in.mu[c * d], &e[c * d],
                                        &y[c * d]);
    }
    const double norm = lse(beta.data(), in.k);
    for (std::size_t c = 0; c < in.k; ++c) {
      const double share = std::exp(beta[c] - norm);
      alpha_adjoint[c] += share;
      for (std::size_t i = 0; i < d; ++i) {
        const double y_adjoint = -share * y[c * d + i];
        for (std::size_t j = 0; j <= i; ++j) {
          factor_adjoint[(c * d + i) * d + j] += y_adjoint * e[c * d + j];
          mu_adjoint[c * d + j] -= y_adjoint * q[(c * d + i) * d + j];
        }
      }
    }
  }
  const double norm = lse(in.alpha.data(), in.k), square = in.gamma * in.gamma;
  for (std::size_t c = 0; c < in.k; ++c) {
    const double shares = alpha_adjoint[c];  // of all points
    alpha_adjoint[c] -= static_cast<double>(in.n) * std::exp(in.alpha[c] - norm);
    double* below = l_adjoint + c * in.t;
    for (std::size_t j = 0; j < d; ++j) {
      const std::size_t diagonal = (c * d + j) * d + j;
      q_adjoint[c * d + j] = shares +
                             (factor_adjoint[diagonal] - square * q[diagonal]) * q[diagonal] +
                             static_cast<double>(in.m);
      for (std::size_t i = j + 1; i < d; ++i) {
        const std::size_t place = (c * d + i) * d + j;
        *below++ = factor_adjoint[place] - square * q[place];
      }
    }
  }
}

}  // namespace

Functions functions(const Inputs& inputs) {
  Data in{inputs.numbers("x"),
          inputs.numbers("alpha"),
          inputs.numbers("mu"),
          inputs.numbers("q"),
          inputs.numbers("l"),
          inputs.number("gamma"),
          inputs.integer("m"),
          0,
          0,
          inputs.shape("x").at(1),
          0};
  in.n = in.x.size() / in.d;
  in.k = in.alpha.size();
  in.t = in.d * (in.d - 1) / 2;
  return {{"objective", [in](Results& out) { out.numbers.assign(1, objective(in)); }},
          {"jacobian", [in](Results& out) { gradient(in, out.numbers); }}};
}
