#include "lang/base64.h"

#include <array>
#include <cstdint>

namespace relay::lang {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 255;

constexpr std::array<std::uint8_t, 256> digit_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < kDigits.size(); ++i)
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<std::uint8_t>(i);
  return values;
}

}  // namespace

std::string to_base64(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8 | (j < count ? std::to_integer<std::uint32_t>(bytes[i + j]) : 0);
    for (std::size_t j = 0; j < 4; ++j)
      text += j <= count ? kDigits[group >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

std::optional<std::vector<std::byte>> from_base64(std::string_view text) {
  static constexpr std::array<std::uint8_t, 256> kValues = digit_values();
  if (text.size() % 4 != 0) return std::nullopt;
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const bool is_last = i + 4 == text.size();
    const std::size_t padding = !is_last || text[i + 3] != '=' ? 0 : text[i + 2] != '=' ? 1 : 2;
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const std::uint8_t value =
          j + padding >= 4 ? 0 : kValues[static_cast<unsigned char>(text[i + j])];
      if (value == kNoDigit) return std::nullopt;
      group = group << 6 | value;
    }
    for (std::size_t j = 0; j + padding < 3; ++j)
      bytes.push_back(static_cast<std::byte>(group >> (16 - 8 * j)));
  }
  return bytes;
}

}  // namespace relay::lang
