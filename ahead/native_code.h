#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "built/snapshot.h"
#include "interp/compiling.h"

namespace relay::ahead {

// Extents by dimension variable.
using Sizes = std::map<std::string, std::vector<std::int64_t>>;

// Has the compilers make native code of all functions of a snapshot that was read, and of the
// kernels that they begin, and puts it there. A kernel serves all extents of which its structure is
// the same; it is made for all `sizes` together, and of variables that have none there for
// small, odd and large ones. Where there is no compiler, none is made.
void add_native_code(built::Snapshot& snapshot, interp::Compiling::Makers makers,
                     const Sizes& sizes);

}  // namespace relay::ahead
