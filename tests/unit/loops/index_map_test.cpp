#include "loops/index_map.h"

#include <catch2/catch.hpp>

using namespace relay::loops;

TEST_CASE("index forms combine like terms", "[loops]") {
  IndexSpace space;
  const auto i = space.axis(0, 10);
  const auto j = space.axis(1, 10);
  CHECK(i + j - i == j);
  CHECK((i * 3 + j) * 2 == i * 6 + j * 2);
  CHECK((i - i).is_constant(0));
  CHECK(space.axis(2, 1).is_constant(0));
}

TEST_CASE("what a reshape divides and joins again cancels", "[loops]") {
  IndexSpace space;
  // (4, 6) seen as (8, 3): element [p, q] is number 3p + q.
  const auto p = space.axis(0, 8);
  const auto q = space.axis(1, 3);
  const auto linear = p * 3 + q;
  const auto row = space.floor_div(linear, 6);
  const auto column = space.floor_mod(linear, 6);
  REQUIRE((row && column));
  CHECK(*row * 6 + *column == linear);
  // And the other way round, where nothing is left of the division.
  const auto i = space.axis(2, 4);
  const auto j = space.axis(3, 6);
  CHECK(space.floor_div(i * 6 + j, 6) == i);
  CHECK(space.floor_mod(i * 6 + j, 6) == j);
  CHECK(space.floor_div(i * 6 + j, 2) == i * 3 + *space.floor_div(j, 2));
}

TEST_CASE("divisions of divisions and common factors", "[loops]") {
  IndexSpace space;
  const auto i = space.axis(0, 100);
  const auto once = space.floor_div(i, 5);
  REQUIRE(once);
  CHECK(space.floor_div(*once, 4) == space.floor_div(i, 20));
  CHECK(space.floor_div(i * 2 + IndexSpace::constant(1), 4) == space.floor_div(i, 2));
  CHECK(space.floor_div(i - IndexSpace::constant(200), 100) == IndexSpace::constant(-2));
}

TEST_CASE("ranges of index forms", "[loops]") {
  IndexSpace space;
  const auto i = space.axis(0, 10);
  const auto range = space.range(i * -2 + IndexSpace::constant(3));
  REQUIRE(range);
  CHECK(range->low == -15);
  CHECK(range->high == 3);
  const auto remainder = space.floor_mod(i, 4);
  REQUIRE(remainder);
  const auto of_remainder = space.range(*remainder);
  REQUIRE(of_remainder);
  CHECK(of_remainder->low == 0);
  CHECK(of_remainder->high == 3);
  // Data may be anything; then nothing is concluded.
  const auto loaded = space.opaque(7);
  CHECK_FALSE(space.range(loaded));
  CHECK_FALSE(space.floor_div(loaded * 6, 6));
}
