#pragma once

#include <string>

#include "repl/session.h"

namespace relay::repl {

// How results are shown.
struct Display {
  bool numbers = false;  // says behind the type by which name a result is kept: `// _3`
};

// `value : type`, or `name : type` for a definition. Empty when there is nothing to show.
std::string describe(const ItemResult& result, const Display& display = {});

}  // namespace relay::repl
