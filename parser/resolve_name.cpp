#include <algorithm>
#include <array>
#include <limits>
#include <numbers>
#include <optional>

#include <fmt/format.h>

#include "lang/derivative.h"
#include "lang/familiar_names.h"
#include "lang/tree_form.h"
#include "parser/borrowed.h"
#include "parser/resolve.h"
#include "parser/resolver.h"

namespace relay::parser {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

bool is_special_form(std::string_view name) {
  return name == "dim" || lang::parse_diff_mode(name) || lang::find_tree_form(name);
}

lang::Expr truth_of(bool value, lang::Span span) {
  return lang::make_constant(lang::Tensor::scalar(lang::DType::Bool, value ? 1 : 0), span);
}

}  // namespace

void Resolver::bind_local(std::string_view name, lang::VariableRef variable) {
  Symbol& symbol = symbols_.intern(name);
  shadowed_.emplace_back(&symbol, std::move(symbol.local));
  symbol.local = std::move(variable);
  note(NameKind::Local, symbol.local->span, name, symbol.local->span, true);
}

std::string_view Resolver::name_text(const Node& node) const {
  std::string_view text = tree_.text(node);
  if (node.kind == Syntax::Local || node.kind == Syntax::Global || node.kind == Syntax::Graph)
    text.remove_prefix(1);
  return text;
}

std::string_view Resolver::dotted_text(const Node& node) {
  if (node.kind != Syntax::Dotted) return tree_.text(node);
  const std::string_view text = tree_.text(node);
  const bool in_one_piece = std::none_of(text.begin(), text.end(), [](char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '/';
  });
  if (in_one_piece) return text;
  std::string joined;
  for (const Node* part : node.children()) {
    if (!joined.empty()) joined += '.';
    joined += tree_.text(*part);
  }
  return texts_.emplace_back(std::move(joined));
}

namespace {

// Float literals that are written as names.
std::optional<double> named_number(std::string_view text) {
  using Limits = std::numeric_limits<double>;
  if (text == "inf") return Limits::infinity();
  if (text == "nan") return Limits::quiet_NaN();
  if (text == "pi") return std::numbers::pi;
  return std::nullopt;
}

}  // namespace

// Has the name a meaning besides that of a `let` of this text?
bool Resolver::means_more(const Symbol& symbol) const {
  return symbol.constructor() || symbol.op || (!strict_ && symbol.outer_global) ||
         named_number(symbol.text) || is_special_form(symbol.text);
}

// Before a top-level `let` of this text its name means what it did, if it did mean something.
bool Resolver::is_ahead(const Symbol& symbol) const {
  return symbol.own_global && symbol.own_is_let && !let_before_.contains(symbol.text) &&
         means_more(symbol);
}

// Design, section 2: local variable (or dimension of the enclosing function), this text's global,
// constructor, operator, then the prelude. In strict text a bare name is a
// constructor or an operator.
lang::Expr Resolver::meaning(Symbol& symbol, const Node& node) {
  const Span at = span(node);
  if (!strict_ && symbol.local) {
    note(NameKind::Local, at, symbol.text, symbol.local->span);
    return lang::make_var(symbol.local, at);
  }
  if (symbol.broken) return broken(node);
  if (symbol.type_param >= 0) {
    return lang::make_dim_term(
        lang::Dim::variable(use_type_param(symbol.type_param, lang::VarKind::Dim, at)), at);
  }
  // At the prompt, what earlier entries defined counts as this text's.
  if (!strict_ && is_own(symbol)) return global_var(symbol, at);
  if (symbol.constructor()) {
    note_constructor(*symbol.constructor(), at);
    return lang::make_constructor_ref(symbol.constructor(), at);
  }
  if (symbol.op) {
    note(NameKind::Operator, at, symbol.op->name, {});
    return lang::make_operator(symbol.op, at);
  }
  if (!strict_ && symbol.outer_global) return global_var(symbol, at);
  return nullptr;
}

bool Resolver::is_own(const Symbol& symbol) const {
  return (symbol.own_global && !is_ahead(symbol)) ||
         (symbol.outer_global && symbol.outer_global->origin == lang::Origin::Own);
}

