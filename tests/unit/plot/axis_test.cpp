// Round numbers along an axis.

#include "plot/axis.h"

#include <cmath>
#include <limits>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace relay::plot {
namespace {

Range range_of(double low, double high) {
  Range range;
  range.add(low, Scale::Linear);
  range.add(high, Scale::Linear);
  return range;
}

std::string labels(const Axis& axis) {
  std::vector<std::string> texts;
  for (const Tick& tick : axis.ticks()) texts.push_back(tick.label);
  return fmt::format("{}", fmt::join(texts, " "));
}

TEST_CASE("ticks stand at 1, 2 or 5 times a power of ten") {
  CHECK(labels(Axis(range_of(0, 10), Scale::Linear, 5)) == "0 2 4 6 8 10");
  CHECK(labels(Axis(range_of(0, 1), Scale::Linear, 5)) == "0 0.2 0.4 0.6 0.8 1.0");
  CHECK(labels(Axis(range_of(-3.7, 8.2), Scale::Linear, 4)) == "-5 0 5 10");
  CHECK(labels(Axis(range_of(0, 123456), Scale::Linear, 3)) == "0 50000 100000 150000");
  CHECK(labels(Axis(range_of(0, 3e-7), Scale::Linear, 3)) == "0 1e-07 2e-07 3e-07");
}

TEST_CASE("an axis that is exact has ticks within its range") {
  CHECK(labels(Axis(range_of(0.5, 9.5), Scale::Linear, 5, Axis::Ends::Exact)) == "2 4 6 8");
  CHECK(labels(Axis(range_of(-0.5, 2.5), Scale::Linear, 9, Axis::Ends::Whole)) == "0 1 2");
}

TEST_CASE("a range of one number, or none, or of all doubles has an axis") {
  constexpr double kMost = std::numeric_limits<double>::max();
  constexpr double kLeast = std::numeric_limits<double>::denorm_min();
  for (const Range& range :
       {Range(), range_of(0, 0), range_of(42, 42), range_of(-kMost, kMost), range_of(0, kLeast),
        range_of(kMost, kMost), range_of(-1, -1), range_of(1e9, 1e9 + 1e-7)}) {
    for (const auto ends : {Axis::Ends::Round, Axis::Ends::Exact}) {
      for (const int most : {1, 2, 5, 50}) {
        const Axis axis(range, Scale::Linear, most, ends);
        INFO(range.low << " to " << range.high << ": " << labels(axis));
        CHECK(!axis.ticks().empty());
        CHECK(axis.ticks().size() <= static_cast<std::size_t>(3 * std::max(most, 2) + 2));
        const double low = axis.position(range.low);
        const double high = axis.position(range.high);
        CHECK((low >= 0 && low <= high && high <= 1));
      }
    }
  }
}

TEST_CASE("neighbouring ticks have different labels") {
  for (double low = 1e-12; low < 1e15; low *= 37) {
    for (const double share : {1e-9, 1e-3, 0.5, 3.0, 1e4}) {
      const Axis axis(range_of(low, low + low * share), Scale::Linear, 6);
      for (std::size_t i = 1; i < axis.ticks().size(); ++i) {
        INFO(labels(axis));
        CHECK(axis.ticks()[i - 1].label != axis.ticks()[i].label);
      }
    }
  }
}

TEST_CASE("a logarithmic axis has powers of ten, and no place for what is not above 0") {
  Range range;
  for (const double number : {-1.0, 0.0, 3.0, 4000.0}) range.add(number, Scale::Log);
  const Axis axis(range, Scale::Log, 5);
  CHECK(labels(axis) == "1 10 100 1000 10000");
  CHECK(axis.position(100) == Approx(0.5));
  CHECK(std::isnan(axis.position(0)));
  CHECK(std::isnan(axis.position(-1)));
  range.add(1e300, Scale::Log);
  CHECK(labels(Axis(range, Scale::Log, 3)) == "1 1e100 1e200 1e300");
}

}  // namespace
}  // namespace relay::plot
