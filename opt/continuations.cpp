#include "opt/continuations.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "lang/build.h"
#include "lang/visit.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;
namespace build = lang::build;

namespace {

// The branches of a step; empty for other steps.
std::vector<Expr> branches_of(const Expr& step) {
  if (const auto* choice = as<lang::If>(step)) return {choice->then_branch, choice->else_branch};
  std::vector<Expr> branches;
  if (const auto* match = as<lang::Match>(step)) {
    for (const lang::Clause& clause : match->clauses) branches.push_back(clause.body);
  }
  return branches;
}

class ContinuationMaker {
 public:
  ContinuationMaker(lang::Type answer, const ContinuedFunction& continued)
      : answer_(std::move(answer)), continued_(continued) {}

  // The block with its result handed to the function `next`, an atom.
  Expr handed_on(const Expr& expr, const Expr& next) {
    const lang::Block block = lang::open_block(expr);
    return from(block, 0, next);
  }

 private:
  Expr from(const lang::Block& block, std::size_t first, const Expr& next) {
    std::vector<lang::Binding> before;
    for (std::size_t i = first; i < block.bindings.size(); ++i) {
      const lang::Binding& binding = block.bindings[i];
      if (!continues(binding.value)) {
        before.push_back(binding);
        continue;
      }
      const Expr rest = rest_of(block, i, next, before);
      return lang::close_block({std::move(before), step(binding.value, rest)});
    }
    Expr last =
        continues(block.result) ? step(block.result, next) : build::call(next, {block.result});
    return lang::close_block({std::move(before), std::move(last)});
  }

  // What comes behind binding `place`, as a function of its value; bound, as branches share it.
  Expr rest_of(const lang::Block& block, std::size_t place, const Expr& next,
               std::vector<lang::Binding>& before) {
    const lang::VariableRef& variable = block.bindings[place].variable;
    const auto* result = as<lang::Var>(block.result);
    const bool is_last = place + 1 == block.bindings.size();
    if (is_last && result && result->variable == variable) return next;
    const Expr rest = build::function({variable}, from(block, place + 1, next));
    const lang::VariableRef name = lang::make_variable("next", rest->type);
    before.push_back({name, rest, {}});
    return lang::make_var(name);
  }

  Expr step(const Expr& value, const Expr& next) {
    if (const auto* call = as<lang::Call>(value)) {
      std::vector<Expr> args = call->args;
      args.push_back(next);
      return lang::make_call(continued_(*call, answer_), std::move(args), nullptr, value->span,
                             answer_);
    }
    if (const auto* choice = as<lang::If>(value)) {
      return lang::make_if(choice->condition, handed_on(choice->then_branch, next),
                           handed_on(choice->else_branch, next), value->span, answer_);
    }
    const auto& match = lang::cast<lang::Match>(value);
    std::vector<lang::Clause> clauses;
    for (const lang::Clause& clause : match.clauses)
      clauses.push_back({clause.pattern, handed_on(clause.body, next)});
    return lang::make_match(match.scrutinee, std::move(clauses), match.is_complete, value->span,
                            answer_);
  }

  // Is the step a call that takes a continuation, or are there any in its branches?
  bool continues(const Expr& value) {
    if (const auto* call = as<lang::Call>(value)) return continued_(*call, answer_) != nullptr;
    const auto branches = branches_of(value);
    return std::any_of(branches.begin(), branches.end(), [&](const Expr& branch) {
      bool found = false;
      for_each_step_call(branch, [&](const lang::Call& call) {
        found = found || continued_(call, answer_) != nullptr;
      });
      return found;
    });
  }

  const lang::Type answer_;
  const ContinuedFunction& continued_;
};

}  // namespace

void for_each_step_call(const Expr& body, const std::function<void(const lang::Call&)>& visit) {
  const lang::Block block = lang::open_block(body);
  const auto look_at = [&](const Expr& value) {
    if (const auto* call = as<lang::Call>(value)) visit(*call);
    for (const Expr& branch : branches_of(value)) for_each_step_call(branch, visit);
  };
  for (const lang::Binding& binding : block.bindings) look_at(binding.value);
  look_at(block.result);
}

Expr with_continuation(const lang::Function& function, const lang::Type& answer,
                       const ContinuedFunction& continued) {
  const Expr copy = lang::rename_bound(build::function(function.params, function.body));
  const auto& own = lang::cast<lang::Function>(copy);
  const lang::VariableRef next =
      lang::make_variable("k", lang::function_type({own.body->type}, answer));
  std::vector<lang::VariableRef> params = own.params;
  params.push_back(next);
  ContinuationMaker maker(answer, continued);
  return build::function(std::move(params), maker.handed_on(own.body, lang::make_var(next)));
}

}  // namespace relay::opt
