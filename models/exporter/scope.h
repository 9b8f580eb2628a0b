#pragma once

#include "lang/pointer_map.h"
#include "models/exporter/value.h"

namespace relay::models::exporter {

// What variables stand for in a piece of code, and what has been made of expressions in it: an
// expression that occurs twice is one. The exporter owns them: a function that calls itself is a
// value of the scope that it has captured.
struct Scope {
  explicit Scope(ScopeRef outer) : outer(outer) {}

  // Null where there is none, here and outwards.
  const Value* find(const lang::Variable* variable) const {
    for (const Scope* scope = this; scope; scope = scope->outer) {
      if (const Value* found = scope->variables.find(variable)) return found;
    }
    return nullptr;
  }
  const Value* find(const lang::ExprNode* expr) const {
    for (const Scope* scope = this; scope; scope = scope->outer) {
      if (const Value* found = scope->made.find(expr)) return found;
    }
    return nullptr;
  }

  lang::PointerMap<lang::Variable, Value> variables;
  lang::PointerMap<lang::ExprNode, Value> made;
  const ScopeRef outer;
};

}  // namespace relay::models::exporter
