#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "lang/code_image.h"

namespace relay::interp {

// Native code where it can be run, and not be written. It goes with the last who holds it.
class LoadedCode {
 public:
  // The address of something that the code needs; null: there is no such thing.
  using Find = std::function<const void*(const std::string& name)>;
  // Null where something is needed that is not there, where the image is damaged, or where there is
  // no memory.
  static std::shared_ptr<const LoadedCode> load(const lang::CodeImage& image, const Find& find);

  // Of all that is loaded, in bytes.
  static std::size_t bytes_in_use() { return in_use_; }

  ~LoadedCode();
  LoadedCode(const LoadedCode&) = delete;
  LoadedCode& operator=(const LoadedCode&) = delete;

  const std::byte* address(const lang::CodeImage::Function& function) const {
    return memory_ + function.offset;
  }

 private:
  LoadedCode(std::byte* memory, std::size_t size) : memory_(memory), size_(size) {
    in_use_ += size_;
  }
  bool fill(const lang::CodeImage& image, const Find& find);

  static std::atomic<std::size_t> in_use_;
  std::byte* const memory_;
  const std::size_t size_;
};

}  // namespace relay::interp
