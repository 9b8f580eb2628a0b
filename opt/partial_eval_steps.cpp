#include <algorithm>
#include <utility>

#include "lang/call_site.h"
#include "lang/diagnostic.h"
#include "lang/plain_type.h"
#include "lang/stop.h"
#include "lang/visit.h"
#include "opt/partial_eval_evaluator.h"

namespace relay::opt::partial {

using lang::cast;
using lang::Expr;
using lang::ExprKind;
using lang::Span;

const Value* Evaluator::evaluate(Expr code, Frame* frame, const std::string& hint) {
  const std::size_t calls = active_.depth();
  const std::size_t reserved = reserved_;
  std::optional<std::size_t> entered_at;  // the size, where this leaves the function's own code
  ++depth_;
  Next next;
  while (true) {
    lang::poll();
    if (code->kind == ExprKind::Let) {
      lang::Block block = lang::open_block(code);
      for (const lang::Binding& binding : block.bindings) bind(binding, frame);
      code = std::move(block.result);
    }
    residual_.set_hint(hint);
    next = step(code, frame);
    if (!next.code) break;
    code = std::move(next.code);
    frame = next.frame;
    if (next.entered == 0) continue;
    reserved_ = reserved + next.entered;
    if (!entered_at_) entered_at = entered_at_ = residual_.size();
  }
  if (entered_at) {
    added_ += residual_.size() - *entered_at;
    entered_at_ = std::nullopt;
  }
  --depth_;
  reserved_ = reserved;
  active_.leave_to(calls);
  return next.value;
}

void Evaluator::bind(const lang::Binding& binding, Frame* frame) {
  const std::string& name = binding.variable->name;
  const Value* value = nullptr;
  if (binding.value->kind == ExprKind::Function) {
    residual_.set_hint(name);
    value = function(binding.value, frame, binding.variable.get());
  } else {
    value = evaluate(binding.value, frame, name);
  }
  frame->values[binding.variable.get()] = value;
}

const Value* Evaluator::atom(const Expr& expr, Frame* frame) {
  const Value* value = step(expr, frame).value;
  RELAY_CHECK(value, "code in A-normal form has atoms for operands");
  return value;
}

std::vector<const Value*> Evaluator::atoms(const std::vector<Expr>& exprs, Frame* frame) {
  std::vector<const Value*> values;
  for (const Expr& expr : exprs) values.push_back(atom(expr, frame));
  return values;
}

std::vector<Expr> Evaluator::use_all(const std::vector<const Value*>& values) {
  std::vector<Expr> used;
  for (const Value* value : values) used.push_back(residual_.use(value));
  return used;
}

Evaluator::Next Evaluator::step(const Expr& expr, Frame* frame) {
  const Span span = at(expr->span, frame);
  switch (expr->kind) {
    case ExprKind::Var: {
      const Value* found = frame->find(cast<lang::Var>(expr).variable.get());
      return {found ? found : residual_.unknown(expr)};
    }
    case ExprKind::Constant:
      return {residual_.constant(expr)};
    case ExprKind::ConstructorRef: {
      const auto* constructor = cast<lang::ConstructorRef>(expr).constructor;
      if (!constructor->fields.empty()) return {residual_.callee(expr)};
      return {residual_.construction(constructor, expr, {}, expr, span)};
    }
    case ExprKind::GlobalVar:
    case ExprKind::Operator:
      return {residual_.callee(expr)};
    case ExprKind::DimTerm:
      return {folder_.dim(expr)};
    case ExprKind::Literal:
      return {residual_.unknown(expr)};
    case ExprKind::Tuple:
      return {residual_.tuple(atoms(cast<lang::Tuple>(expr).fields, frame), expr, span)};
    case ExprKind::Projection:
      return {projection(expr, frame, span)};
    case ExprKind::Let:
      return {evaluate(expr, frame, residual_.hint())};
    case ExprKind::If:
      return branch(expr, frame, span);
    case ExprKind::Match:
      return match(expr, frame, span);
    case ExprKind::Function:
      return {function(expr, frame, nullptr)};
    case ExprKind::Call:
      return call(expr, frame, span);
    case ExprKind::RefCreate: {
      const Value* content = atom(cast<lang::RefCreate>(expr).value, frame);
      return {residual_.reference(heap_.make(content), content, expr, span)};
    }
    case ExprKind::RefRead:
      return {read(expr, frame, span)};
    case ExprKind::RefWrite:
      return {write(expr, frame, span)};
    case ExprKind::Primitive: {
      const auto& node = cast<lang::Primitive>(expr);
      const auto args = atoms(node.args, frame);
      if (const Value* known = folder_.primitive(node.prim, args, expr->type)) return {known};
      return {residual_.add(
          lang::make_primitive(node.prim, use_all(args), span, expr->type, node.algebra), span)};
    }
    case ExprKind::Index: {
      const auto& node = cast<lang::Index>(expr);
      const Value* tensor = atom(node.tensor, frame);
      const auto indices = atoms(node.indices, frame);
      if (const Value* known = folder_.element(node, tensor, indices)) return {known};
      Expr used = residual_.use(tensor);
      return {residual_.add(
          lang::make_index(std::move(used), use_all(indices), node.in_bounds, span, expr->type),
          span)};
    }
    case ExprKind::Differentiate: {
      const auto& node = cast<lang::Differentiate>(expr);
      const Value* fn = as_written(atom(node.fn, frame), span);
      heap_.expose(fn);
      return {residual_.add(
          lang::make_differentiate(node.mode, residual_.use(fn), span, expr->type), span)};
    }
    case ExprKind::Comprehension:
    case ExprKind::Reduction:
    case ExprKind::ScatterReduce:
      return {as_it_stands(expr, frame, span)};
  }
  return {as_it_stands(expr, frame, span)};
}

const Value* Evaluator::as_it_stands(const Expr& expr, Frame* frame, Span span) {
  return residual_.add(copied(expr, frame, nullptr, nullptr), span);
}

Expr Evaluator::copied(const Expr& expr, Frame* frame, const lang::Variable* self,
                       const Expr& self_atom) {
  lang::Substitution substitution;
  bool may_run_others = false;
  for (const auto& variable : lang::free_variables(expr)) {
    if (variable.get() == self) {
      substitution[self] = self_atom;
      continue;
    }
    const Value* value = frame->find(variable.get());
    if (!value) continue;
    substitution[variable.get()] = residual_.use(value);
    if (lang::is_plain(value->type)) continue;
    heap_.expose(value);
    may_run_others = true;
  }
  if (may_run_others) heap_.forget_exposed();
  return lang::substitute(lang::moved_to_call(lang::rename_bound(expr), frame->call), substitution);
}

const Value* Evaluator::function(const Expr& expr, Frame* frame, const lang::Variable* self) {
  if (Functions::is_open(expr)) {
    std::uint64_t size = 1;
    for (const auto& variable : captures_.of(expr)) {
      const Value* value = frame->find(variable.get());
      size = std::min(size + (value ? value->size : 0), kMostSize);
    }
    return residual_.closure(expr, frame, size, at(expr->span, frame));
  }
  return literal(expr, frame, self, at(expr->span, frame));
}

const Value* Evaluator::literal(const Expr& expr, Frame* frame, const lang::Variable* self,
                                Span span) {
  auto step = std::make_unique<Step>();
  step->span = span;
  if (!self) {
    step->value = copied(expr, frame, nullptr, nullptr);
    return residual_.add(std::move(step), expr->type);
  }
  step->variable = lang::make_variable(residual_.hint(), expr->type, step->span);
  step->value = copied(expr, frame, self, lang::make_var(step->variable));
  return residual_.add(std::move(step), expr->type);
}

// What a derivative is taken of is not run: it would be rounded elsewhere.
const Value* Evaluator::as_written(const Value* fn, Span span) {
  return fn->known == Known::Closure ? literal(fn->code, fn->frame, self_of(fn), span) : fn;
}

const Value* Evaluator::projection(const Expr& expr, Frame* frame, Span span) {
  const auto& node = cast<lang::Projection>(expr);
  const Value* tuple = atom(node.tuple, frame);
  if (tuple->known == Known::Tuple && lang::equal(tuple->fields[node.index]->type, expr->type))
    return tuple->fields[node.index];
  return residual_.projection(tuple, node.index, expr->type, span);
}

const Value* Evaluator::read(const Expr& expr, Frame* frame, Span span) {
  const Value* reference = atom(cast<lang::RefRead>(expr).ref, frame);
  if (reference->known == Known::Reference) {
    const Value* content = heap_.read(reference->reference);
    if (content && lang::equal(content->type, expr->type)) return content;
    // What it gives is known to nobody.
    if (content) heap_.expose(content);
  }
  return residual_.add(lang::make_ref_read(residual_.use(reference), span, expr->type), span);
}

const Value* Evaluator::write(const Expr& expr, Frame* frame, Span span) {
  const auto& node = cast<lang::RefWrite>(expr);
  const Value* reference = atom(node.ref, frame);
  const Value* content = atom(node.value, frame);
  if (reference->known == Known::Reference) {
    heap_.write(reference->reference, content);
    return residual_.write(reference, content, expr, span);
  }
  // It may be any that is exposed.
  heap_.expose(content);
  heap_.forget_exposed();
  Expr used = residual_.use(reference);
  residual_.set_hint("_");  // a statement
  residual_.add(lang::make_ref_write(std::move(used), residual_.use(content), span, expr->type),
                span);
  return residual_.tuple({}, expr, span);
}

}  // namespace relay::opt::partial
