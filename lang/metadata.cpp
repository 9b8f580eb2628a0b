#include "lang/metadata.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "lang/attrs_struct.h"
#include "lang/base64.h"
#include "lang/diagnostic.h"

namespace relay::lang {
namespace {

constexpr MetadataFieldKind kNumber = MetadataFieldKind::Number;
constexpr MetadataFieldKind kText = MetadataFieldKind::Text;
constexpr MetadataFieldKind kNode = MetadataFieldKind::Node;

struct ObjectRow {
  std::string_view type_key;
  std::vector<MetadataField> fields;
};

// Of an expression only what it means: its type and its device follow.
const std::vector<ObjectRow>& rows() {
  static const std::vector<MetadataField> binary = {
      {"a", kNode}, {"b", kNode}, {"dtype", kText}, {"span", kNode}};
  static const std::vector<MetadataField> variable = {
      {"dtype", kText}, {"name", kNode}, {"span", kNode}, {"type_annotation", kNode}};
  static const std::vector<MetadataField> number = {
      {"dtype", kText}, {"span", kNode}, {"value", kNumber}};
  static const std::vector<MetadataField> name = {{"name_hint", kNode}};
  static const std::vector<ObjectRow> table = {
      {"DictAttrs", {{"__dict__", kNode}}},
      {"FloatImm", number},
      {"FuncType",
       {{"arg_types", kNode},
        {"ret_type", kNode},
        {"type_constraints", kNode},
        {"type_params", kNode}}},
      {"GlobalVar", name},
      {"IncompleteType", {{"kind", kNumber}, {"span", kNode}}},
      {"IntImm", number},
      {"PrimType", {{"dtype", kText}}},
      {"Target",
       {{"attrs", kNode},
        {"features", kNode},
        {"host", kNode},
        {"keys", kNode},
        {"kind", kNode},
        {"tag", kNode}}},
      {"TargetKind", {{"default_device_type", kNumber}, {"default_keys", kNode}, {"name", kNode}}},
      {"TupleType", {{"fields", kNode}}},
      {"VirtualDevice",
       {{"device_type_int", kNumber},
        {"memory_scope", kNode},
        {"target", kNode},
        {"virtual_device_id", kNumber}}},
      {"relay.Call", {{"args", kNode}, {"attrs", kNode}, {"op", kNode}}},
      {"relay.Constant", {{"data", kNumber}}},
      {"relay.Function",
       {{"attrs", kNode},
        {"body", kNode},
        {"params", kNode},
        {"ret_type", kNode},
        {"type_params", kNode}}},
      {"relay.Id", name},
      {"relay.If", {{"cond", kNode}, {"false_branch", kNode}, {"true_branch", kNode}}},
      {"relay.Let", {{"body", kNode}, {"value", kNode}, {"var", kNode}}},
      {"relay.RefCreate", {{"value", kNode}}},
      {"relay.RefRead", {{"ref", kNode}}},
      {"relay.RefType", {{"value", kNode}}},
      {"relay.RefWrite", {{"ref", kNode}, {"value", kNode}}},
      {"relay.TensorType", {{"dtype", kText}, {"shape", kNode}, {"span", kNode}}},
      {"relay.Tuple", {{"fields", kNode}}},
      {"relay.TupleGetItem", {{"index", kNumber}, {"tuple_value", kNode}}},
      {"relay.Var", {{"type_annotation", kNode}, {"vid", kNode}}},
      {"tir.Add", binary},
      {"tir.Any", {{"dtype", kText}, {"span", kNode}}},
      {"tir.Call", {{"args", kNode}, {"dtype", kText}, {"op", kNode}, {"span", kNode}}},
      {"tir.Cast", {{"dtype", kText}, {"span", kNode}, {"value", kNode}}},
      {"tir.FloorDiv", binary},
      {"tir.FloorMod", binary},
      {"tir.Mul", binary},
      {"tir.SizeVar", variable},
      {"tir.Sub", binary},
      {"tir.Var", variable},
  };
  return table;
}

// --- Attribute structures ---

constexpr std::string_view kAttrsPrefix = "relay.attrs.";

MetadataFieldKind kind_of(const OpDef& op, const AttrSpec& attr) {
  switch (attr.kind) {
    case AttrKind::Bool:
    case AttrKind::Int:
    case AttrKind::Float:
      return is_boxed(op, attr) ? kNode : kNumber;
    case AttrKind::String:
      return MetadataFieldKind::String;
    case AttrKind::DType:
      return kText;
    case AttrKind::IntList:
    case AttrKind::IntOrIntList:
    case AttrKind::FloatList:
    case AttrKind::Any:
      return kNode;
  }
  return kNode;
}

using AttrsStructs = std::map<std::string, std::vector<MetadataField>, std::less<>>;

void add_field(std::vector<MetadataField>& fields, const MetadataField& field) {
  const auto place = std::lower_bound(
      fields.begin(), fields.end(), field.name,
      [](const MetadataField& known, std::string_view name) { return known.name < name; });
  if (place == fields.end() || place->name != field.name) fields.insert(place, field);
}

// By name. Operators that share a structure need not have all of its fields. What is an input of an
// operator says little of the attribute that is called alike, so these come last.
const AttrsStructs& attrs_structs() {
  static const auto* structs = [] {
    auto* map = new AttrsStructs();
    for (const bool are_inputs : {false, true}) {
      for (const OpDef* op : OpRegistry::instance().all()) {
        if (op->is_step) continue;
        for (const AttrSpec& attr : op->attrs) {
          const bool is_input =
              std::any_of(op->inputs.begin(), op->inputs.end(),
                          [&](const InputSpec& input) { return input.attr == attr.name; });
          if (is_input == are_inputs)
            add_field((*map)[attrs_struct_of(*op)], {attr.name, kind_of(*op, attr)});
        }
      }
    }
    return map;
  }();
  return *structs;
}

// --- Tensors: two words, the device, rank, dtype, shape, the number of bytes, the bytes ---

constexpr std::uint64_t kMagic = 0xDD5E40F096B4A13F;
constexpr std::int32_t kCpu = 1;

enum TypeCode : std::uint8_t { kSigned = 0, kUnsigned = 1, kFloating = 2, kBrainFloat = 4 };

TypeCode code_of(DType dtype) {
  if (dtype == DType::Bool || is_unsigned_int(dtype)) return kUnsigned;
  if (dtype == DType::BFloat16) return kBrainFloat;
  return is_float(dtype) ? kFloating : kSigned;
}

std::optional<DType> dtype_of(std::uint8_t code, std::uint8_t bits) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (code_of(dtype) == code && bits_of(dtype) == bits) return dtype;
  }
  return std::nullopt;
}

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  const auto* begin = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof(T));
}

