#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

// Numbers and texts as bytes, which are the same on every machine.
namespace relay::lang {

class ByteWriter {
 public:
  void byte(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void number(std::uint64_t value);  // small ones take few bytes (LEB128)
  void signed_number(std::int64_t value);
  void word(std::uint64_t value);      // eight bytes
  void text(std::string_view value);   // its size and its bytes
  void bytes(std::string_view value);  // as they are
  const std::string& all() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// What a ByteReader throws where the bytes cannot be what a ByteWriter has written.
struct DamagedBytes : std::runtime_error {
  DamagedBytes() : std::runtime_error("damaged bytes") {}
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}
  std::uint8_t byte();
  std::uint8_t byte_below(std::size_t limit);
  std::uint64_t number();
  std::int64_t signed_number();
  std::uint64_t word();
  std::string_view text();
  std::string_view bytes(std::uint64_t size);
  // The number of a thing of which there are `size`.
  std::size_t index(std::size_t size);
  // That thing.
  template <class Things>
  const auto& at(const Things& things) {
    return things[index(things.size())];
  }
  bool truth() { return byte_below(2) != 0; }
  // How many follow, each of one byte or more: not more than could be there.
  std::size_t count();
  std::size_t size() const { return rest_.size(); }  // of what is left

 private:
  std::string_view rest_;
};

// Changes with each bit. Cost: as of reading the bytes.
std::uint64_t checksum(std::string_view bytes, std::uint64_t seed);

}  // namespace relay::lang
