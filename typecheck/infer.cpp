// Inference of the ordinary nodes. Calls, matches, literals and index notation have files of their
// own.

#include <fmt/format.h>

#include "lang/stop.h"
#include "typecheck/core_rules.h"
#include "typecheck/inference.h"
#include "typecheck/substitution.h"

namespace relay::typecheck {

using namespace lang;

const ExprNode* tail_of(const Expr& expr) {
  const ExprNode* node = expr.get();
  while (node->kind == ExprKind::Let) node = static_cast<const Let*>(node)->body.get();
  return node;
}

Inference::Inference(const Globals& globals, Purpose purpose, TypeSubstitution written,
                     Widening* widening)
    : globals_(globals),
      purpose_(purpose),
      written_(std::move(written)),
      widening_(widening),
      relations_(
          solver_,
          [this](Failure&& failure, const Relation& relation) {
            report_relation(std::move(failure), relation);
          },
          widening) {}

const BinderInfo* Inference::binder_info(const Variable* variable) const {
  return binders_.find(variable);
}

// A node with one owner is come by once.
void Inference::record(const Expr& expr, const Type& type) {
  if (observed_ && expr->span) observed_->push_back({expr->span, type});
  if (purpose_ == Purpose::kScheme && expr->is_unique()) return;
  Type& place = nodes_[expr.get()];
  if (!place) place = type;
}

const Type* Inference::recorded(const Expr& expr) const {
  return expr->is_unique() ? nullptr : nodes_.find(expr.get());
}

void Inference::introduce(const VariableRef& variable, const Type& type, Span origin) {
  variables_[variable.get()] = {type, next_order_++, origin};
  if (observed_ && variable->span) observed_->push_back({variable->span, type, true});
}

std::optional<Label> Inference::origin_of(const Expr& expr) const {
  const auto* var = as<Var>(expr);
  const LocalVariable* local = var ? variables_.find(var->variable.get()) : nullptr;
  if (!local) return std::nullopt;
  const Variable& variable = *var->variable;
  if (local->origin && local->origin.source == expr->span.source)
    return Label{local->origin, fmt::format("`{}` comes from here", variable.name)};
  if (variable.type && variable.span.source == expr->span.source)
    return Label{variable.span, fmt::format("`{}` is declared here", variable.name)};
  return std::nullopt;
}

namespace {

bool is_inside(Span part, Span whole) {
  return whole && !(part == whole) && join(whole, part) == whole;
}

}  // namespace

// A disagreement between operands is understood where they come from.
void Inference::report_relation(Failure&& failure, const Relation& relation) {
  Diagnostic& diagnostic = failure.diagnostics.front();
  if (auto better = explain_index_dtype(diagnostic, relation)) diagnostic = std::move(*better);
  help_with_result(diagnostic, relation);
  bool is_about_operands = diagnostic.labels.size() > 1;
  if (relation.call && is_about_operands) {
    for (const Expr& arg : relation.call->args) {
      const std::optional<Label> origin = origin_of(arg);
      const bool is_new =
          origin && std::none_of(diagnostic.labels.begin(), diagnostic.labels.end(),
                                 [&](const Label& each) { return each.span == origin->span; });
      if (is_new) diagnostic.label(origin->span, origin->text);
    }
  }
  if (relation.used_at && !(relation.used_at == diagnostic.span))
    diagnostic.label(relation.used_at, "for this use of the function");
  report(std::move(failure), relation.span);
}

namespace {

void collect_data(const Type& type, std::vector<const TypeDef*>& defs) {
  if (const auto* adt = as<AdtType>(type)) {
    defs.push_back(adt->def);
    for (const Type& arg : adt->args) collect_data(arg, defs);
  } else if (const auto* tuple = as<TupleType>(type)) {
    for (const Type& field : tuple->fields) collect_data(field, defs);
  } else if (const auto* function = as<FunctionType>(type)) {
    for (const Type& param : function->params) collect_data(param, defs);
    collect_data(function->result, defs);
  } else if (const auto* reference = as<ReferenceType>(type)) {
    collect_data(reference->content, defs);
  }
}

// Two data types of one name, of which one has replaced the other.
std::pair<const TypeDef*, const TypeDef*> namesakes(const Type& a, const Type& b) {
  std::vector<const TypeDef*> left;
  std::vector<const TypeDef*> right;
  collect_data(a, left);
  collect_data(b, right);
  for (const TypeDef* each : left) {
    for (const TypeDef* other : right) {
      if (each != other && each->name == other->name) return {each, other};
    }
  }
  return {};
}

std::string place_of(Span span) {
  if (!span) return "elsewhere";
  const Source::Position position = span.source->place(span.begin);
  return fmt::format("at {}:{}:{}", span.source->name(), position.line, position.column);
}

}  // namespace

// Types of one name are told apart.
Failure Inference::explained(Failure&& failure, const Mismatch& mismatch) {
  const bool may_be_of_one_name = failure.diagnostics.front().kind == DiagnosticKind::TypeMismatch;
  Failure result = explain_mismatch(std::move(failure), mismatch, solver_);
  if (!may_be_of_one_name) return result;
  const auto [found, expected] =
      namesakes(solver_.resolve(mismatch.found), solver_.resolve(mismatch.expected));
  if (!found) return result;
  const std::string& name = found->name;
  const TypeDef* now = globals_.type_called(name);
  Diagnostic& diagnostic = result.diagnostics.front();
  const std::string_view of_found = found == now ? "" : "an older ";
  const std::string_view of_expected = expected == now ? "" : "an older ";
  const auto tell = [&](const std::string& both, const std::string& apart) {
    const std::size_t at = diagnostic.message.find(both);
    if (at != std::string::npos) diagnostic.message.replace(at, both.size(), apart);
    return at != std::string::npos;
  };
  const std::string unequal = fmt::format("`{0}` is not `{0}`", name);
  if (tell(fmt::format("`{0}`, found `{0}`: {1}", name, unequal),
           fmt::format("{1}`{0}`, found {2}`{0}`", name, of_expected, of_found)) ||
      tell(unequal, fmt::format("{1}`{0}` is not {2}`{0}`", name, of_found, of_expected))) {
    for (Label& label : diagnostic.labels) {
      if (label.text == fmt::format("`{}`", name) && label.span == mismatch.span)
        label.text = fmt::format("{}`{}`", of_found, name);
    }
  }
  diagnostic.note(
      fmt::format("note: the `{0}` needed is defined {1}, the one found {2}: they are two types",
                  name, place_of(expected->span), place_of(found->span)));
  return result;
}

bool Inference::expect(const Mismatch& mismatch) {
  bool agree = true;
  try {
    solver_.unify(mismatch.found, mismatch.expected);
  } catch (Failure& failure) {
    report(explained(std::move(failure), mismatch), mismatch.span);
    agree = false;
  }
  if (solver_.has_woken()) relations_.drain();
  return agree;
}

void Inference::report(Failure&& failure, Span fallback) {
  for (Diagnostic& diagnostic : failure.diagnostics) {
    if (lang::is_stop(diagnostic.kind)) throw std::move(failure);
    if (!diagnostic.span) diagnostic.span = fallback;
    if (attempts_ > 0) {
      errors_.push_back(std::move(diagnostic));
      continue;
    }
    // Of what is wrong inside of a generic function only the first is told.
    if ((levels_ == 0 || errors_.empty()) && explain_use(diagnostic)) continue;
    if (!is_inside(diagnostic.span, blamed_)) errors_.push_back(std::move(diagnostic));
  }
}

void Inference::blame(Span function) {
  blamed_ = function;
  std::erase_if(errors_, [&](const Diagnostic& d) { return is_inside(d.span, function); });
}

void Inference::throw_reported() {
  if (!errors_.empty()) throw Failure(std::move(errors_));
  if (inherited_) throw Failure(std::move(*inherited_));
}

Type Inference::infer(const Expr& expr) {
  if (const Type* known = recorded(expr)) return *known;
  lang::poll();
  Type type;
  try {
    type = solver_.head(infer_node(expr));
    check_size(type);
  } catch (Failure& failure) {
    report(std::move(failure), expr->span);
    type = solver_.error_type();
  }
  record(expr, type);
  return type;
}

Type Inference::infer_node(const Expr& expr) {
  switch (expr->kind) {
    case ExprKind::Var:
      return infer_var(cast<Var>(expr));
    case ExprKind::GlobalVar:
      return global_type(cast<GlobalVar>(expr));
    case ExprKind::Constant:
      return expr->type;
    case ExprKind::Literal:
      return infer_literal(cast<Literal>(expr), false);
    case ExprKind::Tuple: {
      std::vector<Type> fields;
      fields.reserve(cast<Tuple>(expr).fields.size());
      for (const Expr& field : cast<Tuple>(expr).fields) fields.push_back(infer(field));
      return tuple_type(std::move(fields));
    }
    case ExprKind::Projection:
      return infer_projection(cast<Projection>(expr));
    case ExprKind::Let:
      return infer_let(expr);
    case ExprKind::If:
      return infer_if(cast<If>(expr));
    case ExprKind::Function:
      return infer_function(expr, declare_local(cast<Function>(expr)));
    case ExprKind::Call:
      return infer_call(cast<Call>(expr));
    case ExprKind::Match:
      return infer_match(expr);
    case ExprKind::RefCreate:
    case ExprKind::RefRead:
    case ExprKind::RefWrite:
      return infer_reference(expr);
    case ExprKind::Operator:
      return operator_value(*cast<Operator>(expr).op, expr->span);
    case ExprKind::ConstructorRef:
      return constructor_type(*cast<ConstructorRef>(expr).constructor);
    case ExprKind::Comprehension:
      return infer_comprehension(cast<Comprehension>(expr));
    case ExprKind::Reduction:
      return infer_reduction(cast<Reduction>(expr));
    case ExprKind::Index:
      return infer_index(expr);
    case ExprKind::ScatterReduce:
      return infer_scatter(cast<ScatterReduce>(expr));
    case ExprKind::Primitive:
      return infer_primitive(cast<Primitive>(expr));
    case ExprKind::DimTerm:
      return scalar_type(DType::Int64);
    case ExprKind::Differentiate:
      return infer_differentiate(cast<Differentiate>(expr));
  }
  return nullptr;
}

// --- Annotations ---

Type Inference::open(const Type& annotation, Span span) {
  switch (annotation->kind) {
    case TypeKind::Tensor:
    case TypeKind::Var:
    case TypeKind::Dimension:
      return written_.empty() ? annotation : substitute(annotation, written_);
    case TypeKind::Incomplete:
      return solver_.fresh_type();
    case TypeKind::Tuple: {
      std::vector<Type> fields;
      for (const Type& field : as<TupleType>(annotation)->fields)
        fields.push_back(open(field, span));
      return tuple_type(std::move(fields));
    }
    case TypeKind::Function: {
      const auto& function = *as<FunctionType>(annotation);
      if (!function.quantified.empty()) return declare_quantified(function, span);
      std::vector<Type> params;
      for (const Type& param : function.params) params.push_back(open(param, span));
      return function_type(std::move(params), open(function.result, span));
    }
    case TypeKind::Adt: {
      const auto& adt = *as<AdtType>(annotation);
      if (adt.args.size() != adt.def->params.size()) {
        fail(DiagnosticKind::TypeMismatch,
             fmt::format("`{}` takes {}, found {}", adt.def->name,
                         count_of(adt.def->params.size(), "type argument"), adt.args.size()),
             span);
      }
      std::vector<Type> args;
      for (std::size_t i = 0; i < adt.args.size(); ++i) {
        bool is_open_dim =
            adt.args[i]->kind == TypeKind::Incomplete && adt.def->params[i]->kind == VarKind::Dim;
        args.push_back(is_open_dim ? dimension_type(solver_.fresh_dim()) : open(adt.args[i], span));
      }
      return adt_type(adt.def, std::move(args));
    }
    case TypeKind::Reference:
      return reference_type(open(as<ReferenceType>(annotation)->content, span));
  }
  return annotation;
}

// --- Variables, let, functions ---

Type Inference::infer_var(const Var& var) {
  if (!polymorphic_.empty()) {
    const auto generic = polymorphic_.find(var.variable.get());
    if (generic != polymorphic_.end())
      return generic->second.type ? instantiate_local(var, generic->second) : copy_local(var);
  }
  const LocalVariable* found = variables_.find(var.variable.get());
  if (!found) {
    fail(DiagnosticKind::UnknownName,
         fmt::format("`{}` is used outside its scope", var.variable->name), var.span);
  }
  return found->type;
}

Type Inference::infer_let(const Expr& expr) {
  std::vector<const Expr*> chain;
  const Expr* current = &expr;
  while (const Let* let = as<Let>(*current)) {
    if (recorded(*current)) break;
    infer_binding(*let);
    chain.push_back(current);
    current = &let->body;
  }
  Type type = infer(*current);
  for (std::size_t i = chain.size(); i-- > 1;) record(*chain[i], type);
  return type;
}

void Inference::infer_binding(const Let& let) {
  const LetMark mark = mark_let();
  const VariableRef& variable = let.variable;
  Type annotation = variable->type ? open(variable->type, variable->span) : nullptr;
  const std::string because = fmt::format("the annotation of `{}`", variable->name);
  auto annotated = [&](const Type& found) -> bool {
    const Type wanted = enter_annotation(&let, annotation, variable->span, because);
    Mismatch mismatch{found, wanted, tail_of(let.value)->span, ""};
    mismatch.labels.push_back(
        {variable->span,
         variable->name.empty()  // the value of a pattern
             ? fmt::format("this pattern is for `{}`", solver_.show(annotation))
             : fmt::format("`{}` is declared as `{}`", variable->name, solver_.show(annotation))});
    return expect(mismatch);
  };
  const auto* function = as<Function>(let.value);
  if (function && !function->type_params.empty() && !annotation && !recorded(let.value)) {
    infer_polymorphic(let);
  } else if (function && !recorded(let.value)) {
    Type declared = declare_local(cast<Function>(let.value));
    if (annotation) annotated(declared);
    introduce(variable, declared);
    let_values_[variable.get()] = let.value;
    infer_function(let.value, declared);
    settle_literals(mark.literals, mark.unknowns);
    if (!annotation) generalise_local(let, declared, mark);
    return;
  } else {
    if (annotation) hint(let.value, annotation);
    Type type = infer(let.value);
    if (annotation) type = coerce(&let, 0, type, annotation, because);
    if (annotation && (!annotated(type) || solver_.is_error(type))) {
      type = annotation;  // whose uses can still be checked
    } else if (annotation) {
      Type known = solver_.resolve(type);
      if (has_any_dim(known)) type = merge_dims(known, solver_.resolve(annotation), false);
    }
    introduce(variable, type, tail_of(let.value)->span);
    ExprKind kind = let.value->kind;
    if (kind == ExprKind::Constant || kind == ExprKind::Literal || kind == ExprKind::DimTerm ||
        kind == ExprKind::Function || arithmetic_step(let.value)) {
      let_values_[variable.get()] = let.value;
    }
  }
  settle_literals(mark.literals, mark.unknowns);
}

// Dims in the types of parameters that no function declares are left open.
void Inference::leave_open(const Type& annotation) {
  if (purpose_ != Purpose::kScheme) return;
  for (const TypeVarRef& var : variables_of(annotation))
    if (var->kind == VarKind::Dim && !declared_.count(var.get())) solver_.leave_open(*var);
}

Type Inference::declare(const Function& function) {
  for (const TypeVarRef& var : function.type_params) declared_.insert(var.get());
  std::vector<Type> params;
  for (const VariableRef& param : function.params) {
    if (param->type) {
      leave_open(param->type);
      params.push_back(open(param->type, param->span));
      const auto* written = as<FunctionType>(param->type);
      if (written && !written->quantified.empty()) quantified_params_.insert(param.get());
    } else {
      TypeVarRef unknown = solver_.fresh(VarKind::Type);
      solver_.at(*unknown).pinned = true;
      params.push_back(var_type(unknown));
    }
  }
  Type result = function.result ? open(function.result, function.span) : solver_.fresh_type();
  return function_type(std::move(params), std::move(result));
}

// The type parameters of a local function stand for whatever its use needs.
Type Inference::declare_local(const Function& function) {
  map_to_unknowns(written_, function.type_params, solver_);
  return declare(function);
}

Type Inference::infer_function(const Expr& expr, const Type& declared) {
  const Function& function = cast<Function>(expr);
  const FunctionType& type = *as<FunctionType>(declared);
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    introduce(function.params[i], type.params[i]);
    if (!function.params[i]->type) params_.push_back(function.params[i]);
  }
  if (function.result) hint(function.body, type.result);
  Type body = infer(function.body);
  const std::string because = "the type of the result";
  if (function.result) body = coerce(expr.get(), 0, body, type.result, because);
  const ExprNode* tail = tail_of(function.body);
  const Type wanted = function.result
                          ? enter_annotation(expr.get(), type.result, expr->span, because)
                          : type.result;
  expect({body, wanted, tail->span,
          function.result ? "the result" : "the result of this recursive function"});
  record(expr, declared);
  return declared;
}

