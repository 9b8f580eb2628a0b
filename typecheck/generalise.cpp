#include "typecheck/generalise.h"

#include <algorithm>
#include <unordered_set>

#include "typecheck/substitution.h"

namespace relay::typecheck {

using namespace lang;

namespace {

// Gives unknowns rigid names. Rigid variables that are written in the definition are quantified as
// they are.
class Quantifier {
 public:
  explicit Quantifier(Solver& solver) : solver_(solver) {}

  Type quantify(const Type& type, std::vector<TypeVarRef>* variables) {
    Type known = solver_.resolve(type);
    for_each_type_variable(known, [&](const TypeVarRef& var) { taken_.insert(var->name); });
    for_each_type_variable(known, [&](const TypeVarRef& var) { add(var, variables); });
    return substitution_.empty() ? known : substitute(known, substitution_);
  }

 private:
  void add(const TypeVarRef& var, std::vector<TypeVarRef>* variables) {
    TypeVarRef rigid = var;
    if (solver_.find(*var)) {
      auto [place, is_new] = names_.try_emplace(var.get());
      if (is_new) {
        // Dims may stand in the code of an instance, which must read back; the others are named in
        // print.
        place->second = TypeVar::rigid(var->kind, var->kind == VarKind::Dim ? next_name() : "");
        map_variable(substitution_, *var, place->second);
      }
      rigid = place->second;
    }
    if (variables && listed_.insert(rigid.get()).second) {
      variables->push_back(rigid);
      sources_.push_back(var);
    }
  }

  std::string next_name() {
    static constexpr std::string_view kLetters = "nmklpqrabc";
    for (;; ++count_) {
      std::string name(1, kLetters[count_ % kLetters.size()]);
      if (count_ >= kLetters.size()) name += std::to_string(count_ / kLetters.size());
      if (taken_.insert(name).second) return name;
    }
  }

  Solver& solver_;
  std::unordered_map<const TypeVar*, TypeVarRef> names_;
  TypeSubstitution substitution_;
  std::unordered_set<const TypeVar*> listed_;  // those that are variables of the scheme
  std::unordered_set<std::string> taken_;
  std::size_t count_ = 0;

