// What this machine can do at most: `limits THREADS` prints the float32 operations of a second, and
// for some sizes of what is worked on, in bytes, the bytes of a second that are read and written.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#if defined(__SSE__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
constexpr int kVector = 64;
#elif defined(__AVX__)
constexpr int kVector = 32;
#else
constexpr int kVector = 16;
#endif
typedef float Vector __attribute__((vector_size(kVector)));

// The seconds that `work` takes on all threads together: the least of several times.
double seconds(int threads, const std::function<void(int)>& work) {
  double least = 1e9;
  for (int round = 0; round < 7; ++round) {
    std::atomic<int> waiting{threads};
    std::vector<std::chrono::steady_clock::time_point> begun(threads), ended(threads);
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i) {
      running.emplace_back([&, i] {
        for (--waiting; waiting > 0;) {
        }
        begun[i] = std::chrono::steady_clock::now();
        work(i);
        ended[i] = std::chrono::steady_clock::now();
      });
    }
    for (auto& each : running) each.join();
    const std::chrono::duration<double> time = *std::max_element(ended.begin(), ended.end()) -
                                               *std::min_element(begun.begin(), begun.end());
    least = std::min(least, time.count());
  }
  return least;
}

// Products that are added, in as many chains as keep the units busy.
double operations(int threads) {
  constexpr int kChains = 10;
  constexpr int kSteps = 2'000'000;
  std::vector<float> kept(threads);
  const double time = seconds(threads, [&](int thread) {
    // Other numbers in each chain: equal ones would be computed once.
    Vector sums[kChains];
    for (int i = 0; i < kChains; ++i) sums[i] = Vector{} + static_cast<float>(thread + i);
    const Vector factor = Vector{} + 0.999F;
    const Vector term = Vector{} + 1.0F;
    for (int step = 0; step < kSteps; ++step) {
#pragma GCC unroll 10
      for (Vector& sum : sums) sum = sum * factor + term;
    }
    for (const Vector& sum : sums) kept[thread] += sum[0];
  });
  asm volatile("" : : "m"(*kept.data()));
  return 2.0 * kChains * kSteps * (kVector / sizeof(float)) * threads / time;
}

// Past the caches, where the machine can do that.
void store_past(Vector* to, const Vector& value) {
#if defined(__SSE__)
  for (std::size_t i = 0; i < kVector / sizeof(__m128); ++i)
    _mm_stream_ps(reinterpret_cast<float*>(to) + 4 * i, reinterpret_cast<const __m128*>(&value)[i]);
#else
  *to = value;
#endif
}

// Two thirds read and one written, each thread in its own part.
double bytes(int threads, std::size_t size, bool goes_past) {
  const std::size_t vectors = size / 3 / sizeof(Vector) / threads;
  std::vector<std::unique_ptr<Vector[], void (*)(Vector*)>> arrays;
  for (int i = 0; i < 3 * threads; ++i) {
    auto* const memory = static_cast<Vector*>(
        std::aligned_alloc(4096, (vectors * sizeof(Vector) + 4095) / 4096 * 4096));
    std::fill(memory, memory + vectors, Vector{});
    arrays.emplace_back(memory, [](Vector* each) { std::free(each); });
  }
  const std::size_t repeats = std::max<std::size_t>(1, (std::size_t{256} << 20) / size);
  const double time = seconds(threads, [&](int thread) {
    const Vector* const a = arrays[3 * thread].get();
    const Vector* const b = arrays[3 * thread + 1].get();
    Vector* const to = arrays[3 * thread + 2].get();
    for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
      if (goes_past) {
        for (std::size_t i = 0; i < vectors; ++i) store_past(to + i, a[i] + b[i]);
      } else {
        for (std::size_t i = 0; i < vectors; ++i) to[i] = a[i] + b[i];
      }
      asm volatile("" : : "r"(to) : "memory");
    }
  });
  return static_cast<double>(repeats * 3 * vectors * sizeof(Vector) * threads) / time;
}

int main(int, char** arguments) {
  const int threads = std::atoi(arguments[1]);
  std::printf("operations %.4g\n", operations(threads));
  for (const double mebibytes : {0.02, 0.75, 6.0, 24.0, 48.0, 192.0}) {
    const auto size = static_cast<std::size_t>(mebibytes * (1 << 20));
    std::printf("bytes %zu %.4g\n", size,
                std::max(bytes(threads, size, false), bytes(threads, size, true)));
  }
}
