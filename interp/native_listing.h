#pragma once

#include <string>
#include <vector>

#include "interp/eval.h"
#include "lang/diagnostic.h"
#include "lang/expr.h"

namespace relay::interp {

// The functions that would be native code, for people (`:show flow`, `llvm`, `asm`).
struct NativeListing {
  struct Refused {
    std::string name;  // empty: an expression
    lang::Diagnostic why;
  };
  std::string text;  // empty: none
  std::vector<Refused> refused;
};

// The native functions that stand behind a typed, finished expression: those that it calls, or
// takes as values, and what these call, each before its callees; and the expression itself, if it
// has loops or local functions. Nothing runs or is compiled for running. `stage`: "flow", "llvm" or
// "asm"; the last two need a compiler. Throws Failure.
NativeListing list_native(Host& host, const lang::Expr& finished, const std::string& stage);
// The same behind a global function at a ground type, which is the first.
NativeListing list_native(Host& host, const lang::GlobalVar& global, const lang::Type& type,
                          const std::string& stage);

}  // namespace relay::interp
