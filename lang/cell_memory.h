#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "lang/sanitizer.h"

// Memory of small heap cells (lang/value.h). A thread has a list of free cells for each size, so
// that making a cell and giving it back is a few instructions, in native code as well. Where a list
// is empty, 4 KiB of further cells are cut from a slab of 2 MiB; these bytes are counted
// (lang/memory.h), whether in use or free.
//
// Bounded: when kKeptCells bytes of one size are free, slabs of which no cell is in use go back to
// the system, down to half of that; what cannot, because a few cells in use are spread over it,
// may as much again become free before it is tried once more. When memory gets short all such slabs
// go. A slab goes back by the thread that made it; a cell may be given back by any.
//
// Under the address sanitizer each cell is an allocation of its own. A larger one always is.
namespace relay::lang {

struct CellList {
  void* first = nullptr;  // free; each begins with the address of the next
  std::int64_t room = 0;  // so many more may become free before release_cell_slowly() is asked
};

#if defined(RELAY_ASAN)
inline constexpr bool kHasCellLists = false;
#else
inline constexpr bool kHasCellLists = true;
#endif
inline constexpr std::size_t kCellUnit = 8;
inline constexpr std::size_t kLargestCell = 256;
inline constexpr std::size_t kKeptCells = std::size_t{128} << 20;

// Of this thread, by size / kCellUnit.
extern constinit thread_local std::array<CellList, kLargestCell / kCellUnit + 1> cell_lists;

// Throws std::bad_alloc.
void* allocate_cell_slowly(std::size_t bytes);
void release_cell_slowly(void* cell, std::size_t bytes) noexcept;

// A multiple of kCellUnit, and aligned to it. Contents are undefined. Throws std::bad_alloc.
inline void* allocate_cell(std::size_t bytes) {
  if (kHasCellLists && bytes <= kLargestCell) [[likely]] {
    CellList& list = cell_lists[bytes / kCellUnit];
    if (void* const cell = list.first) [[likely]] {
      list.first = *static_cast<void**>(cell);
      ++list.room;
      return cell;
    }
  }
  return allocate_cell_slowly(bytes);
}

// `bytes` as in the allocation.
inline void release_cell(void* cell, std::size_t bytes) noexcept {
  if (kHasCellLists && bytes <= kLargestCell) [[likely]] {
    CellList& list = cell_lists[bytes / kCellUnit];
    if (list.room > 0) [[likely]] {
      --list.room;
      *static_cast<void**>(cell) = list.first;
      list.first = cell;
      return;
    }
  }
  release_cell_slowly(cell, bytes);
}

// Blocks of cells that this thread has cut so far; other cells had been used before.
std::int64_t cell_blocks_cut() noexcept;
// Gives slabs back of which no cell is in use. Cost: linear in the free cells of this thread.
void trim_cells() noexcept;
// For tests: from now on each cell of this thread counts as an allocation, and may fail
// (fail_allocation).
void count_each_cell() noexcept;

}  // namespace relay::lang
