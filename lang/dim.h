#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lang/ref.h"
#include "lang/type_var.h"

namespace relay::lang {

class Dim;

// A factor of a dim: a variable, or floor(numerator / denominator) that could not be carried out.
struct DimAtom final : Counted {
  TypeVarRef variable;                                  // null for a division
  std::shared_ptr<const std::pair<Dim, Dim>> division;  // numerator, denominator
};

// The extent of one axis: a constant, `?`, a variable, or arithmetic over them, in normal form
// (a constant plus integer multiples of products of atoms; an atom is a variable or a floor
// division). Two dims that are equal as polynomials compare equal.
class Dim {
 public:
  using AtomRef = Ref<const DimAtom>;
  struct Term {  // coefficient * product of atoms (sorted, not empty)
    std::int64_t coefficient;
    std::vector<AtomRef> atoms;
  };

  Dim() = default;  // 0
  Dim(std::int64_t constant) : constant_(constant) {}
  static Dim any();  // `?`
  static Dim variable(TypeVarRef var);

  // A mark of inference that says where a known extent entered the code at hand; 0: none. No part
  // of the value: equal dims may differ in it, and arithmetic drops it.
  std::uint32_t origin() const { return origin_; }
  Dim with_origin(std::uint32_t origin) const;

  bool is_any() const { return any_; }
  bool is_constant() const { return !any_ && !terms_; }
  bool is_constant(std::int64_t value) const { return is_constant() && constant_ == value; }
  // The value of a constant; any other dim has none, and this throws SymbolicExtent.
  std::int64_t constant() const;
  // What stands beside the terms: 3 in `2 * n + 3`, 0 in `n` and in `?`.
  std::int64_t constant_part() const { return constant_; }
  const std::vector<Term>& terms() const;
  // The variable, if this is just one variable; else null.
  TypeVarRef as_variable() const;

  // Arithmetic; anything with `?` is `?`.
  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  static Dim floor_div(const Dim& a, const Dim& b);
  friend bool operator==(const Dim& a, const Dim& b);

  // Replaces variables; `lookup` returns nullopt to leave a variable as it is.
  using Lookup = std::function<std::optional<Dim>(const TypeVarRef&)>;
  Dim substitute(const Lookup& lookup) const;
  void for_each_variable(const std::function<void(const TypeVarRef&)>& visit) const;
  // `n`, `n + 1`, `(n + 2) / 3`, `?`. Variables print by name.
  std::string to_string() const;

 private:
  // Sorted, no zero coefficients. Shared by all copies: types are copied far more often than made.
  struct Terms final : Counted {
    explicit Terms(std::vector<Term> terms) : all(std::move(terms)) {}
    const std::vector<Term> all;
  };
  Dim(std::int64_t constant, std::vector<Term> terms);
  static Dim divide_by_constant(const Dim& a, std::int64_t divisor);  // divisor > 0
  static Dim divide_by_product(const Dim& a, const Dim& b);
  static Dim make_division(Dim numerator, Dim denominator);
  std::int64_t constant_ = 0;
  bool any_ = false;
  std::uint32_t origin_ = 0;
  Ref<const Terms> terms_;  // null: none
};

}  // namespace relay::lang
