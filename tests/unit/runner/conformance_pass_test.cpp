#include "tests/support/conformance_pass.h"

#include <catch2/catch.hpp>

namespace relay::tests {
namespace {

Record record_of(const std::string& body, const std::string& result) {
  Record record;
  record.pass = "MergeComposite";
  record.source =
      "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2), float32]) {\n  " + body + "\n}\n";
  record.result = result;
  return record;
}

TEST_CASE("a record of a pass may have a function without a name as its result") {
  const std::string result =
      "#[version = \"0.0.5\"]\nfn (%x: Tensor[(2), float32]) {\n  nn.relu(%x)\n}\n";
  CHECK(run_pass(record_of("nn.relu(%x)", result)).difference.empty());
  CHECK(run_pass(record_of("exp(%x)", result)).difference ==
        "handed over: exp(-)\nRelay: nn.relu(-)");
}

TEST_CASE("a record of a pass whose result cannot be run compares with nothing") {
  CHECK_FALSE(run_pass(record_of("nn.relu(%x)", "#[version = \"0.0.5\"]\nfn (")).is_comparable);
}

}  // namespace
}  // namespace relay::tests
