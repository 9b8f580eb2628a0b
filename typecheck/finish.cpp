// The end of a run of inference: defaults, and what could not be told.

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "typecheck/components.h"
#include "typecheck/core_rules.h"
#include "typecheck/inference.h"
#include "typecheck/substitution.h"
#include "typecheck/trees_of_tensors.h"
#include "typecheck/valueless.h"

namespace relay::typecheck {

using namespace lang;

std::vector<const Relation*> Inference::open_relations() {
  std::vector<const Relation*> open = relations_.open();
  if (generic_.empty()) return open;
  std::erase_if(open, [&](const Relation* relation) {
    return is_generic(relation->result) ||
           std::any_of(relation->args.begin(), relation->args.end(),
                       [&](const Type& arg) { return is_generic(arg); });
  });
  return open;
}

std::unordered_set<const TypeVar*> Inference::reachable(const std::vector<Type>& roots) {
  std::unordered_set<const TypeVar*> seen;
  std::vector<const TypeVar*> pending;
  auto reach = [&](const std::vector<TypeVarRef>& unknowns) {
    for (const TypeVarRef& var : unknowns) {
      if (seen.insert(var.get()).second) pending.push_back(var.get());
    }
  };
  for (const Type& root : roots) reach(solver_.unknowns_of(root));
  const std::vector<const Relation*> open = open_relations();
  std::vector<std::vector<TypeVarRef>> unknowns;
  PointerMap<TypeVar, std::vector<std::size_t>> mentions;
  for (const Relation* relation : open) {
    for (const TypeVarRef& var : unknowns.emplace_back(relations_.unknowns_of(*relation)))
      mentions[var.get()].push_back(unknowns.size() - 1);
  }
  while (!pending.empty()) {
    const auto* relations = mentions.find(pending.back());
    pending.pop_back();
    if (!relations) continue;
    for (std::size_t relation : *relations) reach(std::exchange(unknowns[relation], {}));
  }
  return seen;
}

// An index relation that waits for the rank of its tensor: as many indices as axes is what is meant
// wherever the element is used as a tensor. (`all`: everywhere.) One that only hands its element on
// stays open, and so does one with fewer indices than another into the same tensor, or than an
// operator on it needs axes: `m[k]` is a row where there is an `m[k, j]`, and so is `m[k, :]`.
bool Inference::settle_index_relations(bool all) {
  if (!indexes_fully_ && !all) return false;
  std::vector<const Relation*> open;
  std::unordered_map<const TypeVar*, std::size_t> most;  // indices, by the tensor's unknown shape
  const auto count = [](const Relation& relation) {
    return as<TensorType>(relation.args[1])->shape.rank();
  };
  const auto shape_of = [this](const Relation& relation) -> const TypeVar* {
    const Type type = solver_.resolve(relation.args[0]);
    const auto* tensor = as<TensorType>(type);
    return tensor && !tensor->shape.has_rank() ? tensor->shape.var().get() : nullptr;
  };
  for (const Relation* relation : open_relations()) {
    if (relation->op != &index_rule()) continue;
    open.push_back(relation);
    std::size_t& known = most[shape_of(*relation)];
    known = std::max(known, count(*relation));
  }
  bool settled = false;
  std::optional<Waiting> waiting;  // until something is settled
  for (const Relation* relation : open) {
    if (relation->is_solved) continue;  // it may have no operands any more
    const TypeVar* shape = shape_of(*relation);
    if (shape && count(*relation) < most[shape]) continue;
    if (shape && !waiting) waiting = waiting_for_rank();
    if (shape && !may_have_rank(*waiting, *shape, count(*relation))) continue;
    Type element = solver_.resolve(relation->result);
    if (solver_.is_error(element) || (!all && element->kind == TypeKind::Var)) continue;
    const TypeKind kind = solver_.head(relation->args[0])->kind;
    const bool is_tree = kind == TypeKind::Tuple || kind == TypeKind::Adt;
    for (const Type& part : is_tree ? tensor_types_of(element) : std::vector<Type>{element}) {
      Mismatch mismatch{part, tensor_type(Shape(), solver_.fresh_dtype()), relation->span,
                        "this element"};
      if (part->kind == TypeKind::Tuple || part->kind == TypeKind::Adt)
        mismatch.notes.emplace_back(
            "note: what is indexed is taken for a tensor where its own type does not tell");
      settled |= expect(mismatch);
      waiting.reset();
    }
    has_indexed_fully_ |= settled;
  }
  return settled;
}

// What an operator usually takes where nothing tells: for reading only, and so what fails is
// dropped.
bool Inference::settle_usual() {
  const Attempt attempt(*this);
  bool settled = false;
  try {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Relation* relation : open_relations()) {
        if (!relation->op->usual || relation->is_solved) continue;
        TypeCall call{
            solver_, *relation->op, {}, relation->attrs, solver_.resolve(relation->result),
            {},      relation->span};
        for (const Type& arg : relation->args) call.args.push_back(solver_.resolve(arg));
        if (!relation->op->usual(call, settled)) continue;
        changed = settled = true;
        relations_.drain();
        if (attempt.has_failed()) return false;
      }
    }
  } catch (const Failure&) {
    return false;
  }
  return settled;
}

