#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lang/dtype.h"
#include "lang/ref.h"
#include "lang/source.h"

namespace relay::lang {

struct AttrObject;

// The value of an attribute: null, bool, integer, float, string, dtype, a list of values, or an
// object with named fields.
class AttrValue {
 public:
  using List = std::vector<AttrValue>;
  AttrValue() = default;  // null (`None`)
  AttrValue(bool v) : value_(v) {}
  AttrValue(int v) : value_(std::int64_t{v}) {}
  AttrValue(std::int64_t v) : value_(v) {}
  AttrValue(double v) : value_(v) {}
  AttrValue(std::string v) : value_(std::move(v)) {}
  AttrValue(const char* v) : value_(std::string(v)) {}
  AttrValue(DType v) : value_(v) {}
  AttrValue(List v) : value_(std::move(v)) {}
  AttrValue(Ref<const AttrObject> v);
  static AttrValue ints(const std::vector<std::int64_t>& values);

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  const bool* as_bool() const { return std::get_if<bool>(&value_); }
  const std::int64_t* as_int() const { return std::get_if<std::int64_t>(&value_); }
  const double* as_float() const { return std::get_if<double>(&value_); }
  const std::string* as_string() const { return std::get_if<std::string>(&value_); }
  const DType* as_dtype() const { return std::get_if<DType>(&value_); }
  const List* as_list() const { return std::get_if<List>(&value_); }
  const AttrObject* as_object() const;

  friend bool operator==(const AttrValue& a, const AttrValue& b);  // of objects: structure
  std::size_t hash() const;
  // Relay's notation: `None`, `True`, `3`, `0.5f`, `"NCHW"`, `[1, 2]`; a dtype as a string. An
  // object, which has no notation of its own, as `VirtualDevice(device_type_int=1)`.
  std::string to_string() const;

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, DType, List,
               Ref<const Counted>>
      value_;  // the last: an AttrObject
};

struct Attr {
  std::string key;
  AttrValue value;
  Span span = {};  // not part of equality
  friend bool operator==(const Attr& a, const Attr& b) {
    return a.key == b.key && a.value == b.value;
  }
};

// What the notation has no words for: a device, a target, a map. Text refers to it in the metadata
// section (lang/metadata.h).
struct AttrObject final : Counted {
  AttrObject(std::string type_key, std::vector<Attr> fields)
      : type_key(std::move(type_key)), fields(std::move(fields)) {}
  const std::string type_key;                         // "VirtualDevice"
  const std::vector<Attr> fields;                     // in order
  const AttrValue* find(std::string_view key) const;  // null if absent
};
using AttrObjectRef = Ref<const AttrObject>;

// Attributes of a call, function or parameter, in order. A call of an operator that went through
// `complete_attrs` (lang/op.h) has every attribute of the record, in the record's order.
class Attrs : public Counted {
 public:
  Attrs() = default;
  explicit Attrs(std::vector<Attr> list) : list(std::move(list)) {}
  std::vector<Attr> list;

  const AttrValue* find(std::string_view key) const;  // null if absent
  // Readers for attributes that the operator's record guarantees; RELAY_CHECK otherwise.
  std::int64_t get_int(std::string_view key) const;
  double get_float(std::string_view key) const;
  bool get_bool(std::string_view key) const;
  const std::string& get_string(std::string_view key) const;
  DType get_dtype(std::string_view key) const;
  std::vector<std::int64_t> get_ints(
      std::string_view key) const;  // an integer counts as a list of one
  std::vector<double> get_floats(std::string_view key) const;
  bool is_null(std::string_view key) const;  // absent or None
};
using AttrsRef = Ref<const Attrs>;  // null: none
AttrsRef make_attrs(std::vector<Attr> list);
bool equal(const AttrsRef& a, const AttrsRef& b);

}  // namespace relay::lang
