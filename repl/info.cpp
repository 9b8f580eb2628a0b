#include "repl/info.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "interp/function_report.h"
#include "interp/native_listing.h"
#include "lang/op.h"
#include "lang/print.h"
#include "repl/columns.h"
#include "repl/derivative.h"
#include "repl/left_behind.h"
#include "repl/let_function.h"
#include "repl/names.h"
#include "repl/source_of.h"
#include "repl/users.h"

namespace relay::repl {

using lang::Definition;
using lang::Expr;
using lang::OpDef;
using lang::Origin;

namespace {

constexpr std::size_t kWidth = 100;

std::string text_of(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) text += fmt::format("{:<12} {}\n", row.name, row.text);
  return text;
}

std::string origin_of(Origin origin, lang::Span span) {
  if (origin == Origin::Prelude) return "the prelude";
  const std::string place = describe_place(span);
  if (place.empty()) return "here";
  return origin == Origin::Imported ? place + ", which is imported" : place;
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

std::string because(const lang::Diagnostic& error) {
  const std::string place = describe_place(error.span);
  return fmt::format("no: {}{}", error.message, place.empty() ? "" : fmt::format(" ({})", place));
}

// Data types may hold floats.
bool may_hold_floats(const lang::Type& type) {
  if (const auto* tensor = lang::as<lang::TensorType>(type))
    return !tensor->dtype.is_known() || lang::is_float(tensor->dtype.known());
  const auto* tuple = lang::as<lang::TupleType>(type);
  return !tuple || std::any_of(tuple->fields.begin(), tuple->fields.end(), may_hold_floats);
}

// What makes a derivative of such a function zero whatever it does; empty: nothing does.
std::string zero_because(const lang::Type& type) {
  const auto* function = lang::as<lang::FunctionType>(type);
  if (!function) return "";
  if (!may_hold_floats(function->result)) return "zero: the result holds no floats";
  const bool takes_floats =
      std::any_of(function->params.begin(), function->params.end(), may_hold_floats);
  return takes_floats ? "" : "zero: no parameter holds floats";
}

bool has_open_types(const lang::Type& type) { return !lang::variables_of(type).empty(); }

}  // namespace

std::string describe_place(lang::Span span) {
  if (!span) return "";
  return fmt::format("{}, line {}", span.source->name(), span.source->position(span.begin).line);
}

std::string Informer::about(const std::string& name) {
  if (const Definition* definition = module_.lookup(name))
    return about_definition(name, *definition);
  if (const OpDef* op = find_operator(name)) return about_operator(*op);
  if (const lang::TypeDef* type = module_.find_type(name)) return about_type(*type);
  if (const lang::Constructor* constructor = module_.find_constructor(name))
    return fmt::format("{} is a constructor of\n{}", name, about_type(*constructor->owner));
  unknown_name(name, module_);
}

std::string Informer::about_definition(const std::string& name, const Definition& definition) {
  const Expr global = lang::make_global_var(definition.name);
  auto scheme = checker_.type_of(global);
  std::string text =
      fmt::format("{} : {}\n", name,
                  scheme ? to_string(*scheme) : "no type: " + scheme.errors().front().message);
  if (!definition.doc.empty()) text += first_line(definition.doc) + "\n";
  std::vector<Row> rows = {{"defined in", origin_of(definition.origin, definition.span)}};
  if (definition.origin == Origin::Own && lang::OpRegistry::instance().find(name))
    rows.push_back(
        {"hides", fmt::format("the operator `{}`; `:forget {}` brings it back", name, name)});
  if (definition.function) {
    const auto* function = lang::as<lang::Function>(definition.function);
    const bool has_own = function && lang::gradient_of(*function);
    rows.push_back({"gradient", has_own ? "yes, its own" : gradient_of(global)});
    rows.push_back({"native code", native_code_of(definition.name)});
  }
  std::vector<std::string> users;
  for (const Definition* user : Users(module_).direct(definition.name)) users.push_back(user->name);
  if (!users.empty())
    rows.push_back({"used by", shortened(fmt::format("{}", fmt::join(users, ", ")), kWidth)});
  return text + text_of(rows);
}

std::string Informer::gradient_of(const Expr& function) {
  if (const auto scheme = checker_.type_of(function)) {
    if (std::string why = zero_because(scheme->type); !why.empty()) return why;
  }
  const auto derivative = lang::capture([&] {
    const Expr pullback = derivative_of(function, lang::DiffMode::Vjp, checker_);
    return pipeline_.optimise(pipeline_.to_core(pullback));
  });
  return derivative ? "yes" : because(derivative.errors().front());
}

std::string Informer::native_code_of(const std::string& name) {
  using Tier = interp::FunctionReport::Tier;
  for (const interp::FunctionReport& report : evaluator_.functions()) {
    if (report.name != name || report.form != interp::FunctionReport::Form::Function) continue;
    if (report.tier == Tier::Native) return fmt::format("yes: it is; `:jit {}` says more", name);
    if (report.tier == Tier::Kernels) return "yes: its kernels";
    if (report.refusal) return because(*report.refusal);
  }
  const auto listed = lang::capture([&]() -> std::string {
    const Expr typed = at_plainest_types(lang::make_global_var(name), checker_);
    if (has_open_types(typed->type))
      return fmt::format("where its extents are known: `:show flow {}(…)` tells", name);
    const Expr body = checker_.specialise(name, typed->type).or_throw();
    const Expr finished = pipeline_.finish(pipeline_.optimise(pipeline_.to_core(body)));
    const interp::NativeListing listing =
        interp::list_native(pipeline_, lang::cast<lang::GlobalVar>(typed), finished->type, "flow");
    for (const auto& refused : listing.refused) {
      if (refused.name == name) return because(refused.why);
    }
    if (!listing.refused.empty()) {
      return fmt::format("yes, but for `{}`, which it calls: `:show flow {}` tells why",
                         listing.refused.front().name, name);
    }
    return listing.text.empty() ? "yes: its kernels, and where it is called"
                                : "yes, when it is called often";
  });
  return listed ? *listed : because(listed.errors().front());
}

std::string Informer::about_operator(const OpDef& op) {
  std::vector<std::string> inputs;
  for (const auto& input : op.inputs) inputs.push_back(input.name);
  std::string text = fmt::format("{} is an operator of {} input{}\n{}\n", op.name, inputs.size(),
                                 inputs.size() == 1 ? "" : "s", first_line(op.doc));
  std::vector<Row> rows = {{"defined in", fmt::format("the program: `:source {}`", op.name)}};
  const Expr function = op.effect == lang::Effect::None ? example_function(op, prelude_) : nullptr;
  if (op.effect != lang::Effect::None) {
    rows.push_back({"gradient", "no: it has an effect"});
    rows.push_back({"native code", "no: it has an effect"});
    return text + text_of(rows);
  }
  if (!op.differentiable) {
    rows.push_back({"gradient", "zero everywhere"});
  } else if (function) {
    const std::string known = gradient_of(function);
    rows.push_back({"gradient", known == "yes" && op.gradient ? "yes, by a rule of its own"
                                : known == "yes"              ? "yes, that of its definition"
                                                              : known});
  }
  rows.push_back({"native code", op.primitive == lang::TensorPrimitive::None
                                     ? "yes, as kernels"
                                     : "a function of the program, of whole tensors"});
  return text + text_of(rows);
}

std::string Informer::about_type(const lang::TypeDef& type) {
  std::string text = lang::print_light_type_def(type);
  if (!text.ends_with('\n')) text += '\n';
  if (!type.doc.empty()) text += first_line(type.doc) + "\n";
  return text + text_of({{"defined in", origin_of(type.origin, type.span)}});
}

}  // namespace relay::repl
