#pragma once

#include <string>

#include "stdlib/ops/families.h"

// Operators of Relay that exist for one vendor's hardware or library.
namespace relay::stdlib {

// An operator that is recognised and typed, and refused with `Unsupported` when it runs. `instead`
// says what to do.
OpDef unsupported_operator(const char* name, int level, const char* doc, const char* instead,
                           const std::string& example);

// The same from a type rule, where not even a type is known.
[[noreturn]] void refuse(const TypeCall& call, const char* instead);
// An example of an operator that has a type and cannot run: a function that calls it.
std::string typed_example(const std::string& params, const std::string& call);
// The operators of Arm's Ethos-U.
void add_ethosu_operators();

}  // namespace relay::stdlib
