#include "repl/module_passes.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "interp/scalar.h"
#include "lang/build.h"
#include "lang/derivative.h"
#include "lang/op.h"
#include "lang/print.h"
#include "lang/visit.h"
#include "opt/passes.h"
#include "repl/let_function.h"
#include "repl/made_program.h"
#include "typecheck/verify.h"

namespace relay::repl {

using lang::as;
using lang::DiagnosticKind;
using lang::Expr;
using lang::Type;
namespace build = lang::build;

ModulePasses::ModulePasses(lang::Module& module, typecheck::Checker& checker, Pipeline& pipeline,
                           EvaluateCore evaluate)
    : module_(module), pipeline_(pipeline), evaluate_(std::move(evaluate)) {
  for (const lang::Definition* definition : module.definitions()) {
    if (definition->origin != lang::Origin::Own || !definition->function) continue;
    const auto scheme = checker.scheme(definition->name).or_throw();
    const bool is_ground = lang::is_ground(scheme.type) && scheme.relations.empty();
    functions_.push_back({definition->name,
                          is_ground ? checker.specialise(definition->name, scheme.type).or_throw()
                                    : definition->function,
                          is_ground});
    if (!is_ground) generic_.push_back(definition->name);
  }
}

Expr ModulePasses::function(const std::string& name, const Type& type) {
  for (const Entry& entry : functions_) {
    if (entry.name == name && entry.is_typed && lang::equal(entry.function->type, type))
      return entry.function;
  }
  return pipeline_.function(name, type);
}

void ModulePasses::set(Entry& entry, Expr function) {
  entry.is_changed = entry.is_changed || !(function == entry.function);
  entry.function = std::move(function);
  typecheck::verify(entry.function);
}

void ModulePasses::each(const std::function<Expr(const Expr&)>& pass) {
  for (Entry& entry : functions_) {
    if (!entry.is_typed) continue;
    set(entry, pass(entry.function));
  }
}

void ModulePasses::run(const opt::PassCall& call) {
  const std::string& name = call.pass->name;
  if (name == "InferType") return;  // they have their types
  if (name == "RemoveUnusedFunctions") return keep_reachable(call.options->get_string("entry"));
  if (name == "ToANormalForm") return each([&](const Expr& fn) { return opt::to_anf(fn, this); });
  if (name == "ExpandDerivatives") {
    return each([&](const Expr& fn) { return pipeline_.to_core(fn); });
  }
  if (name == "SimplifyExpr") {
    const opt::SimplifyOptions options{interp::scalar_value,
                                       call.options->get_int("fast_math") != 0};
    return each([&](const Expr& fn) {
      return opt::to_anf(opt::simplify(opt::to_anf(fn, this), options), this);
    });
  }
  if (name == "ResolveBranches") {
    return each([&](const Expr& fn) {
      return opt::to_anf(opt::resolve_branches(opt::to_anf(fn, this), this), this);
    });
  }
  if (name == "EliminateCommonSubexpr") {
    return each([&](const Expr& fn) {
      const Expr merged = opt::eliminate_common_subexpressions(opt::to_anf(fn, this), this);
      return opt::eliminate_dead_code(merged, this);
    });
  }
  if (name == "DeadCodeElimination")
    return each(
        [&](const Expr& fn) { return opt::eliminate_dead_code(opt::to_anf(fn, this), this); });
  if (name == "DefuseOps") {
    return each([&](const Expr& fn) { return opt::to_anf(opt::inline_groups(fn), this); });
  }
  if (name == "FuseOps") {
    const auto most =
        static_cast<std::size_t>(std::max<std::int64_t>(0, call.options->get_int("max_depth")));
    return each([&](const Expr& fn) { return opt::fuse_operators(opt::to_anf(fn, this), most); });
  }
  if (name == "Inline") {
    const int most = static_cast<int>(
        std::clamp<std::int64_t>(call.options->get_int("max_bindings"), 0, 1'000'000));
    return each([&](const Expr& fn) {
      return opt::to_anf(opt::inline_calls(opt::to_anf(fn, this), *this, most), this);
    });
  }
  if (name == "JoinStepProducts") {
    return each([&](const Expr& fn) {
      return opt::to_anf(step_products_.join(opt::to_anf(fn, this), *this), this);
    });
  }
  if (name == "FoldConstant") {
    const opt::Evaluate evaluate = [&](const Expr& expr) -> Expr {
      const auto value = evaluate_(expr);
      if (!value || !(value->is_scalar() || value->is_tensor())) return nullptr;
      return lang::make_constant(value->to_tensor(), expr->span);
    };
    return each([&](const Expr& fn) {
      return opt::eliminate_dead_code(opt::fold_constants(opt::to_anf(fn, this), evaluate), this);
    });
  }
  RELAY_CHECK(name == "Gradient" || name == "FirstOrderGradient",
              "a pass that nobody runs: " + name);
  are_gradients_ = true;
  std::vector<Expr> gradients;
  for (const Entry& entry : functions_)
    gradients.push_back(entry.is_typed ? with_gradient(entry) : entry.function);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (functions_[i].is_typed) set(functions_[i], gradients[i]);
  }
}

