#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// Maps keyed by the identity of nodes and variables. Passes spend most of their time in these.
namespace relay::lang {

// All entries lie in one array (open addressing), and those of objects that lie side by side in
// memory lie side by side too: a pass over a large program finds them in the cache, and nothing is
// allocated for an entry. Keys are not null and are not erased. What `find` and `operator[]` give
// is valid until the next insertion.
template <class Key, class Value>
class PointerMap {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  void clear() {
    slots_.clear();
    size_ = 0;
  }

  // Null where there is none.
  const Value* find(const Key* key) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[place_of(key)];
    return slot.key ? &slot.value : nullptr;
  }
  bool contains(const Key* key) const { return find(key) != nullptr; }

  // A new entry has the value `Value()`.
  Value& operator[](const Key* key) { return slots_[made(key).first].value; }
  // True if the key is new; else the old value stays.
  bool insert(const Key* key, Value value = {}) {
    const auto [place, is_new] = made(key);
    if (is_new) slots_[place].value = std::move(value);
    return is_new;
  }

 private:
  struct Slot {
    const Key* key = nullptr;
    [[no_unique_address]] Value value = {};
  };

  // Where the key is, or the free slot where it belongs.
  std::size_t place_of(const Key* key) const {
    const auto address = reinterpret_cast<std::uintptr_t>(key);
    const std::uint64_t block = (address >> 10) * 0x9e3779b97f4a7c15;
    const std::size_t mask = slots_.size() - 1;
    std::size_t place = ((block >> 32) + ((address >> 4) & 63)) & mask;
    while (slots_[place].key && slots_[place].key != key) place = (place + 1) & mask;
    return place;
  }

  std::pair<std::size_t, bool> made(const Key* key) {
    if (3 * (size_ + 1) > 2 * slots_.size()) grow();
    const std::size_t place = place_of(key);
    if (slots_[place].key) return {place, false};
    slots_[place].key = key;
    ++size_;
    return {place, true};
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 8 : 2 * slots_.size());
    std::swap(old, slots_);
    for (Slot& slot : old) {
      if (slot.key) slots_[place_of(slot.key)] = std::move(slot);
    }
  }

  std::vector<Slot> slots_;  // a power of two, at most two thirds taken
  std::size_t size_ = 0;
};

struct NoValue {};
template <class Key>
using PointerSet = PointerMap<Key, NoValue>;

}  // namespace relay::lang
