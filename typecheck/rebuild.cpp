#include "typecheck/rebuild.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "lang/any_dim.h"
#include "lang/call_form.h"
#include "lang/op.h"
#include "lang/record.h"
#include "lang/short_circuit.h"
#include "lang/stop.h"
#include "lang/tree_form.h"
#include "typecheck/entry_checks.h"
#include "typecheck/part_set.h"
#include "typecheck/trees_of_tensors.h"

namespace relay::typecheck {

using namespace lang;

namespace {

Expr int64_constant(std::int64_t value, Span span) {
  return make_constant(Tensor::scalar(DType::Int64, bits_from_int(DType::Int64, value)), span);
}

class Rebuilder {
 public:
  Rebuilder(Inference& inference, bool is_definition)
      : is_definition_(is_definition), inference_(inference), solver_(inference.solver()) {}

  Expr expr(const Expr& old);
  Expr function(const Function& old, std::vector<TypeVarRef> type_params);
  Expr coerced(const ExprNode* site, std::size_t index, Expr value);

 private:
  std::vector<TakenValue> taken_by(const Function& function);
  Expr as_annotated(Expr value, const Type& annotation, const std::string& name);
  Type type_of(const Expr& old) { return solver_.resolve(inference_.type_of(old.get())); }
  VariableRef variable(const VariableRef& old);
  std::vector<Expr> list(const std::vector<Expr>& old);
  Expr node(const Expr& old);
  Expr let(const Expr& old);
  Expr call(const Call& old);
  Expr tree_form(const Call& old, const OpDef& form, const Type& type);
  Expr callee(const Expr& old, const Type& type);
  Expr converted(const Expr& tensor, const Type& type, Span span);
  Expr short_circuit(const OpDef& strict, const std::vector<Expr>& args, const Type& type,
                     Span span);
  std::vector<Expr> arguments(const Call& old);
  Expr literal(const Literal& old, bool negated, const Type& type, Span span);
  Expr match(const Expr& old);
  PatternRef pattern(const PatternRef& old);
  std::vector<IndexBinder> binders(const std::vector<IndexBinder>& old);
  Expr comprehension(const Expr& old);
  Expr inferred_extent(const BinderInfo& info);
  bool is_shown(const Dim& dim);
  Expr equal_extents(const Expr& extent, const Expr& other, const BinderInfo& info, Span span);
  Expr index(const Expr& old);
  Expr position(const Expr& old, const Expr& tensor, std::uint32_t axis, const Dim& extent);
  Expr scatter(const Expr& old);
  Expr unknown_dim(const DimTerm& term);
  Expr dim_of(const Expr& old_tensor, std::uint32_t axis, Span span);
  bool is_safe(const Index& node, std::size_t position, const Dim& extent);

