#include "repl/session.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "interp/stack.h"
#include "lang/derivative.h"
#include "lang/record.h"
#include "lang/visit.h"
#include "repl/check_rest.h"
#include "repl/derivative.h"
#include "repl/effects.h"
#include "repl/files.h"
#include "repl/imports.h"
#include "repl/let_function.h"
#include "repl/module_passes.h"
#include "repl/pipeline.h"
#include "repl/set_aside.h"
#include "repl/show.h"
#include "repl/source_of.h"
#include "repl/tensor_files.h"
#include "repl/text_errors.h"
#include "repl/trace.h"
#include "stdlib/prelude.h"
#include "stdlib/register.h"

namespace relay::repl {

using lang::Definition;
using lang::Diagnostic;
using lang::DiagnosticKind;
using lang::Expr;
using lang::Origin;
using lang::Result;
using lang::Type;
using lang::Value;
using parser::Item;
using parser::ItemKind;

namespace {

// The static type with `?` and unknown dims replaced by those of the value.
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

// What a let binds.
std::vector<std::string> names_of(const Item& item) {
  if (!item.pattern) return {item.name};
  std::vector<std::string> names;
  lang::for_each_variable(item.pattern, [&](const lang::VariableRef& variable) {
    names.push_back(item.prefix + variable->name);
  });
  return names;
}

bool is_interrupted() { return interp::interrupt_requested.load(std::memory_order_relaxed); }

}  // namespace

struct Session::Impl {
  SessionOptions options;
  lang::SourceStore sources;
  lang::Module module;
  typecheck::Checker checker;
  Pipeline pipeline;
  interp::Evaluator evaluator;
  Imports imports;
  lang::Module prelude;  // what an imported file sees besides its own imports
  int results = 0;

  explicit Impl(SessionOptions given)
      : options(std::move(given)),
        checker(module, is_interrupted),
        pipeline(module, checker, options),
        evaluator(pipeline, options.jit, options.threads),
        imports(options.search_path) {
    pipeline.set_evaluator(&evaluator);
  }

  // Everything that recurses over programs runs on the evaluation stack, so nesting is bounded by
  // memory.
  template <class F>
  auto guarded(F&& body) -> Result<decltype(body())> {
    using T = decltype(body());
    std::optional<Result<T>> outcome;
    interp::EvaluationStack::instance().run([&] { outcome.emplace(lang::capture(body)); });
    return std::move(*outcome);
  }

  void forget(const std::string& name) {
    checker.forget(name);
    pipeline.forget();
  }

  void load_prelude() {
    for (const auto& file : stdlib::embedded_files()) {
      const lang::Source* source = sources.add(std::string(file.name), std::string(file.text));
      auto parsed = parser::parse(*source, module);
      if (!parsed)
        throw lang::InternalError("the prelude does not parse: " +
                                  lang::render(parsed.errors().front()));
      for (Item& item : parsed->items) define(item, Origin::Prelude);
    }
    prelude.import(module);
  }

  void define(const Item& item, Origin origin) {
    if (item.kind == ItemKind::Type) {
      item.type_def->origin = origin;
      module.define(item.type_def);
    } else if (item.kind == ItemKind::Def) {
      if (origin == Origin::Own) set_aside(item.name, module, prelude);
      module.define(Definition{item.name, item.expr, nullptr, origin, item.doc, item.span,
                               item.parameters, item.instance_of, item.instance_attrs});
    }
  }

  // Makes what a text imports visible in `scope`; loads what is not loaded yet. Throws Failure.
  void import_files(const lang::Source& source, parser::Notation notation,
                    const std::string& directory, lang::Module& scope) {
    for (const parser::ImportItem& item : parser::imports_of(source, notation)) {
      ImportedFile& file = imports.find(item.path, directory, item.span);
      const Imports::Reading reading(imports, file.path, item.span);
      if (!file.is_loaded) load(file, item.span);
      scope.import(file.exports);
    }
  }

