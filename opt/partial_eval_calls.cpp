#include <utility>

#include "lang/op.h"
#include "lang/plain_type.h"
#include "opt/partial_eval_evaluator.h"

namespace relay::opt::partial {

using lang::as;
using lang::cast;
using lang::Expr;
using lang::Span;

namespace {

// Calls that are evaluated in one another, and branches, take the machine's stack.
constexpr int kMostDepth = 400;
// What has been moved through more calls than these says only through which it came first.
constexpr int kMostCalls = 16;

}  // namespace

Evaluator::Next Evaluator::call(const Expr& expr, Frame* frame, Span span) {
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

const Value* Evaluator::operator_call(const lang::Call& node, const Expr& expr, const Expr& callee,
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

const Value* Evaluator::call_that_stays(const Expr& expr, const Value* callee,
                                        const std::vector<const Value*>& args, Span span,
                                        bool is_pure) {
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

Evaluator::Next Evaluator::global_call(const Expr& expr, const Value* callee,
                                       const std::vector<const Value*>& args, Frame* frame,
                                       Span span) {
  const auto& name = cast<lang::GlobalVar>(callee->atom);
  const auto stays = [&]() -> Next {
    return {call_that_stays(expr, callee, args, span, functions_.is_pure(name))};
  };
  const Expr whole = functions_.global(name);
  if (!whole || !functions_.is_movable(whole)) return stays();
  Measures measures = measures_of(args, nullptr, captures_);
  const auto key = functions_.key_of(name.name);
  const Functions::IsSelf is_self = [&](const Expr& each) {
    const auto* global = as<lang::GlobalVar>(each);
    return global && global->name == name.name;
  };
  if (!may_enter({whole, key, functions_.nodes(whole), functions_.is_recursive(name), is_self},
                 args, measures))
    return stays();
  const Expr function = functions_.global_at(name, args, expr->type);
  if (!function) return stays();
  keep_.push_back(function);
  return entered(function, nullptr, args, key, std::move(measures), functions_.nodes(whole), frame,
                 span);
}

Evaluator::Next Evaluator::closure_call(const Expr& expr, const Value* callee,
                                        const std::vector<const Value*>& args, Frame* frame,
                                        Span span) {
  const auto& fn = cast<lang::Function>(callee->code);
  bool fits = functions_.is_movable(callee->code) && lang::equal(fn.body->type, expr->type);
  for (std::size_t i = 0; i < args.size(); ++i)
    fits = fits && lang::equal(fn.params[i]->type, args[i]->type);
  Measures measures = measures_of(args, callee, captures_);
  const auto* key = callee->code.get();
  const std::size_t nodes = functions_.nodes(callee->code);
  const lang::Variable* self = self_of(callee);
  const Functions::IsSelf is_self = [&](const Expr& each) {
    const auto* var = as<lang::Var>(each);
    return var && var->variable.get() == self;
  };
  if (!fits || !may_enter({callee->code, key, nodes, self != nullptr, is_self}, args, measures))
    return {call_that_stays(expr, callee, args, span)};
  return entered(callee->code, callee->frame, args, key, std::move(measures), nodes, frame, span);
}

const lang::Variable* Evaluator::self_of(const Value* closure) {
  for (const auto& variable : captures_.of(closure->code)) {
    const Value* value = closure->frame->find(variable.get());
    if (value && value->code == closure->code && value->frame == closure->frame)
      return variable.get();
  }
  return nullptr;
}

bool Evaluator::may_enter(const Callee& callee, const std::vector<const Value*>& args,
                          const Measures& measures) {
  const std::size_t added = added_ + (entered_at_ ? residual_.size() - *entered_at_ : 0);
  if (fuel_ <= 0 || depth_ >= kMostDepth || added + reserved_ + callee.nodes > most_) return false;
  if (callee.is_recursive && !active_.is_active(callee.key)) {
    // A loop of which nothing is known is none the better for one step that stands before it, nor
    // is one that counts up to nobody knows what.
    if (!has_data(args)) return false;
    const auto counter = sole_integer(args, measures);
    if (counter && Functions::counts_up(callee.function, *counter, callee.is_self)) return false;
  }
  return active_.may_enter(callee.key, measures);
}

Evaluator::Next Evaluator::entered(const Expr& function, Frame* outer,
                                   const std::vector<const Value*>& args, ActiveCalls::Key key,
                                   Measures measures, std::size_t nodes, Frame* caller, Span span) {
  --fuel_;
  active_.enter(key, std::move(measures));
  const auto& fn = cast<lang::Function>(function);
  const bool is_far = caller->calls >= kMostCalls;
  Frame* frame =
      new_frame(outer, is_far || !span ? caller->call : span, caller->calls + (is_far ? 0 : 1));
  for (std::size_t i = 0; i < args.size(); ++i) frame->values[fn.params[i].get()] = args[i];
  return {nullptr, fn.body, frame, nodes};
}

}  // namespace relay::opt::partial
