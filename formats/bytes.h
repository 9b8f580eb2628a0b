#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/file_access.h"
#include "formats/formats.h"
#include "formats/output_file.h"

// Where the bytes of a format come from and go to. All fail by throwing Failure.
namespace relay::formats {

// Which file it is, and as of which writing.
struct FileVersion {
  std::uint64_t device = 0, number = 0;
  std::int64_t size = -1;
  std::int64_t written = 0,
               changed = 0;  // nanoseconds; a program can set the first, not the second
  bool operator==(const FileVersion&) const = default;
  bool is_of_same_file(const FileVersion& other) const {
    return device == other.device && number == other.number;
  }
  // False for a file of which another version could be this one by its times: it has been written
  // so lately that the clock of its file system may not move before it is written again.
  bool is_settled() const;
};

class ByteReader {
 public:
  virtual ~ByteReader() = default;
  // Exactly so many bytes. Throws BadData where the file ends before.
  virtual void read(std::span<std::byte> bytes) = 0;
  // How many are left; -1 where nobody knows, as of a pipe.
  virtual std::int64_t remaining() const = 0;
};

class ByteWriter {
 public:
  virtual ~ByteWriter() = default;
  virtual void write(std::span<const std::byte> bytes) = 0;
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
};

// A file, a pipe or a device, from its beginning. `progress` is told now and then while a pipe is
// waited for, and may throw.
class FileReader final : public ByteReader {
 public:
  explicit FileReader(const Location& location, const Progress& progress = nullptr);
  // What is there, at most so many; 0 at the end.
  std::size_t read_some(std::span<std::byte> bytes);
  void read(std::span<std::byte> bytes) override;
  std::int64_t remaining() const override;
  // Only of a regular file.
  void skip_to(std::int64_t position);

  // False for a pipe or a device, which is read once and in order.
  bool is_regular() const { return is_regular_; }
  // Throws Unsupported if it is not: `what` has to be read from several places.
  void require_regular(std::string_view what) const;
  // -1 where it is not known.
  std::int64_t size() const { return size_; }
  const std::string& path() const { return path_; }
  // As it was opened.
  const FileVersion& version() const { return version_; }

 private:
  std::string path_;
  Descriptor file_;
  Progress progress_;
  bool is_regular_ = false;
  bool is_pipe_ = false;
  std::int64_t size_ = -1;
  std::int64_t position_ = 0;
  FileVersion version_;
};

// The file of a location, replaced at `finish`: OutputFile.
class FileWriter final : public ByteWriter {
 public:
  explicit FileWriter(const Location& location) : file_(location.path, location.access) {}
  using ByteWriter::write;
  void write(std::span<const std::byte> bytes) override { file_.write(bytes); }
  void finish() { file_.finish(); }

 private:
  OutputFile file_;
};

// The elements of a row-major tensor, a part at a time, so that progress shows.
void read_elements(ByteReader& reader, const lang::Tensor& tensor, const Progress& progress);
void write_elements(ByteWriter& writer, const lang::Tensor& tensor, const Progress& progress);
std::span<std::byte> bytes_of(const lang::Tensor& tensor);

// A tensor for what a header says. Throws BadData for a negative extent, more axes than the formats
// here may have, or more bytes than there can be.
void check_header(const std::string& path, const Header& header);
std::int64_t byte_count(const Header& header);  // of one that is checked
lang::TensorRef make_tensor(const std::string& path, const Header& header);

// Names for a message, not all of many.
std::string list_of(const std::vector<std::string>& names);

// The names of the tensors in a file, each found at once.
class TensorNames {
 public:
  explicit TensorNames(std::vector<std::string> names);
  // Which of them `key` means: there is only one where it is empty. Throws BadData.
  std::size_t chosen(const std::string& path, const std::string& key) const;
  const std::vector<std::string>& list() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> places_;  // kTwice: of several
};

// A message that quotes a piece of a file: what is long is cut, what cannot be shown is replaced.
std::string in_backticks(std::string_view text);

[[noreturn]] void bad_data(const std::string& path, const std::string& what);
// With what the system says about the last call.
[[noreturn]] void file_error(const std::string& what);

}  // namespace relay::formats
