#include <algorithm>

#include <fmt/format.h>

#include "lang/match_dims.h"
#include "typecheck/unify.h"
#include "typecheck/widening.h"

// Equations between dims.
namespace relay::typecheck {

using namespace lang;

namespace {

// Does `var` occur in the dim other than as the term `coefficient * var`?
bool occurs_elsewhere(const Dim& dim, const TypeVarRef& var, const Dim::Term* term) {
  for (const Dim::Term& other : dim.terms()) {
    if (&other == term) continue;
    for (const Dim::AtomRef& atom : other.atoms) {
      if (atom->variable == var) return true;
      if (!atom->division) continue;
      bool found = false;
      auto look = [&](const TypeVarRef& inside) { found |= inside == var; };
      atom->division->first.for_each_variable(look);
      atom->division->second.for_each_variable(look);
      if (found) return true;
    }
  }
  return false;
}

}  // namespace

// `difference` = a - b is to be 0. Looks for an unknown whose coefficient divides all of it (or one
// that is alone); the youngest is bound, so that old unknowns stay the names of things.
bool Solver::solve_dim(const Dim& a, const Dim& b, const Dim& difference) {
  Unknown* best = nullptr;
  const Dim::Term* best_term = nullptr;
  for (const Dim::Term& term : difference.terms()) {
    if (term.atoms.size() != 1 || !term.atoms[0]->variable) continue;
    bool alone = difference.terms().size() == 1;
    if (!alone && !divided_evenly(difference, term.coefficient)) continue;
    Unknown* unknown = find(*term.atoms[0]->variable);
    if (unknown && difference.constant_part() % term.coefficient != 0) {
      fail(DiagnosticKind::ShapeMismatch, fmt::format("`{}` cannot be `{}`", show(a), show(b)));
    }
    if (!unknown || (best && best->var->id > unknown->var->id)) continue;
    if (occurs_elsewhere(difference, unknown->var, &term)) continue;
    best = unknown;
    best_term = &term;
  }
  if (!best) return false;
  const Dim rest = difference - Dim(best_term->coefficient) * Dim::variable(best->var);
  Dim value = *divided_evenly(rest, -best_term->coefficient);
  if (value.is_constant() && value.constant() < 0) {
    fail(DiagnosticKind::ShapeMismatch, fmt::format("`{}` cannot be `{}`", show(a), show(b)));
  }
  value.for_each_variable([&](const TypeVarRef& var) { tie(*best, var); });
  bind(*best, std::move(value));
  return true;
}

void Solver::unify(const Dim& left, const Dim& right) {
  Dim a = resolve(left);
  Dim b = resolve(right);
  if (a.is_any() || b.is_any()) {
    const Dim& other = a.is_any() ? b : a;
    TypeVarRef var = other.is_any() ? nullptr : other.as_variable();
    if (Unknown* unknown = var ? find(*var) : nullptr) return bind(*unknown, Dim::any());
    const Dim& first = are_exchanged_ ? b : a;
    if (told_of_meetings_ && first.is_any() && !other.is_any()) told_of_meetings_->meet(other);
    return;
  }
  if (a == b) return;
  Dim difference = a - b;
  if (solve_dim(a, b, difference)) return;
  if (has_unknown(difference)) {
    equations_.push_back({a, b});
  } else if (!is_assumed(difference)) {
    if (is_left_open(difference)) return add_once({a, b});
    fail(DiagnosticKind::ShapeMismatch, fmt::format("`{}` is not `{}`", show(a), show(b)));
  }
}

bool Solver::has_unknown(const Dim& dim) {
  bool found = false;
  dim.for_each_variable([&](const TypeVarRef& var) { found |= find(*var) != nullptr; });
  return found;
}

bool Solver::is_assumed(const Dim& difference) const {
  return std::any_of(assumed_.begin(), assumed_.end(), [&](const Dim& zero) {
    return zero == difference || zero == Dim(0) - difference;
  });
}

void Solver::add_once(Equation equation) {
  const auto is_same = [&](const Equation& known) {
    return known.needed_by.empty() && known.a == equation.a && known.b == equation.b;
  };
  if (std::none_of(equations_.begin(), equations_.end(), is_same))
    equations_.push_back(std::move(equation));
}

bool Solver::is_left_open(const Dim& difference) const {
  bool found = false;
  difference.for_each_variable(
      [&](const TypeVarRef& var) { found |= left_open_.count(var.get()) != 0; });
  return found;
}

void Solver::relate(Equation equation) {
  Dim a = resolve(equation.a);
  Dim b = resolve(equation.b);
  Dim difference = a - b;
  if (a.is_any() || b.is_any() || a == b) return;
  try {
    if (solve_dim(a, b, difference)) return;
  } catch (const Failure&) {
    refuse(equation, a, b);
  }
  if (has_unknown(difference)) {
    equations_.push_back(std::move(equation));
  } else if (difference.is_constant()) {
    refuse(equation, a, b);
  }
}

void Solver::refuse(const Equation& equation, const Dim& a, const Dim& b) {
  fail(DiagnosticKind::ShapeMismatch,
       fmt::format("`{}` needs two extents to be equal, and they are `{}` and `{}`",
                   equation.needed_by, show(a), show(b)),
       equation.span);
}

void Solver::retry_equations() {
  while (dims_changed_) {
    dims_changed_ = false;
    if (equations_.empty()) return;
    std::vector<Equation> open = std::move(equations_);
    equations_.clear();
    for (Equation& equation : open) {
      if (equation.needed_by.empty()) {
        unify(equation.a, equation.b);
      } else {
        relate(std::move(equation));
      }
    }
  }
}

}  // namespace relay::typecheck
