// Polymorphism below the top level. A let-bound function is generic in what inference leaves open
// in it: each use has its own types, and each set of types its copy of the code. One with written
// type parameters is copied for each use. A parameter has one type.

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "lang/visit.h"
#include "typecheck/generalise.h"
#include "typecheck/inference.h"
#include "typecheck/substitution.h"

namespace relay::typecheck {

using namespace lang;

namespace {

// Copies every node of which inference keeps an account of its own, and whatever stands over one.
class Copier final : public Rewriter {
 protected:
  Expr post(const Expr& expr) override {
    switch (expr->kind) {
      case ExprKind::Literal: {
        const auto& literal = cast<Literal>(expr);
        if (literal.elements) return make_literal(literal.elements, expr->span);
        return literal.is_float ? make_literal(literal.real, expr->span)
                                : make_literal(literal.integer, expr->span);
      }
      case ExprKind::GlobalVar:
        return make_global_var(cast<GlobalVar>(expr).name, expr->span, expr->type);
      case ExprKind::Operator:
        return make_operator(cast<Operator>(expr).op, expr->span, expr->type);
      case ExprKind::ConstructorRef:
        return make_constructor_ref(cast<ConstructorRef>(expr).constructor, expr->span, expr->type);
      case ExprKind::Var:
        return make_var(cast<Var>(expr).variable, expr->span);
      case ExprKind::Tuple:
        return cast<Tuple>(expr).fields.empty() ? make_tuple({}, expr->span, expr->type) : expr;
      default:
        return expr;
    }
  }
};

// The function with variables and type parameters of its own; what it calls itself is `self`.
Expr copy_of(const Expr& function, const VariableRef& name, const VariableRef& self) {
  Substitution own;
  own.emplace(name.get(), make_var(self));
  Expr copy = rename_bound(Copier().rewrite(substitute(function, own)));
  TypeSubstitution renamed;
  std::vector<TypeVarRef> params;
  for (const TypeVarRef& var : cast<Function>(function).type_params) {
    params.push_back(TypeVar::rigid(var->kind, var->name));
    map_variable(renamed, *var, params.back());
  }
  Expr typed = substitute_types(copy, renamed);
  const auto& node = cast<Function>(typed);
  return make_function(node.params, node.result, node.body, std::move(params), node.attrs,
                       node.span, node.type);
}

}  // namespace

// The body is checked once for all types, as far as the annotations tell what they are.
void Inference::infer_polymorphic(const Let& let) {
  polymorphic_[let.variable.get()] = {let.value, {}};
  let_values_[let.variable.get()] = let.value;
  if (!is_fully_annotated(cast<Function>(let.value))) return;
  VariableRef self = make_variable(let.variable->name, nullptr, let.variable->span);
  Expr copy = copy_of(let.value, let.variable, self);
  Type declared = declare(cast<Function>(copy));
  introduce(self, declared);
  kept_.push_back(copy);
  infer_function(copy, declared);
}

// Generic functions in one another are copied for each set of types of all those around them.
void Inference::count_copy(const Expr& copy, const Var& use) {
  constexpr std::size_t kMostNodes = 30'000;
  visit_post_order(copy, [&](const Expr&) { ++copied_nodes_; });
  if (copied_nodes_ <= kMostNodes) return;
  Diagnostic diagnostic(
      DiagnosticKind::TypeTooLarge,
      fmt::format("the copies of generic local functions, one for each set of types, grow too "
                  "large; the last one is of `{}`",
                  use.variable->name),
      use.span);
  diagnostic.note("help: make some of them a `def`, which does not depend on what is around it");
  throw Failure(std::move(diagnostic));
}

Type Inference::copy_local(const Var& use) {
  const VariableRef& name = use.variable;
  VariableRef self = make_variable(name->name, nullptr, name->span);
  Expr copy = copy_of(polymorphic_.at(name.get()).function, name, self);
  count_copy(copy, use);
  polymorphic_.at(name.get()).instances.push_back({self, copy});
  instance_uses_[&use] = self;
  Type declared = declare_local(cast<Function>(copy));
  introduce(self, declared);
  let_values_[self.get()] = copy;
  return infer_function(copy, declared);
}

Inference::LetMark Inference::mark_let() {
  return {solver_.mark(),        unsettled_.size(), numbers_.size(),   records_.size(),
          waiting_trees_.size(), opened_.size(),    relations_.count()};
}

bool Inference::is_generic(const Type& type) {
  if (generic_.empty() || !type->has_unknowns) return false;
  const std::vector<TypeVarRef> unknowns = solver_.unknowns_of(type);
  return std::any_of(unknowns.begin(), unknowns.end(),
                     [&](const TypeVarRef& var) { return generic_.count(var.get()) != 0; });
}

namespace {

// The unknowns of a `let` that nothing around it knows of, found from its type on by way of the
// relations that its code has left open. What such a relation makes of types that are known around
// the `let` is the same in all uses: it is not the `let`'s own. Linear in the relations.
class OwnUnknowns {
 public:
  OwnUnknowns(Solver& solver, Relations& relations, std::uint64_t mark)
      : solver_(solver), relations_(relations), mark_(mark) {}