namespace {

Diagnostic ambiguous_relation(const Relation& relation, Solver& solver) {
  std::string form = relation.op == &projection_rule() ? "what this is a field of"
                     : relation.op == &index_rule()    ? "the rank of what is indexed"
                     : is_core_rule(*relation.op)
                         ? "the type of this"
                         : fmt::format("the types in this use of `{}`", relation.op->name);
  Diagnostic diagnostic(DiagnosticKind::AmbiguousType, fmt::format("cannot tell {}", form),
                        relation.span);
  for (std::size_t i = 0; i < relation.arg_spans.size() && i < relation.args.size(); ++i) {
    if (relation.arg_spans[i]) {
      diagnostic.label(relation.arg_spans[i], describe_type(relation.args[i], solver));
    }
  }
  if (!relation.needed_by.empty())
    diagnostic.note(fmt::format("note: needed by `{}`", relation.needed_by));
  diagnostic.note("help: a type annotation settles it");
  return diagnostic;
}

}  // namespace

namespace {

// The types that a caller supplies: parameters, also of functions that are returned.
void add_inputs(const Type& type, std::vector<Type>& inputs) {
  if (const auto* function = as<FunctionType>(type)) {
    inputs.insert(inputs.end(), function->params.begin(), function->params.end());
    add_inputs(function->result, inputs);
  } else if (const auto* tuple = as<TupleType>(type)) {
    for (const Type& field : tuple->fields) add_inputs(field, inputs);
  }
}

}  // namespace

using Supplied = std::unordered_set<const TypeVar*>;

void Inference::finish_generic(const std::vector<Type>& roots) {
  relations_.drain();
  while (settle_records() || settle_trees()) relations_.drain();
  while (settle_index_relations(false)) relations_.drain();
  if (settle_opened()) relations_.drain();
  relations_.merge_equal();
  // A literal stays open only where a caller can tell its dtype: `0` alone as a result is an int32.
  const auto inputs = [&]() {
    std::vector<Type> types;
    for (const Type& root : roots) add_inputs(solver_.resolve(root), types);
    return types;
  };
  const auto settle_numbers = [&](bool (Inference::*settle)(const Supplied&)) {
    while ((this->*settle)(reachable(inputs()))) {
      relations_.drain();
      while (settle_index_relations(false)) relations_.drain();
    }
  };
  if (!unsettled_.empty()) settle_numbers(&Inference::settle_literals_outside);
  if (!numbers_.empty()) settle_numbers(&Inference::settle_numbers_outside);
  check_literals();
  check_literal_indices();
  if (!binders_.empty()) check_extents(inputs());
  throw_reported();  // after an error, what is open may be so because of it
  check_records(true);
  const std::vector<const Relation*> open = open_relations();
  if (open.empty()) return;
  std::unordered_set<const TypeVar*> generic = reachable(roots);
  for (const Relation* relation : open) {
    std::vector<TypeVarRef> unknowns = relations_.unknowns_of(*relation);
    bool is_generic = std::any_of(unknowns.begin(), unknowns.end(), [&](const TypeVarRef& var) {
      return generic.count(var.get()) != 0;
    });
    if (!is_generic && !unknowns.empty()) throw Failure(ambiguous_relation(*relation, solver_));
  }
}

