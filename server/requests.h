#pragma once

#include <span>
#include <string_view>

#include "server/protocol.h"
#include "server/workspace.h"

namespace relay::server {

// A request about texts, and what answers it; a result, or a RequestError that is thrown.
struct Request {
  std::string_view method;
  Json (*answer)(Workspace& workspace, const Json& params);
};
std::span<const Request> requests();

// What the server says it can do (`ServerCapabilities`).
Json capabilities();

}  // namespace relay::server
