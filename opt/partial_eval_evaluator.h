#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "opt/partial_eval.h"
#include "opt/partial_eval_fold.h"
#include "opt/partial_eval_functions.h"
#include "opt/partial_eval_heap.h"
#include "opt/partial_eval_match.h"
#include "opt/partial_eval_residual.h"

namespace relay::opt::partial {

// Runs one function. Whatever it meets becomes a value, or a step of the code that is left.
class Evaluator {
 public:
  Evaluator(const PartialEvalHost& host, const PartialEvalOptions& options);

  lang::Expr run(const lang::Expr& function, const std::string& name);

 private:
  // What a step of evaluation comes to: a value, or code that gives it.
  struct Next {
    const Value* value = nullptr;
    lang::Expr code = nullptr;
    Frame* frame = nullptr;
    std::size_t entered = 0;  // nodes of the function whose body the code is; 0: of none
  };

  // The code that a function has left, whoever calls it and whenever.
  std::unique_ptr<Code> body_of(const std::vector<lang::VariableRef>& own, const lang::Expr& body,
                                Frame* outer, ActiveCalls::Key key,
                                std::vector<lang::VariableRef>& params);
  Frame* new_frame(Frame* outer, lang::Span call, int calls);
  // The place of code that came here with the calls of the frame.
  static lang::Span at(lang::Span span, const Frame* frame);

  // --- Blocks and steps (partial_eval_steps.cpp) ---

  // `hint`: what the variable of its last step is called.
  const Value* evaluate(lang::Expr code, Frame* frame, const std::string& hint);
  void bind(const lang::Binding& binding, Frame* frame);
  const Value* atom(const lang::Expr& expr, Frame* frame);
  std::vector<const Value*> atoms(const std::vector<lang::Expr>& exprs, Frame* frame);
  std::vector<lang::Expr> use_all(const std::vector<const Value*>& values);
  Next step(const lang::Expr& expr, Frame* frame);
  // Code that is not looked into, with what is known of its variables.
  const Value* as_it_stands(const lang::Expr& expr, Frame* frame, lang::Span span);
  lang::Expr copied(const lang::Expr& expr, Frame* frame, const lang::Variable* self,
                    const lang::Expr& self_atom);
  // `self`: the variable that it is bound to; null: it has no name.
  const Value* function(const lang::Expr& expr, Frame* frame, const lang::Variable* self);
  const Value* literal(const lang::Expr& expr, Frame* frame, const lang::Variable* self,
                       lang::Span span);
  const Value* as_written(const Value* fn, lang::Span span);
  const Value* projection(const lang::Expr& expr, Frame* frame, lang::Span span);
  const Value* read(const lang::Expr& expr, Frame* frame, lang::Span span);
  const Value* write(const lang::Expr& expr, Frame* frame, lang::Span span);

  // --- Branches (partial_eval_branches.cpp) ---

  // The bodies of a step one of which is taken when it runs.
  class Bodies;
  Next branch(const lang::Expr& expr, Frame* frame, lang::Span span);
  const Value* finish(std::unique_ptr<Step> step, Bodies& bodies, const lang::Expr& expr,
                      lang::Span span);
  Next match(const lang::Expr& expr, Frame* frame, lang::Span span);
  const Value* residual_match(const lang::Expr& expr, const Selection& selection, Frame* frame,
                              lang::Span span);
  const Value* subject_of(const Selection& selection, lang::Span span);
  static lang::PatternRef pattern_of(
      const Selection& selection, const Row& row,
      const std::function<void(const lang::VariableRef&, const lang::VariableRef&)>& bind);

  // --- Calls (partial_eval_calls.cpp) ---

  Next call(const lang::Expr& expr, Frame* frame, lang::Span span);
  const Value* operator_call(const lang::Call& node, const lang::Expr& expr,
                             const lang::Expr& callee, const std::vector<const Value*>& args,
                             lang::Span span);
  const Value* call_that_stays(const lang::Expr& expr, const Value* callee,
                               const std::vector<const Value*>& args, lang::Span span,
                               bool is_pure = false);
  Next global_call(const lang::Expr& expr, const Value* callee,
                   const std::vector<const Value*>& args, Frame* frame, lang::Span span);
  Next closure_call(const lang::Expr& expr, const Value* callee,
                    const std::vector<const Value*>& args, Frame* frame, lang::Span span);
  // The variable by which a closure calls itself; null: it does not.
  const lang::Variable* self_of(const Value* closure);
  // What a call of a known function may be evaluated by.
  struct Callee {
    const lang::Expr& function;
    ActiveCalls::Key key;
    std::size_t nodes;
    bool is_recursive;
    Functions::IsSelf is_self;
  };
  bool may_enter(const Callee& callee, const std::vector<const Value*>& args,
                 const Measures& measures);
  Next entered(const lang::Expr& function, Frame* outer, const std::vector<const Value*>& args,
               ActiveCalls::Key key, Measures measures, std::size_t nodes, Frame* caller,
               lang::Span span);

  Functions functions_;
  Residual residual_;
  Captures captures_;
  Heap heap_{captures_};
  Folder folder_;
  ActiveCalls active_;
  std::deque<Frame> frames_;
  std::vector<lang::Expr> keep_;           // functions whose code has been evaluated
  std::int64_t fuel_;                      // calls that may still be evaluated
  std::size_t most_;                       // nodes that calls may add
  std::size_t added_ = 0;                  // nodes that they have added
  std::optional<std::size_t> entered_at_;  // while there is a call: the size before
  std::size_t reserved_ = 0;               // for the rest of the functions that are being evaluated
  int depth_ = 0;
};

}  // namespace relay::opt::partial
