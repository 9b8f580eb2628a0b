#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

// How much memory the process has asked for, and may ask for. The allocators count what they give:
// the pool of tensors, the lists of cells (lang/cell_memory.h), and `operator new` where
// interp/heap.cpp replaces it.
namespace relay::lang {

// Bytes that the system could give now: what is free, or what the control groups of the process
// leave of it, if that is less. SIZE_MAX when nobody says.
std::size_t available_memory();

// Beyond the limit a stop is requested (lang/stop.h), and the pool refuses. At the start it is a
// share of what is available.
void set_memory_limit(std::size_t bytes);
std::size_t memory_limit();
std::size_t memory_used();
// Do `bytes` more stay within the limit?
bool memory_fits(std::size_t bytes);

// For allocators; threads keep small sums of their own, so memory_used() is exact to 64 KiB for
// each of them. count_allocation is false when the limit is passed by so much that polling is of no
// use any more: the allocation should fail, where the thread is Bounded and not Unfailing.
void count_memory(std::ptrdiff_t bytes) noexcept;
bool count_allocation(std::size_t bytes) noexcept;
void count_release(std::size_t bytes) noexcept;

// After an interrupt, until it has been answered, memory that is given back waits: false if it need
// not. Freeing what was half made takes the allocator longer than an answer may take.
bool put_off_release(void* memory) noexcept;
// Hands what has waited to the allocator.
void free_put_off_memory() noexcept;

// The process is about to end, and the system takes all its memory at once: from now on nothing is
// given back, and what only later work would need is not put in order.
void set_ending();
bool is_ending() noexcept;

// Allocations of this thread so far: the work of most passes, and the same on every machine.
std::int64_t allocations_made();

// While one lives, allocations of this thread may fail for the limit: around what somebody asks for
// and can be told of. The program's own work between such runs only counts.
class Bounded {
 public:
  Bounded();
  ~Bounded();
  Bounded(const Bounded&) = delete;
  Bounded& operator=(const Bounded&) = delete;
};

// While one lives, allocations of this thread fail only where the system has nothing more: around
// code that is not ours and knows no exceptions.
class Unfailing {
 public:
  Unfailing();
  ~Unfailing();
  Unfailing(const Unfailing&) = delete;
  Unfailing& operator=(const Unfailing&) = delete;
};

// For tests: the allocation of this thread with that number, counted from now where it is not
// Unfailing, fails, and no other; 0: none. Gives how many there were since the last call. Once
// called, each cell is one.
std::int64_t fail_allocation(std::int64_t number);

// "1.5 GiB".
std::string describe_bytes(std::size_t bytes);
// What the limit is, and how to set it: a note of a diagnostic.
std::string memory_limit_help();

}  // namespace relay::lang
