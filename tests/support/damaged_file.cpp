#include "tests/support/damaged_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string_view>

#include "formats/formats.h"
#include "formats/zip.h"
#include "lang/tensor.h"

namespace relay::tests {

using lang::DType;

namespace {

std::uint32_t checksum_of(std::string_view text) {
  return formats::checksum_with(0, std::as_bytes(std::span(text)));
}

std::string little(std::uint64_t value, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i, value >>= 8U) text += static_cast<char>(value & 0xffU);
  return text;
}

lang::TensorRef counting(DType dtype, std::vector<std::int64_t> shape) {
  lang::TensorRef tensor = lang::Tensor::make(dtype, std::move(shape));
  for (std::int64_t i = 0; i < tensor->element_count(); ++i)
    tensor->set_bits(i, lang::bits_from_double(dtype, static_cast<double>(i % 2)));
  return tensor;
}

std::string written(const std::string& format, const std::vector<formats::NamedTensor>& tensors) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("relay_sound_" + std::to_string(getpid()) + "." + format);
  formats::write_tensors({path.string()}, tensors, nullptr).or_throw();
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::filesystem::remove(path);
  return bytes;
}

// An archive with a member that is deflated, in blocks that hold it as it stands, without the
// 64-bit fields.
std::string deflated_archive(const std::string& name, const std::string& content) {
  const std::string packed =
      "\x01" + little(content.size(), 2) + little(~content.size(), 2) + content;
  const std::string sizes = little(checksum_of(content), 4) + little(packed.size(), 4) +
                            little(content.size(), 4) + little(name.size(), 2) + little(0, 2);
  const std::string common = little(0, 2) + little(8, 2) + little(0, 4) + sizes;
  const std::string local = "PK\x03\x04" + little(20, 2) + common + name + packed;
  const std::string central =
      "PK\x01\x02" + little(20, 4) + common + little(0, 10) + little(0, 4) + name;
  return local + central + "PK\x05\x06" + little(0, 4) + little(1, 2) + little(1, 2) +
         little(central.size(), 4) + little(local.size(), 4) + little(0, 2);
}

// --- Damage ---

std::uint64_t extreme(Random& random) {
  constexpr std::array<std::uint64_t, 12> kNumbers = {
      0,          1,          2,          0x7f,        0xffff,     0x7fffffff,
      0x80000000, 0xffffffff, 1ULL << 40, 1ULL << 62U, ~0ULL >> 1, ~0ULL};
  return kNumbers[random.below(kNumbers.size())];
}

void replace_number(std::string& text, Random& random) {
  constexpr std::array<std::string_view, 11> kTexts = {
      "0",   "-1",    "9223372036854775807", "-9223372036854775808", "99999999999999999999",
      "1e9", "1e400", "4294967296",          "2305843009213693952",  "",
      "0x10"};
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const std::size_t from = random.below(text.size());
  const auto begin =
      std::find_if(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), is_digit);
  const auto end = std::find_if_not(begin, text.end(), is_digit);
  text.replace(begin, end, kTexts[random.below(kTexts.size())]);
}

void insert_text(std::string& text, Random& random) {
  constexpr std::array<std::string_view, 14> kTexts = {
      "'", "\"", "{", "[", "(", ")", "}", ",", ":", "\n", "\\", "''", "\xff", "\"a\":{},"};
  const std::string_view piece = kTexts[random.below(kTexts.size())];
  const std::size_t times = random.one_in(8) ? 1 + random.below(3000) : 1;
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += piece;
  text.insert(random.below(text.size() + 1), all);
}

void damage(std::string& bytes, Random& random) {
  if (bytes.empty()) return;
  const std::size_t at = random.below(bytes.size());
  const std::size_t size = 1 + random.below(std::min<std::size_t>(bytes.size() - at, 64));
  switch (random.below(9)) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
      break;
    case 1:
      bytes[at] = static_cast<char>(random.below(256));
      break;
    case 2:
      bytes.resize(at);
      break;
    case 3:
      bytes.insert(random.below(bytes.size()), bytes.substr(at, size));
      break;
    case 4:
      bytes.erase(at, size);
      break;
    case 5:
      bytes.append(1 + random.below(200), static_cast<char>(random.below(256)));
      break;
    case 6: {
      const std::size_t width = std::size_t{1} << random.below(4);
      const std::string number = little(extreme(random), width);
      for (std::size_t i = 0; i < width && at + i < bytes.size(); ++i) bytes[at + i] = number[i];
      break;
    }
    case 7:
      replace_number(bytes, random);
      break;
    default:
      insert_text(bytes, random);
  }
}

