#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace relay::lang {

// Memory for tensors: 64-byte-aligned blocks in size classes (four per doubling), with a free list
// per class. Big blocks are kept too, because the first touch of fresh memory costs more than a
// pass over it. What is kept is bounded; the class unused for longest gives way. Safe to use from
// any thread.
class Pool {
 public:
  static constexpr std::size_t kDefaultLimit = std::size_t{1} << 30;
  static constexpr std::size_t kClassCount = 176;
  // Larger requests are refused without asking the system.
  static constexpr std::size_t kMaxBytes = std::size_t{1} << 46;

  explicit Pool(std::size_t limit = kDefaultLimit) : limit_(limit) {}
  ~Pool() { trim(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  static Pool& instance();  // of the process; never destroyed

  // Null when there is no memory. Contents are undefined.
  std::byte* allocate(std::size_t bytes);
  // `bytes` as in the allocation.
  void release(std::byte* block, std::size_t bytes);
  // Gives everything kept back to the system.
  void trim();
  std::size_t kept_bytes() const { return kept_; }
  // Blocks that came from the system so far; the others had been used before.
  std::int64_t fresh_blocks() const { return fresh_; }
  // The most that was in use at one time, by size classes.
  std::size_t peak_bytes() const { return peak_; }
  // All that has been given so far, likewise.
  std::size_t given_bytes() const { return given_; }

  static std::size_t class_of(std::size_t bytes);
  static std::size_t class_size(std::size_t index);  // in bytes

 private:
  void evict(std::size_t incoming);
  void trim_locked();

  struct SizeClass {
    std::vector<std::byte*> free;
    std::uint64_t last_use = 0;
  };
  std::mutex mutex_;
  std::array<SizeClass, kClassCount> classes_;
  std::uint64_t clock_ = 0;
  std::size_t kept_ = 0;
  std::int64_t fresh_ = 0;
  std::size_t used_ = 0;
  std::size_t peak_ = 0;
  std::size_t given_ = 0;
  const std::size_t limit_;
};

}  // namespace relay::lang