// --- The others ---

namespace {

// The parser makes the other branch of an `if` that has none, and no text stands there.
bool has_else(const If& node) {
  const auto* unit = as<Tuple>(node.else_branch);
  const Span span = node.else_branch->span;
  return !(unit && unit->fields.empty() && span && span.begin == span.end);
}

// The parser spells a pattern that is a number or a boolean out as an `if`, which stands where the
// pattern stands: the value that it tests, or null.
const Expr* tested_by_pattern(const If& node) {
  if (!node.span || node.span.text().starts_with("if")) return nullptr;
  const auto* call = as<Call>(node.condition);
  if (call && call->args.size() == 2 && call->args[1]->span == node.span) return &call->args[0];
  const ExprKind kind = node.condition->kind;
  return kind == ExprKind::Var || kind == ExprKind::Projection ? &node.condition : nullptr;
}

}  // namespace

void Inference::infer_condition(const If& node) {
  const Expr* tested = tested_by_pattern(node);
  if (!tested) {
    expect({infer(node.condition), scalar_type(DType::Bool), node.condition->span,
            "the condition of `if`"});
    return;
  }
  const bool is_number = tested != &node.condition;
  const Type type = infer(*tested);
  try {
    solver_.unify(
        type, is_number ? tensor_type(Shape(), solver_.fresh_dtype()) : scalar_type(DType::Bool));
  } catch (const Failure& failure) {
    if (lang::is_stop(failure.diagnostics.front().kind)) throw;
    const char* kind = is_number ? "a number" : "a `bool`";
    Diagnostic diagnostic(failure.diagnostics.front().kind,
                          fmt::format("the pattern `{}` is {}, and what it is matched with is `{}`",
                                      quote(node.span, "_"), kind, solver_.show(type)),
                          node.span);
    diagnostic.label(node.span, kind).label((*tested)->span, describe_type(type, solver_));
    report(Failure(std::move(diagnostic)));
    return;
  }
  if (solver_.has_woken()) relations_.drain();
  if (is_number) infer(node.condition);
}

