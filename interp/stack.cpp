#include "interp/stack.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>

#include "lang/diagnostic.h"
#include "lang/memory.h"
#include "lang/sanitizer.h"
#include "lang/stop.h"

#if defined(RELAY_ASAN)
#include <sanitizer/common_interface_defs.h>
#elif defined(__x86_64__)
#define RELAY_CALLS_ON_STACK
#endif

namespace relay::interp {

namespace {

// Room for the deepest chain of C++ frames between two function entries of the evaluated program.
constexpr std::size_t kReserve = 4 << 20;
constexpr std::size_t kSizes[] = {std::size_t{64} << 30, std::size_t{8} << 30, std::size_t{1} << 30,
                                  std::size_t{64} << 20};
// Of the memory that may be used, recursion may take this share: running out must end in a
// diagnostic, not in the system's killing the process.
constexpr double kMemoryShare = 0.25;
constexpr std::size_t kKeep = 1 << 20;  // stays committed between evaluations
// A run that is over sooner has not touched so much that giving it back would be worth a call of
// the system, which costs more than many a run.
constexpr std::chrono::microseconds kShortRun{200};

struct Switch {
  ucontext_t caller;
  ucontext_t callee;
  const std::function<void()>* body;
  std::exception_ptr escaped;
  void* caller_fake_stack = nullptr;
  const void* caller_bottom = nullptr;
  std::size_t caller_size = 0;
};
Switch* current = nullptr;

#if defined(RELAY_ASAN)
// The sanitizer is told of the other stack. Its own swapcontext would print a warning that it does
// not know stacks such as this one.
void switch_telling(Switch& mine, std::byte* base, std::size_t size) {
  __sanitizer_start_switch_fiber(&mine.caller_fake_stack, base, size);
  volatile bool has_gone = false;
  getcontext(&mine.caller);
  if (!has_gone) {
    has_gone = true;
    setcontext(&mine.callee);
  }
  __sanitizer_finish_switch_fiber(mine.caller_fake_stack, nullptr, nullptr);
}
#endif

void enter() {
  Switch* mine = current;
#if defined(RELAY_ASAN)
  __sanitizer_finish_switch_fiber(nullptr, &mine->caller_bottom, &mine->caller_size);
#endif
  try {
    const lang::Bounded bounded;
    (*mine->body)();
  } catch (...) {  // the unwinder finds no caller here: run() throws it on
    mine->escaped = std::current_exception();
  }
#if defined(RELAY_ASAN)
  __sanitizer_start_switch_fiber(nullptr, mine->caller_bottom, mine->caller_size);
#endif
#if !defined(RELAY_CALLS_ON_STACK)
  setcontext(&mine->caller);
#endif
}

#if defined(RELAY_CALLS_ON_STACK)
// Calls enter() with its frames on that stack. swapcontext() would do, but asks the system for the
// mask of signals three times. Who walks up the frames finds zeros above the first, and stops.
constexpr std::size_t kAbove = 256;
__attribute__((noinline)) void switch_to(Switch&, std::byte* base, std::size_t size) {
  asm volatile(
      "movq %%rsp, %%rbx\n\t"
      "movq %0, %%rsp\n\t"
      "call *%1\n\t"
      "movq %%rbx, %%rsp"
      :
      : "r"(base + size - kAbove), "r"(&enter)
      : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2",
        "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
        "xmm14", "xmm15", "memory", "cc");
}
#else
void switch_to(Switch& mine, std::byte* base, std::size_t size) {
  getcontext(&mine.callee);
  mine.callee.uc_stack.ss_sp = base;
  mine.callee.uc_stack.ss_size = size;
  mine.callee.uc_link = nullptr;
  makecontext(&mine.callee, enter, 0);
#if defined(RELAY_ASAN)
  switch_telling(mine, base, size);
#else
  swapcontext(&mine.caller, &mine.callee);
#endif
}
#endif

}  // namespace

EvaluationStack& EvaluationStack::instance() {
  static EvaluationStack stack;
  return stack;
}

EvaluationStack::EvaluationStack() {
  for (std::size_t size : kSizes) {
    void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (base == MAP_FAILED) continue;
    base_ = static_cast<std::byte*>(base);
    size_ = size;
    break;
  }
  RELAY_CHECK(base_ != nullptr, "cannot reserve a stack for evaluation");
  most_ = size_ - kReserve;
}

void EvaluationStack::limit(std::size_t bytes) { most_ = std::min(most_, bytes); }

void EvaluationStack::set_frame_limit() const {
  const double share = static_cast<double>(lang::memory_limit()) * kMemoryShare;
  const std::size_t bytes =
      share < static_cast<double>(most_) ? static_cast<std::size_t>(share) : most_;
  lang::set_frame_limit(reinterpret_cast<std::uintptr_t>(base_) + size_ - bytes);
}

void EvaluationStack::run(const std::function<void()>& body) {
  if (active_) {
    body();
    return;
  }
  active_ = true;
  set_frame_limit();
  Switch mine;
  mine.body = &body;
  current = &mine;
  const auto begun = std::chrono::steady_clock::now();
  switch_to(mine, base_, size_);
  active_ = false;
  // What a deep recursion touched goes back to the system.
  if (std::chrono::steady_clock::now() - begun > kShortRun)
    madvise(base_, size_ - kKeep, MADV_DONTNEED);
  if (mine.escaped) std::rethrow_exception(mine.escaped);
}

}  // namespace relay::interp
