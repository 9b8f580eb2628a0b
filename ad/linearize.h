#pragma once

#include "ad/pairs.h"
#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

// fn (x...) { (y, fn (dx...) { dy }) }: the inner function is linear, and reads what the outer one
// has kept. It is the transpose of the pullback, which keeps that already.
lang::Expr linearize(const lang::Function& given, lang::Program& program, Pairs& pairs);

}  // namespace relay::ad
