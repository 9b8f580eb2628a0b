#include "formats/bytes.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace relay::formats {

using lang::DiagnosticKind;

void bad_data(const std::string& path, const std::string& what) {
  lang::fail(DiagnosticKind::BadData, fmt::format("{}: {}", path, what));
}

void file_error(const std::string& what) {
  lang::fail(DiagnosticKind::FileError, fmt::format("{}: {}", what, std::strerror(errno)));
}

namespace {

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

bool FileVersion::is_settled() const {
  // Linux's file systems take the time of the last tick, 10 ms at most; those whose times are
  // rounded count tenths of a second or, as FAT does, two seconds.
  constexpr std::int64_t kTick = 50'000'000, kRounded = 3'000'000'000, kFraction = 10'000'000;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return nanoseconds(now) - changed > (changed % kFraction == 0 ? kRounded : kTick);
}

FileReader::FileReader(const Location& location, const Progress& progress)
    : path_(location.path), file_(location.access.open(location.path)), progress_(progress) {
  struct stat about {};
  if (fstat(file_.get(), &about) != 0) file_error(fmt::format("cannot read `{}`", path_));
  is_regular_ = S_ISREG(about.st_mode);
  is_pipe_ = S_ISFIFO(about.st_mode);
  // Files that the system makes up, as in /proc, say that they are empty.
  if (is_regular_ && about.st_size > 0) size_ = about.st_size;
  version_ = {about.st_dev, about.st_ino, about.st_size, nanoseconds(about.st_mtim),
              nanoseconds(about.st_ctim)};
}

std::size_t FileReader::read_some(std::span<std::byte> bytes) {
  constexpr int kPatience = 50;  // milliseconds
  for (;;) {
    const ssize_t count = ::read(file_.get(), bytes.data(), bytes.size());
    // A pipe that nobody has opened for writing yet looks as if it had ended.
    const bool may_begin = count == 0 && is_pipe_ && position_ == 0;
    if (count >= 0 && !may_begin) {
      position_ += count;
      return static_cast<std::size_t>(count);
    }
    if (count < 0 && errno != EINTR && errno != EAGAIN)
      file_error(fmt::format("cannot read `{}`", path_));
    pollfd wait{file_.get(), POLLIN, 0};
    poll(&wait, 1, kPatience);
    if (may_begin && wait.revents == POLLHUP) return 0;  // and left it
    if (progress_) progress_(position_, -1);
  }
}

void FileReader::read(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t count = read_some(bytes);
    if (count == 0) bad_data(path_, "the file ends too early");
    bytes = bytes.subspan(count);
  }
}

std::int64_t FileReader::remaining() const {
  return size_ < 0 ? -1 : std::max<std::int64_t>(size_ - position_, 0);
}

void FileReader::skip_to(std::int64_t position) {
  if (lseek(file_.get(), position, SEEK_SET) != position)
    file_error(fmt::format("cannot read `{}`", path_));
  position_ = position;
}

void FileReader::require_regular(std::string_view what) const {
  if (is_regular_) return;
  lang::fail(DiagnosticKind::Unsupported,
             fmt::format("not supported: {} from the pipe or device `{}`", what, path_));
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

}  // namespace

std::span<std::byte> bytes_of(const lang::Tensor& tensor) {
  const std::size_t size = lang::size_of(tensor.dtype());
  return {tensor.data(), static_cast<std::size_t>(tensor.element_count()) * size};
}

void read_elements(ByteReader& reader, const lang::Tensor& tensor, const Progress& progress) {
  in_parts(bytes_of(tensor), progress, [&](std::span<std::byte> part) { reader.read(part); });
  if (tensor.dtype() != lang::DType::Bool) return;
  // One byte each, of which only 0 and 1 are elements here.
  for (std::byte& element : bytes_of(tensor)) element = std::byte{element != std::byte{0}};
}

void write_elements(ByteWriter& writer, const lang::Tensor& tensor, const Progress& progress) {
  const std::span<const std::byte> bytes = bytes_of(tensor);
  in_parts(bytes, progress, [&](std::span<const std::byte> part) { writer.write(part); });
}

void check_header(const std::string& path, const Header& header) {
  constexpr std::size_t kMostAxes = 64;  // NumPy's own limit
  if (header.shape.size() > kMostAxes) {
    lang::fail(DiagnosticKind::Unsupported,
               fmt::format("not supported: {}: a tensor of rank {} in a file, more than {}", path,
                           header.shape.size(), kMostAxes));
  }
  auto bytes = static_cast<std::int64_t>(lang::size_of(header.dtype));
  bool overflows = false;
  for (const std::int64_t extent : header.shape) {
    if (extent < 0) bad_data(path, "a negative extent");
    // An extent of 0 takes none of the others back: strides are products of them.
    overflows |= __builtin_mul_overflow(bytes, std::max<std::int64_t>(extent, 1), &bytes);
  }
  if (overflows) bad_data(path, "a shape that no file can hold");
}

std::int64_t byte_count(const Header& header) {
  auto bytes = static_cast<std::int64_t>(lang::size_of(header.dtype));
  for (const std::int64_t extent : header.shape) bytes *= extent;
  return bytes;
}

lang::TensorRef make_tensor(const std::string& path, const Header& header) {
  try {
    return lang::Tensor::make(header.dtype, header.shape);
  } catch (lang::Failure& failure) {
    failure.diagnostics.front().note(fmt::format("note: while `{}` is read", path));
    throw;
  }
}

std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, names.size()); ++i)
    text += (i == 0 ? "" : ", ") + in_backticks(names[i]);
  if (names.size() > kMost) text += fmt::format(" and {} more", names.size() - kMost);
  return text.empty() ? "none" : text;
}

namespace {

constexpr std::size_t kTwice = std::numeric_limits<std::size_t>::max();

}  // namespace

TensorNames::TensorNames(std::vector<std::string> names) : names_(std::move(names)) {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto [place, is_new] = places_.try_emplace(names_[i], i);
    if (!is_new) place->second = kTwice;
  }
}

std::size_t TensorNames::chosen(const std::string& path, const std::string& key) const {
  if (key.empty() && names_.size() == 1) return 0;
  const auto found = places_.find(key);
  if (!key.empty() && found != places_.end()) {
    if (found->second == kTwice)
      bad_data(path, fmt::format("two tensors are called {}", in_backticks(key)));
    return found->second;
  }
  if (names_.empty()) bad_data(path, "it holds no tensor");
  bad_data(path, key.empty() ? fmt::format("which tensor? it has {}; write `key`", list_of(names_))
                             : fmt::format("there is no tensor {}; it has {}", in_backticks(key),
                                           list_of(names_)));
}

std::string in_backticks(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::string shown;
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  if (text.size() > kMost) {
    while (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0xC0U) == 0x80U)
      shown.pop_back();
    if (!shown.empty() && static_cast<unsigned char>(shown.back()) >= 0xC0U) shown.pop_back();
    shown += "…";
  }
  return "`" + shown + "`";
}

}  // namespace relay::formats
