#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "repl/completion/names.h"

namespace relay::repl::completion {

// `\alpha` at the end of a text: where it begins, and the characters whose LaTeX names begin so,
// the one with exactly this name first. Nothing where no backslash with letters stands there, or
// none is called so.
struct LatexPlace {
  std::size_t begin = 0;
  std::vector<Name> names = {};
};
std::optional<LatexPlace> latex_at_end(std::string_view text);

}  // namespace relay::repl::completion
