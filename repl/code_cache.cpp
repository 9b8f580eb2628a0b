#include "repl/code_cache.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "lang/bytes.h"

namespace relay::repl {

using lang::CodeImage;

namespace {

constexpr std::string_view kMagic = "relay code 2\n";
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kBytesLeft = std::uint64_t{48} << 20;  // when some have gone
constexpr off_t kLargestEntry = off_t{16} << 20;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

// --- An entry: who made it and of what, the image, and a checksum of all that ---

std::string entry_of(std::string_view maker, std::string_view key, const CodeImage& image) {
  lang::ByteWriter to;
  to.bytes(kMagic);
  to.text(maker);
  to.text(key);
  lang::write(image, to);
  to.word(lang::checksum(to.all(), 0));
  return to.take();
}

std::optional<CodeImage> image_in(std::string_view entry, std::string_view maker,
                                  std::string_view key) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  if (entry.size() < kMagic.size() + kWord || !entry.starts_with(kMagic)) return std::nullopt;
  const std::string_view text = entry.substr(0, entry.size() - kWord);
  try {
    if (lang::ByteReader(entry.substr(text.size())).word() != lang::checksum(text, 0))
      return std::nullopt;
    lang::ByteReader from(text.substr(kMagic.size()));
    if (from.text() != maker || from.text() != key) return std::nullopt;
    CodeImage image = lang::read_code_image(from);
    if (from.size() != 0) return std::nullopt;
    return image;
  } catch (const lang::DamagedBytes&) {
    return std::nullopt;
  }
}

// --- The folder ---

bool is_ours_alone(const struct stat& status) {
  return status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::string read_whole(int file, off_t size) {
  std::string text(static_cast<std::size_t>(size), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = read(file, text.data() + done, text.size() - done);
    if (count <= 0) return {};
    done += static_cast<std::size_t>(count);
  }
  return text;
}

bool write_whole(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(file, text.data(), text.size());
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

class CodeCache final : public interp::CodeStore {
 public:
  CodeCache(Descriptor folder, std::string maker)
      : folder_(std::move(folder)), maker_(std::move(maker)) {}

  std::optional<CodeImage> find(const std::string& key) override {
    const Descriptor file(openat(folder_.get(), name_of(key).c_str(),
                                 O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
        !is_ours_alone(status) || status.st_size > kLargestEntry)
      return std::nullopt;
    auto image = image_in(read_whole(file.get(), status.st_size), maker_, key);
    if (image) futimens(file.get(), nullptr);  // it has been used
    return image;
  }

  // Written beside and renamed: nobody sees half an entry.
  void add(const std::string& key, const CodeImage& image) override {
    if (!std::exchange(has_made_room_, true)) make_room();
    const std::string name = name_of(key);
    const std::string beside = fmt::format("{}.{}.part", name, getpid());
    {
      const Descriptor file(openat(folder_.get(), beside.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
      if (!file) return;
      if (write_whole(file.get(), entry_of(maker_, key, image)) &&
          renameat(folder_.get(), beside.c_str(), folder_.get(), name.c_str()) == 0)
        return;
    }
    unlinkat(folder_.get(), beside.c_str(), 0);
  }

 private:
  std::string name_of(const std::string& key) const {
    return fmt::format("{:016x}", lang::checksum(maker_ + key, 0));
  }

  // Once for each process: what it writes itself is little.
  void make_room() {
    struct File {
      std::string name;
      std::uint64_t size;
      timespec used;
    };
    std::vector<File> files;
    std::uint64_t size = 0;
    DIR* const listing = fdopendir(dup(folder_.get()));
    if (listing == nullptr) return;
    rewinddir(listing);
    while (const dirent* const each = readdir(listing)) {
      struct stat status {};
      if (fstatat(folder_.get(), each->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
          !S_ISREG(status.st_mode))
        continue;
      constexpr std::time_t kHour = 3600;
      if (std::string_view(each->d_name).ends_with(".part") &&
          status.st_mtim.tv_sec < std::time(nullptr) - kHour)
        unlinkat(folder_.get(), each->d_name, 0);  // somebody was ended in the middle
      files.push_back({each->d_name, static_cast<std::uint64_t>(status.st_size), status.st_mtim});
      size += files.back().size;
    }
    closedir(listing);
    if (size <= kMostBytes) return;
    std::sort(files.begin(), files.end(), [](const File& a, const File& b) {
      return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
    });
    for (const File& file : files) {
      if (size <= kBytesLeft) break;
      unlinkat(folder_.get(), file.name.c_str(), 0);
      size -= file.size;
    }
  }

  const Descriptor folder_;
  const std::string maker_;
  bool has_made_room_ = false;
};

}  // namespace

std::unique_ptr<interp::CodeStore> open_code_cache(const std::string& folder, std::string maker) {
  if (folder.empty() || folder.front() != '/' || maker.empty()) return nullptr;
  for (std::size_t at = folder.find('/', 1); at != std::string::npos; at = folder.find('/', at + 1))
    mkdir(folder.substr(0, at).c_str(), 0700);
  mkdir(folder.c_str(), 0700);
  Descriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!opened || fstat(opened.get(), &status) != 0 || !is_ours_alone(status)) return nullptr;
  return std::make_unique<CodeCache>(std::move(opened), std::move(maker));
}

std::string code_cache_folder() {
  const auto given = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  if (const std::string folder = given("RELAY_CACHE"); !folder.empty())
    return folder == "off" ? "" : folder;
  if (const std::string caches = given("XDG_CACHE_HOME"); !caches.empty()) return caches + "/relay";
  const std::string home = given("HOME");
  return home.empty() ? "" : home + "/.cache/relay";
}

namespace {

// The file that dlopen() would load, by its size, its time and its place on the disk.
std::string identity_of_library(const char* name) {
  void* const program = dlopen(nullptr, RTLD_LAZY);
  Dl_serinfo size{};
  if (program == nullptr || dlinfo(program, RTLD_DI_SERINFOSIZE, &size) != 0) return "";
  std::vector<std::byte> memory(size.dls_size);
  auto* const folders = reinterpret_cast<Dl_serinfo*>(memory.data());
  if (dlinfo(program, RTLD_DI_SERINFOSIZE, folders) != 0 ||
      dlinfo(program, RTLD_DI_SERINFO, folders) != 0)
    return "";
  for (unsigned i = 0; i < folders->dls_cnt; ++i) {
    struct stat status {};
    if (stat(fmt::format("{}/{}", folders->dls_serpath[i].dls_name, name).c_str(), &status) == 0) {
      return fmt::format("{} {} {}.{}", status.st_ino, status.st_size, status.st_mtim.tv_sec,
                         status.st_mtim.tv_nsec);
    }
  }
  return "";
}

// What code generators look at: the model of the first processor, and what it can do.
std::string identity_of_processor() {
  constexpr std::array<std::string_view, 8> kLines = {"vendor_id",       "cpu family", "model",
                                                      "stepping",        "flags",      "Features",
                                                      "CPU implementer", "CPU part"};
  std::ifstream file("/proc/cpuinfo");
  std::string identity;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    if (std::any_of(kLines.begin(), kLines.end(),
                    [&](std::string_view start) { return line.starts_with(start); }))
      identity += line + "\n";
  }
  return identity;
}

}  // namespace

std::string code_maker() {
  const std::string compiler = identity_of_library("librelay_jit.so");
  const std::string processor = identity_of_processor();
  if (compiler.empty() || processor.empty()) return "";
  const char* const other = std::getenv("RELAY_JIT_CPU");
  return fmt::format("relay {}, {}\n{}{}", RELAY_VERSION, compiler, processor,
                     other != nullptr ? other : "");
}

}  // namespace relay::repl
