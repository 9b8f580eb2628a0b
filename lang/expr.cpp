#include "lang/expr.h"

#include <optional>

#include "lang/diagnostic.h"
#include "lang/function_fact.h"
#include "lang/module.h"
#include "lang/value.h"

namespace relay::lang {
namespace {

template <class Node, class... Args>
Expr make(Args&&... args) {
  return Expr(new Node(std::forward<Args>(args)...));
}

bool all_present(const std::vector<Expr>& exprs) {
  for (const Expr& expr : exprs) {
    if (!expr) return false;
  }
  return true;
}

// The types of all of them; nothing when one is not typed yet.
std::optional<std::vector<Type>> types_of(const std::vector<Expr>& exprs) {
  std::vector<Type> types;
  types.reserve(exprs.size());
  for (const Expr& expr : exprs) {
    if (!expr->type) return std::nullopt;
    types.push_back(expr->type);
  }
  return types;
}

// The dims that an index notation's binders add; nothing while an extent is to be inferred.
std::optional<std::vector<Dim>> dims_of(const std::vector<IndexBinder>& binders) {
  std::vector<Dim> dims;
  for (const IndexBinder& binder : binders) {
    if (!binder.extent) return std::nullopt;
    if (const auto* term = as<DimTerm>(binder.extent)) {
      dims.push_back(term->dim);
    } else if (const auto* constant = as<Constant>(binder.extent)) {
      dims.push_back(int_from_bits(constant->value->dtype(), constant->value->bits_at(0)));
    } else {
      dims.push_back(Dim::any());
    }
  }
  return dims;
}

// A tensor type with `dims` in front; tuples field by field; null for anything else.
Type with_leading_dims(const std::vector<Dim>& dims, const Type& type) {
  if (const auto* tensor = as<TensorType>(type)) {
    if (!tensor->shape.has_rank()) return nullptr;
    std::vector<Dim> all = dims;
    all.insert(all.end(), tensor->shape.dims().begin(), tensor->shape.dims().end());
    return tensor_type(Shape(std::move(all)), tensor->dtype);
  }
  const auto* tuple = as<TupleType>(type);
  if (!tuple) return nullptr;
  std::vector<Type> fields;
  for (const Type& field : tuple->fields) {
    Type stacked = with_leading_dims(dims, field);
    if (!stacked) return nullptr;
    fields.push_back(std::move(stacked));
  }
  return tuple_type(std::move(fields));
}

Type type_of_index(const Type& type, std::size_t index_count) {
  const auto* tensor = as<TensorType>(type);
  if (!tensor || !tensor->shape.has_rank() || tensor->shape.rank() < index_count) return nullptr;
  const std::vector<Dim>& dims = tensor->shape.dims();
  if (dims.size() == index_count && tensor->dtype.is_known())
    return scalar_type(tensor->dtype.known());
  return tensor_type(
      Shape(std::vector<Dim>(dims.begin() + static_cast<std::ptrdiff_t>(index_count), dims.end())),
      tensor->dtype);
}

// Null while an operand is not typed, or the operands do not agree.
Type type_of_primitive(Prim prim, const std::vector<Expr>& args) {
  const PrimInfo& primitive = info(prim);
  const std::size_t first = prim == Prim::Select ? 1 : 0;
  for (const Expr& arg : args) {
    if (!is_scalar(arg->type)) return nullptr;
  }
  for (std::size_t i = first + 1; i < args.size(); ++i) {
    if (!equal(args[i]->type, args[first]->type)) return nullptr;
  }
  if (primitive.result == PrimResult::kTruth) return scalar_type(DType::Bool);
  return primitive.result == PrimResult::kSame ? args[first]->type : nullptr;
}

Type type_of_function(const std::vector<VariableRef>& params, const Type& result,
                      const std::vector<TypeVarRef>& type_params) {
  std::vector<Type> types;
  for (const VariableRef& param : params) {
    if (!param->type) return nullptr;
    types.push_back(param->type);
  }
  return result ? function_type(std::move(types), result, type_params) : nullptr;
}

void check_binders(const std::vector<IndexBinder>& binders) {
  for (const IndexBinder& binder : binders) {
    RELAY_CHECK(binder.variable, "an index binder needs a variable");
  }
}

PatternRef make_pattern(PatternKind kind, Span span, VariableRef variable,
                        const Constructor* constructor, std::vector<PatternRef> fields) {
  auto* pattern = new Pattern;
  PatternRef result(pattern);
  pattern->kind = kind;
  pattern->span = span;
  pattern->variable = std::move(variable);
  pattern->constructor = constructor;
  pattern->fields = std::move(fields);
  return result;
}

}  // namespace

std::string_view name_of(ExprKind kind) {
  switch (kind) {
#define RELAY_EXPR(name) \
  case ExprKind::name:   \
    return #name;
#include "lang/expr_kinds.def"
#undef RELAY_EXPR
  }
  return "?";
}

VariableRef make_variable(std::string name, Type type, Span span, AttrsRef attrs) {
  return make_ref<const Variable>(std::move(name), std::move(type), span, std::move(attrs));
}

PatternRef wildcard_pattern(Span span) {
  return make_pattern(PatternKind::Wildcard, span, nullptr, nullptr, {});
}

PatternRef variable_pattern(VariableRef variable, Span span) {
  RELAY_CHECK(variable, "a variable pattern needs a variable");
  return make_pattern(PatternKind::Variable, span, std::move(variable), nullptr, {});
}

PatternRef constructor_pattern(const Constructor* constructor, std::vector<PatternRef> fields,
                               Span span) {
  RELAY_CHECK(constructor, "a constructor pattern needs a constructor");
  return make_pattern(PatternKind::Constructor, span, nullptr, constructor, std::move(fields));
}

PatternRef tuple_pattern(std::vector<PatternRef> fields, Span span) {
  return make_pattern(PatternKind::Tuple, span, nullptr, nullptr, std::move(fields));
}

Expr make_var(VariableRef variable, Span span) {
  RELAY_CHECK(variable, "a use of a variable needs the variable");
  Type type = variable->type;
  return make<Var>(std::move(variable), span, std::move(type));
}

Expr make_global_var(std::string name, Span span, Type type) {
  return make<GlobalVar>(std::move(name), span, std::move(type));
}

Expr make_constant(TensorRef value, Span span) {
  RELAY_CHECK(value, "a constant needs a tensor");
  Type type = value->rank() == 0 ? scalar_type(value->dtype()) : type_of_tensor(*value);
  return make<Constant>(std::move(value), span, std::move(type));
}

Expr make_literal(std::int64_t value, Span span) {
  return make<Literal>(false, value, 0.0, TensorRef(), span, nullptr);
}

Expr make_literal(double value, Span span) {
  return make<Literal>(true, 0, value, TensorRef(), span, nullptr);
}

Expr make_literal(TensorRef elements, Span span) {
  RELAY_CHECK(elements && elements->rank() > 0 &&
                  (elements->dtype() == DType::Int64 || elements->dtype() == DType::Float64),
              "the elements of a tensor literal");
  const bool is_float = elements->dtype() == DType::Float64;
  return make<Literal>(is_float, 0, 0.0, std::move(elements), span, nullptr);
}

Expr with_gradient(const Expr& expr, const std::string& gradient) {
  const auto& function = cast<Function>(expr);
  return with_attrs(function, with_fact(FunctionFact::Gradient, gradient, function.attrs));
}

const std::string* gradient_of(const Function& function) {
  return find_text(function, FunctionFact::Gradient);
}

Expr make_tuple(std::vector<Expr> fields, Span span, Type type) {
  RELAY_CHECK(all_present(fields), "a tuple has an empty field");
  if (!type) {
    if (auto types = types_of(fields))
      type = fields.empty() ? unit_type() : tuple_type(std::move(*types));
  }
  return make<Tuple>(std::move(fields), span, std::move(type));
}

Expr make_projection(Expr tuple, std::uint32_t index, Span span, Type type) {
  RELAY_CHECK(tuple, "a projection needs a tuple");
  if (!type) {
    const auto* tuple_type = as<TupleType>(tuple->type);
    if (tuple_type && index < tuple_type->fields.size()) type = tuple_type->fields[index];
  }
  return make<Projection>(std::move(tuple), index, span, std::move(type));
}

Expr make_let(VariableRef variable, Expr value, Expr body, Span span, Type type) {
  RELAY_CHECK(variable && value && body, "a let needs a variable, a value and a body");
  if (!type) type = body->type;
  return make<Let>(std::move(variable), std::move(value), std::move(body), span, std::move(type));
}

Expr make_if(Expr condition, Expr then_branch, Expr else_branch, Span span, Type type) {
  RELAY_CHECK(condition && then_branch && else_branch, "an if needs a condition and two branches");
  if (!type) type = then_branch->type ? then_branch->type : else_branch->type;
  return make<If>(std::move(condition), std::move(then_branch), std::move(else_branch), span,
                  std::move(type));
}

Expr make_function(std::vector<VariableRef> params, Type result, Expr body,
                   std::vector<TypeVarRef> type_params, AttrsRef attrs, Span span, Type type) {
  RELAY_CHECK(body, "a function needs a body");
  for (const VariableRef& param : params) RELAY_CHECK(param, "a function has an empty parameter");
  if (!type) type = type_of_function(params, result ? result : body->type, type_params);
  return make<Function>(std::move(params), std::move(result), std::move(body),
                        std::move(type_params), std::move(attrs), span, std::move(type));
}

Expr make_call(Expr callee, std::vector<Expr> args, AttrsRef attrs, Span span, Type type,
               Algebra algebra) {
  RELAY_CHECK(callee && all_present(args), "a call has an empty callee or argument");
  if (!type) {
    const auto* function = as<FunctionType>(callee->type);
    if (function && function->quantified.empty() && function->params.size() == args.size())
      type = function->result;
  }
  return make<Call>(std::move(callee), std::move(args), std::move(attrs), span, std::move(type),
                    algebra);
}

Expr make_match(Expr scrutinee, std::vector<Clause> clauses, bool is_complete, Span span,
                Type type) {
  RELAY_CHECK(scrutinee, "a match needs a scrutinee");
  for (const Clause& clause : clauses) {
    RELAY_CHECK(clause.pattern && clause.body, "a match arm needs a pattern and a body");
    if (!type) type = clause.body->type;
  }
  return make<Match>(std::move(scrutinee), std::move(clauses), is_complete, span, std::move(type));
}

Expr make_ref_create(Expr value, Span span, Type type) {
  RELAY_CHECK(value, "ref needs a value");
  if (!type && value->type) type = reference_type(value->type);
  return make<RefCreate>(std::move(value), span, std::move(type));
}

Expr make_ref_read(Expr ref, Span span, Type type) {
  RELAY_CHECK(ref, "ref_read needs a reference");
  if (!type) {
    if (const auto* reference = as<ReferenceType>(ref->type)) type = reference->content;
  }
  return make<RefRead>(std::move(ref), span, std::move(type));
}

Expr make_ref_write(Expr ref, Expr value, Span span, Type type) {
  RELAY_CHECK(ref && value, "ref_write needs a reference and a value");
  if (!type && ref->type && value->type) type = unit_type();
  return make<RefWrite>(std::move(ref), std::move(value), span, std::move(type));
}

Expr make_operator(const OpDef* op, Span span, Type type) {
  RELAY_CHECK(op, "an operator node needs a record");
  return make<Operator>(op, span, std::move(type));
}

Expr make_constructor_ref(const Constructor* constructor, Span span, Type type) {
  RELAY_CHECK(constructor, "a constructor node needs a constructor");
  return make<ConstructorRef>(constructor, span, std::move(type));
}

Expr make_comprehension(std::vector<IndexBinder> binders, Expr body, Span span, Type type) {
  RELAY_CHECK(body, "a comprehension needs a body");
  check_binders(binders);
  if (!type && body->type) {
    if (const auto dims = dims_of(binders)) type = with_leading_dims(*dims, body->type);
  }
  return make<Comprehension>(std::move(binders), std::move(body), span, std::move(type));
}

Type type_of_reduction(ReduceOp op, const Type& body) {
  if (op == ReduceOp::ArgMax || op == ReduceOp::ArgMin) return scalar_type(DType::Int64);
  if (op != ReduceOp::Dot) return body;
  const auto* pair = as<TupleType>(body);
  return pair && pair->fields.size() == 2 ? pair->fields[0] : nullptr;
}

Expr make_reduction(ReduceOp op, std::vector<IndexBinder> binders, Expr body, Span span,
                    Type type) {
  RELAY_CHECK(body, "a reduction needs a body");
  RELAY_CHECK(op != ReduceOp::Set, "a reduction cannot set");
  check_binders(binders);
  if (!type && body->type) {
    type = type_of_reduction(op, body->type);
  }
  return make<Reduction>(op, std::move(binders), std::move(body), span, std::move(type));
}

Expr make_index(Expr tensor, std::vector<Expr> indices, bool in_bounds, Span span, Type type) {
  RELAY_CHECK(tensor && all_present(indices), "indexing has an empty part");
  if (!type) type = type_of_index(tensor->type, indices.size());
  return make<Index>(std::move(tensor), std::move(indices), in_bounds, span, std::move(type));
}

Expr make_scatter_reduce(ReduceOp op, Expr init, std::vector<IndexBinder> binders,
                         std::vector<Expr> indices, Expr value, Span span, Type type,
                         Algebra algebra) {
  RELAY_CHECK(init && value && all_present(indices), "scatter has an empty part");
  RELAY_CHECK(is_scatter_op(op), "a scatter cannot fold with this");
  check_binders(binders);
  if (!type) type = init->type;
  return make<ScatterReduce>(op, std::move(init), std::move(binders), std::move(indices),
                             std::move(value), span, std::move(type), algebra);
}

Expr make_primitive(Prim prim, std::vector<Expr> args, Span span, Type type, Algebra algebra) {
  RELAY_CHECK(all_present(args) && args.size() == info(prim).arity,
              "primitive `" + std::string(info(prim).text) + "` has the wrong number of operands");
  if (!type) type = type_of_primitive(prim, args);
  return make<Primitive>(prim, std::move(args), span, std::move(type), algebra);
}

Expr make_dim_term(Dim dim, Span span) {
  return make<DimTerm>(std::move(dim), span, scalar_type(DType::Int64));
}

Expr make_differentiate(DiffMode mode, Expr fn, Span span, Type type) {
  RELAY_CHECK(fn, "a derivative needs a function");
  return make<Differentiate>(mode, std::move(fn), span, std::move(type));
}

namespace {
thread_local Algebra current_algebra = Algebra::Bits;
}  // namespace

AlgebraScope::AlgebraScope(Algebra algebra) : before_(current_algebra) {
  current_algebra = algebra;
}
AlgebraScope::~AlgebraScope() { current_algebra = before_; }
Algebra AlgebraScope::current() { return current_algebra; }

bool is_one_point(const Expr& expr) {
  const auto* scatter = as<ScatterReduce>(expr);
  return scatter && scatter->binders.empty();
}

Algebra algebra_of(const Expr& expr) {
  if (const auto* call = as<Call>(expr)) return call->algebra;
  if (const auto* primitive = as<Primitive>(expr)) return primitive->algebra;
  const auto* scatter = as<ScatterReduce>(expr);
  return scatter ? scatter->algebra : Algebra::Bits;
}

namespace {

Expr remade(const Expr& expr, Span span, Type type) {
  switch (expr->kind) {
    case ExprKind::Var:
      return make<Var>(cast<Var>(expr).variable, span, std::move(type));
    case ExprKind::GlobalVar:
      return make<GlobalVar>(cast<GlobalVar>(expr).name, span, std::move(type));
    case ExprKind::Constant:
      return make<Constant>(cast<Constant>(expr).value, span, std::move(type));
    case ExprKind::Literal: {
      const auto& node = cast<Literal>(expr);
      return make<Literal>(node.is_float, node.integer, node.real, node.elements, span,
                           std::move(type));
    }
    case ExprKind::Tuple:
      return make<Tuple>(cast<Tuple>(expr).fields, span, std::move(type));
    case ExprKind::Projection: {
      const auto& node = cast<Projection>(expr);
      return make<Projection>(node.tuple, node.index, span, std::move(type));
    }
    case ExprKind::Let: {
      const auto& node = cast<Let>(expr);
      return make<Let>(node.variable, node.value, node.body, span, std::move(type));
    }
    case ExprKind::If: {
      const auto& node = cast<If>(expr);
      return make<If>(node.condition, node.then_branch, node.else_branch, span, std::move(type));
    }
    case ExprKind::Function: {
      const auto& node = cast<Function>(expr);
      return make<Function>(node.params, node.result, node.body, node.type_params, node.attrs, span,
                            std::move(type));
    }
    case ExprKind::Call: {
      const auto& node = cast<Call>(expr);
      return make<Call>(node.callee, node.args, node.attrs, span, std::move(type), node.algebra);
    }
    case ExprKind::Match: {
      const auto& node = cast<Match>(expr);
      return make<Match>(node.scrutinee, node.clauses, node.is_complete, span, std::move(type));
    }
    case ExprKind::RefCreate:
      return make<RefCreate>(cast<RefCreate>(expr).value, span, std::move(type));
    case ExprKind::RefRead:
      return make<RefRead>(cast<RefRead>(expr).ref, span, std::move(type));
    case ExprKind::RefWrite: {
      const auto& node = cast<RefWrite>(expr);
      return make<RefWrite>(node.ref, node.value, span, std::move(type));
    }
    case ExprKind::Operator:
      return make<Operator>(cast<Operator>(expr).op, span, std::move(type));
    case ExprKind::ConstructorRef:
      return make<ConstructorRef>(cast<ConstructorRef>(expr).constructor, span, std::move(type));
    case ExprKind::Comprehension: {
      const auto& node = cast<Comprehension>(expr);
      return make<Comprehension>(node.binders, node.body, span, std::move(type));
    }
    case ExprKind::Reduction: {
      const auto& node = cast<Reduction>(expr);
      return make<Reduction>(node.op, node.binders, node.body, span, std::move(type));
    }
    case ExprKind::Index: {
      const auto& node = cast<Index>(expr);
      return make<Index>(node.tensor, node.indices, node.in_bounds, span, std::move(type));
    }
    case ExprKind::ScatterReduce: {
      const auto& node = cast<ScatterReduce>(expr);
      return make<ScatterReduce>(node.op, node.init, node.binders, node.indices, node.value, span,
                                 std::move(type), node.algebra);
    }
    case ExprKind::Primitive: {
      const auto& node = cast<Primitive>(expr);
      return make<Primitive>(node.prim, node.args, span, std::move(type), node.algebra);
    }
    case ExprKind::DimTerm:
      return make<DimTerm>(cast<DimTerm>(expr).dim, span, std::move(type));
    case ExprKind::Differentiate: {
      const auto& node = cast<Differentiate>(expr);
      return make<Differentiate>(node.mode, node.fn, span, std::move(type));
    }
  }
  internal_error(__FILE__, __LINE__, "an expression of an unknown kind");
}

}  // namespace

Expr with_type(const Expr& expr, Type type) {
  if (equal(expr->type, type)) return expr;
  return remade(expr, expr->span, std::move(type));
}

Expr with_span(const Expr& expr, Span span) {
  if (expr->span == span) return expr;
  return remade(expr, span, expr->type);
}

}  // namespace relay::lang
