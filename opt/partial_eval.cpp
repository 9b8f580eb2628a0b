#include <algorithm>
#include <utility>

#include "lang/call_site.h"
#include "opt/partial_eval_evaluator.h"

namespace relay::opt {

using lang::as;
using lang::cast;
using lang::Expr;
using lang::Span;

namespace partial {

Evaluator::Evaluator(const PartialEvalHost& host, const PartialEvalOptions& options)
    : functions_(host.program, host.without_derivatives),
      folder_(host, residual_),
      fuel_(options.fuel),
      most_(static_cast<std::size_t>(std::max<std::int64_t>(options.max_size, 0))) {}

Expr Evaluator::run(const Expr& function, const std::string& name) {
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

std::unique_ptr<Code> Evaluator::body_of(const std::vector<lang::VariableRef>& own,
                                         const Expr& body, Frame* outer, ActiveCalls::Key key,
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

Frame* Evaluator::new_frame(Frame* outer, Span call, int calls) {
  frames_.emplace_back();
  Frame& frame = frames_.back();
  frame.outer = outer;
  frame.call = call;
  frame.calls = calls;
  return &frame;
}

Span Evaluator::at(Span span, const Frame* frame) { return lang::moved_to_call(span, frame->call); }

}  // namespace partial

Expr partially_evaluate(const Expr& function, const std::string& name, const PartialEvalHost& host,
                        const PartialEvalOptions& options) {
  return partial::Evaluator(host, options).run(function, name);
}

}  // namespace relay::opt
