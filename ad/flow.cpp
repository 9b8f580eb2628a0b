#include "ad/flow.h"

#include <algorithm>

#include <fmt/format.h>

#include "lang/call_site.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::ExprKind;
using lang::VariableRef;

bool is_named(const lang::Variable& variable) {
  std::string_view text = variable.span ? variable.span.text() : std::string_view();
  if (!text.empty() && (text[0] == '%' || text[0] == '@')) text.remove_prefix(1);
  return !text.empty() && text == variable.name;
}

namespace {

// A literal that has become a function of its own, under a name with a number.
bool is_made(std::string_view name, lang::Span span) {
  const std::size_t digits = name.find_last_not_of("0123456789");
  return digits + 1 < name.size() && name[digits] == '_' &&
         (!span || span.text().starts_with("fn"));
}

}  // namespace

// What a reference holds may be written there and read elsewhere.
bool Flow::carries(const lang::Type& type) const {
  return type && (as<lang::ReferenceType>(type) || !is_unit(tangents_.or_unit(type)));
}

void Flow::add(const Expr& from, Step step) {
  const auto* var = as<lang::Var>(from);
  if (!var || !step.to || !carries(var->variable->type) || !carries(step.to->type)) return;
  edges_[var->variable.get()].push_back({std::move(step)});
}

Flow::Code& Flow::make_code(Expr function, std::string name) {
  const auto& fn = lang::cast<lang::Function>(function);
  const VariableRef result = lang::make_variable("result", fn.body->type);
  Code& code = codes_.emplace_back(Code{std::move(function), std::move(name), result, here_});
  waiting_.push_back(&code);
  return code;
}

void Flow::enter(const lang::Function& function, const std::string& name) {
  make_code(Expr(&function), name);
  for (; !waiting_.empty(); waiting_.pop_front()) {
    here_ = waiting_.front();
    follow(lang::cast<lang::Function>(here_->function).body, here_->result);
  }
  here_ = nullptr;
}

void Flow::follow(const Expr& given, const VariableRef& sink) {
  Expr expr = given;
  while (const auto* let = as<lang::Let>(expr)) {
    follow_let(*let);
    expr = let->body;
  }
  if (!followed_.emplace(expr.get(), sink.get()).second) return;
  if (target_ && lang::place_of(expr->span).span == target_) look_at(expr);
  switch (expr->kind) {
    case ExprKind::Var:
      return add(expr, sink);
    case ExprKind::If:
      follow(lang::cast<lang::If>(expr).condition, nullptr);
      follow(lang::cast<lang::If>(expr).then_branch, sink);
      return follow(lang::cast<lang::If>(expr).else_branch, sink);
    case ExprKind::Match:
      return follow_match(lang::cast<lang::Match>(expr), sink);
    case ExprKind::Call:
      return follow_call(lang::cast<lang::Call>(expr), sink);
    case ExprKind::Function:
      return follow_literal(expr, sink);
    case ExprKind::RefWrite: {
      const auto& write = lang::cast<lang::RefWrite>(expr);
      const auto* ref = as<lang::Var>(write.ref);
      return follow(write.value, ref ? ref->variable : VariableRef());
    }
    default:
      lang::for_each_child(expr, [&](const Expr& child) { follow(child, sink); });
  }
}

void Flow::look_at(const Expr& found) {
  around_target_ = around_target_ ? around_target_ : here_;
  for (const VariableRef& variable : lang::free_variables(found)) {
    if (carries(variable->type)) edges_[variable.get()].push_back({});
  }
}

void Flow::follow_let(const lang::Let& let) {
  if (let.value->kind == ExprKind::Function || let.value->kind == ExprKind::GlobalVar) {
    if (Code* code = code_of(let.value)) {
      literals_[let.variable.get()] = code;
      if (code->name.empty() && is_named(*let.variable)) code->name = let.variable->name;
    }
  }
  if (target_ && lang::place_of(let.span).span == target_) look_at(let.value);
  follow(let.value, let.variable);
}

void Flow::follow_match(const lang::Match& match, const VariableRef& sink) {
  follow(match.scrutinee, nullptr);
  for (const lang::Clause& clause : match.clauses) {
    bind(match.scrutinee, clause.pattern, match.span, {});
    follow(clause.body, sink);
  }
}

void Flow::bind(const Expr& value, const lang::PatternRef& pattern, lang::Span span,
                const std::string& field) {
  if (pattern->variable) {
    Step step = {pattern->variable.get()};
    if (!field.empty()) {
      const lang::Span own = pattern->variable->span;
      step = {step.to, own ? own : span, fmt::format("`{}`", field),
              fmt::format("its field `{}`", field)};
    }
    add(value, std::move(step));
  }
  for (std::size_t i = 0; i < pattern->fields.size(); ++i) {
    const bool is_record = pattern->constructor && i < pattern->constructor->field_names.size();
    bind(value, pattern->fields[i], span, is_record ? pattern->constructor->field_names[i] : field);
  }
}

// What a literal captures is in its value.
void Flow::follow_literal(const Expr& literal, const VariableRef& sink) {
  for (const VariableRef& variable : lang::free_variables(literal))
    add(lang::make_var(variable), sink);
  code_of(literal);
}

