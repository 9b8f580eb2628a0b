// Plots in characters.

#include "plot/text.h"

#include <catch2/catch.hpp>

#include "tests/support/values.h"

namespace relay::plot {
namespace {

using tests::tensor_of;
using tests::tuple_of;
using tests::vector_of;

constexpr TextStyle kSmall{.columns = 30, .rows = 9};

TEST_CASE("a line in Braille") {
  CHECK("\n" + text_of(figure_of(vector_of({0, 1, 4, 9}), {}), kSmall) == R"(
   ┌─────────────────────────┐
10 ┤                  ⡠      │
   │               ⢀⠤⠊       │
   │             ⢀⡠⠊         │
 5 ┤           ⣀⠴⠁           │
   │       ⢀⡠⠖⠉              │
 0 ┤⣀⣀⠤⠤⠔⠒⠊⠁                 │
   └┬───────────┬───────────┬┘
    0           2           4
)");
}

TEST_CASE("ASCII, a title, and marks where there are several lines") {
  Request request;
  request.title = "two lines";
  TextStyle style = kSmall;
  style.has_unicode = false;
  const auto value = tuple_of({vector_of({0, 1, 2}), vector_of({0, 1, 2}), vector_of({2, 1, 0})});
  CHECK("\n" + text_of(figure_of(value, request), style) == R"(
         two lines
  +---------------------+
2 ++++               ***|  * 1
  |   +++++     ******  |  + 2
1 +        +++++*       |
  |   ******    +++++   |
0 +****              +++|
  ++---------+---------++
   0         1         2
)");
}

TEST_CASE("colours tell lines apart, and sequences are closed in each line") {
  TextStyle style = kSmall;
  style.colours = TextStyle::Colours::Few;
  const auto value = tuple_of({vector_of({0, 1}), vector_of({0, 1}), vector_of({1, 0})});
  const std::string text = text_of(figure_of(value, {}), style);
  CHECK(text.find("\x1b[34m") != std::string::npos);
  CHECK(text.find("\x1b[31m") != std::string::npos);
  int open = 0;
  for (std::size_t i = text.find("\x1b["); i != std::string::npos; i = text.find("\x1b[", i + 1))
    open += text.substr(i, 4) == "\x1b[0m" ? -1 : 1;
  CHECK(open == 0);
}

TEST_CASE("a histogram") {
  Request request;
  request.kind = Kind::Histogram;
  CHECK("\n" + text_of(figure_of(vector_of({1, 2, 2, 3}, lang::DType::Int32), request), kSmall) ==
        R"(
  ┌──────────────────────────┐
2 ┤         ████████         │
  │         ████████         │
  │         ████████         │
1 ┤██████████████████████████│
  │██████████████████████████│
0 ┤██████████████████████████│
  └────┬────────┬───────┬────┘
       1        2       3
)");
}

TEST_CASE("an image in shades, with squares for its elements") {
  CHECK("\n" + text_of(figure_of(tensor_of({0, 1, 2, 3}, {2, 2}), {}), kSmall) == R"(
  ┌──────────┐
  │     ░░░░░│
0 ┤     ░░░░░│
  │     ░░░░░│
1 ┤▓▓▓▓▓█████│
  │▓▓▓▓▓█████│
  └──┬────┬──┘
     0    1
black is 0, white is 3
)");
}

TEST_CASE("contours") {
  std::vector<double> cone;
  for (int i = 0; i < 9; ++i) {
    for (int j = 0; j < 9; ++j) cone.push_back((i - 4) * (i - 4) + (j - 4) * (j - 4));
  }
  Request request;
  request.kind = Kind::Contour;
  request.levels = 2;
  CHECK("\n" + text_of(figure_of(tensor_of(cone, {9, 9}), request), kSmall) == R"(
  ┌────────────────────┐
  │ ⢀⡤⠔⠊⠁        ⠈⠑⠲⢤⡀ │  ━ 20
  │⠔⠁                ⠈⠢│
5 ┤                    │
  │                    │
  │⠢⡀                ⢀⠔│
0 ┤ ⠈⠓⠢⢄⡀        ⢀⡠⠴⠚⠁ │
  └┬───────────┬───────┘
   0           5
)");
}

}  // namespace
}  // namespace relay::plot
