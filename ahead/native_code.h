#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "built/snapshot.h"
#include "interp/compiling.h"

namespace relay::ahead {

// Has the compilers make native code of all functions of a snapshot that was read, and of the
// kernels that they begin, and puts it there. A kernel serves all extents of which its structure is
// the same; it is made for `sizes`, by dimension variable, and for small, odd and large ones. Where
// there is no compiler, none is made.
void add_native_code(built::Snapshot& snapshot, interp::Compiling::Makers makers,
                     const std::map<std::string, std::vector<std::int64_t>>& sizes);

}  // namespace relay::ahead
