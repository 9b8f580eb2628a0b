#include "loops/index_map.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace relay::loops {

namespace {

std::int64_t wrap(std::uint64_t value) { return static_cast<std::int64_t>(value); }
std::int64_t wrapped_add(std::int64_t a, std::int64_t b) {
  return wrap(std::uint64_t(a) + std::uint64_t(b));
}
std::int64_t wrapped_mul(std::int64_t a, std::int64_t b) {
  return wrap(std::uint64_t(a) * std::uint64_t(b));
}

std::int64_t floor_of(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
std::int64_t remainder_of(std::int64_t a, std::int64_t b) { return a - floor_of(a, b) * b; }

// a + factor * b
IndexExpr combine(const IndexExpr& a, const IndexExpr& b, std::int64_t factor) {
  IndexExpr sum;
  sum.constant = wrapped_add(a.constant, wrapped_mul(b.constant, factor));
  sum.terms.reserve(a.terms.size() + b.terms.size());
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    const bool only_a =
        j == b.terms.size() || (i < a.terms.size() && a.terms[i].atom < b.terms[j].atom);
    const bool only_b = !only_a && (i == a.terms.size() || b.terms[j].atom < a.terms[i].atom);
    const AtomId atom = only_b ? b.terms[j].atom : a.terms[i].atom;
    std::int64_t coefficient = 0;
    if (!only_b) coefficient = a.terms[i++].coefficient;
    if (!only_a)
      coefficient = wrapped_add(coefficient, wrapped_mul(b.terms[j++].coefficient, factor));
    if (coefficient != 0) sum.terms.push_back({atom, coefficient});
  }
  return sum;
}

// Beyond this no index means anything, and sums of a few such numbers do not overflow.
constexpr std::int64_t kLimit = std::int64_t{1} << 56;
bool is_sane(const IndexRange& range) { return range.low > -kLimit && range.high < kLimit; }

}  // namespace

IndexExpr operator+(const IndexExpr& a, const IndexExpr& b) { return combine(a, b, 1); }
IndexExpr operator-(const IndexExpr& a, const IndexExpr& b) { return combine(a, b, -1); }
IndexExpr operator*(const IndexExpr& a, std::int64_t factor) {
  if (factor == 1) return a;
  return combine({}, a, factor);
}

AtomId IndexSpace::add(Atom atom) {
  atoms_.push_back(std::move(atom));
  return static_cast<AtomId>(atoms_.size() - 1);
}

IndexExpr IndexSpace::axis(std::int32_t id, std::int64_t extent) {
  if (extent == 1) return constant(0);
  return of(
      add({Atom::Kind::Axis, id, {}, 1, IndexRange{0, std::max<std::int64_t>(extent - 1, 0)}}));
}

IndexExpr IndexSpace::opaque(std::int32_t id, std::optional<IndexRange> range) {
  for (std::size_t i = 0; i < atoms_.size(); ++i) {
    if (atoms_[i].kind == Atom::Kind::Opaque && atoms_[i].id == id)
      return of(static_cast<AtomId>(i));
  }
  return of(add({Atom::Kind::Opaque, id, {}, 1, range}));
}

std::optional<IndexRange> IndexSpace::range(const IndexExpr& index) const {
  auto bounds = range_of_terms(index);
  // x - d * floor(x / d) is x modulo d, which the sum of its terms' bounds does not show.
  for (const auto& term : index.terms) {
    const Atom& division = atom(term.atom);
    if (division.kind != Atom::Kind::FloorDiv || term.coefficient % division.divisor != 0) continue;
    const std::int64_t factor = -(term.coefficient / division.divisor);
    const IndexExpr rest = combine(combine(index, {0, {term}}, -1), division.numerator, -factor);
    if (rest.terms.size() >= index.terms.size()) continue;
    const auto others = range(rest);
    if (!others) continue;
    const std::int64_t span = factor * (division.divisor - 1);
    const IndexRange found{others->low + std::min<std::int64_t>(span, 0),
                           others->high + std::max<std::int64_t>(span, 0)};
    if (!bounds) bounds = found;
    bounds = IndexRange{std::max(bounds->low, found.low), std::min(bounds->high, found.high)};
  }
  return bounds;
}

