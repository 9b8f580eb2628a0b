#pragma once

#include <string>
#include <vector>

#include "formats/file_access.h"
#include "lang/module.h"
#include "typecheck/infer.h"

namespace relay::repl::completion {

// What a text is completed in: the definitions so far, and the files that may be looked at.
struct State {
  lang::Module& module;
  typecheck::Checker& checker;
  formats::FileAccess files = {};
  std::vector<std::string> search_path = {};  // of imports
};

}  // namespace relay::repl::completion
