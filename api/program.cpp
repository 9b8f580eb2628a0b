// Texts and files that an engine runs, and what they define.

#include <utility>

#include <fmt/format.h>

#include "api/value.h"

namespace {

using namespace relay;       // NOLINT: the interface itself
using namespace relay::api;  // NOLINT

bool is_shown(const lang::Definition& definition) {
  return definition.origin == lang::Origin::Own && definition.instance_of.empty() &&
         !definition.name.starts_with("_");
}

// Reads anew what the program has defined.
void note_names(Core& core) {
  const std::lock_guard lock(core.names_mutex);
  core.names.clear();
  core.docs.clear();
  const auto note = [&](const std::string& name, const std::string& doc) {
    core.names.push_back(&*core.texts.insert(name).first);
    core.docs[name] = &*core.texts.insert(doc).first;
  };
  const lang::Module& module = core.session->module();
  for (const lang::TypeDef* type : module.types()) {
    if (type->origin != lang::Origin::Own || module.find_type(type->name) != type) continue;
    for (const lang::Constructor& constructor : type->constructors)
      note(constructor.name, type->doc);
  }
  for (const lang::Definition* definition : module.definitions()) {
    if (is_shown(*definition)) note(definition->name, definition->doc);
  }
}

relay_value* evaluated(const CoreRef& core, const lang::Expr& expr, const std::string& text) {
  repl::Session::Typed typed = core->session->evaluate_typed(expr).or_throw();
  if (!typed.value) {
    const bool may_end_in_comment = text.find("//") != std::string::npos;
    return make_function(core, fmt::format("({}{})", text, may_end_in_comment ? "\n" : ""),
                         typed.scheme);
  }
  return make_value(core, std::move(typed.value), typed.type);
}

relay_value* named(const CoreRef& core, const std::string& name) {
  repl::Session& session = *core->session;
  const lang::Definition* definition = session.module().lookup(name);
  if (definition && !definition->function) {
    if (const lang::Value* value = session.bound_value(definition->name))
      return make_value(core, *value, definition->value_type);
  }
  if (!definition) {
    const lang::Constructor* constructor = session.module().find_constructor(name);
    if (constructor && !constructor->fields.empty()) {
      relay_value* const made = make_function(core, name, session.type_of(name).or_throw());
      made->value = lang::Value::constructor(constructor);
      return made;
    }
  }
  if (definition) return make_function(core, name, session.type_of(name).or_throw());
  return evaluated(core, session.read("<name>", name).or_throw(), name);
}

// What the last expression of a text gave.
class Last {
 public:
  explicit Last(relay_value** last) : last_(last) {}
  void see(const repl::ItemResult& result) {
    if (result.kind == parser::ItemKind::Expression) result_ = result;
  }
  void give(const CoreRef& core) {
    if (!last_ || !result_) return;
    if (!result_->value) {
      *last_ = make_function(core, fmt::format("({})", result_->span.text()), result_->type);
    } else if (result_->type == "()") {
      *last_ = make_value(core, lang::Value::unit(), lang::unit_type());
    } else {
      *last_ = make_value(core, result_->value, core->session->module().find("_")->value_type);
    }
  }

 private:
  relay_value** last_;
  std::optional<repl::ItemResult> result_;
};

using Run = std::function<std::vector<lang::Diagnostic>(
    repl::Session&, const std::function<void(const repl::ItemResult&)>&)>;

relay_error* run(relay_engine* engine, relay_value** last, const Run& body) {
  const CoreRef core = engine->core;
  return enter(core.get(), [&]() -> relay_error* {
    ++core->generation;
    Last seen(last);
    const auto errors =
        body(*core->session, [&](const repl::ItemResult& result) { seen.see(result); });
    note_names(*core);
    if (!errors.empty()) return make_error(errors);
    seen.give(core);
    return nullptr;
  });
}

relay_error* check(const char* function, relay_engine* engine, const char* text, const char* what) {
  if (!engine) return bad_argument(fmt::format("{}: `engine` is NULL", function));
  if (!text) return bad_argument(fmt::format("{}: `{}` is NULL", function, what));
  return nullptr;
}

}  // namespace

extern "C" {

relay_error* relay_load(relay_engine* engine, const char* path, relay_value** last) {
  if (last) *last = nullptr;
  if (relay_error* error = check("relay_load", engine, path, "path")) return error;
  return run(engine, last, [&](repl::Session& session, const auto& on_item) {
    return session.run_file(path, on_item);
  });
}

relay_error* relay_run(relay_engine* engine, const char* name, const char* text,
                       relay_value** last) {
  if (last) *last = nullptr;
  if (relay_error* error = check("relay_run", engine, text, "text")) return error;
  return run(engine, last, [&](repl::Session& session, const auto& on_item) {
    return session.run(name ? name : "<text>", text, on_item);
  });
}

relay_error* relay_eval(relay_engine* engine, const char* text, relay_value** value) {
  if (!value) return bad_argument("relay_eval: `value` is NULL");
  *value = nullptr;
  if (relay_error* error = check("relay_eval", engine, text, "text")) return error;
  const CoreRef core = engine->core;
  return enter(core.get(), [&]() -> relay_error* {
    *value = evaluated(core, core->session->read("<text>", text).or_throw(), text);
    return nullptr;
  });
}

relay_error* relay_get(relay_engine* engine, const char* name, relay_value** value) {
  if (!value) return bad_argument("relay_get: `value` is NULL");
  *value = nullptr;
  if (relay_error* error = check("relay_get", engine, name, "name")) return error;
  const CoreRef core = engine->core;
  return enter(core.get(), [&]() -> relay_error* {
    *value = named(core, name);
    return nullptr;
  });
}

const char* relay_name(relay_engine* engine, size_t index) {
  if (!engine) return nullptr;
  const std::lock_guard lock(engine->core->names_mutex);
  const auto& names = engine->core->names;
  return index < names.size() ? names[index]->c_str() : nullptr;
}

const char* relay_doc(relay_engine* engine, const char* name) {
  if (!engine || !name) return "";
  const std::lock_guard lock(engine->core->names_mutex);
  const auto found = engine->core->docs.find(name);
  return found == engine->core->docs.end() ? "" : found->second->c_str();
}

relay_error* relay_construct(relay_engine* engine, const char* name, relay_value* const* fields,
                             size_t count, relay_value** value) {
  if (!value) return bad_argument("relay_construct: `value` is NULL");
  *value = nullptr;
  if (relay_error* error = check("relay_construct", engine, name, "name")) return error;
  if (!fields && count > 0) return bad_argument("relay_construct: `fields` is NULL");
  relay_value* constructor = nullptr;
  if (relay_error* error = relay_get(engine, name, &constructor)) return error;
  relay_error* error = nullptr;
  if (constructor_of(*constructor) == nullptr) {
    error = bad_argument(fmt::format("relay_construct: `{}` is no constructor", name));
  } else if (relay_value_kind(constructor) == RELAY_DATA && count == 0) {
    *value = relay_value_retain(constructor);
  } else {
    error = relay_call(constructor, fields, count, value);
  }
  relay_value_release(constructor);
  return error;
}

}  // extern "C"
