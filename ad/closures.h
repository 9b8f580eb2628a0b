#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

class Pairs;
class Tangents;

// Functions as values. Primal types do not change: a closure stays what it is, and what is unknown
// at a call is asked of the value, `with_pullback(f)` being the function that also gives its
// pullback. Its code is derived when it is first asked for, from the closure's own code.
//
// In code that is differentiated, a function literal becomes a call of a lifted global:
//   fn (x) { @lifted(a, b, x) }   with the attribute `place=k`
// so that the adjoint of the closure, Place_k(da, db), can be given to what it captured, whatever
// the optimiser does to the literal. A closure from elsewhere captures nothing that matters.

// A literal with its captures as leading parameters of a global function.
struct Lifted {
  std::string name;
  lang::Type type;
  std::vector<lang::VariableRef> captures;
};

// `self`: the variable by which the literal's body calls itself, or null. `attrs`: the global's.
Lifted lift(lang::Program& program, const std::string& hint, const lang::Expr& literal,
            const lang::VariableRef& self, lang::AttrsRef attrs = nullptr);

// The literal that stands for `lifted` in differentiated code; `place` counts places where closures
// are made.
lang::Expr placed_literal(const Lifted& lifted, const lang::Expr& literal, std::int64_t place);

// A placed literal, taken apart; nothing if it is none.
struct Placed {
  std::string global;
  lang::Type type;
  std::vector<lang::Expr> captures;
  std::int64_t place;
};
std::optional<Placed> as_placed(const lang::Expr& literal);

// fn (params) { @global(captures, params) }
lang::Expr literal_calling(const std::string& global, const lang::Type& type,
                           const std::vector<lang::Expr>& captures,
                           const std::vector<lang::VariableRef>& params, lang::AttrsRef attrs,
                           lang::Span span);
// Variables like these.
std::vector<lang::VariableRef> fresh(const std::vector<lang::VariableRef>& variables);
lang::Type type_of(const std::vector<lang::VariableRef>& params, const lang::Type& result);

// The literal of `with_pullback(f)`, for the literal of `f`: the same free variables.
lang::Expr pullback_literal(lang::Program& program, Pairs& pairs, const lang::Expr& literal,
                            const lang::VariableRef& self);

}  // namespace relay::ad