lang::Expr Resolver::global_var(const Symbol& symbol, Span where) {
  note_global(symbol, where);
  if (symbol.own_global && !is_ahead(symbol))
    return lang::make_global_var(prefix_ + std::string(symbol.text), where);
  const lang::Definition& outer = *symbol.outer_global;
  // The session sets aside what the prelude calls so before it runs a text with such a `let`.
  const bool is_set_aside = symbol.own_global && prefix_.empty() &&
                            outer.origin == lang::Origin::Prelude && outer.name == symbol.text;
  return lang::make_global_var(is_set_aside ? name_in_prelude(symbol.text) : outer.name, where);
}

lang::Expr Resolver::name(const Node& node) {
  const std::string_view text = tree_.text(node);
  if (text == "True" || text == "False") return truth_of(text == "True", span(node));
  Symbol& symbol = symbols_.intern(text);
  if (Expr found = meaning(symbol, node)) return found;
  if (const std::optional<double> number = strict_ ? std::nullopt : named_number(text))
    return lang::make_literal(*number, span(node));
  if (is_special_form(text)) {
    Diagnostic diagnostic(
        Kind::SyntaxError,
        fmt::format("`{0}` is no value of its own, it is applied: `{0}(...)`", text), span(node));
    if (lang::parse_diff_mode(text))
      diagnostic.note(fmt::format("help: `fn (f) {{ {}(f) }}`", text));
    report(std::move(diagnostic));
    return nothing(node);
  }
  if (is_in_pattern_) {
    if (Expr form = pattern_form(node)) return form;
  }
  return unknown_name(symbol, node);
}

lang::Expr Resolver::dotted(const Node& node) {
  const Symbol& head = symbols_.intern(tree_.text(*node.child(0)));
  const Symbol& whole = symbols_.intern(dotted_text(node));
  const bool is_function =
      own_defs_.contains(whole.text) || (whole.outer_global && whole.outer_global->function);
  const bool is_let =
      (head.own_is_let && (let_before_.contains(head.text) || !means_more(whole))) ||
      (head.outer_global && !head.outer_global->function);
  if (!strict_ && (head.local || (is_let && !is_function))) {
    Expr value = name(*node.child(0));
    for (const Node* part : node.children().subspan(1)) {
      const Span where{tree_.source, node.begin, part->end};
      value = field(*part, std::move(value), where);
    }
    return value;
  }
  Symbol& symbol = symbols_.intern(dotted_text(node));
  if (Expr found = meaning(symbol, node)) return found;
  return unknown_name(symbol, node);
}

lang::Expr Resolver::local(const Node& node) {
  Symbol& symbol = symbols_.intern(name_text(node));
  if (symbol.local) {
    note(NameKind::Local, span(node), symbol.text, symbol.local->span);
    return lang::make_var(symbol.local, span(node));
  }
  // At the prompt a printed `let %x = ...` is a top-level binding.
  const bool is_top_let =
      symbol.own_global ? symbol.own_is_let : symbol.outer_global && !symbol.outer_global->function;
  if (!strict_ && is_top_let) return global_var(symbol, span(node));
  return unknown_name(symbol, node);
}

lang::Expr Resolver::global(const Node& node) {
  Symbol& symbol = symbols_.intern(name_text(node));
  if (symbol.broken) return broken(node);
  if (symbol.own_global || symbol.outer_global) return global_var(symbol, span(node));
  // A lone expression of Relay's may be about a module that is elsewhere; who needs the global says
  // that it is missing.
  if (strict_ && is_expression_) return lang::make_global_var(std::string(symbol.text), span(node));
  if (symbol.text.find('.') != std::string_view::npos && !strict_) return global_fields(node);
  return unknown_name(symbol, node);
}

// `@p.w`: fields of a top-level binding.
lang::Expr Resolver::global_fields(const Node& node) {
  const std::string_view text = name_text(node);
  std::size_t dot = text.find('.');
  Symbol& head = symbols_.intern(text.substr(0, dot));
  const std::uint32_t begin = node.begin + 1;
  const auto part = [&](std::size_t from, std::size_t to) {
    return Node{Syntax::Name, begin + static_cast<std::uint32_t>(from),
                begin + static_cast<std::uint32_t>(to)};
  };
  if (!head.own_is_let && !(head.outer_global && !head.outer_global->function))
    return unknown_name(symbols_.intern(text), node);
  Expr value = global_var(head, span(part(0, dot)));
  while (dot != std::string_view::npos) {
    const std::size_t from = dot + 1;
    dot = text.find('.', from);
    const std::size_t to = std::min(dot, text.size());
    value = field(part(from, to), std::move(value),
                  {tree_.source, node.begin, begin + static_cast<std::uint32_t>(to)});
  }
  return value;
}

