#include "repl/session_state.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/memory.h"
#include "lang/record.h"
#include "lang/visit.h"
#include "repl/check_rest.h"
#include "repl/debugger.h"
#include "repl/entry_undo.h"
#include "repl/left_behind.h"
#include "repl/let_function.h"
#include "repl/set_aside.h"
#include "repl/tensor_files.h"
#include "stdlib/prelude.h"
#include "typecheck/components.h"

namespace relay::repl {

using lang::Definition;
using lang::Diagnostic;
using lang::DiagnosticKind;
using lang::Expr;
using lang::Origin;
using lang::Type;
using lang::Value;
using parser::Item;
using parser::ItemKind;

namespace {

std::set<std::string> globals_in(const Expr& expr) {
  const std::vector<std::string> names = typecheck::globals_of(expr);
  return {names.begin(), names.end()};
}

}  // namespace

Type concrete_type(const Type& type, const Value& value) {
  if (const auto* tuple = lang::as<lang::TupleType>(type);
      tuple && value.kind() == lang::ValueKind::Tuple) {
    std::vector<Type> fields;
    for (std::size_t i = 0; i < tuple->fields.size(); ++i) {
      fields.push_back(concrete_type(tuple->fields[i], value.as_tuple().fields()[i]));
    }
    return lang::tuple_type(std::move(fields));
  }
  if (value.is_tensor()) return lang::type_of_tensor(value.as_tensor());
  return type;
}

std::vector<std::string> Session::values_made_with(const std::set<std::string>& names) const {
  std::set<std::string> reached = names;
  std::vector<std::string> values;
  // Definitions may stand in any order, so until nothing is added.
  for (bool grows = true; grows;) {
    grows = false;
    for (const Definition* each : impl_->module.definitions()) {
      if (each->origin != Origin::Own || reached.contains(each->name)) continue;
      const auto made = impl_->made_with.find(each->name);
      const bool is_value = !each->function && made != impl_->made_with.end();
      if (!is_value && !each->function) continue;
      const std::set<std::string> uses = is_value ? made->second : globals_in(each->function);
      grows = std::any_of(uses.begin(), uses.end(),
                          [&](const std::string& name) { return reached.contains(name); });
      if (!grows) continue;
      reached.insert(each->name);
      if (is_value) values.push_back(each->name);
      break;
    }
  }
  return values;
}

Definition definition_of(const Item& item, Origin origin) {
  return {item.name,       item.expr,        nullptr,
          origin,          item.doc,         item.span,
          item.parameters, item.instance_of, item.instance_attrs,
          item.follows};
}

std::vector<std::string> names_of(const Item& item) {
  if (!item.pattern) return {item.name};
  std::vector<std::string> names;
  lang::for_each_variable(item.pattern, [&](const lang::VariableRef& variable) {
    names.push_back(item.prefix + variable->name);
  });
  return names;
}

Session::Impl::Impl(SessionOptions given)
    : options(std::move(given)),
      checker(module),
      pipeline(module, checker, options),
      evaluator(pipeline, options.jit, options.threads),
      imports(options.search_path, options.files, options.edited) {
  pipeline.set_evaluator(&evaluator);
  debugger = std::make_unique<Debugger>(*this);
  for (const std::string& path : options.plugins) pipeline.external_compilers()->add_plugin(path);
}

Session::Impl::~Impl() = default;

void Session::Impl::settle_stop(const std::vector<Diagnostic>* errors) {
  const bool is_reported =
      errors && std::any_of(errors->begin(), errors->end(),
                            [](const Diagnostic& error) { return lang::is_stop(error.kind); });
  // A derivation that was cut short has left half of what it makes.
  if (is_reported) pipeline.forget();
  // What ran out belongs to what has just ended.
  if (is_reported || lang::pending_stop.load() != lang::Stop::Interrupted) lang::clear_stop();
}

void Session::Impl::forget(const std::string& name) {
  const lang::Unfailing all_or_nothing;
  if (checker.forget(name)) pipeline.forget();
}

void Session::Impl::load_prelude() {
  for (const auto& file : stdlib::embedded_files()) {
    const lang::Source* source =
        sources.add(fmt::format("{}{}", lang::Source::kLibrary, file.name), std::string(file.text));
    auto parsed = parser::parse(*source, module);
    if (!parsed)
      throw lang::InternalError("the prelude does not parse: " +
                                lang::render(parsed.errors().front()));
    for (Item& item : parsed->items) define(item, Origin::Prelude);
  }
  prelude.import(module);
  module.define(unread_file());
}

void Session::Impl::define(const Item& item, Origin origin) {
  if (item.kind == ItemKind::Type) {
    item.type_def->origin = origin;
    if (auto hidden = hidden_constructors(*item.type_def, module))
      warnings.push_back(std::move(*hidden));
    module.define(item.type_def);
  } else if (item.kind == ItemKind::Def) {
    if (origin == Origin::Own) set_aside(item.name, item.span.source, module, prelude);
    module.define(definition_of(item, origin));
  }
}

std::vector<Diagnostic> Session::Impl::run_text(
    const lang::Source& source, const std::string& directory,
    const std::function<void(const ItemResult&)>& on_item, parser::Notation notation) {
  std::optional<Undo> before;
  const auto has_imports = [&] {
    const auto items = guarded([&] { return parser::imports_of(source, notation); });
    return !items || !items->empty();
  };
  if (options.interactive && has_imports()) before.emplace(*this);
  try {
    imports.set_tree(directory);
    imports.look_again();
    import_files(source, notation, directory, module, nullptr, nullptr);
  } catch (lang::Failure& failure) {
    if (before) before->undo();
    return std::move(failure.diagnostics);
  }
  auto parsed = guarded([&] {
    parser::Reading reading = parser::parse_all(source, module, notation);
    if (!reading.errors.empty()) {
      for (Item& item : reading.parsed.items) {
        if (item.expr) item.expr = with_files(item.expr, item.annotation, reading.errors);
      }
      throw lang::Failure(check_rest(module, prelude, std::move(reading)));
    }
    return std::move(reading.parsed);
  });
  if (!parsed) {
    if (before) before->undo();
    return parsed.errors();
  }
  const auto written = std::count_if(parsed->items.begin(), parsed->items.end(),
                                     [](const Item& item) { return item.instance_of.empty(); });
  if (options.interactive && written > 1 && !before) before.emplace(*this);
  std::move(parsed->warnings.begin(), parsed->warnings.end(), std::back_inserter(warnings));
  std::vector<Diagnostic> errors;
  std::vector<std::string> defined;
  const auto see = [&](const ItemResult& result) {
    if (result.kind != ItemKind::Import && !result.name.empty()) defined.push_back(result.name);
    if (on_item) on_item(result);
  };
  const std::set<std::string> told = hidden;
  try {
    errors = run_items(parsed->items, see, Origin::Own);
  } catch (...) {
    if (before && !lang::is_ending()) before->undo();
    throw;
  }
  if (before && !errors.empty()) {
    before->undo();
    if (!defined.empty())
      errors.back().note(fmt::format("note: nothing stays of what the entry defined (`{}`)",
                                     fmt::join(defined, "`, `")));
  }
  if (!errors.empty()) {  // then no name has been taken
    hidden = told;
    std::erase_if(warnings, [](const Diagnostic& warning) {
      return warning.kind == DiagnosticKind::HiddenBuiltin;
    });
  }
  forget_old_results();
  report_warnings(source);
  return errors;
}

void Session::Impl::report_warnings(const lang::Source& source) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Diagnostic> found;
  std::vector<Diagnostic> all = std::exchange(warnings, {});
  for (Diagnostic& warning : checker.take_warnings()) all.push_back(std::move(warning));
  for (Diagnostic& warning : all) {
    if (warning.span.source == &source)
      found.emplace(std::pair(warning.span.begin, warning.span.end), std::move(warning));
  }
  if (found.empty() || !options.warn) return;
  std::vector<Diagnostic> list;
  for (auto& [place, warning] : found) {
    // Said in passing: who has just written the name need not be shown where.
    if (warning.kind == DiagnosticKind::HiddenBuiltin) warning.span = {};
    list.push_back(std::move(warning));
  }
  options.warn(list);
}

