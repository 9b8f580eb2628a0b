// Sums of many floats are as accurate as NumPy's, which sums in pairs, and have the same bits in
// both tiers, along whatever axis, and on however many threads.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "repl/session.h"
#include "tests/support/property.h"

namespace relay::tests {
namespace {

constexpr double kUnit = 0x1p-24;  // half a unit in the last place of 1

using Floats = std::vector<float>;

// Element number `k` in index notation, and the same in C++.
struct Elements {
  const char* text;
  float (*at)(std::int64_t k);
};
// One value: what rounding does to it does not average out. Then a ramp, noise, and noise around 0.
constexpr Elements kElements[] = {
    {"0.1", [](std::int64_t) { return 0.1F; }},
    {R"(cast(k % 1000, dtype="float32") * 0.001)",
     [](std::int64_t k) { return static_cast<float>(k % 1000) * 0.001F; }},
    {R"(cast(k * 7919 % 8191, dtype="float32") * 0.000122)",
     [](std::int64_t k) { return static_cast<float>(k * 7919 % 8191) * 0.000122F; }},
    {R"(cast(k * 7919 % 8191, dtype="float32") * 0.000122 - 0.5)",
     [](std::int64_t k) { return static_cast<float>(k * 7919 % 8191) * 0.000122F - 0.5F; }},
};

// NumPy's sum of float32 along a contiguous axis: eight sums over at most 128 elements, halves
// above that.
float pairwise(const float* x, std::int64_t n) {
  if (n > 128) {
    const std::int64_t half = n / 2 - n / 2 % 8;
    return pairwise(x, half) + pairwise(x + half, n - half);
  }
  float part[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int j = 0; j < 8; ++j) part[j] += x[i + j];
  }
  float sum =
      ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
  for (; i < n; ++i) sum += x[i];
  return sum;
}
float pairwise(const Floats& x) { return pairwise(x.data(), static_cast<std::int64_t>(x.size())); }

template <class F>
Floats each(const Floats& x, F f) {
  Floats result(x.size());
  std::transform(x.begin(), x.end(), result.begin(), f);
  return result;
}
// In float64, in two steps: far more exact than what is measured.
template <class F>
double exact_sum(const Floats& x, F f) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size();) {
    double part = 0;
    for (const std::size_t end = std::min(i + 4096, x.size()); i < end; ++i)
      part += f(static_cast<double>(x[i]));
    sum += part;
  }
  return sum;
}
double same(double x) { return x; }
double count_of(const Floats& x) { return static_cast<double>(x.size()); }
double variance_of(const Floats& x) {
  const double mean = exact_sum(x, same) / count_of(x);
  return exact_sum(x, [&](double v) { return (v - mean) * (v - mean); }) / count_of(x);
}
float numpy_variance(const Floats& x) {
  const auto count = static_cast<float>(x.size());
  const float mean = pairwise(x) / count;
  return pairwise(each(x, [&](float v) { return (v - mean) * (v - mean); })) / count;
}
Floats factors_of(const Floats& x) {
  return each(x, [](float v) { return 1.0F + v * v * 0.0000005F; });
}
double largest(const Floats& x) { return *std::max_element(x.begin(), x.end()); }

// What is computed of the vector X; what it is, what NumPy gives, and what an error is compared
// with. In half units in the last place, `slack` is for functions that round differently, and
// `random`, times the root of the count, for what rounds each element whatever the order.
struct Quantity {
  const char* text;
  double (*exact)(const Floats&);
  float (*numpy)(const Floats&);
  double (*scale)(const Floats&);
  double slack = 2;
  std::int64_t most = 1 << 24;  // elements
  double random = 0;
};
double scale_of_sum(const Floats& x) {
  return exact_sum(x, [](double v) { return std::abs(v); });
}
double square(double v) { return v * v; }

