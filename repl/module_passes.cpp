#include "repl/module_passes.h"

#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "interp/scalar.h"
#include "lang/op.h"
#include "lang/print.h"
#include "lang/visit.h"
#include "parser/attributed_names.h"
#include "parser/rules.h"
#include "typecheck/verify.h"

namespace relay::repl {

using lang::Expr;

namespace {

std::vector<opt::PassProgram::Entry> own_functions(lang::Module& module,
                                                   typecheck::Checker& checker) {
  std::vector<opt::PassProgram::Entry> functions;
  for (const lang::Definition* definition : module.definitions()) {
    if (definition->origin != lang::Origin::Own || !definition->function) continue;
    const auto scheme = checker.scheme(definition->name).or_throw();
    const bool is_ground = lang::is_ground(scheme.type) && scheme.relations.empty();
    functions.push_back({definition->name,
                         is_ground ? checker.specialise(definition->name, scheme.type).or_throw()
                                   : definition->function,
                         is_ground ? scheme.type : nullptr});
  }
  return functions;
}

// Calls of functions under the names that their instances have here.
class CallRenamer final : public lang::Rewriter {
 public:
  using Name = std::function<std::string(const lang::GlobalVar& global)>;
  explicit CallRenamer(Name name) : name_(std::move(name)) {}

 protected:
  Expr post(const Expr& expr) override {
    const auto* global = lang::as<lang::GlobalVar>(expr);
    if (!global) return expr;
    std::string name = name_(*global);
    if (name == global->name) return expr;
    return lang::make_global_var(std::move(name), expr->span, expr->type);
  }

 private:
  const Name name_;
};

// A typed expression behind the own functions that it calls, by way of others too, at the types of
// the calls. The first instance of a function has its name, others have new ones.
std::vector<opt::PassProgram::Entry> with_called_functions(const Expr& typed, lang::Module& module,
                                                           typecheck::Checker& checker,
                                                           Pipeline& pipeline) {
  std::vector<std::pair<std::string, Expr>> found = {{"", typed}};
  std::map<std::string, std::string> names;  // by function and type
  std::set<std::string> taken;
  CallRenamer renamer([&](const lang::GlobalVar& global) -> std::string {
    const lang::Definition* definition = module.find(global.name);
    const bool is_own =
        definition && definition->function && definition->origin == lang::Origin::Own;
    if (!is_own || !global.type) return global.name;
    const auto [name, is_new] = names.try_emplace(global.name + " " + lang::to_string(global.type));
    if (is_new) {
      name->second =
          taken.insert(global.name).second ? global.name : pipeline.reserve_name(global.name);
      found.emplace_back(name->second, checker.specialise(global.name, global.type).or_throw());
    }
    return name->second;
  });
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Expr renamed = renamer.rewrite(found[i].second);
    found[i].second = renamed;
  }
  std::vector<opt::PassProgram::Entry> entries;
  for (auto each = found.rbegin(); each != found.rend(); ++each) {
    if (!each->first.empty() && !module.find(each->first))
      pipeline.add_function(each->first, each->second);
    entries.push_back({each->first, each->second, each->second->type});
  }
  return entries;
}

std::set<std::string> names_of(const std::vector<opt::PassProgram::Entry>& entries) {
  std::set<std::string> names;
  for (const auto& entry : entries) names.insert(entry.name);
  return names;
}

opt::PassHost host_of(lang::Module& module, typecheck::Checker& checker, Pipeline& pipeline,
                      const EvaluateCore& evaluate, const PassTexts& texts) {
  const auto constant = [evaluate](const Expr& expr) -> Expr {
    const auto value = evaluate(expr);
    if (!value || !(value->is_scalar() || value->is_tensor())) return nullptr;
    return lang::make_constant(value->to_tensor(), expr->span);
  };
  return {pipeline,
          constant,
          interp::scalar_value,
          [&pipeline](const Expr& fn) { return pipeline.to_core(fn); },
          [&pipeline](const Expr& fn) { return pipeline.optimise(fn); },
          [](const Expr& fn) { typecheck::verify(fn); },
          [&checker](const Expr& fn) { return checker.check(fn).or_throw(); },
          [&module, texts](const std::string& name, const std::string& text, opt::RuleScope scope) {
            const lang::Module none;
            const bool is_own = scope == opt::RuleScope::Program;
            return parser::parse_rules(*texts.keep(name, text), is_own ? module : none).or_throw();
          },
          texts.read,
          *pipeline.external_compilers()};
}

}  // namespace

