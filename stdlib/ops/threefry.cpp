#include "stdlib/ops/threefry.h"

#include <limits>
#include <string>

#include "lang/extents.h"
#include "stdlib/ops/types.h"

namespace relay::stdlib {

namespace build = lang::build;

Type key_type() { return lang::tensor_type({Dim(kKeyWords)}, DType::UInt64); }

Expr word(std::int64_t bits) { return build::constant_int(DType::UInt64, bits); }

// --- Threefry ---

namespace {

Expr rotated(const Expr& value, int by) {
  return build::prim(Prim::Or, {build::prim(Prim::Shl, {value, word(by)}),
                                build::prim(Prim::Shr, {value, word(64 - by)})});
}

}  // namespace

Quad threefry(Steps& steps, const Quad& key, const Quad& counter) {
  static constexpr int kRotations[8][2] = {{14, 16}, {52, 57}, {23, 40}, {5, 37},
                                           {25, 33}, {46, 12}, {58, 22}, {32, 32}};
  std::array<Expr, 5> keys = {key[0], key[1], key[2], key[3], word(0x1BD11BDAA9FC1A22)};
  for (std::size_t i = 0; i < 4; ++i) keys[4] = build::prim(Prim::Xor, {keys[4], key[i]});
  keys[4] = steps.name("parity", keys[4]);
  Quad x = counter;
  for (std::size_t round = 0; round < 20; ++round) {
    if (round % 4 == 0) {
      const std::size_t injection = round / 4;
      for (std::size_t j = 0; j < 4; ++j)
        x[j] = steps.name("x", build::add(x[j], keys[(injection + j) % 5]));
      x[3] = steps.name("x", build::add(x[3], word(static_cast<std::int64_t>(injection))));
    }
    for (std::size_t pair = 0; pair < 2; ++pair) {
      const Expr& other = x[2 * pair + 1];
      const Expr sum = steps.name("x", build::add(x[2 * pair], other));
      const Expr turned = rotated(other, kRotations[round % 8][pair]);
      x[2 * pair + 1] = steps.name("x", build::prim(Prim::Xor, {build::add(sum, other), turned}));
      x[2 * pair] = sum;
    }
    std::swap(x[1], x[3]);
  }
  return x;
}

// --- Keys ---

Words words_of(const Expr& key) {
  Words words;
  for (std::int64_t i = 0; i < kKeyWords; ++i)
    words[static_cast<std::size_t>(i)] = build::at(key, {build::index_constant(i)});
  return words;
}

Quad path_and_counter(const Words& words) { return {words[4], words[5], words[6], words[7]}; }
Quad key_of(const Words& words) { return {words[0], words[1], words[2], words[3]}; }

Expr derived_key(const Expr& key, const std::function<Words(Steps&, const Words&)>& make) {
  return build::comprehension({Dim(kKeyWords)}, [&](const Indices& i) {
    Steps steps;
    const Words made = make(steps, words_of(key));
    return steps.around(pick(made, i[0]));
  });
}

Words selected(const Expr& condition, const Words& a, const Words& b) {
  Words result;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = build::select(condition, a[i], b[i]);
  return result;
}

Expr path_is_full(const Words& words) {
  return build::prim(Prim::And, {build::prim(Prim::Eq, {words[8], word(0)}),
                                 build::prim(Prim::Eq, {words[9], word(0)})});
}

void advance_step(const Words& from, Words& to) {
  const Expr carry = build::prim(Prim::Shl, {from[8], word(63)});
  to[8] = build::prim(Prim::Shr, {from[8], word(1)});
  to[9] = build::prim(Prim::Or, {build::prim(Prim::Shr, {from[9], word(1)}), carry});
}

void append_one(const Words& from, Words& to) {
  to[4] = build::prim(Prim::Or, {from[4], from[8]});
  to[5] = build::prim(Prim::Or, {from[5], from[9]});
}

Words rehashed(Steps& steps, const Words& words, const Quad& counter, std::int64_t step) {
  const Quad hash = threefry(steps, key_of(words), counter);
  const Expr zero = word(0);
  return {hash[0], hash[1], hash[2], hash[3], zero, zero, zero, zero, word(step), zero};
}

void require_key(TypeCall& call) { call.solver.unify(call.args[0], key_type()); }

std::vector<Dim> out_shape(const TypeCall& call) {
  const std::vector<std::int64_t> extents = call.attrs->get_ints("out_shape");
  for (const std::int64_t extent : extents) {
    if (extent < 0) {
      lang::fail(DiagnosticKind::BadAttribute,
                 "`out_shape` has the negative extent " + std::to_string(extent), call.span);
    }
  }
  // Four words are drawn at a time: more elements than these, and their count would overflow.
  const auto count = lang::product_of(extents);
  if (!count || *count > std::numeric_limits<std::int64_t>::max() - 3)
    bad_attribute(call, "`out_shape` has more elements than any memory holds");
  return to_dims(extents);
}

}  // namespace relay::stdlib
