#include "repl/instrumented_copies.h"

#include "lang/build.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::repl {

using lang::as;
using lang::Expr;

std::string InstrumentedCopies::copy_of(const lang::GlobalVar& global) {
  if (names_.contains(global.name)) return global.name;
  const lang::Definition* definition = module_.find(global.name);
  const auto* fn = definition ? as<lang::Function>(definition->function) : nullptr;
  if (!fn || !definition->span || lang::gradient_of(*fn)) return {};
  const lang::Definition* owner =
      definition->instance_of.empty() ? definition : module_.find(definition->instance_of);
  if ((owner && owner->origin == lang::Origin::Prelude) || !is_wanted(global)) return {};
  const std::string key = global.name + " : " + lang::to_string(global.type);
  if (const auto found = copies_.find(key); found != copies_.end()) return found->second;
  // One that calls itself at ever larger types tells up to here.
  constexpr int kMostCopies = 50;
  if (++counts_[global.name] > kMostCopies) return {};
  const std::string name = pipeline_.reserve_name(global.name + "_traced");
  copies_.emplace(key, name);
  names_.insert(name);
  const Expr typed = checker_.specialise(global.name, global.type).or_throw();
  const std::string& shown = owner ? owner->name : global.name;
  pipeline_.add_function(name, pipeline_.to_core(lang::rename_bound(literal(typed, shown))));
  return name;
}

Expr InstrumentedCopies::instrumented(const Expr& function) {
  if (const auto* global = as<lang::GlobalVar>(function)) {
    const std::string copy = copy_of(*global);
    return copy.empty() ? function : lang::make_global_var(copy, function->span, function->type);
  }
  return function->kind == lang::ExprKind::Function ? lang::rename_bound(literal(function, ""))
                                                    : function;
}

}  // namespace relay::repl
