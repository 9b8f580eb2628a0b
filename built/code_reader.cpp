#include "built/code_reader.h"

#include <bit>
#include <utility>

#include <fmt/format.h>

#include "built/format.h"

namespace relay::built {

using lang::Expr;
using lang::ExprKind;
using lang::Type;

struct CodeReader::Head {
  ExprKind kind;
  lang::Span span;
  Type type;
};

template <class Enum>
Enum CodeReader::enumerator(Enum last) {
  return static_cast<Enum>(from_.byte_below(static_cast<std::size_t>(last) + 1));
}

void CodeReader::read_names() {
  for (std::size_t left = from_.count(); left > 0; --left) read_variable();
  for (std::size_t left = from_.count(); left > 0; --left) read_op();
}

void CodeReader::read_expressions(TensorReader& tensors) {
  tensors_ = &tensors;
  for (std::size_t left = from_.count(); left > 0; --left) patterns_.push_back(read_pattern());
  for (std::size_t left = from_.count(); left > 0; --left) exprs_.push_back(read_expr());
}

void CodeReader::read_variable() {
  std::string name = types_.name();
  Type type = types_.type();
  const lang::Span span = types_.span();
  variables_.push_back(lang::make_variable(std::move(name), std::move(type), span, types_.attrs()));
}

const lang::OpDef* CodeReader::effect() {
  auto op = std::make_unique<lang::OpDef>();
  op->name = types_.name();
  op->level = 0;
  op->effect = enumerator(lang::Effect::Time);
  op->differentiable = false;
  for (std::size_t left = from_.count(); left > 0; --left)
    op->inputs.push_back({types_.name(), ""});
  for (std::size_t left = from_.count(); left > 0; --left) {
    std::string name = types_.name();
    const auto kind = enumerator(lang::AttrKind::Any);
    op->attrs.push_back({std::move(name), kind, std::nullopt, ""});
  }
  into_.operators.push_back(std::move(op));
  return into_.operators.back().get();
}

void CodeReader::read_op() {
  if (read_tag<OperatorTag>(from_) == OperatorTag::Effect) return ops_.push_back(effect());
  const std::string name = types_.name();
  const lang::OpDef* const op = lang::OpRegistry::instance().find(name);
  if (!op)
    lang::fail(lang::DiagnosticKind::BadData,
               fmt::format("the bytes of a built program use the operator `{}`, which there is not",
                           name));
  ops_.push_back(op);
}

lang::PatternRef CodeReader::read_pattern() {
  using lang::PatternKind;
  const auto kind = enumerator(PatternKind::Tuple);
  const lang::Span span = types_.span();
  if (kind == PatternKind::Wildcard) return lang::wildcard_pattern(span);
  if (kind == PatternKind::Variable) return lang::variable_pattern(variable(), span);
  const lang::Constructor* const constructor =
      kind == PatternKind::Constructor ? types_.constructor() : nullptr;
  std::vector<lang::PatternRef> fields;
  for (std::size_t left = from_.count(); left > 0; --left) fields.push_back(from_.at(patterns_));
  if (!constructor) return lang::tuple_pattern(std::move(fields), span);
  if (fields.size() != constructor->fields.size()) fail_damaged();
  return lang::constructor_pattern(constructor, std::move(fields), span);
}

// A node is made by its make_ function, whose type is another than the written one only where there
// was none, and where it cannot be given.
Expr CodeReader::read_expr() {
  const auto kind = enumerator(ExprKind::Differentiate);
  const lang::Span span = types_.span();
  if (!has_made_type(kind)) {
    const Head head{kind, span, types_.type()};
    const Expr made = read_parts(head);
    return head.type ? made : lang::with_type(made, nullptr);
  }
  const std::uint64_t number = from_.number();
  const Expr made = read_parts({kind, span, nullptr});
  if (number == 0) return made;
  return lang::with_type(made, number == 1 ? nullptr : types_.type_at(number - 2));
}

const Expr& CodeReader::part() {
  const std::size_t back = from_.index(exprs_.size());
  return exprs_[exprs_.size() - 1 - back];
}

std::vector<Expr> CodeReader::list() {
  std::vector<Expr> list;
  for (std::size_t left = from_.count(); left > 0; --left) list.push_back(part());
  return list;
}

std::vector<lang::IndexBinder> CodeReader::binders() {
  std::vector<lang::IndexBinder> binders;
  for (std::size_t left = from_.count(); left > 0; --left) {
    lang::IndexBinder binder;
    binder.variable = variable();
    if (from_.truth()) binder.extent = part();
    binders.push_back(std::move(binder));
  }
  return binders;
}

Expr CodeReader::literal(const Head& head) {
  switch (read_tag<LiteralTag>(from_)) {
    case LiteralTag::Integer:
      return with_type(lang::make_literal(from_.signed_number(), head.span), head.type);
    case LiteralTag::Real:
      return with_type(lang::make_literal(std::bit_cast<double>(from_.word()), head.span),
                       head.type);
    case LiteralTag::Tensor:
      return with_type(lang::make_literal(tensors_->tensor(), head.span), head.type);
    case LiteralTag::kCount:
      break;
  }
  fail_damaged();
}

Expr CodeReader::let(const Head& head) {
  const lang::VariableRef& variable = this->variable();
  const Expr& value = part();
  return lang::make_let(variable, value, part(), head.span, head.type);
}

Expr CodeReader::function(const Head& head) {
  std::vector<lang::VariableRef> params;
  for (std::size_t left = from_.count(); left > 0; --left) params.push_back(variable());
  Type result = types_.type();
  const Expr& body = part();
  std::vector<lang::TypeVarRef> vars;
  for (std::size_t left = from_.count(); left > 0; --left) vars.push_back(types_.type_var());
  return lang::make_function(std::move(params), std::move(result), body, std::move(vars),
                             types_.attrs(), head.span, head.type);
}

Expr CodeReader::call(const Head& head) {
  const auto algebra = enumerator(lang::Algebra::Real);
  const Expr& callee = part();
  std::vector<Expr> args = list();
  return lang::make_call(callee, std::move(args), types_.attrs(), head.span, head.type, algebra);
}

Expr CodeReader::match(const Head& head) {
  const Expr& scrutinee = part();
  const bool is_complete = from_.truth();
  std::vector<lang::Clause> clauses;
  for (std::size_t left = from_.count(); left > 0; --left) {
    const lang::PatternRef& pattern = from_.at(patterns_);
    clauses.push_back({pattern, part()});
  }
  return lang::make_match(scrutinee, std::move(clauses), is_complete, head.span, head.type);
}

Expr CodeReader::read_parts(const Head& head) {
  const auto& [kind, span, type] = head;
  switch (kind) {
    case ExprKind::Var:
      return lang::make_var(variable(), span);
    case ExprKind::GlobalVar:
      return lang::make_global_var(types_.name(), span, type);
    case ExprKind::Constant:
      return lang::make_constant(tensors_->tensor(), span);
    case ExprKind::Literal:
      return literal(head);
    case ExprKind::Tuple:
      return lang::make_tuple(list(), span, type);
    case ExprKind::Projection: {
      const Expr& tuple = part();
      const auto index = from_.index(std::size_t{1} << 32);
      return lang::make_projection(tuple, static_cast<std::uint32_t>(index), span, type);
    }
    case ExprKind::Let:
      return let(head);
    case ExprKind::If: {
      const Expr& condition = part();
      const Expr& then_branch = part();
      return lang::make_if(condition, then_branch, part(), span, type);
    }
    case ExprKind::Function:
      return function(head);
    case ExprKind::Call:
      return call(head);
    case ExprKind::Match:
      return match(head);
    case ExprKind::RefCreate:
      return lang::make_ref_create(part(), span, type);
    case ExprKind::RefRead:
      return lang::make_ref_read(part(), span, type);
    case ExprKind::RefWrite: {
      const Expr& ref = part();
      return lang::make_ref_write(ref, part(), span, type);
    }
    case ExprKind::Operator:
      return lang::make_operator(op(), span, type);
    case ExprKind::ConstructorRef:
      return lang::make_constructor_ref(types_.constructor(), span, type);
    case ExprKind::DimTerm:
      return lang::make_dim_term(types_.dim(), span);
    case ExprKind::Differentiate: {
      const auto mode = enumerator(lang::DiffMode::CheckGrad);
      return lang::make_differentiate(mode, part(), span, type);
    }
    case ExprKind::Comprehension:
    case ExprKind::Reduction:
    case ExprKind::Index:
    case ExprKind::ScatterReduce:
    case ExprKind::Primitive:
      return read_index_notation(head);
  }
  fail_damaged();
}

Expr CodeReader::read_index_notation(const Head& head) {
  const auto& [kind, span, type] = head;
  switch (kind) {
    case ExprKind::Comprehension: {
      std::vector<lang::IndexBinder> binders = this->binders();
      return lang::make_comprehension(std::move(binders), part(), span, type);
    }
    case ExprKind::Reduction: {
      const auto op = enumerator(lang::ReduceOp::Set);
      std::vector<lang::IndexBinder> binders = this->binders();
      return lang::make_reduction(op, std::move(binders), part(), span, type);
    }
    case ExprKind::Index: {
      const Expr& tensor = part();
      std::vector<Expr> indices = list();
      return lang::make_index(tensor, std::move(indices), from_.truth(), span, type);
    }
    case ExprKind::ScatterReduce: {
      const auto op = enumerator(lang::ReduceOp::Set);
      const auto algebra = enumerator(lang::Algebra::Real);
      const Expr& init = part();
      std::vector<lang::IndexBinder> binders = this->binders();
      std::vector<Expr> indices = list();
      return lang::make_scatter_reduce(op, init, std::move(binders), std::move(indices), part(),
                                       span, type, algebra);
    }
    default: {
#define RELAY_PRIMITIVE(name, text, arity, operands, result) +1
      constexpr int kPrimitives = 0
#include "lang/primitives.def"
          ;
#undef RELAY_PRIMITIVE
      const auto prim = enumerator(static_cast<lang::Prim>(kPrimitives - 1));
      const auto algebra = enumerator(lang::Algebra::Real);
      return lang::make_primitive(prim, list(), span, type, algebra);
    }
  }
}

}  // namespace relay::built
