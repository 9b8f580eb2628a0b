#include "lang/attrs.h"

#include <bit>
#include <functional>

#include "lang/diagnostic.h"
#include "lang/hash.h"
#include "lang/number_text.h"

namespace relay::lang {
namespace {

// The attribute that the operator's record guarantees.
const AttrValue& guaranteed(const Attrs& attrs, std::string_view key) {
  const AttrValue* value = attrs.find(key);
  RELAY_CHECK(value, "attribute `" + std::string(key) + "` is missing");
  return *value;
}

template <class T>
const T& of_kind(const T* value, std::string_view key) {
  RELAY_CHECK(value, "attribute `" + std::string(key) + "` is of another kind");
  return *value;
}

}  // namespace

AttrValue AttrValue::ints(const std::vector<std::int64_t>& values) {
  return AttrValue(List(values.begin(), values.end()));
}

AttrValue::AttrValue(AttrObjectRef v) : value_(Ref<const Counted>(std::move(v))) {}

const AttrObject* AttrValue::as_object() const {
  const auto* object = std::get_if<Ref<const Counted>>(&value_);
  return object ? static_cast<const AttrObject*>(object->get()) : nullptr;
}

bool operator==(const AttrValue& a, const AttrValue& b) {
  const AttrObject* left = a.as_object();
  const AttrObject* right = b.as_object();
  if (!left || !right || left == right) return a.value_ == b.value_;
  return left->type_key == right->type_key && left->fields == right->fields;
}

std::size_t AttrValue::hash() const {
  std::size_t seed = value_.index();
  if (const bool* b = as_bool()) return combine_hashes(seed, *b);
  if (const std::int64_t* i = as_int()) return combine_hashes(seed, std::hash<std::int64_t>()(*i));
  if (const double* d = as_float()) return combine_hashes(seed, std::hash<double>()(*d));
  if (const std::string* s = as_string()) return combine_hashes(seed, std::hash<std::string>()(*s));
  if (const DType* t = as_dtype()) return combine_hashes(seed, static_cast<std::size_t>(*t));
  if (const List* list = as_list()) {
    for (const AttrValue& value : *list) seed = combine_hashes(seed, value.hash());
  }
  if (const AttrObject* object = as_object()) {
    seed = combine_hashes(seed, std::hash<std::string>()(object->type_key));
    for (const Attr& field : object->fields) seed = combine_hashes(seed, field.value.hash());
  }
  return seed;
}

std::string AttrValue::to_string() const {
  if (const bool* b = as_bool()) return *b ? "True" : "False";
  if (const std::int64_t* i = as_int()) return std::to_string(*i);
  if (const double* d = as_float()) {
    return float_text(DType::Float64, std::bit_cast<std::uint64_t>(*d), false) + "f";
  }
  if (const std::string* s = as_string()) return '"' + *s + '"';
  if (const DType* t = as_dtype()) return '"' + std::string(name_of(*t)) + '"';
  if (const List* list = as_list()) {
    std::string text = "[";
    for (const AttrValue& value : *list) {
      if (text.size() > 1) text += ", ";
      text += value.to_string();
    }
    return text + "]";
  }
  if (const AttrObject* object = as_object()) {
    std::string text = object->type_key + "(";
    for (const Attr& field : object->fields) {
      if (text.back() != '(') text += ", ";
      text += field.key + "=" + field.value.to_string();
    }
    return text + ")";
  }
  return "None";
}

namespace {

const AttrValue* find_in(const std::vector<Attr>& list, std::string_view key) {
  for (const Attr& attr : list) {
    if (attr.key == key) return &attr.value;
  }
  return nullptr;
}

}  // namespace

const AttrValue* AttrObject::find(std::string_view key) const { return find_in(fields, key); }
const AttrValue* Attrs::find(std::string_view key) const { return find_in(list, key); }

std::int64_t Attrs::get_int(std::string_view key) const {
  return of_kind(guaranteed(*this, key).as_int(), key);
}

double Attrs::get_float(std::string_view key) const {
  const AttrValue& value = guaranteed(*this, key);
  if (const std::int64_t* i = value.as_int()) return static_cast<double>(*i);
  return of_kind(value.as_float(), key);
}

bool Attrs::get_bool(std::string_view key) const {
  const AttrValue& value = guaranteed(*this, key);
  if (const std::int64_t* i = value.as_int()) return *i != 0;
  return of_kind(value.as_bool(), key);
}

const std::string& Attrs::get_string(std::string_view key) const {
  return of_kind(guaranteed(*this, key).as_string(), key);
}

DType Attrs::get_dtype(std::string_view key) const {
  const AttrValue& value = guaranteed(*this, key);
  if (const std::string* s = value.as_string()) {
    const std::optional<DType> dtype = parse_dtype(*s);
    RELAY_CHECK(dtype, "attribute `" + std::string(key) + "` names no dtype");
    return *dtype;
  }
  return of_kind(value.as_dtype(), key);
}

std::vector<std::int64_t> Attrs::get_ints(std::string_view key) const {
  const AttrValue& value = guaranteed(*this, key);
  if (const std::int64_t* i = value.as_int()) return {*i};
  std::vector<std::int64_t> values;
  for (const AttrValue& element : of_kind(value.as_list(), key)) {
    values.push_back(of_kind(element.as_int(), key));
  }
  return values;
}

std::vector<double> Attrs::get_floats(std::string_view key) const {
  std::vector<double> values;
  for (const AttrValue& element : of_kind(guaranteed(*this, key).as_list(), key))
    values.push_back(of_kind(element.as_float(), key));
  return values;
}

bool Attrs::is_null(std::string_view key) const {
  const AttrValue* value = find(key);
  return !value || value->is_null();
}

AttrsRef make_attrs(std::vector<Attr> list) {
  if (list.empty()) return nullptr;
  return AttrsRef(new Attrs(std::move(list)));
}

bool equal(const AttrsRef& a, const AttrsRef& b) {
  static const std::vector<Attr> none;
  return a == b || (a ? a->list : none) == (b ? b->list : none);
}

}  // namespace relay::lang
