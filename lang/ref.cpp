#include "lang/ref.h"

#include <memory>
#include <vector>

#include "lang/memory.h"
#include "lang/stop.h"

namespace relay::lang {
namespace {

// Destructors that release further objects nest this deep; what lies deeper is put off, so that the
// stack needed to free anything is small and constant.
constexpr int kMaxNesting = 16;

// Trivially destructible on purpose: objects with static storage are freed after thread-locals.
struct Reclaimer {
  int nesting = 0;
  std::vector<const Counted*>* postponed = nullptr;  // on the stack of the outermost reclaim
  std::vector<const Counted*>* put_off = nullptr;    // for free_put_off
};
thread_local Reclaimer reclaimer;

bool is_put_off(Reclaimer& state, const Counted* object) {
  if (pending_stop.load(std::memory_order_relaxed) != Stop::Interrupted) [[likely]]
    return false;
  const Unfailing unfailing;
  if (!state.put_off) state.put_off = new std::vector<const Counted*>;
  state.put_off->push_back(object);
  return true;
}

}  // namespace

void Counted::reclaim(const Counted* object) {
  Reclaimer& state = reclaimer;
  if (is_put_off(state, object)) return;
  if (state.nesting == 0) {
    std::vector<const Counted*> postponed;
    state.postponed = &postponed;
    state.nesting = 1;
    delete object;
    while (!postponed.empty()) {
      const Counted* next = postponed.back();
      postponed.pop_back();
      if (!is_put_off(state, next)) delete next;
    }
    state.nesting = 0;
    state.postponed = nullptr;
  } else if (state.nesting < kMaxNesting) {
    ++state.nesting;
    delete object;
    --state.nesting;
  } else {
    state.postponed->push_back(object);
  }
}

void free_put_off_cells();  // cell.cpp

void free_put_off() {
  free_put_off_cells();
  const std::unique_ptr<std::vector<const Counted*>> objects(
      std::exchange(reclaimer.put_off, nullptr));
  if (objects) {
    for (const Counted* object : *objects) Counted::reclaim(object);
  }
  free_put_off_memory();
}

}  // namespace relay::lang
