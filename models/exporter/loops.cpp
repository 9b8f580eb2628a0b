// Functions that are loops, as nodes `Loop`.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lang/visit.h"
#include "models/exporter/loop_form.h"

namespace relay::models::exporter {

using lang::Expr;

namespace {

// Is it a use of the function?
class SelfUse {
 public:
  explicit SelfUse(const Value& self) : self_(self) {
    if (const auto* global = lang::as<lang::GlobalVar>(self.function)) name_ = &global->name;
  }
  bool is_self(const Expr& expr) const {
    if (name_) {
      const auto* global = lang::as<lang::GlobalVar>(expr);
      return global && global->name == *name_;
    }
    const auto* var = lang::as<lang::Var>(expr);
    const Value* value =
        var && self_.captured ? self_.captured->find(var->variable.get()) : nullptr;
    return value && value->kind == Value::Kind::Function && value->function == self_.function;
  }
  bool occurs_in(const Expr& expr) const {
    bool occurs = false;
    lang::visit_post_order(expr, [&](const Expr& each) { occurs = occurs || is_self(each); });
    return occurs;
  }

 private:
  const Value& self_;
  const std::string* name_ = nullptr;
};

}  // namespace

std::optional<Exporter::LoopForm> Exporter::LoopForm::find(const lang::Function& function,
                                                           const Value& callee) {
  LoopForm form;
  form.head = lang::open_block(function.body);
  const auto* choice = lang::as<lang::If>(form.head.result);
  const SelfUse self(callee);
  if (!choice || self.occurs_in(choice->condition)) return std::nullopt;
  const bool then_goes_on = self.occurs_in(choice->then_branch);
  if (then_goes_on == self.occurs_in(choice->else_branch)) return std::nullopt;
  form.goes_on = then_goes_on;
  form.condition = choice->condition;
  form.step = lang::open_block(then_goes_on ? choice->then_branch : choice->else_branch);
  form.result = then_goes_on ? choice->else_branch : choice->then_branch;
  const auto* call = lang::as<lang::Call>(form.step.result);
  if (!call || !self.is_self(call->callee)) return std::nullopt;
  const auto mentions = [&](const Expr& expr) { return self.occurs_in(expr); };
  const auto binds = [&](const lang::Binding& each) { return mentions(each.value); };
  if (std::any_of(call->args.begin(), call->args.end(), mentions) ||
      std::any_of(form.head.bindings.begin(), form.head.bindings.end(), binds) ||
      std::any_of(form.step.bindings.begin(), form.step.bindings.end(), binds))
    return std::nullopt;
  for (std::size_t k = 0; k < call->args.size(); ++k) {
    const auto* var = lang::as<lang::Var>(call->args[k]);
    form.stays.push_back(var && var->variable == function.params[k]);
  }
  return form;
}

std::vector<Value> Exporter::LoopForm::with_state(const std::vector<Value>& args,
                                                  const std::vector<Value>& state) const {
  std::vector<Value> values = args;
  std::size_t next = 0;
  for (std::size_t k = 0; k < args.size(); ++k) {
    if (!stays[k]) values[k] = with_tensors(args[k], state, next);
  }
  return values;
}

// The lines in front of the `if`, for these values of the parameters.
ScopeRef Exporter::loop_head(const LoopForm& form, const lang::Function& code, ScopeRef captured,
                             const std::vector<Value>& values) {
  Scope* const own = scope(captured);
  for (std::size_t k = 0; k < values.size(); ++k) own->variables[code.params[k].get()] = values[k];
  add_bindings(form.head, own);
  return own;
}

// Whether the loop goes on from there.
Value Exporter::loop_condition(const LoopForm& form, ScopeRef head) {
  Value condition = value_of(form.condition, head);
  if (condition.is_lost() || form.goes_on) return condition;
  if (condition.constant) {
    const bool is_over = condition.constant->bits_at(0) != 0;
    return constant_value(lang::Tensor::scalar(lang::DType::Bool, is_over ? 0 : 1), "");
  }
  materialise(condition);
  return tensor_value(graph_.node("Not", {graph_.name_of(condition)}), condition.type);
}

// What a step makes of the state; nothing where that has failed.
std::optional<std::vector<Value>> Exporter::loop_step(const LoopForm& form,
                                                      const lang::Function& code, ScopeRef head,
                                                      const std::vector<Value>& args) {
  add_bindings(form.step, head);
  std::vector<Value> next;
  const auto& call = lang::cast<lang::Call>(form.step.result);
  bool is_lost = false;
  for (std::size_t k = 0; k < args.size(); ++k) {
    const Value value = value_of(call.args[k], head);
    is_lost = is_lost || value.is_lost();
    if (is_lost || form.stays[k]) continue;
    if (!same_form(value, args[k]))
      lang::fail(lang::DiagnosticKind::Unsupported,
                 fmt::format("not supported in ONNX: a loop whose `{}` is data of another "
                             "constructor each time",
                             code.params[k]->name));
    collect_tensors(value, next);
  }
  if (is_lost) return std::nullopt;
  for (Value& each : next) materialise(each);
  return next;
}

// The graph of a step, null where that has failed; `state` becomes the tensors that it begins with.
std::shared_ptr<Graph> Exporter::loop_body(const LoopForm& form, const lang::Function& code,
                                           ScopeRef captured, const std::vector<Value>& args,
                                           std::vector<Value>& state) {
  graph_.open("loop");
  ++branches_;
  graph_.inner_input("iteration", lang::scalar_type(lang::DType::Int64));
  graph_.inner_input("goes_on", lang::scalar_type(lang::DType::Bool));
  for (std::size_t k = 0; k < args.size(); ++k) {
    std::vector<Value> own;
    if (!form.stays[k]) collect_tensors(args[k], own);
    for (const Value& each : own)
      state.push_back(tensor_value(graph_.inner_input(code.params[k]->name, each.type), each.type));
  }
  ScopeRef const head = loop_head(form, code, captured, form.with_state(args, state));
  auto next = loop_step(form, code, head, args);
  Value again =
      next ? loop_condition(form, loop_head(form, code, captured, form.with_state(args, *next)))
           : lost_value();
  if (!again.is_lost()) {
    materialise(again);
    graph_.output(again, "goes_on");
    for (std::size_t k = 0; k < state.size(); ++k) {
      (*next)[k].type = state[k].type;
      graph_.output((*next)[k], state[k].name);
    }
  }
  auto graph = graph_.close();
  --branches_;
  return again.is_lost() ? nullptr : graph;
}

Value Exporter::loop(const LoopForm& form, const lang::Function& code, ScopeRef captured,
                     std::vector<Value> args) {
  // What changes is handed on as tensors.
  std::vector<Value> start;
  for (std::size_t k = 0; k < args.size(); ++k) {
    if (form.stays[k]) continue;
    give_type(args[k], code.params[k]->type);
    collect_tensors(args[k], start);
  }
  if (start.empty())
    lang::fail(lang::DiagnosticKind::Unsupported,
               "not supported in ONNX: a loop in which nothing changes");
  Value goes_on = loop_condition(form, loop_head(form, code, captured, args));
  std::vector<Value> state;
  const auto body = loop_body(form, code, captured, args, state);
  if (!body || goes_on.is_lost()) return lost_value();
  materialise(goes_on);
  std::vector<std::string> inputs = {"", graph_.name_of(goes_on)};
  for (Value& each : start) {
    materialise(each);
    inputs.push_back(graph_.name_of(each));
  }
  const auto names = graph_.nodes("Loop", inputs, {{"body", body}}, start.size());
  std::vector<Value> last;
  for (std::size_t k = 0; k < names.size(); ++k)
    last.push_back(tensor_value(names[k], state[k].type));
  return value_of(form.result, loop_head(form, code, captured, form.with_state(args, last)));
}

}  // namespace relay::models::exporter
