#include "repl/instrument.h"

#include <fmt/format.h>

#include "lang/build.h"
#include "lang/function_fact.h"
#include "lang/op.h"
#include "lang/visit.h"
#include "opt/passes.h"
#include "repl/columns.h"
#include "repl/trace_operators.h"

namespace relay::repl {

using lang::as;
using lang::Expr;
using lang::ExprKind;
using lang::Type;
using lang::VariableRef;
namespace build = lang::build;

namespace {

bool is_inside(lang::Span part, lang::Span whole) {
  return part && whole && lang::join(whole, part) == whole;
}

bool holds_function(const Type& type) {
  if (const auto* tuple = as<lang::TupleType>(type)) {
    for (const Type& field : tuple->fields) {
      if (holds_function(field)) return true;
    }
    return false;
  }
  return as<lang::FunctionType>(type) != nullptr || as<lang::ReferenceType>(type) != nullptr;
}

}  // namespace

// The code of one function.
class Instrumenter::Inner final : public lang::Rewriter {
 public:
  explicit Inner(Instrumenter& owner) : owner_(owner) {}

  // A body, branch or clause.
  Expr block(const Expr& expr, bool is_tail) {
    const lang::Block given = lang::open_block(expr);
    lang::Block block;
    lang::Span pattern;  // of the `let` that takes a value apart, whose parts follow
    for (const lang::Binding& binding : given.bindings) {
      const VariableRef& variable = binding.variable;
      if (binding.value->kind == ExprKind::Function) {
        block.bindings.push_back(
            {variable, owner_.literal(binding.value, variable->name), binding.span});
      } else if (is_inside(binding.value->span, pattern) || is_dim_check(binding.value)) {
        block.bindings.push_back(binding);
      } else if (variable->name == "_") {
        statement(block, binding);
      } else if (const auto* made = as<lang::RefCreate>(binding.value)) {
        const std::string label = variable->name + " = " + text_of(binding.value);
        const Expr content = told_if_possible(block, made->value, label);
        block.bindings.push_back(
            {variable, lang::make_ref_create(content, binding.value->span, binding.value->type),
             binding.span});
      } else {
        pattern = variable->name.empty() ? variable->span : lang::Span();
        const std::string name = pattern ? on_one_line(pattern.text()) : variable->name;
        const std::int64_t place =
            begun(block, TracePlace::Kind::Value, name + " = " + text_of(binding.value));
        tell(block, variable, value(binding.value), place);
      }
    }
    block.result = result(given.result, block, is_tail);
    return lang::close_block(block);
  }

  // Binds `variable` to the value, and tells it.
  void tell(lang::Block& block, const VariableRef& variable, const Expr& value,
            std::int64_t place) {
    if (holds_function(value->type)) {
      block.bindings.push_back({variable, value, variable->span});
      return done(block, place);
    }
    const VariableRef raw = lang::make_variable(variable->name, value->type, variable->span);
    block.bindings.push_back({raw, value, variable->span});
    block.bindings.push_back({variable, told(block, lang::make_var(raw), place), variable->span});
  }

 protected:
  Expr pre(const Expr& expr) override {
    switch (expr->kind) {
      case ExprKind::Comprehension:
      case ExprKind::Reduction:
      case ExprKind::ScatterReduce:
      case ExprKind::Differentiate:
        return expr;
      case ExprKind::Function:
        return owner_.literal(expr, "");
      case ExprKind::Let:
      case ExprKind::If:
      case ExprKind::Match:
        return block(expr, false);
      default:
        return nullptr;
    }
  }

