#include "repl/effects.h"

#include <string>
#include <unordered_set>
#include <vector>

#include "lang/op.h"
#include "lang/visit.h"

namespace relay::repl {

using lang::Expr;

namespace {

bool holds_reference(const lang::Type& type) {
  if (!type) return false;
  if (type->kind == lang::TypeKind::Reference) return true;
  if (const auto* tuple = lang::as<lang::TupleType>(type)) {
    for (const lang::Type& field : tuple->fields) {
      if (holds_reference(field)) return true;
    }
  }
  if (const auto* adt = lang::as<lang::AdtType>(type)) {
    for (const lang::Type& arg : adt->args) {
      if (holds_reference(arg)) return true;
    }
  }
  return false;
}

bool is_visible(lang::Effect effect) {
  return effect == lang::Effect::Print || effect == lang::Effect::Save ||
         effect == lang::Effect::Plot;
}

bool does(const Expr& expr, const lang::Module& module, bool (*is_effect)(lang::Effect)) {
  bool found = false;
  std::unordered_set<std::string> seen;
  std::vector<Expr> work{expr};
  while (!work.empty() && !found) {
    const Expr next = std::move(work.back());
    work.pop_back();
    lang::visit_post_order(next, [&](const Expr& node) {
      if (const auto* op = lang::as<lang::Operator>(node))
        found = found || is_effect(op->op->effect);
      const auto* global = lang::as<lang::GlobalVar>(node);
      const lang::Definition* definition = global ? module.find(global->name) : nullptr;
      if (!definition || !seen.insert(global->name).second) return;
      if (definition->function) work.push_back(definition->function);
      found = found || holds_reference(definition->value_type);
    });
  }
  return found;
}

}  // namespace

bool has_visible_effect(const Expr& expr, const lang::Module& module) {
  return does(expr, module, is_visible);
}

bool uses_reference(const Expr& expr, const lang::Module& module) {
  return does(expr, module, [](lang::Effect) { return false; });
}

}  // namespace relay::repl
