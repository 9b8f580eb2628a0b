#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace relay::repl::editor {

// The entries typed at prompts, oldest first, in a file that sessions share. Each is written when
// it is entered, so none is lost, whatever ends the session. Where the file cannot be read or
// written (no HOME, a full disk), the entries of this session are all there is, and nothing is
// said.
//
// The file has a line for each entry, with `\012` for a line break and `\\` for a backslash. It
// is cut down to the newest entries when a session begins and finds it twice as long as it should
// be.
class History {
 public:
  static constexpr std::size_t kEntries = 2000;
  static constexpr std::size_t kBytes = std::size_t{1} << 20;
  // Longer entries are pasted and not typed; they are not kept.
  static constexpr std::size_t kLongestEntry = std::size_t{64} << 10;

  // Reads the file; an empty path stands for no file.
  explicit History(std::string path);

  // Those of the file and those added since; no one twice in a row.
  const std::vector<std::string>& entries() const { return entries_; }

  // Remembers an entry; false if it is empty, too long, or the same as the last one. A `draft` is
  // remembered in this session alone.
  bool add(const std::string& entry, bool is_draft = false);

  // Reads what other sessions have added to the file meanwhile. Costs a look at its size.
  void refresh();

  // The newest entry before `index` for which `is_wanted`, other than `text`; and the oldest one
  // behind it. Nothing if there is none.
  using Wanted = std::function<bool(const std::string&)>;
  std::optional<std::size_t> older(std::size_t index, std::string_view text,
                                   const Wanted& is_wanted) const;
  std::optional<std::size_t> newer(std::size_t index, std::string_view text,
                                   const Wanted& is_wanted) const;

 private:
  void shorten();
  void take(std::string entry);
  void read_rest();
  std::string path_;
  std::int64_t read_ = 0;   // bytes of the file
  std::uint64_t file_ = 0;  // which file that was
  std::vector<std::string> entries_;
};

// Where the history of the user is: `$HOME/.relay_history`, or empty without HOME.
std::string history_path();

}  // namespace relay::repl::editor
