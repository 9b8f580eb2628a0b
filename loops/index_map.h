#pragma once

#include <cstdint>
#include <optional>
#include <vector>

// Index arithmetic as quasi-affine forms: a constant plus integer multiples of atoms, where an atom
// is an axis, an index computed some other way, or a floor division. Forms that are equal as such
// compare equal, so addresses of reshaped, sliced and transposed data come out as what they are.
namespace relay::loops {

using AtomId = std::int32_t;

struct IndexTerm {
  AtomId atom;
  std::int64_t coefficient;
  friend bool operator==(const IndexTerm&, const IndexTerm&) = default;
};

struct IndexExpr {
  std::int64_t constant = 0;
  std::vector<IndexTerm> terms;  // sorted by atom, no zero coefficients

  bool is_constant() const { return terms.empty(); }
  bool is_constant(std::int64_t value) const { return terms.empty() && constant == value; }
  friend bool operator==(const IndexExpr&, const IndexExpr&) = default;
};

// Wrapping, as int64 arithmetic does.
IndexExpr operator+(const IndexExpr& a, const IndexExpr& b);
IndexExpr operator-(const IndexExpr& a, const IndexExpr& b);
IndexExpr operator*(const IndexExpr& a, std::int64_t factor);

// Values that an index takes, both ends included.
struct IndexRange {
  std::int64_t low;
  std::int64_t high;
};

// The atoms of one kernel.
class IndexSpace {
 public:
  struct Atom {
    enum class Kind : std::uint8_t { Axis, FloorDiv, Opaque };
    Kind kind;
    std::int32_t id;           // Axis, Opaque: whatever the maker chose
    IndexExpr numerator;       // FloorDiv
    std::int64_t divisor = 1;  // FloorDiv: at least 2
    std::optional<IndexRange> range;
  };

  static IndexExpr constant(std::int64_t value) { return {value, {}}; }
  // An index that runs from 0 to extent - 1; the constant 0 where the extent is 1.
  IndexExpr axis(std::int32_t id, std::int64_t extent);
  IndexExpr opaque(std::int32_t id, std::optional<IndexRange> range = std::nullopt);
  // Rounded towards minus infinity; `divisor` is positive. No value where overflow could not be
  // excluded.
  std::optional<IndexExpr> floor_div(const IndexExpr& numerator, std::int64_t divisor);
  std::optional<IndexExpr> floor_mod(const IndexExpr& numerator, std::int64_t divisor);

  // Bounds, not always tight; none where nothing is known.
  std::optional<IndexRange> range(const IndexExpr& index) const;

  // The same, where the int64 range is good enough as a bound and no arithmetic is done with it.
  IndexRange loose_range(const IndexExpr& index) const;

  const Atom& atom(AtomId id) const { return atoms_[static_cast<std::size_t>(id)]; }
  std::size_t size() const { return atoms_.size(); }

 private:
  AtomId add(Atom atom);
  std::optional<IndexRange> range_of_terms(const IndexExpr& index) const;
  IndexExpr of(AtomId atom) const { return {0, {{atom, 1}}}; }
  std::vector<Atom> atoms_;
};

}  // namespace relay::loops
