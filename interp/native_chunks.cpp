#include "interp/native_chunks.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>

#include "interp/worker_pool.h"
#include "lang/stop.h"

namespace relay::interp {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kTimedFirst = std::chrono::microseconds(20);
constexpr auto kWorthThreads = std::chrono::microseconds(80);
constexpr std::int64_t kChunksOfThread = 8;

// Room that a thread leaves on its stack for what it calls of ours.
constexpr std::size_t kReserve = 512 << 10;

// The lowest address at which native code may still begin a frame on this thread; none if the
// system does not tell.
std::uintptr_t lowest_frame() {
  static thread_local const std::uintptr_t lowest = [] {
    pthread_attr_t attributes;
    void* begin = nullptr;
    std::size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
      return std::numeric_limits<std::uintptr_t>::max();
    pthread_attr_getstack(&attributes, &begin, &size);
    pthread_attr_destroy(&attributes);
    return reinterpret_cast<std::uintptr_t>(begin) + std::min(kReserve, size / 2);
  }();
  return lowest;
}

void keep_least(std::atomic<std::int64_t>& least, std::int64_t value) {
  std::int64_t known = least.load();
  while (value < known && !least.compare_exchange_weak(known, value)) {
  }
}

// The first index at which a thread has given up; `extent` if none has.
std::int64_t run_together(flow::Runner& runner, flow::Chunk chunk, void* context,
                          std::int64_t begin, std::int64_t extent, int threads) {
  const std::int64_t each =
      std::max<std::int64_t>((extent - begin) / (threads * kChunksOfThread), 1);
  std::atomic<std::int64_t> next = begin;
  std::atomic<std::int64_t> failed = extent;
  const pthread_t evaluator = pthread_self();
  WorkerPool::instance().run(threads, [&](int part) {
    flow::Runner helper;
    helper.is_helper = true;
    if (pthread_equal(pthread_self(), evaluator) != 0) {
      helper.frame_limit = runner.frame_limit;
    } else {
      lang::set_helper_frame_limit(part, lowest_frame());
      helper.frame_limit = &lang::helper_frame_limits[static_cast<std::size_t>(part)];
    }
    for (;;) {
      const std::int64_t from = next.fetch_add(each);
      // Behind an index that fails nothing is seen of what others give.
      if (from >= failed.load()) return;
      const std::int64_t at = chunk(&helper, context, from, std::min(from + each, extent));
      if (at >= 0) keep_least(failed, at);
    }
  });
  return failed.load();
}

}  // namespace

bool run_chunks(flow::Runner& runner, flow::Chunk chunk, void* context, std::int64_t extent,
                int threads) {
  std::int64_t done = 0;
  threads = std::min(threads, lang::kMostHelpers);
  if (threads > 1) {
    const auto start = Clock::now();
    auto taken = Clock::duration::zero();
    for (std::int64_t step = 1; done < extent && taken < kTimedFirst; step *= 2) {
      const std::int64_t end = std::min(done + step, extent);
      if (chunk(&runner, context, done, end) >= 0) return false;
      done = end;
      taken = Clock::now() - start;
    }
    if (done < extent && taken / done * (extent - done) > kWorthThreads)
      done = run_together(runner, chunk, context, done, extent, threads);
  }
  return done >= extent || chunk(&runner, context, done, extent) < 0;
}

}  // namespace relay::interp
