#include "repl/instrument.h"

#include <cctype>

#include <fmt/format.h>

#include "lang/build.h"
#include "lang/op.h"
#include "lang/visit.h"
#include "opt/passes.h"

namespace relay::repl {

using lang::as;
using lang::Expr;
using lang::ExprKind;
using lang::OpDef;
using lang::Type;
using lang::VariableRef;
namespace build = lang::build;

namespace {

const OpDef& trace_operator(std::string_view name);

Expr trace_call(std::string_view name, std::vector<Expr> args, const lang::AttrsRef& attrs,
                const Type& type) {
  std::vector<Type> types;
  for (const Expr& arg : args) types.push_back(arg->type);
  const Expr callee =
      lang::make_operator(&trace_operator(name), {}, lang::function_type(std::move(types), type));
  return lang::make_call(callee, std::move(args), attrs, {}, type);
}

OpDef made_operator(std::string_view name, std::size_t inputs) {
  OpDef def;
  def.name = std::string(name);
  def.doc = "Tells what is computed.";
  def.level = 0;
  for (std::size_t i = 0; i < inputs; ++i) def.inputs.push_back({i == 0 ? "value" : "number", ""});
  def.attrs.push_back({"place", lang::AttrKind::Int, lang::AttrValue(0), "where"});
  def.effect = lang::Effect::Print;
  def.type_rule = [](lang::TypeCall& call) {
    call.returns(call.args[0]);
    return lang::RuleOutcome::Solved;
  };
  // What stands behind a derivative has one: nothing more is told.
  def.gradient = [](const lang::GradientCall& call) -> std::vector<Expr> {
    return {call.dout, nullptr};
  };
  def.tangent = [](const lang::TangentCall& call) { return call.tangents[0]; };
  return def;
}

const OpDef& trace_operator(std::string_view name) {
  static const OpDef adjoint = made_operator(kTraceAdjoint, 2);
  static const OpDef tangent = made_operator(kTraceTangent, 2);
  static const OpDef value = [] {
    OpDef def = made_operator(kTraceValue, 2);
    def.gradient = [](const lang::GradientCall& call) -> std::vector<Expr> {
      return {trace_call(kTraceAdjoint, {call.dout, call.args[1]}, call.attrs, call.dout->type),
              nullptr};
    };
    def.tangent = [](const lang::TangentCall& call) -> Expr {
      const Expr& tangent = call.tangents[0];
      if (!tangent) return nullptr;
      return trace_call(kTraceTangent, {tangent, call.args[1]}, call.attrs, tangent->type);
    };
    return def;
  }();
  static const OpDef step = [] {
    OpDef def = made_operator(kTraceStep, 1);
    def.type_rule = [](lang::TypeCall& call) {
      call.returns(lang::scalar_type(lang::DType::Int64));
      return lang::RuleOutcome::Solved;
    };
    def.differentiable = false;
    def.gradient = {};
    def.tangent = {};
    return def;
  }();
  static const OpDef mark = [] {
    OpDef def = made_operator(kTraceMark, 0);
    def.type_rule = [](lang::TypeCall& call) {
      call.returns(lang::unit_type());
      return lang::RuleOutcome::Solved;
    };
    def.differentiable = false;
    def.gradient = {};
    def.tangent = {};
    return def;
  }();
  if (name == kTraceAdjoint) return adjoint;
  if (name == kTraceTangent) return tangent;
  if (name == kTraceValue) return value;
  return name == kTraceStep ? step : mark;
}

// On one line.
std::string line_of(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool is_space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!is_space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  return line;
}

// A check that inference has put in.
bool is_check(const Expr& expr) {
  const auto* call = as<lang::Call>(expr);
  const auto* op = call ? as<lang::Operator>(call->callee) : nullptr;
  return op && op->op->effect == lang::Effect::CheckDims;
}

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
        block.bindings.push_back({variable, owner_.literal(binding.value), binding.span});
      } else if (is_inside(binding.value->span, pattern) || is_check(binding.value)) {
        block.bindings.push_back(binding);
      } else if (variable->name == "_") {
        statement(block, binding);
      } else if (const auto* made = as<lang::RefCreate>(binding.value)) {
        const std::string label = variable->name + " = " + text_of(binding.value);
        const Expr content = told_if_possible(block, value(made->value), label);
        block.bindings.push_back(
            {variable, lang::make_ref_create(content, binding.value->span, binding.value->type),
             binding.span});
      } else {
        pattern = variable->name.empty() ? variable->span : lang::Span();
        const std::string name = pattern ? line_of(pattern.text()) : variable->name;
        tell(block, variable, value(binding.value), name + " = " + text_of(binding.value),
             TracePlace::Kind::Value);
      }
    }
    block.result = result(given.result, block, is_tail);
    return lang::close_block(block);
  }

  // Binds `variable` to the value, and tells it.
  void tell(lang::Block& block, const VariableRef& variable, const Expr& value,
            const std::string& label, TracePlace::Kind kind, bool is_entry = false) {
    if (holds_function(value->type)) {
      block.bindings.push_back({variable, value, variable->span});
      return;
    }
    const VariableRef raw = lang::make_variable(variable->name, value->type, variable->span);
    block.bindings.push_back({raw, value, variable->span});
    block.bindings.push_back(
        {variable, told(block, lang::make_var(raw), label, kind, is_entry), variable->span});
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
        return owner_.literal(expr);
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
      const Expr written = told_if_possible(block, write->value, text_of(expr));
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
    return expr->span ? line_of(expr->span.text()) : std::string("…");
  }

  static lang::AttrsRef place(std::int64_t number) {
    return lang::make_attrs({{"place", number, {}}});
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
    if (call && (call->callee->kind == ExprKind::Var || call->callee->kind == ExprKind::Operator))
      mark(block, TracePlace::Kind::Choice, text_of(binding.value));
    block.bindings.push_back({binding.variable, value(binding.value), binding.span});
  }

  // The value as an atom, told; or only that it is computed, where it holds functions.
  Expr told_if_possible(lang::Block& block, const Expr& value, const std::string& label) {
    const VariableRef raw = lang::make_variable("content", value->type, value->span);
    block.bindings.push_back({raw, value, value->span});
    if (holds_function(value->type)) {
      mark(block, TracePlace::Kind::Choice, label);
      return lang::make_var(raw);
    }
    const VariableRef content = lang::make_variable("content", value->type, value->span);
    const Expr seen = told(block, lang::make_var(raw), label, TracePlace::Kind::Value, false);
    block.bindings.push_back({content, seen, value->span});
    return lang::make_var(content);
  }

  Expr step(lang::Block& block, const Expr& value, std::int64_t number) {
    const Type type = lang::scalar_type(lang::DType::Int64);
    const VariableRef event = lang::make_variable("event", type);
    block.bindings.push_back({event, trace_call(kTraceStep, {value}, place(number), type), {}});
    return lang::make_var(event);
  }

  Expr told(lang::Block& block, const Expr& value, const std::string& label, TracePlace::Kind kind,
            bool is_entry) {
    const std::int64_t number = owner_.add_place(kind, label, is_entry);
    const Expr event = step(block, value, number);
    return trace_call(kTraceValue, {value, event}, place(number), value->type);
  }

  void mark(lang::Block& block, TracePlace::Kind kind, const std::string& label) {
    const VariableRef unit = lang::make_variable("_", lang::unit_type());
    block.bindings.push_back(
        {unit,
         trace_call(kTraceMark, {}, place(owner_.add_place(kind, label)), lang::unit_type()),
         {}});
  }

  Expr result(const Expr& expr, lang::Block& block, bool is_tail) {
    if (const auto* branch = as<lang::If>(expr)) {
      const VariableRef condition =
          lang::make_variable("condition", branch->condition->type, branch->condition->span);
      block.bindings.push_back({condition, value(branch->condition), branch->condition->span});
      step(block, lang::make_var(condition),
           owner_.add_place(TracePlace::Kind::Choice, "if " + text_of(branch->condition)));
      return lang::make_if(lang::make_var(condition), this->block(branch->then_branch, is_tail),
                           this->block(branch->else_branch, is_tail), expr->span, expr->type);
    }
    if (const auto* match = as<lang::Match>(expr)) {
      std::vector<lang::Clause> clauses;
      for (const lang::Clause& clause : match->clauses) {
        lang::Block taken;
        if (match->clauses.size() > 1 && clause.pattern->span) {
          mark(taken, TracePlace::Kind::Choice,
               text_of(match->scrutinee) + " is " + line_of(clause.pattern->span.text()));
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
      std::vector<Expr> args;
      for (const Expr& arg : call->args) args.push_back(value(arg));
      mark(block, TracePlace::Kind::Choice, text_of(expr));
      return call_of(*call, *global, copy, std::move(args), expr);
    }
    const Expr inner = value(expr);
    const bool is_seen = build::is_atom(expr) || expr->kind == ExprKind::RefWrite;
    if (is_seen || holds_function(expr->type)) return inner;
    const auto* local = call ? as<lang::Var>(call->callee) : nullptr;
    if (local && is_tail) return inner;  // a loop of a local function
    const VariableRef raw = lang::make_variable("result", inner->type, expr->span);
    block.bindings.push_back({raw, inner, expr->span});
    return told(block, lang::make_var(raw), text_of(expr), TracePlace::Kind::Value, false);
  }

  Instrumenter& owner_;
};

std::int64_t Instrumenter::add_place(TracePlace::Kind kind, std::string label, bool is_entry) {
  places_.push_back({kind, std::move(label), is_entry});
  return static_cast<std::int64_t>(places_.size()) - 1;
}

Expr Instrumenter::literal(const Expr& function) {
  const auto& fn = lang::cast<lang::Function>(function);
  if (lang::gradient_of(fn)) return function;
  Inner inner(*this);
  std::vector<VariableRef> params;
  lang::Block block;
  bool is_entry = true;
  for (const VariableRef& param : fn.params) {
    params.push_back(lang::make_variable(param->name, param->type, param->span, param->attrs));
    inner.tell(block, param, lang::make_var(params.back()), param->name,
               TracePlace::Kind::Parameter, is_entry);
    is_entry = false;
  }
  block.result = inner.block(fn.body, true);
  return lang::make_function(std::move(params), fn.result, lang::close_block(block), fn.type_params,
                             fn.attrs, function->span, function->type);
}

std::string Instrumenter::copy_of(const lang::GlobalVar& global) {
  const lang::Definition* definition = module_.find(global.name);
  const auto* fn = definition ? as<lang::Function>(definition->function) : nullptr;
  if (!fn || !definition->span || lang::gradient_of(*fn)) return {};
  const lang::Definition* owner =
      definition->instance_of.empty() ? definition : module_.find(definition->instance_of);
  if (owner && owner->origin == lang::Origin::Prelude) return {};
  const std::string key = global.name + " : " + lang::to_string(global.type);
  if (const auto found = copies_.find(key); found != copies_.end()) return found->second;
  const std::string name = pipeline_.reserve_name(global.name + "_traced");
  copies_.emplace(key, name);
  const Expr typed = checker_.specialise(global.name, global.type).or_throw();
  pipeline_.add_function(name, pipeline_.to_core(lang::rename_bound(literal(typed))));
  return name;
}

Expr Instrumenter::instrumented(const Expr& function) {
  if (const auto* global = as<lang::GlobalVar>(function)) {
    const std::string copy = copy_of(*global);
    return copy.empty() ? function : lang::make_global_var(copy, function->span, function->type);
  }
  return function->kind == ExprKind::Function ? lang::rename_bound(literal(function)) : function;
}

}  // namespace relay::repl
