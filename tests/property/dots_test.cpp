// `dot k { (x, y) }` adds each product with one rounding, in the order of sums, wherever it stands
// and whatever computes it: on lanes, in native kernels, in tiles of a schedule, in native
// functions and point by point. What is expected is computed here with std::fma, to the last bit.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "repl/session.h"
#include "tests/support/property.h"
#include "tests/support/random.h"

namespace relay::tests {
namespace {

constexpr std::size_t kPrograms = 60;

struct Sizes {
  std::int64_t rows, columns, products;
};

// Whole numbers of so many bits that their products must be rounded.
std::int64_t whole(std::int64_t tensor, std::int64_t row, std::int64_t column) {
  return (row * 7919 + column * (1301 + tensor * 17) + row * column * 31 + tensor) % 8191 - 4000;
}
template <class T>
constexpr std::int64_t kScale = sizeof(T) == 4 ? 1 : 1048577;

template <class T>
T element(std::int64_t tensor, std::int64_t row, std::int64_t column) {
  return static_cast<T>(whole(tensor, row, column) * kScale<T>);
}

// Sixteen partial results, in blocks of 256 elements, which are combined as a tree.
template <class T>
T dot(std::int64_t count, const std::function<std::array<T, 2>(std::int64_t)>& pair) {
  std::vector<T> blocks;
  for (std::int64_t begin = 0; begin < count; begin += 256) {
    std::array<T, 16> partial{};
    for (std::int64_t k = begin; k < std::min(count, begin + 256); ++k) {
      const auto [x, y] = pair(k);
      T& sum = partial[static_cast<std::size_t>(k % 16)];
      sum = std::fma(x, y, sum);
    }
    for (std::size_t width = 8; width > 0; width /= 2) {
      for (std::size_t i = 0; i < width; ++i) partial[i] += partial[i + width];
    }
    blocks.push_back(partial[0]);
  }
  const std::function<T(std::size_t, std::size_t)> tree = [&](std::size_t begin, std::size_t end) {
    if (end - begin == 1) return blocks[begin];
    std::size_t half = 1;
    while (half * 2 < end - begin) half *= 2;
    return tree(begin, begin + half) + tree(begin + half, end);
  };
  return blocks.empty() ? T(0) : tree(0, blocks.size());
}

// A body over i (and j), and the element that it gives there.
template <class T>
struct Form {
  std::string_view text;
  std::function<T(const Sizes&, std::int64_t i, std::int64_t j)> at;
};

// P, Q and N stand for the sizes, F for the dtype. `f(a, b)` is P by Q.
template <class T>
std::vector<Form<T>> forms() {
  const auto a = [](std::int64_t row, std::int64_t column) { return element<T>(0, row, column); };
  const auto b = [](std::int64_t row, std::int64_t column) { return element<T>(1, row, column); };
  using Pair = std::array<T, 2>;
  const auto product = [=](const Sizes& of, std::int64_t i, std::int64_t j) {
    return dot<T>(of.products, [=](std::int64_t k) { return Pair{a(i, k), b(k, j)}; });
  };
  return {
      {"def f(a, b) { for i < P, j < Q { dot k < N { (a[i, k], b[k, j]) } } }", product},
      {"def f(a, b) { for i < P, j < Q { 2.0 * dot k < N { let (x, y) = (a[i, k], b[k, j]); (x, y) "
       "} } }",
       [=](const Sizes& of, std::int64_t i, std::int64_t j) { return T(2) * product(of, i, j); }},
      {"def f(a, b) { for i < P, j < Q { dot k < N { (a[i, j], b[k, j]) } } }",
       [=](const Sizes& of, std::int64_t i, std::int64_t j) {
         return dot<T>(of.products, [=](std::int64_t k) { return Pair{a(i, j), b(k, j)}; });
       }},
      {"def f(a, b) { for i < P, j < Q { dot k < N { (a[i, j], a[j, i]) } } }",
       [=](const Sizes& of, std::int64_t i, std::int64_t j) {
         return dot<T>(of.products, [=](std::int64_t) { return Pair{a(i, j), a(j, i)}; });
       }},
      {"def f(a, b) { let s = dot k < N { (a[0, k], b[k, 1]) }; for i < P, j < Q { s } }",
       [=](const Sizes& of, std::int64_t, std::int64_t) {
         return dot<T>(of.products, [=](std::int64_t k) { return Pair{a(0, k), b(k, 1)}; });
       }},
      {"def f(a, b) { for i < P, j < Q { dot k < N { if k % 3 < i { (a[i, k], b[k, j]) } else { "
       "(b[k, j], b[k, 0]) } } } }",
       [=](const Sizes& of, std::int64_t i, std::int64_t j) {
         return dot<T>(of.products, [=](std::int64_t k) {
           return k % 3 < i ? Pair{a(i, k), b(k, j)} : Pair{b(k, j), b(k, 0)};
         });
       }},
      {"def f(a, b) { for i < P, j < Q { dot k < N, l < Q { (a[i, k], b[k, l]) } } }",
       [=](const Sizes& of, std::int64_t i, std::int64_t) {
         return dot<T>(of.products * of.columns, [=](std::int64_t t) {
           return Pair{a(i, t / of.columns), b(t / of.columns, t % of.columns)};
         });
       }},
      {"def f(a, b) { for i < P, j < Q { dot k < N { let r = a[i, k] - b[k, j]; (r, r) } } }",
       [=](const Sizes& of, std::int64_t i, std::int64_t j) {
         return dot<T>(of.products, [=](std::int64_t k) {
           const T r = a(i, k) - b(k, j);
           return Pair{r, r};
         });
       }},
      {"def f(a, b) { for i < P, j < Q { dot k < N { (max l < Q { b[k, l] }, a[i, k]) } } }",
       [=](const Sizes& of, std::int64_t i, std::int64_t) {
         return dot<T>(of.products, [=](std::int64_t k) {
           T most = b(k, 0);
           for (std::int64_t l = 1; l < of.columns; ++l) most = std::max(most, b(k, l));
           return Pair{most, a(i, k)};
         });
       }},
      {"def f(a, b) { for i < P, j < Q { dot k < i + j { (a[i, k], b[k, j]) } } }",
       [=](const Sizes&, std::int64_t i, std::int64_t j) {
         return dot<T>(i + j, [=](std::int64_t k) { return Pair{a(i, k), b(k, j)}; });
       }},
      {"def step(a: Tensor[(?, ?), F], b: Tensor[(?, ?), F], i: int64, j: int64, n: int64, s: F) { "
       "if n == 0 { s } else { step(a, b, i, j, n - 1, s + dot k < N { (a[i, k], b[k, j]) }) } }\n"
       "def f(a, b) { for i < P, j < Q { step(a, b, i, j, 2, 0.0) } }",
       [=](const Sizes& of, std::int64_t i, std::int64_t j) {
         return T(0) + product(of, i, j) + product(of, i, j);
       }},
      {"def f(a, b) { for i < P, j < Q { dot k < N { (a[i, k], b[k, j]) } } }\n"
       "schedule f { tile i j 3 16; reorder j_o i_o k i_i j_i; unroll i_i; vectorize j_i; cache b "
       "}",
       product},
      {"def f(a, b) { for i < P, j < Q { dot k < N { (a[i, k], b[k, j]) } } }\n"
       "schedule f { tile i j 8 2; reorder i_o j_o k i_i j_i; parallel i_o }",
       product},
  };
}

struct Way {
  const char* name;
  std::unique_ptr<repl::Session> session;
};

std::vector<Way> ways() {
  std::vector<Way> all;
  const auto add = [&](const char* name, interp::JitMode jit, int threads) {
    repl::SessionOptions options;
    options.jit = jit;
    options.kernels = repl::LibraryKernels::Off;
    options.threads = threads;
    all.push_back({name, std::make_unique<repl::Session>(options)});
  };
  add("on lanes", interp::JitMode::Off, 1);
  add("in native code", interp::JitMode::Always, 2);
  return all;
}

template <class T>
std::string text_of(const Form<T>& form, const Sizes& of) {
  const std::string_view dtype = sizeof(T) == 4 ? "float32" : "float64";
  std::string text;
  const auto data = [&](char name, std::int64_t tensor, std::int64_t rows, std::int64_t columns) {
    text += fmt::format(
        "let {} = for p < {}, q < {} {{ cast(((p * 7919 + q * {} + p * q * 31 + {}) % 8191 - 4000) "
        "* "
        "{}, dtype=\"{}\") }}\n",
        name, rows, columns, 1301 + tensor * 17, tensor, kScale<T>, dtype);
  };
  const std::int64_t side = of.rows + of.columns + of.products;
  data('a', 0, side, side);
  data('b', 1, side, side);
  for (const char c : form.text) {
    switch (c) {
      case 'P':
        text += std::to_string(of.rows);
        break;
      case 'Q':
        text += std::to_string(of.columns);
        break;
      case 'N':
        text += std::to_string(of.products);
        break;
      case 'F':
        text += dtype;
        break;
      default:
        text += c;
    }
  }
  return text + "\n";
}

template <class T>
std::string trouble(repl::Session& session, const Form<T>& form, const Sizes& of) {
  const auto errors = session.run("<program>", text_of(form, of), nullptr);
  if (!errors.empty()) return rendered(errors);
  const auto value = session.evaluate("f(a, b)");
  if (!value) return rendered(value.errors());
  const lang::TensorRef tensor = value->to_tensor();
  for (std::int64_t i = 0; i < of.rows; ++i) {
    for (std::int64_t j = 0; j < of.columns; ++j) {
      const double found = tensor->number_at(i * of.columns + j);
      const auto expected = static_cast<double>(form.at(of, i, j));
      if (found != expected) return fmt::format("at {}, {} is {}, not {}", i, j, found, expected);
    }
  }
  return "";
}

template <class T>
void try_all(std::uint64_t seed, const std::vector<Way>& all) {
  Random random(seed);
  const std::vector<Form<T>> every = forms<T>();
  const Form<T>& form = every[random.below(every.size())];
  const std::int64_t longest = random.one_in(3) ? 700 : 40;
  const Sizes of = {static_cast<std::int64_t>(2 + random.below(9)),
                    static_cast<std::int64_t>(2 + random.below(20)),
                    static_cast<std::int64_t>(random.below(static_cast<std::size_t>(longest)))};
  for (const Way& way : all) {
    const std::string wrong = trouble(*way.session, form, of);
    if (wrong.empty()) continue;
    FAIL_CHECK("seed " << seed << "\n"
                       << text_of(form, of) << "f(a, b)\n"
                       << way.name << ": " << wrong << "\n"
                       << replay_test(seed, "dots are rounded once for each product"));
    return;
  }
}

TEST_CASE("dots are rounded once for each product") {
  const std::vector<Way> all = ways();
  for (const std::uint64_t seed : seeds(kPrograms)) {
    if (seed % 2 == 0) {
      try_all<float>(seed, all);
    } else {
      try_all<double>(seed, all);
    }
  }
}

}  // namespace
}  // namespace relay::tests
