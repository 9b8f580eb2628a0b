#include "repl/older_function.h"

#include <utility>

#include "lang/visit.h"

namespace relay::repl {

using lang::Definition;
using lang::Expr;

namespace {

std::string free_name(const std::string& name, const lang::Module& module) {
  const std::string first = name + ".older";
  std::string free = first;
  for (int i = 2; module.find(free); ++i) free = first + std::to_string(i);
  return free;
}

// The definition under another name, which it has in itself, too; so has its own gradient.
void define_as(const std::string& name, const Definition& definition, lang::Module& module) {
  Definition renamed = definition;
  renamed.name = name;
  renamed.span = {};  // no text calls it so
  renamed.function = with_global_renamed(definition.function, definition.name, name);
  const auto& function = lang::cast<lang::Function>(renamed.function);
  const std::string* gradient = lang::gradient_of(function);
  const Definition* of_gradient = gradient ? module.find(*gradient) : nullptr;
  if (of_gradient) {
    Definition other = *of_gradient;
    other.name = name + "." + std::string(lang::kGradientAttr);
    other.span = {};
    other.function = with_global_renamed(other.function, definition.name, name);
    renamed.function = lang::with_gradient(renamed.function, other.name);
    module.define(std::move(other));
  }
  module.define(std::move(renamed));
}

}  // namespace

Expr with_global_renamed(const Expr& expr, const std::string& from, const std::string& to) {
  class Renamer final : public lang::Rewriter {
   public:
    Renamer(const std::string& from, const std::string& to) : from_(from), to_(to) {}

   protected:
    Expr post(const Expr& node) override {
      const auto* global = lang::as<lang::GlobalVar>(node);
      if (!global || global->name != from_) return node;
      return lang::make_global_var(to_, node->span, node->type);
    }

   private:
    const std::string& from_;
    const std::string& to_;
  };
  return Renamer(from, to).rewrite(expr);
}

std::vector<std::string> keep_older(const std::string& name, Expr* value, lang::Module& module) {
  const Definition* older = module.find(name);
  if (!older || !lang::as<lang::Function>(older->function)) return {};
  const Definition kept = *older;
  const std::string other = free_name(name, module);
  std::vector<std::string> concerned;
  for (const Definition* definition : module.definitions()) {
    if (!definition->follows || definition->name == name) continue;
    Expr function = with_global_renamed(definition->function, name, other);
    if (function == definition->function) continue;
    Definition changed = *definition;
    changed.function = std::move(function);
    concerned.push_back(changed.name);
    module.define(std::move(changed));
  }
  bool is_read = !concerned.empty();
  if (value) {
    Expr renamed = with_global_renamed(*value, name, other);
    is_read = is_read || renamed != *value;
    *value = std::move(renamed);
  }
  if (is_read) define_as(other, kept, module);
  return concerned;
}

}  // namespace relay::repl
