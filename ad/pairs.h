#pragma once

#include <map>
#include <string>
#include <vector>

#include "ad/adjoint.h"
#include "ad/jvps.h"
#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

// The two halves of the derivative of a known function with control flow:
//   forward  : (args...) -> (result, residual)
//   backward : (residual, adjoint of result) -> (adjoints of args...)
// The residual is a generated data type with one constructor per leaf of the body's `if` tree,
// holding what the backward half reads. A tail-recursive loop becomes a taping loop (the residual
// is threaded through as a tape) and a backward loop that unwinds it; both are tail-recursive.
struct Pair {
  std::string forward;
  std::string backward;
  lang::Type forward_type;   // fn (args...) -> (result, residual)
  lang::Type backward_type;  // fn (residual, tangent) -> (tangents...)
};

// The state of differentiation: lives as long as the program.
class Pairs {
 public:
  explicit Pairs(lang::Program& program)
      : program_(program), tangents_(program), jvps_(program, *this) {}
  Tangents& tangents() { return tangents_; }
  Jvps& jvps() { return jvps_; }
  // Of a global at a ground type. The halves are derived once for all extents that the function's
  // code leaves open, and their types are those of this use. Throws Failure, and then knows no more
  // than before.
  Pair of_global(const std::string& name, const lang::Type& type);
  // A function as it is differentiated: small calls are inlined, unless all calls are kept, which
  // is for messages that tell the way to what has no derivative.
  lang::Expr prepared(const lang::Expr& function) const;
  void keep_calls(bool keep) { keeps_calls_ = keep; }
  // The program's definitions have changed.
  void forget() {
    globals_.clear();
    known_.clear();
    jvps_.forget();
  }

 private:
  Pair declare(const std::string& name, const lang::Type& type, lang::TypeDefRef residual);
  const Pair& derive_global(const std::string& key, const std::string& name, const lang::Expr& own);

  lang::Program& program_;
  Tangents tangents_;
  Jvps jvps_;
  std::map<std::string, Pair> globals_;
  std::vector<std::string> known_;  // their keys, in order
  bool keeps_calls_ = false;
};

}  // namespace relay::ad
