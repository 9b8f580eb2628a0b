#include "repl/frame_marks.h"

#include <algorithm>

#include "lang/build.h"
#include "lang/function_fact.h"
#include "lang/visit.h"
#include "repl/trace_operators.h"

namespace relay::repl {

using lang::as;
using lang::Expr;
using lang::ExprKind;
using lang::Type;
using lang::VariableRef;
using Kind = FramePlace::Kind;
namespace build = lang::build;

namespace {

// The field of a record that is read, `p.left`, is a variable too, which nobody has named.
bool is_written(const lang::Variable& variable) {
  const lang::Span span = variable.span;
  return span && (span.begin == 0 || span.source->text()[span.begin - 1] != '.') &&
         span.text() == variable.name;
}

bool takes_function(const Type& type) {
  const auto* function = as<lang::FunctionType>(type);
  return function && std::any_of(function->params.begin(), function->params.end(),
                                 [](const Type& param) { return as<lang::FunctionType>(param); });
}

bool takes_function(const lang::Call& call) {
  return std::any_of(call.args.begin(), call.args.end(),
                     [](const Expr& arg) { return as<lang::FunctionType>(arg->type) != nullptr; });
}

}  // namespace

// The code of one function.
class FrameMarks::Inner final : public lang::Rewriter {
 public:
  Inner(FrameMarks& owner, std::size_t body) : owner_(owner), body_(body) {}

  void mark(lang::Block& block, FramePlace place) {
    place.body = body_;
    bind_mark(block, owner_.place_attrs(owner_.add(std::move(place))));
  }

  void local(lang::Block& block, const VariableRef& variable) {
    if (variable->name.empty() || variable->name.front() == '_' || !is_written(*variable)) return;
    const std::size_t place =
        owner_.add({Kind::Local, variable->name, variable->span, variable->type, body_});
    bind_step(block, lang::make_var(variable), owner_.place_attrs(place));
  }

  // A body, branch or clause.
  Expr block(const Expr& expr, bool is_tail) {
    const lang::Block given = lang::open_block(expr);
    lang::Block block;
    for (const lang::Binding& binding : given.bindings) add(block, binding);
    block.result = result(given.result, block, is_tail);
    return lang::close_block(block);
  }

 protected:
  Expr pre(const Expr& expr) override {
    switch (expr->kind) {
      case ExprKind::Comprehension:
      case ExprKind::Reduction:
      case ExprKind::ScatterReduce:
        return calls_what_tells(expr) ? nullptr : expr;
      case ExprKind::Function:
        return owner_.literal(expr, "fn");
      case ExprKind::Let:
      case ExprKind::If:
      case ExprKind::Match:
        return block(expr, false);
      default:
        return nullptr;
    }
  }

  Expr post(const Expr& expr) override {
    if (const auto* node = as<lang::Comprehension>(expr)) {
      return lang::make_comprehension(node->binders, with_indices(node->binders, node->body),
                                      expr->span, expr->type);
    }
    if (const auto* node = as<lang::Reduction>(expr)) {
      return lang::make_reduction(node->op, node->binders, with_indices(node->binders, node->body),
                                  expr->span, expr->type);
    }
    if (const auto* global = as<lang::GlobalVar>(expr)) {
      const std::string copy = owner_.copy_of(*global);
      return copy.empty() ? expr : lang::make_global_var(copy, expr->span, expr->type);
    }
    const auto* call = as<lang::Call>(expr);
    return call && is_shown(*call) ? shown_call(*call, expr) : expr;
  }

 private:
  void add(lang::Block& block, const lang::Binding& binding) {
    const VariableRef& variable = binding.variable;
    if (binding.value->kind == ExprKind::Function) {
      block.bindings.push_back(
          {variable, owner_.literal(binding.value, variable->name), binding.span});
      return local(block, variable);
    }
    if (is_dim_check(binding.value)) {
      block.bindings.push_back(binding);
      return;
    }
    line(block, binding.value);
    block.bindings.push_back({variable, rewrite(binding.value), binding.span});
    local(block, variable);
  }

  void line(lang::Block& block, const Expr& expr) {
    if (expr->span && !build::is_atom(expr)) mark(block, {Kind::Line, "", expr->span});
  }

