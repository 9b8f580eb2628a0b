#pragma once

#include <string>
#include <vector>

#include "ad/tangent.h"
#include "lang/diagnostic.h"
#include "lang/expr.h"
#include "lang/module.h"

// The way from a function that is differentiated to what in it cannot be.
namespace relay::ad {

// Tells of each problem in `failure`, which came of differentiating `function` by the variables
// `from`, how the value of one of these gets there: by labels at the steps, and in one line. Where
// none does (the place uses references, say), the calls that lead there. `name`: the function's, or
// empty. It reads the code of everything that the function calls.
void tell_way(lang::Failure& failure, const lang::Function& function, const std::string& name,
              const std::vector<lang::VariableRef>& from, lang::Program& program,
              Tangents& tangents);

// What may have an adjoint where a closure is differentiated: what it takes and what it holds.
std::vector<lang::VariableRef> variables_of(const lang::Expr& literal);

// `derive()`, whose failures tell the way.
template <class F>
auto telling_way(const lang::Function& function, const std::string& name,
                 const std::vector<lang::VariableRef>& from, lang::Program& program,
                 Tangents& tangents, F&& derive) {
  try {
    return derive();
  } catch (lang::Failure& failure) {
    tell_way(failure, function, name, from, program, tangents);
    throw;
  }
}

// `derive()`, whose failures are at `place` where they say no place.
template <class F>
auto placed_at(lang::Span place, F&& derive) {
  try {
    return derive();
  } catch (lang::Failure& failure) {
    for (auto& diagnostic : failure.diagnostics) {
      if (!diagnostic.span) diagnostic.span = place;
    }
    throw;
  }
}

}  // namespace relay::ad
