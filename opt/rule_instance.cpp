#include "opt/rule_instance.h"

#include <algorithm>

#include <fmt/format.h>

#include "lang/build.h"
#include "lang/diagnostic.h"
#include "lang/op.h"
#include "lang/stop.h"
#include "lang/visit.h"

namespace relay::opt {

using lang::as;
using lang::DiagnosticKind;
using lang::Expr;
using lang::ExprKind;

namespace {

// What dimensions and dtypes of the rule are as values of attributes; nothing for one that is open.
std::optional<lang::AttrValue> type_parameter(const PatternRule& rule, const ExprMatch& match,
                                              const std::string& name) {
  for (const lang::TypeVarRef& var : rule.written.type_params) {
    if (var->name != name) continue;
    if (const auto dim = match.types.dims.find(var.get()); dim != match.types.dims.end())
      return dim->second.is_constant() ? std::optional<lang::AttrValue>(dim->second.constant())
                                       : std::nullopt;
    if (const auto dtype = match.types.dtypes.find(var.get());
        dtype != match.types.dtypes.end() && dtype->second.is_known())
      return lang::AttrValue(dtype->second.known());
  }
  return std::nullopt;
}

// A number as a literal; null for what is none.
Expr as_value(const lang::AttrValue& value, lang::Span span) {
  if (const bool* truth = value.as_bool())
    return lang::make_constant(lang::Tensor::scalar(lang::DType::Bool, *truth ? 1 : 0), span);
  if (const std::int64_t* number = value.as_int()) return lang::make_literal(*number, span);
  if (const double* number = value.as_float()) return lang::make_literal(*number, span);
  return nullptr;
}

// Code of a rule at a match, as a function of what it mentions of the match.
class Instance final : public lang::Rewriter {
 public:
  Instance(const PatternRule& rule, const ExprMatch& match, bool wants_constants)
      : rule_(rule), match_(match), wants_constants_(wants_constants) {}

  // Untyped.
  Expr function(const Expr& code) {
    Expr body = lang::substitute_types(rewrite(code), match_.types);
    return lang::make_function(params_, nullptr, std::move(body), {}, nullptr, code->span);
  }
  // In the order of its parameters.
  const std::vector<Expr>& arguments() const { return arguments_; }
  // Does it need an extent that the types do not say?
  bool is_open() const { return is_open_; }

 protected:
  Expr pre(const Expr& expr) override {
    if (const auto* var = as<lang::Var>(expr)) return variable(*var);
    const auto* call = as<lang::Call>(expr);
    const auto* callee = call ? as<lang::Var>(call->callee) : nullptr;
    if (!callee || !lang::has_role(*callee->variable, lang::kOperatorRole)) return nullptr;
    return same_call(expr, *call, match_.calls.at(callee->variable.get()));
  }

  Expr post(const Expr& expr) override {
    if (const auto* term = as<lang::DimTerm>(expr)) {
      const lang::Dim dim = lang::substitute(term->dim, match_.types);
      if (!dim.is_constant()) is_open_ = true;
      return lang::build::index_constant(dim.is_constant() ? dim.constant() : 0);
    }
    const auto* call = as<lang::Call>(expr);
    const auto* callee = call ? as<lang::Operator>(call->callee) : nullptr;
    if (!callee || !call->attrs) return expr;
    return lang::make_call(call->callee, call->args, attributes(*callee->op, *call->attrs),
                           expr->span);
  }

 private:
  Expr variable(const lang::Var& var) {
    const lang::Variable& variable = *var.variable;
    if (lang::has_role(variable, lang::kOperatorRole)) {
      const Expr& called = match_.calls.at(&variable);
      return lang::make_operator(operator_of(called), var.span);
    }
    if (lang::has_role(variable, lang::kAttributeRole)) {
      if (Expr value = as_value(match_.attrs.at(variable.name), var.span)) return value;
      lang::fail(DiagnosticKind::BadRule,
                 fmt::format("`{}` is {} here, which is no value of the language", variable.name,
                             match_.attrs.at(variable.name).to_string()),
                 var.span);
    }
    const auto bound = match_.values.find(&variable);
    if (bound == match_.values.end()) return Expr(&var);  // bound by the code itself
    if (wants_constants_) {
      if (bound->second->kind == ExprKind::Constant) return bound->second;
      lang::fail(DiagnosticKind::BadRule,
                 fmt::format("a condition is decided before the program runs, and `{}` need not be "
                             "known then",
                             variable.name),
                 var.span);
    }
    lang::VariableRef& param = made_[&variable];
    if (!param) {
      param = lang::make_variable(variable.name, bound->second->type, var.span);
      params_.push_back(param);
      arguments_.push_back(bound->second);
    }
    return lang::make_var(param, var.span);
  }

  lang::AttrValue parameter(const std::string& name) {
    if (const auto bound = match_.attrs.find(name); bound != match_.attrs.end())
      return bound->second;
    if (auto known = type_parameter(rule_, match_, name)) return *known;
    is_open_ = true;
    return lang::AttrValue(1);
  }

  // The attributes of the call that has matched a named step.
  const lang::Call* like(const lang::AttrValue& step) const {
    const std::string* name = lang::attribute_parameter(step);
    for (const auto& [variable, call] : match_.calls) {
      if (name && variable->name == *name) return as<lang::Call>(call);
    }
    return nullptr;
  }

