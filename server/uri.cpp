#include "server/uri.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace relay::server {

namespace {

constexpr std::string_view kFile = "file://";

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string path_of(std::string_view uri) {
  if (!uri.starts_with(kFile)) return std::string(uri);
  uri.remove_prefix(kFile.size());
  if (!uri.starts_with('/')) uri.remove_prefix(std::min(uri.find('/'), uri.size()));  // a host
  std::string path;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    const bool is_escape =
        uri[i] == '%' && i + 2 < uri.size() && digit(uri[i + 1]) >= 0 && digit(uri[i + 2]) >= 0;
    if (!is_escape) {
      path += uri[i];
      continue;
    }
    path += static_cast<char>(digit(uri[i + 1]) * 16 + digit(uri[i + 2]));
    i += 2;
  }
  return path;
}

std::string uri_of(std::string_view path) {
  if (!path.starts_with('/')) return std::string(path);
  std::string uri(kFile);
  for (const char c : path) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '/' || c == '-' || c == '_' || c == '.' ||
                          c == '~';
    if (is_plain) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return uri;
}

std::string canonical(const std::string& path) {
  std::error_code error;
  const std::filesystem::path found = std::filesystem::weakly_canonical(path, error);
  return error ? path : found.string();
}

}  // namespace relay::server
