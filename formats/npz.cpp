#include "formats/npz.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <minizip/unzip.h>
#include <minizip/zip.h>

#include "formats/npy.h"

namespace relay::formats {

namespace {

constexpr std::string_view kSuffix = ".npy";

std::string key_of(std::string name) {
  if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
  return name;
}

// The member that `location` means.
class Member final : public ByteReader {
 public:
  explicit Member(const Location& location)
      : path_(location.path), archive_(unzOpen64(location.path.c_str()), unzClose) {
    if (!archive_) {
      FileReader exists(location.path);
      bad_data(path_, "this is no `.npz` file");
    }
    find(location.key);
    if (unzOpenCurrentFile(archive_.get()) != UNZ_OK)
      bad_data(path_, fmt::format("`{}` cannot be read", name_));
  }

  void read(std::span<std::byte> bytes) override {
    constexpr std::size_t kMost = std::numeric_limits<int>::max() / 2;
    while (!bytes.empty()) {
      const auto part = static_cast<unsigned>(std::min(bytes.size(), kMost));
      const int count = unzReadCurrentFile(archive_.get(), bytes.data(), part);
      if (count <= 0) bad_data(path_, fmt::format("`{}` ends too early or is damaged", name_));
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }

  std::string name() const { return fmt::format("{}: {}", path_, name_); }

 private:
  void find(const std::string& key) {
    std::vector<std::string> keys;
    for (int status = unzGoToFirstFile(archive_.get()); status == UNZ_OK;
         status = unzGoToNextFile(archive_.get())) {
      std::array<char, 512> name{};
      unzGetCurrentFileInfo64(archive_.get(), nullptr, name.data(), name.size() - 1, nullptr, 0,
                              nullptr, 0);
      keys.push_back(key_of(name.data()));
      if (!key.empty() && keys.back() == key) {
        name_ = key;
        return;
      }
    }
    if (key.empty() && keys.size() == 1 && unzGoToFirstFile(archive_.get()) == UNZ_OK) {
      name_ = keys.front();
      return;
    }
    const std::string there = fmt::format("it has `{}`", fmt::join(keys, "`, `"));
    bad_data(path_, key.empty() ? fmt::format("which tensor? {}; write `key`", there)
                                : fmt::format("there is no tensor `{}`; {}", key, there));
  }

  std::string path_;
  std::string name_;
  std::unique_ptr<void, int (*)(void*)> archive_;
};

class MemberWriter final : public ByteWriter {
 public:
  MemberWriter(zipFile archive, const std::string& path, const std::string& name)
      : archive_(archive), path_(path) {
    // 1980-01-01, the first date that a zip file knows: equal tensors make equal files.
    zip_fileinfo info{};
    info.tmz_date.tm_mday = 1;
    info.tmz_date.tm_year = 1980;
    const int status = zipOpenNewFileInZip64(archive_, (name + std::string(kSuffix)).c_str(), &info,
                                             nullptr, 0, nullptr, 0, nullptr, 0, 0, 1);
    if (status != ZIP_OK) file_error(fmt::format("cannot write `{}`", path_));
  }
  void write(std::span<const std::byte> bytes) override {
    if (zipWriteInFileInZip(archive_, bytes.data(), static_cast<unsigned>(bytes.size())) != ZIP_OK)
      file_error(fmt::format("cannot write `{}`", path_));
  }
  void finish() {
    if (zipCloseFileInZip(archive_) != ZIP_OK) file_error(fmt::format("cannot write `{}`", path_));
  }

 private:
  zipFile archive_;
  const std::string& path_;
};

}  // namespace

Header read_npz_header(const Location& location) {
  Member member(location);
  return read_npy_header(member, member.name()).header;
}

lang::TensorRef read_npz(const Location& location, const Progress& progress) {
  Member member(location);
  return read_npy(member, member.name(), progress);
}

void write_npz(const Location& location, const std::vector<NamedTensor>& tensors,
               const Progress& progress) {
  FileWriter file(location.path);
  std::unique_ptr<void, void (*)(void*)> archive(
      zipOpen64(file.temporary_path().c_str(), APPEND_STATUS_CREATE),
      [](void* open) { zipClose(open, nullptr); });
  if (!archive) file_error(fmt::format("cannot write `{}`", location.path));
  for (const NamedTensor& tensor : tensors) {
    MemberWriter member(archive.get(), location.path, tensor.name);
    write_npy(member, location.path, *tensor.tensor, progress);
    member.finish();
  }
  archive.reset();
  file.finish();
}

}  // namespace relay::formats
