#include "notebook/logo.h"

#include <catch2/catch.hpp>

#include "formats/png.h"

TEST_CASE("the logo in points is a picture of that size", "[notebook]") {
  for (const int size : {32, 64}) {
    const auto picture = relay::formats::rgb_of_png(relay::notebook::logo_png(size));
    CHECK(picture->shape() == std::vector<std::int64_t>{size, size, 3});
    CHECK(picture->bits_at(0) == 0x26);
    CHECK(picture->bits_at((size * 15 / 64 * size + size / 2) * 3) == 0xf4);  // on the upper edge
  }
}
