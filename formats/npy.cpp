#include "formats/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace relay::formats {

using lang::DType;

static_assert(std::endian::native == std::endian::little, "elements are read as they stand");

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;
constexpr std::uint32_t kLongestHeader = 1 << 20;

constexpr std::pair<std::string_view, DType> kNames[] = {
    {"b1", DType::Bool},   {"i1", DType::Int8},    {"i2", DType::Int16},   {"i4", DType::Int32},
    {"i8", DType::Int64},  {"u1", DType::UInt8},   {"u2", DType::UInt16},  {"u4", DType::UInt32},
    {"u8", DType::UInt64}, {"f2", DType::Float16}, {"f4", DType::Float32}, {"f8", DType::Float64}};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \n") - first + 1);
}

// The dictionary's text: `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
class Dictionary {
 public:
  Dictionary(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  // What stands behind `'key':`.
  std::string_view after(std::string_view key) const {
    const std::string quoted_key = fmt::format("'{}'", key);
    const std::size_t at = text_.find(quoted_key);
    if (at == std::string_view::npos) bad_data(name_, fmt::format("the header has no `{}`", key));
    if (text_.find(quoted_key, at + 1) != std::string_view::npos)
      bad_data(name_, fmt::format("the header has `{}` twice", key));
    const std::string_view rest = trimmed(text_.substr(at + quoted_key.size()));
    if (!rest.starts_with(':')) bad_data(name_, fmt::format("the header has no `{}`", key));
    return trimmed(rest.substr(1));
  }

  std::string_view descr() const {
    const std::string_view text = after("descr");
    if (text.starts_with('[')) bad_data(name_, "records of several fields are no tensor");
    const std::size_t close = text.find('\'', 1);
    if (!text.starts_with('\'') || close == std::string_view::npos)
      bad_data(name_, "the header's dtype is no string");
    return text.substr(1, close - 1);
  }

  bool is_fortran() const {
    const std::string_view text = after("fortran_order");
    if (!text.starts_with("True") && !text.starts_with("False"))
      bad_data(name_, "the header's order of axes is broken");
    return text.starts_with("True");
  }

  std::vector<std::int64_t> shape() const {
    const std::string_view text = after("shape");
    const std::size_t close = text.find(')');
    if (!text.starts_with('(') || close == std::string_view::npos)
      bad_data(name_, "the header's shape is no tuple");
    std::vector<std::int64_t> extents;
    std::string_view rest = trimmed(text.substr(1, close - 1));
    while (!rest.empty()) {
      std::int64_t extent = 0;
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
      rest = trimmed(rest.substr(static_cast<std::size_t>(end - rest.data())));
      const bool has_next = rest.starts_with(',');
      if (error != std::errc() || extent < 0 || (!has_next && !rest.empty()))
        bad_data(name_, "the header's shape is broken");
      extents.push_back(extent);
      if (has_next) rest = trimmed(rest.substr(1));
    }
    return extents;
  }

 private:
  std::string_view text_;
  const std::string& name_;
};

std::string header_text(ByteReader& reader, const std::string& name) {
  std::array<std::byte, 8> start{};
  reader.read(start);
  if (std::string_view(reinterpret_cast<const char*>(start.data()), kMagic.size()) != kMagic)
    bad_data(name, "this is no `.npy` file");
  const auto version = std::to_integer<int>(start[6]);
  if (version < 1 || version > 3)
    bad_data(name, fmt::format("version {} of the format is not known", version));
  const std::size_t width = version == 1 ? 2 : 4;
  std::array<std::byte, 4> bytes{};
  reader.read({bytes.data(), width});
  const auto size = std::bit_cast<std::uint32_t>(bytes);
  if (size > kLongestHeader) bad_data(name, "the header is too long");
  if (reader.remaining() >= 0 && size > reader.remaining())
    bad_data(name, "the file ends too early");
  std::string text(size, '\0');
  reader.read(std::as_writable_bytes(std::span(text)));
  return text;
}

void swap_bytes(const lang::Tensor& tensor) {
  const std::size_t size = lang::size_of(tensor.dtype());
  std::byte* element = tensor.data();
  for (std::int64_t i = 0; i < tensor.element_count(); ++i, element += size)
    std::reverse(element, element + size);
}

}  // namespace

NpyHeader read_npy_header(ByteReader& reader, const std::string& name) {
  const std::string text = header_text(reader, name);
  const Dictionary dictionary(text, name);
  NpyHeader result;
  const std::string_view descr = dictionary.descr();
  const bool has_order =
      !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
  const std::string_view kind = has_order ? descr.substr(1) : std::string_view();
  const auto* found = std::find_if(std::begin(kNames), std::end(kNames),
                                   [&](const auto& entry) { return entry.first == kind; });
  if (found == std::end(kNames))
    bad_data(name, fmt::format("no dtype here is what NumPy calls {}", in_backticks(descr)));
  result.header = {found->second, dictionary.shape()};
  result.is_big_endian = descr.front() == '>';
  result.is_fortran = dictionary.is_fortran();
  check_header(name, result.header);
  return result;
}

lang::TensorRef read_npy(ByteReader& reader, const std::string& name, const Progress& progress) {
  const NpyHeader npy = read_npy_header(reader, name);
  if (reader.remaining() >= 0 && byte_count(npy.header) > reader.remaining())
    bad_data(name, "the file ends too early");
  Header stored = npy.header;
  if (npy.is_fortran) std::reverse(stored.shape.begin(), stored.shape.end());
  const lang::TensorRef tensor = make_tensor(name, stored);
  read_elements(reader, *tensor, progress);
  if (npy.is_big_endian) swap_bytes(*tensor);
  if (!npy.is_fortran || stored.shape.size() < 2) return tensor;
  std::vector<std::int64_t> strides = tensor->strides();
  std::reverse(strides.begin(), strides.end());
  return lang::contiguous(lang::Tensor::view(*tensor, npy.header.shape, strides, 0));
}

void write_npy(ByteWriter& writer, const std::string& name, const lang::Tensor& tensor,
               const Progress& progress) {
  const auto* found = std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& entry) {
    return entry.second == tensor.dtype();
  });
  if (found == std::end(kNames)) {
    bad_data(name, fmt::format("NumPy has no dtype {}; a `.safetensors` file holds it",
                               lang::name_of(tensor.dtype())));
  }
  const bool is_byte = lang::size_of(tensor.dtype()) == 1;
  const auto& shape = tensor.shape();
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   is_byte ? '|' : '<', found->first, fmt::join(shape, ", "),
                                   shape.size() == 1 ? "," : "");
  constexpr std::size_t kBefore = 10;
  header.append((kAlignment - (kBefore + header.size() + 1) % kAlignment) % kAlignment, ' ');
  header += '\n';
  std::string start(kMagic);
  start += {'\x01', '\0', static_cast<char>(header.size() & 0xff),
            static_cast<char>(header.size() >> 8)};
  writer.write(start);
  writer.write(header);
  write_elements(writer, tensor, progress);
}

}  // namespace relay::formats
