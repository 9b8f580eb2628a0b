#include "built/code_writer.h"

#include <bit>

#include <fmt/format.h>

#include "built/format.h"
#include "built/post_order.h"
#include "lang/diagnostic.h"
#include "lang/value.h"
#include "lang/visit.h"

namespace relay::built {

using lang::cast;
using lang::Expr;
using lang::ExprKind;

namespace {

template <class Enum>
void enumerator(Enum value, lang::ByteWriter& to) {
  to.byte(static_cast<std::uint8_t>(value));
}

// Fails for an operator without registry that does more than the evaluator can without
// differentiation.
void check_is_effect(const lang::OpDef& op) {
  const auto refuse = [&op](std::string_view what) {
    lang::fail(lang::DiagnosticKind::Unsupported,
               fmt::format("not supported: {} in a built program (`{}`)", what, op.name));
  };
  if (op.effect == lang::Effect::Pullback || op.effect == lang::Effect::Tangent)
    refuse("the derivative of a function that is known only when the program runs");
  if (op.effect == lang::Effect::None)
    refuse("an operator that was made while the program was prepared");
  for (const lang::AttrSpec& attr : op.attrs) {
    if (attr.default_value) refuse("an effect with attributes of its own");
  }
}

// What make_ gives to a node of such a kind.
lang::Type made_type(const Expr& expr) {
  if (const auto* var = lang::as<lang::Var>(expr)) return var->variable->type;
  if (const auto* constant = lang::as<lang::Constant>(expr)) {
    const lang::Tensor& value = *constant->value;
    return value.rank() == 0 ? lang::scalar_type(value.dtype()) : lang::type_of_tensor(value);
  }
  return lang::scalar_type(lang::DType::Int64);
}

}  // namespace

void CodeWriter::variable(const lang::VariableRef& variable, lang::ByteWriter& to) {
  if (const std::uint32_t* number = variables_.find(variable.get())) return to.number(*number);
  lang::ByteWriter& entry = variables_.entries;
  types_.name(variable->name, entry);
  types_.type(variable->type, entry);
  types_.span(variable->span, entry);
  types_.attrs(variable->attrs, entry);
  to.number(variables_.add(variable.get()));
}

void CodeWriter::variables(const std::vector<lang::VariableRef>& variables, lang::ByteWriter& to) {
  to.number(variables.size());
  for (const lang::VariableRef& each : variables) variable(each, to);
}

// A record is code of the process, and what is in the registry is there in every process. Of what
// differentiation makes, effects are no more than their names: the evaluator performs them.
void CodeWriter::op(const lang::OpDef& op, lang::ByteWriter& to) {
  if (const std::uint32_t* number = ops_.find(&op)) return to.number(*number);
  lang::ByteWriter& entry = ops_.entries;
  if (lang::OpRegistry::instance().find(op.name) == &op) {
    write_tag(OperatorTag::Registered, entry);
    types_.name(op.name, entry);
  } else {
    check_is_effect(op);
    write_tag(OperatorTag::Effect, entry);
    types_.name(op.name, entry);
    enumerator(op.effect, entry);
    entry.number(op.inputs.size());
    for (const lang::InputSpec& input : op.inputs) types_.name(input.name, entry);
    entry.number(op.attrs.size());
    for (const lang::AttrSpec& attr : op.attrs) {
      types_.name(attr.name, entry);
      enumerator(attr.kind, entry);
    }
  }
  to.number(ops_.add(&op));
}

void CodeWriter::pattern(const lang::PatternRef& pattern, lang::ByteWriter& to) {
  using Handle = const lang::PatternRef*;
  in_post_order(
      &pattern, [this](Handle each) { return patterns_.find(each->get()) != nullptr; },
      [](Handle each, const auto& push) {
        for (const lang::PatternRef& field : (*each)->fields) push(&field);
      },
      [this](Handle each) { emit(**each); });
  to.number(*patterns_.find(pattern.get()));
}

void CodeWriter::emit(const lang::Pattern& pattern) {
  lang::ByteWriter& to = patterns_.entries;
  enumerator(pattern.kind, to);
  types_.span(pattern.span, to);
  if (pattern.kind == lang::PatternKind::Variable) variable(pattern.variable, to);
  if (pattern.kind == lang::PatternKind::Constructor) types_.constructor(*pattern.constructor, to);
  if (pattern.kind == lang::PatternKind::Constructor || pattern.kind == lang::PatternKind::Tuple) {
    to.number(pattern.fields.size());
    for (const lang::PatternRef& field : pattern.fields) to.number(*patterns_.find(field.get()));
  }
  patterns_.add(&pattern);
}

void CodeWriter::expr(const Expr& expr, lang::ByteWriter& to) {
  using Handle = const Expr*;
  in_post_order(
      &expr, [this](Handle each) { return exprs_.find(each->get()) != nullptr; },
      [](Handle each, const auto& push) {
        lang::for_each_child(*each, [&](const Expr& child) { push(&child); });
      },
      [this](Handle each) { emit(*each); });
  to.number(*exprs_.find(expr.get()));
}

void CodeWriter::emit(const Expr& expr) {
  lang::ByteWriter& to = exprs_.entries;
  enumerator(expr->kind, to);
  types_.span(expr->span, to);
  type_of(expr, to);
  parts(expr, to);
  exprs_.add(expr.get());
}

void CodeWriter::type_of(const Expr& expr, lang::ByteWriter& to) {
  if (!has_made_type(expr->kind)) return types_.type(expr->type, to);
  if (equal(expr->type, made_type(expr))) return to.number(0);
  to.number(expr->type ? std::uint64_t{types_.number_of(expr->type)} + 2 : 1);
}

// Most parts are close before what they are parts of.
void CodeWriter::part(const Expr& expr, lang::ByteWriter& to) {
  to.number(exprs_.count() - 1 - *exprs_.find(expr.get()));
}

void CodeWriter::list(const std::vector<Expr>& exprs, lang::ByteWriter& to) {
  to.number(exprs.size());
  for (const Expr& each : exprs) part(each, to);
}

void CodeWriter::binders(const std::vector<lang::IndexBinder>& binders, lang::ByteWriter& to) {
  to.number(binders.size());
  for (const lang::IndexBinder& each : binders) {
    variable(each.variable, to);
    to.byte(each.extent ? 1 : 0);
    if (each.extent) part(each.extent, to);
  }
}

void CodeWriter::literal(const lang::Literal& literal, lang::ByteWriter& to) {
  if (literal.elements) {
    write_tag(LiteralTag::Tensor, to);
    tensors_.tensor(*literal.elements, to);
  } else if (literal.is_float) {
    write_tag(LiteralTag::Real, to);
    to.word(std::bit_cast<std::uint64_t>(literal.real));
  } else {
    write_tag(LiteralTag::Integer, to);
    to.signed_number(literal.integer);
  }
}

void CodeWriter::function(const lang::Function& function, lang::ByteWriter& to) {
  variables(function.params, to);
  types_.type(function.result, to);
  part(function.body, to);
  to.number(function.type_params.size());
  for (const lang::TypeVarRef& var : function.type_params) types_.type_var(var, to);
  types_.attrs(function.attrs, to);
}

void CodeWriter::match(const lang::Match& match, lang::ByteWriter& to) {
  part(match.scrutinee, to);
  to.byte(match.is_complete ? 1 : 0);
  to.number(match.clauses.size());
  for (const lang::Clause& clause : match.clauses) {
    pattern(clause.pattern, to);
    part(clause.body, to);
  }
}

void CodeWriter::parts(const Expr& expr, lang::ByteWriter& to) {
  switch (expr->kind) {
    case ExprKind::Var:
      return variable(cast<lang::Var>(expr).variable, to);
    case ExprKind::GlobalVar:
      return types_.name(cast<lang::GlobalVar>(expr).name, to);
    case ExprKind::Constant:
      return tensors_.tensor(*cast<lang::Constant>(expr).value, to);
    case ExprKind::Literal:
      return literal(cast<lang::Literal>(expr), to);
    case ExprKind::Tuple:
      return list(cast<lang::Tuple>(expr).fields, to);
    case ExprKind::Projection:
      part(cast<lang::Projection>(expr).tuple, to);
      return to.number(cast<lang::Projection>(expr).index);
    case ExprKind::Let:
      variable(cast<lang::Let>(expr).variable, to);
      part(cast<lang::Let>(expr).value, to);
      return part(cast<lang::Let>(expr).body, to);
    case ExprKind::If:
      part(cast<lang::If>(expr).condition, to);
      part(cast<lang::If>(expr).then_branch, to);
      return part(cast<lang::If>(expr).else_branch, to);
    case ExprKind::Function:
      return function(cast<lang::Function>(expr), to);
    case ExprKind::Call:
      enumerator(cast<lang::Call>(expr).algebra, to);
      part(cast<lang::Call>(expr).callee, to);
      list(cast<lang::Call>(expr).args, to);
      return types_.attrs(cast<lang::Call>(expr).attrs, to);
    case ExprKind::Match:
      return match(cast<lang::Match>(expr), to);
    case ExprKind::RefCreate:
      return part(cast<lang::RefCreate>(expr).value, to);
    case ExprKind::RefRead:
      return part(cast<lang::RefRead>(expr).ref, to);
    case ExprKind::RefWrite:
      part(cast<lang::RefWrite>(expr).ref, to);
      return part(cast<lang::RefWrite>(expr).value, to);
    case ExprKind::Operator:
      return op(*cast<lang::Operator>(expr).op, to);
    case ExprKind::ConstructorRef:
      return types_.constructor(*cast<lang::ConstructorRef>(expr).constructor, to);
    case ExprKind::Comprehension:
      binders(cast<lang::Comprehension>(expr).binders, to);
      return part(cast<lang::Comprehension>(expr).body, to);
    case ExprKind::Reduction:
      enumerator(cast<lang::Reduction>(expr).op, to);
      binders(cast<lang::Reduction>(expr).binders, to);
      return part(cast<lang::Reduction>(expr).body, to);
    case ExprKind::Index:
      part(cast<lang::Index>(expr).tensor, to);
      list(cast<lang::Index>(expr).indices, to);
      return to.byte(cast<lang::Index>(expr).in_bounds ? 1 : 0);
    case ExprKind::ScatterReduce: {
      const auto& scatter = cast<lang::ScatterReduce>(expr);
      enumerator(scatter.op, to);
      enumerator(scatter.algebra, to);
      part(scatter.init, to);
      binders(scatter.binders, to);
      list(scatter.indices, to);
      return part(scatter.value, to);
    }
    case ExprKind::Primitive:
      enumerator(cast<lang::Primitive>(expr).prim, to);
      enumerator(cast<lang::Primitive>(expr).algebra, to);
      return list(cast<lang::Primitive>(expr).args, to);
    case ExprKind::DimTerm:
      return types_.dim(cast<lang::DimTerm>(expr).dim, to);
    case ExprKind::Differentiate:
      enumerator(cast<lang::Differentiate>(expr).mode, to);
      return part(cast<lang::Differentiate>(expr).fn, to);
  }
}

void CodeWriter::append_names_to(lang::ByteWriter& to) const {
  variables_.append_to(to);
  ops_.append_to(to);
}

void CodeWriter::append_to(lang::ByteWriter& to) const {
  patterns_.append_to(to);
  exprs_.append_to(to);
}

}  // namespace relay::built
