#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "formats/file_access.h"

// How every file is written, be it data or a program.
namespace relay::formats {

// A file that is replaced whole or not at all: what is written goes to a new file of a name of its
// own in the same folder, which takes the place of the old one at `finish`, once the disk has it,
// and is removed without it. Links are followed; the old file's mode, and where possible its owner,
// stay. A pipe or a device is written as it stands. All throw Failure (FileError, FileRefused).
class OutputFile {
 public:
  explicit OutputFile(const std::string& path, const FileAccess& access = {});
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void finish();

 private:
  [[noreturn]] void fail_to_write(int error) const;
  void open_beside(bool replaces, unsigned mode);
  void sync_pieces() const;
  void give_up() noexcept;

  std::string path_;
  FileAccess::Place place_;
  Descriptor file_;
  std::string temporary_;  // its name in the folder; empty: `file_` is the file itself
  int slot_ = -1;          // in the list of unfinished files
};

// Replaces the content of a file by a text, as OutputFile does.
void write_whole(const std::string& path, std::string_view text, const FileAccess& access = {});

// Removes what unfinished OutputFiles have made so far. For the end of the process, from any thread
// or a signal handler, at any moment: takes no lock and no memory.
void remove_unfinished_files() noexcept;

}  // namespace relay::formats
