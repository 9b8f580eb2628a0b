#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "flow/function.h"

namespace relay::flow {

// What code of functions is made of, apart from where this process has its objects: code that names
// them can be kept, and run by another process that has the same functions.
struct Identity {
  // Functions of the same key have the same code.
  std::string key;
  // Of what the code holds addresses of, in the order in which the key speaks of them: places,
  // types, constructors, constants, expressions that are interpreted, ...
  std::vector<const void*> objects;
  // ... and functions that are not among these, which have code already.
  std::vector<const Function*> callees;
};
// Of functions that are settled. Cost: linear in their steps and types.
Identity identity_of(std::span<Function* const> functions);

// How code names what is elsewhere: by the number in one of these lists, or, of a service, by its
// place among the Services (flow/native.h).
inline constexpr const char* kObjectPrefix = "relay.object.";
inline constexpr const char* kCalleePrefix = "relay.callee.";
inline constexpr const char* kServicePrefix = "relay.service.";
// The first words of cells (flow/layout.h).
inline constexpr const char* kAdtBegin = "relay.adt_begin";
inline constexpr const char* kTupleBegin = "relay.tuple_begin";

}  // namespace relay::flow