Expr Session::Impl::command_expression(const lang::Source& source) {
  parser::Parsed parsed = parser::parse(source, module).or_throw();
  // Functions at the attributes that the expression gives them follow it.
  const auto instances =
      std::stable_partition(parsed.items.begin(), parsed.items.end(),
                            [](const Item& item) { return item.instance_of.empty(); });
  if (instances - parsed.items.begin() != 1 || parsed.items[0].kind != ItemKind::Expression) {
    lang::fail(DiagnosticKind::BadCommand, "the command takes one expression",
               parsed.items.empty() ? lang::Span{} : parsed.items[0].span);
  }
  for (auto item = instances; item != parsed.items.end(); ++item) {
    item->expr = with_files(item->expr);
    define(*item, Origin::Own);
    forget(item->name);
  }
  return with_files(parsed.items[0].expr);
}

Expr Session::Impl::with_files(const Expr& expr, const Type& expected,
                               std::vector<Diagnostic>& errors) {
  if (!options.reads_headers) return without_headers(expr, expected, warnings);
  return with_headers(
      expr, [this](const std::string& path) { return pipeline.find_file(path); }, options.files,
      errors);
}

Expr Session::Impl::with_files(const Expr& expr, const Type& expected) {
  std::vector<Diagnostic> errors;
  Expr result = with_files(expr, expected, errors);
  if (!errors.empty()) throw lang::Failure(std::move(errors));
  return result;
}

