#include "typecheck/checker.h"

#include <algorithm>

#include <fmt/format.h>

#include "lang/boxed.h"
#include "lang/stop.h"
#include "typecheck/components.h"
#include "typecheck/rebuild.h"

namespace relay::typecheck {

using namespace lang;

namespace {

[[noreturn]] void unknown_global(const Module& module, const std::string& name, Span span) {
  std::vector<std::string> names;
  for (const Definition* definition : module.definitions()) names.push_back(definition->name);
  Diagnostic diagnostic(DiagnosticKind::UnknownName, fmt::format("no global is called `{}`", name),
                        span);
  std::vector<std::string> close = closest_names(name, names);
  if (!close.empty()) diagnostic.note(fmt::format("help: did you mean `{}`?", close.front()));
  throw Failure(std::move(diagnostic));
}

// Atoms may be asked for as they are; a leftover shape or dtype in them does no harm.
bool is_bare_instance(const Expr& expr) {
  return expr->kind == ExprKind::GlobalVar || expr->kind == ExprKind::Operator ||
         expr->kind == ExprKind::ConstructorRef;
}

}  // namespace

const Entry* Checker::Impl::known(const std::string& name) const {
  auto found = entries.find(name);
  const Definition* definition = module.find(name);
  if (found == entries.end() || !definition || found->second.function != definition->function)
    return nullptr;
  return &found->second;
}

GlobalUse Checker::Impl::find(const GlobalVar& use) const {
  auto member = current.find(use.name);
  if (member != current.end()) return {member->second};
  const Definition* definition = module.find(use.name);
  if (!definition) unknown_global(module, use.name, use.span);
  if (!definition->function) {
    if (!definition->value_type) {
      fail(DiagnosticKind::UnknownName, fmt::format("`{}` has no value yet", use.name), use.span);
    }
    static const std::vector<Diagnostic> reported;
    if (as<IncompleteType>(definition->value_type)) return {nullptr, nullptr, &reported};
    std::vector<TypeVarRef> variables = variables_of(definition->value_type);
    if (variables.empty()) return {definition->value_type};
    Scheme& scheme = values[use.name];
    scheme = {std::move(variables), {}, {}, definition->value_type};
    return {nullptr, &scheme};
  }
  if (const Entry* entry = known(use.name)) {
    if (entry->failed) return {nullptr, nullptr, &entry->errors};
    return {nullptr, &entry->scheme};
  }
  const auto* function = as<Function>(definition->function);
  RELAY_CHECK(function && is_fully_annotated(*function), "a global without a scheme: " + use.name);
  auto& [about, scheme] = stated[use.name];
  if (about != definition->function) {
    about = definition->function;
    scheme = stated_scheme(*function);
  }
  return {nullptr, &scheme};
}

namespace {

// The usual forms of those schemes that leave relations open. Ends the use of `inference`.
void add_usual(Inference& inference, const std::vector<Type>& types, std::vector<Entry>& entries) {
  bool is_open = std::any_of(entries.begin(), entries.end(), [](const Entry& entry) {
    return !entry.is_stated && !entry.scheme.relations.empty();
  });
  if (!is_open || !inference.settle_usual()) return;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].is_stated || entries[i].scheme.relations.empty()) continue;
    entries[i].scheme.usual =
        std::make_shared<const Scheme>(generalise(inference, types, i).scheme);
  }
}

}  // namespace

// Throws Failure.
std::vector<Entry> Checker::Impl::infer_entries(Inference& inference,
                                                const std::vector<std::string>& names) {
  std::vector<Entry> made = unknown_entries(names);
  current.clear();
  std::vector<Type> types;
  for (std::size_t i = 0; i < names.size(); ++i) {
    types.push_back(inference.declare(cast<Function>(made[i].function)));
    if (!made[i].is_stated) current[names[i]] = types.back();
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    inference.infer_function(made[i].function, types[i]);
  inference.finish_generic(types);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (made[i].is_stated) {
      made[i].scheme = stated_scheme(cast<Function>(made[i].function));
      made[i].scheme.equations = equations_over(made[i].scheme, inference.solver());
      continue;
    }
    Generalised general = generalise(inference, types, i);
    made[i].scheme = std::move(general.scheme);
    made[i].member_names = names;
    made[i].member_types = std::move(general.members);
  }
  note_warnings(inference);
  add_usual(inference, types, made);
  return made;
}

