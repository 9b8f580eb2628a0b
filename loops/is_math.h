#pragma once

#include "lang/primitive.h"

namespace relay::loops {

// Is it a function of loops/math.def?
constexpr bool is_math(lang::Prim prim) {
  switch (prim) {
#define RELAY_MATH(name, ...) case lang::Prim::name:
#include "loops/math.def"
#undef RELAY_MATH
    return true;
    default:
      return false;
  }
}

}  // namespace relay::loops