Type Inference::infer_if(const If& node) {
  infer_condition(node);
  Type then_type = enter(infer(node.then_branch), nullptr, node.span, 0);
  Type else_type = infer(node.else_branch);
  Span then_span = tail_of(node.then_branch)->span;
  if (!has_else(node)) {
    Mismatch mismatch{then_type, unit_type(), then_span, "the branch of an `if` without `else`"};
    mismatch.notes.emplace_back("note: an `if` has a value only with an `else`");
    expect(mismatch);
    return unit_type();
  }
  Mismatch mismatch{else_type, then_type, tail_of(node.else_branch)->span, "the `else` branch"};
  mismatch.labels.push_back({then_span, describe_type(then_type, solver_)});
  mismatch.other = then_span;
  expect(mismatch);
  // A join forgets what only one side knows.
  Type known = solver_.resolve(else_type);
  return mentions_any_dim(known) ? merge_dims(solver_.resolve(then_type), known, true) : then_type;
}

Type Inference::infer_reference(const Expr& expr) {
  if (const auto* create = as<RefCreate>(expr)) return reference_type(infer(create->value));
  if (const auto* read = as<RefRead>(expr)) {
    Type content = solver_.fresh_type();
    expect({infer(read->ref), reference_type(content), read->ref->span, "what is read"});
    return content;
  }
  const auto& write = cast<RefWrite>(expr);
  Type content = solver_.fresh_type();
  Type target = infer(write.ref);
  expect({target, reference_type(content), write.ref->span, "what is written to"});
  Mismatch mismatch{infer(write.value), content, write.value->span, "the value written"};
  mismatch.labels.push_back({write.ref->span, describe_type(target, solver_)});
  expect(mismatch);
  return unit_type();
}

