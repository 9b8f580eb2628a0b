#include "typecheck/verify.h"

#include <unordered_set>

#include <fmt/format.h>

#include "lang/derivative.h"
#include "lang/diagnostic.h"
#include "lang/module.h"
#include "lang/op.h"
#include "lang/print.h"
#include "lang/record.h"
#include "lang/stop.h"
#include "lang/visit.h"

namespace relay::typecheck {

using namespace lang;

namespace {

bool agree(const Dim& a, const Dim& b) { return a.is_any() || b.is_any() || a == b; }

// Equal, except that `?` agrees with every dim.
bool agree(const Type& a, const Type& b);

bool agree(const std::vector<Type>& a, const std::vector<Type>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!agree(a[i], b[i])) return false;
  }
  return true;
}

bool agree(const Type& a, const Type& b) {
  if (a == b) return true;
  if (!a || !b || a->kind != b->kind) return false;
  switch (a->kind) {
    case TypeKind::Tensor: {
      const auto& x = *as<TensorType>(a);
      const auto& y = *as<TensorType>(b);
      if (!(x.dtype == y.dtype) || x.shape.has_rank() != y.shape.has_rank()) return false;
      if (!x.shape.has_rank()) return x.shape.var() == y.shape.var();
      if (x.shape.rank() != y.shape.rank()) return false;
      for (std::size_t i = 0; i < x.shape.rank(); ++i) {
        if (!agree(x.shape[i], y.shape[i])) return false;
      }
      return true;
    }
    case TypeKind::Tuple:
      return agree(as<TupleType>(a)->fields, as<TupleType>(b)->fields);
    case TypeKind::Function:
      return agree(as<FunctionType>(a)->params, as<FunctionType>(b)->params) &&
             agree(as<FunctionType>(a)->result, as<FunctionType>(b)->result);
    case TypeKind::Adt:
      return as<AdtType>(a)->def == as<AdtType>(b)->def &&
             agree(as<AdtType>(a)->args, as<AdtType>(b)->args);
    case TypeKind::Reference:
      return agree(as<ReferenceType>(a)->content, as<ReferenceType>(b)->content);
    case TypeKind::Dimension:
      return agree(as<DimensionType>(a)->dim, as<DimensionType>(b)->dim);
    case TypeKind::Var:
    case TypeKind::Incomplete:
      return equal(a, b);
  }
  return false;
}

class Verifier {
 public:
  explicit Verifier(const std::vector<VariableRef>& free) {
    for (const VariableRef& variable : free) scope_.insert(variable.get());
  }

  void check(const Expr& expr);

 private:
  void node(const Expr& expr);
  void let(const Expr& expr);
  void function(const Expr& expr);
  void call(const Expr& expr);
  void match(const Expr& expr);
  void pattern(const Expr& at, const PatternRef& pattern, const Type& type);
  void projection(const Expr& expr);
  void index(const Expr& expr);
  void primitive(const Expr& expr);
  void differentiate(const Expr& expr);
  void scatter(const Expr& expr);
  void enter(const Expr& at, const std::vector<IndexBinder>& binders);
  void leave(const std::vector<IndexBinder>& binders);
  void bind(const Expr& at, const VariableRef& variable);
  void unbind(const VariableRef& variable) { scope_.erase(variable.get()); }
  void integer(const Expr& at, const Expr& index);
  void same(const Expr& at, const Type& a, const Type& b, std::string_view what);
  [[noreturn]] void bad(const Expr& at, const std::string& what);

  std::unordered_set<const Variable*> scope_;
  std::unordered_set<const Variable*> bound_;
  std::unordered_set<const ExprNode*> done_;
};

void Verifier::bad(const Expr& at, const std::string& what) {
  PrintOptions options;
  options.types = true;
  throw InternalError(fmt::format("illegal expression: {}\n{}", what, print(at, options)));
}

