#include "bench/gradbench/descent.h"
#include "bench/gradbench/gradbench.h"

namespace {

template <class T>
using Point = std::array<T, 2>;

// Adds the force that a charge at (10, y) has on what is at `x`.
template <class T>
void push(const Point<T>& x, const T& y, Point<T>& force) {
  using std::sqrt;
  const T dx = x[0] - T(10.0), dy = x[1] - y, square = dx * dx + dy * dy,
          cube = square * sqrt(square);
  force[0] = force[0] + dx / cube;
  force[1] = force[1] + dy / cube;
}

template <class T>
T cost(const T& w) {
  const T h = 0.1;
  Point<T> x = {T(0.0), T(8.0)}, v = {T(0.75), T(0.0)};
  while (true) {
    Point<T> a = {T(0.0), T(0.0)};
    push(x, T(10.0) - w, a);
    push(x, T(0.0), a);
    const Point<T> next = {x[0] + h * v[0], x[1] + h * v[1]};
    if (!(next[1] > T(0.0))) break;
    v = {v[0] + h * a[0], v[1] + h * a[1]};
    x = next;
  }
  const T hit = x[0] - x[1] / v[1] * v[0];
  return hit * hit;
}

double particle(double w) {
  using Point1 = std::array<double, 1>;
  const auto f = [](const Point1& w) { return cost(w[0]); };
  const auto slope = [](const Point1& w) { return cost(Dual<1>::variable(w[0], 0)).tangents; };
  return argmin(f, slope, Point1{w})[0];
}

}  // namespace

// By hand there is one way to differentiate.
Functions functions(const Inputs& inputs) {
  const double w = inputs.number("w");
  Functions result;
  for (const char* name : {"rr", "rf", "fr", "ff"}) {
    result[name] = [w](Results& out) { out.numbers.assign(1, particle(w)); };
  }
  return result;
}
