#pragma once

#include <string>

namespace relay::tests {

// Types the transcripts of a Markdown page (tests/support/page.h) at the prompt of the program
// `relay` of this build, on a pseudo-terminal, and compares what the screen shows; the numbers of
// results and the first mention of `:explain`, which only a terminal shows, may come beside it.
// Returns what differs; empty if nothing does.
std::string type_page(const std::string& path);

}  // namespace relay::tests
