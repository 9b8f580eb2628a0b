#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "formats/formats.h"

// Where the bytes of a format come from and go to. All fail by throwing Failure.
namespace relay::formats {

class ByteReader {
 public:
  virtual ~ByteReader() = default;
  // Exactly so many bytes. Throws BadData where the file ends before.
  virtual void read(std::span<std::byte> bytes) = 0;
};

class ByteWriter {
 public:
  virtual ~ByteWriter() = default;
  virtual void write(std::span<const std::byte> bytes) = 0;
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
};

class FileReader final : public ByteReader {
 public:
  explicit FileReader(const std::string& path);
  void read(std::span<std::byte> bytes) override;
  void skip_to(std::int64_t position);
  std::int64_t size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::int64_t size_ = 0;
};

// Writes to a file beside `path`, which takes its name at `finish` and is removed without it.
class FileWriter final : public ByteWriter {
 public:
  explicit FileWriter(const std::string& path);
  ~FileWriter() override;
  using ByteWriter::write;
  void write(std::span<const std::byte> bytes) override;
  void finish();
  // For libraries that want to write it themselves.
  const std::string& temporary_path() const { return temporary_; }

 private:
  std::string path_;
  std::string temporary_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  bool is_finished_ = false;
};

// The elements of a row-major tensor, a part at a time, so that progress shows.
void read_elements(ByteReader& reader, const lang::Tensor& tensor, const Progress& progress);
void write_elements(ByteWriter& writer, const lang::Tensor& tensor, const Progress& progress);

// How many elements a shape has. Throws BadData for a negative extent or more bytes than there can
// be.
std::int64_t checked_count(const std::string& path, const Header& header);

[[noreturn]] void bad_data(const std::string& path, const std::string& what);
// With what the system says about the last call.
[[noreturn]] void file_error(const std::string& what);

}  // namespace relay::formats
