#include "lang/bytes.h"

#include <array>
#include <bit>
#include <cstring>

namespace relay::lang {

static_assert(std::endian::native == std::endian::little,
              "words are written as they lie in memory");

namespace {

constexpr std::uint64_t kSevenBits = 0x7f;
constexpr std::uint8_t kGoesOn = 0x80;

std::uint64_t word_at(const char* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

}  // namespace

void ByteWriter::number(std::uint64_t value) {
  while (value > kSevenBits) {
    byte(static_cast<std::uint8_t>((value & kSevenBits) | kGoesOn));
    value >>= 7;
  }
  byte(static_cast<std::uint8_t>(value));
}

// The sign in the lowest bit, so that small negative numbers are small, too.
void ByteWriter::signed_number(std::int64_t value) {
  number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
}

void ByteWriter::word(std::uint64_t value) {
  std::array<char, sizeof(value)> word;
  std::memcpy(word.data(), &value, sizeof(value));
  bytes_.append(word.data(), word.size());
}

void ByteWriter::text(std::string_view value) {
  number(value.size());
  bytes(value);
}

void ByteWriter::bytes(std::string_view value) { bytes_.append(value); }

std::uint8_t ByteReader::byte() { return static_cast<std::uint8_t>(bytes(1).front()); }

std::uint8_t ByteReader::byte_below(std::size_t limit) {
  const std::uint8_t value = byte();
  if (value >= limit) throw DamagedBytes();
  return value;
}

std::uint64_t ByteReader::number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint8_t next = byte();
    const std::uint64_t bits = next & kSevenBits;
    if (bits << shift >> shift != bits) throw DamagedBytes();
    value |= bits << shift;
    if (next < kGoesOn) return value;
  }
  throw DamagedBytes();
}

std::int64_t ByteReader::signed_number() {
  const std::uint64_t value = number();
  return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

std::uint64_t ByteReader::word() { return word_at(bytes(sizeof(std::uint64_t)).data()); }

std::string_view ByteReader::text() { return bytes(number()); }

std::string_view ByteReader::bytes(std::uint64_t size) {
  if (size > rest_.size()) throw DamagedBytes();
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

std::size_t ByteReader::index(std::size_t size) {
  const std::uint64_t value = number();
  if (value >= size) throw DamagedBytes();
  return value;
}

std::size_t ByteReader::count() {
  const std::uint64_t value = number();
  if (value > rest_.size()) throw DamagedBytes();
  return value;
}

// Four sums side by side, as processors multiply several numbers at once; each step can be undone,
// so that no change of one word is lost. The steps and their constants are those of XXH64 (Collet).
std::uint64_t checksum(std::string_view bytes, std::uint64_t seed) {
  constexpr std::uint64_t kFirst = 0x9e3779b185ebca87;
  constexpr std::uint64_t kSecond = 0xc2b2ae3d27d4eb4f;
  const auto step = [](std::uint64_t sum, std::uint64_t word) {
    return std::rotl(sum + word * kSecond, 31) * kFirst;
  };
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  std::uint64_t a = seed;
  std::uint64_t b = seed + kFirst;
  std::uint64_t c = seed + kSecond;
  std::uint64_t d = seed - kFirst;
  std::size_t at = 0;
  for (; bytes.size() - at >= 4 * kWord; at += 4 * kWord) {
    const char* const words = bytes.data() + at;
    a = step(a, word_at(words));
    b = step(b, word_at(words + kWord));
    c = step(c, word_at(words + 2 * kWord));
    d = step(d, word_at(words + 3 * kWord));
  }
  std::uint64_t sum = step(step(step(step(bytes.size(), a), b), c), d);
  for (; at < bytes.size(); ++at) sum = step(sum, static_cast<unsigned char>(bytes[at]));
  return sum ^ (sum >> 32);
}

}  // namespace relay::lang
