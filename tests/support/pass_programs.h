#pragma once

#include <vector>

// Programs on which passes are tried: between them they have what the passes look for, and what
// they must leave alone.
namespace relay::tests {

struct PassProgramText {
  const char* name;
  const char* text;  // definitions in light notation; the last is `main`
  const char* call;
};
const std::vector<PassProgramText>& pass_programs();

}  // namespace relay::tests
