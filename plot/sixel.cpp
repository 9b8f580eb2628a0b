#include "plot/sixel.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "lang/stop.h"

namespace relay::plot {

namespace {

using Packed = std::uint32_t;  // 0xrrggbb

constexpr std::size_t kMostColours = 256;
constexpr std::int64_t kBandRows = 6;

Packed packed_at(const lang::Tensor& image, std::int64_t point) {
  const auto* byte = image.data_as<std::uint8_t>() + point * 3;
  return static_cast<Packed>(byte[0]) << 16U | static_cast<Packed>(byte[1]) << 8U | byte[2];
}

// Six steps of each channel.
Packed rounded(Packed colour) {
  Packed result = 0;
  for (const unsigned shift : {16U, 8U, 0U}) {
    constexpr Packed kStep = 51;
    const Packed channel = colour >> shift & 0xffU;
    result |= (channel + kStep / 2) / kStep * kStep << shift;
  }
  return result;
}

bool has_many_colours(const lang::Tensor& image, std::int64_t points) {
  std::map<Packed, int> seen;
  for (std::int64_t i = 0; i < points; ++i) {
    seen.emplace(packed_at(image, i), 0);
    if (seen.size() > kMostColours) return true;
  }
  return false;
}

// A character for six points below each other, once or many times.
void put_run(std::string& text, char character, std::int64_t count) {
  constexpr std::int64_t kShortest = 4;
  if (count < kShortest) {
    text.append(static_cast<std::size_t>(count), character);
  } else {
    text += fmt::format("!{}{}", count, character);
  }
}

std::string percentages(Packed colour) {
  const auto of = [](Packed channel) { return (channel * 100 + 127) / 255; };
  return fmt::format("{};{};{}", of(colour >> 16U), of(colour >> 8U & 0xffU), of(colour & 0xffU));
}

}  // namespace

std::string sixel_of(const lang::Tensor& image) {
  const std::int64_t height = image.shape()[0];
  const std::int64_t width = image.shape()[1];
  const bool is_rounded = has_many_colours(image, height * width);
  std::map<Packed, std::size_t> registers;
  std::vector<std::size_t> points;
  std::string palette;
  for (std::int64_t i = 0; i < height * width; ++i) {
    const Packed colour = is_rounded ? rounded(packed_at(image, i)) : packed_at(image, i);
    const auto [place, is_new] = registers.emplace(colour, registers.size());
    if (is_new) palette += fmt::format("#{};2;{}", place->second, percentages(colour));
    points.push_back(place->second);
  }
  std::string text = fmt::format("\x1bPq\"1;1;{};{}{}", width, height, palette);
  for (std::int64_t top = 0; top < height; top += kBandRows) {
    lang::poll();
    const std::int64_t rows = std::min(kBandRows, height - top);
    std::vector<std::vector<unsigned char>> bits(registers.size());
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t x = 0; x < width; ++x) {
        auto& line = bits[points[static_cast<std::size_t>((top + row) * width + x)]];
        line.resize(static_cast<std::size_t>(width));
        line[static_cast<std::size_t>(x)] |= static_cast<unsigned char>(1U << row);
      }
    }
    for (std::size_t colour = 0; colour < bits.size(); ++colour) {
      if (bits[colour].empty()) continue;
      text += fmt::format("#{}", colour);
      for (std::size_t x = 0; x < bits[colour].size();) {
        std::size_t end = x;
        while (end < bits[colour].size() && bits[colour][end] == bits[colour][x]) ++end;
        constexpr char kNone = '?';
        put_run(text, static_cast<char>(kNone + bits[colour][x]),
                static_cast<std::int64_t>(end - x));
        x = end;
      }
      text += '$';
    }
    text += '-';
  }
  return text + "\x1b\\\n";
}

}  // namespace relay::plot
