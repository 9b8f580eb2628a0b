#include "lang/dim.h"

#include <algorithm>
#include <numeric>

#include "lang/diagnostic.h"
#include "lang/type_print.h"

namespace relay::lang {
namespace {

using Term = Dim::Term;
using AtomRef = Dim::AtomRef;

[[noreturn]] void overflow() {
  fail(DiagnosticKind::ShapeMismatch, "a dimension does not fit in 64 bits");
}

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t result;
  if (__builtin_add_overflow(a, b, &result)) overflow();
  return result;
}

std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t result;
  if (__builtin_mul_overflow(a, b, &result)) overflow();
  return result;
}

// For a positive divisor.
std::int64_t floor_quotient(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

int compare(const Dim& a, const Dim& b);

// Variables first, in order of their ids; then divisions by their parts.
int compare(const DimAtom& a, const DimAtom& b) {
  if (&a == &b) return 0;
  if (a.variable && b.variable) {
    if (a.variable->id == b.variable->id) return 0;
    return a.variable->id < b.variable->id ? -1 : 1;
  }
  if (a.variable || b.variable) return a.variable ? -1 : 1;
  if (const int order = compare(a.division->first, b.division->first)) return order;
  return compare(a.division->second, b.division->second);
}

int compare(const std::vector<AtomRef>& a, const std::vector<AtomRef>& b) {
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (const int order = compare(*a[i], *b[i])) return order;
  }
  if (a.size() == b.size()) return 0;
  return a.size() < b.size() ? -1 : 1;
}

int compare(const Dim& a, const Dim& b) {
  if (a.is_any() != b.is_any()) return a.is_any() ? -1 : 1;
  const std::vector<Term>& left = a.terms();
  const std::vector<Term>& right = b.terms();
  for (std::size_t i = 0; i < left.size() && i < right.size(); ++i) {
    if (const int order = compare(left[i].atoms, right[i].atoms)) return order;
    if (left[i].coefficient != right[i].coefficient) {
      return left[i].coefficient < right[i].coefficient ? -1 : 1;
    }
  }
  if (left.size() != right.size()) return left.size() < right.size() ? -1 : 1;
  if (a.constant_part() == b.constant_part()) return 0;
  return a.constant_part() < b.constant_part() ? -1 : 1;
}

// The atoms that are left of `atoms` when those of `divisor` (sorted, both) are taken out.
std::optional<std::vector<AtomRef>> without(const std::vector<AtomRef>& atoms,
                                            const std::vector<AtomRef>& divisor) {
  std::vector<AtomRef> rest;
  std::size_t taken = 0;
  for (const AtomRef& atom : atoms) {
    if (taken < divisor.size() && compare(*atom, *divisor[taken]) == 0) {
      ++taken;
    } else {
      rest.push_back(atom);
    }
  }
  if (taken != divisor.size()) return std::nullopt;
  return rest;
}

std::string print_term(std::int64_t coefficient, const std::vector<AtomRef>& atoms,
                       const TypeVarNamer& name_of_var) {
  std::string text = coefficient == 1 ? "" : std::to_string(coefficient);
  for (const AtomRef& atom : atoms) {
    if (!text.empty()) text += " * ";
    if (atom->variable) {
      text += name_of_var(atom->variable);
      continue;
    }
    const auto operand = [&](const Dim& dim) {
      const std::string inner = print_dim(dim, name_of_var);
      return dim.is_constant() || dim.as_variable() ? inner : "(" + inner + ")";
    };
    // Only a division in first place needs no parentheses: `*` and `/` group from the left.
    const std::string quotient =
        operand(atom->division->first) + " / " + operand(atom->division->second);
    text += text.empty() ? quotient : "(" + quotient + ")";
  }
  return text;
}

}  // namespace

Dim Dim::any() {
  Dim dim;
  dim.any_ = true;
  return dim;
}

Dim Dim::variable(TypeVarRef var) {
  RELAY_CHECK(var && var->kind == VarKind::Dim, "a dim needs a variable of kind Dim");
  auto* atom = new DimAtom;
  atom->variable = std::move(var);
  Dim dim;
  dim.terms_.push_back({1, {AtomRef(atom)}});
  return dim;
}

TypeVarRef Dim::as_variable() const {
  if (any_ || constant_ != 0 || terms_.size() != 1) return nullptr;
  const Term& term = terms_.front();
  if (term.coefficient != 1 || term.atoms.size() != 1) return nullptr;
  return term.atoms.front()->variable;
}