  Expr post(const Expr& expr) override {
    if (const auto* write = as<lang::RefWrite>(expr)) {
      lang::Block block;
      const Expr written = written_value(block, write->value, text_of(expr));
      block.result = lang::make_ref_write(write->ref, written, expr->span, expr->type);
      return lang::close_block(block);
    }
    const auto* call = as<lang::Call>(expr);
    const auto* global = call ? as<lang::GlobalVar>(call->callee) : nullptr;
    const std::string copy = global ? owner_.copy_of(*global) : std::string();
    if (copy.empty()) return expr;
    lang::Block block;
    std::vector<Expr> args;
    for (const Expr& arg : call->args) {
      if (build::is_atom(arg)) {
        args.push_back(arg);
        continue;
      }
      const VariableRef variable = lang::make_variable("a", arg->type);
      block.bindings.push_back({variable, arg, {}});
      args.push_back(lang::make_var(variable));
    }
    mark(block, TracePlace::Kind::Enter, text_of(expr));
    const VariableRef result = lang::make_variable("r", expr->type);
    block.bindings.push_back({result, call_of(*call, *global, copy, std::move(args), expr), {}});
    mark(block, TracePlace::Kind::Leave, "");
    block.result = lang::make_var(result);
    return lang::close_block(block);
  }

 private:
  static std::string text_of(const Expr& expr) {
    return expr->span ? on_one_line(expr->span.text()) : std::string("…");
  }

  static Expr call_of(const lang::Call& call, const lang::GlobalVar& global,
                      const std::string& copy, std::vector<Expr> args, const Expr& expr) {
    return lang::make_call(lang::make_global_var(copy, global.span, global.type), std::move(args),
                           call.attrs, expr->span, expr->type);
  }

  Expr value(const Expr& expr) { return rewrite(expr); }

  // What is computed for what it does: a call of a local function is shown before what happens in
  // it, a call of a global function and the writing of a reference show themselves.
  void statement(lang::Block& block, const lang::Binding& binding) {
    const auto* call = as<lang::Call>(binding.value);
    const std::int64_t place = begun(block, TracePlace::Kind::Choice, text_of(binding.value));
    if (call && (call->callee->kind == ExprKind::Var || call->callee->kind == ExprKind::Operator))
      mark(block, place);
    block.bindings.push_back({binding.variable, value(binding.value), binding.span});
    done(block, place);
  }

  // The value as an atom, told; or only that it is computed, where it holds functions.
  Expr told_if_possible(lang::Block& block, const Expr& given, const std::string& label) {
    const bool is_hidden = holds_function(given->type);
    const std::int64_t place =
        begun(block, is_hidden ? TracePlace::Kind::Choice : TracePlace::Kind::Value, label);
    return content(block, value(given), place, is_hidden);
  }
  // The same of a value that is in instrumented form already.
  Expr written_value(lang::Block& block, const Expr& written, const std::string& label) {
    const bool is_hidden = holds_function(written->type);
    return content(
        block, written,
        owner_.add_place(is_hidden ? TracePlace::Kind::Choice : TracePlace::Kind::Value, label),
        is_hidden);
  }
  Expr content(lang::Block& block, const Expr& value, std::int64_t place, bool is_hidden) {
    const VariableRef raw = lang::make_variable("content", value->type, value->span);
    block.bindings.push_back({raw, value, value->span});
    if (is_hidden) {
      mark(block, place);
      done(block, place);
      return lang::make_var(raw);
    }
    const VariableRef content = lang::make_variable("content", value->type, value->span);
    block.bindings.push_back({content, told(block, lang::make_var(raw), place), value->span});
    return lang::make_var(content);
  }

  Expr step(lang::Block& block, const Expr& value, std::int64_t number) {
    return bind_step(block, value, owner_.place_attrs(static_cast<std::size_t>(number)));
  }

  Expr told(lang::Block& block, const Expr& value, std::int64_t place) {
    const Expr event = step(block, value, place);
    return trace_call(kTraceValue, {value, event},
                      owner_.place_attrs(static_cast<std::size_t>(place)), value->type);
  }

  void mark(lang::Block& block, TracePlace::Kind kind, const std::string& label) {
    mark(block, owner_.add_place(kind, label));
  }
  void mark(lang::Block& block, std::int64_t place, std::string_view name = kTraceMark) {
    bind_mark(block, owner_.place_attrs(static_cast<std::size_t>(place)), name);
  }
  void done(lang::Block& block, std::int64_t begun) { mark(block, owner_.add_done(begun)); }
  // A line begins: if nothing comes of it, it is the one that has failed.
  std::int64_t begun(lang::Block& block, TracePlace::Kind kind, const std::string& label) {
    const std::int64_t place = owner_.add_place(kind, label);
    mark(block, place, kTraceBegin);
    return place;
  }

