// Patterns of the expressions that they are written as.

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "lang/diagnostic.h"
#include "lang/op.h"
#include "lang/visit.h"
#include "opt/pattern.h"

namespace relay::opt {

using lang::as;
using lang::Diagnostic;
using lang::DiagnosticKind;
using lang::Expr;
using lang::ExprKind;
using lang::PatternForm;
using lang::RewriteRule;

namespace {

using Kind = ExprPattern::Kind;
using Names = std::set<const lang::Variable*>;

ExprPatternRef shared(ExprPattern pattern) {
  return std::make_shared<const ExprPattern>(std::move(pattern));
}

std::string_view describe(ExprKind kind) {
  switch (kind) {
    case ExprKind::If:
      return "`if`";
    case ExprKind::Match:
      return "`match`";
    case ExprKind::Function:
      return "a function";
    case ExprKind::RefCreate:
    case ExprKind::RefRead:
    case ExprKind::RefWrite:
      return "a reference";
    case ExprKind::Comprehension:
    case ExprKind::Reduction:
    case ExprKind::Index:
    case ExprKind::ScatterReduce:
    case ExprKind::Primitive:
      return "index notation";
    case ExprKind::DimTerm:
      return "a dimension";
    default:
      return "this expression";
  }
}

// Makes the pattern of one rule.
class PatternMaker {
 public:
  using Patterns = std::map<std::string, const RewriteRule*>;

  PatternMaker(const RewriteRule& rule, const Patterns& patterns)
      : rule_(rule), patterns_(patterns) {
    open_.push_back(rule.name);
  }

  ExprPatternRef run() {
    Scope scope;
    for (const lang::VariableRef& param : rule_.params) {
      scope[param.get()] = shared({.kind = Kind::Wildcard, .variable = param});
    }
    ExprPatternRef pattern = block(rule_.pattern, scope);
    if (pattern->kind == Kind::Wildcard) {
      lang::fail(DiagnosticKind::BadRule, "a pattern that is a name alone fits everything",
                 rule_.pattern->span);
    }
    return pattern;
  }

 private:
  using Scope = std::unordered_map<const lang::Variable*, ExprPatternRef>;

  // Names of steps are bound to what they name.
  ExprPatternRef block(const Expr& expr, Scope scope) {
    const lang::Block opened = lang::open_block(expr);
    for (const lang::Binding& binding : opened.bindings)
      scope[binding.variable.get()] = named(make(binding.value, scope), binding.variable);
    return make(opened.result, scope);
  }

  static ExprPatternRef named(const ExprPatternRef& pattern, const lang::VariableRef& variable) {
    if (pattern->kind == Kind::Wildcard || pattern->kind == Kind::Number || pattern->variable)
      return pattern;
    ExprPattern copy = *pattern;
    copy.variable = variable;
    return shared(std::move(copy));
  }

  ExprPatternRef make(const Expr& expr, const Scope& scope) {
    switch (expr->kind) {
      case ExprKind::Var: {
        const lang::VariableRef& variable = lang::cast<lang::Var>(expr).variable;
        if (lang::has_role(*variable, lang::kOperatorRole)) {
          lang::fail(DiagnosticKind::BadRule,
                     fmt::format("`{0}` is an operator, which is called: `{0}(x)`", variable->name),
                     expr->span);
        }
        return scope.at(variable.get());
      }
      case ExprKind::Literal:
        if (lang::cast<lang::Literal>(expr).elements) break;
        return shared({.kind = Kind::Number, .number = expr});
      case ExprKind::Constant:
        return shared({.kind = Kind::Number, .number = expr});
      case ExprKind::Tuple: {
        ExprPattern tuple{.kind = Kind::Tuple};
        for (const Expr& field : lang::cast<lang::Tuple>(expr).fields)
          tuple.parts.push_back(make(field, scope));
        return shared(std::move(tuple));
      }
      case ExprKind::Projection: {
        const auto& node = lang::cast<lang::Projection>(expr);
        return shared(
            {.kind = Kind::Projection, .parts = {make(node.tuple, scope)}, .index = node.index});
      }
      case ExprKind::Let:
        return block(expr, scope);
      case ExprKind::Call:
        return call(expr, scope);
      case ExprKind::Operator:
      case ExprKind::GlobalVar:
        lang::fail(DiagnosticKind::BadRule,
                   "an operator in a pattern is called, as in `nn.relu(x)`", expr->span);
      default:
        break;
    }
    lang::fail(DiagnosticKind::Unsupported,
               fmt::format("not supported: {} in a pattern", describe(expr->kind)), expr->span);
  }

