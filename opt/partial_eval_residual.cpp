#include "opt/partial_eval_residual.h"

#include <algorithm>
#include <utility>

#include "lang/record.h"
#include "lang/visit.h"

namespace relay::opt::partial {

using lang::as;
using lang::Expr;
using lang::Span;
using lang::Type;

namespace {

std::uint64_t size_of_all(const std::vector<const Value*>& values) {
  std::uint64_t size = 0;
  for (const Value* value : values) size += value->size;
  return std::min(size, kMostSize);
}

std::vector<Expr> atoms_of(const std::vector<const Value*>& values) {
  std::vector<Expr> atoms;
  for (const Value* value : values) atoms.push_back(value->atom);
  return atoms;
}

Expr value_of(const Step& step) {
  const Expr& node = step.value;
  switch (step.form) {
    case Step::Form::Whole:
      return node;
    case Step::Form::Closure: {
      const auto& fn = lang::cast<lang::Function>(node);
      return lang::make_function(step.params, fn.result, Residual::assembled(*step.bodies[0]),
                                 fn.type_params, fn.attrs, node->span, node->type);
    }
    case Step::Form::If:
      return lang::make_if(step.subject->atom, Residual::assembled(*step.bodies[0]),
                           Residual::assembled(*step.bodies[1]), step.span, node->type);
    case Step::Form::Match: {
      std::vector<lang::Clause> clauses;
      for (std::size_t i = 0; i < step.bodies.size(); ++i)
        clauses.push_back({step.patterns[i], Residual::assembled(*step.bodies[i])});
      return lang::make_match(step.subject->atom, std::move(clauses), step.is_complete, step.span,
                              node->type);
    }
  }
  return node;
}

}  // namespace

std::size_t nodes_of(const Expr& code) {
  std::size_t nodes = 0;
  lang::visit_post_order(code, [&](const Expr&) { ++nodes; });
  return nodes;
}

const std::vector<lang::VariableRef>& Captures::of(const Expr& function) {
  const auto [place, is_new] = known_.try_emplace(function.get());
  if (is_new) place->second = lang::free_variables(function);
  return place->second;
}

Value* Residual::new_value(Known known, const Type& type) {
  values_.emplace_back();
  Value& value = values_.back();
  value.known = known;
  value.type = type;
  return &value;
}

const Value* Residual::constant(const Expr& constant) {
  Value* value = new_value(Known::Constant, constant->type);
  value->atom = constant;
  return value;
}

const Value* Residual::callee(const Expr& atom) {
  Value* value = new_value(Known::Callee, atom->type);
  value->atom = atom;
  return value;
}

const Value* Residual::unknown(const Expr& atom) {
  Value* value = new_value(Known::Nothing, atom->type);
  value->atom = atom;
  return value;
}

Step* Residual::put(std::unique_ptr<Step> step) {
  open_.back()->steps.push_back(std::move(step));
  return open_.back()->steps.back().get();
}

Value* Residual::lazy(Known known, Expr node, std::vector<const Value*> parts, Span span) {
  auto step = std::make_unique<Step>();
  step->variable = lang::make_variable(hint_, node->type, span);
  Value* value = new_value(known, node->type);
  value->atom = lang::make_var(step->variable, span);
  step->value = std::move(node);
  step->parts = std::move(parts);
  step->span = span;
  size_ += 1 + step->parts.size();
  value->step = put(std::move(step));
  return value;
}

const Value* Residual::tuple(std::vector<const Value*> fields, const Expr& source, Span span) {
  if (fields.empty()) {
    Value* unit = new_value(Known::Tuple, source->type);
    unit->atom = lang::make_tuple({}, span, source->type);
    return unit;
  }
  Value* value =
      lazy(Known::Tuple, lang::make_tuple(atoms_of(fields), span, source->type), fields, span);
  value->size = size_of_all(fields);
  value->fields = std::move(fields);
  return value;
}

const Value* Residual::construction(const lang::Constructor* constructor, const Expr& callee,
                                    std::vector<const Value*> fields, const Expr& source,
                                    Span span) {
  Value* value;
  if (fields.empty()) {
    value = new_value(Known::Construction, source->type);
    value->atom = callee;
  } else {
    value =
        lazy(Known::Construction,
             lang::make_call(callee, atoms_of(fields), nullptr, span, source->type), fields, span);
  }
  value->constructor = constructor;
  value->size = 1 + size_of_all(fields);
  value->fields = std::move(fields);
  return value;
}

const Value* Residual::closure(const Expr& function, Frame* frame, std::uint64_t size, Span span) {
  Value* value = lazy(Known::Closure, function, {}, span);
  value->code = function;
  value->frame = frame;
  value->size = size;
  value->step->form = Step::Form::Closure;
  value->step->closure = value;
  size_ += nodes_of(function);
  return value;
}

const Value* Residual::reference(std::size_t number, const Value* content, const Expr& source,
                                 Span span) {
  Value* value = lazy(Known::Reference, lang::make_ref_create(content->atom, span, source->type),
                      {content}, span);
  value->reference = number;
  value->step->is_reference = true;
  value->step->reference = number;
  if (references_.size() <= number) references_.resize(number + 1);
  references_[number].made = value->step;
  return value;
}

const Value* Residual::write(const Value* reference, const Value* content, const Expr& source,
                             Span span) {
  set_hint("_");  // a statement
  const Value* value =
      lazy(Known::Nothing, lang::make_ref_write(reference->atom, content->atom, span, source->type),
           {reference, content}, span);
  Reference& written = references_[reference->reference];
  written.writes.push_back(value->step);
  if (written.made->is_needed) need(value->step);
  return tuple({}, source, span);
}

const Value* Residual::projection(const Value* tuple, std::uint32_t index, const Type& type,
                                  Span span) {
  return lazy(Known::Nothing, lang::make_projection(tuple->atom, index, span, type), {tuple}, span);
}

const Value* Residual::field(const Value* record, const lang::Constructor& constructor,
                             std::size_t place, Span span) {
  return lazy(Known::Nothing, lang::read_field(record->atom, constructor, place, span), {record},
              span);
}

const Value* Residual::add(Expr node, Span span) {
  auto step = std::make_unique<Step>();
  const Type type = node->type;
  size_ += nodes_of(node);
  step->value = std::move(node);
  step->span = span;
  return add(std::move(step), type);
}

const Value* Residual::add(std::unique_ptr<Step> step, const Type& type) {
  if (!step->variable) step->variable = lang::make_variable(hint_, type, step->span);
  step->is_needed = true;
  Value* value = new_value(Known::Nothing, type);
  value->atom = lang::make_var(step->variable, step->span);
  ++size_;
  value->step = put(std::move(step));
  return value;
}

Expr Residual::use(const Value* value) {
  need(value);
  return value->atom;
}

void Residual::need(const Value* value) {
  if (value->step) need(value->step);
}

void Residual::need(Step* step) {
  std::vector<Step*> open = {step};
  while (!open.empty()) {
    Step* next = open.back();
    open.pop_back();
    if (next->is_needed) continue;
    next->is_needed = true;
    if (next->form == Step::Form::Closure) closures_.push_back(next);
    for (const Value* part : next->parts) {
      if (part->step) open.push_back(part->step);
    }
    if (!next->is_reference) continue;
    const auto& writes = references_[next->reference].writes;
    open.insert(open.end(), writes.begin(), writes.end());
  }
}

void Residual::open() { open_.push_back(std::make_unique<Code>()); }

std::unique_ptr<Code> Residual::close(const Value* result) {
  std::unique_ptr<Code> code = std::move(open_.back());
  open_.pop_back();
  need(result);
  code->result = result;
  return code;
}

Step* Residual::next_closure() {
  if (closures_.empty()) return nullptr;
  Step* next = closures_.back();
  closures_.pop_back();
  return next;
}

Expr Residual::assembled(const Code& code) {
  lang::Block block;
  for (const auto& step : code.steps) {
    if (step->is_needed) block.bindings.push_back({step->variable, value_of(*step), step->span});
  }
  block.result = code.result->atom;
  return lang::close_block(block);
}

}  // namespace relay::opt::partial
