#pragma once

#include <string>

#include "ad/pairs.h"
#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

// Adds both halves of a function whose derivative keeps its arguments only (lang/checkpoint.h):
// the forward half calls the function itself, the backward half runs the halves `inner` one after
// the other. `gives_functions`: the result holds function values. `residual`: the data type of
// `pair`'s residual, without constructors as yet.
//
// Where references may be used, the second computation is a replay (ad/replay.h).
//
// The backward half is a checkpoint as well, so that derivatives of derivatives keep no more.
void define_checkpoint(lang::Program& program, const std::string& name, const lang::Type& type,
                       const Pair& pair, const Pair& inner, lang::TypeDef& residual,
                       bool uses_references, bool gives_functions);

}  // namespace relay::ad
