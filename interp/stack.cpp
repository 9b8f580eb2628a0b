#include "interp/stack.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <limits>
#include <string>

#include "lang/diagnostic.h"
#include "lang/sanitizer.h"

#if defined(RELAY_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif

namespace relay::interp {

std::atomic<std::uintptr_t> stack_limit{0};
std::atomic<bool> interrupt_requested{false};

namespace {

// Room for the deepest chain of C++ frames between two function entries of the evaluated program.
constexpr std::size_t kReserve = 4 << 20;
constexpr std::size_t kSizes[] = {std::size_t{64} << 30, std::size_t{8} << 30, std::size_t{1} << 30,
                                  std::size_t{64} << 20};
// Of the memory that is free when the program starts, recursion may take this share: running out
// must end in a diagnostic, not in the system's killing the process.
constexpr double kMemoryShare = 0.25;
constexpr std::size_t kKeep = 1 << 20;  // stays committed between evaluations
std::uintptr_t lowest_frame = 0;

// Bytes the system could give now; 0 when it does not say.
std::size_t available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::size_t kilobytes = 0;
  while (file >> key >> kilobytes) {
    if (key == "MemAvailable:") return kilobytes * 1024;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

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
  std::size_t usable = size_ - kReserve;
  if (const std::size_t available = available_memory(); available > 0) {
    usable =
        std::min(usable, static_cast<std::size_t>(static_cast<double>(available) * kMemoryShare));
  }
  limit(usable);
}

void EvaluationStack::limit(std::size_t bytes) {
  const std::uintptr_t top = reinterpret_cast<std::uintptr_t>(base_) + size_;
  lowest_frame = std::max(lowest_frame, top - std::min(bytes, size_));
  stack_limit.store(lowest_frame);
}

void EvaluationStack::run(const std::function<void()>& body) {
  if (active_) {
    body();
    return;
  }
  active_ = true;
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

bool request_interrupt() {
  const bool waiting = interrupt_requested.exchange(true);
  stack_limit.store(UINTPTR_MAX);
  return !waiting;
}

void clear_interrupt() {
  interrupt_requested.store(false);
  stack_limit.store(lowest_frame);
}

}  // namespace relay::interp
