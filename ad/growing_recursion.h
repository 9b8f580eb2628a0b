#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

// Polymorphic recursion: functions that reach themselves at ever larger types, as those over
// `type Nest[A] { End, Deep(A, Nest[(A, A)]) }` do. Each of those types is a function of its own,
// so that deriving all that one reaches would not end: a call of such a function is derived when it
// is made, as one of a function that nobody knows.
class GrowingRecursion {
 public:
  explicit GrowingRecursion(lang::Program& program) : program_(program) {}
  // Looks at all that calling the global function at a ground type reaches, once.
  bool includes(const std::string& name, const lang::Type& type);
  // The global function that a callee is, if its calls are derived with the code that makes them;
  // null for those of polymorphic recursion, and for all other callees.
  const lang::GlobalVar* known_callee(const lang::Expr& callee);
  // The program's definitions have changed.
  void forget() {
    seen_.clear();
    growing_.clear();
  }

 private:
  struct Callee {
    std::string name;
    lang::Type type;
  };
  std::vector<Callee> callees_of(const Callee& caller);

  lang::Program& program_;
  std::unordered_set<std::string> seen_;     // by name and type
  std::unordered_set<std::string> growing_;  // by name
};

}  // namespace relay::ad