  Expr result(const Expr& expr, lang::Block& block, bool is_tail) {
    if (const auto* branch = as<lang::If>(expr)) {
      line(block, branch->condition);
      return lang::make_if(rewrite(branch->condition), this->block(branch->then_branch, is_tail),
                           this->block(branch->else_branch, is_tail), expr->span, expr->type);
    }
    if (const auto* match = as<lang::Match>(expr)) {
      line(block, match->scrutinee);
      std::vector<lang::Clause> clauses;
      for (const lang::Clause& clause : match->clauses) {
        lang::Block taken;
        lang::for_each_variable(clause.pattern,
                                [&](const VariableRef& variable) { local(taken, variable); });
        taken.result = this->block(clause.body, is_tail);
        clauses.push_back({clause.pattern, lang::close_block(taken)});
      }
      return lang::make_match(rewrite(match->scrutinee), std::move(clauses), match->is_complete,
                              expr->span, expr->type);
    }
    line(block, expr);
    const auto* call = as<lang::Call>(expr);
    if (!call || !is_tail || !is_known(call->callee)) return rewrite(expr);
    const Expr callee = rewrite(call->callee);
    std::vector<Expr> args;
    for (const Expr& arg : call->args) args.push_back(atom(block, rewrite(arg)));
    mark(block, {Kind::Tail, "", expr->span});
    return lang::make_call(callee, std::move(args), call->attrs, expr->span, expr->type);
  }

  // Does the function tell by itself that it is entered?
  bool is_known(const Expr& callee) {
    const auto* global = as<lang::GlobalVar>(callee);
    if (global) return !owner_.copy_of(*global).empty();
    return callee->kind == ExprKind::Var || callee->kind == ExprKind::Function;
  }

  bool is_shown(const lang::Call& call) {
    if (is_known(call.callee) || call.callee->kind == ExprKind::Differentiate) return true;
    return call.callee->kind == ExprKind::GlobalVar && takes_function(call);
  }

  bool calls_what_tells(const Expr& expr) {
    bool found = false;
    lang::visit_post_order(expr, [&](const Expr& node) {
      if (const auto* global = as<lang::GlobalVar>(node)) {
        found = found || !owner_.copy_of(*global).empty();
      } else if (const auto* call = as<lang::Call>(node)) {
        found = found || is_shown(*call);
      }
    });
    return found;
  }

  static Expr atom(lang::Block& block, const Expr& expr) {
    if (build::is_atom(expr)) return expr;
    const VariableRef variable = lang::make_variable("a", expr->type);
    block.bindings.push_back({variable, expr, {}});
    return lang::make_var(variable);
  }

  Expr shown_call(const lang::Call& call, const Expr& expr) {
    lang::Block block;
    const Expr callee =
        call.callee->kind == ExprKind::Differentiate ? call.callee : atom(block, call.callee);
    std::vector<Expr> args;
    for (const Expr& arg : call.args) args.push_back(atom(block, arg));
    const auto* global = as<lang::GlobalVar>(call.callee);
    const bool is_silent = global && owner_.copy_of(*global).empty();
    mark(block, {Kind::Call, is_silent ? global->name : "", expr->span});
    const VariableRef result = lang::make_variable("r", expr->type);
    block.bindings.push_back(
        {result, lang::make_call(callee, std::move(args), call.attrs, expr->span, expr->type), {}});
    mark(block, {Kind::Return});
    block.result = lang::make_var(result);
    return lang::close_block(block);
  }

  Expr with_indices(const std::vector<lang::IndexBinder>& binders, const Expr& body) {
    lang::Block block;
    for (const lang::IndexBinder& binder : binders) local(block, binder.variable);
    block.result = body;
    return lang::close_block(block);
  }

  FrameMarks& owner_;
  std::size_t body_;
};

std::size_t FrameMarks::add(FramePlace place) {
  places_.push_back(std::move(place));
  return places_.size() - 1;
}

bool FrameMarks::is_wanted(const lang::GlobalVar& global) const {
  return wanted_(global.name) || takes_function(global.type);
}

Expr FrameMarks::literal(const Expr& function, const std::string& name) {
  const auto& fn = lang::cast<lang::Function>(function);
  if (lang::gradient_of(fn)) return function;
  const std::size_t body = places_.size();
  Inner inner(*this, body);
  lang::Block block;
  inner.mark(block, {Kind::Body, name, function->span});
  for (const VariableRef& param : fn.params) inner.local(block, param);
  inner.mark(block, {Kind::Entered, name, function->span});
  block.result = inner.block(fn.body, true);
  return lang::without_facts(
      lang::make_function(fn.params, fn.result, lang::close_block(block), fn.type_params, fn.attrs,
                          function->span, function->type),
      {lang::FunctionFact::Compiler, lang::FunctionFact::Primitive});
}

Expr FrameMarks::of(const Expr& typed) {
  Inner inner(*this, places_.size());
  lang::Block block;
  inner.mark(block, {Kind::Body, "", typed->span});
  block.result = inner.block(typed, false);
  return lang::rename_bound(lang::close_block(block));
}

}  // namespace relay::repl
