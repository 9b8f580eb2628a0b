#include "formats/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "formats/bytes.h"

namespace relay::formats {

using lang::DType;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::pair<std::string_view, DType> kDTypeNames[] = {
    {"BOOL", DType::Bool},   {"I8", DType::Int8},       {"I16", DType::Int16},
    {"I32", DType::Int32},   {"I64", DType::Int64},     {"U8", DType::UInt8},
    {"U16", DType::UInt16},  {"U32", DType::UInt32},    {"U64", DType::UInt64},
    {"F16", DType::Float16}, {"BF16", DType::BFloat16}, {"F32", DType::Float32},
    {"F64", DType::Float64}};
constexpr std::string_view kMetadata = "__metadata__";
constexpr std::int64_t kLongestJson = 100'000'000;  // the format's own limit

struct Entry {
  Header header;
  std::int64_t begin = 0;  // in the file
};

struct JsonHeader {
  Json json;
  std::int64_t end = 0;  // where the elements begin
};

JsonHeader read_json(FileReader& file) {
  std::array<std::byte, 8> bytes{};
  file.read(bytes);
  const auto size = std::bit_cast<std::int64_t>(bytes);
  if (size < 2 || size > kLongestJson || size + 8 > file.size())
    bad_data(file.path(), "this is no `.safetensors` file");
  std::string text(static_cast<std::size_t>(size), '\0');
  file.read(std::as_writable_bytes(std::span(text)));
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) bad_data(file.path(), "the header is no JSON object");
  return {std::move(json), size + 8};
}

std::string chosen_key(const Json& json, const Location& location) {
  std::vector<std::string> keys;
  for (const auto& item : json.items()) {
    if (item.key() != kMetadata) keys.push_back(item.key());
  }
  if (location.key.empty() && keys.size() == 1) return keys.front();
  if (std::find(keys.begin(), keys.end(), location.key) != keys.end()) return location.key;
  const std::string there = fmt::format("it has `{}`", fmt::join(keys, "`, `"));
  bad_data(location.path, location.key.empty()
                              ? fmt::format("which tensor? {}; write `key`", there)
                              : fmt::format("there is no tensor `{}`; {}", location.key, there));
}

Entry find_entry(FileReader& file, const Location& location) {
  const auto [json, start] = read_json(file);
  const std::string key = chosen_key(json, location);
  try {
    const Json& entry = json.at(key);
    const auto name = entry.at("dtype").get<std::string>();
    const auto* found = std::find_if(std::begin(kDTypeNames), std::end(kDTypeNames),
                                     [&](const auto& known) { return known.first == name; });
    if (found == std::end(kDTypeNames))
      bad_data(location.path, fmt::format("`{}` has the dtype {}, which is none here", key, name));
    for (const Json& extent : entry.at("shape")) {
      if (!extent.is_number_integer())
        bad_data(location.path, fmt::format("the shape of `{}` is no list of integers", key));
    }
    Entry result{{found->second, entry.at("shape").get<std::vector<std::int64_t>>()}};
    const auto offsets = entry.at("data_offsets").get<std::vector<std::int64_t>>();
    const std::int64_t bytes = checked_count(location.path, result.header) *
                               static_cast<std::int64_t>(lang::size_of(found->second));
    if (offsets.size() != 2 || offsets[0] < 0 || offsets[1] - offsets[0] != bytes ||
        offsets[1] > file.size() - start)
      bad_data(location.path, fmt::format("the place of `{}` does not fit its shape", key));
    result.begin = start + offsets[0];
    return result;
  } catch (const Json::exception&) {
    bad_data(location.path, fmt::format("the header of `{}` is broken", key));
  }
}

}  // namespace

Header read_safetensors_header(const Location& location) {
  FileReader file(location.path);
  return find_entry(file, location).header;
}

lang::TensorRef read_safetensors(const Location& location, const Progress& progress) {
  FileReader file(location.path);
  const Entry entry = find_entry(file, location);
  file.skip_to(entry.begin);
  lang::TensorRef tensor = lang::Tensor::make(entry.header.dtype, entry.header.shape);
  read_elements(file, *tensor, progress);
  return tensor;
}

void write_safetensors(const Location& location, const std::vector<NamedTensor>& tensors,
                       const Progress& progress) {
  Json json = Json::object();
  std::int64_t offset = 0;
  for (const NamedTensor& entry : tensors) {
    const lang::Tensor& tensor = *entry.tensor;
    const auto* name =
        std::find_if(std::begin(kDTypeNames), std::end(kDTypeNames),
                     [&](const auto& known) { return known.second == tensor.dtype(); });
    const std::int64_t end =
        offset + tensor.element_count() * static_cast<std::int64_t>(lang::size_of(tensor.dtype()));
    json[entry.name] = {
        {"dtype", name->first}, {"shape", tensor.shape()}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string header = json.dump();
  header.append((8 - header.size() % 8) % 8, ' ');
  FileWriter file(location.path);
  const auto size =
      std::bit_cast<std::array<std::byte, 8>>(static_cast<std::int64_t>(header.size()));
  file.write(size);
  file.write(header);
  for (const NamedTensor& entry : tensors) write_elements(file, *entry.tensor, progress);
  file.finish();
}

}  // namespace relay::formats
