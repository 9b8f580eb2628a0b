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
struct MadeFunction {
  std::string name;
  lang::Expr function;
  // The type that the name has for those who call it, if that is no longer what it has become; what
  // is still called is added as `NAME_primal`. Else null.
  lang::Type meant;
};
MadeProgram collect_made(const std::vector<MadeFunction>& functions, const lang::Module& module,
                         Pipeline& pipeline);

// What the operators mean that only derivatives have, as comments: no text can call them. Empty:
// the program has none, and its text can be read back.
std::string operator_notes(const MadeProgram& made);

}  // namespace relay::repl
