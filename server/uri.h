#pragma once

#include <string>
#include <string_view>

namespace relay::server {

// `file:///a%20b.relay` is `/a b.relay`; another scheme's URI is a name of its own.
std::string path_of(std::string_view uri);
std::string uri_of(std::string_view path);
// The same for all ways to write the path of a file.
std::string canonical(const std::string& path);

}  // namespace relay::server
