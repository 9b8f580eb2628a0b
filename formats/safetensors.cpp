#include "formats/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "formats/bytes.h"
#include "formats/header_cache.h"

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
  std::string name;
  std::string dtype = {};
  std::optional<std::vector<std::int64_t>> shape = {};
  std::optional<std::vector<std::int64_t>> offsets = {};
};

// Reads the header as it comes, without a tree of it: it may have a hundred megabytes. What is no
// header of the format ends it with `problem`.
class HeaderParser final : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderParser(const Progress& progress) : progress_(progress) {}
  std::vector<Entry> entries;
  std::string problem;

  bool null() override { return other(); }
  bool boolean(bool) override { return other(); }
  bool number_float(number_float_t, const string_t&) override { return other(); }
  bool binary(binary_t&) override { return other(); }
  bool number_integer(number_integer_t value) override { return number(value); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
      return broken();
    return number(static_cast<std::int64_t>(value));
  }
  bool string(string_t& text) override {
    if (is_in_metadata_) return true;
    if (depth_ != 2 || key_ != "dtype" || !entries.back().dtype.empty()) return broken();
    entries.back().dtype = text;
    return true;
  }
  bool start_object(std::size_t) override {
    ++depth_;
    if (depth_ > 2 || list_) return broken();
    if (depth_ != 2) return true;
    is_in_metadata_ = key_ == kMetadata;
    if (!is_in_metadata_) entries.push_back({key_});
    return true;
  }
  bool key(string_t& name) override {
    key_ = name;
    constexpr std::size_t kBetween = 4096;
    if (progress_ && ++keys_ % kBetween == 0) progress_(0, -1);
    if (depth_ == 1 && !names_.insert(name).second)
      return fail(fmt::format("two tensors are called {}", in_backticks(name)));
    return true;
  }
  bool end_object() override {
    --depth_;
    is_in_metadata_ = false;
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ != 2 || is_in_metadata_ || list_) return broken();
    auto& list = key_ == "shape" ? entries.back().shape : entries.back().offsets;
    if ((key_ != "shape" && key_ != "data_offsets") || list) return broken();
    list_ = &list.emplace();
    return true;
  }
  bool end_array() override {
    list_ = nullptr;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
    return fail("the header is no JSON object");
  }

 private:
  bool fail(std::string what) {
    if (problem.empty()) problem = std::move(what);
    return false;
  }
  bool broken() {
    return fail(depth_ == 0
                    ? "the header is no JSON object"
                    : fmt::format("the header of {} is broken",
                                  in_backticks(entries.empty() ? key_ : entries.back().name)));
  }
  bool other() { return is_in_metadata_ || broken(); }
  bool number(std::int64_t value) {
    if (!list_) return other();
    list_->push_back(value);
    return list_->size() <= kMostNumbers || broken();
  }

  static constexpr std::size_t kMostNumbers = 1000;
  const Progress& progress_;
  std::size_t keys_ = 0;
  int depth_ = 0;
  bool is_in_metadata_ = false;
  std::string key_;
  std::unordered_set<std::string> names_;
  std::vector<std::int64_t>* list_ = nullptr;
};

struct Place {
  Header header;
  std::int64_t begin = 0;  // in the file
};

struct FileHeader {
  std::vector<Entry> entries;
  TensorNames names;
  std::int64_t end = 0;  // in the file
};

std::string header_text_of(FileReader& file) {
  file.require_regular("reading a `.safetensors` file");
  std::array<std::byte, 8> bytes{};
  file.read(bytes);
  const auto size = std::bit_cast<std::int64_t>(bytes);
  if (size < 2 || size > kLongestJson || size > file.remaining())
    bad_data(file.path(), "this is no `.safetensors` file");
  std::string text(static_cast<std::size_t>(size), '\0');
  file.read(std::as_writable_bytes(std::span(text)));
  return text;
}

FileHeader read_file_header(FileReader& file, const Progress& progress) {
  HeaderParser parser(progress);
  const std::string text = header_text_of(file);
  if (!Json::sax_parse(text, &parser))
    bad_data(file.path(), parser.problem.empty() ? "the header is broken" : parser.problem);
  std::vector<std::string> names;
  for (const Entry& entry : parser.entries) names.push_back(entry.name);
  return {std::move(parser.entries), TensorNames(std::move(names)), file.size() - file.remaining()};
}

HeaderCache<FileHeader>& file_headers() {
  static HeaderCache<FileHeader> cache;
  return cache;
}

Place find_place(FileReader& file, const Location& location, const Progress& progress) {
  const auto header = file_headers().header_of(
      file, [&](FileReader& opened) { return read_file_header(opened, progress); },
      [](const FileHeader& read) { return read.end; });
  const Entry& entry = header->entries[header->names.chosen(location.path, location.key)];
  const std::string name = in_backticks(entry.name);
  const auto* found = std::find_if(std::begin(kDTypeNames), std::end(kDTypeNames),
                                   [&](const auto& known) { return known.first == entry.dtype; });
  if (!entry.shape || !entry.offsets || entry.dtype.empty())
    bad_data(location.path, fmt::format("the header of {} is broken", name));
  if (found == std::end(kDTypeNames)) {
    bad_data(location.path, fmt::format("{} has the dtype {}, which is none here", name,
                                        in_backticks(entry.dtype)));
  }
  Place place{{found->second, *entry.shape}};
  check_header(location.path, place.header);
  const std::vector<std::int64_t>& offsets = *entry.offsets;
  if (offsets.size() != 2 || offsets[0] < 0 || offsets[1] < offsets[0] ||
      offsets[1] - offsets[0] != byte_count(place.header) || offsets[1] > file.size() - header->end)
    bad_data(location.path, fmt::format("the place of {} does not fit its shape", name));
  place.begin = header->end + offsets[0];
  return place;
}

}  // namespace

std::int64_t safetensors_headers_read() { return file_headers().headers_read(); }

Header read_safetensors_header(const Location& location, const Progress& progress) {
  FileReader file(location, progress);
  return find_place(file, location, progress).header;
}

lang::TensorRef read_safetensors(const Location& location, const Progress& progress) {
  FileReader file(location, progress);
  const Place place = find_place(file, location, progress);
  file.skip_to(place.begin);
  lang::TensorRef tensor = make_tensor(location.path, place.header);
  read_elements(file, *tensor, progress);
  return tensor;
}

void write_safetensors(const Location& location, const std::vector<NamedTensor>& tensors,
                       const Progress& progress) {
  // Appended, not set: each key would be compared with all before it.
  Json::object_t header_entries;
  std::int64_t offset = 0;
  for (const NamedTensor& entry : tensors) {
    const lang::Tensor& tensor = *entry.tensor;
    const auto* name =
        std::find_if(std::begin(kDTypeNames), std::end(kDTypeNames),
                     [&](const auto& known) { return known.second == tensor.dtype(); });
    const std::int64_t end =
        offset + tensor.element_count() * static_cast<std::int64_t>(lang::size_of(tensor.dtype()));
    header_entries.emplace_back(
        entry.name,
        Json{{"dtype", name->first}, {"shape", tensor.shape()}, {"data_offsets", {offset, end}}});
    offset = end;
  }
  std::string header = Json(std::move(header_entries)).dump();
  header.append((8 - header.size() % 8) % 8, ' ');
  FileWriter file(location);
  const auto size =
      std::bit_cast<std::array<std::byte, 8>>(static_cast<std::int64_t>(header.size()));
  file.write(size);
  file.write(header);
  for (const NamedTensor& entry : tensors) write_elements(file, *entry.tensor, progress);
  file.finish();
}

}  // namespace relay::formats