  const bool is_definition_;        // its own checks are made where it is specialised
  const Function* root_ = nullptr;  // if a function is rebuilt
  std::optional<std::unordered_set<const TypeVar*>> shown_;  // the dims of its parameters
  Inference& inference_;
  Solver& solver_;
  std::unordered_map<const ExprNode*, Expr> done_;
  PointerMap<Variable, VariableRef> variables_;
};

VariableRef Rebuilder::variable(const VariableRef& old) {
  VariableRef& place = variables_[old.get()];
  if (!place)
    place = make_variable(old->name, solver_.resolve(inference_.type_of(old.get())), old->span,
                          old->attrs);
  return place;
}

std::vector<Expr> Rebuilder::list(const std::vector<Expr>& old) {
  std::vector<Expr> result;
  result.reserve(old.size());
  for (const Expr& element : old) result.push_back(expr(element));
  return result;
}

// A node with one owner is come by once.
Expr Rebuilder::expr(const Expr& old) {
  if (old->is_unique()) return node(old);
  auto found = done_.find(old.get());
  if (found != done_.end()) return found->second;
  Expr fresh = node(old);
  done_.emplace(old.get(), fresh);
  return fresh;
}

Expr Rebuilder::node(const Expr& old) {
  lang::poll();
  Span span = old->span;
  switch (old->kind) {
    case ExprKind::Var: {
      VariableRef instance = inference_.instance_at(old.get());
      return make_var(variable(instance ? instance : cast<Var>(old).variable), span);
    }
    case ExprKind::Constant:
      return old->type ? old : make_constant(cast<Constant>(old).value, span);
    case ExprKind::Literal:
      return literal(cast<Literal>(old), false, type_of(old), span);
    case ExprKind::GlobalVar:
    case ExprKind::Operator:
      return callee(old, type_of(old));
    case ExprKind::ConstructorRef:
      return constructor_value(cast<ConstructorRef>(old), type_of(old));
    case ExprKind::Tuple:
      return make_tuple(list(cast<Tuple>(old).fields), span, type_of(old));
    case ExprKind::Projection: {
      const auto& projection = cast<Projection>(old);
      return make_projection(expr(projection.tuple), projection.index, span, type_of(old));
    }
    case ExprKind::Let:
      return let(old);
    case ExprKind::If: {
      const auto& node = cast<If>(old);
      Expr condition = expr(node.condition);
      Expr then_branch = expr(node.then_branch);
      return make_if(condition, then_branch, expr(node.else_branch), span, type_of(old));
    }
    case ExprKind::Function:
      return function(cast<Function>(old), {});
    case ExprKind::Call:
      return call(cast<Call>(old));
    case ExprKind::Match:
      return match(old);
    case ExprKind::RefCreate:
      return make_ref_create(expr(cast<RefCreate>(old).value), span, type_of(old));
    case ExprKind::RefRead:
      return make_ref_read(expr(cast<RefRead>(old).ref), span, type_of(old));
    case ExprKind::RefWrite: {
      const auto& write = cast<RefWrite>(old);
      Expr ref = expr(write.ref);
      return make_ref_write(ref, expr(write.value), span, type_of(old));
    }
    case ExprKind::Comprehension:
      return comprehension(old);
    case ExprKind::Reduction: {
      const auto& node = cast<Reduction>(old);
      std::vector<IndexBinder> made = binders(node.binders);
      return make_reduction(node.op, std::move(made), expr(node.body), span, type_of(old));
    }
    case ExprKind::Index:
      return index(old);
    case ExprKind::ScatterReduce:
      return scatter(old);
    case ExprKind::Primitive:
      return make_primitive(cast<Primitive>(old).prim, list(cast<Primitive>(old).args), span,
                            type_of(old), cast<Primitive>(old).algebra);
    case ExprKind::DimTerm: {
      Dim dim = solver_.resolve(substitute(cast<DimTerm>(old).dim, inference_.written()));
      if (dim.is_constant()) return int64_constant(dim.constant(), span);
      return dim.is_any() ? unknown_dim(cast<DimTerm>(old)) : make_dim_term(std::move(dim), span);
    }
    case ExprKind::Differentiate: {
      const auto& node = cast<Differentiate>(old);
      return make_differentiate(node.mode, expr(node.fn), span, type_of(old));
    }
  }
  return nullptr;
}

Expr Rebuilder::let(const Expr& old) {
  struct Binding {
    const Expr* let;
    VariableRef variable;  // null: nothing, as for a polymorphic function that is not used
    Expr value;
  };
  std::vector<Binding> chain;
  const Expr* current = &old;
  while (const Let* node = as<Let>(*current)) {
    if (!(*current)->is_unique() && done_.count(current->get())) break;
    if (const auto* instances = inference_.instances_of(node->variable.get())) {
      chain.push_back({current, nullptr, nullptr});
      for (const LocalInstance& instance : *instances)
        chain.push_back({current, variable(instance.variable), expr(instance.function)});
    } else {
      Expr value = coerced(node, 0, expr(node->value));
      value = as_annotated(std::move(value), node->variable->type, node->variable->name);
      chain.push_back({current, variable(node->variable), std::move(value)});
    }
    current = &node->body;
  }
  Expr result = expr(*current);
  for (std::size_t i = chain.size(); i-- > 0;) {
    Binding& binding = chain[i];
    const Expr& link = *binding.let;
    if (binding.variable) {
      Type type = result->type;
      result = make_let(std::move(binding.variable), std::move(binding.value), std::move(result),
                        link->span, std::move(type));
    }
    if (i > 0 && chain[i - 1].let != binding.let && !link->is_unique())
      done_.emplace(link.get(), result);
  }
  return result;
}

Expr Rebuilder::function(const Function& old, std::vector<TypeVarRef> type_params) {
  const bool is_local = root_ != nullptr || !is_definition_;
  if (!root_) root_ = &old;
  std::vector<VariableRef> params;
  for (const VariableRef& param : old.params) params.push_back(variable(param));
  Type type = solver_.resolve(inference_.type_of(&old));
  Expr body = coerced(&old, 0, expr(old.body));
  body = as_annotated(std::move(body), old.result, "");
  if (is_local) {  // the checks of a definition are made where it is specialised
    const Span span = old.params.empty() ? old.span : old.params.front()->span;
    body = behind_checks(open_extents_of(taken_by(old)), "this function", span, std::move(body));
  }
  return make_function(std::move(params), as<FunctionType>(type)->result, body,
                       std::move(type_params), old.attrs, old.span, type);
}

// The parameters with what their annotations say.
std::vector<TakenValue> Rebuilder::taken_by(const Function& function) {
  std::vector<TakenValue> values;
  for (const VariableRef& old : function.params) {
    const VariableRef param = variable(old);
    values.push_back({make_var(param), param->name, old->type, param->type});
  }
  return values;
}

// The value behind checks of the extents that its annotation takes from the parameters of a
// definition, in an instance where these are a `?`. The result has no name.
Expr Rebuilder::as_annotated(Expr value, const Type& annotation, const std::string& name) {
  if (!annotation || !root_ || !is_definition_ || !has_any_dim(value->type)) return value;
  const Span span = tail_of(value)->span;
  std::vector<TakenValue> values = taken_by(*root_);
  const std::size_t settled = values.size();
  const VariableRef checked = make_variable("", value->type, span);
  values.push_back({make_var(checked), name.empty() ? "result" : name, annotation, value->type});
  const std::vector<EntryCheck> checks = open_extents_of(values, settled);
  if (checks.empty()) return value;
  const std::string because =
      name.empty() ? "the type of the result" : fmt::format("the annotation of `{}`", name);
  Expr rest = behind_checks(checks, because, span, values.back().value);
  return close_block({{{checked, std::move(value), span}}, std::move(rest)});
}

std::vector<Expr> Rebuilder::arguments(const Call& old) {
  std::vector<Expr> args = list(old.args);
  for (std::size_t i = 0; i < args.size(); ++i) args[i] = coerced(&old, i, std::move(args[i]));
  return args;
}

namespace {

// `value` with a check of the extents that `type` knows and its own type does not.
Expr narrow(const Expr& value, const Type& type, const std::string& because) {
  Span span = tail_of(value)->span;
  if (const auto* tuple = as<TupleType>(type)) {
    std::vector<Expr> fields;
    bool is_same = true;
    for (std::uint32_t i = 0; i < tuple->fields.size(); ++i) {
      Expr field = make_projection(value, i, span, as<TupleType>(value->type)->fields[i]);
      fields.push_back(narrow(field, tuple->fields[i], because));
      is_same &= fields.back() == field;
    }
    return is_same ? value : make_tuple(std::move(fields), span, type);
  }
  const auto* tensor = as<TensorType>(type);
  if (!tensor) return value;
  const std::vector<Dim>& known = as<TensorType>(value->type)->shape.dims();
  std::vector<Expr> extents;
  std::vector<Type> types;
  bool is_same = true;
  for (std::size_t axis = 0; axis < known.size(); ++axis) {
    const Dim& dim = tensor->shape[axis];
    bool is_checked = known[axis].is_any() && !dim.is_any();
    is_same &= !is_checked;
    extents.push_back(!is_checked         ? int64_constant(-1, span)
                      : dim.is_constant() ? int64_constant(dim.constant(), span)
                                          : make_dim_term(dim, span));
    types.push_back(scalar_type(DType::Int64));
  }
  if (is_same) return value;
  const OpDef& op = OpRegistry::instance().get("check_shape");
  AttrsRef attrs = complete_attrs(op, make_attrs({{"because", because}}), span);
  Expr shape = make_tuple(std::move(extents), span, tuple_type(std::move(types)));
  Expr callee = make_operator(&op, span, function_type({value->type, shape->type}, type));
  return make_call(callee, {value, shape}, attrs, span, type);
}

}  // namespace

Expr Rebuilder::coerced(const ExprNode* site, std::size_t index, Expr value) {
  const Coercion* coercion = inference_.coercion(site, index);
  if (!coercion) return value;
  return narrow(value, solver_.resolve(coercion->type), coercion->because);
}

// Globals, operators and constructors, which are instances of something more general.
Expr Rebuilder::callee(const Expr& old, const Type& type) {
  switch (old->kind) {
    case ExprKind::GlobalVar:
      return make_global_var(cast<GlobalVar>(old).name, old->span, type);
    case ExprKind::Operator:
      return make_operator(cast<Operator>(old).op, old->span, type);
    case ExprKind::ConstructorRef:
      return make_constructor_ref(cast<ConstructorRef>(old).constructor, old->span, type);
    default:
      return expr(old);
  }
}

namespace {

// `p with { .. }`, whose clauses construct: what is new meets what stays.
Expr with_checked_clauses(const Expr& expanded) {
  const auto& match = cast<Match>(expanded);
  std::vector<Clause> clauses;
  for (const Clause& clause : match.clauses) {
    const auto& call = cast<Call>(clause.body);
    clauses.push_back({clause.pattern, checked_construction(call.callee, call.args, call.attrs,
                                                            call.span, call.type)});
  }
  return make_match(match.scrutinee, std::move(clauses), match.is_complete, expanded->span,
                    expanded->type);
}

}  // namespace

Expr Rebuilder::call(const Call& old) {
  const Type type = solver_.resolve(inference_.type_of(&old));
  if (const auto* op = as<Operator>(old.callee); op && is_record_form(*op->op)) {
    const std::vector<std::string> fields = record_fields(old.attrs);
    const std::size_t count = op->op == &record_with() ? 1 + fields.size() : 1;
    const Expr expanded = expand_record_form(
        *op->op, fields,
        list({old.args.begin(), old.args.begin() + static_cast<std::ptrdiff_t>(count)}), old.span);
    return op->op == &record_with() ? with_checked_clauses(expanded) : expanded;
  }
  if (const auto* op = as<Operator>(old.callee); op && is_tree_form(*op->op))
    return tree_form(old, *op->op, type);
  bool is_instance = old.callee->kind == ExprKind::Operator ||
                     old.callee->kind == ExprKind::GlobalVar ||
                     old.callee->kind == ExprKind::ConstructorRef;
  if (!is_instance) {
    Expr function = expr(old.callee);
    return make_call(function, arguments(old), old.attrs, old.span, type);
  }
  const Inference::CallInfo& info = inference_.call_info(&old);
  if (info.literal) return literal(*info.literal, true, type, old.span);
  if (info.is_transposed_function)
    return make_differentiate(DiffMode::Transpose, expr(old.args[0]), old.span, type);
  if (const auto* op = as<Operator>(old.callee)) {
    if (is_cast_form(*op->op)) return converted(expr(old.args[0]), type, old.span);
    const OpDef* strict = strict_form(*op->op);
    std::vector<Expr> args = list(old.args);
    std::vector<Type> params;
    params.reserve(args.size());
    bool all_scalars = true;
    for (const Expr& arg : args) {
      all_scalars &= is_scalar(arg->type);
      params.push_back(arg->type);
    }
    if (strict && all_scalars) return short_circuit(*strict, args, type, old.span);
    Expr callee =
        make_operator(strict ? strict : op->op, op->span, function_type(std::move(params), type));
    return make_call(callee, std::move(args), info.attrs, old.span, type, old.algebra);
  }
  Type instance = solver_.resolve(info.callee);
  if (instance->kind == TypeKind::Adt) return callee(old.callee, instance);
  if (old.callee->kind == ExprKind::ConstructorRef)
    return checked_construction(callee(old.callee, instance), arguments(old), old.attrs, old.span,
                                type);
  return make_call(callee(old.callee, instance), arguments(old), old.attrs, old.span, type);
}

Expr Rebuilder::tree_form(const Call& old, const OpDef& form, const Type& type) {
  std::vector<LeafFunction> functions;
  for (const LeafFunction& each : inference_.functions_of(&old))
    functions.push_back({solver_.resolve(each.leaf), expr(each.function)});
  return expand_tree_form(form, functions, list({old.args.begin() + 1, old.args.end()}), type,
                          old.span);
}

// The tensor itself, or a cast to the dtype of `type`.
Expr Rebuilder::converted(const Expr& tensor, const Type& type, Span span) {
  const DType dtype = as<TensorType>(type)->dtype.known();
  if (as<TensorType>(tensor->type)->dtype.known() == dtype) return tensor;
  const OpDef& op = OpRegistry::instance().get("cast");
  Expr callee = make_operator(&op, span, function_type({tensor->type}, type));
  return make_call(callee, {tensor}, complete_attrs(op, make_attrs({{"dtype", dtype}}), span), span,
                   type);
}

// `a && b` on scalars is `if (a) { b } else { False }`.
Expr Rebuilder::short_circuit(const OpDef& strict, const std::vector<Expr>& args, const Type& type,
                              Span span) {
  bool on_true = continues_on_true(strict);
  Expr decided = make_constant(Tensor::scalar(DType::Bool, on_true ? 0 : 1), span);
  return on_true ? make_if(args[0], args[1], decided, span, type)
                 : make_if(args[0], decided, args[1], span, type);
}

Expr Rebuilder::literal(const Literal& old, bool negated, const Type& type, Span span) {
  DType dtype = as<TensorType>(type)->dtype.known();
  if (old.elements) {
    const DType own = old.elements->dtype();
    const TensorRef tensor = Tensor::make(dtype, old.elements->shape());
    for (std::int64_t i = 0; i < tensor->element_count(); ++i) {
      const std::uint64_t element = old.elements->bits_at(i);
      tensor->set_bits(i, old.is_float ? bits_from_double(dtype, double_from_bits(own, element))
                          : is_float(dtype) ? bits_from_double(dtype, old.elements->number_at(i))
                                            : bits_from_int(dtype, int_from_bits(own, element)));
    }
    return make_constant(tensor, span);
  }
  std::uint64_t bits = old.is_float ? bits_from_double(dtype, negated ? -old.real : old.real)
                       : is_float(dtype)
                           ? bits_from_double(dtype, negated ? -static_cast<double>(old.integer)
                                                             : static_cast<double>(old.integer))
                           : bits_from_int(dtype, negated ? -old.integer : old.integer);
  return make_constant(Tensor::scalar(dtype, bits), span);
}

PatternRef Rebuilder::pattern(const PatternRef& old) {
  std::vector<PatternRef> fields;
  for (const PatternRef& field : old->fields) fields.push_back(pattern(field));
  switch (old->kind) {
    case PatternKind::Wildcard:
      return old;
    case PatternKind::Variable:
      return variable_pattern(variable(old->variable), old->span);
    case PatternKind::Constructor:
      return constructor_pattern(old->constructor, std::move(fields), old->span);
    case PatternKind::Tuple:
      return tuple_pattern(std::move(fields), old->span);
  }
  return old;
}

Expr Rebuilder::match(const Expr& old) {
  const Match& node = cast<Match>(old);
  Expr scrutinee = expr(node.scrutinee);
  std::vector<Clause> clauses;
  for (const Clause& clause : node.clauses) {
    PatternRef fresh = pattern(clause.pattern);
    clauses.push_back({std::move(fresh), expr(clause.body)});
  }
  return make_match(scrutinee, std::move(clauses), node.is_complete, old->span, type_of(old));
}

// --- Index notation ---

namespace {

// The variable behind `a`, where axes can be told to be the same by looking.
const Variable* variable_of(const Expr& expr) {
  const auto* var = as<Var>(expr);
  return var ? var->variable.get() : nullptr;
}

}  // namespace

// A dim as a term in an instance where it is a `?`: from the extents of the parameters.
Expr Rebuilder::unknown_dim(const DimTerm& term) {
  Expr extent = root_ ? extent_of(term.dim, taken_by(*root_)) : nullptr;
  if (extent) return extent;
  fail(
      DiagnosticKind::Unsupported,
      "not supported: the extent `" + term.dim.to_string() + "`, which is unknown here, as a value",
      term.span);
}

Expr Rebuilder::dim_of(const Expr& old_tensor, std::uint32_t axis, Span span) {
  const OpDef& op = OpRegistry::instance().get("dim_of");
  AttrsRef attrs =
      complete_attrs(op, make_attrs({{"axis", static_cast<std::int64_t>(axis)}}), span);
  Expr tensor = expr(old_tensor);
  std::vector<Binding> bindings;
  if (tensor->type->kind != TypeKind::Tensor)  // all of its tensors have that axis
    tensor = tensors_of(tensor, bindings, span).front();
  Type result = scalar_type(DType::Int64);
  Expr function = make_operator(&op, span, function_type({tensor->type}, result));
  Expr dim = make_call(function, {tensor}, attrs, span, result);
  return close_block({std::move(bindings), std::move(dim)});
}

namespace {

void collect_shown(const Type& type, std::unordered_set<const TypeVar*>& shown) {
  if (const auto* tensor = as<TensorType>(type)) {
    for (const Dim& dim : tensor->shape.dims())
      dim.for_each_variable([&](const TypeVarRef& var) { shown.insert(var.get()); });
  } else if (const auto* tuple = as<TupleType>(type)) {
    for (const Type& field : tuple->fields) collect_shown(field, shown);
  }
}

}  // namespace

// Do the parameters tell the extent when the program runs? One that only a function's type mentions
// is read from what the function gives.
bool Rebuilder::is_shown(const Dim& dim) {
  if (!shown_ && root_) {
    shown_.emplace();
    for (const VariableRef& param : root_->params)
      collect_shown(solver_.resolve(inference_.type_of(param.get())), *shown_);
  }
  bool all = shown_.has_value();
  dim.for_each_variable([&](const TypeVarRef& var) { all = all && shown_->count(var.get()) != 0; });
  return all;
}

Expr Rebuilder::inferred_extent(const BinderInfo& info) {
  Span span = info.variable->span;
  Dim dim = solver_.resolve(info.dim);
  std::vector<ExtentSource> sources = inference_.extent_sources(info);
  Expr extent = dim.is_constant() ? int64_constant(dim.constant(), span)
                : dim.is_any() || (!sources.empty() && !is_shown(dim)) ? nullptr
                                                                       : make_dim_term(dim, span);
  if (!extent && sources.empty()) {
    Diagnostic diagnostic(
        DiagnosticKind::AmbiguousType,
        "the extent of `" + info.variable->name + "` is not known outside its scope", span);
    diagnostic.note("help: write its extent, as in `" + info.variable->name + " < n`");
    throw Failure(std::move(diagnostic));
  }
  // Axes of unknown extent must agree with the others; where two are the same there is no doubt.
  std::vector<std::pair<const Variable*, std::uint32_t>> seen;
  for (const ExtentSource& source : sources) {
    if (!solver_.resolve(source.use->dim).is_any()) continue;
    const Variable* base = variable_of(source.tensor);
    const std::pair axis(base, source.axis);
    if (base && std::find(seen.begin(), seen.end(), axis) != seen.end()) continue;
    seen.push_back(axis);
    Expr own = dim_of(source.tensor, source.axis, source.use->span);
    extent = extent ? equal_extents(extent, own, info, source.use->span) : own;
  }
  return extent ? extent : dim_of(sources[0].tensor, sources[0].axis, span);
}

// The extent, once running has told that both are the same.
Expr Rebuilder::equal_extents(const Expr& extent, const Expr& other, const BinderInfo& info,
                              Span span) {
  const OpDef& op = OpRegistry::instance().get("check_dims");
  AttrsRef attrs =
      complete_attrs(op, make_attrs({{"because", "index `" + info.variable->name + "`"}}), span);
  Type index = scalar_type(DType::Int64);
  return make_call(make_operator(&op, span, function_type({index, index}, index)), {extent, other},
                   attrs, span, index);
}

std::vector<IndexBinder> Rebuilder::binders(const std::vector<IndexBinder>& old) {
  std::vector<IndexBinder> result;
  for (const IndexBinder& binder : old) {
    Expr extent = binder.extent ? expr(binder.extent)
                                : inferred_extent(*inference_.binder_info(binder.variable.get()));
    result.push_back({nullptr, std::move(extent)});
  }
  for (std::size_t i = 0; i < old.size(); ++i) result[i].variable = variable(old[i].variable);
  return result;
}

Expr Rebuilder::comprehension(const Expr& old) {
  const auto& node = cast<Comprehension>(old);
  std::vector<IndexBinder> made = binders(node.binders);
  Expr body = expr(node.body);
  const Type type = type_of(old);
  return stack_parts(std::move(made), body, type, old->span);
}

// Can the index at `position` not leave its axis?
bool Rebuilder::is_safe(const Index& node, std::size_t position, const Dim& extent) {
  const auto* var = as<Var>(node.indices[position]);
  const BinderInfo* info = var ? inference_.binder_info(var->variable.get()) : nullptr;
  if (!info) return false;
  Dim bound = solver_.resolve(info->dim);
  if (!bound.is_any()) return bound == extent;
  if (!info->is_inferred) return false;
  // All of these are found to agree before the body runs.
  const Variable* own = variable_of(node.tensor);
  std::vector<ExtentSource> sources = inference_.extent_sources(*info);
  return std::any_of(sources.begin(), sources.end(), [&](const ExtentSource& source) {
    if (source.use->tensor == node.tensor && source.use->axis == position) return true;
    return own && own == variable_of(source.tensor) && source.axis == position;
  });
}

// What a negative number counts from the end is known here.
Expr Rebuilder::position(const Expr& old, const Expr& tensor, std::uint32_t axis,
                         const Dim& extent) {
  bool negated = false;
  const Literal* number = as_literal(old, negated);
  const std::int64_t value = number ? (negated ? -number->integer : number->integer) : 0;
  if (value >= 0) return expr(old);
  if (extent.is_constant()) return int64_constant(value + extent.constant(), old->span);
  const Expr dim =
      extent.is_any() ? dim_of(tensor, axis, old->span) : make_dim_term(extent, old->span);
  return make_primitive(Prim::Add, {dim, int64_constant(value, old->span)}, old->span,
                        scalar_type(DType::Int64));
}

Expr Rebuilder::scatter(const Expr& old) {
  const auto& node = cast<ScatterReduce>(old);
  const std::vector<Dim>& axes = inference_.axes_of(&node);
  Expr init = expr(node.init);
  std::vector<IndexBinder> made = binders(node.binders);
  std::vector<Expr> indices;
  for (std::size_t i = 0; i < node.indices.size(); ++i)
    indices.push_back(position(node.indices[i], node.init, static_cast<std::uint32_t>(i),
                               solver_.resolve(axes[i])));
  Expr value = coerced(&node, 0, expr(node.value));
  if (!is_scalar(value->type)) return with_part(init, std::move(indices), value, old->span);
  return make_scatter_reduce(node.op, init, std::move(made), std::move(indices), std::move(value),
                             old->span, type_of(old), node.algebra);
}

Expr Rebuilder::index(const Expr& old) {
  const Index& node = cast<Index>(old);
  const std::vector<Dim>& axes = inference_.axes_of(&node);
  Expr tensor = expr(node.tensor);
  std::vector<Expr> indices;
  bool in_bounds = true;
  for (std::size_t i = 0; i < node.indices.size(); ++i) {
    const Dim extent = solver_.resolve(axes[i]);
    indices.push_back(
        position(node.indices[i], node.tensor, static_cast<std::uint32_t>(i), extent));
    bool negated = false;
    const Literal* number = as_literal(node.indices[i], negated);
    // Those that are known have been looked at by inference.
    in_bounds &= number ? extent.is_constant() : is_safe(node, i, extent);
  }
  const Type type = type_of(old);
  if (tensor->type->kind == TypeKind::Tensor)
    return make_index(tensor, std::move(indices), in_bounds, old->span, type);
  return index_each(tensor, std::move(indices), in_bounds, type, old->span);
}

}  // namespace

Expr rebuild(const Expr& root, Inference& inference, std::vector<TypeVarRef> type_params) {
  const auto* function = as<Function>(root);
  Rebuilder rebuilder(inference, function != nullptr);
  if (function) return rebuilder.function(*function, std::move(type_params));
  return rebuilder.coerced(nullptr, 0, rebuilder.expr(root));
}

}  // namespace relay::typecheck