  ExprPatternRef call(const Expr& expr, const Scope& scope) {
    const auto& node = lang::cast<lang::Call>(expr);
    if (const auto* global = as<lang::GlobalVar>(node.callee)) {
      if (const PatternForm* form = lang::find_pattern_form(global->name);
          form && *form > PatternForm::Operator)
        return combined(*form, node, scope);
    }
    std::vector<ExprPatternRef> parts;
    for (const Expr& arg : node.args) parts.push_back(make(arg, scope));
    return applied(node.callee, std::move(parts), node.attrs, expr->span, false);
  }

  // `either(p, q)`, `maybe(p, step)`, `chain(p, step)`
  ExprPatternRef combined(PatternForm form, const lang::Call& node, const Scope& scope) {
    const std::string_view name = lang::name_of(form);
    const bool is_either = form == PatternForm::Either;
    if (is_either ? node.args.size() < 2 : node.args.size() != 2) {
      lang::fail(DiagnosticKind::WrongArity,
                 is_either ? std::string("`either` takes two patterns or more")
                           : fmt::format("`{}` takes a pattern and a step behind it, as in "
                                         "`{}(nn.dense(x, w), nn.relu)`",
                                         name, name),
                 node.span);
    }
    ExprPattern pattern{.kind = is_either                    ? Kind::Either
                                : form == PatternForm::Maybe ? Kind::Maybe
                                                             : Kind::Chain,
                        .hole = holes_++};
    for (std::size_t i = 0; i < node.args.size(); ++i)
      pattern.parts.push_back(is_either || i == 0 ? make(node.args[i], scope)
                                                  : step(node.args[i], scope, pattern.hole));
    return shared(std::move(pattern));
  }

  // `nn.relu`, `nn.bias_add(b)`: what it stands behind is its first operand.
  ExprPatternRef step(const Expr& expr, const Scope& scope, std::uint32_t hole) {
    std::vector<ExprPatternRef> parts{shared({.kind = Kind::Hole, .hole = hole})};
    const auto* node = as<lang::Call>(expr);
    if (node) {
      for (const Expr& arg : node->args) parts.push_back(make(arg, scope));
    }
    const bool is_step = node || expr->kind == ExprKind::Operator ||
                         expr->kind == ExprKind::GlobalVar || as<lang::Var>(expr);
    if (!is_step) {
      lang::fail(DiagnosticKind::BadRule,
                 "a step is an operator, or a call without its first operand", expr->span);
    }
    return applied(node ? node->callee : expr, std::move(parts), node ? node->attrs : nullptr,
                   expr->span, true);
  }

  ExprPatternRef applied(const Expr& callee, std::vector<ExprPatternRef> parts,
                         const lang::AttrsRef& attrs, lang::Span span, bool is_step) {
    ExprPattern pattern{.kind = Kind::Call};
    if (const auto* op = as<lang::Operator>(callee)) {
      pattern.op = op->op;
      pattern.attrs = checked(*op->op, attrs);
      check_operands(*op->op, parts.size(), span, is_step);
    } else if (const auto* var = as<lang::Var>(callee)) {
      const lang::AttrValue* trait =
          var->variable->attrs ? var->variable->attrs->find(lang::kOperatorRole) : nullptr;
      if (!trait) {
        lang::fail(DiagnosticKind::BadRule,
                   fmt::format("`{0}` is called, but stands for no operator: `{0}: Elementwise`",
                               var->variable->name),
                   callee->span);
      }
      pattern.op_variable = var->variable;
      pattern.trait = *lang::find_pattern_form(*trait->as_string());
    } else {
      const std::string& name = lang::cast<lang::GlobalVar>(callee).name;
      const PatternForm* form = lang::find_pattern_form(name);
      if (!form) return expanded(name, std::move(parts), span);
      if (*form > PatternForm::Operator) {
        lang::fail(DiagnosticKind::BadRule, fmt::format("`{}` is no step", name), span);
      }
      pattern.trait = *form;
    }
    if (!pattern.op && attrs) {
      lang::fail(DiagnosticKind::BadRule, "attributes are those of one operator; this may be any",
                 attrs->list[0].span);
    }
    pattern.parts = std::move(parts);
    return shared(std::move(pattern));
  }

