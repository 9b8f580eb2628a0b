#pragma once

#include <vector>

#include "lang/expr.h"

namespace relay::ad {

// A step of a loop, going backwards, without the call that goes on.
struct TapeStep {
  const lang::Call* call = nullptr;  // that goes on
  lang::VariableRef place;           // stands for the tape with the step on top, until that is made
  lang::Expr code;                   // gives the adjoints of the parameters
  std::vector<lang::VariableRef> saved;  // what the code reads, and finds on the tape
  std::vector<lang::VariableRef> next;   // by parameter: what the next step's is; null: not bound
                                         // in this step
  const lang::Constructor* constructor = nullptr;
};

// A parameter of a loop, and what holds, going backwards, its value in the step behind.
struct Carried {
  lang::VariableRef param;
  lang::VariableRef after;
};

// A state that one step reads as what it makes, and the next one as what it is given, would be
// taped twice. Finds those, and changes the steps: all of them save their own value, and have that
// of the step behind. Only where that is less to save. Cost: linear.
std::vector<Carried> carry_states(const std::vector<lang::VariableRef>& params,
                                  std::vector<TapeStep>& steps);

}  // namespace relay::ad
