#include "interp/order.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "interp/worker_pool.h"

namespace relay::interp {

using lang::DType;

namespace {

// A number as an unsigned one in the same order; every NaN is the largest, the two zeros are one.
std::uint64_t rank_of(DType dtype, std::uint64_t bits) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  if (lang::is_signed_int(dtype))
    return static_cast<std::uint64_t>(lang::int_from_bits(dtype, bits)) ^ kSign;
  if (!lang::is_float(dtype)) return bits;
  const int width = lang::bits_of(dtype);
  const double value = lang::double_from_bits(dtype, bits);
  if (value != value) return ~std::uint64_t{0} >> (64 - width);
  const std::uint64_t sign = std::uint64_t{1} << (width - 1);
  if (value == 0) return sign;
  return (bits & sign) != 0 ? ~bits & (sign | (sign - 1)) : bits | sign;
}

// Keys of at most 32 bits stand above their position in one word: sorting the words is stable.
using Packed = std::uint64_t;

constexpr int kDigitBits = 11;
constexpr std::size_t kBuckets = std::size_t{1} << kDigitBits;
constexpr std::size_t kWorthBuckets = 1024;

// Least significant digit first (Knuth, vol. 3, 5.2.5), over bits 32..63.
void sort_packed(std::vector<Packed>& words, std::vector<Packed>& spare) {
  if (words.size() < kWorthBuckets) {
    std::sort(words.begin(), words.end());
    return;
  }
  spare.resize(words.size());
  for (int shift = 32; shift < 64; shift += kDigitBits) {
    const auto digit = [&](Packed word) { return (word >> shift) & (kBuckets - 1); };
    std::array<std::size_t, kBuckets> next{};
    for (const Packed word : words) ++next[digit(word)];
    std::size_t begin = 0;
    for (std::size_t& bucket : next) begin += std::exchange(bucket, begin);
    for (const Packed word : words) spare[next[digit(word)]++] = word;
    words.swap(spare);
  }
}

class Sorter {
 public:
  Sorter(const loops::Launch::Whole& order, const lang::Tensor& keys, std::int64_t* positions)
      : order_(order),
        keys_(keys),
        positions_(positions),
        is_packed_(lang::bits_of(order.dtype) <= 32 &&
                   order.extent <= std::numeric_limits<std::uint32_t>::max()) {}

  void rows(std::int64_t begin, std::int64_t end) const {
    std::vector<Packed> words;
    std::vector<Packed> spare;
    for (std::int64_t row = begin; row < end; ++row) {
      if (is_packed_) {
        packed_row(row * order_.extent, words, spare);
      } else {
        wide_row(row * order_.extent, words);
      }
    }
  }

 private:
  std::uint64_t key(std::int64_t at) const { return rank_of(order_.dtype, keys_.bits_at(at)); }

  // As keys of 32 bits: signed integers were widened to 64.
  std::uint64_t narrow(std::uint64_t rank) const {
    if (!lang::is_signed_int(order_.dtype)) return rank;
    return (rank ^ (std::uint64_t{1} << 63)) + (std::uint64_t{1} << 31);
  }

  void packed_row(std::int64_t first, std::vector<Packed>& words,
                  std::vector<Packed>& spare) const {
    words.resize(static_cast<std::size_t>(order_.extent));
    for (std::int64_t i = 0; i < order_.extent; ++i) {
      words[static_cast<std::size_t>(i)] =
          narrow(key(first + i)) << 32 | static_cast<std::uint64_t>(i);
    }
    sort_packed(words, spare);
    for (std::int64_t i = 0; i < order_.extent; ++i) {
      positions_[first + i] =
          static_cast<std::int64_t>(words[static_cast<std::size_t>(i)] & 0xffffffffU);
    }
  }

  void wide_row(std::int64_t first, std::vector<std::uint64_t>& ranks) const {
    ranks.resize(static_cast<std::size_t>(order_.extent));
    for (std::int64_t i = 0; i < order_.extent; ++i) {
      ranks[static_cast<std::size_t>(i)] = key(first + i);
      positions_[first + i] = i;
    }
    std::stable_sort(positions_ + first, positions_ + first + order_.extent,
                     [&](std::int64_t a, std::int64_t b) {
                       return ranks[static_cast<std::size_t>(a)] <
                              ranks[static_cast<std::size_t>(b)];
                     });
  }

  const loops::Launch::Whole& order_;
  const lang::Tensor& keys_;
  std::int64_t* positions_;
  bool is_packed_;
};

constexpr std::int64_t kElementsWorthAThread = 10'000;  // elements

}  // namespace

void order_rows(const loops::Launch::Whole& order, const lang::Tensor& keys,
                std::int64_t* positions, int threads) {
  const Sorter sorter(order, keys, positions);
  const std::int64_t useful = order.rows * order.extent / kElementsWorthAThread;
  const auto parts =
      std::clamp<std::int64_t>(std::min<std::int64_t>(threads, useful), 1, order.rows);
  if (parts == 1) {
    sorter.rows(0, order.rows);
    return;
  }
  WorkerPool::instance().run(static_cast<int>(parts), [&](int part) {
    sorter.rows(order.rows * part / parts, order.rows * (part + 1) / parts);
  });
}

}  // namespace relay::interp
