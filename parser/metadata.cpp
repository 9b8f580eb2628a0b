#include "parser/metadata.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lang/diagnostic.h"
#include "lang/metadata.h"
#include "parser/comments.h"

namespace relay::parser {
namespace {

using lang::Attr;
using lang::AttrValue;
using lang::DiagnosticKind;
using lang::Span;
using Json = nlohmann::json;

[[noreturn]] void fail(const std::string& what) { lang::fail(DiagnosticKind::BadMetadata, what); }

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

// `#[metadata]` itself, where problems of the whole section are shown.
Span head_of(Span section) {
  const std::size_t close = section.text().find(']');
  return {section.source, section.begin, section.begin + static_cast<std::uint32_t>(close + 1)};
}

Json read_json(Span section) {
  const Span head = head_of(section);
  const std::string_view text = section.text().substr(head.end - head.begin);
  try {
    return Json::parse(text, nullptr, true, true);  // comments are passed over
  } catch (const Json::parse_error& error) {
    // `byte` counts from 1, and is one past the end where more is wanted.
    const std::size_t at = std::min(error.byte == 0 ? 0 : error.byte - 1, text.size());
    const std::string_view rest = text.substr(at);
    const auto place = static_cast<std::uint32_t>(head.end + at);
    const Span here{section.source, place, place + (rest.empty() ? 0 : 1)};
    const Gap blank = skip_gap(text.data(), text.data() + text.size(), Breaks::Skip);
    if (blank.end == text.data() + text.size())
      lang::fail(DiagnosticKind::BadMetadata, "the metadata section is empty", head);
    if (rest.starts_with('#'))
      lang::fail(DiagnosticKind::BadMetadata, "a second section follows the metadata", here);
    if (rest.empty())
      lang::fail(DiagnosticKind::BadMetadata,
                 "the metadata ends too early: its JSON is not complete", here);
    lang::fail(DiagnosticKind::BadMetadata, "the metadata is no JSON from here on", here);
  }
}

const Json* member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string text_of(const Json& node, const char* key) {
  const Json* found = member(node, key);
  return found && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

struct Metadata::Impl {
  Json json;
  const Json* nodes = nullptr;
  const Json* tensors = nullptr;
  std::map<std::string, std::vector<std::size_t>, std::less<>> entries;  // nodes, by key
  std::unordered_map<std::size_t, AttrValue> values;                     // by node
  std::unordered_map<std::size_t, lang::TensorRef> constants;            // by place in `tensors`
  int depth = 0;

  const Json& node(std::size_t index) const {
    if (index >= nodes->size())
      fail(fmt::format("the metadata refers to its node {}, but has {}", index, nodes->size()));
    return (*nodes)[index];
  }
  std::vector<std::size_t> data(const Json& node) const {
    std::vector<std::size_t> indices;
    const Json* list = member(node, "data");
    if (!list) return indices;
    for (const Json& element : *list) {
      if (!element.is_number_unsigned()) fail("a reference in the metadata is no number");
      indices.push_back(element.get<std::size_t>());
    }
    return indices;
  }
  std::vector<std::string> keys(const Json& node) const {
    std::vector<std::string> names;
    const Json* list = member(node, "keys");
    if (!list) return names;
    for (const Json& name : *list) {
      if (!name.is_string()) fail("a key in the metadata is no string");
      names.push_back(name.get<std::string>());
    }
    return names;
  }

  void read_entries();
  const AttrValue& value(std::size_t index);
  AttrValue read(const Json& node);
  AttrValue read_map(const Json& node);
  AttrValue read_object(const Json& node, const std::string& type_key);
  AttrValue field(const lang::MetadataField& field, const std::string& text);
};

void Metadata::Impl::read_entries() {
  nodes = member(json, "nodes");
  tensors = member(json, "b64ndarrays");
  const Json* root = member(json, "root");
  if (!nodes || !nodes->is_array() || !root || !root->is_number_unsigned())
    fail("the metadata is no graph of objects: it needs `root` and `nodes`");
  const Json& map = node(root->get<std::size_t>());
  const std::vector<std::string> names = keys(map);
  const std::vector<std::size_t> lists = data(map);
  if (names.size() != lists.size()) fail("the root of the metadata is no map from keys to lists");
  for (std::size_t i = 0; i < names.size(); ++i) entries[names[i]] = data(node(lists[i]));
}

const AttrValue& Metadata::Impl::value(std::size_t index) {
  const auto known = values.find(index);
  if (known != values.end()) return known->second;
  // A cycle ends here too.
  constexpr int kDeepest = 200;
  if (++depth > kDeepest) fail("the metadata refers to itself, or nests too deeply");
  AttrValue result = read(node(index));
  --depth;
  return values.emplace(index, std::move(result)).first->second;
}

AttrValue Metadata::Impl::read(const Json& node) {
  const std::string type_key = text_of(node, "type_key");
  if (type_key.empty()) return {};
  if (type_key == "runtime.String") return text_of(node, "repr_str");
  if (type_key == "Array") {
    AttrValue::List list;
    for (const std::size_t element : data(node)) list.push_back(value(element));
    return list;
  }
  if (type_key == "Map") return read_map(node);
  if (type_key == "Op") {
    const Attr name{"name", text_of(node, "repr_str"), {}};
    return lang::AttrObjectRef(new lang::AttrObject(type_key, {name}));
  }
  return read_object(node, type_key);
}

AttrValue Metadata::Impl::read_map(const Json& node) {
  const std::vector<std::string> names = keys(node);
  const std::vector<std::size_t> contents = data(node);
  if (names.size() != contents.size()) {
    lang::fail(DiagnosticKind::Unsupported,
               "not supported: a map in the metadata whose keys are no strings");
  }
  std::vector<Attr> fields;
  for (std::size_t i = 0; i < names.size(); ++i)
    fields.push_back({names[i], value(contents[i]), {}});
  return lang::AttrObjectRef(new lang::AttrObject("Map", std::move(fields)));
}

AttrValue Metadata::Impl::field(const lang::MetadataField& field, const std::string& text) {
  switch (field.kind) {
    case lang::MetadataFieldKind::Text:
      return text;
    case lang::MetadataFieldKind::String: {
      const auto index = number<std::size_t>(text);
      const bool is_reference = index && *index < nodes->size() &&
                                text_of((*nodes)[*index], "type_key") == "runtime.String";
      return is_reference ? value(*index) : AttrValue(text);
    }
    case lang::MetadataFieldKind::Number:
      if (const auto integer = number<std::int64_t>(text)) return *integer;
      if (const auto real = number<double>(text)) return *real;
      break;
    case lang::MetadataFieldKind::Node:
      if (const auto index = number<std::size_t>(text)) return value(*index);
      break;
  }
  fail(fmt::format("the field `{}` of an object in the metadata is no number", field.name));
}

AttrValue Metadata::Impl::read_object(const Json& node, const std::string& type_key) {
  const auto known = lang::metadata_fields(type_key);
  if (!known) {
    lang::fail(DiagnosticKind::Unsupported,
               fmt::format("not supported: `{}` in the metadata", type_key));
  }
  std::vector<Attr> fields;
  const Json* attrs = member(node, "attrs");
  for (const lang::MetadataField& field : *known) {
    const Json* text = attrs ? member(*attrs, std::string(field.name).c_str()) : nullptr;
    if (!text || field.name == "span") continue;
    if (!text->is_string()) fail("an attribute in the metadata is no string");
    fields.push_back({std::string(field.name), this->field(field, text->get<std::string>()), {}});
  }
  const lang::AttrObjectRef object(new lang::AttrObject(type_key, std::move(fields)));
  const bool is_number = type_key == "IntImm" || type_key == "FloatImm";
  const AttrValue* content = is_number ? object->find("value") : nullptr;
  if (!content) return object;
  const AttrValue* dtype = object->find("dtype");
  const std::int64_t* integer = content->as_int();
  if (integer && dtype && *dtype == AttrValue("bool")) return *integer != 0;
  if (integer && type_key == "FloatImm") return static_cast<double>(*integer);
  return *content;
}

Metadata::Metadata(Span section) : impl_(std::make_unique<Impl>()) {
  impl_->json = read_json(section);
  try {
    impl_->read_entries();
  } catch (lang::Failure& failure) {
    failure.diagnostics.front().span = head_of(section);
    throw;
  }
}
Metadata::~Metadata() = default;

std::size_t Metadata::size(std::string_view key) const {
  const auto found = impl_->entries.find(key);
  return found == impl_->entries.end() ? 0 : found->second.size();
}

lang::TensorRef Metadata::constant(std::size_t index) {
  const AttrValue& constant = value("relay.Constant", index);
  const AttrValue* place = constant.as_object()->find("data");
  const std::int64_t* number = place ? place->as_int() : nullptr;
  return tensor(number ? *number : -1);
}

lang::TensorRef Metadata::tensor(std::int64_t number) {
  const auto index = static_cast<std::size_t>(number);
  const Json* tensors = impl_->tensors;
  if (number < 0 || !tensors || index >= tensors->size() || !(*tensors)[index].is_string())
    fail("a constant of the metadata has no tensor");
  lang::TensorRef& place = impl_->constants[index];
  if (!place) place = lang::decode_tensor((*tensors)[index].get<std::string>());
  return place;
}

const AttrValue& Metadata::value(std::string_view key, std::size_t index) {
  impl_->depth = 0;
  return impl_->value(impl_->entries.find(key)->second[index]);
}

std::vector<Attr> attributes_of(const lang::OpDef& op, const lang::AttrObject& object,
                                lang::Span where) {
  std::vector<Attr> attrs;
  for (const Attr& field : object.fields) {
    const auto is_open = [&](const lang::AttrSpec& spec) {
      if (spec.name != field.key) return false;
      const bool has_no_dtype = spec.kind == lang::AttrKind::DType && field.value == AttrValue("");
      return has_no_dtype || (field.value.is_null() && !spec.nullable && spec.default_value);
    };
    if (std::none_of(op.attrs.begin(), op.attrs.end(), is_open))
      attrs.push_back({field.key, field.value, where});
  }
  return attrs;
}

}  // namespace relay::parser
