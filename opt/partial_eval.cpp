#include "opt/partial_eval.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "lang/call_site.h"
#include "lang/diagnostic.h"
#include "lang/match_check.h"
#include "lang/op.h"
#include "lang/plain_type.h"
#include "lang/stop.h"
#include "lang/visit.h"
#include "opt/partial_eval_fold.h"
#include "opt/partial_eval_functions.h"
#include "opt/partial_eval_heap.h"
#include "opt/partial_eval_match.h"
#include "opt/partial_eval_residual.h"

namespace relay::opt {

using lang::as;
using lang::cast;
using lang::Expr;
using lang::ExprKind;
using lang::Span;

namespace partial {

namespace {

// Calls that are evaluated in one another, and branches, take the machine's stack.
constexpr int kMostDepth = 400;
// What has been moved through more calls than these says only through which it came first.
constexpr int kMostCalls = 16;

class Evaluator {
 public:
  Evaluator(const PartialEvalHost& host, const PartialEvalOptions& options)
      : functions_(host.program), folder_(host, residual_), fuel_(options.fuel) {
    most_ = static_cast<std::size_t>(std::max<std::int64_t>(options.max_size, 0));
  }

  Expr run(const Expr& function, const std::string& name) {
    if (Functions::counts_steps(function)) return function;
    const auto* fn = as<lang::Function>(function);
    std::vector<lang::VariableRef> params;
    const auto code = body_of(fn ? fn->params : std::vector<lang::VariableRef>(),
                              fn ? fn->body : function, nullptr, functions_.key_of(name), params);
    while (Step* step = residual_.next_closure()) {
      heap_.expose(step->closure);
      const auto& closure = cast<lang::Function>(step->closure->code);
      step->bodies.push_back(body_of(closure.params, closure.body, step->closure->frame,
                                     step->closure->code.get(), step->params));
    }
    if (!fn) return Residual::assembled(*code);
    return lang::make_function(std::move(params), fn->result, Residual::assembled(*code),
                               fn->type_params, fn->attrs, function->span, function->type);
  }

 private:
  // What a step of evaluation comes to: a value, or code that gives it.
  struct Next {
    const Value* value = nullptr;
    Expr code = nullptr;
    Frame* frame = nullptr;
    std::size_t entered = 0;  // nodes of the function whose body the code is; 0: of none
  };

  // The code that a function has left, whoever calls it and whenever.
  std::unique_ptr<Code> body_of(const std::vector<lang::VariableRef>& own, const Expr& body,
                                Frame* outer, ActiveCalls::Key key,
                                std::vector<lang::VariableRef>& params) {
    heap_.forget_all();
    Frame* frame = new_frame(outer, outer ? outer->call : Span(), outer ? outer->calls : 0);
    for (const auto& param : own) {
      params.push_back(lang::make_variable(param->name, param->type, param->span, param->attrs));
      frame->values[param.get()] = residual_.unknown(lang::make_var(params.back()));
    }
    // Calls of itself stay.
    active_.enter(key, {});
    residual_.open();
    const Value* result = evaluate(body, frame, "v");
    active_.leave_to(0);
    return residual_.close(result);
  }

  Frame* new_frame(Frame* outer, Span call, int calls) {
    frames_.emplace_back();
    Frame& frame = frames_.back();
    frame.outer = outer;
    frame.call = call;
    frame.calls = calls;
    return &frame;
  }

  static Span at(Span span, const Frame* frame) { return lang::moved_to_call(span, frame->call); }

  // --- Blocks ---

