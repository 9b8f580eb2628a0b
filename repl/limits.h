#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "repl/session.h"

// The limits of a run in the notation of people: `--max-memory 2G`, `:limit time 500ms`.
namespace relay::repl {

// A number with a unit, K, M, G or T (of 1024 each; B and iB may follow), or without one; nothing
// if it is not that, or 0. "none" is SIZE_MAX.
std::optional<std::size_t> parse_bytes(std::string_view text);
// A number of seconds, or with a unit, ms, s, m or h; nothing if it is not that, or 0. "none" is 0.
std::optional<double> parse_seconds(std::string_view text);

// What there is, for `:limit`.
std::string describe_limits(const Session& session);

}  // namespace relay::repl
