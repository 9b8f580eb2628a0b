#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "server/protocol.h"

namespace relay::server {

// Where a text's lines begin, for positions as the protocol has them: line and UTF-16 code unit,
// both from 0. Lines end with "\n", "\r\n" or "\r".
class Lines {
 public:
  explicit Lines(std::string_view text);

  // The byte of a position; one behind the end of its line is that end, one behind the last line
  // the end of the text, one inside of a character its beginning. Cost: that of finding
  // the line, and where it is no ASCII, of going along it.
  std::size_t offset(std::string_view text, std::size_t line, std::size_t character) const;
  std::size_t offset(std::string_view text, const Json& position) const;
  Json position(std::string_view text, std::size_t offset) const;
  // How far into a line a byte of it is.
  std::size_t character(std::string_view text, std::size_t line, std::size_t offset) const;
  Json range(std::string_view text, std::size_t begin, std::size_t end) const;
  std::size_t line_of(std::size_t offset) const;
  std::size_t begin_of(std::size_t line) const { return starts_[line]; }
  std::size_t count() const { return starts_.size(); }

 private:
  std::vector<std::size_t> starts_;
  std::vector<bool> is_plain_;  // of each line: is it ASCII, so that its bytes are its code units?
};

// How many UTF-16 code units the text has.
std::size_t utf16_length(std::string_view text);

}  // namespace relay::server