Type Inference::infer_primitive(const Primitive& node) {
  const PrimInfo& prim = info(node.prim);
  DTypeTerm dtype = solver_.fresh_dtype();
  solver_.require(dtype, prim.operands);
  Type operand = tensor_type(Shape(), dtype);
  for (std::size_t i = 0; i < node.args.size(); ++i) {
    bool is_condition = node.prim == Prim::Select && i == 0;
    expect({infer(node.args[i]), is_condition ? scalar_type(DType::Bool) : operand,
            node.args[i]->span, fmt::format("operand {} of `{}`", i + 1, prim.text)});
  }
  switch (prim.result) {
    case PrimResult::kSame:
      return operand;
    case PrimResult::kTruth:
      return scalar_type(DType::Bool);
    case PrimResult::kOwn:
      break;
  }
  RELAY_CHECK(node.type, "a cast primitive without a type");
  return open(node.type, node.span);
}

Type Inference::infer_projection(const Projection& node) {
  Relation relation;
  relation.op = &projection_rule();
  relation.args = {infer(node.tuple)};
  const auto* tuple = as<TupleType>(relation.args[0]);
  if (tuple && node.index < tuple->fields.size()) return tuple->fields[node.index];
  relation.attrs = make_attrs({{"index", static_cast<std::int64_t>(node.index)}});
  relation.span = node.span;
  relation.arg_spans = {node.tuple->span};
  return relations_.add(std::move(relation));
}

}  // namespace relay::typecheck