std::int64_t Dim::constant() const {
  if (!is_constant())
    throw SymbolicExtent("the value of the extent `" + to_string() + "`, which is not constant");
  return constant_;
}

Dim operator+(const Dim& a, const Dim& b) {
  if (a.any_ || b.any_) return Dim::any();
  Dim sum(checked_add(a.constant_, b.constant_));
  auto left = a.terms_.begin();
  auto right = b.terms_.begin();
  while (left != a.terms_.end() || right != b.terms_.end()) {
    int order = left == a.terms_.end() ? 1 : right == b.terms_.end() ? -1 : 0;
    if (order == 0) order = compare(left->atoms, right->atoms);
    if (order < 0) {
      sum.terms_.push_back(*left++);
    } else if (order > 0) {
      sum.terms_.push_back(*right++);
    } else {
      const std::int64_t coefficient = checked_add(left->coefficient, right->coefficient);
      if (coefficient != 0) sum.terms_.push_back({coefficient, left->atoms});
      ++left;
      ++right;
    }
  }
  return sum;
}

Dim operator-(const Dim& a, const Dim& b) { return a + Dim(-1) * b; }

Dim operator*(const Dim& a, const Dim& b) {
  if (a.any_ || b.any_) return Dim::any();
  Dim product(checked_mul(a.constant_, b.constant_));
  const auto scale = [&product](const std::vector<Term>& terms, std::int64_t factor) {
    if (factor == 0) return;
    Dim scaled;
    for (const Term& term : terms) {
      scaled.terms_.push_back({checked_mul(term.coefficient, factor), term.atoms});
    }
    product = product + scaled;
  };
  scale(a.terms_, b.constant_);
  scale(b.terms_, a.constant_);
  for (const Term& x : a.terms_) {
    for (const Term& y : b.terms_) {
      std::vector<AtomRef> atoms;
      std::merge(x.atoms.begin(), x.atoms.end(), y.atoms.begin(), y.atoms.end(),
                 std::back_inserter(atoms),
                 [](const AtomRef& p, const AtomRef& q) { return compare(*p, *q) < 0; });
      Dim single;
      single.terms_.push_back({checked_mul(x.coefficient, y.coefficient), std::move(atoms)});
      product = product + single;
    }
  }
  return product;
}

Dim Dim::floor_div(const Dim& a, const Dim& b) {
  if (a.any_ || b.any_) return any();
  if (b.is_constant(0)) fail(DiagnosticKind::ShapeMismatch, "a dimension is divided by zero");
  if (a.is_constant(0)) return 0;
  if (b.is_constant()) {
    if (b.constant_ < 0) return divide_by_constant(Dim(-1) * a, (Dim(-1) * b).constant_);
    return divide_by_constant(a, b.constant_);
  }
  if (b.constant_ == 0 && b.terms_.size() == 1) return divide_by_product(a, b);
  return a == b ? Dim(1) : make_division(a, b);
}

// What can be carried out is: of (c*q + r) / c the part q. The remainder is reduced by common
// factors and becomes an atom, so that equal quotients look alike.
Dim Dim::divide_by_constant(const Dim& a, std::int64_t divisor) {
  Dim quotient(floor_quotient(a.constant_, divisor));
  Dim rest(a.constant_ - quotient.constant_ * divisor);
  std::int64_t common = divisor;
  for (const Term& term : a.terms_) {
    const std::int64_t whole = floor_quotient(term.coefficient, divisor);
    const std::int64_t left = term.coefficient - whole * divisor;
    if (whole != 0) quotient.terms_.push_back({whole, term.atoms});
    if (left != 0) rest.terms_.push_back({left, term.atoms});
    common = std::gcd(common, left);
  }
  if (rest.terms_.empty()) return quotient;
  for (Term& term : rest.terms_) term.coefficient /= common;
  rest.constant_ = floor_quotient(rest.constant_, common);
  const Dim denominator(divisor / common);
  // (n / 2) / 3 is n / 6.
  const Term& first = rest.terms_.front();
  if (rest.constant_ == 0 && rest.terms_.size() == 1 && first.coefficient == 1 &&
      first.atoms.size() == 1) {
    const auto& division = first.atoms.front()->division;
    if (division && division->second.is_constant()) {
      return quotient + floor_div(division->first, division->second * denominator);
    }
  }
  return quotient + make_division(std::move(rest), denominator);
}

