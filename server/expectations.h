#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "server/protocol.h"

namespace relay::server {

// A comment `// expect: TEXT`, as golden files have them (tests/README.md).
struct Expectation {
  std::size_t begin;  // of the comment
  std::size_t end;
  std::string text;
};
std::vector<Expectation> expectations_in(std::string_view text);

// A lens with what stands in place of its expectation now. `outcome`: of running the text
// (server/evaluation.h).
Json with_value(Json lens, const std::string& text, const Json& outcome);

}  // namespace relay::server
