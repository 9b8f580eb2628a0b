#include "formats/bytes.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include <fmt/format.h>

namespace relay::formats {

using lang::DiagnosticKind;

void bad_data(const std::string& path, const std::string& what) {
  lang::fail(DiagnosticKind::BadData, fmt::format("{}: {}", path, what));
}

void file_error(const std::string& what) {
  lang::fail(DiagnosticKind::FileError, fmt::format("{}: {}", what, std::strerror(errno)));
}

FileReader::FileReader(const std::string& path)
    : path_(path), file_(std::fopen(path.c_str(), "rb"), std::fclose) {
  if (!file_) file_error(fmt::format("cannot open `{}`", path));
  if (std::fseek(file_.get(), 0, SEEK_END) != 0 || (size_ = std::ftell(file_.get())) < 0)
    file_error(fmt::format("cannot read `{}`", path));
  std::rewind(file_.get());
}

void FileReader::read(std::span<std::byte> bytes) {
  if (std::fread(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size()) return;
  if (std::ferror(file_.get())) file_error(fmt::format("cannot read `{}`", path_));
  bad_data(path_, "the file ends too early");
}

void FileReader::skip_to(std::int64_t position) {
  if (std::fseek(file_.get(), position, SEEK_SET) != 0)
    file_error(fmt::format("cannot read `{}`", path_));
}

FileWriter::FileWriter(const std::string& path)
    : path_(path),
      temporary_(fmt::format("{}.{}.part", path, getpid())),
      file_(std::fopen(temporary_.c_str(), "wb"), std::fclose) {
  if (!file_) file_error(fmt::format("cannot write `{}`", path));
}

FileWriter::~FileWriter() {
  if (!is_finished_) std::remove(temporary_.c_str());
}

void FileWriter::write(std::span<const std::byte> bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size())
    file_error(fmt::format("cannot write `{}`", path_));
}

void FileWriter::finish() {
  std::FILE* file = file_.release();
  if (std::fclose(file) != 0 || std::rename(temporary_.c_str(), path_.c_str()) != 0)
    file_error(fmt::format("cannot write `{}`", path_));
  is_finished_ = true;
}

namespace {

constexpr std::size_t kPart = std::size_t{1} << 20;

template <class Byte, class Move>
void in_parts(std::span<Byte> bytes, const Progress& progress, Move&& move) {
  const auto whole = static_cast<std::int64_t>(bytes.size());
  for (std::size_t done = 0; done < bytes.size();) {
    const std::size_t part = std::min(kPart, bytes.size() - done);
    move(bytes.subspan(done, part));
    done += part;
    if (progress) progress(static_cast<std::int64_t>(done), whole);
  }
}

std::span<std::byte> bytes_of(const lang::Tensor& tensor) {
  const std::size_t size = lang::size_of(tensor.dtype());
  return {tensor.data(), static_cast<std::size_t>(tensor.element_count()) * size};
}

}  // namespace

void read_elements(ByteReader& reader, const lang::Tensor& tensor, const Progress& progress) {
  in_parts(bytes_of(tensor), progress, [&](std::span<std::byte> part) { reader.read(part); });
}

void write_elements(ByteWriter& writer, const lang::Tensor& tensor, const Progress& progress) {
  const std::span<const std::byte> bytes = bytes_of(tensor);
  in_parts(bytes, progress, [&](std::span<const std::byte> part) { writer.write(part); });
}

std::int64_t checked_count(const std::string& path, const Header& header) {
  std::int64_t count = 1;
  const auto limit = std::numeric_limits<std::int64_t>::max() /
                     static_cast<std::int64_t>(lang::size_of(header.dtype));
  for (const std::int64_t extent : header.shape) {
    if (extent < 0 || (extent > 0 && count > limit / extent))
      bad_data(path, "a shape that no file can hold");
    count *= extent;
  }
  return count;
}

}  // namespace relay::formats
