#include "notebook/streams.h"

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using relay::notebook::Streams;

TEST_CASE("few texts come at once, many together, all of them in order", "[notebook]") {
  std::vector<std::pair<Streams::Name, std::string>> sent;
  Streams streams(
      [&](Streams::Name name, const std::string& text) { sent.emplace_back(name, text); });
  streams.write(Streams::Name::Output, "a");
  REQUIRE(sent.size() == 1);
  streams.write(Streams::Name::Output, "");
  CHECK(sent.size() == 1);
  std::string all = "a";
  for (int i = 0; i < 10'000; ++i) {
    all += "b";
    streams.write(Streams::Name::Output, "b");
  }
  CHECK(sent.size() < 5'000);
  streams.write(Streams::Name::Error, "c");  // what waited stands before it
  streams.flush();
  CHECK(sent.back() == std::pair{Streams::Name::Error, std::string("c")});
  sent.pop_back();
  std::string together;
  for (const auto& [name, text] : sent) {
    CHECK(name == Streams::Name::Output);
    together += text;
  }
  CHECK(together == all);
}
