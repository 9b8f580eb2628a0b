#include <algorithm>
#include <utility>

#include "lang/match_check.h"
#include "opt/partial_eval_evaluator.h"

namespace relay::opt::partial {

using lang::cast;
using lang::Expr;
using lang::Span;

// The bodies of a step one of which is taken when it runs.
class Evaluator::Bodies {
 public:
  Bodies(Evaluator& evaluator, Step& step)
      : evaluator_(evaluator), step_(step), mark_(evaluator.heap_.mark()) {}

  void add(const Expr& body, Frame* frame) {
    const std::string hint = evaluator_.residual_.hint();
    evaluator_.residual_.open();
    const Value* result = evaluator_.evaluate(body, frame, hint);
    evaluator_.heap_.expose(result);
    step_.bodies.push_back(evaluator_.residual_.close(result));
    writes_.push_back(evaluator_.heap_.end_branch(mark_));
    evaluator_.residual_.set_hint(hint);
  }
  void join() { evaluator_.heap_.join(writes_); }
  std::size_t count() const { return writes_.size(); }

 private:
  Evaluator& evaluator_;
  Step& step_;
  const std::size_t mark_;
  std::vector<Heap::Writes> writes_;
};

Evaluator::Next Evaluator::branch(const Expr& expr, Frame* frame, Span span) {
  const auto& node = cast<lang::If>(expr);
  const Value* condition = atom(node.condition, frame);
  if (const auto known = folder_.truth(condition)) {
    const Expr& taken = *known ? node.then_branch : node.else_branch;
    if (lang::equal(taken->type, expr->type)) return {nullptr, taken, frame};
  }
  auto step = std::make_unique<Step>();
  step->form = Step::Form::If;
  step->subject = condition;
  Bodies bodies(*this, *step);
  bodies.add(node.then_branch, frame);
  bodies.add(node.else_branch, frame);
  return {finish(std::move(step), bodies, expr, span)};
}

const Value* Evaluator::finish(std::unique_ptr<Step> step, Bodies& bodies, const Expr& expr,
                               Span span) {
  bodies.join();
  residual_.need(step->subject);
  step->span = span;
  step->value = expr;
  const Value* common = step->bodies[0]->result;
  for (const auto& body : step->bodies) {
    if (!folder_.are_same(common, body->result)) common = nullptr;
    if (!common) break;
  }
  const Value* value = residual_.add(std::move(step), expr->type);
  // What is made in the only body is out of sight behind it.
  const bool is_visible = common && (bodies.count() > 1 || common->known == Known::Constant);
  return is_visible && lang::equal(common->type, expr->type) ? common : value;
}

Evaluator::Next Evaluator::match(const Expr& expr, Frame* frame, Span span) {
  const auto& node = cast<lang::Match>(expr);
  const Value* scrutinee = atom(node.scrutinee, frame);
  auto selection = select_clauses(node, scrutinee, residual_, span);
  if (!selection || selection->rows.empty()) selection = all_clauses(node, scrutinee);
  const Row& first = selection->rows[0];
  const Expr& body = node.clauses[first.clause].body;
  if (first.is_certain && lang::equal(body->type, expr->type)) {
    for (const auto& [variable, value] : first.bound) frame->values[variable.get()] = value;
    return {nullptr, body, frame};
  }
  return {residual_match(expr, *selection, frame, span)};
}

const Value* Evaluator::residual_match(const Expr& expr, const Selection& selection, Frame* frame,
                                       Span span) {
  const auto& node = cast<lang::Match>(expr);
  auto step = std::make_unique<Step>();
  step->form = Step::Form::Match;
  step->subject = subject_of(selection, span);
  std::vector<lang::Clause> clauses;
  using Renamed = std::vector<std::pair<lang::VariableRef, lang::VariableRef>>;
  std::vector<Renamed> renamed(selection.rows.size());
  for (std::size_t i = 0; i < selection.rows.size(); ++i) {
    const auto bind = [&](const lang::VariableRef& old, const lang::VariableRef& fresh) {
      renamed[i].emplace_back(old, fresh);
    };
    clauses.push_back({pattern_of(selection, selection.rows[i], bind), nullptr});
  }
  const lang::MatchReport report = lang::check_match(clauses);
  step->is_complete = node.is_complete || (report.missing.empty() && !report.is_too_large);
  Bodies bodies(*this, *step);
  for (std::size_t i = 0; i < clauses.size(); ++i) {
    if (std::count(report.unreachable.begin(), report.unreachable.end(), i) > 0) continue;
    for (const auto& [variable, value] : selection.rows[i].bound)
      frame->values[variable.get()] = value;
    for (const auto& [old, fresh] : renamed[i])
      frame->values[old.get()] = residual_.unknown(lang::make_var(fresh));
    step->patterns.push_back(clauses[i].pattern);
    bodies.add(node.clauses[selection.rows[i].clause].body, frame);
  }
  return finish(std::move(step), bodies, expr, span);
}

const Value* Evaluator::subject_of(const Selection& selection, Span span) {
  if (selection.parts.size() == 1) return selection.parts[0];
  std::vector<lang::Type> types;
  for (const Value* part : selection.parts) types.push_back(part->type);
  const Expr typed = lang::make_tuple({}, span, lang::tuple_type(std::move(types)));
  return residual_.tuple(selection.parts, typed, span);
}

lang::PatternRef Evaluator::pattern_of(
    const Selection& selection, const Row& row,
    const std::function<void(const lang::VariableRef&, const lang::VariableRef&)>& bind) {
  std::vector<lang::PatternRef> patterns;
  for (std::size_t i = 0; i < selection.parts.size(); ++i) {
    const bool is_open = i < row.patterns.size() && row.patterns[i];
    patterns.push_back(is_open ? with_fresh_variables(row.patterns[i], bind)
                               : lang::wildcard_pattern());
  }
  return patterns.size() == 1 ? patterns[0] : lang::tuple_pattern(std::move(patterns));
}

}  // namespace relay::opt::partial