  void exclude(const Type& type) {
    for (const TypeVarRef& var : solver_.unknowns_of(type)) seen_.insert(var.get());
  }

  void collect(const Type& type, std::uint32_t first_relation) {
    for (std::uint32_t i = first_relation; i < relations_.count(); ++i) {
      if (!relations_[i].is_solved) open_.push_back(mentions_of(i));
    }
    exclude_results();
    add_from(type);
    std::sort(found_relations.begin(), found_relations.end());
  }

  std::vector<TypeVarRef> found;
  std::vector<std::uint32_t> found_relations;

 private:
  struct Mentions {
    std::uint32_t relation = 0;
    std::vector<TypeVarRef> in_args;
    std::vector<TypeVarRef> in_result;
  };
  // The places in `open_` whose relation mentions an unknown, for each.
  using Places = std::unordered_map<const TypeVar*, std::vector<std::size_t>>;

  Mentions mentions_of(std::uint32_t index) {
    Mentions mentions{index, {}, solver_.unknowns_of(relations_[index].result)};
    std::unordered_set<const TypeVar*> met;
    for (const Type& arg : relations_[index].args) {
      for (const TypeVarRef& var : solver_.unknowns_of(arg)) {
        if (met.insert(var.get()).second) mentions.in_args.push_back(var);
      }
    }
    return mentions;
  }

  bool is_known_around(const TypeVar& var) {
    return solver_.at(var).birth < mark_ || seen_.count(&var) != 0;
  }

  void exclude_results() {
    Places waiting;
    std::vector<std::size_t> unknown_args(open_.size());
    std::vector<std::size_t> determined;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      for (const TypeVarRef& var : open_[i].in_args) {
        if (is_known_around(*var)) continue;
        ++unknown_args[i];
        waiting[var.get()].push_back(i);
      }
      if (unknown_args[i] == 0) determined.push_back(i);
    }
    while (!determined.empty()) {
      const std::size_t at = determined.back();
      determined.pop_back();
      for (const TypeVarRef& var : open_[at].in_result) {
        if (is_known_around(*var)) continue;
        seen_.insert(var.get());
        for (const std::size_t user : waiting[var.get()]) {
          if (--unknown_args[user] == 0) determined.push_back(user);
        }
      }
    }
  }

  void add_from(const Type& type) {
    Places places;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      for (const TypeVarRef& var : open_[i].in_args) places[var.get()].push_back(i);
      for (const TypeVarRef& var : open_[i].in_result) places[var.get()].push_back(i);
    }
    add(solver_.unknowns_of(type));
    std::vector<bool> is_found(open_.size());
    for (std::size_t next = 0; next < found.size(); ++next) {
      for (const std::size_t at : places[found[next].get()]) {
        if (is_found[at]) continue;
        is_found[at] = true;
        found_relations.push_back(open_[at].relation);
        add(open_[at].in_args);
        add(open_[at].in_result);
      }
    }
  }

  void add(const std::vector<TypeVarRef>& unknowns) {
    for (const TypeVarRef& var : unknowns) {
      if (is_known_around(*var)) continue;
      seen_.insert(var.get());
      found.push_back(var);
    }
  }

  Solver& solver_;
  Relations& relations_;
  const std::uint64_t mark_;
  std::vector<Mentions> open_;
  std::unordered_set<const TypeVar*> seen_;
};

}  // namespace

// What an equation mentions, or stands for a `?`, is the same in all uses. A walk over a tree of a
// type that is open waits for that type, which a use alone does not tell.
void Inference::generalise_local(const Let& let, const Type& declared, const LetMark& mark) {
  if (!errors_.empty() || waiting_trees_.size() > mark.trees) return;
  if (solver_.unknowns_of(declared).empty()) return;
  if (records_.size() > mark.records) {
    while (settle_records()) relations_.drain();
  }
  OwnUnknowns own(solver_, relations_, mark.unknowns);
  own.exclude(solver_.error_type());
  for (const Equation& equation : solver_.open_equations())
    own.exclude(tensor_type(Shape{equation.a, equation.b}, DType::Bool));
  for (std::size_t i = mark.opened; i < opened_.size(); ++i)
    own.exclude(tensor_type(Shape{Dim::variable(opened_[i])}, DType::Bool));
  own.collect(declared, mark.relations);
  if (own.found.empty()) return;
  Polymorphic generic{let.value};
  generic.type = solver_.resolve(declared);
  for (const std::uint32_t index : own.found_relations) {
    Relation& relation = generic.relations.emplace_back(relations_[index]);
    for (Type& arg : relation.args) arg = solver_.resolve(arg);
    relation.result = solver_.resolve(relation.result);
  }
  for (const TypeVarRef& var : own.found) generic_.insert(var.get());
  const auto is_own = [&](const TypeVarRef& number) {
    return is_generic(tensor_type(Shape(), DTypeTerm(number)));
  };
  std::erase_if(unsettled_, [&](std::size_t index) { return is_own(literals_[index].dtype); });
  std::erase_if(numbers_, is_own);
  generic.unknowns = std::move(own.found);
  polymorphic_[let.variable.get()] = std::move(generic);
}