  const Value* evaluate(Expr code, Frame* frame, const std::string& hint) {
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

  void bind(const lang::Binding& binding, Frame* frame) {
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

  const Value* atom(const Expr& expr, Frame* frame) {
    const Value* value = step(expr, frame).value;
    RELAY_CHECK(value, "code in A-normal form has atoms for operands");
    return value;
  }
  std::vector<const Value*> atoms(const std::vector<Expr>& exprs, Frame* frame) {
    std::vector<const Value*> values;
    for (const Expr& expr : exprs) values.push_back(atom(expr, frame));
    return values;
  }
  std::vector<Expr> use_all(const std::vector<const Value*>& values) {
    std::vector<Expr> used;
    for (const Value* value : values) used.push_back(residual_.use(value));
    return used;
  }

  Next step(const Expr& expr, Frame* frame) {
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
        const Value* fn = atom(node.fn, frame);
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

  // Code that is not looked into, with what is known of its variables.
  const Value* as_it_stands(const Expr& expr, Frame* frame, Span span) {
    return residual_.add(copied(expr, frame, nullptr, nullptr), span);
  }

  Expr copied(const Expr& expr, Frame* frame, const lang::Variable* self, const Expr& self_atom) {
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
    return lang::substitute(lang::moved_to_call(lang::rename_bound(expr), frame->call),
                            substitution);
  }

  // `self`: the variable that it is bound to; null: it has no name.
  const Value* function(const Expr& expr, Frame* frame, const lang::Variable* self) {
    if (Functions::is_open(expr)) {
      std::uint64_t size = 1;
      for (const auto& variable : captures_.of(expr)) {
        const Value* value = frame->find(variable.get());
        size = std::min(size + (value ? value->size : 0), kMostSize);
      }
      return residual_.closure(expr, frame, size, at(expr->span, frame));
    }
    auto step = std::make_unique<Step>();
    step->span = at(expr->span, frame);
    if (!self) {
      step->value = copied(expr, frame, nullptr, nullptr);
      return residual_.add(std::move(step), expr->type);
    }
    step->variable = lang::make_variable(residual_.hint(), expr->type, step->span);
    step->value = copied(expr, frame, self, lang::make_var(step->variable));
    return residual_.add(std::move(step), expr->type);
  }

  const Value* projection(const Expr& expr, Frame* frame, Span span) {
    const auto& node = cast<lang::Projection>(expr);
    const Value* tuple = atom(node.tuple, frame);
    if (tuple->known == Known::Tuple && lang::equal(tuple->fields[node.index]->type, expr->type))
      return tuple->fields[node.index];
    return residual_.projection(tuple, node.index, expr->type, span);
  }

  // --- References ---

  const Value* read(const Expr& expr, Frame* frame, Span span) {
    const Value* reference = atom(cast<lang::RefRead>(expr).ref, frame);
    if (reference->known == Known::Reference) {
      const Value* content = heap_.read(reference->reference);
      if (content && lang::equal(content->type, expr->type)) return content;
      // What it gives is known to nobody.
      if (content) heap_.expose(content);
    }
    return residual_.add(lang::make_ref_read(residual_.use(reference), span, expr->type), span);
  }

  const Value* write(const Expr& expr, Frame* frame, Span span) {
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
    residual_.add(lang::make_ref_write(std::move(used), residual_.use(content), span, expr->type),
                  span);
    return residual_.tuple({}, expr, span);
  }

  // --- Branches ---

  Next branch(const Expr& expr, Frame* frame, Span span) {
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

  // The bodies of a step one of which is taken when it runs.
  class Bodies {
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

  const Value* finish(std::unique_ptr<Step> step, Bodies& bodies, const Expr& expr, Span span) {
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

  Next match(const Expr& expr, Frame* frame, Span span) {
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

  const Value* residual_match(const Expr& expr, const Selection& selection, Frame* frame,
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

  const Value* subject_of(const Selection& selection, Span span) {
    if (selection.parts.size() == 1) return selection.parts[0];
    std::vector<lang::Type> types;
    for (const Value* part : selection.parts) types.push_back(part->type);
    const Expr typed = lang::make_tuple({}, span, lang::tuple_type(std::move(types)));
    return residual_.tuple(selection.parts, typed, span);
  }

  static lang::PatternRef pattern_of(
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

  // --- Calls ---

  Next call(const Expr& expr, Frame* frame, Span span) {
    const auto& node = cast<lang::Call>(expr);
    if (const auto* fn = as<lang::Function>(node.callee); fn && !Functions::is_open(node.callee))
      return {as_it_stands(expr, frame, span)};
    const auto args = atoms(node.args, frame);
    const Value* callee = atom(node.callee, frame);
    if (callee->known == Known::Closure) return closure_call(expr, callee, args, frame, span);
    if (callee->known != Known::Callee) return {call_that_stays(expr, callee, args, span)};
    if (as<lang::Operator>(callee->atom))
      return {operator_call(node, expr, callee->atom, args, span)};
    if (const auto* made = as<lang::ConstructorRef>(callee->atom))
      return {residual_.construction(made->constructor, callee->atom, args, expr, span)};
    return global_call(expr, callee, args, frame, span);
  }

  const Value* operator_call(const lang::Call& node, const Expr& expr, const Expr& callee,
                             const std::vector<const Value*>& args, Span span) {
    const lang::OpDef& op = *cast<lang::Operator>(callee).op;
    const lang::AttrsRef attrs =
        node.attrs || op.attrs.empty() ? node.attrs : lang::complete_attrs(op, nullptr, expr->span);
    if (const Value* known = folder_.call(callee, args, attrs, expr->type, span)) return known;
    bool may_run_others = false;
    for (const Value* arg : args) {
      if (lang::is_plain(arg->type)) continue;
      heap_.expose(arg);
      may_run_others = true;
    }
    if (may_run_others) heap_.forget_exposed();
    return residual_.add(
        lang::make_call(callee, use_all(args), attrs, span, expr->type, node.algebra), span);
  }

  const Value* call_that_stays(const Expr& expr, const Value* callee,
                               const std::vector<const Value*>& args, Span span,
                               bool is_pure = false) {
    const auto& node = cast<lang::Call>(expr);
    bool is_plain = true;
    for (const Value* arg : args) {
      heap_.expose(arg);
      is_plain = is_plain && lang::is_plain(arg->type);
    }
    heap_.expose(callee);
    if (!is_pure || !is_plain) heap_.forget_exposed();
    std::vector<Expr> used = use_all(args);
    return residual_.add(lang::make_call(residual_.use(callee), std::move(used), node.attrs, span,
                                         expr->type, node.algebra),
                         span);
  }

  Next global_call(const Expr& expr, const Value* callee, const std::vector<const Value*>& args,
                   Frame* frame, Span span) {
    const auto& name = cast<lang::GlobalVar>(callee->atom);
    const auto stays = [&]() -> Next {
      return {call_that_stays(expr, callee, args, span, functions_.is_pure(name))};
    };
    const Expr whole = functions_.global(name);
    if (!whole || !functions_.is_movable(whole)) return stays();
    Measures measures = measures_of(args, nullptr, captures_);
    const auto key = functions_.key_of(name.name);
    if (!may_enter(key, args, measures, functions_.nodes(whole), functions_.is_recursive(name)))
      return stays();
    const Expr function = functions_.global_at(name, args, expr->type);
    if (!function) return stays();
    keep_.push_back(function);
    return entered(function, nullptr, args, key, std::move(measures), functions_.nodes(whole),
                   frame, span);
  }

  Next closure_call(const Expr& expr, const Value* callee, const std::vector<const Value*>& args,
                    Frame* frame, Span span) {
    const auto& fn = cast<lang::Function>(callee->code);
    bool fits = functions_.is_movable(callee->code) && lang::equal(fn.body->type, expr->type);
    for (std::size_t i = 0; i < args.size(); ++i)
      fits = fits && lang::equal(fn.params[i]->type, args[i]->type);
    Measures measures = measures_of(args, callee, captures_);
    const auto* key = callee->code.get();
    const std::size_t nodes = functions_.nodes(callee->code);
    if (!fits || !may_enter(key, args, measures, nodes, is_recursive(callee)))
      return {call_that_stays(expr, callee, args, span)};
    return entered(callee->code, callee->frame, args, key, std::move(measures), nodes, frame, span);
  }

  bool is_recursive(const Value* closure) {
    for (const auto& variable : captures_.of(closure->code)) {
      const Value* value = closure->frame->find(variable.get());
      if (value && value->code == closure->code && value->frame == closure->frame) return true;
    }
    return false;
  }

  bool may_enter(ActiveCalls::Key key, const std::vector<const Value*>& args,
                 const Measures& measures, std::size_t nodes, bool is_recursive) {
    const std::size_t added = added_ + (entered_at_ ? residual_.size() - *entered_at_ : 0);
    if (fuel_ <= 0 || depth_ >= kMostDepth || added + reserved_ + nodes > most_) return false;
    // A loop of which nothing is known is none the better for one step that stands before it.
    if (is_recursive && !has_data(args)) return false;
    return active_.may_enter(key, measures);
  }

  Next entered(const Expr& function, Frame* outer, const std::vector<const Value*>& args,
               ActiveCalls::Key key, Measures measures, std::size_t nodes, Frame* caller,
               Span span) {
    --fuel_;
    active_.enter(key, std::move(measures));
    const auto& fn = cast<lang::Function>(function);
    const bool is_far = caller->calls >= kMostCalls;
    Frame* frame =
        new_frame(outer, is_far || !span ? caller->call : span, caller->calls + (is_far ? 0 : 1));
    for (std::size_t i = 0; i < args.size(); ++i) frame->values[fn.params[i].get()] = args[i];
    return {nullptr, fn.body, frame, nodes};
  }

  Functions functions_;
  Residual residual_;
  Captures captures_;
  Heap heap_{captures_};
  Folder folder_;
  ActiveCalls active_;
  std::deque<Frame> frames_;
  std::vector<Expr> keep_;                 // functions whose code has been evaluated
  std::int64_t fuel_;                      // calls that may still be evaluated
  std::size_t most_;                       // nodes that calls may add
  std::size_t added_ = 0;                  // nodes that they have added
  std::optional<std::size_t> entered_at_;  // while there is a call: the size before
  std::size_t reserved_ = 0;               // for the rest of the functions that are being evaluated
  int depth_ = 0;
};

}  // namespace

}  // namespace partial

Expr partially_evaluate(const Expr& function, const std::string& name, const PartialEvalHost& host,
                        const PartialEvalOptions& options) {
  return partial::Evaluator(host, options).run(function, name);
}

}  // namespace relay::opt
