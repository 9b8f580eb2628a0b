#include "lang/virtual_device.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace relay::lang {

namespace {

constexpr std::string_view kTypeKey = "VirtualDevice";

struct DeviceName {
  std::int64_t type;
  std::string_view name;
};
// The first of a type is how it is printed.
constexpr std::array kDeviceNames = {
    DeviceName{1, "cpu"},     DeviceName{2, "cuda"},     DeviceName{2, "gpu"},
    DeviceName{4, "opencl"},  DeviceName{7, "vulkan"},   DeviceName{8, "metal"},
    DeviceName{10, "rocm"},   DeviceName{12, "ext_dev"}, DeviceName{14, "hexagon"},
    DeviceName{15, "webgpu"},
};
constexpr std::string_view kOther = "device";  // and its number

std::optional<std::int64_t> device_number(std::string_view text) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size())
    return std::nullopt;
  return number < 0 ? std::nullopt : std::optional(number);
}

std::optional<std::int64_t> type_named(std::string_view name) {
  const auto* const found = std::find_if(kDeviceNames.begin(), kDeviceNames.end(),
                                         [&](const DeviceName& each) { return each.name == name; });
  if (found != kDeviceNames.end()) return found->type;
  return name.starts_with(kOther) ? device_number(name.substr(kOther.size())) : std::nullopt;
}

std::string name_of_type(std::int64_t type) {
  const auto* const found = std::find_if(kDeviceNames.begin(), kDeviceNames.end(),
                                         [&](const DeviceName& each) { return each.type == type; });
  return found != kDeviceNames.end() ? std::string(found->name) : fmt::format("{}{}", kOther, type);
}

std::optional<VirtualDevice> read_text(std::string_view text) {
  VirtualDevice device;
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    device.memory_scope = text.substr(slash + 1);
    if (device.memory_scope.empty()) return std::nullopt;
    text = text.substr(0, slash);
  }
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const auto id = device_number(text.substr(colon + 1));
    if (!id) return std::nullopt;
    device.id = *id;
    text = text.substr(0, colon);
  }
  if (text.empty()) return device.id < 0 ? std::optional(device) : std::nullopt;
  const auto type = type_named(text);
  if (!type) return std::nullopt;
  device.type = *type;
  // As Relay has it: a device without a number is the first.
  if (device.id < 0) device.id = 0;
  return device;
}

bool joins(std::int64_t a, std::int64_t b) { return a < 0 || b < 0 || a == b; }

}  // namespace

bool is_virtual_device(const AttrValue& value) {
  const AttrObject* object = value.as_object();
  return object && object->type_key == kTypeKey;
}

std::optional<VirtualDevice> virtual_device_of(const AttrValue& value) {
  if (value.is_null()) return VirtualDevice();
  if (const std::string* text = value.as_string()) return read_text(*text);
  if (!is_virtual_device(value)) return std::nullopt;
  const AttrObject& object = *value.as_object();
  VirtualDevice device;
  const auto number = [&](std::string_view key, std::int64_t otherwise) {
    const AttrValue* found = object.find(key);
    return found && found->as_int() ? *found->as_int() : otherwise;
  };
  device.type = number("device_type_int", -1);
  device.id = number("virtual_device_id", -1);
  if (const AttrValue* scope = object.find("memory_scope"); scope && scope->as_string())
    device.memory_scope = *scope->as_string();
  if (const AttrValue* target = object.find("target")) device.target = *target;
  return device;
}

AttrValue attr_of(const VirtualDevice& device) {
  return AttrObjectRef(make_ref<const AttrObject>(
      std::string(kTypeKey), std::vector<Attr>{{"device_type_int", device.type},
                                               {"memory_scope", device.memory_scope},
                                               {"target", device.target},
                                               {"virtual_device_id", device.id}}));
}

std::string to_string(const VirtualDevice& device) {
  std::string text;
  if (device.type >= 0) text = name_of_type(device.type);
  if (device.type >= 0 && device.id > 0) text += fmt::format(":{}", device.id);
  if (!device.memory_scope.empty()) text += "/" + device.memory_scope;
  return text;
}

std::optional<VirtualDevice> join(const VirtualDevice& a, const VirtualDevice& b) {
  const bool agrees =
      joins(a.type, b.type) && joins(a.id, b.id) &&
      (a.memory_scope.empty() || b.memory_scope.empty() || a.memory_scope == b.memory_scope);
  return agrees ? std::optional(filled_from(a, b)) : std::nullopt;
}

VirtualDevice filled_from(const VirtualDevice& device, const VirtualDevice& other) {
  VirtualDevice filled = device;
  if (filled.type < 0) filled.type = other.type;
  if (filled.id < 0) filled.id = other.id;
  if (filled.memory_scope.empty()) filled.memory_scope = other.memory_scope;
  if (filled.target.is_null() && filled.type == other.type) filled.target = other.target;
  return filled;
}

}  // namespace relay::lang