namespace {

// A tensor, or a tuple with one, of which the shape or the dtype is open.
bool is_open_tensor(const Type& type, Solver& solver) {
  if (const auto* tensor = as<TensorType>(type)) {
    return (!tensor->shape.has_rank() && solver.find(*tensor->shape.var())) ||
           (!tensor->dtype.is_known() && solver.find(*tensor->dtype.var()));
  }
  if (const auto* tuple = as<TupleType>(type)) {
    return std::any_of(tuple->fields.begin(), tuple->fields.end(),
                       [&](const Type& field) { return is_open_tensor(field, solver); });
  }
  return false;
}

bool has_open_tensor(const Type& type, Solver& solver) {
  if (const auto* function = as<FunctionType>(type)) {
    return has_open_tensor(function->result, solver) ||
           std::any_of(function->params.begin(), function->params.end(),
                       [&](const Type& param) { return has_open_tensor(param, solver); });
  }
  return is_open_tensor(type, solver);
}

Diagnostic ambiguous_variable(const Variable& variable, const std::string& type) {
  Diagnostic diagnostic(DiagnosticKind::AmbiguousType,
                        fmt::format("cannot tell the type of `{}`", variable.name), variable.span);
  diagnostic.label(variable.span, fmt::format("`{}`", type));
  diagnostic.note(
      fmt::format("help: annotate it, as in `{}: Tensor[(3), float32]`", variable.name));
  return diagnostic;
}

}  // namespace

namespace {

constexpr std::string_view kParams = "xyzuvw";

// The function with annotated parameters, as far as it takes scalars.
std::string with_annotations(const FunctionType& function, const std::string& value) {
  std::string params;
  std::string args;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const auto* tensor = as<TensorType>(function.params[i]);
    if (!tensor || !tensor->shape.has_rank() || tensor->shape.rank() > 0) return "";
    const std::string separator = i == 0 ? "" : ", ";
    params += fmt::format("{}{}: float32", separator, kParams[i]);
    args += fmt::format("{}{}", separator, kParams[i]);
  }
  return fmt::format("help: a value has one type, as has `fn ({}) {{ {}({}) }}`", params, value,
                     args);
}

// How `let f = e` is written as a definition, which may be generic.
std::string as_definition(const ExprNode& whole, const Type& type) {
  const std::string general = "help: a `def` may be generic; a value has one type";
  const auto* function = as<FunctionType>(type);
  const std::string value = quote(whole.span, "");
  if (!function || value.empty() || function->params.size() > kParams.size()) return general;
  const std::string_view text = whole.span.source->text().substr(0, whole.span.begin);
  const std::size_t let = text.rfind("let ");
  if (let == std::string_view::npos) {
    const std::string annotated = with_annotations(*function, value);
    return annotated.empty() ? general : annotated;
  }
  std::string_view name = text.substr(let + 4);
  name = name.substr(0, name.find_first_of(" ="));
  const bool is_bound_by_it =
      text.substr(let + 4 + name.size()).find_first_not_of(" =") == std::string_view::npos;
  if (name.empty() || !is_bound_by_it) return general;
  std::string params;
  for (std::size_t i = 0; i < function->params.size(); ++i)
    params += (i == 0 ? "" : ", ") + std::string(1, kParams[i]);
  // In a definition its name means itself.
  const std::vector<std::string> globals = globals_of(Expr(&whole));
  const bool is_read = std::find(globals.begin(), globals.end(), name) != globals.end();
  const std::string defined = fmt::format("{}{}", name, is_read ? "2" : "");
  const bool is_open =
      whole.kind == ExprKind::If || whole.kind == ExprKind::Match || whole.kind == ExprKind::Let;
  return fmt::format("help: a `def` may be generic: `def {}({}) = {}({})`", defined, params,
                     is_open ? "(" + value + ")" : value, params);
}

}  // namespace