Flow::Code* Flow::code_of(const Expr& callee) {
  if (const auto* var = as<lang::Var>(callee)) {
    const auto found = literals_.find(var->variable.get());
    return found == literals_.end() ? nullptr : found->second;
  }
  std::string key;
  if (const auto* global = as<lang::GlobalVar>(callee)) {
    if (!program_.is_function(global->name)) return nullptr;
    key = global->name + " : " + lang::to_string(global->type);
  } else if (callee->kind == ExprKind::Function) {
    key = fmt::format("{}", static_cast<const void*>(callee.get()));
  } else {
    return nullptr;
  }
  if (const auto found = globals_.find(key); found != globals_.end()) return found->second;
  Expr function = callee;
  std::string name;
  if (const auto* global = as<lang::GlobalVar>(callee)) {
    const auto core = lang::capture([&] { return program_.function(global->name, global->type); });
    if (!core || (*core)->kind != ExprKind::Function) return nullptr;
    function = *core;
    if (!is_made(global->name, function->span)) name = global->name;
  }
  Code& code = make_code(std::move(function), std::move(name));
  globals_.emplace(std::move(key), &code);
  return &code;
}

void Flow::follow_call(const lang::Call& call, const VariableRef& sink) {
  if (const auto* op = as<lang::Operator>(call.callee)) {
    for (const Expr& arg : call.args) follow(arg, op->op->differentiable ? sink : VariableRef());
    return;
  }
  if (Code* callee = code_of(call.callee)) return add_call(*callee, call, sink);
  add(call.callee, sink);
  for (const Expr& arg : call.args) follow(arg, sink);
}

void Flow::add_call(Code& callee, const lang::Call& call, const VariableRef& sink) {
  if (!callee.call && &callee != here_) {
    callee.caller = here_;
    callee.call = call.span;
  }
  add(call.callee, sink);
  const auto& params = lang::cast<lang::Function>(callee.function).params;
  for (std::size_t i = 0; i < call.args.size() && i < params.size(); ++i) {
    const auto* var = as<lang::Var>(call.args[i]);
    if (!var) {
      follow(call.args[i], nullptr);
      continue;
    }
    // What is handed over whole is known there by what it is here.
    const auto known = literals_.find(var->variable.get());
    if (known != literals_.end()) literals_.emplace(params[i].get(), known->second);
    const std::string name = callee.name.empty() ? "a function" : fmt::format("`{}`", callee.name);
    add(call.args[i], {params[i].get(), call.span, name, fmt::format("goes into {}", name)});
    if (sink && carries(var->variable->type) && carries(sink->type))
      edges_[var->variable.get()].push_back({{sink.get()}, &callee, i});
  }
}

bool Flow::reaches(const Code& code, std::size_t index) const {
  const auto [known, is_new] = reaches_.emplace(std::pair(&code, index), false);
  if (!is_new) return known->second;
  const auto& params = lang::cast<lang::Function>(code.function).params;
  std::unordered_set<const lang::Variable*> seen = {params[index].get()};
  std::deque<const lang::Variable*> queue = {params[index].get()};
  for (; !queue.empty(); queue.pop_front()) {
    if (queue.front() == code.result.get()) return reaches_[{&code, index}] = true;
    const auto edges = edges_.find(queue.front());
    if (edges == edges_.end()) continue;
    for (const Edge& edge : edges->second) {
      if (edge.step.to && is_open(edge) && seen.insert(edge.step.to).second)
        queue.push_back(edge.step.to);
    }
  }
  return false;
}

std::vector<Flow::Step> Flow::way(const std::vector<VariableRef>& from) const {
  std::unordered_map<const lang::Variable*, std::pair<const lang::Variable*, const Step*>> before;
  std::deque<const lang::Variable*> queue;
  for (const VariableRef& variable : from) {
    if (before.emplace(variable.get(), std::pair(nullptr, nullptr)).second)
      queue.push_back(variable.get());
  }
  for (; !queue.empty(); queue.pop_front()) {
    const auto edges = edges_.find(queue.front());
    if (edges == edges_.end()) continue;
    for (const Edge& edge : edges->second) {
      if (edge.step.to) {
        if (is_open(edge) &&
            before.emplace(edge.step.to, std::pair(queue.front(), &edge.step)).second)
          queue.push_back(edge.step.to);
        continue;
      }
      std::vector<Step> steps = {edge.step};
      for (const lang::Variable* at = queue.front(); at;) {
        const auto [previous, step] = before.at(at);
        steps.push_back(step ? *step : Step{at});
        at = previous;
      }
      std::reverse(steps.begin(), steps.end());
      return steps;
    }
  }
  return {};
}

std::vector<lang::Span> Flow::calls() const {
  std::vector<lang::Span> calls;
  std::unordered_set<const Code*> seen;
  for (const Code* code = around_target_; code && seen.insert(code).second; code = code->caller) {
    if (code->call) calls.push_back(code->call);
  }
  return calls;
}

std::string Flow::owner(const lang::Variable& param) const {
  for (const Code& code : codes_) {
    for (const VariableRef& own : lang::cast<lang::Function>(code.function).params) {
      if (own.get() == &param) return code.name;
    }
  }
  return {};
}

}  // namespace relay::ad