void ModulePasses::keep_reachable(const std::string& entry) {
  const auto find = [&](const std::string& name) {
    return std::find_if(functions_.begin(), functions_.end(),
                        [&](const Entry& each) { return each.name == name; });
  };
  if (find(entry) == functions_.end()) {
    lang::Diagnostic diagnostic(DiagnosticKind::UnknownName,
                                fmt::format("the module has no function `{}`", entry));
    std::vector<std::string> names;
    for (const Entry& each : functions_) names.push_back(each.name);
    const auto close = lang::closest_names(entry, names);
    diagnostic.note(fmt::format("help: `RemoveUnusedFunctions(entry=\"{}\")`",
                                close.empty() ? names.empty() ? "" : names.back() : close.front()));
    throw lang::Failure(std::move(diagnostic));
  }
  std::set<std::string> reached;
  std::vector<std::string> work{entry};
  while (!work.empty()) {
    const std::string name = std::move(work.back());
    work.pop_back();
    const auto found = find(name);
    if (found == functions_.end() || !reached.insert(name).second) continue;
    lang::visit_post_order(found->function, [&](const Expr& node) {
      if (const auto* global = as<lang::GlobalVar>(node)) work.push_back(global->name);
      if (const auto* fn = as<lang::Function>(node)) {
        if (const std::string* gradient = lang::gradient_of(*fn)) work.push_back(*gradient);
      }
    });
  }
  std::erase_if(functions_, [&](const Entry& each) { return !reached.contains(each.name); });
}

namespace {

// Ones in every leaf that has a derivative.
Expr ones_of(const Expr& value, lang::Span span) {
  if (const auto* tuple = as<lang::TupleType>(value->type)) {
    std::vector<Expr> fields;
    for (std::uint32_t i = 0; i < tuple->fields.size(); ++i)
      fields.push_back(ones_of(build::project(value, i), span));
    return build::tuple(std::move(fields));
  }
  const auto* tensor = as<lang::TensorType>(value->type);
  if (!tensor) {
    lang::fail(DiagnosticKind::Unsupported,
               fmt::format("not supported: the pass `Gradient` for a function whose result is `{}`",
                           lang::to_string(value->type)),
               span);
  }
  if (lang::is_scalar(value->type)) return build::constant(tensor->dtype.known(), 1);
  return build::ones_like(value);
}

}  // namespace

// fn (x...) { let (value, pullback) = vjp(f)(x...); (value, (pullback(ones)...)) }
Expr ModulePasses::with_gradient(const Entry& entry) const {
  const Expr& function = entry.function;
  const auto& fn = lang::cast<lang::Function>(function);
  const auto* type = as<lang::FunctionType>(function->type);
  std::vector<lang::VariableRef> params;
  std::vector<Expr> args;
  for (const auto& param : fn.params) {
    params.push_back(lang::make_variable(param->name, param->type, param->span, param->attrs));
    args.push_back(lang::make_var(params.back()));
  }
  // By its name a function that calls itself has one derivative.
  const Expr what = entry.is_changed
                        ? function
                        : lang::make_global_var(entry.name, function->span, function->type);
  const Expr derivative = lang::make_differentiate(
      lang::DiffMode::Vjp, what, function->span, lang::derivative_type(lang::DiffMode::Vjp, *type));
  lang::Block block;
  const auto bind = [&](const char* name, Expr value) {
    const lang::VariableRef variable = lang::make_variable(name, value->type);
    block.bindings.push_back({variable, std::move(value), {}});
    return lang::make_var(variable);
  };
  const Expr both = bind("both", build::call(derivative, args));
  const Expr value = bind("value", build::project(both, 0));
  const Expr pullback = bind("pullback", build::project(both, 1));
  const Expr seed = bind("seed", ones_of(value, function->span));
  Expr gradients = bind("gradients", build::call(pullback, {seed}));
  if (params.size() == 1) gradients = bind("gradients", build::tuple({gradients}));
  block.result = build::tuple({value, gradients});
  const Expr body = lang::close_block(block);
  return pipeline_.optimise(pipeline_.to_core(
      lang::make_function(params, body->type, body, fn.type_params, nullptr, function->span)));
}

std::string ModulePasses::print(bool is_strict) const {
  std::vector<std::pair<std::string, Expr>> roots;
  for (const Entry& entry : functions_) roots.emplace_back(entry.name, entry.function);
  const MadeProgram made = collect_made(roots, are_gradients_, module_, pipeline_);
  if (is_strict) return print_strict(made);
  std::string text;
  const auto add = [&](const std::string& item) { text += item + "\n"; };
  for (const lang::TypeDef* type : module_.types()) {
    if (type->origin == lang::Origin::Own && module_.find_type(type->name) == type)
      add(lang::print_light_type_def(*type));
  }
  for (const auto& type : made.types) add(lang::print_light_type_def(*type));
  for (const auto& [name, body] : made.functions) add(lang::print_light_definition(name, body));
  return text;
}

// Tensors and devices that the notation has no words for stand in the metadata of the whole text.
std::string ModulePasses::print_strict(const MadeProgram& made) const {
  lang::Module printed = module_;
  for (const lang::Definition* definition : module_.definitions()) {
    if (definition->origin == lang::Origin::Own) printed.remove(definition->name);
  }
  for (const auto& type : made.types) printed.define(type);
  for (const auto& [name, body] : made.functions)
    printed.define(lang::Definition{name, body, nullptr, lang::Origin::Own, "", {}});
  return lang::print_module(printed, {.header = true});
}

}  // namespace relay::repl
