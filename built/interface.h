#pragma once

#include <stddef.h>
#include <stdint.h>

// What the C code that `relay build` writes into a shared object calls there. Nothing of it is seen
// from outside.

#ifdef __cplusplus
extern "C" {
#endif

struct relay_built {           // NOLINT(readability-identifier-naming): C
  const unsigned char* bytes;  // of a snapshot
  size_t size;
  void* program;  // NULL until it is called
};

// Calls the entry of that number, as built::Program::call does; the first call makes the program
// ready. Any thread may call; calls are made one after the other. 0, or 1 after an error.
int relay_built_call(struct relay_built* built, size_t entry, const int64_t* dims,
                     const void* const* args, void* const* results);

// The error of this thread's last call that failed.
const char* relay_built_error(void);

// How many threads, up to 1024, share the work of a kernel or a loop, from the next call on; 0: as
// many as there are cores. 0, or 1 after an error.
int relay_built_threads(struct relay_built* built, int threads);

// How many kernels have run without native code, each counted once, since they met extents that
// were not expected. Waits for a call that runs; 0 too where the program cannot be made ready.
int64_t relay_built_slow_kernels(struct relay_built* built);

#ifdef __cplusplus
}
#endif
