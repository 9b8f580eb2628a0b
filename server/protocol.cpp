#include "server/protocol.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

namespace relay::server {

const Json& member(const Json& object, const char* name) {
  if (object.is_object()) {
    const auto found = object.find(name);
    if (found != object.end()) return *found;
  }
  throw RequestError(ErrorCode::InvalidParams, fmt::format("the parameters have no `{}`", name));
}

std::string string_member(const Json& object, const char* name) {
  const Json& value = member(object, name);
  if (!value.is_string())
    throw RequestError(ErrorCode::InvalidParams, fmt::format("`{}` is no string", name));
  return value.get<std::string>();
}

std::size_t count_member(const Json& object, const char* name) {
  constexpr double kMost = std::numeric_limits<std::uint32_t>::max();
  const Json& value = member(object, name);
  if (!value.is_number())
    throw RequestError(ErrorCode::InvalidParams, fmt::format("`{}` is no number", name));
  const auto number = value.get<double>();
  if (!(number >= 0))
    throw RequestError(ErrorCode::InvalidParams, fmt::format("`{}` is less than 0", name));
  return static_cast<std::size_t>(std::min(number, kMost));
}

}  // namespace relay::server
