#include "opt/analysis_variables.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/visit.h"

namespace relay::opt {

using lang::Expr;
using lang::TypeVarRef;
using lang::VariableRef;

namespace {

std::string_view kind_name(lang::VarKind kind) {
  switch (kind) {
    case lang::VarKind::Type:
      return "Type";
    case lang::VarKind::Shape:
      return "Shape";
    case lang::VarKind::DType:
      return "DType";
    case lang::VarKind::Dim:
      return "Dim";
  }
  return "";
}

template <class Ref>
void add_new(std::vector<Ref>& list, const Ref& variable) {
  if (std::find(list.begin(), list.end(), variable) == list.end()) list.push_back(variable);
}

}  // namespace

std::vector<std::string> names_of(const std::vector<VariableRef>& variables) {
  std::vector<std::string> names;
  for (const VariableRef& variable : variables) names.push_back(variable->name);
  return names;
}

std::string joined_names(const std::vector<VariableRef>& variables) {
  return fmt::format("{}", fmt::join(names_of(variables), ", "));
}

// What is visited last is outermost.
std::vector<VariableRef> bound_variables(const Expr& root) {
  std::vector<std::vector<VariableRef>> by_node;
  lang::visit_post_order(root, [&](const Expr& node) {
    by_node.emplace_back();
    lang::for_each_binder(node, [&](const VariableRef& bound) { by_node.back().push_back(bound); });
  });
  std::vector<VariableRef> variables;
  for (auto node = by_node.rbegin(); node != by_node.rend(); ++node)
    variables.insert(variables.end(), node->begin(), node->end());
  return variables;
}

std::vector<TypeVarRef> bound_type_variables(const Expr& root) {
  std::vector<TypeVarRef> variables;
  lang::visit_post_order(root, [&](const Expr& node) {
    const auto* fn = lang::as<lang::Function>(node);
    if (!fn) return;
    for (const TypeVarRef& variable : fn->type_params) add_new(variables, variable);
  });
  return variables;
}

std::vector<TypeVarRef> all_type_variables(const Expr& root) {
  std::vector<TypeVarRef> variables = bound_type_variables(root);
  const auto look_at = [&](const lang::Type& type) {
    if (!type) return;
    for (const TypeVarRef& variable : lang::variables_of(type)) add_new(variables, variable);
  };
  lang::visit_post_order(root, [&](const Expr& node) {
    look_at(node->type);
    lang::for_each_binder(node, [&](const VariableRef& bound) { look_at(bound->type); });
  });
  return variables;
}

std::vector<std::string> with_kinds(const std::vector<TypeVarRef>& variables) {
  std::vector<std::string> text;
  for (const TypeVarRef& variable : variables)
    text.push_back(fmt::format("{}: {}", variable->name, kind_name(variable->kind)));
  return text;
}

}  // namespace relay::opt
