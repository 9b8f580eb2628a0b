#pragma once

#include <cstddef>
#include <functional>

namespace relay::interp {

// The evaluator's own stack: address space reserved, memory committed as it is touched, so
// recursion depth is bounded by memory. One evaluation at a time runs on it; nested runs stay on
// it.
class EvaluationStack {
 public:
  static EvaluationStack& instance();
  // Runs `body` on the reserved stack (or just calls it when already there), and within the limit
  // of memory (lang::Bounded). What it throws comes out here.
  void run(const std::function<void()>& body);
  // Bounds what recursion may take to `bytes`, and to a share of the memory that may be used
  // (lang/memory.h) when a run begins. Not while something runs.
  void limit(std::size_t bytes);

 private:
  EvaluationStack();
  void set_frame_limit() const;
  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
  std::size_t most_ = 0;  // that recursion may take
  bool active_ = false;
};

}  // namespace relay::interp