void Inference::check_ambiguous(const Type& result, bool result_may_default) {
  // One without unknowns belongs to the body of a polymorphic local function, which copies run for.
  std::vector<const Relation*> open;
  std::unordered_set<const TypeVar*> waited_for;
  for (const Relation* relation : open_relations()) {
    std::vector<TypeVarRef> unknowns = relations_.unknowns_of(*relation);
    if (!unknowns.empty()) open.push_back(relation);
    for (const TypeVarRef& var : unknowns) waited_for.insert(var.get());
  }
  for (const VariableRef& param : params_) {
    Type type = solver_.resolve(variables_.at(param.get()).type);
    const auto* var = as<VarType>(type);
    if (is_generic(type)) continue;
    if ((var && waited_for.count(var->var.get())) || is_open_tensor(type, solver_)) {
      throw Failure(ambiguous_variable(*param, solver_.show(type)));
    }
  }
  if (!open.empty()) throw Failure(ambiguous_relation(*open.front(), solver_));
  for (const auto& [expr, type] : nodes_) {
    if (!type->has_unknowns || !is_open_tensor(solver_.resolve(type), solver_) || is_generic(type))
      continue;
    Diagnostic diagnostic(DiagnosticKind::AmbiguousType, "cannot tell the type of this",
                          expr->span);
    diagnostic.label(expr->span, describe_type(type, solver_));
    diagnostic.note("help: a type annotation settles it");
    throw Failure(std::move(diagnostic));
  }
  Type known = solver_.resolve(result);
  if (!result_may_default && has_open_tensor(known, solver_)) {
    const ExprNode* whole = nodes_.back().first;
    Diagnostic diagnostic(
        DiagnosticKind::AmbiguousType,
        fmt::format("cannot tell the type of this function: `{}`", solver_.show(known)),
        whole->span);
    diagnostic.note(as_definition(*whole, known));
    throw Failure(std::move(diagnostic));
  }
}

void Inference::settle_dtype(const TypeVar& var) {
  if (solver_.at(var).is_number) return settle_literal(var);
  const auto requirements = solver_.at(var).requirements;
  solver_.settle(var, DTypeTerm(Solver::accepts(requirements, DType::Float32) ? DType::Float32
                                : Solver::accepts(requirements, DType::Int32) ? DType::Int32
                                                                              : DType::Bool));
}

// What is still open stands for nothing that exists, like the element type of an empty list.
void Inference::default_leftovers() {
  auto settle = [this](const Type& type) {
    for (const TypeVarRef& var : solver_.unknowns_of(type)) {
      switch (var->kind) {
        case VarKind::Type:
          solver_.settle(*var, unit_type());
          break;
        case VarKind::Shape:
          solver_.settle(*var, Shape());
          break;
        case VarKind::Dim:
          solver_.settle(*var, Dim::any());
          break;
        case VarKind::DType:
          settle_dtype(*var);
          break;
      }
    }
  };
  for (const auto& [expr, type] : nodes_) settle(type);
  for (const auto& [call, info] : calls_) {
    if (info.callee) settle(info.callee);
  }
  for (const auto& [variable, local] : variables_) settle(local.type);
  for (const auto& [variable, binder] : binders_) {
    binder.dim.for_each_variable([&](const TypeVarRef& var) {
      Unknown* unknown = solver_.find(*var);
      if (unknown && !unknown->is_bound()) solver_.settle(*var, Dim::any());
    });
  }
}

void Inference::settle_ground(const Type& result) {
  relations_.drain();
  while (settle_records() || settle_trees()) relations_.drain();
  while (settle_index_relations(false)) relations_.drain();
  while (settle_index_relations(true)) relations_.drain();
  if (settle_opened()) relations_.drain();
  while (settle_literals_outside({})) {
    relations_.drain();
    while (settle_index_relations(true)) relations_.drain();
  }
  if (!numbers_.empty()) {
    // A function that is the result, or part of it, has no callers that could tell.
    std::vector<Type> inputs;
    add_inputs(solver_.resolve(result), inputs);
    while (settle_numbers_outside(reachable(inputs))) {
      relations_.drain();
      while (settle_index_relations(true)) relations_.drain();
    }
  }
  while (settle_trees()) relations_.drain();
}

Type Inference::finish_ground(const Type& result, bool result_may_default) {
  settle_ground(result);
  while (instantiated_ < local_uses_.size() && errors_.empty() && !inherited_) {
    infer_instances();
    settle_ground(result);
  }
  relations_.recheck();
  check_literals();
  check_literal_indices();
  check_extents({});
  throw_reported();  // after an error, what is open may be so because of it
  check_records(false);
  check_trees();
  try {
    check_ambiguous(result, result_may_default);
  } catch (const Failure&) {
    if (!settle_valueless(result)) throw;
    check_ambiguous(result, result_may_default);
    check_literals();
    throw_reported();
  }
  const Type general = general_type(solver_.resolve(result), solver_);
  default_leftovers();
  return solver_.resolve(general);
}

}  // namespace relay::typecheck
