#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace relay::lang {

// A text given to the program: a file, an entry at the prompt, the prelude.
class Source {
 public:
  // A byte order mark at the beginning is no part of the text.
  Source(std::string name, std::string text);

  const std::string& name() const { return name_; }
  std::string_view text() const { return text_; }
  // Is it a file of the standard library?
  bool is_library() const { return name_.starts_with(kLibrary); }
  static constexpr std::string_view kLibrary = "<stdlib>/";  // what their names begin with

  struct Position {
    std::uint32_t line;    // from 1
    std::uint32_t column;  // from 1, in bytes
  };
  // Cost: logarithmic in the number of lines. `offset` may be text().size().
  Position position(std::uint32_t offset) const;
  // The same for a person: the column counts characters (code points).
  Position place(std::uint32_t offset) const;
  // The text of line `line` (from 1) without its line break.
  std::string_view line(std::uint32_t line) const;

 private:
  std::string name_;
  std::string text_;
  std::vector<std::uint32_t> line_starts_;
};

// A half-open range of bytes in a source; `source == nullptr` means "made by a pass, no place".
// Spans do not own: whoever parses keeps the Source alive (SourceStore).
struct Span {
  const Source* source = nullptr;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  explicit operator bool() const { return source != nullptr; }
  std::string_view text() const;
  friend bool operator==(const Span&, const Span&) = default;
};

// The smallest span that covers both; either may be empty.
Span join(const Span& a, const Span& b);

// Keeps every source of a session alive, so that spans stay valid.
class SourceStore {
 public:
  const Source* add(std::string name, std::string text);

 private:
  std::vector<std::unique_ptr<Source>> sources_;
};

}  // namespace relay::lang
