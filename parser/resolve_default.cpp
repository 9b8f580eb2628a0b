// Parameters with default values, and arguments by name. Both are gone after this: a call in the
// core has all its arguments, in order, and those that are attributes have become part of the name.

#include <algorithm>

#include <fmt/format.h>

#include "lang/function_fact.h"
#include "parser/resolver.h"

namespace relay::parser {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

// The constant anew, at another place, with an account of its own in inference; null if `expr` is
// none.
lang::Expr copy_constant(const lang::Expr& expr, lang::Span where) {
  if (const auto* constant = lang::as<lang::Constant>(expr))
    return lang::make_constant(constant->value, where);
  if (const auto* literal = lang::as<lang::Literal>(expr)) {
    if (literal->elements) return lang::make_literal(literal->elements, where);
    return literal->is_float ? lang::make_literal(literal->real, where)
                             : lang::make_literal(literal->integer, where);
  }
  const auto* tuple = lang::as<lang::Tuple>(expr);
  if (!tuple) return nullptr;
  std::vector<lang::Expr> fields;
  for (const lang::Expr& field : tuple->fields) {
    fields.push_back(copy_constant(field, where));
    if (!fields.back()) return nullptr;
  }
  return lang::make_tuple(std::move(fields), where);
}

}  // namespace

// In the light notation `x=1` among the parameters is a parameter with a default value. It is an
// attribute of the function, as in strict text, if its name is that of one (`Primitive`,
// `relay.reshape_only`) or stands beside parameters with a sigil, as printed text has it.
bool Resolver::is_function_attribute(const Node& list, const Node& attr) const {
  const std::string_view key = tree_.text(*attr.child(0));
  const bool is_upper = key[0] >= 'A' && key[0] <= 'Z';
  if (strict_ || is_upper || key.find('.') != std::string_view::npos) return true;
  if (lang::is_fact_for_people(key)) return true;
  return std::any_of(list.children().begin(), list.children().end(), [](const Node* param) {
    return param->kind == Syntax::Param && param->child(0)->kind == Syntax::Local;
  });
}

lang::Expr Resolver::default_value(const Node& node) {
  if (Expr constant = copy_constant(expr(node), span(node))) return constant;
  report(Kind::BadAttribute,
         "a default value is a number, `True`, `False`, or a list or tuple of those", span(node));
  return nullptr;
}

void Resolver::declare_signature(const Node& def) {
  const std::string_view name = name_text(*def.child(0));
  const auto [place, is_new] = signatures_.try_emplace(name);
  if (!is_new) return;
  Signature& signature = place->second;
  signature.parameters = std::make_shared<lang::Parameters>();
  signature.full_name = prefix_ + std::string(name);
  const bool was_broken = std::exchange(item_is_broken_, false);
  const Node& list = *def.child(1)->find(Syntax::Params);
  const Node* first_default = nullptr;
  for (const Node* child : list.children()) {
    if (child->kind == Syntax::Attr && is_function_attribute(list, *child)) continue;
    lang::Parameter parameter{std::string(name_text(*child->child(0)))};
    const Node* written = child->kind == Syntax::Attr ? child->child(1) : nullptr;
    if (const Node* given = child->find(Syntax::Default)) written = given->child(0);
    if (written && is_attribute_default(*written, parameter.name, def)) {
      parameter.attribute = attribute_value(*written);
    } else if (written) {
      parameter.default_value = default_value(*written);
    } else if (first_default) {
      report(Diagnostic(DiagnosticKind::SyntaxError,
                        fmt::format("parameter `{}` has no default value, and one before it has",
                                    parameter.name),
                        span(*child))
                 .label(span(*first_default), "a default value"));
    }
    if (written && !first_default) first_default = written;
    signature.parameters->list.push_back(std::move(parameter));
  }
  signature.is_broken = std::exchange(item_is_broken_, was_broken);
}

// What can be nothing else is an attribute; numbers are if they are used as such.
bool Resolver::is_attribute_default(const Node& value, const std::string& name, const Node& def) {
  const std::string_view text = tree_.text(value);
  if (value.kind == Syntax::String) return true;
  if (value.kind == Syntax::Name &&
      (text == "None" || text == "nullptr" || lang::parse_dtype(text)))
    return true;
  return std::any_of(def.children().begin() + 1, def.children().end(), [&](const Node* function) {
    return is_used_as_attribute(*function->last(), name);
  });
}

