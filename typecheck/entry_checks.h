#pragma once

#include <string>
#include <vector>

#include "lang/expr.h"

namespace relay::typecheck {

// Two extents that only running can tell to be equal.
struct EntryCheck {
  lang::Expr a;
  lang::Expr b;
  std::string equation;  // for people
};

// Does `needed` say of extents that they are equal where `given`, an instance of it, has a `?`?
// Both are the types of one list of values.
bool leaves_extents_open(const std::vector<lang::Type>& needed,
                         const std::vector<lang::Type>& given);

// A value with what takes it.
struct TakenValue {
  lang::Expr value;
  std::string name;   // for messages
  lang::Type needed;  // as it is written, or null; names the dims
  lang::Type given;   // an instance of it
};

// What is to be checked of these values then: axes that one variable of `needed` names, and axes
// whose extent is computed from such variables. The first `settled` of them have been compared with
// each other before.
std::vector<EntryCheck> open_extents_of(const std::vector<TakenValue>& values,
                                        std::size_t settled = 0);

// The value of the dim, from the extents of the values; null if they do not tell it.
lang::Expr extent_of(const lang::Dim& dim, const std::vector<TakenValue>& values);

// `rest` behind the checks; `because` says what relies on them.
lang::Expr behind_checks(const std::vector<EntryCheck>& checks, const std::string& because,
                         lang::Span span, lang::Expr rest);

// A call of the constructor, once the fields have been found to have the extents that its
// declaration says are equal.
lang::Expr checked_construction(const lang::Expr& constructor,
                                const std::vector<lang::Expr>& fields, lang::AttrsRef attrs,
                                lang::Span span, const lang::Type& type);
// A constructor as a function that is handed on: one that makes the same checks as a call.
lang::Expr constructor_value(const lang::ConstructorRef& constructor, const lang::Type& type);

}  // namespace relay::typecheck
