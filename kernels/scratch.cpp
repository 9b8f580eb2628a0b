#include "kernels/scratch.h"

#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace relay::kernels {

namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kMostKept = std::size_t{256} << 20;

// In whose cache it may be.
const void* this_thread() {
  thread_local const char mark = 0;
  return &mark;
}

struct Block {
  std::size_t bytes;
  std::byte* data;
  const void* thread;  // the last that used it
};

struct Pool {
  std::mutex mutex;
  std::vector<Block> blocks;
  std::size_t kept = 0;
};

Pool& pool() {
  static auto* const made = new Pool;  // threads may outlive static objects
  return *made;
}

}  // namespace

Scratch::Scratch(std::size_t bytes)
    : bytes_((bytes + kAlignment - 1) / kAlignment * kAlignment), data_(nullptr) {
  if (bytes_ == 0) return;
  Pool& from = pool();
  {
    const std::lock_guard lock(from.mutex);
    const auto rank = [&](const Block& block) {
      return std::pair(block.thread != this_thread(), block.bytes);
    };
    std::size_t best = from.blocks.size();
    for (std::size_t i = 0; i < from.blocks.size(); ++i) {
      const bool fits = from.blocks[i].bytes >= bytes_ && from.blocks[i].bytes / 2 <= bytes_;
      if (fits && (best == from.blocks.size() || rank(from.blocks[i]) < rank(from.blocks[best])))
        best = i;
    }
    if (best < from.blocks.size()) {
      bytes_ = from.blocks[best].bytes;
      data_ = from.blocks[best].data;
      from.kept -= bytes_;
      from.blocks.erase(from.blocks.begin() + static_cast<std::ptrdiff_t>(best));
      return;
    }
  }
  data_ = static_cast<std::byte*>(std::aligned_alloc(kAlignment, bytes_));
  if (!data_) throw std::bad_alloc();
}

Scratch::~Scratch() {
  if (!data_) return;
  Pool& to = pool();
  const std::lock_guard lock(to.mutex);
  to.blocks.push_back({bytes_, data_, this_thread()});
  to.kept += bytes_;
  while (to.kept > kMostKept) {  // the oldest first
    to.kept -= to.blocks.front().bytes;
    std::free(to.blocks.front().data);
    to.blocks.erase(to.blocks.begin());
  }
}

Scratch::Scratch(Scratch&& other) noexcept
    : bytes_(other.bytes_), data_(std::exchange(other.data_, nullptr)) {}

}  // namespace relay::kernels
