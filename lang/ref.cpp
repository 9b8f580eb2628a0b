#include "lang/ref.h"

#include <vector>

namespace relay::lang {
namespace {

// Destructors that release further objects nest this deep; what lies deeper is put off, so that the
// stack needed to free anything is small and constant.
constexpr int kMaxNesting = 16;

// Trivially destructible on purpose: objects with static storage are freed after thread-locals.
struct Reclaimer {
  int nesting = 0;
  std::vector<const Counted*>* postponed = nullptr;  // on the stack of the outermost reclaim
};
thread_local Reclaimer reclaimer;

}  // namespace

void Counted::reclaim(const Counted* object) {
  Reclaimer& state = reclaimer;
  if (state.nesting == 0) {
    std::vector<const Counted*> postponed;
    state.postponed = &postponed;
    state.nesting = 1;
    delete object;
    while (!postponed.empty()) {
      const Counted* next = postponed.back();
      postponed.pop_back();
      delete next;
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

}  // namespace relay::lang
