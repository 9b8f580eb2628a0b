#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "parser/occurrences.h"
#include "server/analysis.h"

namespace relay::server {

// Where something is defined.
struct Target {
  std::string path;  // of a file
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// Nothing for what is defined in no file: operators, the prelude, the standard library, fields.
std::optional<Target> target_of(const Analysis& analysis, const parser::Occurrence& occurrence);

// The same for all places, in all texts, that mean the same thing.
std::string key_of(const Analysis& analysis, const parser::Occurrence& occurrence);

// The last part of a name, which is what is written where the thing is defined: `f` of `m.f`. Its
// place in the occurrence.
lang::Span last_part(const parser::Occurrence& occurrence);

}  // namespace relay::server
