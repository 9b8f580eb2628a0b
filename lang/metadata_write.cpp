#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "lang/diagnostic.h"
#include "lang/metadata.h"
#include "lang/number_text.h"

namespace relay::lang {
namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string bracketed(const std::vector<std::string>& parts) {
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

// The nodes of a graph, each made after those that it refers to. Node 0 is null, node 1 the root,
// which is written last.
class Graph {
 public:
  using Fields = std::vector<std::pair<std::string_view, std::string>>;

  int add(std::string node) {
    nodes_.push_back(std::move(node));
    return static_cast<int>(nodes_.size()) + 1;
  }
  int object(std::string_view type_key, const Fields& fields) {
    std::string text = fmt::format("{{\"type_key\": {}", quoted(type_key));
    std::string_view separator = ", \"attrs\": {";
    for (const auto& [key, value] : fields) {
      text += fmt::format("{}{}: {}", separator, quoted(key), quoted(value));
      separator = ", ";
    }
    return add(text + (fields.empty() ? "}" : "}}"));
  }
  int array(const std::vector<int>& elements) {
    return add(
        fmt::format("{{\"type_key\": \"Array\", \"data\": [{}]}}", fmt::join(elements, ", ")));
  }
  static std::string map_text(const std::vector<std::string>& keys,
                              const std::vector<int>& values) {
    if (keys.empty()) return "{\"type_key\": \"Map\"}";
    std::vector<std::string> names;
    for (const std::string& key : keys) names.push_back(quoted(key));
    return fmt::format("{{\"type_key\": \"Map\", \"keys\": {}, \"data\": [{}]}}", bracketed(names),
                       fmt::join(values, ", "));
  }

  int string(const std::string& text) {
    const auto [place, is_new] = strings_.try_emplace(text, 0);
    if (is_new) {
      place->second = add(
          text.empty() ? "{\"type_key\": \"runtime.String\"}"
                       : "{\"type_key\": \"runtime.String\", \"repr_str\": " + quoted(text) + "}");
    }
    return place->second;
  }
  int integer(std::int64_t value, std::string_view dtype) {
    return object("IntImm",
                  {{"dtype", std::string(dtype)}, {"span", "0"}, {"value", std::to_string(value)}});
  }

  int tensor(const TensorRef& tensor) {
    tensors_.push_back(quoted(encode_tensor(tensor)));
    if (!any_device_) {
      any_device_ = object("VirtualDevice", {{"device_type_int", "-1"},
                                             {"memory_scope", std::to_string(string(""))},
                                             {"target", "0"},
                                             {"virtual_device_id", "-1"}});
    }
    return object("relay.Constant", {{"_checked_type_", "0"},
                                     {"data", std::to_string(tensors_.size() - 1)},
                                     {"span", "0"},
                                     {"virtual_device_", std::to_string(any_device_)}});
  }

  int value(const AttrValue& value);
  int dimension(const Dim& dim);

  std::string text(const std::string& root) const {
    std::string text = "{\n  \"root\": 1,\n  \"nodes\": [\n    {\"type_key\": \"\"},\n    " + root;
    for (const std::string& node : nodes_) text += ",\n    " + node;
    text += "\n  ],\n  \"b64ndarrays\": [";
    std::string_view separator = "\n    ";
    for (const std::string& tensor : tensors_) {
      text += std::string(separator) + tensor;
      separator = ",\n    ";
    }
    text += tensors_.empty() ? "]" : "\n  ]";
    return text + ",\n  \"attrs\": {\"tvm_version\": \"0.14.0\"}\n}";
  }

 private:
  int fields_of(const AttrObject& object);
  int binary(std::string_view type_key, int a, int b) {
    return object(
        type_key,
        {{"a", std::to_string(a)}, {"b", std::to_string(b)}, {"dtype", "int64"}, {"span", "0"}});
  }
  int atom(const DimAtom& atom);

  std::vector<std::string> nodes_;
  std::vector<std::string> tensors_;
  std::map<std::string, int> strings_;
  std::unordered_map<const TypeVar*, int> variables_;
  int any_device_ = 0;
};

int Graph::value(const AttrValue& value) {
  if (const bool* b = value.as_bool()) return integer(*b, "bool");
  if (const std::int64_t* i = value.as_int())
    return integer(*i, *i == static_cast<std::int32_t>(*i) ? "int32" : "int64");
  if (const double* d = value.as_float()) {
    return object(
        "FloatImm",
        {{"dtype", "float64"},
         {"span", "0"},
         {"value", float_text(DType::Float64, bits_from_double(DType::Float64, *d), true)}});
  }
  if (const std::string* s = value.as_string()) return string(*s);
  if (const DType* dtype = value.as_dtype()) return string(std::string(name_of(*dtype)));
  if (const AttrValue::List* list = value.as_list()) {
    std::vector<int> elements;
    for (const AttrValue& element : *list) elements.push_back(this->value(element));
    return array(elements);
  }
  if (const AttrObject* object = value.as_object()) return fields_of(*object);
  return 0;
}

int Graph::fields_of(const AttrObject& given) {
  if (given.type_key == "Map") {
    std::vector<std::string> keys;
    std::vector<int> values;
    for (const Attr& field : given.fields) {
      keys.push_back(field.key);
      values.push_back(value(field.value));
    }
    return add(map_text(keys, values));
  }
  const auto known = metadata_fields(given.type_key);
  RELAY_CHECK(known, "an object of a kind that metadata does not have");
  Fields fields;
  for (const MetadataField& field : *known) {
    const AttrValue* found = given.find(field.name);
    const AttrValue none;
    const AttrValue& content = found ? *found : none;
    const bool* truth = content.as_bool();
    std::string text;
    if (field.kind == MetadataFieldKind::Node) {
      text = std::to_string(value(content));
    } else if (const std::string* s = content.as_string()) {
      text = *s;
    } else if (const DType* dtype = content.as_dtype()) {
      text = name_of(*dtype);
    } else if (const double* d = content.as_float()) {
      text = float_text(DType::Float64, bits_from_double(DType::Float64, *d), false);
    } else if (const std::int64_t* i = content.as_int()) {
      text = std::to_string(*i);
    } else {
      text = truth ? (*truth ? "1" : "0") : field.kind == MetadataFieldKind::Number ? "0" : "";
    }
    fields.emplace_back(field.name, std::move(text));
  }
  return object(given.type_key, fields);
}

int Graph::atom(const DimAtom& atom) {
  if (!atom.variable) {
    const int numerator = dimension(atom.division->first);
    return binary("tir.FloorDiv", numerator, dimension(atom.division->second));
  }
  const auto [place, is_new] = variables_.try_emplace(atom.variable.get(), 0);
  if (is_new) {
    const int name = string(atom.variable->name);
    const int type = object("PrimType", {{"dtype", "int64"}});
    place->second = object("tir.SizeVar", {{"dtype", "int64"},
                                           {"name", std::to_string(name)},
                                           {"span", "0"},
                                           {"type_annotation", std::to_string(type)}});
  }
  return place->second;
}

int Graph::dimension(const Dim& dim) {
  int sum = 0;
  const auto add_up = [&](int node) { sum = sum ? binary("tir.Add", sum, node) : node; };
  for (const Dim::Term& term : dim.terms()) {
    int product = 0;
    for (const Dim::AtomRef& factor : term.atoms) {
      const int node = atom(*factor);
      product = product ? binary("tir.Mul", product, node) : node;
    }
    if (term.coefficient != 1)
      product = binary("tir.Mul", product, integer(term.coefficient, "int64"));
    add_up(product);
  }
  if (dim.constant_part() != 0 || sum == 0) add_up(integer(dim.constant_part(), "int64"));
  return sum;
}

// The key under which a dimension stands.
std::string_view key_of(const Dim& dim) {
  if (dim.as_variable()) return "tir.SizeVar";
  const std::size_t summands = dim.terms().size() + (dim.constant_part() != 0);
  if (summands > 1) return "tir.Add";
  const Dim::Term& term = dim.terms().front();
  return term.atoms.size() == 1 && term.coefficient == 1 ? "tir.FloorDiv" : "tir.Mul";
}

}  // namespace

std::string MetadataWriter::add(Entry entry) {
  std::string reference = fmt::format("meta[{}][{}]", entry.type_key, counts_[entry.type_key]++);
  entries_.push_back(std::move(entry));
  return reference;
}

template <class T>
std::string MetadataWriter::refer(const std::string& type_key, const T& content) {
  int index = 0;
  for (const Entry& entry : entries_) {
    if (entry.type_key != type_key) continue;
    // A constant may be an operand, or an attribute.
    const T* known = std::get_if<T>(&entry.content);
    if (known && *known == content) return fmt::format("meta[{}][{}]", type_key, index);
    ++index;
  }
  return add({type_key, content});
}

std::string MetadataWriter::constant(const TensorRef& tensor) {
  const auto [place, is_new] = constants_.try_emplace(tensor.get());
  if (is_new) place->second = add({"relay.Constant", tensor});
  return place->second;
}

std::string MetadataWriter::dimension(const Dim& dim) {
  return refer(std::string(key_of(dim)), dim);
}

std::string MetadataWriter::value(const AttrValue& value) {
  const AttrObject* object = value.as_object();
  return refer(object ? object->type_key : "runtime.String", value);
}

std::string MetadataWriter::section() const {
  Graph graph;
  std::map<std::string, std::vector<int>> by_key;
  for (const Entry& entry : entries_) {
    int node = 0;
    if (const TensorRef* tensor = std::get_if<TensorRef>(&entry.content)) {
      node = graph.tensor(*tensor);
    } else if (const Dim* dim = std::get_if<Dim>(&entry.content)) {
      node = graph.dimension(*dim);
    } else {
      node = graph.value(std::get<AttrValue>(entry.content));
    }
    by_key[entry.type_key].push_back(node);
  }
  std::vector<std::string> keys;
  std::vector<int> arrays;
  for (const auto& [key, nodes] : by_key) {
    keys.push_back(key);
    arrays.push_back(graph.array(nodes));
  }
  return "#[metadata]\n" + graph.text(Graph::map_text(keys, arrays));
}

}  // namespace relay::lang
