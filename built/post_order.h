#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace relay::built {

// Emits what can be reached from `root` and is not done yet, parts first, with a stack of its own.
// `emit` makes it done. `Handle` is a pointer to where its owner holds a thing; `each_part(handle,
// push)` pushes the handles of its parts.
template <class Handle, class IsDone, class EachPart, class Emit>
void in_post_order(Handle root, const IsDone& is_done, const EachPart& each_part,
                   const Emit& emit) {
  struct Item {
    Handle handle;
    bool is_open;  // its parts have been pushed
  };
  std::vector<Item> stack{{root, false}};
  while (!stack.empty()) {
    const Handle handle = stack.back().handle;
    if (is_done(handle)) {
      stack.pop_back();
    } else if (stack.back().is_open) {
      stack.pop_back();
      emit(handle);
    } else {
      stack.back().is_open = true;
      const std::size_t first = stack.size();
      each_part(handle, [&](Handle part) {
        if (!is_done(part)) stack.push_back({part, false});
      });
      std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(first), stack.end());
    }
  }
}

}  // namespace relay::built
