#include "repl/source_of.h"

#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "lang/print.h"
#include "lang/visit.h"
#include "parser/parse.h"
#include "typecheck/infer.h"

namespace relay::repl {

using lang::DiagnosticKind;
using lang::Expr;

namespace {

Expr first_call(const lang::OpDef& op, const Expr& typed) {
  Expr found;
  lang::visit_post_order(typed, [&](const Expr& node) {
    const auto* call = lang::as<lang::Call>(node);
    const auto* callee = call ? lang::as<lang::Operator>(call->callee) : nullptr;
    if (!found && callee && callee->op == &op) found = node;
  });
  return found;
}

// The first call of the operator in its example, typed; null if there is none outside definitions.
Expr example_call(const lang::OpDef& op, lang::Module scope, const lang::Source& text) {
  typecheck::Checker checker(scope);
  const parser::Parsed parsed = parser::parse(text, scope).or_throw();
  for (const parser::Item& item : parsed.items) {
    if (item.kind == parser::ItemKind::Type) scope.define(item.type_def);
    if (item.kind == parser::ItemKind::Def)
      scope.define({item.name, item.expr, nullptr, lang::Origin::Own, "", item.span});
    if (item.kind != parser::ItemKind::Let && item.kind != parser::ItemKind::Expression) continue;
    const Expr typed = checker.check(item.expr, item.annotation).or_throw();
    if (Expr found = first_call(op, typed)) return found;
    if (!item.name.empty())
      scope.define({item.name, nullptr, typed->type, lang::Origin::Own, "", item.span});
  }
  return nullptr;
}

// What there is to say of an operator that no index notation defines; empty of the others.
std::string without_definition(const lang::OpDef& op, const lang::Module& module) {
  if (op.effect != lang::Effect::None)
    return fmt::format("`{}` has an effect, which no definition describes\n", op.name);
  if (op.primitive != lang::TensorPrimitive::None)
    return fmt::format("`{}` is a primitive: a function of whole tensors\n", op.name);
  if (op.static_form.empty()) return "";
  return fmt::format("// `{}` is `{}`, with the values of inputs for attributes\n{}", op.name,
                     op.static_form,
                     operator_source(lang::OpRegistry::instance().get(op.static_form), module));
}

// The call of an operator in its example, as a function of those inputs that are given there.
struct ExampleCall {
  std::unique_ptr<const lang::Source> text;  // where the spans of the expressions are
  std::vector<lang::VariableRef> params;
  std::vector<Expr> args;
  const lang::Call* call;
  Expr whole;
};

std::optional<ExampleCall> example_of(const lang::OpDef& op, const lang::Module& module) {
  ExampleCall example{std::make_unique<lang::Source>("<example>", op.example), {}, {}, nullptr, {}};
  example.whole = example_call(op, module, *example.text);
  if (!example.whole) return std::nullopt;
  example.call = &lang::cast<lang::Call>(example.whole);
  for (std::size_t i = 0; i < example.call->args.size(); ++i) {
    const Expr& arg = example.call->args[i];
    const bool is_missing = op.inputs[i].is_optional && arg->kind == lang::ExprKind::Tuple;
    if (!is_missing) example.params.push_back(lang::make_variable(op.inputs[i].name, arg->type));
    example.args.push_back(is_missing ? arg : lang::make_var(example.params.back()));
  }
  return example;
}

}  // namespace

Expr example_function(const lang::OpDef& op, const lang::Module& module) {
  const auto example = example_of(op, module);
  if (!example) return nullptr;
  const Expr call = lang::make_call(lang::make_operator(&op), example->args, example->call->attrs);
  return lang::make_function(example->params, example->whole->type, call);
}

std::string operator_source(const lang::OpDef& op, const lang::Module& module) {
  if (std::string text = without_definition(op, module); !text.empty()) return text;
  const lang::OpDefinition& definition = op.definition ? op.definition : op.expansion;
  const auto example = example_of(op, module);
  if (!definition || !example) {
    lang::fail(
        DiagnosticKind::Unsupported,
        fmt::format("not supported: the source of `{}`, whose example does not call it", op.name));
  }
  std::string attrs;
  if (example->call->attrs) {
    for (const lang::Attr& attr : example->call->attrs->list)
      attrs += fmt::format("{}{}={}", attrs.empty() ? "" : ", ", attr.key, attr.value.to_string());
  }
  const lang::Type& type = example->whole->type;
  const Expr body = lang::rename_bound(definition({example->args, example->call->attrs, type}));
  const Expr function = lang::make_function(example->params, type, body);
  return fmt::format("{}{}", attrs.empty() ? "" : fmt::format("// with {}\n", attrs),
                     lang::print_light_definition(op.name, function));
}

}  // namespace relay::repl
