// The global `operator new`, counting (lang/memory.h). Programs that link the evaluator have it; a
// shared object that they load uses theirs.

#include <malloc.h>

#include <cstdlib>
#include <new>

#include "lang/memory.h"
#include "lang/sanitizer.h"
#include "lang/stop.h"

namespace {

using relay::lang::count_allocation;
using relay::lang::count_release;

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (bytes == 0) bytes = 1;
  void* const memory = alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__
                           ? std::malloc(bytes)
                           : std::aligned_alloc(alignment, (bytes + alignment - 1) & -alignment);
  if (memory == nullptr || count_allocation(malloc_usable_size(memory))) return memory;
  std::free(memory);
  return nullptr;
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  if (void* const memory = allocate(bytes, alignment)) return memory;
  throw std::bad_alloc();
}

// Does memory that is given back stay, for good or for now? The sanitizer looks for leaks, and for
// uses of what has been given back.
bool stays([[maybe_unused]] void* memory) noexcept {
#if defined(RELAY_ASAN)
  return false;
#else
  return relay::lang::is_ending() ||
         (relay::lang::is_stopping() && relay::lang::put_off_release(memory));
#endif
}

void release(void* memory) noexcept {
  if (memory == nullptr || stays(memory)) return;
  count_release(malloc_usable_size(memory));
  std::free(memory);
}

constexpr std::size_t kUsual = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

}  // namespace

// By which a program asks for this file where another library has an `operator new`.
extern "C" void relay_counts_memory() {}

void* operator new(std::size_t bytes) { return allocate_or_throw(bytes, kUsual); }
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes, kUsual); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes, kUsual);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes, kUsual);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment,
                     const std::nothrow_t&) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  release(memory);
}
