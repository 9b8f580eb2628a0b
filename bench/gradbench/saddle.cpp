#include "bench/gradbench/descent.h"
#include "bench/gradbench/gradbench.h"

namespace {

template <class T>
using Point = std::array<T, 2>;

template <class T>
T f(const Point<T>& x, const Point<T>& y) {
  return x[0] * x[0] + x[1] * x[1] - (y[0] * y[0] + y[1] * y[1]);
}

// The y of the largest f(x, y).
template <class T>
Point<T> best(const Point<T>& x, const Point<T>& start) {
  return argmin([&](const Point<T>& y) { return -f(x, y); },
                [](const Point<T>& y) {
                  return Point<T>{T(2.0) * y[0], T(2.0) * y[1]};
                },
                start);
}

Numbers saddle(const Numbers& start) {
  const auto highest = [&](const auto& x) {
    using T = std::remove_cvref_t<decltype(x[0])>;
    return f(x, best(x, Point<T>{T(start[0]), T(start[1])}));
  };
  const auto slope = [&](const Point<double>& x) {
    using D = Dual<2>;
    return highest(Point<D>{D::variable(x[0], 0), D::variable(x[1], 1)}).tangents;
  };
  const Point<double> from = {start[0], start[1]}, x = argmin(highest, slope, from),
                      y = best(x, from);
  return {x[0], x[1], y[0], y[1]};
}

}  // namespace

// By hand there is one way to differentiate.
Functions functions(const Inputs& inputs) {
  const Numbers start = inputs.numbers("start");
  Functions result;
  for (const char* name : {"rr", "rf", "fr", "ff"})
    result[name] = [start](Results& out) { out.numbers = saddle(start); };
  return result;
}