std::vector<Entry> Checker::Impl::unknown_entries(const std::vector<std::string>& names) const {
  std::vector<Entry> made;
  for (const std::string& name : names) {
    Entry entry{module.find(name)->function};
    entry.is_stated = is_fully_annotated(cast<Function>(entry.function));
    made.push_back(std::move(entry));
  }
  return made;
}

namespace {

bool has_limit(const std::vector<Diagnostic>& errors) {
  return std::any_of(errors.begin(), errors.end(), [](const Diagnostic& error) {
    return error.kind == DiagnosticKind::TypeTooLarge;
  });
}

// Where the usual reading of indices, as many as there are axes, does not fit the other code, the
// ranks of what is indexed stay open. The errors are those of the usual reading, unless the other
// one comes to a limit, which is what is in the way then.
template <class Attempt>
auto with_open_ranks_if_needed(const Globals& globals, Widening& widening, Attempt&& attempt) {
  const auto boxed =
      lang::make_boxed<Inference>(globals, Purpose::kScheme, TypeSubstitution(), &widening);
  Inference& inference = boxed->value;
  try {
    return attempt(inference);
  } catch (const Failure&) {
    if (!inference.has_indexed_fully() || lang::is_stopping()) throw;
    const auto boxed_open =
        lang::make_boxed<Inference>(globals, Purpose::kScheme, TypeSubstitution(), &widening);
    Inference& open = boxed_open->value;
    open.leave_ranks_open();
    auto result = capture([&] { return attempt(open); });
    if (!result && !has_limit(result.errors())) throw;
    return std::move(result).or_throw();
  }
}

}  // namespace

void Checker::Impl::infer_component(const std::vector<std::string>& names) {
  std::vector<Entry> made;
  std::optional<std::vector<Diagnostic>> errors;
  try {
    made = with_widening([&](Widening& widening) {
      return with_open_ranks_if_needed(
          *this, widening, [&](Inference& inference) { return infer_entries(inference, names); });
    });
    keep_warnings();
  } catch (Failure& failure) {
    errors = std::move(failure.diagnostics);
    made = unknown_entries(names);
  }
  current.clear();
  const bool stopped = errors && !errors->empty() && lang::is_stop(errors->front().kind);
  if (stopped) throw Failure(std::move(*errors));
  for (std::size_t i = 0; i < names.size(); ++i) {
    made[i].failed = errors.has_value();
    if (errors) made[i].errors = *errors;
    entries[names[i]] = std::move(made[i]);
  }
}

std::vector<std::string> Checker::Impl::mentioned_by(const std::string& name) {
  std::vector<std::string> mentions = globals_of(module.find(name)->function);
  for (const std::string& mention : mentions) users[mention].insert(name);
  return mentions;
}

const Entry& Checker::Impl::inferred(const std::string& name) {
  const Entry* found = known(name);
  if (!found) {
    const Definition* definition = module.find(name);
    if (!definition) unknown_global(module, name, {});
    RELAY_CHECK(as<Function>(definition->function), "a top-level binding has no scheme: " + name);
    auto next = [this](const std::string& from) {
      std::vector<std::string> open;
      for (std::string& to : mentioned_by(from)) {
        const Definition* target = module.find(to);
        const auto* function = target ? as<Function>(target->function) : nullptr;
        // What the annotations say is known without a look at the body.
        if (function && !known(to) && !is_fully_annotated(*function)) open.push_back(std::move(to));
      }
      return open;
    };
    const std::vector<std::string> open = next(name);
    const bool stands_alone =
        std::all_of(open.begin(), open.end(), [&](const std::string& to) { return to == name; });
    if (stands_alone) {
      infer_component({name});
    } else {
      for (const std::vector<std::string>& component : components(name, next))
        infer_component(component);
    }
    found = known(name);
  }
  return *found;
}

const Entry& Checker::Impl::entry(const std::string& name) {
  const Entry& found = inferred(name);
  if (found.failed) throw Failure(found.errors);
  return found;
}

