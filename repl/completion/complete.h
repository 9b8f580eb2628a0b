#pragma once

#include <cstddef>
#include <string_view>

#include "repl/completion/completions.h"
#include "repl/completion/state.h"

namespace relay::repl::completion {

// How many candidates there are at most, and how many of them have their types.
inline constexpr std::size_t kMostCandidates = 1000;
inline constexpr std::size_t kMostDetails = 100;

// What may be written at the byte `cursor` of `text`, which may be an entry, a command or a file,
// with or without errors; `[begin, end)` ends at the cursor. Runs nothing, opens no file but to
// list folders and to find the names of an import, and leaves the definitions as they are. Recurses
// as deeply as the text nests. Cost: linear in the text and in the number of definitions, and
// inference of what stands in front of the cursor (probe.h). Throws what inference does not turn
// into a diagnostic.
Completions complete(const State& state, std::string_view text, std::size_t cursor);

}  // namespace relay::repl::completion
