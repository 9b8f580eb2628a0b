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

Dim::Dim(std::int64_t constant, std::vector<Term> terms) : constant_(constant) {
  if (!terms.empty()) terms_ = make_ref<const Terms>(std::move(terms));
}

const std::vector<Term>& Dim::terms() const {
  static const std::vector<Term> kNone;
  return terms_ ? terms_->all : kNone;
}

Dim Dim::any() {
  Dim dim;
  dim.any_ = true;
  return dim;
}

Dim Dim::variable(TypeVarRef var) {
  RELAY_CHECK(var && var->kind == VarKind::Dim, "a dim needs a variable of kind Dim");
  auto* atom = new DimAtom;
  atom->variable = std::move(var);
  return Dim(0, {{1, {AtomRef(atom)}}});
}

TypeVarRef Dim::as_variable() const {
  if (any_ || constant_ != 0 || terms().size() != 1) return nullptr;
  const Term& term = terms().front();
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
  const std::int64_t constant = checked_add(a.constant_, b.constant_);
  if (!a.terms_ || !b.terms_) {
    Dim sum(constant);
    sum.terms_ = a.terms_ ? a.terms_ : b.terms_;
    return sum;
  }
  std::vector<Term> terms;
  auto left = a.terms().begin();
  auto right = b.terms().begin();
  while (left != a.terms().end() || right != b.terms().end()) {
    int order = left == a.terms().end() ? 1 : right == b.terms().end() ? -1 : 0;
    if (order == 0) order = compare(left->atoms, right->atoms);
    if (order < 0) {
      terms.push_back(*left++);
    } else if (order > 0) {
      terms.push_back(*right++);
    } else {
      const std::int64_t coefficient = checked_add(left->coefficient, right->coefficient);
      if (coefficient != 0) terms.push_back({coefficient, left->atoms});
      ++left;
      ++right;
    }
  }
  return Dim(constant, std::move(terms));
}

Dim operator-(const Dim& a, const Dim& b) { return a + Dim(-1) * b; }

Dim operator*(const Dim& a, const Dim& b) {
  if (a.any_ || b.any_) return Dim::any();
  Dim product(checked_mul(a.constant_, b.constant_));
  const auto scale = [&product](const std::vector<Term>& terms, std::int64_t factor) {
    if (factor == 0) return;
    std::vector<Term> scaled;
    for (const Term& term : terms) {
      scaled.push_back({checked_mul(term.coefficient, factor), term.atoms});
    }
    product = product + Dim(0, std::move(scaled));
  };
  scale(a.terms(), b.constant_);
  scale(b.terms(), a.constant_);
  for (const Term& x : a.terms()) {
    for (const Term& y : b.terms()) {
      std::vector<AtomRef> atoms;
      std::merge(x.atoms.begin(), x.atoms.end(), y.atoms.begin(), y.atoms.end(),
                 std::back_inserter(atoms),
                 [](const AtomRef& p, const AtomRef& q) { return compare(*p, *q) < 0; });
      product = product + Dim(0, {{checked_mul(x.coefficient, y.coefficient), std::move(atoms)}});
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
  if (b.constant_ == 0 && b.terms().size() == 1) return divide_by_product(a, b);
  return a == b ? Dim(1) : make_division(a, b);
}

// What can be carried out is: of (c*q + r) / c the part q. The remainder is reduced by common
// factors and becomes an atom, so that equal quotients look alike.
Dim Dim::divide_by_constant(const Dim& a, std::int64_t divisor) {
  const std::int64_t whole_constant = floor_quotient(a.constant_, divisor);
  const std::int64_t rest_constant = a.constant_ - whole_constant * divisor;
  std::vector<Term> whole_terms;
  std::vector<Term> rest_terms;
  std::int64_t common = divisor;
  for (const Term& term : a.terms()) {
    const std::int64_t whole = floor_quotient(term.coefficient, divisor);
    const std::int64_t left = term.coefficient - whole * divisor;
    if (whole != 0) whole_terms.push_back({whole, term.atoms});
    if (left != 0) rest_terms.push_back({left, term.atoms});
    common = std::gcd(common, left);
  }
  const Dim quotient(whole_constant, std::move(whole_terms));
  if (rest_terms.empty()) return quotient;
  for (Term& term : rest_terms) term.coefficient /= common;
  const Dim rest(floor_quotient(rest_constant, common), std::move(rest_terms));
  const Dim denominator(divisor / common);
  // (n / 2) / 3 is n / 6.
  const Term& first = rest.terms().front();
  if (rest.constant_ == 0 && rest.terms().size() == 1 && first.coefficient == 1 &&
      first.atoms.size() == 1) {
    const auto& division = first.atoms.front()->division;
    if (division && division->second.is_constant()) {
      return quotient + floor_div(division->first, division->second * denominator);
    }
  }
  return quotient + make_division(rest, denominator);
}

// Terms that contain the product are divided; the others stay together.
Dim Dim::divide_by_product(const Dim& a, const Dim& b) {
  const Term& divisor = b.terms().front();
  Dim quotient;
  std::vector<Term> rest_terms;
  for (const Term& term : a.terms()) {
    std::optional<std::vector<AtomRef>> atoms;
    if (term.coefficient % divisor.coefficient == 0) atoms = without(term.atoms, divisor.atoms);
    if (!atoms) {
      rest_terms.push_back(term);
      continue;
    }
    const std::int64_t coefficient = term.coefficient / divisor.coefficient;
    quotient =
        quotient + (atoms->empty() ? Dim(coefficient) : Dim(0, {{coefficient, std::move(*atoms)}}));
  }
  const Dim rest(a.constant_, std::move(rest_terms));
  return rest.is_constant(0) ? quotient : quotient + make_division(rest, b);
}

Dim Dim::make_division(Dim numerator, Dim denominator) {
  if (denominator.is_constant(1)) return numerator;
  auto* atom = new DimAtom;
  atom->division =
      std::make_shared<const std::pair<Dim, Dim>>(std::move(numerator), std::move(denominator));
  return Dim(0, {{1, {AtomRef(atom)}}});
}

Dim Dim::with_origin(std::uint32_t origin) const {
  Dim result = *this;
  result.origin_ = origin;
  return result;
}

bool operator==(const Dim& a, const Dim& b) { return compare(a, b) == 0; }

Dim Dim::substitute(const Lookup& lookup) const {
  if (!terms_) return *this;
  if (const TypeVarRef var = as_variable()) {
    const std::optional<Dim> replacement = lookup(var);
    return replacement ? *replacement : *this;
  }
  Dim result(constant_);
  bool changed = false;
  for (const Term& term : terms()) {
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
        factor = Dim(0, {{1, {atom}}});
      }
      product = product * factor;
    }
    result = result + product;
  }
  return changed ? result : *this;
}

void Dim::for_each_variable(const std::function<void(const TypeVarRef&)>& visit) const {
  for (const Term& term : terms()) {
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