  // A pattern of the text, called by its name. An operand that it mentions twice is one.
  ExprPatternRef expanded(const std::string& name, std::vector<ExprPatternRef> parts,
                          lang::Span span) {
    const auto found = patterns_.find(name);
    if (found == patterns_.end()) {
      lang::fail(DiagnosticKind::Unsupported,
                 fmt::format("not supported: the function `{}` in a pattern", name), span);
    }
    if (std::find(open_.begin(), open_.end(), name) != open_.end()) {
      lang::fail(DiagnosticKind::BadRule, fmt::format("the pattern `{}` is made of itself", name),
                 span);
    }
    const RewriteRule& inner = *found->second;
    if (parts.size() != inner.params.size()) {
      lang::fail(DiagnosticKind::WrongArity,
                 fmt::format("pattern `{}` takes {} operand{}, not {}", name, inner.params.size(),
                             inner.params.size() == 1 ? "" : "s", parts.size()),
                 span);
    }
    Scope scope;
    for (std::size_t i = 0; i < parts.size(); ++i)
      scope[inner.params[i].get()] = named(parts[i], lang::make_variable(inner.params[i]->name));
    open_.push_back(name);
    ExprPatternRef pattern = block(inner.pattern, std::move(scope));
    open_.pop_back();
    return pattern;
  }

  // Values as the record wants them; those that are not written are free.
  static lang::AttrsRef checked(const lang::OpDef& op, const lang::AttrsRef& attrs) {
    if (!attrs) return nullptr;
    std::vector<lang::Attr> checked;
    for (const lang::Attr& attr : attrs->list) {
      const auto spec =
          std::find_if(op.attrs.begin(), op.attrs.end(),
                       [&](const lang::AttrSpec& each) { return each.name == attr.key; });
      if (spec == op.attrs.end()) {
        Diagnostic diagnostic(DiagnosticKind::UnknownAttribute,
                              fmt::format("`{}` has no attribute `{}`", op.name, attr.key),
                              attr.span);
        std::vector<std::string> names;
        for (const lang::AttrSpec& each : op.attrs) names.push_back(each.name);
        const auto close = lang::closest_names(attr.key, names);
        if (!close.empty()) diagnostic.note(fmt::format("help: did you mean `{}`?", close[0]));
        throw lang::Failure(std::move(diagnostic));
      }
      const auto value = lang::coerce_attr(spec->kind, attr.value);
      checked.push_back({attr.key, value ? *value : attr.value, attr.span});
    }
    return lang::make_attrs(std::move(checked));
  }

  static void check_operands(const lang::OpDef& op, std::size_t count, lang::Span span,
                             bool is_step) {
    const auto needed = static_cast<std::size_t>(
        std::count_if(op.inputs.begin(), op.inputs.end(),
                      [](const lang::InputSpec& input) { return !input.is_optional; }));
    if (count <= op.inputs.size() && count >= needed) return;
    lang::fail(
        DiagnosticKind::WrongArity,
        fmt::format("operator `{}` takes {} operand{}, not {}{}", op.name, needed,
                    needed == 1 ? "" : "s", count, is_step ? ", with what it stands behind" : ""),
        span);
  }

  const RewriteRule& rule_;
  const Patterns& patterns_;
  std::vector<std::string> open_;  // patterns that are being expanded
  std::uint32_t holes_ = 0;
};

// The names that have a value whatever matches, and those that may have one.
struct BoundNames {
  Names always;
  Names sometimes;
  std::set<std::string> attrs;

