#pragma once

#include <string_view>

namespace relay::repl {

// Writes a text to standard output: by `$PAGER`, or `less -FRX`, where that is a terminal on which
// the text does not fit. An empty `PAGER` means none.
void put_paged(std::string_view text);

}  // namespace relay::repl
