#include "models/nnvm/params.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "formats/bytes.h"

namespace relay::models::nnvm {

using formats::bad_data;
using formats::Header;
using formats::in_backticks;
using formats::NamedTensor;
using lang::DiagnosticKind;
using lang::DType;

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

namespace {

constexpr std::uint64_t kNDArrayList = 0x112;  // MXNet
// An array begins with its version, or, before there were versions, with its rank.
constexpr std::uint32_t kNDArrayV1 = 0xF993fac8;
constexpr std::uint32_t kNDArrayV2 = 0xF993fac9;  // with a storage type
constexpr std::uint32_t kNDArrayV3 = 0xF993faca;  // NumPy's shapes: rank 0 is a scalar

constexpr std::uint64_t kParamDict = 0xF7E58D4F05049CB7;  // NNVM
constexpr std::uint64_t kDLTensor = 0xDD5E40F096B4A13F;

// MXNet's type flags, in order.
constexpr DType kTypeFlags[] = {DType::Float32, DType::Float64, DType::Float16, DType::UInt8,
                                DType::Int32,   DType::Int8,    DType::Int64,   DType::Bool,
                                DType::Int16,   DType::UInt16,  DType::UInt32,  DType::UInt64,
                                DType::BFloat16};

class ParamsReader {
 public:
  ParamsReader(const formats::Location& location, const formats::Progress& progress)
      : path_(location.path), file_(location, progress), progress_(progress) {
    file_.require_regular("parameters");
  }

