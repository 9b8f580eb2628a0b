#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "lang/attrs.h"
#include "lang/dim.h"
#include "lang/tensor.h"

// What stands after `#[metadata]`: a graph of objects in JSON, to which the text refers by
// `meta[Key][n]`. Here is what reader (parser/metadata.h) and writer share, and the writer.
namespace relay::lang {

// How a field of an object stands in the JSON: in place, or as the number of another node. A string
// of an operator's attributes may stand either way.
enum class MetadataFieldKind { Number, Text, Node, String };
struct MetadataField {
  std::string_view name;
  MetadataFieldKind kind;
};
// The fields that objects with this key have, sorted by name: of attribute structures
// (`relay.attrs.Conv2DAttrs`) those that the operators' records say. Nothing for keys we do not
// know: without it a number cannot be told from a reference.
std::optional<std::span<const MetadataField>> metadata_fields(std::string_view type_key);

// A tensor as the section holds it: a header and the elements, in base64.
std::string encode_tensor(const TensorRef& tensor);
// Throws Failure (BadMetadata, no place).
TensorRef decode_tensor(std::string_view text);

// Collects what a text refers to, and writes the section. What is the same gets the same number:
// tensors and variables by identity, objects by structure.
class MetadataWriter {
 public:
  // Each returns the reference: `meta[relay.Constant][0]`.
  std::string constant(const TensorRef& tensor);
  std::string dimension(const Dim& dim);
  std::string value(const AttrValue& value);  // an object or a string

  bool is_empty() const { return entries_.empty(); }
  // `#[metadata]` and the JSON.
  std::string section() const;

 private:
  struct Entry {
    std::string type_key;
    std::variant<TensorRef, Dim, AttrValue> content;
  };
  std::string add(Entry entry);
  template <class T>
  std::string refer(const std::string& type_key, const T& content);
  std::vector<Entry> entries_;
  std::unordered_map<std::string, int> counts_;               // by key
  std::unordered_map<const Tensor*, std::string> constants_;  // there may be many
};

}  // namespace relay::lang