  Expr result(const Expr& expr, lang::Block& block, bool is_tail) {
    if (const auto* branch = as<lang::If>(expr)) {
      const VariableRef condition =
          lang::make_variable("condition", branch->condition->type, branch->condition->span);
      const std::int64_t place =
          begun(block, TracePlace::Kind::Choice, "if " + text_of(branch->condition));
      block.bindings.push_back({condition, value(branch->condition), branch->condition->span});
      step(block, lang::make_var(condition), place);
      return lang::make_if(lang::make_var(condition), this->block(branch->then_branch, is_tail),
                           this->block(branch->else_branch, is_tail), expr->span, expr->type);
    }
    if (const auto* match = as<lang::Match>(expr)) {
      std::vector<lang::Clause> clauses;
      for (const lang::Clause& clause : match->clauses) {
        lang::Block taken;
        if (match->clauses.size() > 1 && clause.pattern->span) {
          mark(taken, TracePlace::Kind::Choice,
               text_of(match->scrutinee) + " is " + on_one_line(clause.pattern->span.text()));
        }
        taken.result = this->block(clause.body, is_tail);
        clauses.push_back({clause.pattern, lang::close_block(taken)});
      }
      return lang::make_match(value(match->scrutinee), std::move(clauses), match->is_complete,
                              expr->span, expr->type);
    }
    const auto* call = as<lang::Call>(expr);
    const auto* global = call ? as<lang::GlobalVar>(call->callee) : nullptr;
    const std::string copy = global && is_tail ? owner_.copy_of(*global) : std::string();
    if (!copy.empty()) {  // a loop, which stays one
      const std::int64_t place = begun(block, TracePlace::Kind::Choice, text_of(expr));
      std::vector<Expr> args;
      for (const Expr& arg : call->args) args.push_back(value(arg));
      mark(block, place);
      return call_of(*call, *global, copy, std::move(args), expr);
    }
    const auto* local = call ? as<lang::Var>(call->callee) : nullptr;
    const bool is_seen = build::is_atom(expr) || expr->kind == ExprKind::RefWrite;
    // The last: a loop of a local function
    if (is_seen || holds_function(expr->type) || (local && is_tail)) return value(expr);
    const std::int64_t place = begun(block, TracePlace::Kind::Value, text_of(expr));
    const Expr inner = value(expr);
    const VariableRef raw = lang::make_variable("result", inner->type, expr->span);
    block.bindings.push_back({raw, inner, expr->span});
    return told(block, lang::make_var(raw), place);
  }

  Instrumenter& owner_;
};

std::int64_t Instrumenter::add_done(std::int64_t begun) {
  const std::int64_t place = add_place(TracePlace::Kind::Done, "");
  places_.back().begun = static_cast<std::size_t>(begun);
  return place;
}

std::int64_t Instrumenter::add_place(TracePlace::Kind kind, std::string label, bool is_entry) {
  places_.push_back({kind, std::move(label), is_entry});
  return static_cast<std::int64_t>(places_.size()) - 1;
}

Expr Instrumenter::literal(const Expr& function, const std::string&) {
  const auto& fn = lang::cast<lang::Function>(function);
  if (lang::gradient_of(fn)) return function;
  Inner inner(*this);
  std::vector<VariableRef> params;
  lang::Block block;
  bool is_entry = true;
  for (const VariableRef& param : fn.params) {
    params.push_back(lang::make_variable(param->name, param->type, param->span, param->attrs));
    inner.tell(block, param, lang::make_var(params.back()),
               add_place(TracePlace::Kind::Parameter, param->name, is_entry));
    is_entry = false;
  }
  block.result = inner.block(fn.body, true);
  // What is watched runs here, and in no external compiler.
  return lang::without_facts(
      lang::make_function(std::move(params), fn.result, lang::close_block(block), fn.type_params,
                          fn.attrs, function->span, function->type),
      {lang::FunctionFact::Compiler, lang::FunctionFact::Primitive});
}

}  // namespace relay::repl
