#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "lang/diagnostic.h"

namespace relay::typecheck {

// A map from addresses that keeps its entries in order of insertion, side by side. Inference fills
// tables with an entry for each node of a program; this takes a third of the time of a
// std::unordered_map, and walking it is deterministic. Entries are never removed. A reference to
// one is good until the next insertion.
template <class K, class T>
class PointerMap {
 public:
  using Entry = std::pair<const K*, T>;

  const T* find(const K* key) const {
    if (entries_.empty()) return nullptr;
    const std::uint32_t slot = slots_[place_of(key)];
    return slot == 0 ? nullptr : &entries_[slot - 1].second;
  }
  T* find(const K* key) { return const_cast<T*>(std::as_const(*this).find(key)); }
  const T& at(const K* key) const {
    const T* found = find(key);
    RELAY_CHECK(found != nullptr, "inference has not seen a node that is asked for");
    return *found;
  }
  T& at(const K* key) { return const_cast<T&>(std::as_const(*this).at(key)); }
  T& operator[](const K* key) {
    if (2 * (entries_.size() + 1) > slots_.size()) grow();
    std::uint32_t& slot = slots_[place_of(key)];
    if (slot == 0) {
      entries_.emplace_back(key, T());
      slot = static_cast<std::uint32_t>(entries_.size());
    }
    return entries_[slot - 1].second;
  }

  bool empty() const { return entries_.empty(); }
  const Entry& back() const { return entries_.back(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  static constexpr std::size_t kSmallest = 16;

  // Where the key stands in `slots_`, or the free place where it would.
  std::size_t place_of(const K* key) const {
    const auto bits = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(key) >> 4);
    std::size_t place = (bits * 0x9e3779b97f4a7c15) >> shift_;
    while (slots_[place] != 0 && entries_[slots_[place] - 1].first != key)
      place = (place + 1) & (slots_.size() - 1);
    return place;
  }
  void grow() {
    const std::size_t size = slots_.empty() ? kSmallest : 2 * slots_.size();
    shift_ = 64;
    for (std::size_t rest = size; rest > 1; rest /= 2) --shift_;
    slots_.assign(size, 0);
    for (std::size_t i = 0; i < entries_.size(); ++i)
      slots_[place_of(entries_[i].first)] = static_cast<std::uint32_t>(i + 1);
  }

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;  // position + 1 in `entries_`; 0: free
  int shift_ = 64;
};

}  // namespace relay::typecheck
