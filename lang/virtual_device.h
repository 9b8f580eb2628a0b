#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lang/attrs.h"

namespace relay::lang {

// Where a value lives, or is computed: Relay's VirtualDevice. What a part does not say is open, and
// may be settled by others.
struct VirtualDevice {
  std::int64_t type = -1;    // of DLPack: 1 is `cpu`; -1: open
  std::int64_t id = -1;      // -1: open
  std::string memory_scope;  // "": open
  AttrValue target;          // what Relay compiles for it: kept, and read by nobody here

  // Does it say nothing?
  bool is_open() const { return type < 0 && id < 0 && memory_scope.empty(); }
  // The target does not count.
  friend bool operator==(const VirtualDevice& a, const VirtualDevice& b) {
    return a.type == b.type && a.id == b.id && a.memory_scope == b.memory_scope;
  }
};

// Is it an object that says so? (A text may also stand for a device.)
bool is_virtual_device(const AttrValue& value);
// Of such an object, of a text as `cpu`, `cuda:1` or `cpu:0/global`, or of `None`, which is open.
// Nothing for anything else.
std::optional<VirtualDevice> virtual_device_of(const AttrValue& value);
// As an object, which strict text has in its metadata, and the light notation as a text.
AttrValue attr_of(const VirtualDevice& device);
// `cpu:1/global`; empty for an open one.
std::string to_string(const VirtualDevice& device);

// What both say; nothing where they disagree.
std::optional<VirtualDevice> join(const VirtualDevice& a, const VirtualDevice& b);
// With the parts of `other` where it is open.
VirtualDevice filled_from(const VirtualDevice& device, const VirtualDevice& other);

}  // namespace relay::lang
