#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace relay::lang {

// Machine code with its constants, in the order in which it lies in memory. It may lie anywhere:
// the few places that hold an address are listed. It can be kept in a file.
struct CodeImage {
  struct Function {
    std::string name;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };
  // Eight bytes that are to hold the address of what is needed, or of the image itself.
  struct Pointer {
    std::uint64_t offset = 0;
    std::uint32_t needed = kItself;
    std::int64_t addend = 0;
  };
  static constexpr std::uint32_t kItself = ~std::uint32_t{0};

  // Null if there is none of this name.
  const Function* find(std::string_view name) const {
    for (const Function& function : functions) {
      if (function.name == name) return &function;
    }
    return nullptr;
  }

  std::vector<std::byte> bytes;
  std::vector<Function> functions;  // also those that are called from inside only
  std::vector<std::string> needed;  // functions elsewhere
  std::vector<Pointer> pointers;
};

class ByteReader;  // lang/bytes.h
class ByteWriter;
void write(const CodeImage& image, ByteWriter& to);
CodeImage read_code_image(ByteReader& from);

}  // namespace relay::lang
