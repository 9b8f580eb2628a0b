#include "lang/stop.h"

#include "lang/memory.h"

namespace relay::lang {

std::atomic<Stop> pending_stop{Stop::None};
std::atomic<std::uintptr_t> frame_limit{0};
std::array<std::atomic<std::uintptr_t>, kMostHelpers> helper_frame_limits{};

namespace {
std::atomic<std::uintptr_t> lowest_frame{0};

// A request that comes in between must not be overwritten: the load must not come before the store.
void restore_frame_limit() {
  frame_limit.store(lowest_frame.load());
  if (pending_stop.load() != Stop::None) frame_limit.store(UINTPTR_MAX);
}
}  // namespace

void set_frame_limit(std::uintptr_t lowest) {
  lowest_frame.store(lowest);
  restore_frame_limit();
}

void set_helper_frame_limit(int helper, std::uintptr_t lowest) {
  auto& limit = helper_frame_limits[static_cast<std::size_t>(helper)];
  limit.store(lowest);
  if (pending_stop.load() != Stop::None) limit.store(UINTPTR_MAX);
}

bool request_stop(Stop reason) {
  Stop expected = Stop::None;
  const bool is_first = pending_stop.compare_exchange_strong(expected, reason);
  frame_limit.store(UINTPTR_MAX);
  for (auto& limit : helper_frame_limits) limit.store(UINTPTR_MAX);
  return is_first;
}

void clear_stop() {
  pending_stop.store(Stop::None);
  restore_frame_limit();
}

Diagnostic stop_diagnostic() {
  switch (pending_stop.load()) {
    case Stop::OutOfTime: {
      Diagnostic error(DiagnosticKind::OutOfTime, "the time that a run may take is used up");
      error.note("help: `--max-time` and `:limit time` set it");
      return error;
    }
    case Stop::OutOfMemory: {
      Diagnostic error(DiagnosticKind::OutOfMemory, "the memory that a run may take is used up");
      error.note(memory_limit_help());
      return error;
    }
    case Stop::Interrupted:
    case Stop::None:
      break;
  }
  return {DiagnosticKind::Interrupted, "interrupted"};
}

bool is_stop(DiagnosticKind kind) {
  return kind == DiagnosticKind::Interrupted || kind == DiagnosticKind::OutOfTime ||
         kind == DiagnosticKind::OutOfMemory;
}

void fail_stopped() { throw Failure(stop_diagnostic()); }

}  // namespace relay::lang