// Reads words from the front of what is left.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : left_(bytes) {}
  template <class T>
  T take() {
    T value;
    std::memcpy(&value, take_bytes(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::span<const std::byte> take_bytes(std::size_t count) {
    if (count > left_.size())
      fail(DiagnosticKind::BadMetadata, "a tensor of the metadata is cut off");
    const std::span<const std::byte> front = left_.first(count);
    left_ = left_.subspan(count);
    return front;
  }
  std::size_t left() const { return left_.size(); }

 private:
  std::span<const std::byte> left_;
};

}  // namespace

std::optional<std::span<const MetadataField>> metadata_fields(std::string_view type_key) {
  static const auto* by_key = [] {
    auto* map = new std::unordered_map<std::string_view, std::span<const MetadataField>>();
    for (const ObjectRow& row : rows()) map->emplace(row.type_key, row.fields);
    return map;
  }();
  if (type_key.starts_with(kAttrsPrefix)) {
    const auto found = attrs_structs().find(type_key.substr(kAttrsPrefix.size()));
    if (found == attrs_structs().end()) return std::nullopt;
    return found->second;
  }
  const auto found = by_key->find(type_key);
  if (found == by_key->end()) return std::nullopt;
  return found->second;
}

std::string encode_tensor(const TensorRef& tensor) {
  const TensorRef dense = contiguous(tensor);
  const std::size_t size =
      static_cast<std::size_t>(dense->element_count()) * size_of(dense->dtype());
  std::vector<std::byte> bytes;
  bytes.reserve(size + 64);
  append(bytes, kMagic);
  append(bytes, std::uint64_t{0});
  append(bytes, kCpu);
  append(bytes, std::int32_t{0});
  append(bytes, static_cast<std::int32_t>(dense->rank()));
  append(bytes, static_cast<std::uint8_t>(code_of(dense->dtype())));
  append(bytes, static_cast<std::uint8_t>(bits_of(dense->dtype())));
  append(bytes, std::uint16_t{1});
  for (const std::int64_t extent : dense->shape()) append(bytes, extent);
  append(bytes, static_cast<std::int64_t>(size));
  bytes.insert(bytes.end(), dense->data(), dense->data() + size);
  return to_base64(bytes);
}

TensorRef decode_tensor(std::string_view text) {
  const auto bytes = from_base64(text);
  if (!bytes) fail(DiagnosticKind::BadMetadata, "a tensor of the metadata is no base64");
  ByteReader reader(*bytes);
  if (reader.take<std::uint64_t>() != kMagic)
    fail(DiagnosticKind::BadMetadata, "a tensor of the metadata does not begin as one");
  reader.take_bytes(16);  // a reserved word; the device, where it was
  const auto rank = reader.take<std::int32_t>();
  const auto code = reader.take<std::uint8_t>();
  const auto bits = reader.take<std::uint8_t>();
  const auto lanes = reader.take<std::uint16_t>();
  const std::optional<DType> dtype = lanes == 1 ? dtype_of(code, bits) : std::nullopt;
  if (!dtype) {
    fail(
        DiagnosticKind::Unsupported,
        fmt::format("not supported: a tensor of the metadata with elements of code {}, {} bits and "
                    "{} lanes",
                    code, bits, lanes));
  }
  std::vector<std::int64_t> shape;
  std::size_t elements = 1;
  for (std::int32_t axis = 0; axis < rank; ++axis) {
    const auto extent = reader.take<std::int64_t>();
    if (extent < 0 || __builtin_mul_overflow(elements, extent, &elements))
      fail(DiagnosticKind::BadMetadata, "a tensor of the metadata has no proper shape");
    shape.push_back(extent);
  }
  const auto size = reader.take<std::int64_t>();
  std::size_t expected = 0;
  if (__builtin_mul_overflow(elements, size_of(*dtype), &expected) || size < 0 ||
      static_cast<std::size_t>(size) != expected || reader.left() < expected) {
    fail(DiagnosticKind::BadMetadata,
         "a tensor of the metadata has another size than its shape says");
  }
  TensorRef tensor = Tensor::make(*dtype, shape);
  if (expected > 0) std::memcpy(tensor->data(), reader.take_bytes(expected).data(), expected);
  if (dtype == DType::Bool) {  // one byte each, of which only 0 and 1 mean anything here
    for (std::size_t i = 0; i < elements; ++i) tensor->data()[i] &= std::byte{1};
  }
  return tensor;
}

}  // namespace relay::lang
