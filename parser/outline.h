#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/source.h"

namespace relay::parser {

// What a text says about itself before names mean anything, so without what it imports.
struct Outline {
  bool has_expressions = false;  // at its top level
  bool has_main = false;
  // Of `main`, where it is written as a function.
  std::optional<std::vector<std::string>> main_parameters = {};
  std::vector<lang::Diagnostic> syntax_errors = {};
};

// Recurses as deeply as the text nests, as parse() does.
Outline outline_of(const lang::Source& source);

}  // namespace relay::parser