Expr Session::Impl::checked(const Expr& expr, const Type& expected) {
  return checker.check(with_files(expr, expected), expected).or_throw();
}

typecheck::CheckedValue Session::Impl::checked_value(const Expr& expr, const Type& expected) {
  return checker.check_value(with_files(expr, expected), expected).or_throw();
}

Expr Session::Impl::ready(const Expr& typed) {
  return pipeline.finish(pipeline.optimise(pipeline.to_core(typed)));
}

Value Session::Impl::evaluate(const Expr& typed, lang::Span place) {
  const interp::Profile::Scope scope(
      profile.get(), profile ? profile->place_of(place) : interp::Profile::kNowhere);
  return debugger->evaluate(typed).or_throw();
}

bool Session::Impl::is_polymorphic_function(const Expr& expr) { return is_function(expr, module); }

ItemResult Session::Impl::run_expression(const Item& item) {
  ItemResult result{ItemKind::Expression, "", "", {}, item.hide_value, item.span};
  if (is_polymorphic_function(item.expr)) {
    result.type = to_string(checker.type_of(with_files(item.expr)).or_throw());
    return result;
  }
  const auto [typed, general] = checked_value(item.expr);
  if (!options.evaluate) {
    result.type = lang::to_string(general);
    return result;
  }
  result.value = evaluate(typed, item.span);
  const Type type = concrete_type(general, result.value);
  result.type = lang::to_string(type);
  if (result.type != "()") result.number = bind_result(result.value, type, item.span);
  return result;
}

int Session::Impl::bind_result(const Value& value, const Type& type, lang::Span span) {
  bind({"_", Origin::Own, "", span}, &value, type);
  if (!options.interactive) return 0;
  const int number =
      results.add(value, [&](const std::string& name) { return module.find(name) != nullptr; });
  bind({NumberedResults::name_of(number), Origin::Own, "", span}, &value, type);
  return number;
}

void Session::Impl::forget_old_results() {
  for (const int number : results.take_given_up()) {
    remove(NumberedResults::name_of(number));
  }
}

void Session::Impl::bind(const Binding& binding, const Value* value, const Type& type) {
  if (value) pipeline.set_value(binding.name, *value);
  if (binding.origin == Origin::Own) set_aside(binding.name, binding.span.source, module, prelude);
  module.define(Definition{binding.name, nullptr, type, binding.origin, binding.doc, binding.span});
  forget(binding.name);
}

void Session::Impl::bind_parts(const lang::PatternRef& pattern, const Binding& whole,
                               const Value* value, const Type& type) {
  if (pattern->kind == lang::PatternKind::Variable) {
    const lang::Variable& variable = *pattern->variable;
    return bind({whole.name + variable.name, whole.origin, whole.doc, variable.span}, value, type);
  }
  const auto* tuple = lang::as<lang::TupleType>(type);
  for (std::size_t i = 0; i < pattern->fields.size(); ++i) {
    const Value* part = !value  ? nullptr
                        : tuple ? &value->as_tuple().fields()[i]
                                : &value->as_adt().fields()[i];
    const Type field =
        tuple ? tuple->fields[i]
              : lang::field_type(*lang::as<lang::AdtType>(type), *pattern->constructor, i);
    bind_parts(pattern->fields[i], whole, part, part ? concrete_type(field, *part) : field);
  }
}

void Session::Impl::bind_all(const Item& item, Origin origin, const Value* value,
                             const Type& type) {
  if (item.pattern) {
    bind_parts(item.pattern, {item.prefix, origin, item.doc, item.span}, value, type);
  } else {
    bind({item.name, origin, item.doc, item.span}, value, type);
  }
}

ItemResult Session::Impl::run_let(const Item& item, Origin origin) {
  const auto [typed, general] = checked_value(item.expr, item.annotation);
  ItemResult result{ItemKind::Let, item.name, "", {}, true, item.span};
  Type type = general;
  if (options.evaluate) {
    result.value = evaluate(typed, item.span);
    type = concrete_type(type, result.value);
  }
  bind_all(item, origin, options.evaluate ? &result.value : nullptr, type);
  if (origin == Origin::Own) {
    for (const std::string& name : names_of(item)) made_with[name] = globals_in(item.expr);
  }
  if (item.pattern) result.name = item.pattern->span.text();
  result.type = lang::to_string(type);
  return result;
}

ItemResult Session::Impl::run_def(const Item& item) {
  const std::string owner = owner_of_gradient(module, item.name);
  auto scheme = owner.empty() ? checker.scheme(item.name) : checker.check_gradient(owner);
  return {ItemKind::Def, item.name, to_string(std::move(scheme).or_throw()), {}, true, item.span};
}

}  // namespace relay::repl