Type Inference::instantiate_local(const Var& use, const Polymorphic& function) {
  if (!may_open(function.relations.size(), use.variable->name, use.span))
    return solver_.error_type();
  TypeSubstitution fresh;
  for (const TypeVarRef& var : function.unknowns) {
    const TypeVarRef own = solver_.fresh(var->kind);
    map_variable(fresh, *var, own);
    if (var->kind != VarKind::DType) continue;
    const Unknown& general = solver_.at(*var);
    solver_.at(*own).requirements = general.requirements;
    solver_.at(*own).is_number = general.literal || general.is_number;
    solver_.at(*own).prefers_float = general.prefers_float;
    if (solver_.at(*own).is_number) numbers_.push_back(own);
  }
  const Type type = substitute(function.type, fresh);
  const std::vector<Relation> relations = function.relations;
  for (Relation relation : relations) {
    for (Type& arg : relation.args) arg = substitute(arg, fresh);
    relation.result = substitute(relation.result, fresh);
    relation.used_at = use.span;
    relations_.add(std::move(relation));
  }
  if (purpose_ == Purpose::kCode) local_uses_.push_back({&use, type});
  return type;
}

// Code for the uses of generic local functions whose types are known by now. Those in the code of
// another such function wait for its copies.
void Inference::infer_instances() {
  for (; instantiated_ < local_uses_.size(); ++instantiated_) {
    const auto [use, open_type] = local_uses_[instantiated_];
    const Type type = solver_.resolve(open_type);
    if (is_generic(type)) continue;
    const VariableRef& name = use->variable;
    std::vector<LocalInstance>& instances = polymorphic_.at(name.get()).instances;
    const auto known =
        std::find_if(instances.begin(), instances.end(),
                     [&](const LocalInstance& instance) { return equal(instance.type, type); });
    if (known != instances.end()) {
      instance_uses_[use] = known->variable;
      continue;
    }
    const VariableRef self = make_variable(name->name, nullptr, name->span);
    const Expr copy = copy_of(polymorphic_.at(name.get()).function, name, self);
    count_copy(copy, *use);
    instances.push_back({self, copy, type});
    instance_uses_[use] = self;
    const Type declared = declare_local(cast<Function>(copy));
    expect({declared, type, use->span});
    introduce(self, declared);
    let_values_[self.get()] = copy;
    infer_function(copy, declared);
  }
}

// A function that is written in its place, or is a global one, is copied, so that each copy has a
// type of its own. Any other is a value, which has one type.
Expr Inference::function_for_leaf(const Expr& function) {
  switch (function->kind) {
    case ExprKind::Function:
    case ExprKind::GlobalVar:
    case ExprKind::Operator:
    case ExprKind::ConstructorRef:
    case ExprKind::Var:  // of which one with type parameters is generic too
      break;
    default:
      return function;
  }
  kept_.push_back(rename_bound(Copier().rewrite(function)));
  return kept_.back();
}

const std::vector<LocalInstance>* Inference::instances_of(const Variable* variable) const {
  if (polymorphic_.empty()) return nullptr;
  auto found = polymorphic_.find(variable);
  return found == polymorphic_.end() ? nullptr : &found->second.instances;
}

VariableRef Inference::instance_at(const ExprNode* use) const {
  if (instance_uses_.empty()) return nullptr;
  auto found = instance_uses_.find(use);
  return found == instance_uses_.end() ? nullptr : found->second;
}

// --- Parameters of polymorphic type ---

// A parameter has one type, which its uses find out.
Type Inference::declare_quantified(const FunctionType& annotation, Span span) {
  TypeSubstitution fresh;
  map_to_unknowns(fresh, annotation.quantified, solver_);
  return open(substitute(function_type(annotation.params, annotation.result), fresh), span);
}

const Variable* Inference::quantified_parameter(const Expr& callee) const {
  const auto* var = as<Var>(callee);
  if (!var || !quantified_params_.count(var->variable.get())) return nullptr;
  return var->variable.get();
}

void Inference::refuse_higher_rank(const Call& call, const Variable& param, const Type& found,
                                   const Type& expected) {
  Diagnostic diagnostic(DiagnosticKind::HigherRank,
                        fmt::format("parameter `{}` is used at two types, `{}` and `{}`",
                                    param.name, solver_.show(expected), solver_.show(found)),
                        call.span);
  diagnostic.label(param.span, fmt::format("declared as `{}`, and a parameter has one type",
                                           to_string(param.type)));
  diagnostic.note(
      fmt::format("help: take one parameter for each type, or make `{}` a `def`, which is generic",
                  param.name));
  throw Failure(std::move(diagnostic));
}

}  // namespace relay::typecheck
