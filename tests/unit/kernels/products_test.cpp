// Products of matrices of all sizes, as each generation of CPU computes them, against sums in
// float64.

#include <dlfcn.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "kernels/kernels.h"
#include "kernels/tiles.h"
#include "loops/normal_form.h"

namespace relay::tests {
namespace {

using loops::Contraction;
using loops::ContractionAxis;

// Null where it is not built.
std::unique_ptr<loops::KernelLibrary> library_of(kernels::Level level) {
  void* const object = dlopen("librelay_kernels.so", RTLD_NOW | RTLD_LOCAL);
  if (!object) return nullptr;
  const auto make =
      reinterpret_cast<kernels::MakeKernelLibrary>(dlsym(object, kernels::kEntryName));
  return std::unique_ptr<loops::KernelLibrary>(make(static_cast<int>(level), true));
}

// Gives the axes strides as a dense tensor has them, in a random order; returns its elements.
std::int64_t lay_out(std::vector<std::int64_t*> strides, const std::vector<std::int64_t>& extents,
                     std::vector<std::size_t> order, std::int64_t gap) {
  std::int64_t step = 1;
  for (const std::size_t i : order) {
    *strides[i] = step;
    step *= extents[i];
    if (&i == &order.front()) step += gap;
  }
  return step;
}

struct Sizes {
  std::int64_t a = 0, b = 0, c = 0;
};

// One axis of each kind, and sometimes a second one that is summed.
struct RandomForm {
  explicit RandomForm(std::mt19937_64& random, lang::DType dtype) {
    const auto any = [&](std::initializer_list<std::int64_t> list) {
      return list.begin()[random() % list.size()];
    };
    const std::int64_t m = any({1, 2, 3, 4, 5, 8, 14, 17, 31, 64, 97});
    const std::int64_t n = any({1, 4, 7, 8, 16, 17, 24, 33, 48, 64, 100});
    const std::int64_t k = any({1, 3, 8, 16, 19, 64, 127, 300});
    const std::int64_t batch = any({1, 1, 5});
    const std::int64_t folded = any({1, 1, 3});
    const std::int64_t gap = any({0, 0, 3});
    form.dtype = dtype;
    form.adds = random() % 3 == 0;
    ContractionAxis outer{batch, 0, 0, 0}, row{m, 0, 0, 0}, column{n, 0, 0, 0};
    ContractionAxis inner{k, 0, 0, 0}, second{folded, 0, 0, 0};
    const auto shuffled = [&](std::size_t count) {
      std::vector<std::size_t> order(count);
      for (std::size_t i = 0; i < count; ++i) order[i] = i;
      std::shuffle(order.begin(), order.end(), random);
      return order;
    };
    sizes.a =
        lay_out({&row.a, &inner.a, &second.a, &outer.a}, {m, k, folded, batch}, shuffled(4), gap);
    sizes.b = lay_out({&column.b, &inner.b, &second.b, &outer.b}, {n, k, folded, batch},
                      shuffled(4), gap);
    auto order = shuffled(2);
    order.push_back(2);
    sizes.c = lay_out({&column.c, &row.c, &outer.c}, {n, m, batch}, order, gap);
    const auto add = [](std::vector<ContractionAxis>& to, const ContractionAxis& axis) {
      if (axis.extent != 1) to.push_back(axis);
    };
    add(form.batch, outer);
    add(form.rows, row);
    add(form.columns, column);
    add(form.contracted, inner);
    add(form.contracted, second);
  }
  Contraction form;
  Sizes sizes;
};

// Calls back with the offsets of all points of the axes.
template <class Visit>
void for_each_point(const std::vector<ContractionAxis>& axes, Visit visit, std::size_t from = 0,
                    ContractionAxis at = {1, 0, 0, 0}) {
  if (from == axes.size()) {
    visit(at);
    return;
  }
  for (std::int64_t i = 0; i < axes[from].extent; ++i) {
    for_each_point(axes, visit, from + 1, at);
    at.a += axes[from].a;
    at.b += axes[from].b;
    at.c += axes[from].c;
  }
}

template <class T>
std::vector<double> expected(const Contraction& form, const std::vector<T>& a,
                             const std::vector<T>& b, std::vector<double> c) {
  std::vector<ContractionAxis> free = form.batch;
  free.insert(free.end(), form.rows.begin(), form.rows.end());
  free.insert(free.end(), form.columns.begin(), form.columns.end());
  for_each_point(free, [&](const ContractionAxis& at) {
    double sum = form.adds ? c[static_cast<std::size_t>(at.c)] : 0.0;
    for_each_point(form.contracted, [&](const ContractionAxis& in) {
      sum += static_cast<double>(a[static_cast<std::size_t>(at.a + in.a)]) *
             static_cast<double>(b[static_cast<std::size_t>(at.b + in.b)]);
    });
    c[static_cast<std::size_t>(at.c)] = sum;
  });
  return c;
}

template <class T>
std::vector<T> numbers(std::mt19937_64& random, std::int64_t count) {
  std::uniform_real_distribution<T> between(-1, 1);
  std::vector<T> made(static_cast<std::size_t>(count));
  for (T& each : made) each = between(random);
  return made;
}

template <class T>
void check_products(lang::DType dtype, double tolerance) {
  const kernels::Level levels[] = {kernels::Level::Base, kernels::Level::Avx2,
                                   kernels::Level::Avx512};
  std::vector<std::unique_ptr<loops::KernelLibrary>> libraries;
  for (const kernels::Level level : levels) libraries.push_back(library_of(level));
  if (!libraries.front()) {
    WARN("built without library kernels");
    return;
  }
  int taken = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const RandomForm made(random, dtype);
    const auto a = numbers<T>(random, made.sizes.a);
    const auto b = numbers<T>(random, made.sizes.b);
    const auto before = numbers<T>(random, made.sizes.c);
    const auto right = expected(made.form, a, b, {before.begin(), before.end()});
    std::vector<std::vector<T>> results;
    for (const auto& library : libraries) {
      const auto kernel = library->choose(made.form);
      if (!kernel) continue;
      std::vector<T> c = before;
      kernel->run({a.data()}, {b.data()}, c.data(),
                  [](int parts, const std::function<void(int)>& part) {
                    for (int i = parts; i-- > 0;) part(i);
                  });
      double worst = 0;
      for (std::size_t i = 0; i < c.size(); ++i)
        worst = std::max(worst, std::abs(static_cast<double>(c[i]) - right[i]));
      INFO("seed " << seed << ", " << loops::to_string(loops::NormalForm(made.form)));
      CHECK(worst < tolerance);
      results.push_back(std::move(c));
    }
    if (results.empty()) continue;
    ++taken;
    REQUIRE(results.size() == libraries.size());
    // A CPU without AVX2 may not fuse additions; the others do, whatever the length of a vector.
    INFO("seed " << seed);
    CHECK(std::memcmp(results[1].data(), results[2].data(), results[1].size() * sizeof(T)) == 0);
  }
  CHECK(taken > 30);
}

TEST_CASE("products in float32 agree with sums in float64, on CPUs of each generation") {
  check_products<float>(lang::DType::Float32, 1e-3);
}

TEST_CASE("products in float64 agree with sums in float64, on CPUs of each generation") {
  check_products<double>(lang::DType::Float64, 1e-11);
}

}  // namespace
}  // namespace relay::tests
