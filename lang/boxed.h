#pragma once

#include <utility>

#include "lang/memory.h"
#include "lang/ref.h"
#include "lang/stop.h"

namespace relay::lang {

// Something large that is not counted, with a count: while an interrupt waits for its answer it is
// not freed (lang/ref.h). What its destructor touches must live on.
template <class T>
struct Boxed final : Counted {
  template <class... Args>
  explicit Boxed(Args&&... args) : value(std::forward<Args>(args)...) {}
  T value;
};

template <class T, class... Args>
Ref<Boxed<T>> make_boxed(Args&&... args) {
  return Ref<Boxed<T>>(new Boxed<T>(std::forward<Args>(args)...));
}

// Empties a container element by element; what is left when an interrupt begins to wait is freed
// later. For destructors. Needs erase(begin()) to be cheap.
template <class Container>
void free_elements(Container& elements) {
  const Unfailing unfailing;
  while (!elements.empty()) {
    elements.erase(elements.begin());
    if (pending_stop.load(std::memory_order_relaxed) != Stop::Interrupted) continue;
    make_boxed<Container>(std::move(elements));
    return;
  }
}

}  // namespace relay::lang
