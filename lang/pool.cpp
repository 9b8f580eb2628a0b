#include "lang/pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>

#include "lang/cell_memory.h"
#include "lang/diagnostic.h"
#include "lang/memory.h"
#include "lang/sanitizer.h"

#if defined(RELAY_ASAN)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

namespace relay::lang {
namespace {

constexpr std::size_t kUnit = 64;
constexpr std::size_t kMapped = std::size_t{1} << 20;  // from here blocks are mappings of their own
constexpr std::size_t kHugePage = std::size_t{2} << 20;  // worth asking for from twice its size
constexpr std::size_t kAskFirst = std::size_t{256} << 20;

std::byte* map(std::size_t size) {
  const bool huge = size >= 2 * kHugePage;
  const std::size_t slack = huge ? kHugePage : 0;
  void* start =
      mmap(nullptr, size + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return nullptr;
  auto* block = static_cast<std::byte*>(start);
  if (huge) {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    const std::size_t before = (kHugePage - address % kHugePage) % kHugePage;
    if (before) munmap(block, before);
    block += before;
    if (slack > before) munmap(block + size, slack - before);
    madvise(block, size, MADV_HUGEPAGE);  // only advice: failing is fine
  }
  return block;
}

// Large ones are asked for first: the system promises more than it has, and then kills somebody.
std::byte* take_from_system(std::size_t size) {
  if (!memory_fits(size)) trim_cells();
  if (!memory_fits(size) || (size >= kAskFirst && size > available_memory())) return nullptr;
  std::byte* const block =
      size < kMapped ? static_cast<std::byte*>(std::aligned_alloc(kUnit, size)) : map(size);
  if (block) count_memory(static_cast<std::ptrdiff_t>(size));
  return block;
}

void give_to_system(std::byte* block, std::size_t size) {
  count_release(size);
  ASAN_UNPOISON_MEMORY_REGION(block, size);
  if (size < kMapped) {
    std::free(block);
  } else {
    munmap(block, size);
  }
}

// A block that was used before may hold the very result that is to be computed again, by another
// tier in the same process: what is not stored would not be seen.
void make_unusable([[maybe_unused]] std::byte* block, [[maybe_unused]] std::size_t bytes) {
#if defined(RELAY_ASAN)
  constexpr std::size_t kMost = std::size_t{16} << 20;  // more may never be touched
  std::memset(block, 0xff, std::min(bytes, kMost));     // floats: NaN
#endif
}

}  // namespace

Pool& Pool::instance() {
  // Never destroyed: tensors with static storage are freed late.
  static Pool& pool = *new Pool;
  return pool;
}

std::size_t Pool::class_of(std::size_t bytes) {
  const std::size_t units = bytes <= kUnit ? 1 : (bytes + kUnit - 1) / kUnit;
  if (units <= 4) return units - 1;
  const std::size_t last = units - 1;
  const auto shift = static_cast<std::size_t>(std::bit_width(last)) - 3;
  return shift * 4 + (last >> shift);
}

std::size_t Pool::class_size(std::size_t index) {
  RELAY_CHECK(index < kClassCount, "there is no such class");
  if (index < 4) return (index + 1) * kUnit;
  const std::size_t shift = index / 4 - 1;
  return (((index % 4) + 5) << shift) * kUnit;
}

std::byte* Pool::allocate(std::size_t bytes) {
  if (bytes > kMaxBytes) return nullptr;
  const std::size_t index = class_of(bytes);
  const std::size_t size = class_size(index);
  const std::lock_guard lock(mutex_);
  SizeClass& own = classes_[index];
  own.last_use = ++clock_;
  std::byte* block = nullptr;
  if (!own.free.empty()) {
    block = own.free.back();
    own.free.pop_back();
    kept_ -= size;
  } else {
    block = take_from_system(size);
    if (!block && kept_ > 0) {
      trim_locked();
      block = take_from_system(size);
    }
    if (!block) return nullptr;
    ++fresh_;
  }
  used_ += size;
  given_ += size;
  peak_ = std::max(peak_, used_);
  ASAN_POISON_MEMORY_REGION(block, size);
  ASAN_UNPOISON_MEMORY_REGION(block, bytes);
  make_unusable(block, bytes);
  return block;
}

void Pool::release(std::byte* block, std::size_t bytes) {
  const std::size_t index = class_of(bytes);
  const std::size_t size = class_size(index);
  const std::lock_guard lock(mutex_);
  used_ -= size;
  if (size > limit_) {
    give_to_system(block, size);
    return;
  }
  classes_[index].last_use = ++clock_;
  evict(size);
  try {
    classes_[index].free.push_back(block);
  } catch (const std::bad_alloc&) {  // not even for the list of what is free
    give_to_system(block, size);
    return;
  }
  ASAN_POISON_MEMORY_REGION(block, size);
  kept_ += size;
}

// Makes room for `incoming` bytes.
void Pool::evict(std::size_t incoming) {
  while (kept_ + incoming > limit_) {
    std::size_t victim = kClassCount;
    for (std::size_t i = 0; i < kClassCount; ++i) {
      if (classes_[i].free.empty()) continue;
      if (victim == kClassCount || classes_[i].last_use < classes_[victim].last_use) victim = i;
    }
    give_to_system(classes_[victim].free.back(), class_size(victim));
    classes_[victim].free.pop_back();
    kept_ -= class_size(victim);
  }
}

void Pool::trim() {
  const std::lock_guard lock(mutex_);
  trim_locked();
}

void Pool::trim_locked() {
  for (std::size_t i = 0; i < kClassCount; ++i) {
    for (std::byte* block : classes_[i].free) give_to_system(block, class_size(i));
    classes_[i].free.clear();
  }
  kept_ = 0;
}

}  // namespace relay::lang
