#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tests/support/screen.h"

namespace relay::tests {

// Bytes of keys that a script names: `1 + 1<Enter>`. Names stand in angle brackets: Enter, Tab,
// Up, Down, Left, Right, Home, End, PageUp, PageDown, Delete, Backspace, S-Tab, C-Left, C-Right,
// C-x (Ctrl with a letter), M-x and M-Enter (Alt), Esc, Paste and /Paste (the marks around a pasted
// text), Break (a line break within it), lt (`<`). Throws std::runtime_error at another name.
std::string bytes_of_keys(std::string_view keys);

// Runs one script of keys and screens, `tests/repl/typed/*.in`, whose format tests/README.md tells,
// with the program `relay` of this build. Returns what is wrong, with the screen as it is; empty if
// nothing is. `last`, if it is given, becomes the screen at the end of a script that types
// anything.
std::string run_typed_script(const std::string& path, std::optional<Screen>* last = nullptr);

}  // namespace relay::tests