const Quantity kQuantities[] = {
    {"sum(X)", [](const Floats& x) { return exact_sum(x, same); },
     [](const Floats& x) { return pairwise(x); }, scale_of_sum},
    {"mean(X)", [](const Floats& x) { return exact_sum(x, same) / count_of(x); },
     [](const Floats& x) { return pairwise(x) / static_cast<float>(x.size()); },
     [](const Floats& x) { return scale_of_sum(x) / count_of(x); }},
    // NumPy has one running product.
    {"prod(1.0 + X * X * 0.0000005)",
     [](const Floats& x) {
       return std::exp(exact_sum(factors_of(x), [](double v) { return std::log(v); }));
     },
     [](const Floats& x) {
       float product = 1;
       for (const float factor : factors_of(x)) product *= factor;
       return product;
     },
     [](const Floats& x) {
       return std::exp(exact_sum(factors_of(x), [](double v) { return std::log(v); }));
     },
     2, 1 << 20, 1},
    {"variance(X, mean(X, keepdims=True))", variance_of, numpy_variance, variance_of, 4, 1 << 20},
    {"std(X)", [](const Floats& x) { return std::sqrt(variance_of(x)); },
     [](const Floats& x) { return std::sqrt(numpy_variance(x)); },
     [](const Floats& x) { return std::sqrt(variance_of(x)); }, 4, 1 << 20},
    {"norm(X)", [](const Floats& x) { return std::sqrt(exact_sum(x, square)); },
     [](const Floats& x) { return std::sqrt(pairwise(each(x, [](float v) { return v * v; }))); },
     [](const Floats& x) { return std::sqrt(exact_sum(x, square)); }},
    // One over the denominator. An exponential is right to two units in the last place.
    {"max(nn.softmax(X))",
     [](const Floats& x) {
       const double most = largest(x);
       return 1 / exact_sum(x, [&](double v) { return std::exp(v - most); });
     },
     [](const Floats& x) {
       const auto most = static_cast<float>(largest(x));
       return 1 / pairwise(each(x, [&](float v) { return std::exp(v - most); }));
     },
     [](const Floats& x) {
       const double most = largest(x);
       return 1 / exact_sum(x, [&](double v) { return std::exp(v - most); });
     },
     4, 1 << 20},
    {"(fn (x) { sum i { x[i] * x[i] } })(X)", [](const Floats& x) { return exact_sum(x, square); },
     [](const Floats& x) { return pairwise(each(x, [](float v) { return v * v; })); },
     [](const Floats& x) { return exact_sum(x, square); }},
};

repl::SessionOptions options_of(interp::JitMode jit, int threads = 0) {
  repl::SessionOptions options;
  options.jit = jit;
  options.kernels = repl::LibraryKernels::Off;  // libraries have an order of their own
  options.threads = threads;
  return options;
}

float evaluate(repl::Session& session, const std::string& text) {
  const auto value = session.evaluate(text);
  INFO(text);
  if (!value) FAIL(rendered(value.errors()));
  REQUIRE(value->dtype() == lang::DType::Float32);
  return std::bit_cast<float>(static_cast<std::uint32_t>(value->bits()));
}

std::string with(std::string text, const std::string& vector) {
  for (std::size_t at = 0; (at = text.find('X', at)) != std::string::npos; at += vector.size())
    text.replace(at, 1, vector);
  return text;
}

TEST_CASE("sums are as accurate as NumPy's") {
  repl::Session lanes(options_of(interp::JitMode::Off));
  repl::Session native(options_of(interp::JitMode::Always));
  for (const std::int64_t n : {7, 300, 4099, 65536, 1048593, 16777216}) {
    for (const Elements& elements : kElements) {
      Floats x(static_cast<std::size_t>(n));
      for (std::int64_t k = 0; k < n; ++k) x[static_cast<std::size_t>(k)] = elements.at(k);
      const std::string vector = fmt::format("(for k < {} {{ {} }})", n, elements.text);
      for (const Quantity& quantity : kQuantities) {
        if (n > quantity.most) continue;
        const std::string text = with(quantity.text, vector);
        const double exact = quantity.exact(x);
        const double unit = kUnit * quantity.scale(x);
        const double numpy = std::abs(double{quantity.numpy(x)} - exact) / unit;
        const float result = evaluate(lanes, text);
        const double error = std::abs(double{result} - exact) / unit;
        INFO(text << ": error " << error << ", NumPy's " << numpy
                  << " half units in the last place");
        const double random = quantity.random * std::sqrt(static_cast<double>(n));
        CHECK(error <= numpy + quantity.slack + random);
        CHECK(evaluate(native, text) == result);
      }
    }
  }
  CHECK(native.evaluator().statistics().kernels_run_native > 0);
}

// Without memory, and quick enough for every run: a value, and a ramp for native code.
TEST_CASE("sums of 2^28 elements are exact to a few units") {
  constexpr std::int64_t kCount = 1 << 28;
  repl::Session lanes(options_of(interp::JitMode::Off));
  repl::Session native(options_of(interp::JitMode::Always));
  const auto error_of = [&](float result, double exact) {
    return std::abs(double{result} / exact - 1) / kUnit;
  };
  const std::string vector = fmt::format("(for k < {} {{ 0.1 }})", kCount);
  const double tenth = double{0.1F};
  const std::pair<std::string, double> cases[] = {
      {with("sum(X)", vector), tenth * kCount},
      {with("mean(X)", vector), tenth},
      {with("norm(X)", vector), tenth * 16384},
      {fmt::format("sum k < {} {{ cast(bitwise_and(k, 1023), dtype=\"float32\") }}", kCount),
       1023.0 / 2 * kCount}};
  for (const auto& [text, exact] : cases) {
    INFO(text);
    const float result = evaluate(native, text);
    CHECK(error_of(result, exact) <= 5);  // the sum of 16 tenths is off by 2.5
    if (exact < tenth * kCount * 2) CHECK(evaluate(lanes, text) == result);
  }
}

