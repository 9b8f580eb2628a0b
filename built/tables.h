#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "lang/bytes.h"
#include "lang/pointer_map.h"

// Things that are written once and referred to by their numbers.
namespace relay::built {

// By identity. An entry is written with `entries` when its number is given.
template <class Thing>
class Table {
 public:
  // Null where it has none yet.
  const std::uint32_t* find(const Thing* thing) const { return numbers_.find(thing); }
  std::uint32_t add(const Thing* thing) {
    const std::uint32_t number = count_++;
    numbers_.insert(thing, number);
    return number;
  }
  std::uint32_t count() const { return count_; }
  void append_to(lang::ByteWriter& to) const {
    to.number(count_);
    to.bytes(entries.all());
  }
  lang::ByteWriter entries;

 private:
  lang::PointerMap<Thing, std::uint32_t> numbers_;
  std::uint32_t count_ = 0;
};

// By what is written of it.
class TextTable {
 public:
  std::uint32_t number_of(std::string entry) {
    const auto [found, is_new] =
        numbers_.emplace(std::move(entry), static_cast<std::uint32_t>(numbers_.size()));
    if (is_new) entries_.bytes(found->first);
    return found->second;
  }
  void append_to(lang::ByteWriter& to) const {
    to.number(numbers_.size());
    to.bytes(entries_.all());
  }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  lang::ByteWriter entries_;
};

}  // namespace relay::built
