#pragma once

#include <string>

#include "repl/editor/frame.h"

namespace relay::repl::editor {

// Turns frames into what a terminal must be told to show them: of a frame only what differs from
// the one before. The first frame begins where the cursor stands, in the first column.
class View {
 public:
  struct Terminal {
    std::size_t rows = 24;
    std::size_t columns = 80;
    bool has_colours = true;
    bool has_cursor = true;  // can move it; else only the line with the cursor is drawn
  };
  explicit View(Terminal terminal) : terminal_(terminal) {}

  std::string draw(const Scene& scene);
  // The scene for good: all of it, however small the window, and the cursor on the line below.
  // `mark` stands at its end. The next frame is a first one.
  std::string finish(const Scene& scene, std::string_view mark = "");
  // The window has another size: the next frame begins where the last one began, as far as that can
  // be known.
  std::string resize(std::size_t rows, std::size_t columns);
  // An empty window.
  std::string clear();

 private:
  std::string draw_frame(const Frame& frame);
  std::string draw_lines(const Scene& scene);
  std::string draw_line(const Scene& scene, bool is_new);
  std::string move_to(std::size_t row, std::size_t column);
  void put_cells(std::string& bytes, const std::vector<Frame::Cell>& row, std::size_t begin) const;
  void forget();

  Terminal terminal_;
  Frame shown_;           // its cursor is the terminal's
  std::size_t top_ = 0;   // of the part of the frame that is shown
  std::size_t line_ = 0;  // without a cursor: which line of the text is drawn
  std::size_t line_columns_ = 0;
};

}  // namespace relay::repl::editor
