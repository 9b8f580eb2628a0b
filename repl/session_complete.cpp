#include "interp/stack.h"
#include "repl/completion/complete.h"
#include "repl/session_state.h"

namespace relay::repl {

// What cannot be completed has no candidates: an error of a text that is being typed is nobody's
// mistake yet.
Completions Session::complete(std::string_view text, std::size_t cursor) const {
  Completions result{cursor, cursor, {}};
  const auto completed = [&] {
    const completion::State state{impl_->module, impl_->checker, impl_->options.files,
                                  impl_->options.search_path};
    return completion::complete(state, text, cursor);
  };
  try {
    if (auto found = impl_->entry_guarded(completed)) result = std::move(*found);
  } catch (const lang::InternalError&) {
    return {cursor, cursor, {}};
  }
  return result;
}

}  // namespace relay::repl