  // `f(x)`: the operator that `f` stands for, with the attributes that it had.
  Expr same_call(const Expr& expr, const lang::Call& call, const Expr& matched) {
    std::vector<Expr> args;
    for (const Expr& arg : call.args) args.push_back(rewrite(arg));
    lang::AttrsRef attrs = call.attrs ? attributes(*operator_of(matched), *call.attrs)
                                      : lang::cast<lang::Call>(matched).attrs;
    return lang::make_call(rewrite(call.callee), std::move(args), std::move(attrs), expr->span);
  }

  lang::AttrsRef attributes(const lang::OpDef& op, const lang::Attrs& written) {
    std::vector<lang::Attr> attrs;
    for (const lang::Attr& attr : written.list) {
      if (attr.key != lang::kLikeAttr) continue;
      const lang::Call* matched = like(attr.value);
      if (!matched) {
        lang::fail(DiagnosticKind::BadRule,
                   "`like` takes the attributes of a step that the pattern names by `let`",
                   attr.span);
      }
      if (!matched->attrs) continue;
      for (const lang::Attr& each : matched->attrs->list) {
        if (std::any_of(op.attrs.begin(), op.attrs.end(),
                        [&](const lang::AttrSpec& spec) { return spec.name == each.key; }))
          attrs.push_back(each);
      }
    }
    for (const lang::Attr& attr : written.list) {
      if (attr.key == lang::kLikeAttr) continue;
      std::erase_if(attrs, [&](const lang::Attr& each) { return each.key == attr.key; });
      attrs.push_back(
          {attr.key,
           lang::with_parameters(attr.value, [&](const auto& name) { return parameter(name); }),
           attr.span});
    }
    return lang::make_attrs(std::move(attrs));
  }

  const PatternRule& rule_;
  const ExprMatch& match_;
  const bool wants_constants_;
  std::unordered_map<const lang::Variable*, lang::VariableRef> made_;
  std::vector<lang::VariableRef> params_;
  std::vector<Expr> arguments_;
  bool is_open_ = false;
};

// A type parameter that an attribute has bound, too, is the same there.
bool agree(const PatternRule& rule, ExprMatch& match) {
  for (const lang::TypeVarRef& var : rule.written.type_params) {
    const auto attr = match.attrs.find(var->name);
    if (attr == match.attrs.end()) continue;
    if (const auto known = type_parameter(rule, match, var->name)) {
      if (!(*known == attr->second)) return false;
      continue;
    }
    if (const std::int64_t* extent = attr->second.as_int();
        extent && var->kind == lang::VarKind::Dim) {
      if (!match.types.dims.emplace(var.get(), lang::Dim(*extent)).second) return false;
    }
  }
  return true;
}

bool holds(const PatternRule& rule, const ExprMatch& match, const Definitions& definitions,
           const RuleHost& host) {
  ExprMatch known = match;
  for (auto& [variable, value] : known.values) {
    if (lang::has_role(*variable, lang::kConstantRole)) value = definitions.of(value);
  }
  Instance instance(rule, known, true);
  const Expr function = instance.function(rule.written.condition);
  if (instance.is_open()) return false;
  const Expr typed = host.infer(function);
  const Expr& body = lang::cast<lang::Function>(typed).body;
  if (!lang::equal(body->type, lang::scalar_type(lang::DType::Bool))) {
    lang::fail(DiagnosticKind::TypeMismatch,
               fmt::format("a condition is a `bool`, not a `{}`", lang::to_string(body->type)),
               rule.written.condition->span);
  }
  const Expr value = host.evaluate(body);
  const auto* constant = as<lang::Constant>(value);
  return constant && constant->value->bits_at(0) != 0;
}

}  // namespace

std::optional<ExprMatch> match_rule(const PatternRule& rule, const Expr& expr,
                                    const Definitions& definitions, const RuleHost& host) {
  std::optional<ExprMatch> found = match(*rule.pattern, expr, definitions);
  if (!found || !agree(rule, *found)) return std::nullopt;
  if (rule.written.condition && !holds(rule, *found, definitions, host)) return std::nullopt;
  return found;
}

Expr replacement_for(const PatternRule& rule, const ExprMatch& match, const lang::Type& type,
                     const RuleHost& host, std::vector<lang::Diagnostic>* why) {
  Instance instance(rule, match, false);
  const auto typed = lang::capture([&]() -> Expr {
    const Expr function = instance.function(rule.written.replacement);
    return instance.is_open() ? Expr() : host.infer(function);
  });
  if (!typed) {
    if (lang::is_stop(typed.errors().front().kind)) throw lang::Failure(typed.errors());
    if (why) *why = typed.errors();
    return nullptr;
  }
  if (!*typed) return nullptr;
  const auto& made = lang::cast<lang::Function>(*typed);
  if (!lang::equal(made.body->type, type)) return nullptr;
  lang::Substitution values;
  for (std::size_t i = 0; i < made.params.size(); ++i)
    values.emplace(made.params[i].get(), instance.arguments()[i]);
  return lang::rename_bound(lang::substitute(made.body, values));
}

}  // namespace relay::opt
