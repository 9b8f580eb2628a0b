#include "interp/compiling.h"

#include <atomic>
#include <condition_variable>
#include <mutex>

#include <catch2/catch.hpp>

namespace relay::interp {
namespace {

int no_kernel(void* const*, const std::int64_t*, std::int64_t, std::int64_t, loops::KernelError*) {
  return 0;
}

// Compiles once it is let go.
class SlowCompiler final : public loops::KernelCompiler {
 public:
  struct Gate {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_open = false;
    std::atomic<int> compiled{0};

    void open() {
      const std::lock_guard lock(mutex);
      is_open = true;
      changed.notify_all();
    }
  };
  explicit SlowCompiler(Gate& gate) : gate_(gate) {}

  loops::KernelFunction compile(const loops::Kernel&) override {
    std::unique_lock lock(gate_.mutex);
    gate_.changed.wait(lock, [&] { return gate_.is_open; });
    ++gate_.compiled;
    return no_kernel;
  }
  std::string dump(const loops::Kernel&, const std::string& stage) override { return stage; }

 private:
  Gate& gate_;
};

Compiling::Makers slow(SlowCompiler::Gate& gate) {
  return {[&gate] { return std::make_unique<SlowCompiler>(gate); }, {}};
}

loops::Kernel kernel_of_rank(std::int32_t rank) {
  loops::Kernel kernel;
  kernel.domain_rank = rank;
  return kernel;
}

struct Stopped {};

TEST_CASE("native code is made in the background, once for each structure") {
  SlowCompiler::Gate gate;
  Compiling compiling(slow(gate));
  const auto first = compiling.code_of(kernel_of_rank(1));
  CHECK(compiling.code_of(kernel_of_rank(1)) == first);
  const auto second = compiling.code_of(kernel_of_rank(2));
  CHECK(second != first);
  CHECK(!compiling.is_done(first->ticket));
  CHECK(is_working());
  gate.open();
  compiling.settle([] {});
  CHECK(compiling.is_done(first->ticket));
  CHECK(compiling.is_done(second->ticket));
  CHECK(first->function == no_kernel);
  CHECK(gate.compiled == 2);
  CHECK(compiling.seconds() > 0);
  CHECK(!is_working());
}

TEST_CASE("who waits for native code can be told to stop, and it is there the next time") {
  SlowCompiler::Gate gate;
  Compiling compiling(slow(gate));
  const auto code = compiling.code_of(kernel_of_rank(1));
  CHECK_THROWS_AS(compiling.wait(code->ticket, [] { throw Stopped(); }), Stopped);
  CHECK_THROWS_AS(compiling.settle([] { throw Stopped(); }), Stopped);
  gate.open();
  compiling.wait(code->ticket, [] {});
  CHECK(code->function == no_kernel);
  CHECK_NOTHROW(compiling.wait(code->ticket, [] { throw Stopped(); }));
}

TEST_CASE("what has not begun to be made need not be waited for") {
  SlowCompiler::Gate gate;
  gate.open();
  {
    Compiling compiling(slow(gate));
    for (int i = 0; i < 100; ++i) compiling.code_of(kernel_of_rank(i));
  }
  CHECK(!is_working());
}

TEST_CASE("without a compiler there is no native code") {
  Compiling compiling{{}};
  const auto code = compiling.code_of(kernel_of_rank(1));
  CHECK(!compiling.has_loaded_functions());
  const auto loaded = compiling.load_functions();
  CHECK(compiling.load_functions() == loaded);
  compiling.settle([] {});
  CHECK(code->function == nullptr);
  CHECK(compiling.has_loaded_functions());
  CHECK(compiling.functions() == nullptr);
  CHECK_THROWS_AS(compiling.dump(kernel_of_rank(1), "llvm"), lang::Failure);
}

}  // namespace
}  // namespace relay::interp
