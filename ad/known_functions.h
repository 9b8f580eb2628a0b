#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ad/growing_recursion.h"
#include "ad/known_derivatives.h"
#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

// Calls of global functions with functions that are known where they are called:
//   let f = fn (acc, i) { acc + xs[i] }; @foldl(f, 0.0, is)
// becomes a call of a copy of the function in which it is known too, and which takes what that has
// captured:
//   @foldl_1(0.0, is, xs)
// So control flow that is known stays known to differentiation, and what is captured is a parameter
// like any other, with an accumulator where it goes round a recursion.
class KnownFunctions {
 public:
  KnownFunctions(lang::Program& program, GrowingRecursion& growing, KnownDerivatives& derivatives)
      : program_(program), growing_(growing), derivatives_(derivatives) {}

  // A typed ANF function as it is differentiated: with such calls, and small ones inlined.
  // Computed once for each function.
  lang::Expr prepared(const lang::Expr& function);
  // The same with all small calls in place.
  lang::Expr specialised(const lang::Expr& function);
  // The program's definitions have changed.
  void forget();

 private:
  // A function as a value: what it calls, with what is captured in front of its own arguments.
  struct Known {
    lang::Expr callee;  // a global, an operator or a constructor
    lang::AttrsRef attrs;
    std::vector<lang::Expr> captures;  // variables
    std::string identity;
    lang::AttrsRef place = nullptr;  // of a literal in differentiated code (ad/closures.h)
  };
  class Pass;
  using KnownArguments = std::map<std::size_t, Known>;  // by their position
  lang::Expr copy_for(const lang::Expr& call, const KnownArguments& known);
  lang::Expr copy_of(const lang::GlobalVar& global, const KnownArguments& known, lang::Span span);
  static Known closed(const lang::Expr& function, lang::AttrsRef attrs);
  static Known called(const lang::Expr& literal);
  Known lifted(const lang::VariableRef& variable, const lang::Expr& literal);
  bool keeps_functions(const std::string& name, const lang::Type& type);

  lang::Program& program_;
  GrowingRecursion& growing_;
  KnownDerivatives& derivatives_;
  std::map<std::string, std::string> copies_;   // by what they are copies of, and what is known
  std::map<std::string, std::string> origins_;  // of copies: what they are in the end copies of
  std::map<std::string, int> counts_;           // of copies, by their origin
  std::map<std::string, bool> keeps_;
  // By the node, which is kept alive.
  std::unordered_map<const lang::ExprNode*, std::pair<lang::Expr, lang::Expr>> prepared_;
  std::unordered_map<const lang::ExprNode*, std::pair<lang::Expr, Known>> lifted_;
};

}  // namespace relay::ad
