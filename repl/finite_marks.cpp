#include "repl/finite_marks.h"

#include <algorithm>
#include <map>

#include "lang/build.h"
#include "lang/function_fact.h"
#include "lang/infix.h"
#include "lang/op.h"
#include "lang/visit.h"
#include "repl/trace_operators.h"

namespace relay::repl {

using lang::as;
using lang::Expr;
using lang::ExprKind;
using lang::Type;
using lang::VariableRef;
namespace build = lang::build;

namespace {

// In a tensor, or in one of a tuple of tensors.
bool has_floats(const Type& type) {
  if (const auto* tensor = as<lang::TensorType>(type))
    return tensor->dtype.is_known() && lang::is_float(tensor->dtype.known());
  const auto* tuple = as<lang::TupleType>(type);
  if (!tuple || tuple->fields.empty()) return false;
  bool found = false;
  for (const Type& field : tuple->fields) {
    if (!as<lang::TensorType>(field) && !as<lang::TupleType>(field)) return false;
    found = found || has_floats(field);
  }
  return found;
}

bool is_index_notation(const Expr& expr) {
  return expr->kind == ExprKind::Comprehension || expr->kind == ExprKind::Reduction ||
         expr->kind == ExprKind::ScatterReduce;
}

std::string maker_of(const Expr& expr) {
  switch (expr->kind) {
    case ExprKind::Comprehension:
      return "for";
    case ExprKind::Reduction:
      return std::string(lang::name_of(lang::cast<lang::Reduction>(expr).op));
    case ExprKind::ScatterReduce:
      return "scatter";
    case ExprKind::Call:
      break;
    default:
      return "";
  }
  const Expr& callee = lang::cast<lang::Call>(expr).callee;
  if (const auto* global = as<lang::GlobalVar>(callee)) return global->name;
  const auto* op = as<lang::Operator>(callee);
  if (!op) return "";
  const lang::Infix* infix = lang::infix_of(op->op->name);
  return infix ? std::string(infix->symbol) : op->op->name;
}

}  // namespace

// The code of one function.
class FiniteMarks::Inner final : public lang::Rewriter {
 public:
  explicit Inner(FiniteMarks& owner) : owner_(owner) {}

  // The value, told at that place.
  Expr told(lang::Block& block, const Expr& value, std::size_t place, lang::Span span) {
    const lang::AttrsRef attrs = owner_.place_attrs(place);
    const Expr event = bind_step(block, value, attrs, span);
    const VariableRef seen = lang::make_variable("seen", value->type, value->span);
    block.bindings.push_back(
        {seen, trace_call(kTraceValue, {value, event}, attrs, value->type, span), {}});
    return lang::make_var(seen);
  }

 protected:
  Expr pre(const Expr& expr) override {
    if (expr->kind == ExprKind::Function) return owner_.literal(expr, "");
    if (!is_index_notation(expr) || is_opened(expr)) return nullptr;
    return has_floats(expr->type) ? told_whole(expr) : expr;
  }

  Expr post(const Expr& expr) override {
    if (const auto* global = as<lang::GlobalVar>(expr)) {
      const std::string copy = owner_.copy_of(*global);
      return copy.empty() ? expr : lang::make_global_var(copy, expr->span, expr->type);
    }
    if (is_index_notation(expr)) {
      const bool adds_up = expr->kind != ExprKind::Comprehension && has_floats(expr->type);
      return adds_up ? result_told(expr) : expr;
    }
    const auto* call = as<lang::Call>(expr);
    return call && computes(*call) ? told_call(*call, expr) : expr;
  }

 private:
  bool is_opened(const Expr& expr) const {
    return owner_.opened_ && expr->span && lang::join(expr->span, owner_.opened_) == expr->span &&
           expr->span.source == owner_.opened_.source;
  }