// Terms that contain the product are divided; the others stay together.
Dim Dim::divide_by_product(const Dim& a, const Dim& b) {
  const Term& divisor = b.terms_.front();
  Dim quotient;
  Dim rest(a.constant_);
  for (const Term& term : a.terms_) {
    std::optional<std::vector<AtomRef>> atoms;
    if (term.coefficient % divisor.coefficient == 0) atoms = without(term.atoms, divisor.atoms);
    if (!atoms) {
      rest.terms_.push_back(term);
      continue;
    }
    const std::int64_t coefficient = term.coefficient / divisor.coefficient;
    Dim part(atoms->empty() ? coefficient : 0);
    if (!atoms->empty()) part.terms_.push_back({coefficient, std::move(*atoms)});
    quotient = quotient + part;
  }
  return rest.is_constant(0) ? quotient : quotient + make_division(std::move(rest), b);
}

Dim Dim::make_division(Dim numerator, Dim denominator) {
  if (denominator.is_constant(1)) return numerator;
  auto* atom = new DimAtom;
  atom->division =
      std::make_shared<const std::pair<Dim, Dim>>(std::move(numerator), std::move(denominator));
  Dim dim;
  dim.terms_.push_back({1, {AtomRef(atom)}});
  return dim;
}

Dim Dim::with_origin(std::uint32_t origin) const {
  Dim result = *this;
  result.origin_ = origin;
  return result;
}

bool operator==(const Dim& a, const Dim& b) { return compare(a, b) == 0; }

Dim Dim::substitute(const Lookup& lookup) const {
  if (terms_.empty()) return *this;
  if (const TypeVarRef var = as_variable()) {
    const std::optional<Dim> replacement = lookup(var);
    return replacement ? *replacement : *this;
  }
  Dim result(constant_);
  bool changed = false;
  for (const Term& term : terms_) {
    Dim product(term.coefficient);
    for (const AtomRef& atom : term.atoms) {
      Dim factor;
      if (!atom->variable) {
        factor = floor_div(atom->division->first.substitute(lookup),
                           atom->division->second.substitute(lookup));
        changed = true;
      } else if (std::optional<Dim> replacement = lookup(atom->variable)) {
        factor = std::move(*replacement);
        changed = true;
      } else {
        factor.terms_.push_back({1, {atom}});
      }
      product = product * factor;
    }
    result = result + product;
  }
  return changed ? result : *this;
}

void Dim::for_each_variable(const std::function<void(const TypeVarRef&)>& visit) const {
  for (const Term& term : terms_) {
    for (const AtomRef& atom : term.atoms) {
      if (atom->variable) {
        visit(atom->variable);
      } else {
        atom->division->first.for_each_variable(visit);
        atom->division->second.for_each_variable(visit);
      }
    }
  }
}

std::string print_dim(const Dim& dim, const TypeVarNamer& name_of_var) {
  if (dim.is_any()) return "?";
  // What is added comes first: `m - n`, not `-1 * n + m`.
  std::string text;
  const auto append = [&text](std::int64_t coefficient, const auto& print) {
    if (text.empty()) {
      text = print(coefficient);
    } else {
      text += coefficient < 0 ? " - " : " + ";
      text += print(coefficient < 0 ? -coefficient : coefficient);
    }
  };
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const bool positive_term = std::any_of(dim.terms().begin(), dim.terms().end(),
                                         [](const Term& term) { return term.coefficient > 0; });
  const bool constant_first = !positive_term && dim.constant_part() > 0;
  if (dim.terms().empty() || constant_first) append(dim.constant_part(), number);
  for (const bool negative : {false, true}) {
    for (const Term& term : dim.terms()) {
      if ((term.coefficient < 0) != negative) continue;
      append(term.coefficient, [&](std::int64_t coefficient) {
        return print_term(coefficient, term.atoms, name_of_var);
      });
    }
  }
  if (dim.constant_part() != 0 && !dim.terms().empty() && !constant_first)
    append(dim.constant_part(), number);
  return text;
}

std::string Dim::to_string() const {
  return print_dim(*this,
                   [](const TypeVarRef& var) { return var->name.empty() ? "_" : var->name; });
}

}  // namespace relay::lang
