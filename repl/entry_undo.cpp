#include "repl/entry_undo.h"

#include <utility>

#include "lang/memory.h"

namespace relay::repl {

using lang::Definition;
using lang::Origin;

Session::Undo::Undo(Impl& session)
    : session_(session),
      module_(session.module),
      prelude_(session.prelude),
      values_(session.pipeline.values()),
      results_(session.results),
      hidden_(session.hidden),
      made_with_(session.made_with) {}

void Session::Undo::undo() {
  const lang::Unfailing all_or_nothing;
  Impl& session = session_;
  // Code that has been derived may still speak of types that nobody can name any more.
  for (const lang::TypeDef* type : session.module.types())
    session.kept_types.emplace_back(const_cast<lang::TypeDef*>(type));
  const lang::Module failed = std::exchange(session.module, std::move(module_));
  session.prelude = std::move(prelude_);
  std::set<std::string> changed;
  for (const Definition* each : failed.definitions()) {
    const lang::DefinitionRef now = failed.held(each->name);
    const lang::DefinitionRef before = session.module.held(each->name);
    if (now == before) continue;
    changed.insert(each->name);
    // Of imported files, which stay as they are, and what they call functions of the prelude whose
    // names were taken.
    const bool stays =
        each->origin == Origin::Imported || (each->origin == Origin::Prelude && before == nullptr);
    if (!stays) continue;
    session.module.define(now);
    if (const lang::Value* value = session.pipeline.value(each->name))
      values_.insert_or_assign(each->name, *value);
  }
  for (const Definition* each : session.module.definitions()) {
    if (!failed.find(each->name)) changed.insert(each->name);
  }
  session.pipeline.set_values(std::move(values_));
  session.results = std::move(results_);
  session.hidden = std::move(hidden_);
  session.made_with = std::move(made_with_);
  session.warnings.clear();
  session.checker.take_warnings();
  for (const std::string& name : changed) session.forget(name);
}

}  // namespace relay::repl