const Resolver::Signature* Resolver::signature(const Symbol& symbol) {
  if (const auto own = own_defs_.find(symbol.text); own != own_defs_.end())
    declare_signature(*own->second);
  else if (symbol.own_global && !is_ahead(symbol))
    return nullptr;  // a `let`
  const auto known = signatures_.find(symbol.text);
  if (known != signatures_.end()) return &known->second;
  const lang::Definition* outer =
      symbol.own_global && !is_ahead(symbol) ? nullptr : symbol.outer_global;
  const auto* function = outer ? lang::as<lang::Function>(outer->function) : nullptr;
  if (!function) return nullptr;
  Signature signature{std::make_shared<lang::Parameters>(), outer->name};
  if (outer->parameters && outer->instance_of.empty()) {
    // Shared with the definition: that tells its instances from those of an earlier one.
    signature.parameters = std::const_pointer_cast<lang::Parameters>(outer->parameters);
  } else {
    for (const VariableRef& param : function->params)
      signature.parameters->list.push_back({param->name});
  }
  return &signatures_.emplace(symbol.text, std::move(signature)).first->second;
}

std::string usage_note(std::string_view function, const lang::Parameters& parameters) {
  return fmt::format("note: `{}`", lang::usage_of(function, parameters));
}

void Resolver::report_behind(const Node& argument, const Node& by_name) {
  report(Diagnostic(DiagnosticKind::SyntaxError, "an argument stands after one by name",
                    span(argument))
             .label(span(by_name), "by name"));
}

// Puts an argument `name=value` into its place; false with an error reported.
bool Resolver::place_by_name(const Node& attr, std::string_view function,
                             const Signature& signature, std::span<const Node* const> nodes,
                             Slots& slots) {
  const Node& key = *attr.child(0);
  const std::string name(tree_.text(key));
  const std::vector<lang::Parameter>& list = signature.parameters->list;
  const auto place_of = [&](std::string_view wanted) {
    const auto found = std::find_if(
        list.begin(), list.end(), [&](const lang::Parameter& each) { return each.name == wanted; });
    return static_cast<std::size_t>(found - list.begin());
  };
  const std::size_t place = place_of(name);
  if (place == list.size()) {
    Diagnostic diagnostic(DiagnosticKind::UnknownAttribute,
                          fmt::format("`{}` has no parameter `{}`", function, name), span(key));
    std::vector<std::string> names;
    for (const lang::Parameter& each : list) names.push_back(each.name);
    const auto close = lang::closest_names(name, names);
    diagnostic.note(close.empty() ? usage_note(function, *signature.parameters)
                                  : fmt::format("help: did you mean `{}`?", close.front()));
    report(std::move(diagnostic));
    return false;
  }
  if (!list[place].default_value && !list[place].attribute) {
    Diagnostic diagnostic(
        DiagnosticKind::UnknownAttribute,
        fmt::format("`{}` has no default value, so it is not given by name", name), span(key));
    // All by name: then the order is known.
    std::vector<std::string_view> values(list.size());
    for (const Node* node : nodes) {
      if (node->kind != Syntax::Attr) continue;
      const std::size_t at = place_of(tree_.text(*node->child(0)));
      if (at < list.size()) values[at] = tree_.text(*node->child(1));
    }
    const bool all = std::none_of(values.begin(), values.end(),
                                  [](std::string_view value) { return value.empty(); });
    diagnostic.note(all ? fmt::format("help: arguments are given in order: `{}({})`", function,
                                      fmt::join(values, ", "))
                        : usage_note(function, *signature.parameters));
    report(std::move(diagnostic));
    return false;
  }
  if (slots.given[place]) {
    report(Diagnostic(DiagnosticKind::DuplicateDefinition, fmt::format("`{}` is given twice", name),
                      span(key))
               .label(slots.given[place], "given here too"));
    return false;
  }
  note(NameKind::Parameter, span(key), fmt::format("{}.{}", function, name),
       span_of_parameter(function, name));
  slots.given[place] = span(*attr.child(1));
  if (list[place].attribute) {
    slots.attributes[place] = attribute_value(*attr.child(1));
    return slots.attributes[place].has_value();
  }
  slots.args[place] = expr(*attr.child(1));
  return true;
}