void Checker::Impl::ensure_globals(const Expr& expr) {
  for (const std::string& name : globals_of(expr)) {
    const Definition* definition = module.find(name);
    if (definition && definition->function) inferred(name);
  }
}

bool Checker::Impl::forget(const std::string& name) {
  if (!entries.contains(name) && !stated.contains(name) && !users.contains(name)) return false;
  bool was_known = false;
  std::vector<std::string> stale = {name};
  while (!stale.empty()) {
    std::string next = std::move(stale.back());
    stale.pop_back();
    was_known |= entries.erase(next) + stated.erase(next) > 0;
    auto found = users.find(next);
    if (found == users.end()) continue;
    was_known = true;
    stale.insert(stale.end(), found->second.begin(), found->second.end());
    users.erase(found);  // who mentions it says so again when it is next inferred
  }
  return was_known;
}

void Checker::Impl::keep_warnings() {
  warnings.insert(warnings.end(), warned.begin(), warned.end());
  warned.clear();
}

CheckedValue Checker::Impl::check_value(const Expr& expr, const Type& expected,
                                        Widening& widening) {
  const auto boxed =
      lang::make_boxed<Inference>(*this, Purpose::kCode, TypeSubstitution(), &widening);
  Inference& inference = boxed->value;
  const Type annotation = expected ? inference.open(expected, expr->span) : nullptr;
  if (annotation) inference.hint(expr, annotation);
  Type type = inference.infer(expr);
  if (annotation) {
    const std::string because = "the annotation";
    type = inference.coerce(nullptr, 0, type, annotation, because);
    const Type wanted = inference.enter_annotation(nullptr, annotation, expr->span, because);
    inference.expect({type, wanted, tail_of(expr)->span});
  }
  const Type general = inference.finish_ground(type, is_bare_instance(expr));
  note_warnings(inference);
  return {rebuild(expr, inference), general};
}

// --- The public face ---

Checker::Checker(const Module& module) : impl_(std::make_unique<Impl>(module)) {}
Checker::~Checker() = default;

Result<Scheme> Checker::scheme(const std::string& name) {
  return capture([&]() -> Scheme {
    const Definition* definition = impl_->module.find(name);
    if (definition && !definition->function && definition->value_type)
      return Scheme{variables_of(definition->value_type), {}, {}, definition->value_type};
    return impl_->entry(name).scheme;
  });
}

Result<CheckedValue> Checker::check_value(const Expr& expr, const Type& expected) {
  return capture([&]() {
    impl_->ensure_globals(expr);
    CheckedValue checked = with_widening(
        [&](Widening& widening) { return impl_->check_value(expr, expected, widening); });
    impl_->keep_warnings();
    return checked;
  });
}

Result<Expr> Checker::check(const Expr& expr, const Type& expected) {
  Result<CheckedValue> checked = check_value(expr, expected);
  if (!checked) return checked.errors();
  return std::move(checked->expr);
}

Result<Scheme> Checker::type_of(const Expr& expr) {
  return capture([&]() {
    impl_->ensure_globals(expr);
    const auto general = [&](Inference& inference) {
      Type type = inference.infer(expr);
      inference.finish_generic({type});
      Scheme scheme = generalise(inference, {type}, 0).scheme;
      if (!scheme.relations.empty() && inference.settle_usual())
        scheme.usual = std::make_shared<const Scheme>(generalise(inference, {type}, 0).scheme);
      return scheme;
    };
    return with_widening(
        [&](Widening& widening) { return with_open_ranks_if_needed(*impl_, widening, general); });
  });
}

Result<Expr> Checker::specialise(const std::string& name, const Type& type, Extents extents) {
  return capture([&]() { return impl_->specialise(name, type, extents); });
}

Result<std::string> Checker::specialisation_key(const std::string& name, const Type& type,
                                                Extents extents) {
  return capture([&]() { return impl_->specialisation_key(name, type, extents); });
}

bool Checker::forget(const std::string& name) { return impl_->forget(name); }

std::vector<Diagnostic> Checker::take_warnings() { return std::exchange(impl_->warnings, {}); }

}  // namespace relay::typecheck