// Contractions that libraries take where there are any: a matrix times a vector and a matrix, and
// products of matrices that are summed. A library sums pieces in its own order.
TEST_CASE("long sums by libraries are nearly as accurate") {
  auto options = options_of(interp::JitMode::Off);
  options.kernels = repl::LibraryKernels::Auto;
  repl::Session session(options);
  const std::string setup =
      "let rows = for i < 8, k < 1048576 { 0.7 };\n"
      "let columns = for k < 1048576, i < 8 { 0.7 };\n"
      "let vector = for k < 1048576 { 0.7 };\n"
      "let left = for f < 30, g < 512, k < 16, i < 6 { 0.7 };\n"
      "let right = for g < 512, f < 30, k < 16, j < 6 { 0.7 };\n";
  REQUIRE(rendered(session.run("<setup>", setup, nullptr)) == "");
  const std::pair<const char*, double> cases[] = {
      {"max(for i { sum k { rows[i, k] * vector[k] } })", 1048576},
      {"max(for i, j { sum k { rows[i, k] * columns[k, j] } })", 1048576},
      {"max(for i, j { sum f, g, k { left[f, g, k, i] * right[g, f, k, j] } })", 30 * 512 * 16}};
  for (const auto& [text, count] : cases) {
    const double exact = double{0.7F} * double{0.7F} * count;
    const double error = std::abs(double{evaluate(session, text)} / exact - 1) / kUnit;
    INFO(text << ": error " << error << " half units in the last place");
    CHECK(error <= 256);
  }
}

// What follows gives the sum of X[0], X[1], ... in one way or another: n is p * q.
constexpr const char* kWays[] = {
    "sum(X)",
    "sum k { X[k] }",
    "sum k < n { X[k] * one[k] }",
    "sum i < p, j < q { X[i * q + j] }",
    "sum(reshape(X, [p, q]))",
    // Along the last axis, the first one, and two with another between them.
    "sum(for i < 3, k < n { X[k] }, axis=1)[2]",
    "sum(for i < 70, k < n { X[k] }, axis=1)[69]",
    "sum(for k < n, i < 3 { X[k] }, axis=0)[2]",
    "sum(for k < n, i < 70 { X[k] }, axis=0)[69]",
    "sum(for i < p, l < 5, j < q { X[i * q + j] }, axis=[0, 2])[4]",
    "sum(stored_rows, axis=1)[4]",
    "sum(stored_columns, axis=0)[4]",
    "sum k < n { stored_columns[k, 1] }",
    "sum(reverse(reverse(X, axis=0), axis=0))",
    // Several in one kernel, one for each point of a nest, and contractions.
    "(for i < 9 { (sum k < n { X[k] }) + 0.0 * (prod k < n { one[k] }) })[8]",
    "(for i < 9 { (sum k < n { X[k] }, max k < n { X[k] }, sum k < n { one[k] }) }).0[8]",
    "(for i < 2, j < 40 { sum k < n { stored_rows[i, k] * one[k] } })[1, 39]",
    "(for i < 2, j < 5 { sum k < n { one[k] * stored_columns[k, j] } })[1, 4]",
    "(for i < 2 { sum l < 1 { sum k < n { X[k] } } })[1]",
    // Point by point, by the evaluator: what it calls is recursive.
    "sum k < n { through(3, X[k]) }",
};

// Bits of the sum of p * q elements: all ways, tiers and numbers of threads must agree.
void check_ways(const char* dtype, int p, int q) {
  const std::string setup = fmt::format(
      "let n = {0}i64 * {1}i64; let p = {0}i64; let q = {1}i64;\n"
      "let X = for k < n {{ cast(cast(k * 7919 % 8191, dtype=\"float32\") * 0.000122, "
      "dtype=\"{2}\") }};\n"
      "let one = for k < n {{ cast(1, dtype=\"{2}\") }};\n"
      "let stored_rows = for i < 5, k < n {{ X[k] }};\n"
      "let stored_columns = for k < n, i < 5 {{ X[k] }};\n"
      "def through(times, x) {{ if times == 0 {{ x }} else {{ through(times - 1, x) }} }}\n",
      p, q, dtype);
  std::optional<std::string> first;
  for (const auto jit : {interp::JitMode::Off, interp::JitMode::Always}) {
    for (const int threads : {1, 3}) {
      repl::Session session(options_of(jit, threads));
      REQUIRE(rendered(session.run("<setup>", setup, nullptr)) == "");
      for (const std::string way : kWays) {
        INFO(way << " of " << p << " * " << q << " " << dtype << ", " << threads << " threads, "
                 << (jit == interp::JitMode::Off ? "lanes" : "native"));
        const auto value = session.evaluate(way);
        if (!value) FAIL(rendered(value.errors()));
        const std::string result = lang::to_string(*value);  // tells all floats apart
        if (!first) first = result;
        CHECK(result == *first);
      }
    }
  }
}

TEST_CASE("a sum has the same bits in either tier, along any axes, on any number of threads") {
  for (const auto& [p, q] : {std::pair{2, 50}, {16, 16}, {257, 1}, {3, 171}, {64, 512}})
    check_ways("float32", p, q);
  for (const char* dtype : {"float64", "float16", "bfloat16"}) check_ways(dtype, 31, 33);
}

}  // namespace
}  // namespace relay::tests
