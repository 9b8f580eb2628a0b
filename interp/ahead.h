#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "interp/eval.h"
#include "interp/known_extents.h"
#include "lang/type.h"

// Native code of a program that has not run: for who compiles it ahead of time, and for who runs
// what was compiled so.
namespace relay::interp {

// A global function at a ground type, whose dims may be symbolic.
struct GlobalFunction {
  std::string name;
  lang::Type type;
};

// Has native code made of these functions, with the closures and loops in them, and waits for it;
// in this order, in which the code of one may call that of those before it. So the same list asks a
// CodeStore for the same keys in another process. With JitMode::Always. Gives how many of them have
// an entry.
std::size_t make_native(Evaluator& evaluator, std::span<const GlobalFunction> functions);

// The same of the kernels that these functions begin, for arguments of these extents. What cannot
// be lowered for them is passed over.
void make_kernels(Evaluator& evaluator, std::span<const GlobalFunction> functions,
                  const ExtentOf& extent_of);

}  // namespace relay::interp
