#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "formats/bytes.h"

// Zip archives (APPNOTE 6.3.10, with its 64-bit sizes): members that are stored or deflated. All
// throw Failure.
namespace relay::formats {

struct ZipMember {
  std::string name;
  std::uint32_t checksum = 0;
  int method = 0;
  bool is_encrypted = false;
  std::int64_t packed_size = 0;
  std::int64_t size = 0;
  std::int64_t header_begin = 0;  // in the file
};

// The members in the order of the archive's directory; throws BadData if this is no archive.
std::vector<ZipMember> read_zip_directory(FileReader& file);

// The bytes of one member. Reading its last byte compares its checksum, and throws BadData if it is
// another.
class ZipMemberReader final : public ByteReader {
 public:
  ZipMemberReader(FileReader& file, const ZipMember& member);
  ~ZipMemberReader() override;
  void read(std::span<std::byte> bytes) override;
  std::int64_t remaining() const override { return member_.size - done_; }

 private:
  struct Inflater;
  void inflate_into(std::span<std::byte> bytes);
  [[noreturn]] void damaged(const char* how) const;

  FileReader& file_;
  ZipMember member_;
  std::int64_t done_ = 0;         // of the member's bytes
  std::int64_t packed_left_ = 0;  // of what stands in the file
  std::uint32_t checksum_ = 0;
  std::unique_ptr<Inflater> inflater_;
};

// Writes an archive of stored members, each known whole before it is written. Equal members make
// equal archives: they are of 1980-01-01.
class ZipWriter {
 public:
  explicit ZipWriter(ByteWriter& file) : file_(file) {}
  // What is then written, `size` bytes of this checksum, is the member.
  void begin(const std::string& name, std::int64_t size, std::uint32_t checksum);
  void finish();

 private:
  void put(const std::string& text);
  ByteWriter& file_;
  std::vector<ZipMember> members_;
  std::int64_t position_ = 0;
};

// Adds bytes to a checksum, which begins as 0.
std::uint32_t checksum_with(std::uint32_t checksum, std::span<const std::byte> bytes);

}  // namespace relay::formats
