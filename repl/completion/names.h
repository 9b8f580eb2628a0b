#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "repl/completion/completions.h"

namespace relay::repl::completion {

// In the order in which they are offered where nothing else tells.
enum class Group : std::uint8_t { Attribute, Local, Own, Prelude, Operator, Word };

// A name that may be offered.
struct Name {
  std::string text;
  Group group;
  std::string detail = {};
  bool fits = false;       // what is wanted here
  bool is_global = false;  // a definition or constructor, whose type is its detail
};

// How well a name goes with what has been typed; smaller is better.
enum class Match : std::uint8_t { Prefix, LastPart, AnyCase, Scattered, None };
Match match(std::string_view typed, std::string_view name);

// The names that go with `typed` as well as any does by kind of match: those that begin with it, or
// whose part behind the last dot does; else without regard to case; else those that have its
// letters in this order from where a part of it begins. Those that fit come first, then by group,
// match and alphabet. Of several with one text the first is meant.
std::vector<Name> matching(std::vector<Name> names, std::string_view typed);

}  // namespace relay::repl::completion
