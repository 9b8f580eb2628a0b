#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace relay::tests {

// A function of one number around a point, as its Taylor series up to the fourth power: an oracle
// of derivatives that knows nothing of differentiation. The recurrences are those of Griewank and
// Walther, "Evaluating Derivatives", chapter 13.
class Series {
 public:
  static constexpr std::size_t kOrders = 4;

  Series(double value) {
    terms_[0] = value;
  }  // NOLINT(google-explicit-constructor): a number is a constant
  static Series variable(double at) {
    Series result(at);
    result.terms_[1] = 1;
    return result;
  }

  double value() const { return terms_[0]; }
  // The n-th derivative there; n at most kOrders.
  double derivative(std::size_t n) const {
    double factorial = 1;
    for (std::size_t k = 2; k <= n; ++k) factorial *= static_cast<double>(k);
    return factorial * terms_[n];
  }

  friend Series operator+(const Series& a, const Series& b) {
    return of([&](std::size_t n, const Series&) { return a.terms_[n] + b.terms_[n]; });
  }
  friend Series operator-(const Series& a, const Series& b) {
    return of([&](std::size_t n, const Series&) { return a.terms_[n] - b.terms_[n]; });
  }
  friend Series operator*(const Series& a, const Series& b) {
    return of([&](std::size_t n, const Series&) {
      double sum = 0;
      for (std::size_t k = 0; k <= n; ++k) sum += a.terms_[k] * b.terms_[n - k];
      return sum;
    });
  }
  friend Series operator/(const Series& a, const Series& b) {
    return of([&](std::size_t n, const Series& quotient) {
      double rest = a.terms_[n];
      for (std::size_t k = 1; k <= n; ++k) rest -= b.terms_[k] * quotient.terms_[n - k];
      return rest / b.terms_[0];
    });
  }
  friend Series exp(const Series& a) {
    return of([&](std::size_t n, const Series& power) {
      return n == 0 ? std::exp(a.terms_[0]) : a.slope_times(power, n);
    });
  }
  friend Series sin(const Series& a) { return sine_and_cosine(a)[0]; }
  friend Series cos(const Series& a) { return sine_and_cosine(a)[1]; }
  friend Series tanh(const Series& a) {
    return Series(1) - Series(2) / (exp(Series(2) * a) + Series(1));
  }

 private:
  // Each term from those in front of it.
  template <class Term>
  static Series of(Term term) {
    Series result(0);
    for (std::size_t n = 0; n <= kOrders; ++n) result.terms_[n] = term(n, result);
    return result;
  }
  // The n-th term of the series whose slope is that of this one times `factor`; n at least 1.
  double slope_times(const Series& factor, std::size_t n) const {
    double sum = 0;
    for (std::size_t k = 1; k <= n; ++k)
      sum += static_cast<double>(k) * terms_[k] * factor.terms_[n - k];
    return sum / static_cast<double>(n);
  }
  static std::array<Series, 2> sine_and_cosine(const Series& a) {
    std::array<Series, 2> both = {std::sin(a.terms_[0]), std::cos(a.terms_[0])};
    for (std::size_t n = 1; n <= kOrders; ++n) {
      const double sine = a.slope_times(both[1], n);
      both[1].terms_[n] = -a.slope_times(both[0], n);
      both[0].terms_[n] = sine;
    }
    return both;
  }

  std::array<double, kOrders + 1> terms_{};
};

}  // namespace relay::tests