lang::Result<PassList> parse_passes(const lang::Source& source) {
  auto names = parser::parse_attributed_names(source);
  if (!names) return std::move(names).errors();
  return lang::capture([&] {
    PassList list{{}, names->end};
    for (const parser::AttributedName& each : names->list)
      list.calls.push_back(opt::pass_call(each.name, each.attrs, each.span));
    return list;
  });
}

ModulePasses::ModulePasses(lang::Module& module, typecheck::Checker& checker, Pipeline& pipeline,
                           const EvaluateCore& evaluate, const PassTexts& texts)
    : module_(module),
      pipeline_(pipeline),
      program_(own_functions(module, checker),
               host_of(module, checker, pipeline, evaluate, texts)) {}

ModulePasses::ModulePasses(lang::Module& module, const Expr& typed, typecheck::Checker& checker,
                           Pipeline& pipeline, const EvaluateCore& evaluate, const PassTexts& texts)
    : module_(module),
      pipeline_(pipeline),
      program_(with_called_functions(typed, module, checker, pipeline),
               host_of(module, checker, pipeline, evaluate, texts)),
      called_(names_of(program_.functions())),
      is_module_(false) {}

void ModulePasses::run(const opt::PassCall& call) {
  program_.run(call);
  if (is_module_) return;
  const std::set<std::string> reached = opt::reached_from(program_, "");
  program_.remove_if([&](const opt::PassProgram::Entry& entry) {
    return called_.contains(entry.name) && !reached.contains(entry.name);
  });
}

void ModulePasses::bind(const std::string& name, const std::function<Expr(const Expr&)>& bound) {
  const auto* entry = program_.find(name);
  if (!entry) {
    std::vector<std::string> names;
    for (const auto& each : program_.functions()) names.push_back(each.name);
    lang::Diagnostic diagnostic(lang::DiagnosticKind::UnknownName,
                                fmt::format("there is no function `{}`", name));
    const auto close = lang::closest_names(name, names);
    if (!close.empty()) diagnostic.note(fmt::format("help: `--entry {}`", close.front()));
    throw lang::Failure(std::move(diagnostic));
  }
  if (!entry->is_typed()) {
    lang::fail(
        lang::DiagnosticKind::Unsupported,
        fmt::format("not supported: `--bind` of a parameter of `{}`, which is generic", name),
        entry->function->span);
  }
  for (const auto& each : program_.functions()) {
    lang::visit_post_order(each.function, [&](const Expr& node) {
      const auto* global = lang::as<lang::GlobalVar>(node);
      if (!global || global->name != name) return;
      lang::fail(lang::DiagnosticKind::Unsupported,
                 fmt::format("not supported: `--bind` of a parameter of `{}`, which `{}` calls",
                             name, each.name),
                 node->span);
    });
  }
  program_.each_at_once([&](const opt::PassProgram::Entry& each) {
    return each.name == name ? bound(each.function) : each.function;
  });
  program_.run(opt::pass_call("FoldConstant", nullptr, {}));
}

std::vector<std::string> ModulePasses::generic() const {
  std::vector<std::string> names;
  for (const auto& each : program_.functions()) {
    if (!each.is_typed()) names.push_back(each.name);
  }
  return names;
}

ModulePasses::Printed ModulePasses::print(bool is_strict) const {
  std::vector<MadeFunction> roots;
  for (const auto& entry : program_.functions()) {
    // What is defined under its name is still what it is.
    const bool is_known = called_.contains(entry.name) && module_.find(entry.name);
    if (is_known && !entry.is_changed) continue;
    roots.push_back(
        {entry.name, entry.function, program_.has_changed_meaning() ? entry.type_before : nullptr});
  }
  const MadeProgram made = collect_made(roots, module_, pipeline_);
  Printed printed;
  for (const auto& [name, body] : made.functions) printed.defined.push_back(name);
  printed.text = operator_notes(made);
  printed.reads_back = printed.text.empty();
  if (is_module_ && is_strict) {
    printed.text += print_strict(made);
    return printed;
  }
  const auto add = [&](const std::string& item) { printed.text += item + "\n"; };
  for (const lang::TypeDef* type : module_.types()) {
    const bool is_shown =
        is_module_ && type->origin == lang::Origin::Own && module_.find_type(type->name) == type;
    if (is_shown) add(lang::print_light_type_def(*type));
  }
  for (const auto& type : made.types) add(lang::print_light_type_def(*type));
  Expr expression;
  for (const auto& [name, body] : made.functions) {
    if (!is_module_ && name.empty()) {
      expression = body;
    } else {
      add(lang::print_light_definition(name, body, &module_));
    }
  }
  if (expression) add(lang::print_light(expression, &module_));
  return printed;
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