lang::Expr Resolver::graph(const Node& node) {
  const auto found = graphs_.find(name_text(node));
  if (found != graphs_.end()) {
    note(NameKind::Local, span(node), name_text(node), found->second.span);
    return found->second.expr;
  }
  report(Kind::UnknownName, fmt::format("graph variable `{}` is not bound here", tree_.text(node)),
         span(node));
  return nothing(node);
}

lang::Expr Resolver::nothing(const Node& node) { return lang::make_tuple({}, span(node)); }

lang::Expr Resolver::broken(const Node& node) {
  item_is_broken_ = true;
  return nothing(node);
}

std::vector<std::string> Resolver::visible_names() const {
  std::vector<std::string> names;
  for (const Symbol& symbol : symbols_.all()) {
    if (symbol.local || symbol.own_global || symbol.own_constructor)
      names.emplace_back(symbol.text);
  }
  for (const lang::OpDef* op : lang::OpRegistry::instance().all()) names.push_back(op->name);
  for (const lang::Definition* definition : scope_.definitions()) {
    if (definition->instance_of.empty()) names.push_back(definition->name);
  }
  for (const lang::TypeDef* type : scope_.types()) {
    for (const lang::Constructor& constructor : type->constructors)
      names.push_back(constructor.name);
  }
  for (std::string& form : lang::derivative_names()) names.push_back(std::move(form));
  for (std::string& form : lang::tree_form_names()) names.push_back(std::move(form));
  names.insert(names.end(), {"True", "False", "dim", "inf", "nan", "pi"});
  return names;
}

void Resolver::suggest(Diagnostic& diagnostic, std::string_view name,
                       const std::vector<std::string>& candidates) {
  const std::vector<std::string> closest = lang::closest_names(name, candidates);
  if (closest.empty()) return;
  Symbol& symbol = symbols_.intern(texts_.emplace_back(closest.front()));
  std::string_view sigil;
  if (strict_ && symbol.local) sigil = "%";
  if (strict_ && !symbol.local && (symbol.own_global || symbol.outer_global)) sigil = "@";
  diagnostic.note(fmt::format("help: did you mean `{}{}`?", sigil, closest.front()));
}

lang::Expr Resolver::unknown_name(Symbol& symbol, const Node& node) {
  if (symbol.reported || symbol.broken || undeclared_.count(symbol.text)) return broken(node);
  symbol.reported = true;
  const char* what = "name";
  if (node.kind == Syntax::Local) what = "variable";
  if (node.kind == Syntax::Global) what = "global";
  if (node.kind == Syntax::Dotted) what = "operator";
  const bool is_dtype = !strict_ && node.kind == Syntax::Name && lang::parse_dtype(symbol.text);
  Diagnostic diagnostic(DiagnosticKind::UnknownName,
                        fmt::format("unknown {} `{}`", what, tree_.text(node)), span(node));
  if (strict_ && node.kind == Syntax::Name && symbol.local) {
    diagnostic.note(fmt::format("help: the variable is written `%{}`", symbol.text));
  } else if (strict_ && node.kind == Syntax::Name && (symbol.own_global || symbol.outer_global)) {
    diagnostic.note(fmt::format("help: the global is written `@{}`", symbol.text));
  } else if (is_dtype) {
    diagnostic.note(fmt::format("help: `cast(x, {})` changes the dtype", symbol.text));
  } else if (const auto differential = symbol.text == "d" && !strict_
                                           ? differential_at(tree_.source->text(), node.begin)
                                           : std::nullopt) {
    diagnostic.note(differential->help);
    symbols_.intern(texts_.emplace_back(differential->by)).reported = true;
  } else if (const auto* familiar =
                 strict_ ? nullptr : lang::find_familiar(lang::without_library(symbol.text));
             familiar && !familiar->help.empty()) {
    diagnostic.note(std::string(familiar->help));
  } else {
    suggest(diagnostic, symbol.text, visible_names());
  }
  report(std::move(diagnostic));
  return nothing(node);
}

}  // namespace relay::parser
