#pragma once

#include <string>
#include <vector>

#include "repl/instrumented_copies.h"

namespace relay::repl {

// A place of code that is looked through for what is not finite: something is computed, and each of
// its operands is used, in this order: the operands, then the result.
struct FinitePlace {
  std::string maker;       // `log`, `/`: what computes; empty: a parameter
  lang::Span span = {};    // of what is computed, or of the operand
  std::size_t result = 0;  // of an operand: the place of the result, which comes behind it
  bool is_operand = false;
  bool is_first = false;  // of the operands
  bool is_index_notation = false;
};

// Code that tells each operand and each result of an operator that holds floats, with its adjoint
// or tangent. Index notation is told as a whole, but for the one at `opened`, which is told inside.
class FiniteMarks final : public InstrumentedCopies {
 public:
  FiniteMarks(const lang::Module& module, typecheck::Checker& checker, Pipeline& pipeline,
              lang::Span opened = {})
      : InstrumentedCopies(module, checker, pipeline), opened_(opened) {}

  // A typed expression as one that tells. Throws Failure.
  lang::Expr of(const lang::Expr& typed);
  const std::vector<FinitePlace>& places() const { return places_; }

 private:
  class Inner;
  friend class Inner;
  lang::Expr literal(const lang::Expr& function, const std::string& name) override;

  lang::Span opened_;
  std::vector<FinitePlace> places_;
};

}  // namespace relay::repl
