#pragma once

#include <atomic>
#include <string_view>

#include "lang/op.h"

namespace relay::lang {

// An operator that code is about, told by its record: names are looked up once, and not compared.
class NamedOp {
 public:
  explicit constexpr NamedOp(std::string_view name) : name_(name) {}
  constexpr NamedOp(const NamedOp& other) : name_(other.name_) {}

  // Null until it is registered.
  const OpDef* record() const {
    const OpDef* known = record_.load(std::memory_order_relaxed);
    if (!known) {
      known = OpRegistry::instance().find(name_);
      record_.store(known, std::memory_order_relaxed);
    }
    return known;
  }
  bool is(const OpDef& op) const { return record() == &op; }
  std::string_view name() const { return name_; }

 private:
  const std::string_view name_;
  mutable std::atomic<const OpDef*> record_ = nullptr;
};

}  // namespace relay::lang