  void add(const BoundNames& other) {
    always.insert(other.always.begin(), other.always.end());
    sometimes.insert(other.sometimes.begin(), other.sometimes.end());
    attrs.insert(other.attrs.begin(), other.attrs.end());
  }
};

void add_attribute_names(const lang::AttrValue& value, std::set<std::string>& names) {
  if (const std::string* name = lang::attribute_parameter(value)) names.insert(*name);
  if (const auto* list = value.as_list()) {
    for (const lang::AttrValue& each : *list) add_attribute_names(each, names);
  }
}

BoundNames names_bound_by(const ExprPattern& pattern) {
  BoundNames bound;
  for (const lang::VariableRef& variable : {pattern.variable, pattern.op_variable}) {
    if (!variable) continue;
    bound.always.insert(variable.get());
    bound.sometimes.insert(variable.get());
  }
  if (pattern.attrs) {
    for (const lang::Attr& attr : pattern.attrs->list) add_attribute_names(attr.value, bound.attrs);
  }
  Names common;
  for (std::size_t i = 0; i < pattern.parts.size(); ++i) {
    BoundNames part = names_bound_by(*pattern.parts[i]);
    const bool is_optional = (pattern.kind == Kind::Maybe || pattern.kind == Kind::Chain) && i == 1;
    if (pattern.kind == Kind::Either) {
      Names both;
      std::set_intersection(part.always.begin(), part.always.end(), common.begin(), common.end(),
                            std::inserter(both, both.end()));
      common = i == 0 ? part.always : std::move(both);
      part.always.clear();
    } else if (is_optional) {
      part.always.clear();
    }
    bound.add(part);
  }
  bound.always.insert(common.begin(), common.end());
  return bound;
}

// Throws where a parameter is nowhere in the pattern, or what follows needs one that may be in no
// part that has matched.
void check_names(const PatternRule& rule) {
  const BoundNames bound = names_bound_by(*rule.pattern);
  const std::string_view kind = rule.written.kind == lang::RuleKind::Pattern ? "pattern" : "rule";
  for (const lang::VariableRef& param : rule.written.params) {
    const bool is_there =
        bound.sometimes.contains(param.get()) || bound.attrs.contains(param->name);
    if (is_there) continue;
    lang::fail(DiagnosticKind::BadRule,
               fmt::format("`{}` does not occur in the pattern of {} `{}`", param->name, kind,
                           rule.written.name),
               param->span);
  }
  for (const Expr& code : {rule.written.replacement, rule.written.condition}) {
    if (!code) continue;
    lang::visit_post_order(code, [&](const Expr& node) {
      const auto* var = as<lang::Var>(node);
      if (!var || bound.always.contains(var->variable.get()) ||
          !bound.sometimes.contains(var->variable.get()))
        return;
      lang::fail(DiagnosticKind::BadRule,
                 fmt::format("`{}` may have no value: not all that the pattern matches has it",
                             var->variable->name),
                 node->span);
    });
  }
}

}  // namespace

std::vector<PatternRule> pattern_rules(const std::vector<RewriteRule>& rules) {
  PatternMaker::Patterns patterns;
  for (const RewriteRule& rule : rules) {
    if (rule.kind == lang::RuleKind::Pattern) patterns.emplace(rule.name, &rule);
  }
  std::vector<PatternRule> made;
  std::vector<Diagnostic> errors;
  for (const RewriteRule& rule : rules) {
    auto pattern = lang::capture([&] {
      PatternRule one{rule, PatternMaker(rule, patterns).run()};
      check_names(one);
      return one;
    });
    if (pattern) {
      made.push_back(std::move(*pattern));
    } else {
      // Rules that mention a pattern that is wrong have its error, too.
      for (const Diagnostic& error : pattern.errors()) {
        const bool is_known = std::any_of(
            errors.begin(), errors.end(),
            [&](const Diagnostic& each) { return each.span.begin == error.span.begin; });
        if (!is_known) errors.push_back(error);
      }
    }
  }
  if (!errors.empty()) throw lang::Failure(std::move(errors));
  return made;
}

}  // namespace relay::opt
