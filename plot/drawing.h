#pragma once

#include <string>
#include <variant>
#include <vector>

#include "lang/tensor.h"
#include "plot/colours.h"
#include "plot/figure.h"

// A figure as marks on a sheet, in units of which a letter is about 7 wide: what SVG and images of
// points have in common. The origin is at the upper left.
namespace relay::plot {

struct Place {
  double x = 0;
  double y = 0;
};

struct Stroke {  // a line through the places; NaN ends one, and the next begins another
  std::vector<Place> places;
  Colour colour;
  double width = 1;
};
struct Dots {  // filled circles
  std::vector<Place> centres;
  Colour colour;
  double radius = 2;
};
struct Box {  // filled
  Place corner;
  double width = 0;
  double height = 0;
  Colour colour;
};
struct Label {
  enum class Anchor { Start, Middle, End };
  Place base;  // the line on which the letters stand
  std::string text;
  Anchor anchor = Anchor::Start;
};
struct Picture {  // uint8 (rows, columns, 3), each element as large as the others
  Place corner;
  double width = 0;
  double height = 0;
  lang::TensorRef pixels;
};
using Mark = std::variant<Stroke, Dots, Box, Label, Picture>;

struct Drawing {
  double width = 640;
  double height = 400;
  std::vector<Mark> marks;  // later ones cover earlier ones
};

// What many points would draw over and over at a resolution that nobody sees is left out: a drawing
// has about as many marks as it has room for, except for lines that run to and fro.
Drawing draw(const Figure& figure, double width = 640, double height = 400);

}  // namespace relay::plot
