#pragma once

#include <cstddef>
#include <string>

namespace relay::interp {

// From now on native code has names, for `perf` in /tmp/perf-PID.map
// (linux/tools/perf/Documentation/jit-interface.txt), and for gdb by its interface for such code
// ("JIT Compilation Interface" in its manual). On any thread, as all here.
void name_native_code();
// What lies there is called so; nothing where code has no names.
void note_code(const std::string& name, const void* address, std::size_t size);
// What lies there is about to go.
void forget_code(const void* address, std::size_t size);

}  // namespace relay::interp
