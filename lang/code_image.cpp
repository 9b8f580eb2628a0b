#include "lang/code_image.h"

#include <utility>

#include "lang/bytes.h"

namespace relay::lang {

void write(const CodeImage& image, ByteWriter& to) {
  to.text({reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size()});
  to.number(image.functions.size());
  for (const CodeImage::Function& function : image.functions) {
    to.text(function.name);
    to.number(function.offset);
    to.number(function.size);
  }
  to.number(image.needed.size());
  for (const std::string& name : image.needed) to.text(name);
  to.number(image.pointers.size());
  for (const CodeImage::Pointer& pointer : image.pointers) {
    to.number(pointer.offset);
    to.number(pointer.needed);
    to.signed_number(pointer.addend);
  }
}

CodeImage read_code_image(ByteReader& from) {
  CodeImage image;
  const std::string_view bytes = from.text();
  const auto* const first = reinterpret_cast<const std::byte*>(bytes.data());
  image.bytes.assign(first, first + bytes.size());
  for (std::size_t left = from.count(); left > 0; --left) {
    CodeImage::Function function;
    function.name = from.text();
    function.offset = from.number();
    function.size = from.number();
    image.functions.push_back(std::move(function));
  }
  for (std::size_t left = from.count(); left > 0; --left) image.needed.emplace_back(from.text());
  for (std::size_t left = from.count(); left > 0; --left) {
    CodeImage::Pointer pointer;
    pointer.offset = from.number();
    pointer.needed = static_cast<std::uint32_t>(from.number());
    pointer.addend = from.signed_number();
    image.pointers.push_back(pointer);
  }
  return image;
}

}  // namespace relay::lang
