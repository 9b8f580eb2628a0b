#include "repl/editor/history.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>

#include "repl/files.h"

namespace relay::repl::editor {

namespace {

std::string encoded(std::string_view entry) {
  std::string line;
  for (const char c : entry) {
    if (c == '\n') {
      line += "\\012";
    } else if (c == '\\') {
      line += "\\\\";
    } else {
      line += c;
    }
  }
  return line;
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }

// Knows any octal escape, such as the `\040` of libedit's own files, which earlier versions wrote.
std::string decoded(std::string_view line) {
  std::string entry;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::string_view rest = line.substr(i);
    if (rest.size() > 3 && rest[0] == '\\' && is_octal(rest[1]) && is_octal(rest[2]) &&
        is_octal(rest[3])) {
      entry += static_cast<char>((rest[1] - '0') * 64 + (rest[2] - '0') * 8 + (rest[3] - '0'));
      i += 3;
    } else if (rest.starts_with("\\\\")) {
      entry += '\\';
      ++i;
    } else {
      entry += line[i];
    }
  }
  return entry;
}

// An open file that nobody else writes meanwhile. Another session may put a new file in the place
// of the one that is waited for: then the new one is taken.
class LockedFile {
 public:
  LockedFile(const std::string& path, int flags) {
    constexpr int kTries = 5;
    for (int i = 0; i < kTries && !is_current(path); ++i) {
      if (descriptor_ >= 0) close(descriptor_);
      descriptor_ = open(path.c_str(), flags | O_CLOEXEC, S_IRUSR | S_IWUSR);
      if (descriptor_ < 0) return;
      // Some file systems know no locks; then O_APPEND alone keeps the lines apart.
      while (flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) continue;
    }
  }
  ~LockedFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

  explicit operator bool() const { return descriptor_ >= 0; }

  // The last line may have been cut off, by a full disk.
  void append_line(const std::string& line) const {
    char last = '\n';
    const off_t size = lseek(descriptor_, 0, SEEK_END);
    if (size > 0 && pread(descriptor_, &last, 1, size - 1) != 1) return;
    write_to(descriptor_, (last == '\n' ? "" : "\n") + line + '\n');
  }

  static bool write_to(int descriptor, std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = write(descriptor, text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

 private:
  bool is_current(const std::string& path) const {
    struct stat mine {};
    struct stat there {};
    return descriptor_ >= 0 && fstat(descriptor_, &mine) == 0 && stat(path.c_str(), &there) == 0 &&
           mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
  }

  int descriptor_ = -1;
};

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path, std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    const bool is_header = lines.empty() && line == "_HiStOrY_V2_";  // of libedit
    if (!line.empty() && !is_header) lines.push_back(std::move(line));
  }
  return lines;
}

// How many of the lines, from the first on, are more than is kept.
std::size_t surplus(const std::vector<std::string>& lines, std::size_t entries, std::size_t bytes) {
  std::size_t size = 0;
  for (std::size_t i = lines.size(); i > 0; --i) {
    size += lines[i - 1].size() + 1;
    if (size > bytes || lines.size() - i >= entries) return i;
  }
  return 0;
}

}  // namespace

std::string history_path() {
  const char* const home = std::getenv("HOME");
  return home && *home != '\0' ? std::string(home) + "/.relay_history" : std::string();
}

History::History(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  std::vector<std::string> lines = lines_of(path_);
  if (surplus(lines, 2 * kEntries, 2 * kBytes) > 0) shorten();
  for (std::size_t i = surplus(lines, kEntries, kBytes); i < lines.size(); ++i)
    take(decoded(lines[i]));
  struct stat there {};
  if (stat(path_.c_str(), &there) != 0) return;
  read_ = there.st_size;
  file_ = there.st_ino;
}

void History::take(std::string entry) {
  if (entries_.empty() || entries_.back() != entry) entries_.push_back(std::move(entry));
}

// Of a file that has been shortened, or is another one, nothing is known to be new.
void History::read_rest() {
  struct stat there {};
  if (path_.empty() || stat(path_.c_str(), &there) != 0) return;
  const bool is_same = there.st_ino == file_ && there.st_size >= read_;
  std::ifstream file(path_, std::ios::binary);
  if (is_same && there.st_size > read_ && file.seekg(read_)) {
    for (std::string line; std::getline(file, line);)
      if (!line.empty()) take(decoded(line));
  }
  read_ = there.st_size;
  file_ = there.st_ino;
}

void History::refresh() { read_rest(); }

std::optional<std::size_t> History::older(std::size_t index, std::string_view text,
                                          const Wanted& is_wanted) const {
  for (std::size_t i = std::min(index, entries_.size()); i > 0; --i)
    if (entries_[i - 1] != text && is_wanted(entries_[i - 1])) return i - 1;
  return std::nullopt;
}

std::optional<std::size_t> History::newer(std::size_t index, std::string_view text,
                                          const Wanted& is_wanted) const {
  for (std::size_t i = index + 1; i < entries_.size(); ++i)
    if (entries_[i] != text && is_wanted(entries_[i])) return i;
  return std::nullopt;
}

// The new file takes the place of the old one whole, so that a crash loses nothing.
void History::shorten() {
  const LockedFile lock(path_, O_RDWR);
  if (!lock) return;
  const std::vector<std::string> lines = lines_of(path_);
  std::string text;
  for (std::size_t i = surplus(lines, kEntries, kBytes); i < lines.size(); ++i)
    text += lines[i] + '\n';
  static_cast<void>(write_file(path_, text).ok());
}

bool History::add(const std::string& entry, bool is_draft) {
  if (entry.empty() || entry.size() > kLongestEntry) return false;
  if (!path_.empty() && !is_draft) {
    const LockedFile file(path_, O_RDWR | O_APPEND | O_CREAT);
    read_rest();
    if (!entries_.empty() && entries_.back() == entry) return false;
    if (file) file.append_line(encoded(entry));
    struct stat there {};
    if (file && stat(path_.c_str(), &there) == 0) {
      read_ = there.st_size;
      file_ = there.st_ino;
    }
  }
  if (!entries_.empty() && entries_.back() == entry) return false;
  entries_.push_back(entry);
  return true;
}

}  // namespace relay::repl::editor
