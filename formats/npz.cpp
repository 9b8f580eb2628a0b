#include "formats/npz.h"

#include <string_view>

#include <fmt/format.h>

#include "formats/header_cache.h"
#include "formats/npy.h"
#include "formats/zip.h"

namespace relay::formats {

namespace {

constexpr std::string_view kSuffix = ".npy";

struct Directory {
  std::vector<ZipMember> members;
  TensorNames names;
};

Directory read_directory(FileReader& file) {
  std::vector<ZipMember> members = read_zip_directory(file);
  std::vector<std::string> keys;
  for (const ZipMember& member : members) {
    std::string key = member.name;
    if (key.ends_with(kSuffix)) key.resize(key.size() - kSuffix.size());
    keys.push_back(std::move(key));
  }
  return {std::move(members), TensorNames(std::move(keys))};
}

std::int64_t size_of_directory(const Directory& directory) {
  std::size_t size = 0;
  for (const ZipMember& member : directory.members) size += sizeof member + member.name.size();
  return static_cast<std::int64_t>(size);
}

HeaderCache<Directory>& directories() {
  static HeaderCache<Directory> cache;
  return cache;
}

// The member that a location means.
class Member {
 public:
  Member(const Location& location, const Progress& progress) : file_(location, progress) {
    const auto directory = directories().header_of(file_, read_directory, size_of_directory);
    const std::size_t i = directory->names.chosen(location.path, location.key);
    name_ = fmt::format("{}: {}", location.path, in_backticks(directory->names.list()[i]));
    reader_ = std::make_unique<ZipMemberReader>(file_, directory->members[i]);
  }

  ByteReader& reader() { return *reader_; }
  const std::string& name() const { return name_; }

 private:
  FileReader file_;
  std::string name_;
  std::unique_ptr<ZipMemberReader> reader_;
};

// What is written, as a number alone.
class Checksum final : public ByteWriter {
 public:
  using ByteWriter::write;
  void write(std::span<const std::byte> bytes) override {
    size_ += static_cast<std::int64_t>(bytes.size());
    checksum_ = checksum_with(checksum_, bytes);
  }
  std::int64_t size() const { return size_; }
  std::uint32_t value() const { return checksum_; }

 private:
  std::int64_t size_ = 0;
  std::uint32_t checksum_ = 0;
};

}  // namespace

Header read_npz_header(const Location& location, const Progress& progress) {
  Member member(location, progress);
  return read_npy_header(member.reader(), member.name()).header;
}

lang::TensorRef read_npz(const Location& location, const Progress& progress) {
  Member member(location, progress);
  lang::TensorRef tensor = read_npy(member.reader(), member.name(), progress);
  // The checksum is compared with the last byte.
  if (member.reader().remaining() != 0)
    bad_data(member.name(), "more bytes than its shape has elements");
  return tensor;
}

void write_npz(const Location& location, const std::vector<NamedTensor>& tensors,
               const Progress& progress) {
  FileWriter file(location);
  ZipWriter archive(file);
  const auto poll = [&](std::int64_t, std::int64_t whole) {
    if (progress) progress(0, whole);
  };
  for (const NamedTensor& tensor : tensors) {
    Checksum checksum;
    write_npy(checksum, location.path, *tensor.tensor, poll);
    archive.begin(tensor.name + std::string(kSuffix), checksum.size(), checksum.value());
    write_npy(file, location.path, *tensor.tensor, progress);
  }
  archive.finish();
  file.finish();
}

}  // namespace relay::formats
