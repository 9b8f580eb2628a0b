#include "interp/stack.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <exception>

#include "lang/diagnostic.h"
#include "lang/memory.h"
#include "lang/sanitizer.h"
#include "lang/stop.h"

#if defined(RELAY_ASAN)
#include <sanitizer/common_interface_defs.h>
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
void switch_to(Switch& mine, std::byte* base, std::size_t size) {
  __sanitizer_start_switch_fiber(&mine.caller_fake_stack, base, size);
  volatile bool has_gone = false;
  getcontext(&mine.caller);
  if (!has_gone) {
    has_gone = true;
    setcontext(&mine.callee);
  }
  __sanitizer_finish_switch_fiber(mine.caller_fake_stack, nullptr, nullptr);
}
#else
void switch_to(Switch& mine, std::byte*, std::size_t) { swapcontext(&mine.caller, &mine.callee); }
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
  setcontext(&mine->caller);
}

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
  getcontext(&mine.callee);
  mine.callee.uc_stack.ss_sp = base_;
  mine.callee.uc_stack.ss_size = size_;
  mine.callee.uc_link = nullptr;
  makecontext(&mine.callee, enter, 0);
  switch_to(mine, base_, size_);
  active_ = false;
  // What a deep recursion touched goes back to the system.
  madvise(base_, size_ - kKeep, MADV_DONTNEED);
  if (mine.escaped) std::rethrow_exception(mine.escaped);
}

}  // namespace relay::interp