void Verifier::same(const Expr& at, const Type& a, const Type& b, std::string_view what) {
  if (agree(a, b)) return;
  bad(at, fmt::format("{}: `{}` and `{}`", what, a ? to_string(a) : "no type",
                      b ? to_string(b) : "no type"));
}

void Verifier::bind(const Expr& at, const VariableRef& variable) {
  if (!variable->type) bad(at, fmt::format("`{}` has no type", variable->name));
  if (!bound_.insert(variable.get()).second)
    bad(at, fmt::format("`{}` is bound twice", variable->name));
  scope_.insert(variable.get());
}

void Verifier::check(const Expr& expr) {
  if (!done_.insert(expr.get()).second) return;
  if (!expr->type) bad(expr, fmt::format("a {} without a type", name_of(expr->kind)));
  if (!is_ground(expr->type))
    bad(expr, fmt::format("type `{}` is not ground", to_string(expr->type)));
  node(expr);
}

void Verifier::node(const Expr& expr) {
  switch (expr->kind) {
    case ExprKind::Var: {
      const auto& var = cast<Var>(expr);
      if (!scope_.count(var.variable.get()))
        bad(expr, fmt::format("`{}` is not in scope", var.variable->name));
      return same(expr, expr->type, var.variable->type, "a variable and its use");
    }
    case ExprKind::Literal:
      bad(expr, "a literal whose dtype is not settled");
    case ExprKind::GlobalVar:
    case ExprKind::Constant:
    case ExprKind::Operator:
    case ExprKind::ConstructorRef:
    case ExprKind::DimTerm:
      return;
    case ExprKind::Tuple: {
      std::vector<Type> fields;
      for (const Expr& field : cast<Tuple>(expr).fields) {
        check(field);
        fields.push_back(field->type);
      }
      return same(expr, expr->type, tuple_type(std::move(fields)), "a tuple and its fields");
    }
    case ExprKind::Projection:
      return projection(expr);
    case ExprKind::Let:
      return let(expr);
    case ExprKind::If: {
      const auto& branch = cast<If>(expr);
      check(branch.condition);
      check(branch.then_branch);
      check(branch.else_branch);
      same(expr, branch.condition->type, scalar_type(DType::Bool), "the condition");
      same(expr, branch.then_branch->type, expr->type, "the first branch");
      return same(expr, branch.else_branch->type, expr->type, "the second branch");
    }
    case ExprKind::Function:
      return function(expr);
    case ExprKind::Call:
      return call(expr);
    case ExprKind::Match:
      return match(expr);
    case ExprKind::RefCreate:
      check(cast<RefCreate>(expr).value);
      return same(expr, expr->type, reference_type(cast<RefCreate>(expr).value->type),
                  "a reference");
    case ExprKind::RefRead:
      check(cast<RefRead>(expr).ref);
      return same(expr, cast<RefRead>(expr).ref->type, reference_type(expr->type),
                  "a reference that is read");
    case ExprKind::RefWrite:
      check(cast<RefWrite>(expr).ref);
      check(cast<RefWrite>(expr).value);
      return same(expr, cast<RefWrite>(expr).ref->type,
                  reference_type(cast<RefWrite>(expr).value->type), "a reference that is written");
    case ExprKind::Comprehension: {
      const auto& comprehension = cast<Comprehension>(expr);
      enter(expr, comprehension.binders);
      check(comprehension.body);
      return leave(comprehension.binders);
    }
    case ExprKind::Reduction: {
      const auto& reduction = cast<Reduction>(expr);
      enter(expr, reduction.binders);
      check(reduction.body);
      leave(reduction.binders);
      const Type type = type_of_reduction(reduction.op, reduction.body->type);
      RELAY_CHECK(type, "a dot takes pairs");
      return same(expr, expr->type, type, "a reduction");
    }
    case ExprKind::Index:
      return index(expr);
    case ExprKind::ScatterReduce:
      return scatter(expr);
    case ExprKind::Primitive:
      return primitive(expr);
    case ExprKind::Differentiate:
      return differentiate(expr);
  }
}