 public:
  std::vector<TypeVarRef> sources_;  // what each of the scheme's variables was
};

}  // namespace

Generalised generalise(Inference& inference, const std::vector<Type>& types, std::size_t index) {
  Solver& solver = inference.solver();
  Relations& relations = inference.relations();
  Generalised result;
  Quantifier quantifier(solver);
  Scheme& scheme = result.scheme;
  scheme.type = quantifier.quantify(types[index], &scheme.variables);
  const std::vector<const Relation*> relations_left = inference.open_relations();
  std::unordered_set<const TypeVar*> generic;
  if (!relations_left.empty()) generic = inference.reachable({types[index]});
  for (const Relation* relation : relations_left) {
    std::vector<TypeVarRef> unknowns = relations.unknowns_of(*relation);
    if (!std::any_of(unknowns.begin(), unknowns.end(),
                     [&](const TypeVarRef& var) { return generic.count(var.get()) != 0; })) {
      continue;
    }
    OpenRelation open{relation->op, {}, relation->attrs, nullptr};
    for (const Type& arg : relation->args)
      open.args.push_back(quantifier.quantify(arg, &scheme.variables));
    open.result = quantifier.quantify(relation->result, &scheme.variables);
    scheme.relations.push_back(std::move(open));
  }
  for (const Equation& equation : solver.open_equations()) {
    Type a = quantifier.quantify(dimension_type(equation.a), &scheme.variables);
    Type b = quantifier.quantify(dimension_type(equation.b), &scheme.variables);
    scheme.equations.push_back({as<DimensionType>(a)->dim, as<DimensionType>(b)->dim});
  }
  for (std::size_t i = 0; i < scheme.variables.size(); ++i) {
    const Unknown* unknown = solver.find(*quantifier.sources_[i]);
    if (!unknown || unknown->var->kind != VarKind::DType) continue;
    if (unknown->literal || unknown->is_number) scheme.numbers.push_back(scheme.variables[i]);
    if (unknown->prefers_float) scheme.floats.push_back(scheme.variables[i]);
    for (PrimOperands operands : {PrimOperands::kNumeric, PrimOperands::kFloat, PrimOperands::kInt,
                                  PrimOperands::kBool, PrimOperands::kBits}) {
      if (unknown->requirements & Solver::bit(operands)) {
        scheme.requirements.push_back({scheme.variables[i], operands});
      }
    }
  }
  for (const Type& type : types) result.members.push_back(quantifier.quantify(type, nullptr));
  return result;
}

namespace {

std::size_t hash_of(const std::vector<Type>& types) {
  std::size_t key = types.size();
  for (const Type& type : types) key = key * 31 + lang::hash(type);
  return key;
}

}  // namespace

const Type* KnownResults::find(const std::vector<Type>& params) const {
  const auto [first, last] = entries_.equal_range(hash_of(params));
  for (auto entry = first; entry != last; ++entry) {
    if (std::equal(params.begin(), params.end(), entry->second.params.begin(),
                   entry->second.params.end(),
                   [](const Type& a, const Type& b) { return equal(a, b); }))
      return &entry->second.result;
  }
  return nullptr;
}

void KnownResults::add(std::vector<Type> params, Type result) {
  constexpr std::size_t kMost = 1000;
  if (entries_.size() == kMost) entries_.clear();
  const std::size_t key = hash_of(params);
  entries_.emplace(key, Entry{std::move(params), std::move(result)});
}

void demand(const Scheme& scheme, const TypeSubstitution& fresh, Solver& solver,
            const std::string& name, Span use) {
  for (const DTypeRequirement& requirement : scheme.requirements) {
    auto found = fresh.dtypes.find(requirement.var.get());
    if (found != fresh.dtypes.end()) solver.require(found->second, requirement.operands);
  }
  for (const DimEquation& equation : scheme.equations)
    solver.relate({substitute(equation.a, fresh), substitute(equation.b, fresh), name, use});
}

void demand_relations(const Scheme& scheme, const TypeSubstitution& fresh, Relations& relations,
                      const std::string& name, Span use) {
  std::uint32_t place = 0;
  for (const OpenRelation& open : scheme.relations) {
    Relation relation;
    relation.op = open.op;
    for (const Type& arg : open.args) relation.args.push_back(substitute(arg, fresh));
    relation.attrs = open.attrs;
    relation.result = substitute(open.result, fresh);
    relation.span = use;
    relation.needed_by = name;
    relation.place = place++;
    relations.add(std::move(relation));
  }
}

namespace {

bool is_complete(const Type& type) {
  if (!type) return false;
  switch (type->kind) {
    case TypeKind::Tensor:
    case TypeKind::Var:
    case TypeKind::Dimension:
      return true;
    case TypeKind::Tuple: {
      const auto& fields = as<TupleType>(type)->fields;
      return std::all_of(fields.begin(), fields.end(), is_complete);
    }
    case TypeKind::Function: {
      const auto& function = *as<FunctionType>(type);
      // What its quantified variables stand for is found where it is used.
      return function.quantified.empty() && is_complete(function.result) &&
             std::all_of(function.params.begin(), function.params.end(), is_complete);
    }
    case TypeKind::Adt: {
      const auto& args = as<AdtType>(type)->args;
      return std::all_of(args.begin(), args.end(), is_complete);
    }
    case TypeKind::Reference:
      return is_complete(as<ReferenceType>(type)->content);
    case TypeKind::Incomplete:
      return false;
  }
  return false;
}

}  // namespace

bool is_fully_annotated(const Function& function) {
  return is_complete(function.result) &&
         std::all_of(function.params.begin(), function.params.end(),
                     [](const VariableRef& param) { return is_complete(param->type); });
}

Scheme stated_scheme(const Function& function) {
  std::vector<Type> params;
  for (const VariableRef& param : function.params) params.push_back(param->type);
  Scheme scheme;
  scheme.type = function_type(std::move(params), function.result);
  scheme.variables = function.type_params;
  for (const TypeVarRef& var : variables_of(scheme.type)) {
    if (std::find(scheme.variables.begin(), scheme.variables.end(), var) ==
        scheme.variables.end()) {
      scheme.variables.push_back(var);
    }
  }
  return scheme;
}

std::vector<DimEquation> equations_over(const Scheme& scheme, const Solver& solver) {
  std::vector<DimEquation> equations;
  for (const Equation& equation : solver.open_equations()) {
    bool is_own = true;
    (equation.a - equation.b).for_each_variable([&](const TypeVarRef& var) {
      is_own &= std::find(scheme.variables.begin(), scheme.variables.end(), var) !=
                scheme.variables.end();
    });
    if (is_own) equations.push_back({equation.a, equation.b});
  }
  return equations;
}

}  // namespace relay::typecheck