  void load(ImportedFile& file, lang::Span span) {
    const lang::Source& source = *sources.add(file.path, read_import(file, span));
    lang::Module exports;
    lang::Module scope;
    scope.import(prelude);
    try {
      import_files(source, parser::Notation::Auto,
                   std::filesystem::path(file.path).parent_path().string(), exports);
      scope.import(exports);
      auto parsed = guarded([&] {
        return parser::parse(source, scope, parser::Notation::Auto, file.prefix).or_throw();
      });
      if (!parsed) throw lang::Failure(parsed.errors());
      std::erase_if(parsed->items,
                    [](const Item& item) { return item.kind == ItemKind::Expression; });
      std::vector<Diagnostic> errors = run_items(parsed->items, nullptr, Origin::Imported);
      if (!errors.empty()) throw lang::Failure(std::move(errors));
      for (const Item& item : parsed->items) add_export(item, file.prefix, exports);
    } catch (lang::Failure& failure) {
      failure.diagnostics.front().note(fmt::format("note: imported by {}:{}", span.source->name(),
                                                   span.source->position(span.begin).line));
      throw;
    }
    file.exports = std::move(exports);
    file.is_loaded = true;
  }

  void add_export(const Item& item, const std::string& prefix, lang::Module& exports) {
    if (item.kind == ItemKind::Type) exports.define(item.type_def);
    if (item.kind != ItemKind::Def && item.kind != ItemKind::Let) return;
    for (const std::string& name : names_of(item)) {
      exports.define(*module.find(name));
      exports.alias(name.substr(prefix.size()), name);
    }
  }

  // Runs a text whose imports are looked for in `directory` first.
  std::vector<Diagnostic> run_text(const lang::Source& source, const std::string& directory,
                                   const std::function<void(const ItemResult&)>& on_item,
                                   parser::Notation notation) {
    try {
      import_files(source, notation, directory, module);
    } catch (lang::Failure& failure) {
      return std::move(failure.diagnostics);
    }
    auto parsed = guarded([&] {
      parser::Reading reading = parser::parse_all(source, module, notation);
      if (!reading.errors.empty())
        throw lang::Failure(check_rest(module, std::move(reading), is_interrupted));
      return std::move(reading.parsed);
    });
    if (!parsed) return parsed.errors();
    std::vector<Diagnostic> errors = run_items(parsed->items, on_item, Origin::Own);
    report_warnings(source);
    return errors;
  }

  // Those of this text, each once: code is inferred for its scheme and again for each use.
  void report_warnings(const lang::Source& source) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, Diagnostic> found;
    for (Diagnostic& warning : checker.take_warnings()) {
      if (warning.span.source == &source)
        found.emplace(std::pair(warning.span.begin, warning.span.end), std::move(warning));
    }
    if (found.empty() || !options.warn) return;
    std::vector<Diagnostic> list;
    for (auto& [place, warning] : found) list.push_back(std::move(warning));
    options.warn(list);
  }

  // The one expression of a command's argument.
  Expr command_expression(const lang::Source& source) {
    const parser::Parsed parsed = parser::parse(source, module).or_throw();
    if (parsed.items.size() != 1 || parsed.items[0].kind != ItemKind::Expression) {
      lang::fail(DiagnosticKind::BadCommand, "the command takes one expression",
                 parsed.items.empty() ? lang::Span{} : parsed.items[0].span);
    }
    return with_files(parsed.items[0].expr);
  }

  Expr with_files(const Expr& expr) const {
    return with_headers(expr, [this](const std::string& path) { return pipeline.find_file(path); });
  }

  Expr checked(const Expr& expr, const Type& expected = nullptr) {
    return checker.check(with_files(expr), expected).or_throw();
  }

  Expr ready(const Expr& typed) {
    return pipeline.finish(pipeline.optimise(pipeline.to_core(typed)));
  }

  Value evaluate(const Expr& typed) { return evaluator.evaluate(ready(typed)).or_throw(); }

  // A function value is shown by its most general type: it need not be ground.
  bool is_polymorphic_function(const Expr& expr) {
    if (const auto* global = lang::as<lang::GlobalVar>(expr)) {
      const Definition* definition = module.find(global->name);
      return definition && definition->function;
    }
    return expr->kind == lang::ExprKind::Function || expr->kind == lang::ExprKind::Operator;
  }

  ItemResult run_expression(const Item& item) {
    ItemResult result{ItemKind::Expression, "", "", {}, item.hide_value, item.span};
    if (is_polymorphic_function(item.expr)) {
      result.type = to_string(checker.type_of(item.expr).or_throw());
      return result;
    }
    const Expr typed = checked(item.expr);
    if (!options.evaluate) {
      result.type = lang::to_string(typed->type);
      return result;
    }
    result.value = evaluate(typed);
    result.type = lang::to_string(concrete_type(typed->type, result.value));
    bind({"_", Origin::Own, "", item.span}, &result.value,
         concrete_type(typed->type, result.value));
    return result;
  }

