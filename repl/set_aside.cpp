#include "repl/set_aside.h"

#include <utility>

#include "parser/resolve.h"
#include "repl/older_function.h"

namespace relay::repl {

using lang::Definition;
using lang::Origin;

namespace {

void rename(const std::string& from, const std::string& to, const lang::Source* text,
            lang::Module& module) {
  for (const Definition* definition : module.definitions()) {
    const bool is_of_text = definition->origin == Origin::Own && definition->span.source == text;
    if (is_of_text || !definition->function) continue;
    lang::Expr body = with_global_renamed(definition->function, from, to);
    if (body == definition->function) continue;
    Definition changed = *definition;
    changed.function = std::move(body);
    module.define(std::move(changed));
  }
}

}  // namespace

void set_aside(const std::string& name, const lang::Source* text, lang::Module& module,
               lang::Module& prelude) {
  const Definition* old = module.find(name);
  if (!old || old->origin != Origin::Prelude || !prelude.find(name)) return;
  const std::string full_name = parser::name_in_prelude(name);
  for (lang::Module* each : {&module, &prelude}) {
    Definition moved = *each->find(name);
    moved.name = full_name;
    each->define(std::move(moved));
    rename(name, full_name, text, *each);
  }
  prelude.remove(name);
  prelude.alias(name, full_name);
}

// Under the other name it stays, too, for code that means it so.
bool bring_back(const std::string& name, lang::Module& module, lang::Module& prelude) {
  const Definition* aside = module.find(parser::name_in_prelude(name));
  if (!aside) return false;
  Definition restored = *aside;
  restored.name = name;
  module.define(restored);
  prelude.define(std::move(restored));
  return true;
}

}  // namespace relay::repl
