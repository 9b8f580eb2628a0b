// Whatever a value holds, it is drawn within the size that there is, or refused with BadData.

#include <sstream>

#include <catch2/catch.hpp>

#include "formats/png.h"
#include "lang/utf8.h"
#include "plot/drawing.h"
#include "plot/raster.h"
#include "plot/svg.h"
#include "plot/text.h"
#include "tests/support/property.h"
#include "tests/support/random.h"
#include "tests/support/values.h"
#include "tests/support/xml.h"

namespace relay::tests {
namespace {

double random_number(Random& random) {
  constexpr double kOdd[] = {0.0,   -0.0, 1e308, -1e308,   5e-324, 1e-300,
                             1e300, 1,    -1,    INFINITY, NAN,    65504};
  if (random.below(3) == 0) return kOdd[random.below(std::size(kOdd))];
  return (static_cast<double>(random.below(2001)) - 1000) / (1 + random.below(300));
}

lang::Value random_tensor_of(Random& random, const std::vector<std::int64_t>& shape) {
  const auto dtype = static_cast<lang::DType>(random.below(lang::kDTypeCount));
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  std::vector<double> numbers;
  const bool is_constant = random.below(5) == 0;
  const double constant = random_number(random);
  for (std::int64_t i = 0; i < count; ++i) {
    const double number = is_constant ? constant : random_number(random);
    numbers.push_back(lang::is_float(dtype) ? number : static_cast<double>(random.below(2)));
  }
  return tensor_of(numbers, shape, dtype);
}

lang::Value random_value(Random& random, int depth = 0) {
  const auto extent = [&] { return static_cast<std::int64_t>(random.below(5) * random.below(9)); };
  switch (random.below(depth < 2 ? 6 : 4)) {
    case 0:
      return random_tensor_of(random, {extent()});
    case 1:
      return random_tensor_of(random, {extent(), extent()});
    case 2:
      return random_tensor_of(random, {extent(), extent(), 1 + std::int64_t(random.below(4))});
    case 3: {
      const std::int64_t count = extent();
      return tuple_of({random_tensor_of(random, {count}), random_tensor_of(random, {count})});
    }
    default: {
      std::vector<lang::Value> fields;
      const std::size_t count = random.below(4);
      for (std::size_t i = 0; i < count; ++i) fields.push_back(random_value(random, depth + 1));
      return tuple_of(std::move(fields));
    }
  }
}

plot::Request random_request(Random& random) {
  plot::Request request;
  if (random.below(3) > 0) request.kind = static_cast<plot::Kind>(random.below(5));
  request.has_log_x = random.below(4) == 0;
  request.has_log_y = random.below(4) == 0;
  if (random.below(3) == 0) request.bins = 1 + static_cast<std::int64_t>(random.below(200));
  if (random.below(3) == 0) request.levels = 1 + static_cast<std::int64_t>(random.below(50));
  if (random.below(4) == 0) request.title = "a <title> \xff\n";
  return request;
}

// No row is wider than wanted, looks left out.
void check_width(const std::string& text, std::size_t columns) {
  std::istringstream rows(text);
  for (std::string row; std::getline(rows, row);) {
    std::string shown;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row[i] == '\x1b') {
        i = row.find('m', i);
      } else {
        shown += row[i];
      }
    }
    CHECK(lang::code_points(shown) <= columns);
  }
}

TEST_CASE("values at random are drawn or refused") {
  for (const std::uint64_t seed : seeds(300)) {
    Random random(seed);
    const lang::Value value = random_value(random);
    const plot::Request request = random_request(random);
    INFO(replay_test(seed, "values at random are drawn or refused"));
    INFO(lang::to_string(value));
    try {
      const plot::Figure figure = plot::figure_of(value, request);
      plot::TextStyle style;
      style.columns = 20 + random.below(100);
      style.rows = 8 + random.below(30);
      style.has_unicode = random.below(2) == 0;
      style.colours = static_cast<plot::TextStyle::Colours>(random.below(3));
      check_width(plot::text_of(figure, style), std::max<std::size_t>(style.columns, 40));
      const plot::Drawing drawing = plot::draw(figure);
      CHECK(xml_trouble(plot::svg_of(drawing, formats::png_bytes)) == "");
      CHECK(plot::raster_of(drawing, 0.25)->shape() == std::vector<std::int64_t>{100, 160, 3});
    } catch (const lang::Failure& failure) {
      REQUIRE(failure.diagnostics.size() == 1);
      CHECK(failure.diagnostics[0].kind == lang::DiagnosticKind::BadData);
    }
  }
}

}  // namespace
}  // namespace relay::tests
