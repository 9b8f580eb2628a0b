#pragma once

#include <span>

#include "built/snapshot.h"
#include "interp/ahead.h"
#include "interp/eval.h"

namespace relay::ahead {

// The functions at these types, first, and all functions and values that they need, prepared.
// Throws Failure: what the program's own pipeline finds, and Unsupported for what a built object
// cannot do, with its place.
built::Snapshot collect(interp::Host& host, std::span<const interp::GlobalFunction> entries);

}  // namespace relay::ahead
