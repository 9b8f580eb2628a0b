#pragma once

#include <vector>

#include "lang/diagnostic.h"
#include "lang/module.h"
#include "parser/occurrences.h"
#include "parser/parse.h"

namespace relay::repl {

// A text that has been read and not checked, with what it sees.
struct ReadText {
  lang::Module scope;    // the prelude and what the text imports
  lang::Module prelude;  // what its imported files see, besides their own imports
  parser::Reading reading;
  parser::Occurrences occurrences;
  std::vector<lang::Diagnostic> import_errors;  // then those of reading say nothing of the text
  std::vector<lang::Diagnostic> warnings;
};

}  // namespace relay::repl
