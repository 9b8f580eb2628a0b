// Names of other frameworks as names here.

#include "models/names.h"

#include <chrono>

#include <catch2/catch.hpp>

namespace relay::models {
namespace {

TEST_CASE("names that are alike get numbers, each as fast as the first") {
  Names names;
  names.take("relu_3");
  const auto start = std::chrono::steady_clock::now();
  CHECK(names.unique("relu", "y") == "relu");
  CHECK(names.unique("/relu", "y") == "relu_2");
  CHECK(names.unique("relu", "y") == "relu_4");
  std::string last;
  for (int k = 0; k < 40000; ++k) last = names.unique("relu", "y");
  CHECK(last == "relu_40004");
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  CHECK(seconds.count() < 20);
}

}  // namespace
}  // namespace relay::models