IndexRange IndexSpace::loose_range(const IndexExpr& index) const {
  if (const auto known = range(index)) return *known;
  const bool is_atom =
      index.constant == 0 && index.terms.size() == 1 && index.terms[0].coefficient == 1;
  if (is_atom && atom(index.terms[0].atom).range) return *atom(index.terms[0].atom).range;
  return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
}

std::optional<IndexRange> IndexSpace::range_of_terms(const IndexExpr& index) const {
  IndexRange sum{index.constant, index.constant};
  if (!is_sane(sum)) return std::nullopt;
  for (const auto& term : index.terms) {
    const auto& range = atom(term.atom).range;
    if (!range || !is_sane(*range)) return std::nullopt;
    std::int64_t a = 0;
    std::int64_t b = 0;
    if (__builtin_mul_overflow(range->low, term.coefficient, &a)) return std::nullopt;
    if (__builtin_mul_overflow(range->high, term.coefficient, &b)) return std::nullopt;
    if (__builtin_add_overflow(sum.low, std::min(a, b), &sum.low)) return std::nullopt;
    if (__builtin_add_overflow(sum.high, std::max(a, b), &sum.high)) return std::nullopt;
    if (!is_sane(sum)) return std::nullopt;
  }
  return sum;
}

std::optional<IndexExpr> IndexSpace::floor_div(const IndexExpr& numerator, std::int64_t divisor) {
  if (divisor == 1) return numerator;
  if (!range(numerator)) return std::nullopt;
  // What the divisor divides comes out as it is; of the rest the floor is taken.
  IndexExpr whole{floor_of(numerator.constant, divisor), {}};
  IndexExpr rest{remainder_of(numerator.constant, divisor), {}};
  std::int64_t common = divisor;
  for (const auto& term : numerator.terms) {
    // A coefficient above the divisor is split too: floor((7i) / 3) is 2i + floor(i / 3).
    const std::int64_t quotient = floor_of(term.coefficient, divisor);
    const std::int64_t left = term.coefficient - quotient * divisor;
    if (left == 0) {
      whole.terms.push_back({term.atom, quotient});
    } else {
      rest.terms.push_back(term);
      common = std::gcd(common, term.coefficient);
    }
  }
  const auto bounds = range(rest);
  if (!bounds) return std::nullopt;
  if (floor_of(bounds->low, divisor) == floor_of(bounds->high, divisor)) {
    whole.constant += floor_of(bounds->low, divisor);
    return whole;
  }
  if (common > 1) {  // floor((g x + c) / (g d)) is floor((x + floor(c / g)) / d)
    rest.constant = floor_of(rest.constant, common);
    for (auto& term : rest.terms) term.coefficient /= common;
    divisor /= common;
    const auto reduced = floor_div(rest, divisor);
    if (!reduced) return std::nullopt;
    return whole + *reduced;
  }
  // floor(floor(x / a) / b) is floor(x / ab).
  if (rest.terms.size() == 1 && rest.constant == 0 && rest.terms[0].coefficient == 1) {
    const Atom inner = atom(rest.terms[0].atom);
    std::int64_t product = 0;
    if (inner.kind == Atom::Kind::FloorDiv &&
        !__builtin_mul_overflow(inner.divisor, divisor, &product)) {
      const auto nested = floor_div(inner.numerator, product);
      if (!nested) return std::nullopt;
      return whole + *nested;
    }
  }
  for (std::size_t i = 0; i < atoms_.size(); ++i) {
    const Atom& known = atoms_[i];
    if (known.kind == Atom::Kind::FloorDiv && known.divisor == divisor && known.numerator == rest) {
      return whole + of(static_cast<AtomId>(i));
    }
  }
  const IndexRange quotient{floor_of(bounds->low, divisor), floor_of(bounds->high, divisor)};
  return whole + of(add({Atom::Kind::FloorDiv, 0, std::move(rest), divisor, quotient}));
}

std::optional<IndexExpr> IndexSpace::floor_mod(const IndexExpr& numerator, std::int64_t divisor) {
  const auto quotient = floor_div(numerator, divisor);
  if (!quotient) return std::nullopt;
  return combine(numerator, *quotient, -divisor);
}

}  // namespace relay::loops