// --- Mending what would stop a reader at the door ---

std::string mended_npy(std::string bytes) {
  constexpr std::size_t kStart = 10;
  const std::size_t end = bytes.find('\n');
  if (end == std::string::npos || end < kStart) return bytes;
  return bytes.replace(8, 2, little(end + 1 - kStart, 2));
}

std::string mended_safetensors(std::string bytes) {
  const std::size_t end = bytes.rfind("}}");
  if (end == std::string::npos || end < 8) return bytes;
  return bytes.replace(0, 8, little(end + 2 - 8, 8));
}

std::string mended_png(std::string bytes) {
  constexpr std::size_t kSignature = 8;
  const auto size_at = [&](std::size_t at) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4; ++i)
      size = size << 8U | static_cast<unsigned char>(bytes[at + i]);
    return size;
  };
  for (std::size_t at = kSignature; at + 12 <= bytes.size();) {
    const std::size_t size = size_at(at);
    if (size > bytes.size() - at - 12) break;
    std::string sum = little(checksum_of(std::string_view(bytes).substr(at + 4, size + 4)), 4);
    std::reverse(sum.begin(), sum.end());
    bytes.replace(at + 8 + size, 4, sum);
    at += 12 + size;
  }
  return bytes;
}

}  // namespace

std::vector<std::string> sound_files(const std::string& format) {
  const auto floats = counting(DType::Float32, {3, 4});
  const auto ints = counting(DType::Int64, {5});
  if (format == "npy") {
    std::string fortran = written("npy", {{"", floats}});
    const std::size_t order = fortran.find("False");
    fortran.replace(order, 5, "True ");
    std::string big = written("npy", {{"", ints}});
    big[big.find('<')] = '>';
    return {written("npy", {{"", floats}}),
            written("npy", {{"", counting(DType::Bool, {2, 0, 3})}}),
            written("npy", {{"", counting(DType::Float16, {})}}), fortran, big};
  }
  if (format == "npz") {
    return {written("npz", {{"a", floats}, {"b", ints}}), written("npz", {{"only", floats}}),
            deflated_archive("a.npy", written("npy", {{"", floats}}))};
  }
  if (format == "safetensors") {
    return {written("safetensors", {{"a", floats}, {"b", ints}}),
            written("safetensors", {{"a", counting(DType::BFloat16, {0, 7})}})};
  }
  if (format == "csv") {
    return {"1,2,3\n4,5,6\n", "x,y\n\"1.5\",-2e3\n+3,nan\n", "1;2\r\n\r\n3;4", "0\n"};
  }
  return {written("png", {{"", counting(DType::UInt8, {5, 7, 3})}}),
          written("png", {{"", counting(DType::UInt8, {4, 4})}})};
}

std::string damaged_file(const std::string& format, const std::vector<std::string>& sound,
                         Random& random) {
  std::string bytes = sound[random.below(sound.size())];
  // The archive's parts: a damaged member in a sound archive.
  if (format == "npz" && random.one_in(3)) {
    std::string member = written("npy", {{"", counting(DType::Int32, {2, 3})}});
    damage(member, random);
    return deflated_archive("a.npy", random.one_in(2) ? member : mended_npy(member));
  }
  for (std::size_t times = 1 + random.below(4); times > 0; --times) damage(bytes, random);
  if (random.one_in(2)) return bytes;
  return format == "npy"           ? mended_npy(bytes)
         : format == "safetensors" ? mended_safetensors(bytes)
         : format == "png"         ? mended_png(bytes)
                                   : bytes;
}

}  // namespace relay::tests
