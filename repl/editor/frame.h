#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "repl/editor/highlight.h"

namespace relay::repl::editor {

// As wide as one another.
inline constexpr std::string_view kPrompt = "relay> ";
inline constexpr std::string_view kStopPrompt = "break> ";  // an evaluation is stopped
inline constexpr std::string_view kMorePrompt = "  ...> ";

// What is to be seen of an entry.
struct Scene {
  std::string_view text;
  std::size_t cursor = 0;
  std::vector<Face> faces = {};  // one for each byte of the text, or none
  // Below the text.
  struct Note {
    std::string text;
    std::string detail = {};
    bool is_selected = false;
  };
  std::vector<Note> notes = {};
  std::string_view prompt = kPrompt;
};

// The same, laid out in rows of cells.
struct Frame {
  struct Cell {
    std::string text;  // empty: the second half of a wide character
    Face face = Face::Plain;
    friend bool operator==(const Cell&, const Cell&) = default;
  };
  std::vector<std::vector<Cell>> rows;
  std::size_t row = 0;  // of the cursor
  std::size_t column = 0;
};

// Lines that are wider than the window go on in the next row; a tab reaches to the next multiple of
// four columns; what a terminal would obey is shown as U+FFFD; notes are cut at the window's width.
Frame lay_out(const Scene& scene, std::size_t columns);

// The part of a frame that fits a window, with its cursor; `top` is its first row, which is
// moved no further than it must.
Frame part_of(const Frame& frame, std::size_t& top, std::size_t height);

}  // namespace relay::repl::editor
