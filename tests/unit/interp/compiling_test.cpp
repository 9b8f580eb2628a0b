#include "interp/compiling.h"

#include <atomic>
#include <condition_variable>
#include <mutex>

#include <catch2/catch.hpp>

namespace relay::interp {
namespace {

// Of a kernel that does nothing and gives 7.
lang::CodeImage seven() {
#if defined(__x86_64__)
  constexpr unsigned char kCode[] = {0xb8, 7, 0, 0, 0, 0xc3};  // mov eax, 7; ret
#elif defined(__aarch64__)
  constexpr unsigned char kCode[] = {0xe0, 0, 0x80, 0x52, 0xc0, 0x03, 0x5f, 0xd6};
#endif
  lang::CodeImage image;
  for (const unsigned char byte : kCode) image.bytes.push_back(static_cast<std::byte>(byte));
  image.functions.push_back({loops::kKernelSymbol, 0, image.bytes.size()});
  return image;
}

bool gives_seven(const KernelCode& code) {
  return code.function && code.function(nullptr, nullptr, 0, 0, nullptr) == 7;
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

  std::optional<lang::CodeImage> compile(const loops::Kernel&) override {
    std::unique_lock lock(gate_.mutex);
    gate_.changed.wait(lock, [&] { return gate_.is_open; });
    ++gate_.compiled;
    return seven();
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
  CHECK(gives_seven(*first));
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
  CHECK(gives_seven(*code));
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