void Verifier::let(const Expr& expr) {
  std::vector<const Let*> chain;
  Expr current = expr;
  while (const Let* let = as<Let>(current)) {
    if (current != expr && !done_.insert(current.get()).second) break;
    bool is_function = let->value->kind == ExprKind::Function;
    if (is_function) bind(expr, let->variable);
    check(let->value);
    if (!is_function) bind(let->value, let->variable);
    same(let->value, let->variable->type, let->value->type, "a variable and its value");
    same(let->value, current->type, expr->type, "a `let` and its body");
    chain.push_back(let);
    current = let->body;
  }
  check(current);
  same(current, current->type, expr->type, "a `let` and its body");
  for (const Let* let : chain) unbind(let->variable);
}

void Verifier::function(const Expr& expr) {
  const auto& function = cast<Function>(expr);
  std::vector<Type> params;
  for (const VariableRef& param : function.params) {
    bind(expr, param);
    params.push_back(param->type);
  }
  check(function.body);
  for (const VariableRef& param : function.params) unbind(param);
  same(expr, expr->type, function_type(std::move(params), function.body->type), "a function");
}

void Verifier::call(const Expr& expr) {
  const auto& call = cast<Call>(expr);
  check(call.callee);
  std::vector<Type> args;
  for (const Expr& arg : call.args) {
    check(arg);
    args.push_back(arg->type);
  }
  if (const auto* op = as<Operator>(call.callee)) {
    try {
      Type result = ground_result_type(*op->op, args, call.attrs);
      // That the extents are those of the result is what running will tell.
      if (op->op->effect == Effect::CheckShape) return;
      same(expr, expr->type, result, "a call of an operator");
    } catch (const Failure& failure) {
      if (lang::is_stop(failure.diagnostics.front().kind)) throw;
      bad(expr, failure.what());
    }
    return;
  }
  same(expr, call.callee->type, function_type(std::move(args), expr->type),
       "a function and its call");
}

void Verifier::projection(const Expr& expr) {
  const auto& projection = cast<Projection>(expr);
  check(projection.tuple);
  const auto* tuple = as<TupleType>(projection.tuple->type);
  if (!tuple || projection.index >= tuple->fields.size())
    bad(expr, "a projection of something else than such a tuple");
  same(expr, expr->type, tuple->fields[projection.index], "a projection");
}

void Verifier::pattern(const Expr& at, const PatternRef& pattern, const Type& type) {
  switch (pattern->kind) {
    case PatternKind::Wildcard:
      return;
    case PatternKind::Variable:
      bind(at, pattern->variable);
      return same(at, pattern->variable->type, type, "a variable of a pattern");
    case PatternKind::Tuple: {
      const auto* tuple = as<TupleType>(type);
      if (!tuple || tuple->fields.size() != pattern->fields.size())
        bad(at, "a tuple pattern for something else");
      for (std::size_t i = 0; i < pattern->fields.size(); ++i)
        this->pattern(at, pattern->fields[i], tuple->fields[i]);
      return;
    }
    case PatternKind::Constructor: {
      const auto* adt = as<AdtType>(type);
      const Constructor& constructor = *pattern->constructor;
      if (!adt || adt->def != constructor.owner)
        bad(at, "a constructor pattern for something else");
      const std::vector<Type> fields = field_types(*adt, constructor);
      for (std::size_t i = 0; i < pattern->fields.size(); ++i)
        this->pattern(at, pattern->fields[i], fields[i]);
      return;
    }
  }
}

void Verifier::match(const Expr& expr) {
  const auto& match = cast<Match>(expr);
  check(match.scrutinee);
  for (const Clause& clause : match.clauses) {
    pattern(expr, clause.pattern, match.scrutinee->type);
    check(clause.body);
    same(expr, clause.body->type, expr->type, "a clause");
    for_each_variable(clause.pattern, [this](const VariableRef& variable) { unbind(variable); });
  }
}

// --- Index notation ---

