#pragma once

#include <cstddef>
#include <string>

namespace relay::interp {

// From now on /tmp/perf-PID.map, which `perf` reads, tells where compiled code is and what it is
// called (linux/tools/perf/Documentation/jit-interface.txt).
void write_perf_map();
// A line of that file; nothing where it is not written.
void note_code(const std::string& name, const void* address, std::size_t size);

}  // namespace relay::interp
