#pragma once

#include <cstddef>
#include <string>

#include "repl/session.h"

namespace relay::repl {

// How results are shown: as in a text, or to a person.
struct Display {
  std::size_t columns = 100;
  std::size_t lines = 0;       // that a value may take, about; 0: any
  bool counts_errors = false;  // says behind the type how many NaNs and infinities there are
  bool numbers = false;        // and by which name a result is kept: `// _3`
};

// For the terminal that standard output is; as in a text, if it is none. In both `shown` is what a
// person has said.
Display display_for_output(const ShownSize& shown = {});

// `value : type`, or `name : type` for a definition. Empty when there is nothing to show.
std::string describe(const ItemResult& result, const Display& display = {});

// A value in whole.
std::string describe_all(const lang::Value& value, std::size_t columns);

}  // namespace relay::repl