  bool computes(const lang::Call& call) {
    if (!has_floats(call.type)) return false;
    if (const auto* op = as<lang::Operator>(call.callee))
      return op->op->effect == lang::Effect::None;
    const auto* global = as<lang::GlobalVar>(call.callee);
    if (!global || !owner_.copy_of(*global).empty()) return false;
    return std::none_of(call.args.begin(), call.args.end(), [](const Expr& arg) {
      return as<lang::FunctionType>(arg->type) != nullptr;
    });
  }

  // The place of a result, whose operands come right before it.
  std::size_t add_result(const Expr& expr, std::size_t operands) {
    const std::size_t result = owner_.places_.size() + operands;
    for (std::size_t i = 0; i < operands; ++i)
      owner_.places_.push_back({maker_of(expr), {}, result, true, i == 0});
    owner_.places_.push_back(
        {maker_of(expr), expr->span, result, false, operands == 0, is_index_notation(expr)});
    return result;
  }

  static Expr atom(lang::Block& block, const Expr& expr) {
    if (build::is_atom(expr)) return expr;
    const VariableRef variable = lang::make_variable("a", expr->type, expr->span);
    block.bindings.push_back({variable, expr, {}});
    return lang::make_var(variable, expr->span);
  }

  Expr told_call(const lang::Call& call, const Expr& expr) {
    lang::Block block;
    std::vector<Expr> args;
    for (const Expr& arg : call.args) args.push_back(atom(block, arg));
    const auto with_floats = static_cast<std::size_t>(std::count_if(
        args.begin(), args.end(), [](const Expr& arg) { return has_floats(arg->type); }));
    const std::size_t result = add_result(expr, with_floats);
    std::size_t place = result - with_floats;
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (!has_floats(args[i]->type)) continue;
      owner_.places_[place].span =
          spans_.contains(call.args[i].get()) ? spans_[call.args[i].get()] : call.args[i]->span;
      args[i] = told(block, args[i], place++, expr->span);
    }
    const Expr made =
        lang::make_call(call.callee, std::move(args), call.attrs, expr->span, expr->type);
    return close(block, made, expr, result);
  }

  Expr close(lang::Block& block, const Expr& made, const Expr& expr, std::size_t result) {
    const VariableRef variable = lang::make_variable("made", expr->type, expr->span);
    block.bindings.push_back({variable, made, expr->span});
    block.result = told(block, lang::make_var(variable, expr->span), result, expr->span);
    const Expr closed = lang::close_block(block);
    spans_[closed.get()] = expr->span;
    kept_.push_back(closed);
    return closed;
  }

  // Reads of variables from outside are its operands.
  Expr told_whole(const Expr& expr) {
    std::vector<VariableRef> operands;
    for (const VariableRef& variable : lang::free_variables(expr)) {
      if (has_floats(variable->type)) operands.push_back(variable);
    }
    const std::size_t result = add_result(expr, operands.size());
    std::size_t place = result - operands.size();
    lang::Block block;
    lang::Substitution used;
    for (const VariableRef& variable : operands) {
      owner_.places_[place].span = expr->span;
      used[variable.get()] = told(block, lang::make_var(variable), place++, expr->span);
    }
    return close(block, lang::substitute(expr, used), expr, result);
  }

  Expr result_told(const Expr& expr) {
    lang::Block block;
    return close(block, expr, expr, add_result(expr, 0));
  }

  FiniteMarks& owner_;
  std::map<const lang::ExprNode*, lang::Span> spans_;  // of what is a block now
  std::vector<Expr> kept_;
};

Expr FiniteMarks::literal(const Expr& function, const std::string&) {
  const auto& fn = lang::cast<lang::Function>(function);
  if (lang::gradient_of(fn)) return function;
  Inner inner(*this);
  return lang::without_facts(
      lang::make_function(fn.params, fn.result, inner.rewrite(fn.body), fn.type_params, fn.attrs,
                          function->span, function->type),
      {lang::FunctionFact::Compiler, lang::FunctionFact::Primitive});
}

Expr FiniteMarks::of(const Expr& typed) {
  Inner inner(*this);
  return lang::rename_bound(inner.rewrite(typed));
}

}  // namespace relay::repl
