#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace relay::server {

// The frames of messages in a stream of bytes: `Content-Length: N`, other headers, an empty line,
// N bytes.
class Frames {
 public:
  void add(std::string_view bytes) { bytes_ += bytes; }

  struct Frame {
    std::string content;
    bool is_broken =
        false;  // no header that says how long it is; then `content` says what is wrong
  };
  // The next frame that is there in whole. What stands before a header that can be read is one
  // broken frame. Headers of more than 4 KiB, and contents of more than 256 MiB, are broken.
  std::optional<Frame> next();

 private:
  std::string bytes_;
};

std::string framed(std::string_view content);

}  // namespace relay::server
