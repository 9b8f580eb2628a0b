// Random numbers from explicit keys: Threefry-4x64 with 20 rounds (Salmon, Moraes, Dror, Shaw:
// "Parallel random numbers: as easy as 1, 2, 3", 2011) and Relay's encoding of a splittable
// generator in ten words (Claessen, Palka: "Splittable pseudorandom number generators using
// cryptographic hashing", 2013):
//
//     words 0 1 2 3 | 4 5  | 6 7     | 8 9
//           key     | path | counter | the next step of the path: one bit of 128

#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "stdlib/ops/families.h"
#include "stdlib/ops/steps.h"

namespace relay::stdlib {

constexpr std::int64_t kKeyWords = 10;
constexpr std::int64_t kTopBit = INT64_MIN;  // as a word: 2^63
using Words = std::array<Expr, kKeyWords>;
using Quad = std::array<Expr, 4>;

Type key_type();
// The first argument of the call is a key.
void require_key(TypeCall& call);
// The extents in attribute `out_shape`. Throws BadAttribute for a negative one.
std::vector<Dim> out_shape(const TypeCall& call);

Expr word(std::int64_t bits);
// The four words to which Relay's Threefry turns `counter`. It differs from the published one in
// two things, which its texts depend on: mixing (a, b) gives b the value (a + 2 b) ^ rotate(b)
// where the paper has (a + b) ^ rotate(b), and the key is not added once more at the end.
Quad threefry(Steps& steps, const Quad& key, const Quad& counter);

// --- Keys ---

Words words_of(const Expr& key);
Quad path_and_counter(const Words& words);
Quad key_of(const Words& words);
// A key, of which `make` computes the words from those of another.
Expr derived_key(const Expr& key, const std::function<Words(Steps&, const Words&)>& make);
// A new key that is the hash of an old one, with an empty path.
Words rehashed(Steps& steps, const Words& words, const Quad& counter, std::int64_t step);
// Word by word `a` where the condition holds, else `b`.
Words selected(const Expr& condition, const Words& a, const Words& b);
// Both words of the step are zero once the path has 128 entries.
Expr path_is_full(const Words& words);
// Moves the step of the path on by one bit.
void advance_step(const Words& from, Words& to);
// The path with a one at the step.
void append_one(const Words& from, Words& to);

// The element of `values` that `index` says; the last one for any other index.
template <std::size_t count>
Expr pick(const std::array<Expr, count>& values, const Expr& index) {
  Expr picked = values[count - 1];
  for (std::size_t i = count - 1; i-- > 0;) {
    const Expr is_it = lang::build::prim(
        Prim::Eq, {index, lang::build::index_constant(static_cast<std::int64_t>(i))});
    picked = lang::build::select(is_it, values[i], picked);
  }
  return picked;
}

// --- Operators (random_keys.cpp, random_discrete.cpp) ---

void add_random_keys();
void add_random_discrete();

}  // namespace relay::stdlib
