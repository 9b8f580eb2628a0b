// Rewrite rules: the names of a pattern, and what its replacement may mention.

#include <algorithm>

#include <fmt/format.h>

#include "lang/boxed.h"
#include "lang/dtype_class.h"
#include "parser/mends.h"
#include "parser/read.h"
#include "parser/resolver.h"
#include "parser/rules.h"
#include "parser/strings.h"

namespace relay::parser {

using lang::Attr;
using lang::Diagnostic;
using lang::DiagnosticKind;
using lang::RewriteRule;
using lang::RuleKind;

namespace {

const Node& rule_in(const Node& item) {
  return *item.child(item.child(0)->kind == Syntax::Doc ? 1 : 0);
}

// The parts of a Rule node.
struct RuleParts {
  explicit RuleParts(const Node& node) {
    std::size_t at = 0;
    while (node.child(at)->kind == Syntax::Word) word = node.child(at++);
    name = node.child(at++);
    has_two_words = at > 2;
    params = node.find(Syntax::Params);
    condition = node.find(Syntax::Where);
    while (node.child(at) != (condition ? condition : params)) ++at;
    pattern = node.child(++at);
    if (++at < node.count) replacement = node.child(at);
  }
  const Node* word = nullptr;  // `rule` or `pattern`
  bool has_two_words = false;  // `approximate rule`
  const Node* name = nullptr;
  const Node* params = nullptr;
  const Node* condition = nullptr;
  const Node* pattern = nullptr;
  const Node* replacement = nullptr;
};

}  // namespace

// The forms, and the patterns that this text defines: they stand for themselves.
lang::Expr Resolver::pattern_form(const Node& node) {
  const std::string_view text = tree_.text(node);
  return lang::find_pattern_form(text) ? lang::make_global_var(std::string(text), span(node))
                                       : nullptr;
}

// A name that is neither a type nor declared would be a type of its own, and restrict nothing.
void Resolver::check_restriction(const Node& name) {
  const std::string_view text = tree_.text(name);
  const Symbol& symbol = symbols_.intern(text);
  if (symbol.type_param >= 0 || symbol.type() || lang::parse_dtype(text)) return;
  Diagnostic diagnostic(DiagnosticKind::UnknownType, fmt::format("unknown type `{}`", text),
                        span(name));
  std::vector<std::string> names = {"Constant"};
  for (const lang::NamedDTypeClass& each : lang::kDTypeClasses) names.emplace_back(each.name);
  for (std::string& trait : lang::operator_trait_names()) names.push_back(std::move(trait));
  const auto close = lang::closest_names(text, names);
  diagnostic.note(close.empty() ? "help: a type, `Constant`, `Integer`, `Float`, `Boolean`, or "
                                  "`Elementwise` and its kin"
                                : fmt::format("help: did you mean `{}`?", close.front()));
  report(std::move(diagnostic));
}

lang::VariableRef Resolver::rule_parameter(const Node& node, const Node& rule) {
  const Node& name = *node.child(0);
  const std::string_view text = name_text(name);
  if (node.kind == Syntax::Attr || node.find(Syntax::Default)) {
    report(Kind::SyntaxError, "what a rule speaks of has no default value", span(node));
    return lang::make_variable(std::string(text), nullptr, span(name));
  }
  std::vector<Attr> roles;
  lang::Type type;
  if (const Node* annotation = node.find(Syntax::Annotation)) {
    const Node& written = *annotation->child(0);
    const bool is_named = written.kind == Syntax::NamedType;
    const std::string_view head = is_named ? tree_.text(*written.child(0)) : std::string_view();
    if (head == "Constant") {
      roles.push_back({std::string(lang::kConstantRole), lang::AttrValue(true)});
      if (written.count > 1) type = this->type(*written.child(1));
    } else if (lang::parse_dtype_class(head)) {
      roles.push_back({std::string(lang::kDTypeClassRole), lang::AttrValue(std::string(head))});
    } else if (const auto* trait = lang::find_operator_trait(head)) {
      roles.push_back({std::string(lang::kOperatorRole), std::string(lang::name_of(*trait))});
    } else {
      if (is_named && written.count == 1) check_restriction(*written.child(0));
      type = this->type(written);
    }
  }
  const RuleParts parts(rule);
  const bool is_attribute = is_used_as_attribute(*parts.pattern, text);
  if (is_attribute) roles.push_back({std::string(lang::kAttributeRole), lang::AttrValue(true)});
  return lang::make_variable(std::string(text), type, span(name),
                             lang::make_attrs(std::move(roles)));
}

// Its `let`s bind for the replacement, too.
lang::Expr Resolver::rule_pattern(const Node& node) {
  is_in_pattern_ = true;
  std::vector<Step> steps;
  Expr result;
  if (node.kind == Syntax::Sequence) {
    for (const Node* child : node.children()) {
      if (child->kind == Syntax::Let) {
        let_statement(*child, steps);
      } else if (child == node.last()) {
        result = expr(*child);
      } else {
        report(Kind::BadRule, "a pattern is one expression, behind `let`s that name its steps",
               span(*child));
      }
    }
  } else {
    result = expr(node);
  }
  is_in_pattern_ = false;
  if (!result) result = nothing(node);
  for (std::size_t i = steps.size(); i-- > 0;) {
    named_steps_.insert(steps[i].variable.get());
    result = lang::make_let(steps[i].variable, steps[i].value, std::move(result), steps[i].span);
  }
  return result;
}

std::optional<RewriteRule> Resolver::rule(const Node& node) {
  item_is_broken_ = false;
  is_in_rule_ = is_in_pattern_ = implicit_type_params_ = false;
  named_steps_.clear();
  undeclared_.clear();
  const RuleParts parts(node);
  RewriteRule rule;
  rule.kind = parts.has_two_words                    ? RuleKind::Approximate
              : tree_.text(*parts.word) == "pattern" ? RuleKind::Pattern
                                                     : RuleKind::Exact;
  rule.name = tree_.text(*parts.name);
  rule.span = span(*parts.name);
  const FunctionScope scope(*this);
  const std::size_t mark = type_params_.size();
  declare_type_params(node);
  implicit_type_params_ = true;
  for (const Node* child : parts.params->children()) {
    lang::VariableRef param = rule_parameter(*child, node);
    const auto earlier =
        std::find_if(rule.params.begin(), rule.params.end(),
                     [&](const lang::VariableRef& each) { return each->name == param->name; });
    if (earlier != rule.params.end()) {
      report(Diagnostic(DiagnosticKind::DuplicateDefinition,
                        fmt::format("two parameters have the name `{}`", param->name), param->span)
                 .label((*earlier)->span, "the first one"));
    }
    rule.params.push_back(std::move(param));
  }
  implicit_type_params_ = false;
  for (const lang::VariableRef& param : rule.params)
    bind_local(texts_.emplace_back(param->name), param);
  is_in_rule_ = true;
  rule.pattern = rule_pattern(*parts.pattern);
  if (parts.condition) {
    const Scope inner(*this);
    rule.condition = expr(*parts.condition->child(0));
  }
  if (parts.replacement) {
    const Scope inner(*this);
    rule.replacement = expr(*parts.replacement);
  }
  rule.type_params = close_type_params(mark);
  if (item_is_broken_) return std::nullopt;
  return rule;
}

std::vector<RewriteRule> Resolver::rules() {
  std::vector<RewriteRule> rules;
  std::map<std::string_view, Span> seen;
  for (const Node* item : tree_.root->children()) {
    if (item->kind != Syntax::Item || rule_in(*item).kind == Syntax::Broken) continue;
    const Node& node = rule_in(*item);
    if (node.kind != Syntax::Rule) {
      report(Diagnostic(DiagnosticKind::SyntaxError, "expected a rule or a pattern", span(node))
                 .note("help: `rule double(x) { x + x } => { 2 * x }`"));
      continue;
    }
    const Node& name = *RuleParts(node).name;
    const auto [first, is_new] = seen.try_emplace(tree_.text(name), span(name));
    if (!is_new) {
      report(Diagnostic(DiagnosticKind::DuplicateDefinition,
                        fmt::format("`{}` is defined twice", first->first), span(name))
                 .label(first->second, "first defined here"));
    }
    if (tree_.text(*RuleParts(node).word) == "pattern" && is_new) declare_global(name, false);
  }
  for (const Node* item : tree_.root->children()) {
    if (item->kind != Syntax::Item || rule_in(*item).kind != Syntax::Rule) continue;
    attempt([&] {
      if (std::optional<RewriteRule> made = rule(rule_in(*item))) rules.push_back(std::move(*made));
    });
  }
  return rules;
}

lang::Result<std::vector<RewriteRule>> parse_rules(const lang::Source& source,
                                                   const lang::Module& scope) {
  SyntaxTree tree = read_text(source, false, true);
  if (!tree.errors.empty()) add_mends(tree);
  const auto boxed = lang::make_boxed<Resolver>(tree, scope);
  std::vector<RewriteRule> rules = boxed->value.rules();
  std::vector<Diagnostic> errors = std::move(tree.errors);
  for (Diagnostic& error : boxed->value.errors()) errors.push_back(std::move(error));
  if (errors.empty()) return rules;
  std::stable_sort(errors.begin(), errors.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return a.span.begin < b.span.begin;
  });
  return errors;
}

}  // namespace relay::parser
