#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "repl/completion/names.h"
#include "repl/completion/state.h"

namespace relay::repl::completion {

// What a line that begins with `:` or `?` needs where it ends.
struct CommandPlace {
  std::size_t begin = 0;         // of what has been typed of the word at hand
  std::vector<Name> names = {};  // that it may become
  bool is_expression = false;    // then the text from `begin` on is one, and `names` come first
};
// Nothing for other texts.
std::optional<CommandPlace> command_at_end(const State& state, std::string_view text);

}  // namespace relay::repl::completion
