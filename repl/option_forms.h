#pragma once

#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace relay::repl {

// Refuses what `parse` gives nothing for: "`x` is not a size such as 512M".
template <class Parse>
CLI::Validator of_form(Parse parse, const char* what) {
  return {[parse, what](std::string& text) {
            return parse(text) ? std::string() : fmt::format("`{}` is not {}", text, what);
          },
          ""};
}

}  // namespace relay::repl