  std::vector<NamedTensor> read() {
    const auto magic = next<std::uint64_t>();
    if (magic != kNDArrayList && magic != kParamDict) {
      fail(
          fmt::format("begins with {:#x}: neither a list of NDArrays of MXNet ({:#x}) nor a "
                      "parameter dictionary of NNVM ({:#x})",
                      magic, kNDArrayList, kParamDict));
    }
    next<std::uint64_t>();  // reserved
    std::vector<NamedTensor> all = magic == kNDArrayList ? ndarray_list() : param_dict();
    if (file_.remaining() > 0)
      fail(fmt::format("{} bytes follow after the last array", file_.remaining()));
    std::unordered_set<std::string_view> names;
    for (const NamedTensor& one : all) {
      if (!names.insert(one.name).second)
        fail(fmt::format("two arrays are called {}", in_backticks(one.name)));
    }
    std::erase_if(all, [](const NamedTensor& one) { return !one.tensor; });
    return all;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { bad_data(path_, what); }

  template <class T>
  T next() {
    T value;
    file_.read(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

  // How many of something come, of which each has at least `least` bytes.
  std::size_t count(std::uint64_t number, std::size_t least, std::string_view what) {
    if (number > static_cast<std::uint64_t>(std::max<std::int64_t>(file_.remaining(), 0)) / least)
      fail(fmt::format("says that {} {} come, more than the {} bytes left can hold", number, what,
                       file_.remaining()));
    return static_cast<std::size_t>(number);
  }

  std::string name() {
    std::string text(count(next<std::uint64_t>(), 1, "characters of a name"), '\0');
    file_.read(std::as_writable_bytes(std::span(text)));
    return text;
  }

  std::vector<std::string> names() {
    std::vector<std::string> all(count(next<std::uint64_t>(), sizeof(std::uint64_t), "names"));
    for (std::string& one : all) one = name();
    return all;
  }

  template <class Extent>
  std::vector<std::int64_t> shape(std::uint32_t rank) {
    std::vector<Extent> extents(count(rank, sizeof(Extent), "extents"));
    file_.read(std::as_writable_bytes(std::span(extents)));
    return {extents.begin(), extents.end()};
  }

  lang::TensorRef elements(const Header& header, const std::string& which) {
    formats::check_header(path_, header);
    if (formats::byte_count(header) > file_.remaining()) {
      fail(fmt::format("{} has {} bytes, and {} are left", which, formats::byte_count(header),
                       file_.remaining()));
    }
    lang::TensorRef tensor = formats::make_tensor(path_, header);
    formats::read_elements(file_, *tensor, progress_);
    return tensor;
  }

  // --- MXNet ---

  std::vector<NamedTensor> ndarray_list() {
    std::vector<NamedTensor> all(count(next<std::uint64_t>(), sizeof(std::uint32_t), "arrays"));
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i].tensor = ndarray(fmt::format("array {}", i));
    const std::vector<std::string> all_names = names();
    if (all_names.size() != all.size())
      fail(fmt::format("has {} arrays and {} names", all.size(), all_names.size()));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string& full = all_names[i];
      all[i].name = full.starts_with("arg:") || full.starts_with("aux:") ? full.substr(4) : full;
    }
    return all;
  }

  // Null: an array without content.
  lang::TensorRef ndarray(const std::string& which) {
    const auto version = next<std::uint32_t>();
    Header header;
    if (version == kNDArrayV2 || version == kNDArrayV3) check_storage(which);
    if (version == kNDArrayV1 || version == kNDArrayV2 || version == kNDArrayV3) {
      const auto rank = next<std::uint32_t>();
      constexpr std::uint32_t kUnknown = 0xFFFFFFFF;
      if (version == kNDArrayV3 ? rank == kUnknown : rank == 0) return {};
      header.shape = shape<std::int64_t>(rank);
      // In NumPy's shapes -1 is an extent that is not known.
      if (version == kNDArrayV3 && std::ranges::count(header.shape, -1) > 0) return {};
    } else {
      if (version == 0) return {};
      header.shape = shape<std::uint32_t>(version);
    }
    next<std::uint64_t>();  // the device where it was
    const auto flag = next<std::uint32_t>();
    if (flag >= std::size(kTypeFlags)) fail(fmt::format("{} has type flag {}", which, flag));
    header.dtype = kTypeFlags[flag];
    return elements(header, which);
  }

  void check_storage(const std::string& which) {
    const auto storage = next<std::int32_t>();
    constexpr std::string_view kSparse[] = {"row_sparse", "csr"};
    if (storage == 0) return;
    if (storage < 0 || storage > 2)
      fail(fmt::format("{} has storage type {}, which there is not", which, storage));
    lang::fail(DiagnosticKind::Unsupported, fmt::format("not supported: {}: {} is sparse (`{}`)",
                                                        path_, which, kSparse[storage - 1]));
  }

  // --- NNVM ---

  std::vector<NamedTensor> param_dict() {
    const std::vector<std::string> all_names = names();
    const auto arrays = next<std::uint64_t>();
    if (arrays != all_names.size())
      fail(fmt::format("has {} arrays and {} names", arrays, all_names.size()));
    std::vector<NamedTensor> all;
    for (const std::string& one : all_names) all.push_back({one, dl_tensor(in_backticks(one))});
    return all;
  }

  lang::TensorRef dl_tensor(const std::string& which) {
    if (next<std::uint64_t>() != kDLTensor)
      fail(fmt::format("{} does not begin as a tensor", which));
    next<std::uint64_t>();  // reserved
    next<std::uint64_t>();  // the device where it was
    const auto rank = next<std::uint32_t>();
    const auto code = next<std::uint8_t>();
    const auto bits = next<std::uint8_t>();
    const auto lanes = next<std::uint16_t>();
    const std::optional<DType> dtype = lanes == 1 ? dl_dtype(code, bits) : std::nullopt;
    if (!dtype) {
      lang::fail(DiagnosticKind::Unsupported,
                 fmt::format("not supported: {}: {} has elements of type code {}, {} bits and {} "
                             "lanes",
                             path_, which, code, bits, lanes));
    }
    const Header header{*dtype, shape<std::int64_t>(rank)};
    formats::check_header(path_, header);
    const auto bytes = next<std::int64_t>();
    if (bytes != formats::byte_count(header))
      fail(fmt::format("{} says that it has {} bytes, and its shape {}", which, bytes,
                       formats::byte_count(header)));
    return elements(header, which);
  }

  // DLPack's codes.
  static std::optional<DType> dl_dtype(std::uint8_t code, std::uint8_t bits) {
    constexpr std::uint8_t kInt = 0, kUInt = 1, kFloat = 2, kBFloat = 4, kBool = 6;
    if (code == kBFloat) return bits == 16 ? std::optional(DType::BFloat16) : std::nullopt;
    if (code == kBool) return bits == 8 ? std::optional(DType::Bool) : std::nullopt;
    if (code > kFloat) return std::nullopt;
    constexpr std::string_view kNames[] = {"int", "uint", "float"};
    static_assert(kInt == 0 && kUInt == 1 && kFloat == 2);
    return lang::parse_dtype(fmt::format("{}{}", kNames[code], bits));
  }

  std::string path_;
  formats::FileReader file_;
  formats::Progress progress_;
};

}  // namespace

std::vector<NamedTensor> read_params(const formats::Location& location,
                                     const formats::Progress& progress) {
  return ParamsReader(location, progress).read();
}

}  // namespace relay::models::nnvm
