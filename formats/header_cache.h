#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "formats/bytes.h"

// Headers of files that hold many tensors, so that a program which loads each of ten thousand reads
// their header once and not ten thousand times.
namespace relay::formats {

// The headers of the files that were read last: few, and of bounded size. `T`: what a header says
// once it is read. Threads may share one. The file is opened at each look-up, as it would be
// without: what may be read is no matter of what is kept.
template <class T>
class HeaderCache {
 public:
  // The header as `read` makes it of the open file, or as it did before, if the file has not been
  // written since. `size`: of what `read` has read, in bytes.
  template <class Read, class Size>
  std::shared_ptr<const T> header_of(FileReader& file, Read&& read, Size&& size) {
    const FileVersion version = file.version();
    if (auto kept = find(version)) return kept;
    const bool is_settled = version.is_settled();
    auto header = std::make_shared<const T>(read(file));
    const std::int64_t bytes = size(*header);
    const std::scoped_lock lock(mutex_);
    ++headers_read_;
    if (is_settled && bytes <= kMostBytes) keep({version, header, bytes});
    return header;
  }
  // How often `read` was called: what was kept does not count.
  std::int64_t headers_read() const {
    const std::scoped_lock lock(mutex_);
    return headers_read_;
  }

 private:
  struct Kept {
    FileVersion version;
    std::shared_ptr<const T> header;
    std::int64_t bytes = 0;
  };
  static constexpr std::int64_t kMostBytes = std::int64_t{1} << 25;

  std::shared_ptr<const T> find(const FileVersion& version) {
    const std::scoped_lock lock(mutex_);
    for (Kept& each : kept_) {
      if (each.header && each.version == version) {
        std::rotate(kept_.begin(), &each, &each + 1);
        return kept_.front().header;
      }
    }
    return nullptr;
  }
  // In front, in the place of an older version, or of those that were used longest ago.
  void keep(Kept header) {
    for (Kept& each : kept_) {
      if (each.version.is_of_same_file(header.version)) each = {};
    }
    std::int64_t bytes = header.bytes;
    kept_.back() = std::move(header);
    std::rotate(kept_.begin(), kept_.end() - 1, kept_.end());
    for (std::size_t k = 1; k < kept_.size(); ++k) {
      bytes += kept_[k].bytes;
      if (bytes > kMostBytes) kept_[k] = {};
    }
  }

  mutable std::mutex mutex_;
  std::array<Kept, 4> kept_;  // those used last come first
  std::int64_t headers_read_ = 0;
};

}  // namespace relay::formats
