// After Relay's device planner: constraints are collected, what they leave open is settled, and
// then the program is written anew, with the devices in it.

#include "opt/plan_devices.h"

#include <unordered_map>
#include <utility>
#include <vector>

#include "lang/build.h"
#include "lang/call_site.h"
#include "lang/function_fact.h"
#include "lang/visit.h"
#include "opt/device_constraints.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;
using lang::VirtualDevice;

namespace {

Expr annotated(const Expr& body, const OnDevice& as) {
  return lang::with_span(lang::build::op("on_device", {body},
                                         {{"virtual_device", lang::attr_of(as.device)},
                                          {"constrain_result", as.constrains_result},
                                          {"constrain_body", as.constrains_body}}),
                         body->span);
}

// Moves annotations to where they say more: that a tuple is computed somewhere to what is taken out
// of it, that the end of a block is to all of it, and that a body is to its function.
class Raiser final : public lang::Rewriter {
 protected:
  Expr pre(const Expr& expr) override { return lang::is_group(expr) ? expr : Expr(); }

  Expr post(const Expr& expr) override {
    if (const auto* projection = as<lang::Projection>(expr)) {
      const auto tuple = of_body(projection->tuple);
      if (!tuple) return expr;
      return annotated(
          lang::make_projection(tuple->body, projection->index, expr->span, expr->type), *tuple);
    }
    if (const auto* let = as<lang::Let>(expr)) {
      const auto body = of_body(let->body);
      if (!body) return expr;
      return annotated(
          lang::make_let(let->variable, let->value, body->body, expr->span, expr->type), *body);
    }
    const auto* fn = as<lang::Function>(expr);
    const auto body = fn ? of_body(fn->body) : std::nullopt;
    if (!body || device_in(fn->attrs)) return expr;
    return lang::make_function(
        fn->params, fn->result, body->body, fn->type_params,
        lang::with_fact(lang::FunctionFact::VirtualDevice, lang::attr_of(body->device), fn->attrs),
        expr->span, expr->type);
  }

 private:
  static std::optional<OnDevice> of_body(const Expr& expr) {
    auto annotation = on_device_of(expr);
    const bool is_moved = annotation && annotation->is_of_body() && !annotation->device.is_open();
    return is_moved ? annotation : std::nullopt;
  }
};

// What is bound or defined elsewhere has its device there, and operators and constructors none.
bool says_its_device(const Expr& expr) {
  return as<lang::Var>(expr) || as<lang::GlobalVar>(expr) || as<lang::Function>(expr) ||
         as<lang::Operator>(expr) || as<lang::ConstructorRef>(expr);
}

Expr on_device_fixed(const Expr& expr, const VirtualDevice& device) {
  if (device.is_open() || says_its_device(expr)) return expr;
  const auto inner = on_device_of(expr);
  if (inner && inner->constrains_body && inner->constrains_result && inner->device == device)
    return expr;
  return annotated(expr, {expr, device, true, true});
}

Expr copied_between(const Expr& expr, const VirtualDevice& from, const VirtualDevice& to) {
  return lang::with_span(lang::build::op("device_copy", {on_device_fixed(expr, from)},
                                         {{"src_virtual_device", lang::attr_of(from)},
                                          {"dst_virtual_device", lang::attr_of(to)}}),
                         expr->span);
}

// Writes a function with its devices. What becomes of a node is on the device that the node is on.
class Placer final : public lang::Rewriter {
 public:
  explicit Placer(DeviceConstraints& constraints) : constraints_(constraints) {}

 protected:
  Expr pre(const Expr& expr) override {
    if (!lang::is_group(expr)) {
      before_.push_back(expr);
      const auto* fn = as<lang::Function>(expr);
      if (fn) {
        for (const auto& param : fn->params) params_.insert(param.get());
      }
      return nullptr;
    }
    return expr;
  }

  lang::VariableRef rewrite_variable(const lang::VariableRef& variable) override {
    if (!params_.contains(variable.get())) return variable;
    return lang::make_variable(variable->name, variable->type, variable->span,
                               with_device(variable->attrs, constraints_.device(variable)));
  }

  // `expr` is the node with its parts placed; what it was is needed to know where these are.
  Expr post(const Expr& expr) override {
    const Expr before = std::move(before_.back());
    before_.pop_back();
    RELAY_CHECK(before->kind == expr->kind, "a node is finished when all inside of it are");
    return placed(before, expr);
  }

 private:
  Expr placed(const Expr& before, const Expr& expr) {
    const VirtualDevice here = constraints_.device(before);
    switch (before->kind) {
      case ExprKind::Call:
        return placed_call(lang::cast<lang::Call>(before), lang::cast<lang::Call>(expr), here);
      case ExprKind::Function:
        return placed_function(before, lang::cast<lang::Function>(expr), here);
      case ExprKind::Let: {
        const auto& was = lang::cast<lang::Let>(before);
        const auto& let = lang::cast<lang::Let>(expr);
        const VirtualDevice device = constraints_.device(was.variable);
        const Expr value = on_device_fixed(child(was.value, let.value, device, device), device);
        const Expr body = child(was.body, let.body, here, here);
        if (value == let.value && body == let.body) return expr;
        return lang::make_let(let.variable, value, body, expr->span, expr->type);
      }
      default:
        return with_children(before, expr, here);
    }
  }

