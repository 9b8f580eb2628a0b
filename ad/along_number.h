#pragma once

#include <string>
#include <vector>

#include "ad/pairs.h"
#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

// Functions that call themselves, whose derivative by one number is wanted, and which give numbers:
// iterations such as Newton's. In reverse mode each step would go on a tape; forward mode carries
// one more number for each that depends on it, and needs none.

// Is the function one? `wanted`: the parameters whose adjoints are. None is where something that it
// reaches has a gradient of its own or is a checkpoint, which say how to go backwards, where it has
// an effect, or calls a function that nobody knows. Cost: linear in all that it reaches.
bool is_along_number(lang::Program& program, const lang::Function& function,
                     const std::string& name, const lang::Type& type,
                     const std::vector<bool>& wanted, Tangents& tangents);

// Adds both halves: the forward half is the derivative in forward mode, whose tangent is all that
// the residual holds; the backward half multiplies. `residual`: the data type of `pair`'s residual,
// without constructors as yet. Throws Failure where forward mode does.
void define_along_number(lang::Program& program, Pairs& pairs, const std::string& name,
                         const lang::Type& type, const std::vector<bool>& wanted, const Pair& pair,
                         lang::TypeDef& residual);

}  // namespace relay::ad
