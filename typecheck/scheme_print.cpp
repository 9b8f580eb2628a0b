#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "typecheck/core_rules.h"
#include "typecheck/infer.h"
#include "typecheck/unify.h"

namespace relay::typecheck {

using namespace lang;

namespace {

// Gives the variables of a scheme names, in order of appearance; written names stay.
class Namer {
 public:
  void visit(const Type& type) {
    for_each_type_variable(type, [this](const TypeVarRef& var) { visit(var); });
  }
  void visit(const TypeVarRef& var) {
    if (!var->name.empty() && taken_.insert(var->name).second) {
      names_[var.get()] = var->name;
    } else if (!names_.count(var.get())) {
      order_.push_back(var);
      names_[var.get()] = "";
    }
  }
  // Names for those that have none yet.
  void finish() {
    for (const TypeVarRef& var : order_) {
      std::string& name = names_[var.get()];
      if (!name.empty()) continue;
      name = next(var->kind);
      TypeVarRef named = TypeVar::rigid(var->kind, name);
      switch (var->kind) {
        case VarKind::Type:
          substitution_.types[var.get()] = var_type(named);
          break;
        case VarKind::Shape:
          substitution_.shapes.emplace(var.get(), Shape(named));
          break;
        case VarKind::DType:
          substitution_.dtypes.emplace(var.get(), DTypeTerm(named));
          break;
        case VarKind::Dim:
          substitution_.dims.emplace(var.get(), Dim::variable(named));
          break;
      }
    }
  }
  std::string text(const Type& type) const { return to_string(substitute(type, substitution_)); }
  const std::string& name(const TypeVarRef& var) const { return names_.at(var.get()); }

 private:
  std::string next(VarKind kind) {
    static constexpr std::string_view kLetters[] = {"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "stuvwxyz",
                                                    "defgh", "nmklpqrabc"};
    std::string_view letters = kLetters[static_cast<int>(kind)];
    std::size_t& count = counts_[static_cast<int>(kind)];
    for (;; ++count) {
      std::string name(1, letters[count % letters.size()]);
      if (count >= letters.size()) name += std::to_string(count / letters.size());
      if (taken_.insert(name).second) return name;
    }
  }

  std::vector<TypeVarRef> order_;
  std::unordered_map<const TypeVar*, std::string> names_;
  std::unordered_set<std::string> taken_;
  TypeSubstitution substitution_;
  std::size_t counts_[4] = {};
};

std::string_view word_of(PrimOperands operands) {
  switch (operands) {
    case PrimOperands::kNumeric:
      return "number";
    case PrimOperands::kFloat:
      return "float";
    case PrimOperands::kInt:
      return "int";
    case PrimOperands::kBool:
      return "bool";
    case PrimOperands::kBits:
      return "bits";
    case PrimOperands::kAnyDType:
      return "any";
  }
  return "";
}

std::string relation_text(const OpenRelation& relation, const Namer& namer) {
  std::vector<std::string> args;
  for (const Type& arg : relation.args) args.push_back(namer.text(arg));
  if (is_core_rule(*relation.op)) {
    return fmt::format("{} = {}", core_rule_text(*relation.op, args, relation.attrs),
                       namer.text(relation.result));
  }
  if (relation.attrs) {
    for (const Attr& attr : relation.attrs->list) {
      bool is_default = false;
      for (const AttrSpec& spec : relation.op->attrs) {
        is_default |=
            spec.name == attr.key && spec.default_value && *spec.default_value == attr.value;
      }
      if (!is_default) args.push_back(fmt::format("{}={}", attr.key, attr.value.to_string()));
    }
  }
  return fmt::format("{}({}) = {}", relation.op->name, fmt::join(args, ", "),
                     namer.text(relation.result));
}

}  // namespace

std::string to_string(const Scheme& scheme) {
  if (scheme.usual) return to_string(*scheme.usual);
  Namer namer;
  // Written names first, so that no invented one takes them.
  for (const TypeVarRef& var : scheme.variables) {
    if (!var->name.empty()) namer.visit(var);
  }
  namer.visit(scheme.type);
  for (const OpenRelation& relation : scheme.relations) {
    for (const Type& arg : relation.args) namer.visit(arg);
    namer.visit(relation.result);
  }
  for (const DimEquation& equation : scheme.equations) {
    namer.visit(dimension_type(equation.a));
    namer.visit(dimension_type(equation.b));
  }
  for (const TypeVarRef& var : scheme.variables) namer.visit(var);
  namer.finish();
  std::vector<std::string> conditions;
  for (const OpenRelation& relation : scheme.relations)
    conditions.push_back(relation_text(relation, namer));
  for (const DimEquation& equation : scheme.equations) {
    conditions.push_back(fmt::format("{} = {}", namer.text(dimension_type(equation.a)),
                                     namer.text(dimension_type(equation.b))));
  }
  for (const DTypeRequirement& requirement : scheme.requirements) {
    if (requirement.operands == PrimOperands::kNumeric ||
        requirement.operands == PrimOperands::kAnyDType)
      continue;
    conditions.push_back(
        fmt::format("{}: {}", namer.name(requirement.var), word_of(requirement.operands)));
  }
  constexpr std::size_t kMostShown = 20;
  if (conditions.size() > kMostShown) {
    const std::size_t left = conditions.size() - kMostShown;
    conditions.resize(kMostShown);
    conditions.push_back(fmt::format("and {} more", left));
  }
  std::string text = namer.text(scheme.type);
  if (!conditions.empty()) text += fmt::format(" where {}", fmt::join(conditions, ", "));
  return text;
}

}  // namespace relay::typecheck