  // Every other node has its parts where it is.
  Expr with_children(const Expr& before, const Expr& expr, const VirtualDevice& here) {
    std::vector<Expr> was;
    lang::for_each_child(before, [&](const Expr& each) { was.push_back(each); });
    std::vector<Expr> now;
    lang::for_each_child(expr, [&](const Expr& each) { now.push_back(each); });
    std::unordered_map<const lang::ExprNode*, Expr> moved;
    for (std::size_t i = 0; i < was.size(); ++i) {
      Expr placed = child(was[i], now[i], here, here);
      if (!(placed == now[i])) moved[now[i].get()] = std::move(placed);
    }
    return moved.empty() ? expr : replaced_children(expr, moved);
  }

  static Expr replaced_children(const Expr& expr,
                                const std::unordered_map<const lang::ExprNode*, Expr>& by) {
    class Replacer final : public lang::Rewriter {
     public:
      Replacer(const Expr& root, const std::unordered_map<const lang::ExprNode*, Expr>& by)
          : root_(root), by_(by) {}

     protected:
      Expr pre(const Expr& node) override {
        if (node == root_) return nullptr;
        const auto found = by_.find(node.get());
        return found == by_.end() ? node : found->second;
      }

     private:
      const Expr& root_;
      const std::unordered_map<const lang::ExprNode*, Expr>& by_;
    };
    return Replacer(expr, by).rewrite(expr);
  }

  // A part, wanted on a device in code that is on another, or on the same.
  Expr child(const Expr& was, const Expr& now, const VirtualDevice& around,
             const VirtualDevice& wanted) {
    if (as<lang::Operator>(now) || as<lang::ConstructorRef>(now)) return now;
    const VirtualDevice has = constraints_.device(was);
    const Expr there = has == wanted ? now : copied_between(now, has, wanted);
    return wanted == around ? there : on_device_fixed(there, wanted);
  }

  Expr placed_call(const lang::Call& was, const lang::Call& call, const VirtualDevice& here) {
    const Expr before(&was);
    if (on_device_of(before)) return child(was.args[0], call.args[0], here, here);
    if (const auto copy = device_copy_of(before); copy && copy->from == copy->to)
      return child(was.args[0], call.args[0], here, here);
    const std::vector<VirtualDevice> wanted = constraints_.wanted_of_arguments(was);
    std::vector<Expr> args;
    for (std::size_t i = 0; i < call.args.size(); ++i)
      args.push_back(child(was.args[i], call.args[i], here, i < wanted.size() ? wanted[i] : here));
    const Expr callee = child(was.callee, call.callee, here, here_of(was.callee, here));
    if (args == call.args && callee == call.callee) return Expr(&call);
    return lang::make_call(callee, std::move(args), call.attrs, call.span, call.type, call.algebra);
  }

  // A function is called where it is: that its result is elsewhere than the call's does not move
  // it.
  VirtualDevice here_of(const Expr& callee, const VirtualDevice& here) {
    return as<lang::Operator>(callee) || as<lang::ConstructorRef>(callee)
               ? here
               : constraints_.device(callee);
  }

  Expr placed_function(const Expr& before, const lang::Function& fn, const VirtualDevice& here) {
    const auto& was = lang::cast<lang::Function>(before);
    return lang::make_function(fn.params, fn.result, child(was.body, fn.body, here, here),
                               fn.type_params, with_device(fn.attrs, here), fn.span, fn.type);
  }

  static lang::AttrsRef with_device(const lang::AttrsRef& attrs, const VirtualDevice& device) {
    if (device_in(attrs) == device) return attrs;
    std::vector<lang::Attr> others;
    if (attrs) {
      for (const lang::Attr& attr : attrs->list) {
        if (&attr.value != lang::find_fact(attrs, lang::FunctionFact::VirtualDevice))
          others.push_back(attr);
      }
    }
    const lang::AttrsRef kept = others.empty() ? nullptr : lang::make_attrs(std::move(others));
    if (device.is_open()) return kept;
    return lang::with_fact(lang::FunctionFact::VirtualDevice, lang::attr_of(device), kept);
  }

  DeviceConstraints& constraints_;
  std::vector<Expr> before_;
  lang::PointerMap<lang::Variable, bool> params_;
};

}  // namespace

void plan_devices(PassProgram& program, const DeviceDefaults& defaults) {
  program.each([](const Expr& fn) { return Raiser().rewrite(fn); });
  DeviceConstraints constraints(program, defaults.usual, defaults.host);
  const auto each = [&](const auto& step) {
    for (const auto& entry : program.functions()) {
      if (entry.is_typed()) step(entry.function);
    }
  };
  each([&](const Expr& fn) { constraints.read(fn); });
  each([&](const Expr& fn) { constraints.join_free(fn); });
  each([&](const Expr& fn) { constraints.settle(fn); });
  program.each_at_once(
      [&](const PassProgram::Entry& entry) { return Placer(constraints).rewrite(entry.function); });
}

}  // namespace relay::opt
