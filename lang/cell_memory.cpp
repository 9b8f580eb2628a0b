#include "lang/cell_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>

#include "lang/memory.h"
#include "lang/pool.h"
#include "lang/tensor.h"

namespace relay::lang {

constinit thread_local std::array<CellList, kLargestCell / kCellUnit + 1> cell_lists{};

namespace {

constexpr std::size_t kSlab = std::size_t{2} << 20;  // its address is a multiple of it
constexpr std::size_t kCut = 4 << 10;                // so much at a time becomes cells

struct Thread;

// Stands at the beginning of a slab; its cells are behind it.
struct Slab {
  const Thread* owner;
  Slab* next;
  std::size_t cut;    // bytes that are cells
  std::size_t found;  // free ones, while they are looked through
};
constexpr std::size_t kFirstCell = 64;
static_assert(sizeof(Slab) <= kFirstCell);

// Trivially destructible: cells with static storage are freed after thread-locals.
struct Thread {
  std::array<Slab*, kLargestCell / kCellUnit + 1> slabs{};  // the newest is cut
  // Free cells when each counts: then the lists are empty and have no room.
  std::array<void*, kLargestCell / kCellUnit + 1> hidden{};
  std::int64_t cut = 0;  // blocks so far
  bool counts_each = false;
  bool is_busy = false;  // with its lists
};
constinit thread_local Thread self{};

void* next_of(const void* cell) { return *static_cast<void* const*>(cell); }
void set_next(void* cell, void* next) { *static_cast<void**>(cell) = next; }

Slab* slab_of(void* cell) {
  return reinterpret_cast<Slab*>(reinterpret_cast<std::uintptr_t>(cell) & ~(kSlab - 1));
}

std::byte* begin_of(Slab* slab) { return reinterpret_cast<std::byte*>(slab) + kFirstCell; }

// A thread's first slab of a size is touched page by page; more of them are worth large pages.
Slab* map_slab(Slab* others) {
  void* const start =
      mmap(nullptr, 2 * kSlab, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) throw std::bad_alloc();
  auto* const bytes = static_cast<std::byte*>(start);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(bytes) & (kSlab - 1);
  if (before > 0) munmap(bytes, before);
  if (before < kSlab) munmap(bytes + before + kSlab, kSlab - before);
  if (others != nullptr) madvise(bytes + before, kSlab, MADV_HUGEPAGE);  // only advice
  return new (bytes + before) Slab{&self, others, 0, 0};
}

std::int64_t room_for(std::size_t kept, std::size_t bytes) {
  return static_cast<std::int64_t>(kept / bytes);
}

// Where memory gets short, tensors that are kept are given back to the pool, and by it what it
// keeps.
void make_room(std::size_t bytes) {
  constexpr std::size_t kSlack = 256 << 10;  // what threads have not told yet is less
  if (memory_fits(bytes + kSlack)) return;
  Tensor::free_kept();
  Pool::instance().trim();
}

// Cuts further cells, in the order of their addresses, and gives the first.
void* cut(std::size_t bytes) {
  Slab*& newest = self.slabs[bytes / kCellUnit];
  const std::size_t size = std::max(kCut / bytes, std::size_t{1}) * bytes;
  if (newest == nullptr || kFirstCell + newest->cut + size > kSlab) newest = map_slab(newest);
  make_room(size);
  if (self.counts_each) {
    count_memory(static_cast<std::ptrdiff_t>(size));
  } else if (!count_allocation(size)) {
    throw std::bad_alloc();
  }
  std::byte* const begin = begin_of(newest) + newest->cut;
  newest->cut += size;
  ++self.cut;
  for (std::size_t at = 0; at < size; at += bytes)
    set_next(begin + at, at + bytes < size ? begin + at + bytes : nullptr);
  return begin;
}

// Looks through a list, and gives slabs back until no more than `kept` bytes of it are free.
// Gives what is then free, in bytes.
std::size_t sweep(void*& first, std::size_t bytes, std::size_t kept) noexcept {
  std::size_t free = 0;
  for (void* cell = first; cell != nullptr; cell = next_of(cell)) {
    Slab* const slab = slab_of(cell);
    if (slab->owner == &self) ++slab->found;
    free += bytes;
  }
  Slab* gone = nullptr;
  for (Slab** place = &self.slabs[bytes / kCellUnit]; *place != nullptr;) {
    Slab* const slab = *place;
    if (slab->found * bytes == slab->cut && free > kept) {
      free -= slab->cut;
      *place = std::exchange(slab->next, gone);
      gone = slab;
    } else {
      slab->found = 0;
      place = &slab->next;
    }
  }
  if (gone == nullptr) return free;
  void** last = &first;
  for (void* cell = first; cell != nullptr; cell = next_of(cell)) {
    Slab* const slab = slab_of(cell);
    if (slab->owner == &self && slab->found > 0) continue;
    *last = cell;
    last = static_cast<void**>(cell);
  }
  *last = nullptr;
  while (gone != nullptr) {
    Slab* const slab = std::exchange(gone, gone->next);
    count_release(slab->cut);
    munmap(slab, kSlab);
  }
  return free;
}

}  // namespace

void* allocate_cell_slowly(std::size_t bytes) {
  if (!kHasCellLists || bytes > kLargestCell) {
    make_room(bytes);
    return ::operator new(bytes);
  }
  if (self.counts_each && !count_allocation(0)) throw std::bad_alloc();
  CellList& list = cell_lists[bytes / kCellUnit];
  void*& first = self.counts_each ? self.hidden[bytes / kCellUnit] : list.first;
  if (first == nullptr) {
    struct Busy {
      Busy() { self.is_busy = true; }
      ~Busy() { self.is_busy = false; }
    } const busy;
    first = cut(bytes);
    // What was free has been used up.
    if (!self.counts_each) list.room = room_for(kKeptCells - std::min(kCut, kKeptCells), bytes);
  }
  void* const cell = first;
  first = next_of(cell);
  if (!self.counts_each) ++list.room;
  return cell;
}

void release_cell_slowly(void* cell, std::size_t bytes) noexcept {
  if (!kHasCellLists || bytes > kLargestCell) {
    ::operator delete(cell);
    return;
  }
  CellList& list = cell_lists[bytes / kCellUnit];
  void*& first = self.counts_each ? self.hidden[bytes / kCellUnit] : list.first;
  set_next(cell, first);
  first = cell;
  if (self.counts_each) return;
  const std::size_t free = sweep(first, bytes, kKeptCells / 2);
  list.room = room_for(std::max(free, kKeptCells - std::min(free, kKeptCells)), bytes) + 1;
}

std::int64_t cell_blocks_cut() noexcept { return self.cut; }

void trim_cells() noexcept {
  if (self.is_busy) return;
  for (std::size_t i = 1; i < cell_lists.size(); ++i) {
    CellList& list = cell_lists[i];
    void*& first = self.counts_each ? self.hidden[i] : list.first;
    if (first == nullptr) continue;
    const std::size_t free = sweep(first, i * kCellUnit, 0);
    if (!self.counts_each)
      list.room = room_for(std::max(free, kKeptCells - std::min(free, kKeptCells)), i * kCellUnit);
  }
}

void count_each_cell() noexcept {
  if (self.counts_each || !kHasCellLists) return;
  self.counts_each = true;
  for (std::size_t i = 0; i < cell_lists.size(); ++i) {
    self.hidden[i] = std::exchange(cell_lists[i].first, nullptr);
    cell_lists[i].room = 0;
  }
}

}  // namespace relay::lang
