#include "interp/loaded_code.h"

#include <sys/mman.h>

#include <cstring>

#include "interp/code_symbols.h"

namespace relay::interp {

using lang::CodeImage;

namespace {

bool is_inside(const CodeImage& image, std::uint64_t offset, std::uint64_t size) {
  return offset <= image.bytes.size() && size <= image.bytes.size() - offset;
}

}  // namespace

std::atomic<std::size_t> LoadedCode::in_use_{0};

bool LoadedCode::fill(const CodeImage& image, const Find& find) {
  for (const CodeImage::Function& function : image.functions) {
    if (!is_inside(image, function.offset, function.size)) return false;
  }
  std::memcpy(memory_, image.bytes.data(), image.bytes.size());
  for (const CodeImage::Pointer& pointer : image.pointers) {
    if (!is_inside(image, pointer.offset, sizeof(std::uint64_t))) return false;
    const void* base = memory_;
    if (pointer.needed != CodeImage::kItself) {
      if (pointer.needed >= image.needed.size()) return false;
      base = find(image.needed[pointer.needed]);
      if (base == nullptr) return false;
    }
    const std::uint64_t value =
        reinterpret_cast<std::uintptr_t>(base) + static_cast<std::uint64_t>(pointer.addend);
    std::memcpy(memory_ + pointer.offset, &value, sizeof(value));
  }
  return mprotect(memory_, size_, PROT_READ | PROT_EXEC) == 0;
}

std::shared_ptr<const LoadedCode> LoadedCode::load(const CodeImage& image, const Find& find) {
  const std::size_t size = image.bytes.size();
  if (size == 0) return nullptr;
  void* const memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  const std::shared_ptr<LoadedCode> code(new LoadedCode(static_cast<std::byte*>(memory), size));
  if (!code->fill(image, find)) return nullptr;
  __builtin___clear_cache(reinterpret_cast<char*>(code->memory_),
                          reinterpret_cast<char*>(code->memory_ + size));
  return code;
}

LoadedCode::~LoadedCode() {
  forget_code(memory_, size_);
  munmap(memory_, size_);
  in_use_ -= size_;
}

}  // namespace relay::interp