void Verifier::integer(const Expr& at, const Expr& index) {
  check(index);
  const auto* tensor = as<TensorType>(index->type);
  if (!is_scalar(index->type) || !is_int(tensor->dtype.known()))
    bad(at, "an index that is no integer scalar");
}

void Verifier::enter(const Expr& at, const std::vector<IndexBinder>& binders) {
  for (const IndexBinder& binder : binders) {
    if (!binder.extent) bad(at, fmt::format("`{}` has no extent", binder.variable->name));
    integer(at, binder.extent);
  }
  for (const IndexBinder& binder : binders) {
    bind(at, binder.variable);
    same(at, binder.variable->type, scalar_type(DType::Int64), "an index variable");
  }
}

void Verifier::leave(const std::vector<IndexBinder>& binders) {
  for (const IndexBinder& binder : binders) unbind(binder.variable);
}

void Verifier::index(const Expr& expr) {
  const auto& index = cast<Index>(expr);
  check(index.tensor);
  for (const Expr& position : index.indices) integer(expr, position);
  const auto* tensor = as<TensorType>(index.tensor->type);
  if (!tensor || tensor->shape.rank() < index.indices.size()) bad(expr, "more indices than axes");
  const std::vector<Dim>& dims = tensor->shape.dims();
  Shape rest(std::vector<Dim>(dims.begin() + static_cast<std::ptrdiff_t>(index.indices.size()),
                              dims.end()));
  same(expr, expr->type, tensor_type(std::move(rest), tensor->dtype), "an element");
}

void Verifier::scatter(const Expr& expr) {
  const auto& scatter = cast<ScatterReduce>(expr);
  check(scatter.init);
  enter(expr, scatter.binders);
  for (const Expr& position : scatter.indices) integer(expr, position);
  check(scatter.value);
  leave(scatter.binders);
  same(expr, expr->type, scatter.init->type, "a scatter and its start");
  const auto* init = as<TensorType>(scatter.init->type);
  if (!init || init->shape.rank() != scatter.indices.size())
    bad(expr, "as many indices as axes are needed");
  same(expr, scatter.value->type, tensor_type(Shape(), init->dtype), "the value scattered");
}

void Verifier::primitive(const Expr& expr) {
  const auto& primitive = cast<Primitive>(expr);
  const PrimInfo& prim = info(primitive.prim);
  for (const Expr& arg : primitive.args) {
    check(arg);
    if (!is_scalar(arg->type)) bad(expr, "an operand that is no scalar");
  }
  const Type& operand = primitive.args.back()->type;
  std::size_t first = primitive.prim == Prim::Select ? 1 : 0;
  for (std::size_t i = first; i < primitive.args.size(); ++i)
    same(expr, primitive.args[i]->type, operand, "operands");
  if (!accepts(prim.operands, as<TensorType>(operand)->dtype.known()))
    bad(expr, "operands of a wrong dtype");
  if (prim.result == PrimResult::kSame)
    same(expr, expr->type, operand, "the result of a primitive");
  if (prim.result == PrimResult::kTruth)
    same(expr, expr->type, scalar_type(DType::Bool), "the result of a primitive");
}

void Verifier::differentiate(const Expr& expr) {
  const auto& node = cast<Differentiate>(expr);
  check(node.fn);
  const auto* function = as<FunctionType>(node.fn->type);
  if (!function) bad(expr, "the derivative of something that is no function");
  same(expr, expr->type, derivative_type(node.mode, *function), "a derivative");
}

}  // namespace

void verify(const Expr& expr, const std::vector<VariableRef>& free) {
  for (const VariableRef& variable : free_variables(expr)) {
    bool known = false;
    for (const VariableRef& allowed : free) known |= allowed == variable;
    if (!known)
      throw InternalError(
          fmt::format("illegal expression: `{}` is not in scope\n{}", variable->name, print(expr)));
  }
  Verifier(free).check(expr);
}

}  // namespace relay::typecheck
