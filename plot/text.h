#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "plot/figure.h"

// A figure in characters, for a terminal or a file of text.
namespace relay::plot {

struct TextStyle {
  std::size_t columns = 80;
  std::size_t rows = 20;
  bool has_unicode = true;  // Braille, blocks and lines; else ASCII
  enum class Colours : std::uint8_t { None, Few, All };
  Colours colours = Colours::None;  // Few: the 256 that most terminals have
};

// Lines, each with its break, of at most so many columns and rows; from 20 columns and 8 rows on.
// Notes that do not fit are broken between words and may take more rows.
std::string text_of(const Figure& figure, const TextStyle& style);

}  // namespace relay::plot
