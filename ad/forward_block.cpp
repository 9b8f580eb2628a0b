#include "ad/forward_block.h"

#include <fmt/format.h>

#include "ad/pairs.h"
#include "lang/build.h"
#include "lang/diagnostic.h"

namespace relay::ad {

using lang::as;
using lang::Binding;
using lang::Expr;
using lang::ExprKind;
using lang::Type;
using lang::VariableRef;
namespace build = lang::build;

ForwardBlock::ForwardBlock(lang::Program& program, Pairs& pairs)
    : program_(program), pairs_(pairs) {}

void ForwardBlock::set_tangent(const VariableRef& variable, TangentValue tangent) {
  if (!tangent.is_zero()) tangents_[variable.get()] = std::move(tangent);
}

TangentValue ForwardBlock::tangent_of(const Expr& atom) const {
  const auto* var = as<lang::Var>(atom);
  if (!var) return {};
  const auto found = tangents_.find(var->variable.get());
  return found == tangents_.end() ? TangentValue() : found->second;
}

Type ForwardBlock::tangent_type(const Type& type) const { return pairs_.tangents().or_unit(type); }

ForwardBlock::Dual ForwardBlock::run(const Expr& expr, Emitter& code) {
  const lang::Block block = lang::open_block(expr);
  for (const Binding& binding : block.bindings) step(binding, code);
  if (build::is_atom(block.result)) return {block.result, tangent_of(block.result)};
  const VariableRef variable = lang::make_variable("value", block.result->type, block.result->span);
  step({variable, block.result, block.result->span}, code);
  return {lang::make_var(variable), tangent_of(lang::make_var(variable))};
}

Expr ForwardBlock::tail(const Expr& block) { return tail_in(block, Emitter(pairs_.tangents())); }

Expr ForwardBlock::in_own_walk(const Expr& block) {
  Emitter code(pairs_.tangents());
  set_walk(code.emit("walk", AdjointCells::begin_forward()));
  Expr result = both(run(block, code), code);
  code.emit("done", AdjointCells::end());
  return lang::close_block({code.take(), std::move(result)});
}

Expr ForwardBlock::tail_in(const Expr& expr, Emitter code) {
  const lang::Block block = lang::open_block(expr);
  for (const Binding& binding : block.bindings) step(binding, code);
  Expr result = tail_of(block.result, code);
  return lang::close_block({code.take(), std::move(result)});
}

Expr ForwardBlock::both(const Dual& dual, Emitter& code) const {
  const Type type = tangent_type(dual.value->type);
  return build::tuple({dual.value, dual.tangent.value(type, dual.value, code)});
}

Expr ForwardBlock::tail_of(const Expr& result, Emitter& code) {
  const Type type = lang::tuple_type({result->type, tangent_type(result->type)});
  if (const auto* branch = as<lang::If>(result)) {
    Expr then_branch = tail(branch->then_branch);
    Expr else_branch = tail(branch->else_branch);
    return lang::make_if(branch->condition, std::move(then_branch), std::move(else_branch),
                         result->span, type);
  }
  if (const auto* match = as<lang::Match>(result)) {
    std::vector<lang::Clause> clauses;
    const TangentValue tangent = tangent_of(match->scrutinee);
    for (const lang::Clause& clause : match->clauses) {
      Emitter inner(pairs_.tangents());
      const lang::PatternRef pattern =
          enter(clause.pattern, match->scrutinee->type, tangent, inner);
      clauses.push_back({pattern, tail_in(clause.body, std::move(inner))});
    }
    return lang::make_match(match->scrutinee, std::move(clauses), match->is_complete, result->span,
                            type);
  }
  const auto* call = as<lang::Call>(result);
  if (call && call->callee->kind != ExprKind::Operator &&
      call->callee->kind != ExprKind::ConstructorRef) {
    if (Expr derived = derived_call(*call, result->span, code)) return derived;
  }
  return both(run(result, code), code);
}

void ForwardBlock::bind_both(const Binding& binding, Expr value, Emitter& code) {
  const std::string& name = binding.variable->name;
  const Expr pair = code.emit(name + "_both", std::move(value));
  code.append({{binding.variable, build::project(pair, 0), binding.span}});
  const Expr tangent = build::project(pair, 1);
  if (!is_unit(tangent->type))
    set_tangent(binding.variable, TangentValue(code.emit("d" + name, tangent)));
}

void ForwardBlock::step(const Binding& binding, Emitter& code) {
  const Expr& value = binding.value;
  switch (value->kind) {
    case ExprKind::Var:
    case ExprKind::Constant:
    case ExprKind::GlobalVar:
    case ExprKind::Operator:
    case ExprKind::ConstructorRef:
    case ExprKind::DimTerm:
      code.append({binding});
      return set_tangent(binding.variable, tangent_of(value));
    case ExprKind::Tuple: {
      std::vector<TangentValue> fields;
      for (const Expr& field : lang::cast<lang::Tuple>(value).fields)
        fields.push_back(tangent_of(field));
      code.append({binding});
      return set_tangent(binding.variable, TangentValue::of_fields(std::move(fields)));
    }
    case ExprKind::Projection: {
      const auto& projection = lang::cast<lang::Projection>(value);
      code.append({binding});
      return set_tangent(binding.variable,
                         tangent_of(projection.tuple).field(projection.index, code));
    }
    case ExprKind::If:
    case ExprKind::Match:
      return branch(binding, code);
    case ExprKind::Function:
      return function(binding, code);
    case ExprKind::Call: {
      const auto& call = lang::cast<lang::Call>(value);
      if (const auto* op = as<lang::Operator>(call.callee))
        return operator_call(binding, call, *op->op, code);
      if (call.callee->kind == ExprKind::ConstructorRef) return construction(binding, call, code);
      Expr derived = derived_call(call, value->span, code);
      if (derived) return bind_both(binding, std::move(derived), code);
      return code.append({binding});
    }
    case ExprKind::RefCreate:
    case ExprKind::RefRead:
    case ExprKind::RefWrite:
      return reference(binding, code);
    case ExprKind::Primitive:
    case ExprKind::Index:
    case ExprKind::Comprehension:
    case ExprKind::Reduction:
    case ExprKind::ScatterReduce:
      return index_notation(binding, code);
    case ExprKind::Let:
    case ExprKind::Literal:
    case ExprKind::Differentiate:
      break;
  }
  RELAY_CHECK(false, fmt::format("no tangent for a binding of kind {}", name_of(value->kind)));
}

}  // namespace relay::ad
