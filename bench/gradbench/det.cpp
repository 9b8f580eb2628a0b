#include <cmath>

#include "bench/gradbench/gradbench.h"

namespace {

// Expansion by minors along the first row. Rows go from first to last, and the columns that are
// left are a list, so that nothing is copied: `next[c]` is the one behind column c, and `next[n]`
// the first one.
struct Expansion {
  const Numbers& a;
  std::size_t n;
  std::vector<std::size_t> next;

  explicit Expansion(const Numbers& a)
      : a(a),
        n(static_cast<std::size_t>(std::llround(std::sqrt(static_cast<double>(a.size()))))),
        next(n + 1) {
    next[n] = 0;
    for (std::size_t c = 0; c < n; ++c) next[c] = c + 1;
  }

  // Of the rows from `row` on.
  double value(std::size_t row) {
    double sum = 0, sign = 1;
    for (std::size_t before = n, c = next[n], left = n - row; left > 0; --left) {
      if (row + 1 == n) return a[row * n + c];
      next[before] = next[c];
      sum += sign * a[row * n + c] * value(row + 1);
      next[before] = c;
      sign = -sign;
      before = c;
      c = next[c];
    }
    return sum;
  }

  // Likewise, and adds to `slopes` what comes to the elements from the value's adjoint.
  double adjoint(std::size_t row, double seed, Numbers& slopes) {
    double sum = 0, sign = 1;
    for (std::size_t before = n, c = next[n], left = n - row; left > 0; --left) {
      const double element = a[row * n + c];
      if (row + 1 == n) {
        slopes[row * n + c] += seed;
        return element;
      }
      next[before] = next[c];
      const double inner = adjoint(row + 1, seed * sign * element, slopes);
      slopes[row * n + c] += seed * sign * inner;
      sum += sign * element * inner;
      next[before] = c;
      sign = -sign;
      before = c;
      c = next[c];
    }
    return sum;
  }
};

}  // namespace

Functions functions(const Inputs& inputs) {
  const Numbers a = inputs.numbers("a");
  return {{"primal", [a](Results& out) { out.numbers.assign(1, Expansion(a).value(0)); }},
          {"gradient", [a](Results& out) {
             out.numbers.assign(a.size(), 0);
             Expansion(a).adjoint(0, 1, out.numbers);
           }}};
}
