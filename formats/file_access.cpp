#include "formats/file_access.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "lang/diagnostic.h"
#include "lang/op.h"

namespace relay::formats {

namespace fs = std::filesystem;
using lang::DiagnosticKind;

namespace {

[[noreturn]] void cannot_open(const char* verb, const std::string& path, const char* why) {
  lang::fail(DiagnosticKind::FileError, fmt::format("cannot {} `{}`: {}", verb, path, why));
}

// `iris.csv` where `iris.cvs` is not there, or `iris`.
std::optional<std::string> file_meant(const std::string& path) {
  constexpr std::size_t kMostNames = 10000;  // of a folder that is looked through
  const fs::path wanted(path);
  const std::string name = wanted.filename().string();
  std::vector<std::string> names;
  std::vector<std::string> longer;
  std::error_code error;
  fs::directory_iterator at(wanted.has_parent_path() ? wanted.parent_path() : ".", error);
  for (; !error && at != fs::directory_iterator() && names.size() < kMostNames;
       at.increment(error)) {
    names.push_back(at->path().filename().string());
    if (!name.empty() && names.back().starts_with(name)) longer.push_back(names.back());
  }
  std::sort(names.begin(), names.end());
  auto close = lang::closest_names(name, names);
  if (close.empty() && longer.size() == 1) close = longer;
  if (close.empty()) return std::nullopt;
  return (wanted.parent_path() / close.front()).string();
}

[[noreturn]] void cannot_find(const char* verb, const std::string& path) {
  lang::Diagnostic diagnostic(DiagnosticKind::FileError,
                              fmt::format("cannot {} `{}`: {}", verb, path, std::strerror(ENOENT)));
  if (const auto meant = file_meant(path))
    diagnostic.note(fmt::format("help: did you mean `{}`?", *meant));
  throw lang::Failure(std::move(diagnostic));
}

bool is_same_file(const Descriptor& file, const Descriptor& other) {
  struct stat a {};
  struct stat b {};
  return fstat(file.get(), &a) == 0 && fstat(other.get(), &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

// What the system says an open file is called, or, where there is no /proc, the name without links
// if that is still the same file.
std::optional<std::string> real_path_of(const Descriptor& file, const std::string& path) {
  std::array<char, PATH_MAX + 1> text{};
  const std::string link = fmt::format("/proc/self/fd/{}", file.get());
  const ssize_t size = readlink(link.c_str(), text.data(), text.size() - 1);
  if (size > 0 && text[0] == '/') return std::string(text.data(), static_cast<std::size_t>(size));
  std::error_code error;
  const std::string real = fs::canonical(path, error).string();
  const Descriptor named(error ? -1 : ::open(real.c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW));
  if (!named || !is_same_file(file, named)) return std::nullopt;
  return real;
}

bool is_in(const std::string& path, const std::string& folder) {
  if (folder == "/") return true;
  return path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

// Opening a pipe or a device has no effects but for reading and writing it.
constexpr int kReading = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
constexpr int kNaming = O_PATH | O_CLOEXEC;

bool has_nul(const std::string& path) { return path.find('\0') != std::string::npos; }

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

FileAccess FileAccess::none() {
  FileAccess access;
  access.is_limited_ = true;
  return access;
}

FileAccess FileAccess::beneath(const std::vector<std::string>& folders, std::string why) {
  FileAccess access;
  access.is_limited_ = true;
  access.why_ = std::move(why);
  for (const std::string& folder : folders) {
    std::error_code error;
    const fs::path real = fs::canonical(folder.empty() ? "." : folder, error);
    if (!error) access.folders_.push_back(real.string());
  }
  return access;
}

FileAccess FileAccess::within(const FileAccess& other) const {
  if (!is_limited_) return other;
  if (!other.is_limited_) return *this;
  FileAccess both;
  both.is_limited_ = true;
  both.why_ = other.why_.empty() || why_.empty() ? "" : why_ + " and of " + other.why_;
  for (const std::string& a : folders_) {
    for (const std::string& b : other.folders_) {
      if (is_in(a, b)) {
        both.folders_.push_back(a);
      } else if (is_in(b, a)) {
        both.folders_.push_back(b);
      }
    }
  }
  return both;
}

FileAccess FileAccess::with(const FileAccess& also) const {
  FileAccess both = *this;
  both.is_limited_ = is_limited_ && also.is_limited_;
  both.folders_.insert(both.folders_.end(), also.folders_.begin(), also.folders_.end());
  return both;
}

bool FileAccess::allows(const std::string& real_path) const {
  return std::any_of(folders_.begin(), folders_.end(),
                     [&](const std::string& folder) { return is_in(real_path, folder); });
}

void FileAccess::refuse(const std::string& path, const char* verb) const {
  if (why_.empty()) {
    lang::fail(DiagnosticKind::FileRefused,
               fmt::format("may not {} `{}`: `--no-files` is given", verb, path));
  }
  lang::fail(DiagnosticKind::FileRefused,
             fmt::format("may not {} `{}`: it is outside of {}", verb, path, why_));
}

void FileAccess::refuse_missing(const std::string& path, const char* verb) const {
  const int saved = errno;
  std::error_code error;
  const fs::path real = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error || !allows(real.string())) refuse(path, verb);
  errno = saved;
}

Descriptor FileAccess::open(const std::string& path) const {
  constexpr const char* kVerb = "open";
  if (is_limited_ && folders_.empty()) refuse(path, kVerb);
  if (has_nul(path)) cannot_open(kVerb, path, std::strerror(EINVAL));
  Descriptor file;
  if (!is_limited_) {
    file = Descriptor(::open(path.c_str(), kReading));
    if (!file && errno == ENOENT) cannot_find(kVerb, path);
    if (!file) cannot_open(kVerb, path, std::strerror(errno));
  } else {
    const Descriptor named(::open(path.c_str(), kNaming));
    if (!named) {
      refuse_missing(path, kVerb);
      cannot_open(kVerb, path, std::strerror(errno));
    }
    const auto real = real_path_of(named, path);
    if (!real || !allows(*real)) refuse(path, kVerb);
    file = Descriptor(::open(fmt::format("/proc/self/fd/{}", named.get()).c_str(), kReading));
    if (!file && errno == ENOENT) {  // no /proc
      file = Descriptor(::open(real->c_str(), kReading | O_NOFOLLOW));
      if (file && !is_same_file(file, named)) refuse(path, kVerb);
    }
    if (!file) cannot_open(kVerb, path, std::strerror(errno));
  }
  struct stat about {};
  if (fstat(file.get(), &about) != 0) cannot_open(kVerb, path, std::strerror(errno));
  if (S_ISDIR(about.st_mode)) cannot_open(kVerb, path, "it is a directory");
  return file;
}

FileAccess::Place FileAccess::place(const std::string& path) const {
  constexpr const char* kVerb = "write";
  constexpr int kMostLinks = 40;  // as the system has it
  if (is_limited_ && folders_.empty()) refuse(path, kVerb);
  if (has_nul(path)) cannot_open(kVerb, path, std::strerror(EINVAL));
  Place place;
  std::string rest = path;
  std::string at = ".";  // the folder that `rest` begins in
  for (int links = 0; links < kMostLinks; ++links) {
    const std::size_t slash = rest.rfind('/');
    const std::string folder = slash == std::string::npos ? "."
                               : slash == 0               ? "/"
                                                          : rest.substr(0, slash);
    place.name = rest.substr(slash == std::string::npos ? 0 : slash + 1);
    const int from = place.folder ? place.folder.get() : AT_FDCWD;
    Descriptor opened(openat(from, folder.c_str(), kNaming | O_DIRECTORY));
    if (!opened) {
      if (is_limited_) refuse_missing(path, kVerb);
      cannot_open(kVerb, path, std::strerror(errno));
    }
    place.folder = std::move(opened);
    if (is_limited_) {
      const std::string known = folder.starts_with('/') ? folder : fmt::format("{}/{}", at, folder);
      const auto real = real_path_of(place.folder, known);
      if (!real || !allows(*real)) refuse(path, kVerb);
      at = *real;
    }
    if (place.name.empty() || place.name == "." || place.name == "..")
      cannot_open(kVerb, path, "it is a directory");
    std::array<char, PATH_MAX + 1> target{};
    const ssize_t size =
        readlinkat(place.folder.get(), place.name.c_str(), target.data(), PATH_MAX);
    if (size < 0) return place;  // no link, or nothing yet
    rest.assign(target.data(), static_cast<std::size_t>(size));
  }
  cannot_open(kVerb, path, std::strerror(ELOOP));
}

}  // namespace relay::formats
