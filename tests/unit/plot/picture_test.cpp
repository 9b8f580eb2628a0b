// Plots as SVG, as points, and as sixels.

#include <cmath>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

#include "formats/png.h"
#include "plot/drawing.h"
#include "plot/letters.h"
#include "plot/raster.h"
#include "plot/sixel.h"
#include "plot/svg.h"
#include "tests/support/values.h"
#include "tests/support/xml.h"

namespace relay::plot {
namespace {

using tests::tensor_of;
using tests::tuple_of;
using tests::vector_of;

std::string svg_of_value(const lang::Value& value, const Request& request = {}) {
  return svg_of(draw(figure_of(value, request)), formats::png_bytes);
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t i = text.find(part); i != std::string::npos; i = text.find(part, i + 1)) ++count;
  return count;
}

TEST_CASE("an SVG is a document with the lines and the ticks of the plot") {
  Request request;
  request.title = "a < b & \"c\" \x01";
  const auto value = tuple_of({vector_of({0, 1, 2}), vector_of({0, 1, 4}), vector_of({1, 2, 3})});
  const std::string svg = svg_of_value(value, request);
  CHECK(tests::xml_trouble(svg).empty());
  CHECK(svg.find("a &lt; b &amp; \"c\" \\x01") != std::string::npos);
  CHECK(count_of(svg, "stroke-width=\"1.5\"") == 2);
  CHECK(svg.find(">4.0</text>") != std::string::npos);
}

TEST_CASE("the same value gives the same SVG") {
  const auto value = vector_of({3, 1, 2});
  CHECK(svg_of_value(value) == svg_of_value(value));
}

TEST_CASE("an image is in an SVG as a PNG") {
  const std::string svg = svg_of_value(tensor_of({0, 1, 2, 3}, {2, 2}));
  CHECK(tests::xml_trouble(svg).empty());
  // What every PNG begins with.
  CHECK(svg.find("data:image/png;base64,iVBORw0KGgo") != std::string::npos);
}

TEST_CASE("a million points make a file of bounded size that looks the same") {
  std::vector<double> many(1'000'000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = std::sin(static_cast<double>(i) * 0.37);
  const auto value = vector_of(many);
  CHECK(svg_of_value(value).size() < 300'000);
  Request scatter;
  scatter.kind = Kind::Scatter;
  CHECK(svg_of_value(value, scatter).size() < 10'000'000);
}

TEST_CASE("points have the size that is asked for, and the colours of the marks") {
  Drawing drawing;
  drawing.width = 10;
  drawing.height = 6;
  drawing.marks.push_back(Box{{0, 0}, 10, 6, kWhite});
  drawing.marks.push_back(Box{{2, 1}, 3, 2, Colour{200, 0, 0}});
  const lang::TensorRef image = raster_of(drawing, 2);
  CHECK(image->shape() == std::vector<std::int64_t>{12, 20, 3});
  const auto red_at = [&](std::int64_t x, std::int64_t y) {
    return image->number_at((y * 20 + x) * 3);
  };
  const auto green_at = [&](std::int64_t x, std::int64_t y) {
    return image->number_at((y * 20 + x) * 3 + 1);
  };
  CHECK(green_at(3, 2) == 255);
  CHECK(green_at(4, 2) == 0);
  CHECK(red_at(9, 5) == 200);
  CHECK(green_at(10, 5) == 255);
  CHECK(raster_of(drawing, 1e6)->shape()[1] == 8192);
}

TEST_CASE("letters differ") {
  std::set<std::vector<bool>> seen;
  for (char letter = ' '; letter <= '~'; ++letter) {
    std::vector<bool> points;
    for (int row = 0; row < kLetterRows; ++row) {
      for (int column = 0; column < kLetterColumns; ++column)
        points.push_back(is_letter_point(letter, column, row));
    }
    INFO(letter);
    CHECK(seen.insert(points).second);
  }
}

// The points that a terminal would draw, as numbers of registers; empty if it is no sixel.
std::vector<std::vector<int>> drawn_points(const std::string& text, int width, int height) {
  std::vector<std::vector<int>> points(static_cast<std::size_t>(height),
                                       std::vector<int>(static_cast<std::size_t>(width), -1));
  std::size_t i = text.find('q') + 1;
  int colour = 0;
  int x = 0;
  int top = 0;
  const auto number = [&] {
    int value = 0;
    while (text[i] >= '0' && text[i] <= '9') value = value * 10 + (text[i++] - '0');
    return value;
  };
  if (text[i] == '"') i = text.find('#', i);
  for (int repeat = 1; i < text.size() && text[i] != '\x1b';) {
    const char c = text[i++];
    if (c == '#') {
      colour = number();
      while (text[i] == ';') {
        ++i;
        number();
      }
    } else if (c == '!') {
      repeat = number();
    } else if (c == '$') {
      x = 0;
    } else if (c == '-') {
      x = 0;
      top += 6;
    } else {
      for (; repeat > 0; --repeat, ++x) {
        for (int row = 0; row < 6; ++row) {
          if (((c - '?') >> row & 1) != 0)
            points[static_cast<std::size_t>(top + row)][static_cast<std::size_t>(x)] = colour;
        }
      }
      repeat = 1;
    }
  }
  return points;
}

TEST_CASE("sixels draw each point in its colour") {
  const std::int64_t height = 13;
  const std::int64_t width = 9;
  std::vector<double> bytes;
  for (std::int64_t i = 0; i < height * width; ++i) {
    for (int channel = 0; channel < 3; ++channel)
      bytes.push_back(static_cast<double>(i % 5 * 60 + channel));
  }
  const auto image = tensor_of(bytes, {height, width, 3}, lang::DType::UInt8);
  const std::string text = sixel_of(image.as_tensor());
  CHECK(text.starts_with("\x1bPq\"1;1;9;13#0;2;"));
  CHECK(text.ends_with("\x1b\\\n"));
  const auto points = drawn_points(text, static_cast<int>(width), static_cast<int>(height));
  for (std::int64_t i = 0; i < height * width; ++i)
    CHECK(points[static_cast<std::size_t>(i / width)][static_cast<std::size_t>(i % width)] ==
          i % 5);
}

}  // namespace
}  // namespace relay::plot
