#include "tests/unit/built/round_trip.h"

#include <catch2/catch.hpp>

#include "lang/print.h"
#include "tests/unit/built/same_graph.h"

namespace relay::tests {

using built::Snapshot;

std::unique_ptr<Snapshot> read_back(const std::string& bytes) {
  auto snapshot = built::read(bytes);
  if (!snapshot) FAIL(lang::render(snapshot.errors().front()));
  return std::move(*snapshot);
}

std::string check_round_trip(const Snapshot& before) {
  std::string bytes = built::write(before);
  const std::unique_ptr<Snapshot> after = read_back(bytes);
  REQUIRE(after->functions.size() == before.functions.size());
  for (std::size_t i = 0; i < before.functions.size(); ++i) {
    const Snapshot::Function& expected = before.functions[i];
    const Snapshot::Function& found = after->functions[i];
    CHECK(found.name == expected.name);
    CHECK(lang::to_string(found.type) == lang::to_string(expected.type));
    const lang::PrintOptions typed{.types = true};
    CHECK(lang::print(found.code, typed) == lang::print(expected.code, typed));
    CHECK(difference(expected.code, found.code).empty());
  }
  CHECK((built::write(*after) == bytes));  // not as an expansion: it is no text
  return bytes;
}

}  // namespace relay::tests
