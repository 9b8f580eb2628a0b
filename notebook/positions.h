#pragma once

#include <cstddef>
#include <string_view>

// Places in a cell. The protocol counts code points, we count bytes.
namespace relay::notebook {

// The byte of a text at which so many code points are behind; its end, where there are fewer.
std::size_t byte_at(std::string_view text, std::size_t code_points);
// And back.
std::size_t code_point_at(std::string_view text, std::size_t byte);

// The part of a cell that is about the same as the place `cursor`, in bytes: a command, by its
// line; else the entry there and all before it up to the last command, whose names it may use.
struct Part {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool is_command = false;
};
Part part_at(std::string_view cell, std::size_t cursor);

}  // namespace relay::notebook
