// Archives, as far as tensors do not show them.

#include "formats/zip.h"

#include <unistd.h>

#include <filesystem>
#include <string>

#include <catch2/catch.hpp>

#include "lang/diagnostic.h"

namespace relay::formats {
namespace {

class Buffer final : public ByteWriter {
 public:
  using ByteWriter::write;
  void write(std::span<const std::byte> bytes) override {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  std::string text;
};

std::span<const std::byte> bytes_of_text(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// An archive with one member, read back as a file.
struct Archive {
  explicit Archive(const std::string& text)
      : path(std::filesystem::temp_directory_path() / ("relay_zip_" + std::to_string(getpid()))) {
    write_whole(path, text);
  }
  ~Archive() { std::filesystem::remove(path); }
  std::string path;
};

std::string written(const std::string& name, const std::string& content, std::uint32_t checksum) {
  Buffer buffer;
  ZipWriter writer(buffer);
  writer.begin(name, static_cast<std::int64_t>(content.size()), checksum);
  buffer.write(std::string_view(content));
  writer.finish();
  return buffer.text;
}

std::string read_first(const std::string& text) {
  const Archive archive(text);
  FileReader file({archive.path});
  const auto members = read_zip_directory(file);
  ZipMemberReader reader(file, members.at(0));
  std::string content(static_cast<std::size_t>(reader.remaining()), '\0');
  reader.read(std::as_writable_bytes(std::span(content)));
  return content;
}

TEST_CASE("what is written into an archive is read back") {
  const std::string content = "twelve bytes";
  const std::uint32_t sum = checksum_with(0, bytes_of_text(content));
  CHECK(sum == checksum_with(checksum_with(0, bytes_of_text("twelve ")), bytes_of_text("bytes")));
  CHECK(read_first(written("a.npy", content, sum)) == content);
}

TEST_CASE("another checksum is damage") {
  const auto result = lang::capture([&] { return read_first(written("a", "content", 1)); });
  REQUIRE(!result.ok());
  CHECK(result.errors().front().message.find("its checksum is another") != std::string::npos);
}

TEST_CASE("sizes beyond 32 bits stand in the directory") {
  // Only the directory is there: nobody writes 5 GiB for a test.
  Buffer buffer;
  ZipWriter writer(buffer);
  constexpr std::int64_t kSize = std::int64_t{5} << 30;
  writer.begin("large.npy", kSize, 7);
  writer.begin("behind.npy", 1, 8);
  const std::string before = buffer.text;
  writer.finish();
  const std::string directory = buffer.text.substr(before.size());
  std::string path =
      std::filesystem::temp_directory_path() / ("relay_zip_large_" + std::to_string(getpid()));
  {
    // A file with a hole in it, which takes no room on the disk.
    OutputFile file(path);
    file.finish();
    REQUIRE(truncate(path.c_str(), kSize + static_cast<off_t>(before.size()) + 1) == 0);
    std::FILE* const open = std::fopen(path.c_str(), "ab");
    REQUIRE(open);
    std::fwrite(directory.data(), 1, directory.size(), open);
    std::fclose(open);
  }
  FileReader file({path});
  const auto members = read_zip_directory(file);
  std::filesystem::remove(path);
  REQUIRE(members.size() == 2);
  CHECK(members[0].size == kSize);
  CHECK(members[0].name == "large.npy");
  CHECK(members[1].header_begin > kSize);
  CHECK(members[1].checksum == 8);
}

}  // namespace
}  // namespace relay::formats
