#include "repl/editor/frame.h"

#include <algorithm>

#include "repl/editor/replacement.h"
#include "repl/editor/width.h"

namespace relay::repl::editor {

namespace {

constexpr std::size_t kTab = 4;
constexpr std::string_view kCut = "…";

class Layout {
 public:
  explicit Layout(std::size_t columns) : columns_(std::max<std::size_t>(columns, 2)) {
    frame_.rows.emplace_back();
  }

  Frame run(const Scene& scene) {
    line_begin(scene.prompt);
    std::string_view rest = scene.text;
    while (true) {
      const std::size_t at = scene.text.size() - rest.size();
      if (at == scene.cursor) mark_cursor(rest);
      if (rest.empty()) break;
      const Face face = scene.faces.empty() ? Face::Plain : scene.faces[at];
      const Character next = character_at(rest);
      if (rest.front() == '\n') {
        frame_.rows.emplace_back();
        line_begin(kMorePrompt);
      } else if (rest.front() == '\t') {
        const std::size_t used = row().size() >= prompt_ ? row().size() - prompt_ : row().size();
        for (std::size_t i = used % kTab; i < kTab; ++i) put(" ", 1, face);
      } else {
        put(next.is_shown ? rest.substr(0, next.bytes) : kReplacement, next.columns, face);
      }
      rest.remove_prefix(next.bytes);
    }
    put_notes(scene.notes);
    return std::move(frame_);
  }

 private:
  std::vector<Frame::Cell>& row() { return frame_.rows.back(); }

  void line_begin(std::string_view prompt) {
    for (const char& c : prompt) put({&c, 1}, 1, Face::Prompt);
    prompt_ = row().size();
  }

  // Where the next character would be put, which may have no room in this row.
  void mark_cursor(std::string_view rest) {
    const bool is_at_end = rest.empty() || rest.front() == '\n';
    const int width = is_at_end || rest.front() == '\t' ? 1 : character_at(rest).columns;
    if (row().size() + static_cast<std::size_t>(std::max(width, 1)) > columns_)
      frame_.rows.emplace_back();
    frame_.row = frame_.rows.size() - 1;
    frame_.column = row().size();
  }

  void put(std::string_view text, int width, Face face) {
    if (width == 0) {
      if (!row().empty()) {
        std::size_t last = row().size() - 1;
        if (row()[last].text.empty() && last > 0) --last;
        row()[last].text += text;
      }
      return;
    }
    if (row().size() + static_cast<std::size_t>(width) > columns_) frame_.rows.emplace_back();
    row().push_back({std::string(text), face});
    if (width == 2) row().push_back({"", face});
  }

  // In one row, the last column left free.
  void put_cut(std::string_view text, Face face) {
    while (!text.empty()) {
      const Character next = character_at(text);
      const bool is_last = next.bytes == text.size();
      const std::size_t needed = static_cast<std::size_t>(next.columns) + (is_last ? 0 : 1);
      if (row().size() + needed + 1 > columns_) {
        if (row().size() < columns_) row().push_back({std::string(kCut), face});
        return;
      }
      put(next.is_shown ? text.substr(0, next.bytes) : kReplacement, next.columns, face);
      text.remove_prefix(next.bytes);
    }
  }

  void put_notes(const std::vector<Scene::Note>& notes) {
    std::size_t widest = 0;
    for (const Scene::Note& note : notes)
      if (!note.detail.empty())
        widest = std::max(widest, static_cast<std::size_t>(columns_of(note.text)));
    for (const Scene::Note& note : notes) {
      frame_.rows.emplace_back();
      const Face face = note.is_selected ? Face::Selected : Face::Plain;
      put_cut(note.is_selected ? "> " : "  ", Face::Plain);
      put_cut(note.text, note.detail.empty() && !note.is_selected ? Face::Detail : face);
      if (note.detail.empty()) continue;
      while (row().size() < widest + 4 && row().size() + 2 < columns_)
        row().push_back({" ", Face::Plain});
      put_cut(note.detail, Face::Detail);
    }
  }

  std::size_t columns_;
  std::size_t prompt_ = 0;
  Frame frame_;
};

}  // namespace

Frame lay_out(const Scene& scene, std::size_t columns) { return Layout(columns).run(scene); }

Frame part_of(const Frame& frame, std::size_t& top, std::size_t height) {
  height = std::max<std::size_t>(height, 1);
  const std::size_t most = frame.rows.size() - std::min(frame.rows.size(), height);
  top = std::min(top, most);
  if (frame.row < top) top = frame.row;
  if (frame.row >= top + height) top = frame.row - height + 1;
  const auto begin = frame.rows.begin() + static_cast<std::ptrdiff_t>(top);
  const auto count = std::min(height, frame.rows.size() - top);
  return {{begin, begin + static_cast<std::ptrdiff_t>(count)}, frame.row - top, frame.column};
}

}  // namespace relay::repl::editor
