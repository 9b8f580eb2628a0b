#include "server/transport.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

namespace relay::server {

namespace {

constexpr std::size_t kMostHeader = 4096;
constexpr std::size_t kMostContent = std::size_t{256} << 20;

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

constexpr std::string_view kLength = "Content-Length";

// The number behind `Content-Length:`; nothing if no line says it.
std::optional<std::size_t> content_length(std::string_view headers) {
  std::optional<std::size_t> length;
  while (!headers.empty()) {
    const std::size_t end = std::min(headers.find("\r\n"), headers.size());
    const std::string_view line = headers.substr(0, end);
    headers.remove_prefix(std::min(end + 2, headers.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !equal_ignoring_case(line.substr(0, colon), kLength))
      continue;
    std::string_view number = line.substr(colon + 1);
    number.remove_prefix(std::min(number.find_first_not_of(" \t"), number.size()));
    std::size_t value = 0;
    const auto [rest, error] = std::from_chars(number.begin(), number.end(), value);
    if (error == std::errc() && rest == number.end()) length = value;
  }
  return length;
}

// Where headers that can be read begin behind something else, as behind a content whose own headers
// did not say how long it is; 0 where none do.
std::size_t begin_of_headers(std::string_view block) {
  for (std::size_t at = block.size(); at-- > 0;) {
    const std::string_view rest = block.substr(at);
    if (equal_ignoring_case(rest.substr(0, kLength.size()), kLength) && content_length(rest))
      return at;
  }
  return 0;
}

}  // namespace

std::optional<Frames::Frame> Frames::next() {
  const std::size_t end = bytes_.find("\r\n\r\n");
  if (end == std::string::npos) {
    if (bytes_.size() <= kMostHeader) return std::nullopt;
    bytes_.clear();
    return Frame{fmt::format("headers of more than {} bytes", kMostHeader), true};
  }
  const std::size_t begin = end + 4;
  const std::optional<std::size_t> length = content_length(std::string_view(bytes_).substr(0, end));
  if (!length || *length > kMostContent) {
    const std::size_t next = begin_of_headers(std::string_view(bytes_).substr(0, end));
    bytes_.erase(0, !length && next > 0 ? next : begin);
    return Frame{length ? fmt::format("a message of more than {} bytes", kMostContent)
                        : std::string("a message without `Content-Length`"),
                 true};
  }
  if (bytes_.size() - begin < *length) return std::nullopt;
  Frame frame{bytes_.substr(begin, *length)};
  bytes_.erase(0, begin + *length);
  return frame;
}

std::string framed(std::string_view content) {
  return fmt::format("Content-Length: {}\r\n\r\n{}", content.size(), content);
}

}  // namespace relay::server
