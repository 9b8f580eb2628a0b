#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace relay::interp {

// The evaluator's own stack: address space reserved, memory committed as it is touched, so
// recursion depth is bounded by memory. One evaluation at a time runs on it; nested runs stay on
// it.
class EvaluationStack {
 public:
  static EvaluationStack& instance();
  // Runs `body` on the reserved stack (or just calls it when already there). What it throws comes
  // out here.
  void run(const std::function<void()>& body);
  // Bounds what recursion may take to `bytes`, if that is less than the bound so far: for programs
  // that must not fill the memory of their machine. Not while something runs.
  void limit(std::size_t bytes);

 private:
  EvaluationStack();
  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
  bool active_ = false;
};

// Every function entry compares its frame address with this: below means "stop and look why". An
// interrupt overwrites it, so that loops cost nothing extra to be interruptible.
extern std::atomic<std::uintptr_t> stack_limit;
extern std::atomic<bool> interrupt_requested;

// Safe in a signal handler. False if one was already requested and not yet cleared.
bool request_interrupt();
void clear_interrupt();

}  // namespace relay::interp