std::optional<lang::Expr> Resolver::named_call(const Node& callee_node, const Expr& callee,
                                               const std::vector<Expr>& before,
                                               std::span<const Node* const> nodes, Span where) {
  if (strict_ || callee->kind != lang::ExprKind::GlobalVar) return std::nullopt;
  const auto is_attr = [](const Node* node) { return node->kind == Syntax::Attr; };
  const bool is_printed = std::any_of(nodes.begin(), nodes.end(), [&](const Node* node) {
    return is_meta_attrs(*node) ||
           (is_attr(node) && tree_.text(*node->child(0)) == "attrs_type_key");
  });
  const std::string_view name =
      callee_node.kind == Syntax::Global ? name_text(callee_node) : dotted_text(callee_node);
  const Signature* known = is_printed ? nullptr : signature(symbols_.intern(name));
  if (!known) return std::nullopt;
  const std::vector<lang::Parameter>& list = known->parameters->list;
  const bool is_plain = std::none_of(nodes.begin(), nodes.end(), is_attr) &&
                        std::none_of(list.begin(), list.end(), [](const lang::Parameter& each) {
                          return each.default_value || each.attribute;
                        });
  if (is_plain) return std::nullopt;
  Slots slots(list.size());
  std::vector<Expr> surplus;  // more than there are parameters: inference says so
  std::size_t next = 0;
  for (const Expr& arg : before) {
    if (next < list.size()) slots.given[next] = arg->span;
    (next < list.size() ? slots.args[next] : surplus.emplace_back()) = arg;
    ++next;
  }
  const Node* first_attr = nullptr;
  for (const Node* node : nodes) {
    if (is_attr(node) && !first_attr) first_attr = node;
    if (is_attr(node)) continue;
    if (first_attr) report_behind(*node, *first_attr);
    if (next >= list.size()) {
      surplus.push_back(expr(*node));
      continue;
    }
    slots.given[next] = span(*node);
    if (list[next].attribute) {
      slots.attributes[next] = attribute_value(*node);
      if (!slots.attributes[next]) return nothing(callee_node);
    } else {
      slots.args[next] = expr(*node);
    }
    ++next;
  }
  for (const Node* node : nodes) {
    if (is_attr(node) && !place_by_name(*node, name, *known, nodes, slots))
      return nothing(callee_node);
  }
  return filled_call(name, *known, callee, slots, std::move(surplus), where);
}

// What is left out takes its default value.
lang::Expr Resolver::filled_call(std::string_view name, const Signature& known, const Expr& callee,
                                 Slots& slots, std::vector<Expr> surplus, Span where) {
  std::vector<Expr> args;
  std::vector<lang::Attr> attributes;
  for (std::size_t i = 0; i < slots.args.size(); ++i) {
    const lang::Parameter& parameter = known.parameters->list[i];
    if (parameter.attribute) {
      attributes.push_back({parameter.name, slots.attributes[i].value_or(*parameter.attribute)});
    } else if (slots.args[i]) {
      args.push_back(std::move(slots.args[i]));
    } else if (parameter.default_value) {
      args.push_back(copy_constant(parameter.default_value, where));
    } else {
      Diagnostic diagnostic(
          DiagnosticKind::WrongArity,
          fmt::format("the argument for `{}` of `{}` is missing", parameter.name, name), where);
      diagnostic.note(usage_note(name, *known.parameters));
      report(std::move(diagnostic));
      return lang::make_tuple({}, where);
    }
  }
  args.insert(args.end(), surplus.begin(), surplus.end());
  if (attributes.empty()) return lang::make_call(callee, std::move(args), nullptr, where);
  return instance_call(known, std::move(args), lang::make_attrs(std::move(attributes)),
                       callee->span, where);
}

}  // namespace relay::parser
