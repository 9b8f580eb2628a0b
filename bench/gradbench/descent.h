// Gradient descent that chooses its rate, and numbers with tangents for what is differentiated
// through it.
#pragma once
#include <array>
#include <cmath>

// A number and its tangents in N directions.
template <int N>
struct Dual {
  double value = 0;
  std::array<double, N> tangents{};

  Dual() = default;
  Dual(double value) : value(value) {}
  static Dual variable(double value, int direction) {
    Dual result(value);
    result.tangents[direction] = 1;
    return result;
  }
  // `f` of `a` and `b`, where its partial derivatives are `by_a` and `by_b`.
  static Dual of(double f, double by_a, const Dual& a, double by_b, const Dual& b) {
    Dual result(f);
    for (int i = 0; i < N; ++i) result.tangents[i] = by_a * a.tangents[i] + by_b * b.tangents[i];
    return result;
  }
  friend Dual operator+(const Dual& a, const Dual& b) { return of(a.value + b.value, 1, a, 1, b); }
  friend Dual operator-(const Dual& a, const Dual& b) { return of(a.value - b.value, 1, a, -1, b); }
  friend Dual operator*(const Dual& a, const Dual& b) {
    return of(a.value * b.value, b.value, a, a.value, b);
  }
  friend Dual operator/(const Dual& a, const Dual& b) {
    const double quotient = a.value / b.value;
    return of(quotient, 1 / b.value, a, -quotient / b.value, b);
  }
  Dual operator-() const { return of(-value, -1, *this, 0, *this); }
  friend bool operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
  friend bool operator<=(const Dual& a, const Dual& b) { return a.value <= b.value; }
  friend bool operator>(const Dual& a, const Dual& b) { return a.value > b.value; }
  friend Dual sqrt(const Dual& a) {
    const double root = std::sqrt(a.value);
    return of(root, root > 0 ? 0.5 / root : 0, a, 0, a);
  }
};

template <class T, std::size_t N>
T length_of(const std::array<T, N>& v) {
  T sum = 0.0;
  for (const T& each : v) sum = sum + each * each;
  using std::sqrt;
  return sqrt(sum);
}

// The minimum of `f`, whose gradient is `slope`, from `x` on.
template <class T, std::size_t N, class F, class G>
std::array<T, N> argmin(const F& f, const G& slope, std::array<T, N> x) {
  T value = f(x);
  std::array<T, N> g = slope(x), next, moved;
  double rate = 1e-5;
  for (int count = 0;;) {
    if (length_of(g) <= T(1e-5)) return x;
    if (count == 10) {
      rate *= 2;
      count = 0;
      continue;
    }
    for (std::size_t i = 0; i < N; ++i) {
      next[i] = x[i] - T(rate) * g[i];
      moved[i] = x[i] - next[i];
    }
    if (length_of(moved) <= T(1e-5)) return x;
    const T there = f(next);
    if (there < value) {
      x = next;
      value = there;
      g = slope(x);
      ++count;
    } else {
      rate /= 2;
      count = 0;
    }
  }
}
