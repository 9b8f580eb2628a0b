#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ad/adjoint_cells.h"
#include "ad/growing_recursion.h"
#include "ad/known_functions.h"
#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

// Which code may use references that have adjoints. It has to run in reverse, in its place, even
// where nobody asks for the adjoint of its result. A function that nobody knows may use any.
class ReferenceUse {
 public:
  ReferenceUse(lang::Program& program, AdjointCells& cells, GrowingRecursion& growing,
               KnownFunctions& functions)
      : program_(program), cells_(cells), growing_(growing), functions_(functions) {}
  // Evaluating an expression, not calling function values that it gives.
  bool in(const lang::Expr& expr);
  // Calling a global function at a ground type. Looks at all that it reaches, once.
  bool in_global(const std::string& name, const lang::Type& type);
  // The program's definitions have changed.
  void forget() { globals_.clear(); }

 private:
  struct Callee {
    std::string name;
    lang::Type type;
  };
  // What evaluating one piece of code does itself, and the globals that it calls.
  struct Steps {
    bool uses = false;
    std::vector<Callee> callees;
  };
  struct Global {
    Steps steps;
    bool is_free = false;  // of uses, with all that it calls
  };
  Steps steps_of(const lang::Expr& expr);
  void look_at(const lang::Expr& expr, Steps& steps);
  void look_at_call(const lang::Call& call, Steps& steps);
  bool reaches_use(Steps steps);
  Global& global(const std::string& key, const Callee& callee);

  lang::Program& program_;
  AdjointCells& cells_;
  GrowingRecursion& growing_;
  KnownFunctions& functions_;
  std::unordered_map<std::string, Global> globals_;  // by name and type
};

}  // namespace relay::ad
