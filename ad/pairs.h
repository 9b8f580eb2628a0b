#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "ad/active_variables.h"
#include "ad/adjoint.h"
#include "ad/adjoint_cells.h"
#include "ad/growing_recursion.h"
#include "ad/jvps.h"
#include "ad/known_derivatives.h"
#include "ad/known_functions.h"
#include "ad/reference_use.h"
#include "ad/threading.h"
#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

// The two halves of the derivative of a known function with control flow:
//   forward  : (args...) -> (result, residual)
//   backward : (residual, adjoint of result, accumulators...) -> (adjoints of args...)
// Arguments that nobody asks the adjoint of have `()`. Some have accumulators (ad/threading): what
// their adjoint is so far, to which the backward half adds, in place where it can; one for each
// tensor of it.
// The residual is a generated data type with one constructor per leaf of the body's `if` tree,
// holding what the backward half reads. A tail-recursive loop becomes a taping loop (the residual
// is threaded through as a tape) and a backward loop that unwinds it; both are tail-recursive.
// Iterations of one number go by forward mode instead (ad/along_number).
struct Pair {
  std::string forward;
  std::string backward;
  lang::Type forward_type;               // fn (args...) -> (result, residual)
  lang::Type backward_type;              // fn (residual, tangent, accumulators...) -> (tangents...)
  std::vector<std::size_t> accumulated;  // these parameters have accumulators
};

// The state of differentiation: lives as long as the program.
class Pairs {
 public:
  explicit Pairs(lang::Program& program)
      : program_(program),
        tangents_(program),
        cells_(program, tangents_),
        growing_(program),
        derivatives_(program, *this),
        functions_(program, growing_, derivatives_),
        uses_(program, cells_, growing_, functions_),
        threading_(program, growing_, functions_),
        jvps_(program, *this) {}
  Tangents& tangents() { return tangents_; }
  AdjointCells& cells() { return cells_; }
  GrowingRecursion& growing_recursion() { return growing_; }
  ReferenceUse& reference_use() { return uses_; }
  Jvps& jvps() { return jvps_; }
  // Of a global at a ground type, with the adjoints of the arguments that are `wanted`; the first
  // `captured` of those have accumulators, whatever becomes of them. Of those that are `expected`
  // there is something to add to (nothing: none). The halves are derived once for all extents that
  // the function's code leaves open, and their types are those of this use. Throws Failure, and
  // then knows no more than before.
  Pair of_global(const std::string& name, const lang::Type& type, const std::vector<bool>& wanted,
                 const std::vector<bool>& expected, std::size_t captured = 0);
  // A function as it is differentiated: known functions are known where they are called, and small
  // calls inlined.
  // Throws Failure(Unsupported) where a gradient says nothing of references (ad/own_gradient.h).
  lang::Expr prepared(const lang::Expr& function);
  // An expression with calls of copies in which the functions are known that are handed over.
  lang::Expr specialised(const lang::Expr& expr) { return functions_.specialised(expr); }
  // An expression in which derivatives that are asked of known functions are known functions, too.
  lang::Expr resolved(const lang::Expr& expr) { return derivatives_.resolved(expr); }
  // The program's definitions have changed.
  void forget() {
    globals_.clear();
    known_.clear();
    functions_.forget();
    derivatives_.forget();
    threading_.forget();
    jvps_.forget();
    uses_.forget();
    growing_.forget();
  }

 private:
  // Which parameters of a function a pair is about.
  struct Choice {
    std::vector<bool> wanted;    // their adjoints are
    std::vector<bool> expected;  // there is something to add to
    std::size_t captured;        // the first ones
  };
  std::vector<bool> accumulated(const std::string& name, const lang::Type& type,
                                const Choice& choice);
  Pair declare(const std::string& name, const lang::Type& type, const Choice& choice,
               lang::TypeDefRef residual);
  const Pair& at_own_type(const std::string& name, const lang::Expr& own, const Choice& choice);
  const Pair& derive_global(const std::string& key, const std::string& name, const lang::Expr& own,
                            Choice choice);
  const Pair* along_number(const std::string& key, const std::string& name, const lang::Expr& own,
                           const Choice& choice);
  const Pair& remember(const std::string& key, const Pair& pair);

  lang::Program& program_;
  Tangents tangents_;
  AdjointCells cells_;
  GrowingRecursion growing_;
  KnownDerivatives derivatives_;
  KnownFunctions functions_;
  ReferenceUse uses_;
  Threading threading_;
  Jvps jvps_;
  std::deque<Pair> pairs_;
  std::map<std::string, const Pair*> globals_;
  std::vector<std::string> known_;  // their keys, in order
};

}  // namespace relay::ad
