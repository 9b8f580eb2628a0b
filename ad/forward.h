#pragma once

#include <vector>

#include "ad/forward_block.h"
#include "ad/pairs.h"
#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

// fn (x..., dx...) { (y, dy) }: tangents are as people write them, of the types of the primals,
// with integers and booleans ignored, and zero in the result.
lang::Expr jvp(const lang::Function& given, lang::Program& program, Pairs& pairs);
// fn (x..., v...) { the Hessian times v }: forward over reverse.
lang::Expr hvp(const lang::Function& given, lang::Program& program, Pairs& pairs);

// The body of a function in forward mode, in code under construction.
class Linearised {
 public:
  // The parameters, and the code, are a copy.
  Linearised(const lang::Function& given, lang::Program& program, Pairs& pairs);
  const std::vector<lang::VariableRef>& params() const { return fn_->params; }
  const lang::Expr& body() const { return fn_->body; }
  // The tangent of parameter `index`, as a person writes it.
  void set_direction(std::size_t index, const lang::Expr& direction, Emitter& code);
  // The result and its tangent, of the same type.
  std::pair<lang::Expr, lang::Expr> run(Emitter& code);

 private:
  Pairs& pairs_;
  lang::Expr copy_;
  const lang::Function* fn_;
  ForwardBlock forward_;
};

}  // namespace relay::ad
