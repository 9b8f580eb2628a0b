#include "lang/memory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <new>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "lang/cell_memory.h"
#include "lang/stop.h"

namespace relay::lang {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
constexpr std::ptrdiff_t kBatch = 64 << 10;
// Between the limit and where allocations fail: what may be asked for until the next poll.
constexpr std::size_t kGrace = 64 << 20;
constexpr std::size_t kGraceShare = 8;
// Of what is available at the start; the rest is for what nobody counts, and for others.
constexpr double kDefaultShare = 0.85;

std::atomic<std::int64_t> used{0};
std::atomic<bool> ends{false};
std::atomic<std::size_t> limit{0};  // 0: not asked for yet

// Memory that waits to be given back holds its list.
struct Waiting {
  Waiting* next;
};
std::atomic<Waiting*> waiting{nullptr};

struct Thread {
  std::ptrdiff_t batch = 0;
  std::int64_t allocations = 0;
  std::int64_t failing = 0;   // counts down to the allocation that fails
  std::int64_t failable = 0;  // that could have failed, since that was set
  int bounded = 0;
  int unfailing = 0;
};
thread_local Thread self;

// The number that a file begins with; kNoLimit where there is none, as for "max".
std::size_t number_in(const std::string& path) {
  std::ifstream file(path);
  std::size_t number = 0;
  return file >> number ? number : kNoLimit;
}

// The number behind `key` in a file of keys and numbers; 0 where there is none.
std::size_t number_of(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  std::string name;
  std::size_t number = 0;
  while (file >> name >> number) {
    if (name == key) return number;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

struct GroupFiles {
  std::string root, limit, used, cache_key;
};

// What a control group and those around it leave. Memory of files that can be dropped is free.
std::size_t left_by_groups(const GroupFiles& files, std::string path) {
  std::size_t left = kNoLimit;
  while (true) {
    const std::string folder = files.root + path + "/";
    const std::size_t most = number_in(folder + files.limit);
    if (most != kNoLimit) {
      const std::size_t taken = number_in(folder + files.used);
      const std::size_t cache = number_of(folder + "memory.stat", files.cache_key);
      const std::size_t firm = taken == kNoLimit ? 0 : taken - std::min(taken, cache);
      left = std::min(left, most - std::min(most, firm));
    }
    if (path.empty() || path == "/") return left;
    path.resize(path.rfind('/'));
  }
}

// cgroups(7): a line `0::/path` of version 2, `N:memory:/path` of version 1. Inside a container the
// path may be that of the host; its root then has the container's limits.
std::size_t left_by_groups() {
  const GroupFiles second{"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};
  const GroupFiles first{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                         "total_inactive_file"};
  std::size_t left = kNoLimit;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t begin = line.find(':') + 1;
    const std::size_t end = line.find(':', begin);
    if (begin == 0 || end == std::string::npos) continue;
    const std::string controllers = line.substr(begin, end - begin);
    std::string path = line.substr(end + 1);
    if (!path.starts_with('/')) continue;
    if (controllers.empty()) {
      left = std::min(left, left_by_groups(second, std::move(path)));
    } else if (controllers == "memory") {
      left = std::min(left, left_by_groups(first, std::move(path)));
    }
  }
  return left;
}

}  // namespace

std::size_t available_memory() {
  const std::size_t kibibytes = number_of("/proc/meminfo", "MemAvailable:");
  const std::size_t free = kibibytes > 0 ? kibibytes * 1024 : kNoLimit;
  return std::min(free, left_by_groups());
}

void set_memory_limit(std::size_t bytes) { limit.store(std::max<std::size_t>(bytes, 1)); }

std::size_t memory_limit() {
  const std::size_t known = limit.load(std::memory_order_relaxed);
  if (known != 0) return known;
  const Unfailing asking;
  const std::size_t available = available_memory();
  std::size_t expected = 0;
  limit.compare_exchange_strong(
      expected, available == kNoLimit
                    ? kNoLimit
                    : static_cast<std::size_t>(static_cast<double>(available) * kDefaultShare));
  return limit.load();
}

std::size_t memory_used() {
  return static_cast<std::size_t>(std::max<std::int64_t>(used.load(), 0));
}

bool memory_fits(std::size_t bytes) {
  const std::size_t most = memory_limit();
  const std::size_t now = memory_used();
  return now <= most && bytes <= most - now;
}

void count_memory(std::ptrdiff_t bytes) noexcept {
  self.batch += bytes;
  if (self.batch < kBatch && self.batch > -kBatch) return;
  const bool grows = self.batch > 0;
  used.fetch_add(std::exchange(self.batch, 0), std::memory_order_relaxed);
  // Nobody has asked for a limit, or is asking: there is nothing to compare with.
  const std::size_t most = limit.load(std::memory_order_relaxed);
  if (!grows || most == 0 || memory_used() <= most || is_stopping()) return;
  trim_cells();
  if (memory_used() > most) request_stop(Stop::OutOfMemory);
}

bool count_allocation(std::size_t bytes) noexcept {
  ++self.allocations;
  if (self.unfailing == 0) {
    ++self.failable;
    if (self.failing > 0 && --self.failing == 0) return false;
    const std::size_t most = limit.load(std::memory_order_relaxed);
    if (most != 0 && memory_used() > most) [[unlikely]] {
      if (self.bounded > 0 && memory_used() - most > kGrace + most / kGraceShare) return false;
    }
  }
  count_memory(static_cast<std::ptrdiff_t>(bytes));
  return true;
}

void count_release(std::size_t bytes) noexcept {
  count_memory(-static_cast<std::ptrdiff_t>(bytes));
}

bool put_off_release(void* memory) noexcept {
  if (pending_stop.load(std::memory_order_relaxed) != Stop::Interrupted) [[likely]]
    return false;
  auto* const block = static_cast<Waiting*>(memory);
  block->next = waiting.load(std::memory_order_relaxed);
  while (!waiting.compare_exchange_weak(block->next, block, std::memory_order_release,
                                        std::memory_order_relaxed)) {
  }
  return true;
}

void free_put_off_memory() noexcept {
  Waiting* block = waiting.exchange(nullptr, std::memory_order_acquire);
  while (block) ::operator delete(std::exchange(block, block->next));
}

void set_ending() { ends.store(true); }
bool is_ending() noexcept { return ends.load(std::memory_order_relaxed); }

std::int64_t allocations_made() { return self.allocations; }

Bounded::Bounded() { ++self.bounded; }
Bounded::~Bounded() { --self.bounded; }

Unfailing::Unfailing() { ++self.unfailing; }
Unfailing::~Unfailing() { --self.unfailing; }

std::int64_t fail_allocation(std::int64_t number) {
  count_each_cell();
  self.failing = number;
  return std::exchange(self.failable, 0);
}

std::string describe_bytes(std::size_t bytes) {
  constexpr std::array<const char*, 7> kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto number = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (number >= 1024 && unit + 1 < kUnits.size()) {
    number /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", number, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string memory_limit_help() {
  return fmt::format("help: a run may take {}; `--max-memory` and `:limit memory` set that",
                     describe_bytes(memory_limit()));
}

}  // namespace relay::lang
