#pragma once

#include <string>
#include <string_view>

namespace relay::repl {

// The argument of a command that draws: `EXPR > FILE`, where FILE is a word with a dot in its name,
// or a string. `x > 0.5` and `x > y` are expressions.
struct PictureFile {
  std::string_view text;  // the rest
  std::string path;       // empty: none
};
PictureFile split_picture_file(std::string_view argument);

}  // namespace relay::repl
