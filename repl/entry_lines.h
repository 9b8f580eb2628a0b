#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace relay::repl {

// Gathers the lines of the prompt, of a file or a pipe into entries: an entry ends as soon as the
// parser finds it complete, or after `blank_lines` empty lines in a row (0: never); what
// as_command() takes is a command. An entry that ends with an `if` without `else` waits for the
// next line: it goes on with one that begins with `else`, and ends before any other. So does one
// with open brackets before a line that begins a definition in its first column.
class EntryLines {
 public:
  explicit EntryLines(int blank_lines) : blank_lines_(blank_lines) {}

  // Are there lines that nobody has to type any more, as of a text that is pasted? Then the rest of
  // an entry with a mistake is read as a part of it, until its brackets are closed.
  using HasMore = std::function<bool()>;
  // What is complete with this line: entries, without the empty lines at their ends, and commands.
  std::vector<std::string> feed(std::string_view line, const HasMore& has_more);
  // The text ended: what has been gathered, complete or not.
  std::optional<std::string> finish();
  // Forgets what has been gathered.
  void abandon();

  bool is_empty() const { return entry_.empty(); }
  // Would this line end the entry that has been gathered, and belong to the next?
  bool ends_before(std::string_view line) const;

 private:
  std::string take();

  const int blank_lines_;
  int blank_run_ = 0;  // empty lines at the end of what has been gathered
  bool waits_for_else_ = false;
  bool is_broken_ = false;  // has a mistake, and brackets are open
  std::string entry_;
};

// Of a block of lines: is nothing left to wait for at its end? `has_more`: more lines follow at
// once.
bool is_complete_block(std::string_view block, bool has_more);

}  // namespace relay::repl
