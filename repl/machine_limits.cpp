#include "repl/machine_limits.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace relay::repl {

namespace {

// --- Operations: products that are added, in as many chains as keep the units busy ---

constexpr int kChains = 10;
constexpr int kSteps = 200'000;

#if defined(__x86_64__)
__attribute__((target("avx512f"))) float chains_of_16(int steps, float seed) {
  __m512 sums[kChains];
  for (int i = 0; i < kChains; ++i) sums[i] = _mm512_set1_ps(seed + static_cast<float>(i));
  const __m512 factor = _mm512_set1_ps(0.999F);
  const __m512 term = _mm512_set1_ps(1.0F);
  for (int step = 0; step < steps; ++step) {
#pragma GCC unroll 10
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, factor, term);
  }
  float whole = 0;
  for (const __m512& sum : sums) whole += _mm512_cvtss_f32(sum);
  return whole;
}

__attribute__((target("avx2,fma"))) float chains_of_8(int steps, float seed) {
  __m256 sums[kChains];
  for (int i = 0; i < kChains; ++i) sums[i] = _mm256_set1_ps(seed + static_cast<float>(i));
  const __m256 factor = _mm256_set1_ps(0.999F);
  const __m256 term = _mm256_set1_ps(1.0F);
  for (int step = 0; step < steps; ++step) {
#pragma GCC unroll 10
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, factor, term);
  }
  float whole = 0;
  for (const __m256& sum : sums) whole += _mm256_cvtss_f32(sum);
  return whole;
}
#endif

typedef float Four __attribute__((vector_size(16)));

float chains_of_4(int steps, float seed) {
  Four sums[kChains];
  for (int i = 0; i < kChains; ++i) sums[i] = Four{} + (seed + static_cast<float>(i));
  const Four factor = Four{} + 0.999F;
  const Four term = Four{} + 1.0F;
  for (int step = 0; step < steps; ++step) {
#pragma GCC unroll 10
    for (Four& sum : sums) sum = sum * factor + term;
  }
  float whole = 0;
  for (const Four& sum : sums) whole += sum[0];
  return whole;
}

struct Chains {
  float (*run)(int steps, float seed);
  int width;
};

Chains widest_chains() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {chains_of_16, 16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {chains_of_8, 8};
#endif
  return {chains_of_4, 4};
}

// --- Bytes: two arrays are added into a third ---

void add(const float* a, const float* b, float* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = a[i] + b[i];
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) void add_by_16(const float* a, const float* b, float* to,
                                                  std::size_t count) {
  for (std::size_t i = 0; i < count; i += 16)
    _mm512_store_ps(to + i, _mm512_add_ps(_mm512_load_ps(a + i), _mm512_load_ps(b + i)));
}
// Past the caches.
void add_past(const float* a, const float* b, float* to, std::size_t count) {
  for (std::size_t i = 0; i < count; i += 4)
    _mm_stream_ps(to + i, _mm_add_ps(_mm_load_ps(a + i), _mm_load_ps(b + i)));
}
#endif

using Add = void (*)(const float* a, const float* b, float* to, std::size_t count);

std::vector<Add> ways_to_add() {
  std::vector<Add> ways = {add};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) ways.push_back(add_by_16);
  ways.push_back(add_past);
#endif
  return ways;
}

// --- Times ---

// The seconds that `work` takes on all threads together: the least of several times.
double seconds_of(int threads, const std::function<void(int)>& work) {
  constexpr int kRounds = 5;
  using Clock = std::chrono::steady_clock;
  double least = HUGE_VAL;
  for (int round = 0; round < kRounds; ++round) {
    std::atomic<int> waiting{threads};
    std::vector<Clock::time_point> begun(static_cast<std::size_t>(threads));
    std::vector<Clock::time_point> ended(begun.size());
    const auto run = [&](int i) {
      for (--waiting; waiting > 0;) {
      }
      begun[static_cast<std::size_t>(i)] = Clock::now();
      work(i);
      ended[static_cast<std::size_t>(i)] = Clock::now();
    };
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back(run, i);
    run(0);
    for (std::thread& each : others) each.join();
    const std::chrono::duration<double> time = *std::max_element(ended.begin(), ended.end()) -
                                               *std::min_element(begun.begin(), begun.end());
    least = std::min(least, time.count());
  }
  return least;
}

double operations_of(int threads) {
  const Chains chains = widest_chains();
  std::vector<float> kept(static_cast<std::size_t>(threads));
  const double time = seconds_of(threads, [&](int i) {
    kept[static_cast<std::size_t>(i)] = chains.run(kSteps, static_cast<float>(i));
  });
  volatile float used = kept.front();
  (void)used;
  return 2.0 * kChains * kSteps * chains.width * threads / time;
}

struct Free {
  void operator()(float* memory) const { std::free(memory); }
};

// Each thread in its own arrays.
double bytes_of(int threads, std::size_t size) {
  constexpr std::size_t kPage = 4096;
  constexpr std::size_t kWork = std::size_t{32} << 20;
  const std::size_t pages =
      std::max<std::size_t>(1, size / 3 / static_cast<std::size_t>(threads) / kPage);
  const std::size_t count = pages * kPage / sizeof(float);
  std::vector<std::unique_ptr<float, Free>> arrays;
  for (int i = 0; i < 3 * threads; ++i) {
    auto* const memory = static_cast<float*>(std::aligned_alloc(kPage, pages * kPage));
    if (memory == nullptr) throw std::bad_alloc();
    std::fill(memory, memory + count, 1.0F);
    arrays.emplace_back(memory);
  }
  const double all = 3.0 * static_cast<double>(count * sizeof(float)) * threads;
  const std::size_t repeats = std::max<std::size_t>(1, kWork / size);
  double rate = 0;
  for (const Add way : ways_to_add()) {
    const double time = seconds_of(threads, [&](int i) {
      const auto first = static_cast<std::size_t>(3 * i);
      for (std::size_t repeat = 0; repeat < repeats; ++repeat)
        way(arrays[first].get(), arrays[first + 1].get(), arrays[first + 2].get(), count);
    });
    rate = std::max(rate, static_cast<double>(repeats) * all / time);
  }
  return rate;
}

}  // namespace

double MachineLimits::seconds(double count, double moved, double working_set) const {
  double rate = 0;
  double nearest = HUGE_VAL;
  for (const auto& [size, known] : bytes) {
    const double distance =
        std::abs(std::log(std::max(working_set, 1.0) / static_cast<double>(size)));
    if (distance >= nearest) continue;
    nearest = distance;
    rate = known;
  }
  return std::max(count / operations, rate > 0 ? moved / rate : 0.0);
}

MachineLimits measure_limits(int threads, const std::vector<std::size_t>& sizes) {
  MachineLimits limits;
  limits.operations = operations_of(threads);
  for (const std::size_t size : sizes) limits.bytes.emplace_back(size, bytes_of(threads, size));
  return limits;
}

}  // namespace relay::repl
