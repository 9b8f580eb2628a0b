#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lang/expr.h"
#include "lang/module.h"
#include "repl/pipeline.h"

namespace relay::repl {

// An expression with the data types and functions that passes have made for it, in an order in
// which each is made of earlier ones (or of itself). They are named as a person would name them:
// `loop_Tape_3_Step1` is `LoopTapeStep1`, `loop_unwind_7` is `loop_unwind`.
struct MadeProgram {
  std::vector<lang::TypeDefRef> types;
  std::vector<std::pair<std::string, lang::Expr>> functions;
  lang::Expr result;
};

// `is_whole`: also what people have written, which a text of its own needs.
MadeProgram collect_made(const lang::Expr& expr, bool is_whole, const lang::Module& module,
                         Pipeline& pipeline);

// The same for the functions of a module, which keep their names and stand in `functions` too.
// `are_changed`: they are no longer what their names mean to those who call them; what is still
// called is added as `NAME_primal`.
MadeProgram collect_made(const std::vector<std::pair<std::string, lang::Expr>>& functions,
                         bool are_changed, const lang::Module& module, Pipeline& pipeline);

}  // namespace relay::repl