  struct Binding {
    std::string name;
    Origin origin;
    std::string doc;
    lang::Span span;
  };

  // `value`: null where nothing is evaluated.
  void bind(const Binding& binding, const Value* value, const Type& type) {
    if (value) pipeline.set_value(binding.name, *value);
    if (binding.origin == Origin::Own) set_aside(binding.name, module, prelude);
    module.define(
        Definition{binding.name, nullptr, type, binding.origin, binding.doc, binding.span});
    forget(binding.name);
  }

  // `let (a, b) = e`; inference has seen to it that the pattern fits. `whole.name` is the prefix of
  // the names.
  void bind_parts(const lang::PatternRef& pattern, const Binding& whole, const Value* value,
                  const Type& type) {
    if (pattern->kind == lang::PatternKind::Variable) {
      const lang::Variable& variable = *pattern->variable;
      return bind({whole.name + variable.name, whole.origin, whole.doc, variable.span}, value,
                  type);
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

  // The names that a `let` item binds.
  void bind_all(const Item& item, Origin origin, const Value* value, const Type& type) {
    if (item.pattern) {
      bind_parts(item.pattern, {item.prefix, origin, item.doc, item.span}, value, type);
    } else {
      bind({item.name, origin, item.doc, item.span}, value, type);
    }
  }

  ItemResult run_let(const Item& item, Origin origin) {
    const Expr typed = checked(item.expr, item.annotation);
    ItemResult result{ItemKind::Let, item.name, "", {}, true, item.span};
    Type type = typed->type;
    if (options.evaluate) {
      result.value = evaluate(typed);
      type = concrete_type(type, result.value);
    }
    bind_all(item, origin, options.evaluate ? &result.value : nullptr, type);
    if (item.pattern) result.name = item.pattern->span.text();
    result.type = lang::to_string(type);
    return result;
  }

  ItemResult run_def(const Item& item) {
    const std::string owner = owner_of_gradient(module, item.name);
    auto scheme = owner.empty() ? checker.scheme(item.name) : checker.check_gradient(owner);
    return {ItemKind::Def, item.name, to_string(std::move(scheme).or_throw()), {}, true, item.span};
  }

  std::vector<Diagnostic> run_items(std::vector<Item>& items,
                                    const std::function<void(const ItemResult&)>& on_item,
                                    Origin origin);
};

namespace {

// What definitions were before a text replaced them; put back when the text's own fails.
struct Undo {
  lang::Module& module;
  std::map<std::string, std::optional<Definition>> before = {};
  void note(const std::string& name) {
    const Definition* old = module.find(name);
    before.emplace(name, old ? std::optional<Definition>(*old) : std::nullopt);
  }
  void restore(const std::string& name) {
    const auto found = before.find(name);
    if (found == before.end()) return;
    if (found->second) {
      module.define(*found->second);
    } else {
      module.remove(name);
    }
  }
};

}  // namespace

// One text on its way through a session. After the first failure nothing more is evaluated, but
// what follows is still checked, so that all errors are reported at once.
class Session::Run {
 public:
  Run(Impl& session, std::vector<Item>& items,
      const std::function<void(const ItemResult&)>& on_item, Origin origin)
      : session_(session),
        items_(items),
        on_item_(on_item),
        origin_(origin),
        undo_{session.module} {}

  std::vector<Diagnostic> operator()() {
    define_all();
    try {
      run_all();
    } catch (const lang::InternalError&) {
      for (const Item& item : items_) {
        if (item.kind == ItemKind::Def) failed_.push_back(item.name);
      }
      restore_failed();
      throw;
    }
    restore_failed();
    return errors_.take();
  }

 private:
  // Of this text, else of the module; null if that is none.
  const lang::Function* function_called(const std::string& name) const {
    for (const Item& item : items_) {
      if (item.name != name || item.kind == ItemKind::Import) continue;
      return item.kind == ItemKind::Def ? lang::as<lang::Function>(item.expr) : nullptr;
    }
    const Definition* definition = session_.module.find(name);
    return definition ? lang::as<lang::Function>(definition->function) : nullptr;
  }

  void define_all() {
    for (Item& item : items_) {
      let_as_definition(item, [&](const std::string& name) { return function_called(name); });
      if (item.kind == ItemKind::Def) undo_.note(item.name);
      if (item.kind == ItemKind::Let) {
        for (const std::string& name : names_of(item)) {
          if (!session_.module.find(name)) pending_.insert(name);
        }
      }
      session_.define(item, origin_);
      if (item.kind == ItemKind::Def) session_.forget(item.name);
    }
  }

  void restore_failed() {
    for (const std::string& name : failed_) {
      undo_.restore(name);
      session_.forget(name);
    }
  }

  void run_all() {
    for (const Item& item : items_) {
      if (errors_.is_interrupted()) return;
      if (item.kind == ItemKind::Def) {
        run_definition(item);
        continue;
      }
      if (stopped_ || !evaluate(item)) check_only(item);
      if (item.kind != ItemKind::Let) continue;
      std::size_t settled = 0;
      for (const std::string& name : names_of(item)) settled += pending_.erase(name);
      if (settled == 0) continue;
      const std::vector<const Item*> waiting = std::exchange(deferred_, {});
      for (const Item* definition : waiting) run_definition(*definition);
    }
  }

  void run_definition(const Item& item) {
    if (!pending_.empty() && reaches_pending(item.name)) {
      deferred_.push_back(&item);
    } else if (!evaluate(item)) {
      failed_.push_back(item.name);
      const std::string owner = owner_of_gradient(session_.module, item.name);
      if (!owner.empty()) failed_.push_back(owner);
    }
  }

  // Does the definition reach a pending `let` through the definitions of this module?
  bool reaches_pending(const std::string& from) {
    std::set<std::string> seen;
    std::vector<std::string> work{from};
    while (!work.empty()) {
      const std::string name = std::move(work.back());
      work.pop_back();
      if (pending_.count(name)) return true;
      if (independent_.count(name) || !seen.insert(name).second) continue;
      const Definition* definition = session_.module.find(name);
      if (!definition || !definition->function || definition->origin == Origin::Prelude) continue;
      lang::visit_post_order(definition->function, [&](const Expr& node) {
        if (const auto* global = lang::as<lang::GlobalVar>(node)) work.push_back(global->name);
      });
    }
    independent_.merge(seen);
    return false;
  }

  bool evaluate(const Item& item) {
    auto result = session_.guarded([&] {
      switch (item.kind) {
        case ItemKind::Def:
          return session_.run_def(item);
        case ItemKind::Let:
          return session_.run_let(item, origin_);
        case ItemKind::Expression:
          return session_.run_expression(item);
        case ItemKind::Type:
          return ItemResult{ItemKind::Type, item.type_def->name, "", {}, true, item.span};
        case ItemKind::Import:  // its definitions are there already
          break;
      }
      return ItemResult{ItemKind::Import, item.name, "", {}, true, item.span};
    });
    if (!result) {
      errors_.add(result.errors(), item.span);
      stopped_ = true;
    } else if (on_item_ && item.instance_of.empty()) {
      on_item_(*result);
    }
    return static_cast<bool>(result);
  }

  // A `let` that has no value has a type for those who read it: its own, or `_`, of which nothing
  // is demanded.
  void check_only(const Item& item) {
    if (errors_.is_interrupted()) return;
    if (item.kind != ItemKind::Let && item.kind != ItemKind::Expression) return;
    const auto type = session_.guarded([&]() -> Type {
      if (item.kind == ItemKind::Let) return session_.checked(item.expr, item.annotation)->type;
      if (!session_.is_polymorphic_function(item.expr)) return session_.checked(item.expr)->type;
      return session_.checker.type_of(item.expr).or_throw().type;
    });
    if (!type) errors_.add(type.errors(), item.span);
    if (item.kind != ItemKind::Let) return;
    for (const std::string& name : names_of(item)) {
      undo_.note(name);
      failed_.push_back(name);
    }
    if (type) {
      session_.bind_all(item, origin_, nullptr, *type);
    } else {
      for (const std::string& name : names_of(item))
        session_.bind({name, origin_, "", item.span}, nullptr, lang::incomplete_type());
    }
  }

  Impl& session_;
  std::vector<Item>& items_;
  const std::function<void(const ItemResult&)>& on_item_;
  const Origin origin_;
  Undo undo_;
  std::set<std::string> pending_;      // lets of this text without a value yet
  std::set<std::string> independent_;  // definitions that reach none of those
  std::vector<const Item*> deferred_;  // definitions that do
  std::vector<std::string> failed_;    // names that are put back at the end
  TextErrors errors_;
  bool stopped_ = false;
};

std::vector<Diagnostic> Session::Impl::run_items(
    std::vector<Item>& items, const std::function<void(const ItemResult&)>& on_item,
    Origin origin) {
  for (Item& item : items) {
    if (item.kind == ItemKind::Def) item.expr = with_files(item.expr);
  }
  return Run(*this, items, on_item, origin)();
}

Session::Session(SessionOptions options) {
  stdlib::register_operators();
  impl_ = std::make_unique<Impl>(std::move(options));
  impl_->load_prelude();
}
Session::~Session() = default;

std::vector<Diagnostic> Session::run(std::string name, std::string text,
                                     const std::function<void(const ItemResult&)>& on_item,
                                     parser::Notation notation) {
  interp::clear_interrupt();
  const lang::Source* source = impl_->sources.add(std::move(name), std::move(text));
  return impl_->run_text(*source, "", on_item, notation);
}

std::vector<Diagnostic> Session::run_file(const std::string& path,
                                          const std::function<void(const ItemResult&)>& on_item) {
  try {
    const lang::Source* source = impl_->sources.add(path, read_file(path).or_throw());
    const std::string directory = std::filesystem::path(path).parent_path().string();
    impl_->pipeline.set_directory(directory);
    const Imports::Reading reading(impl_->imports, path, {});
    return impl_->run_text(*source, directory, on_item, parser::Notation::Auto);
  } catch (lang::Failure& failure) {
    return std::move(failure.diagnostics);
  }
}

bool Session::has_main() const {
  const Definition* main = impl_->module.find("main");
  return main && main->function && main->origin == Origin::Own;
}

Result<std::string> Session::type_of(const std::string& text) {
  interp::clear_interrupt();
  const lang::Source* source = impl_->sources.add("<type>", text);
  return impl_->guarded([&] {
    const Expr expr = impl_->command_expression(*source);
    return to_string(impl_->checker.type_of(expr).or_throw());
  });
}

Result<std::string> Session::show(const std::string& stage, const std::string& text) {
  interp::clear_interrupt();
  const lang::Source* source = impl_->sources.add("<show>", text);
  return impl_->guarded([&] {
    const Expr expr = impl_->command_expression(*source);
    return show_stage(stage, expr, impl_->module, impl_->checker, impl_->pipeline);
  });
}

Result<std::string> Session::derivative(const std::string& text, lang::DiffMode mode,
                                        bool is_strict) {
  interp::clear_interrupt();
  const lang::Source* source = impl_->sources.add("<grad>", text);
  return impl_->guarded([&] {
    const Expr expr = impl_->command_expression(*source);
    return print_derivative(expr, mode, is_strict, impl_->module, impl_->checker, impl_->pipeline);
  });
}

Result<std::string> Session::trace(const std::string& text) {
  interp::clear_interrupt();
  std::string call = text;
  std::optional<lang::DiffMode> mode;
  for (const lang::DiffMode each : {lang::DiffMode::Grad, lang::DiffMode::Jvp}) {
    const std::string name(lang::name_of(each));
    if (!text.starts_with(name + " ")) continue;
    mode = each;
    call = text.substr(name.size());
  }
  const lang::Source* source = impl_->sources.add("<trace>", call);
  const interp::JitMode before = impl_->evaluator.mode();
  impl_->evaluator.set_mode(interp::JitMode::Off);
  auto table = impl_->guarded([&] {
    return traced(impl_->command_expression(*source), mode, impl_->module, impl_->checker,
                  impl_->pipeline, impl_->evaluator);
  });
  impl_->evaluator.set_mode(before);
  impl_->pipeline.set_recorder(nullptr);
  return table;
}

Result<std::string> Session::optimised(const std::string& passes, bool is_strict,
                                       std::vector<std::string>& generic) {
  interp::clear_interrupt();
  const lang::Source* source = impl_->sources.add("-p", passes);
  return impl_->guarded([&] {
    const auto calls = opt::parse_passes(*source).or_throw();
    ModulePasses module(impl_->module, impl_->checker, impl_->pipeline, [&](const Expr& core) {
      return impl_->evaluator.evaluate(impl_->ready(core));
    });
    for (const opt::PassCall& call : calls) module.run(call);
    generic = module.generic();
    return module.print(is_strict);
  });
}

const std::vector<std::string>& Session::stages() { return show_stages(); }

Result<std::string> Session::source(const std::string& name) {
  return impl_->guarded([&]() -> std::string {
    if (const Definition* definition = impl_->module.lookup(name)) {
      if (!definition->span) {
        lang::fail(DiagnosticKind::BadCommand, fmt::format("`{}` has no text", name));
      }
      return std::string(definition->span.text());
    }
    const lang::OpDef* op = lang::OpRegistry::instance().find(name);
    if (op) return operator_source(*op, impl_->prelude);
    Diagnostic diagnostic(DiagnosticKind::UnknownName,
                          fmt::format("no operator or function is called `{}`", name));
    std::vector<std::string> names;
    for (const lang::OpDef* each : lang::OpRegistry::instance().all()) names.push_back(each->name);
    for (const Definition* each : impl_->module.definitions()) names.push_back(each->name);
    if (const auto close = lang::closest_names(name, names); !close.empty())
      diagnostic.note(fmt::format("help: did you mean `{}`?", close.front()));
    throw lang::Failure(std::move(diagnostic));
  });
}

Result<Value> Session::evaluate(const std::string& text) {
  interp::clear_interrupt();
  const lang::Source* source = impl_->sources.add("<expression>", text);
  return impl_->guarded(
      [&] { return impl_->evaluate(impl_->checked(impl_->command_expression(*source))); });
}

Result<Value> Session::evaluate(const Expr& expr) {
  interp::clear_interrupt();
  return impl_->guarded([&] { return impl_->evaluate(impl_->checked(expr)); });
}

Result<Session::Timing> Session::time(const std::string& text, interp::JitMode mode) {
  interp::clear_interrupt();
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  constexpr double kBudget = 0.5;
  constexpr int kMaxRuns = 1001;
  const lang::Source* source = impl_->sources.add("<time>", text);
  const interp::JitMode before = impl_->evaluator.mode();
  impl_->evaluator.set_mode(mode);
  impl_->pipeline.forget();
  auto timing = impl_->guarded([&] {
    const auto start = Clock::now();
    const Expr expr = impl_->command_expression(*source);
    const Expr prepared = impl_->ready(impl_->checked(expr));
    Timing result;
    result.has_effects = has_visible_effect(expr, impl_->module);
    const auto thunk = impl_->evaluator.prepare(prepared);
    result.value = impl_->evaluator.run(thunk).or_throw();
    result.first_seconds = seconds_since(start);
    result.median_seconds = result.first_seconds;
    result.runs = 1;
    if (result.has_effects) return result;
    std::vector<double> runs;
    const auto loop_start = Clock::now();
    while (runs.empty() ||
           (static_cast<int>(runs.size()) < kMaxRuns && seconds_since(loop_start) < kBudget)) {
      const auto run_start = Clock::now();
      impl_->evaluator.run(thunk).or_throw();
      runs.push_back(seconds_since(run_start));
    }
    std::nth_element(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2),
                     runs.end());
    result.median_seconds = runs[runs.size() / 2];
    result.runs = static_cast<int>(runs.size());
    return result;
  });
  impl_->evaluator.set_mode(before);
  impl_->pipeline.forget();
  return timing;
}

Result<std::vector<double>> Session::run_times(const std::string& text, int runs) {
  interp::clear_interrupt();
  using Clock = std::chrono::steady_clock;
  const lang::Source* source = impl_->sources.add("<time>", text);
  return impl_->guarded([&] {
    const auto thunk =
        impl_->evaluator.prepare(impl_->ready(impl_->checked(impl_->command_expression(*source))));
    impl_->evaluator.run(thunk).or_throw();
    std::vector<double> seconds;
    for (int i = 0; i < runs; ++i) {
      const auto start = Clock::now();
      impl_->evaluator.run(thunk).or_throw();
      seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    return seconds;
  });
}

lang::Module& Session::module() { return impl_->module; }
interp::Evaluator& Session::evaluator() { return impl_->evaluator; }
const SessionOptions& Session::options() const { return impl_->options; }

}  // namespace relay::repl
