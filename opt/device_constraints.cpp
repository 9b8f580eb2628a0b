#include "opt/device_constraints.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "lang/function_fact.h"
#include "lang/named_op.h"
#include "lang/visit.h"
#include "opt/definitions.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;
using lang::VirtualDevice;
using Id = DeviceDomains::Id;

namespace {

const lang::NamedOp kOnDevice("on_device");
const lang::NamedOp kDeviceCopy("device_copy");

// Operators that read shapes and sizes, which the host has, or give them.
struct HostOperands {
  lang::NamedOp op;
  std::uint32_t inputs;  // a bit for each
  bool is_result;
};
const std::array kHostOperands = {
    HostOperands{lang::NamedOp("memory.alloc_storage"), 0b111, false},
    HostOperands{lang::NamedOp("memory.alloc_tensor"), 0b110, false},
    HostOperands{lang::NamedOp("vm.reshape_tensor"), 0b010, false},
    HostOperands{lang::NamedOp("vm.shape_of"), 0, true},
};

VirtualDevice device_attr(const lang::Attrs& attrs, std::string_view key) {
  const lang::AttrValue* value = attrs.find(key);
  return value ? lang::virtual_device_of(*value).value_or(VirtualDevice()) : VirtualDevice();
}

lang::AttrsRef all_attrs(const lang::Call& call) {
  return lang::complete_attrs(*lang::cast<lang::Operator>(call.callee).op, call.attrs, call.span);
}

// Each node once, and none inside of a group, which is one operator.
void visit_outside_groups(const Expr& root, const std::function<void(const Expr&)>& visit) {
  lang::PointerMap<lang::ExprNode, bool> seen;
  std::vector<Expr> open{root};
  while (!open.empty()) {
    const Expr expr = std::move(open.back());
    open.pop_back();
    if (!seen.insert(expr.get())) continue;
    visit(expr);
    if (lang::is_group(expr)) continue;
    const std::size_t first = open.size();
    lang::for_each_child(expr, [&](const Expr& child) { open.push_back(child); });
    std::reverse(open.begin() + static_cast<std::ptrdiff_t>(first), open.end());
  }
}

}  // namespace

std::optional<OnDevice> on_device_of(const Expr& expr) {
  const lang::Call* call = call_of(expr, kOnDevice);
  if (!call) return std::nullopt;
  const lang::AttrsRef attrs = all_attrs(*call);
  return OnDevice{call->args[0], device_attr(*attrs, "virtual_device"),
                  attrs->get_bool("constrain_result"), attrs->get_bool("constrain_body")};
}

std::optional<DeviceCopy> device_copy_of(const Expr& expr) {
  const lang::Call* call = call_of(expr, kDeviceCopy);
  if (!call) return std::nullopt;
  const lang::AttrsRef attrs = all_attrs(*call);
  return DeviceCopy{call->args[0], device_attr(*attrs, "src_virtual_device"),
                    device_attr(*attrs, "dst_virtual_device")};
}

std::optional<VirtualDevice> device_in(const lang::AttrsRef& attrs) {
  const lang::AttrValue* value = lang::find_fact(attrs, lang::FunctionFact::VirtualDevice);
  return value ? lang::virtual_device_of(*value) : std::nullopt;
}

DeviceConstraints::DeviceConstraints(PassProgram& program, VirtualDevice usual, VirtualDevice host)
    : program_(program), usual_(std::move(usual)), host_(std::move(host)) {}

Id DeviceConstraints::domain_of(const lang::VariableRef& variable) {
  if (const Id* known = variables_.find(variable.get())) return *known;
  return variables_[variable.get()] = domains_.fresh(variable->type);
}

Id DeviceConstraints::domain_of(const Expr& expr) {
  if (const auto* var = as<lang::Var>(expr)) return domain_of(var->variable);
  if (const auto* global = as<lang::GlobalVar>(expr)) {
    const auto* entry = program_.find(global->name);
    if (entry && entry->is_typed() && lang::equal(entry->function->type, expr->type))
      return domain_of(entry->function);
  }
  if (const Id* known = expressions_.find(expr.get())) return *known;
  keep_alive_.push_back(expr);
  return expressions_[expr.get()] = domains_.fresh(expr->type);
}

Id DeviceConstraints::callee_of_operator(const lang::Call& call, const lang::OpDef& op) {
  const auto* const host = std::find_if(kHostOperands.begin(), kHostOperands.end(),
                                        [&](const HostOperands& each) { return each.op.is(op); });
  const Id here = domains_.fresh(nullptr);
  const Id at_host = domains_.fixed(nullptr, host_, {});
  std::vector<Id> params;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const bool is_read_there = host != kHostOperands.end() && ((host->inputs >> i) & 1U) != 0;
    params.push_back(is_read_there ? at_host : here);
  }
  if (host == kHostOperands.end()) return domains_.function(std::move(params), here);
  if (host->is_result) return domains_.function(std::move(params), at_host);
  const auto device = call.attrs ? device_attr(*call.attrs, "virtual_device") : VirtualDevice();
  domains_.unify(here, domains_.fixed(nullptr, device, call.span), call.span);
  return domains_.function(std::move(params), here);
}

Id DeviceConstraints::callee_of(const lang::Call& call) {
  if (const Id* known = callees_.find(&call)) return *known;
  const Expr expr(&call);
  Id callee = 0;
  if (const auto annotated = on_device_of(expr)) {
    const auto place = [&](bool is_fixed) {
      return is_fixed ? domains_.fixed(call.type, annotated->device, call.span)
                      : domains_.fresh(call.type);
    };
    const Id body = place(annotated->constrains_body);
    callee = domains_.function({body}, place(annotated->constrains_result));
  } else if (const auto copy = device_copy_of(expr)) {
    const Id from = domains_.fixed(call.type, copy->from, call.span);
    callee = domains_.function({from}, domains_.fixed(call.type, copy->to, call.span));
  } else if (const auto* op = as<lang::Operator>(call.callee)) {
    callee = callee_of_operator(call, *op->op);
  } else if (call.callee->kind == ExprKind::ConstructorRef) {
    const Id here = domains_.fresh(nullptr);
    callee = domains_.function(std::vector<Id>(call.args.size(), here), here);
  } else {
    callee = domain_of(call.callee);
  }
  return callees_[&call] = callee;
}

void DeviceConstraints::read_call(const Expr& expr) {
  const auto& call = lang::cast<lang::Call>(expr);
  const Id callee = callee_of(call);
  if (!domains_.is_function(callee)) {  // a value of the place of all that it is made of
    for (const Expr& arg : call.args) domains_.unify(callee, domain_of(arg), arg->span);
    return domains_.unify(callee, domain_of(expr), expr->span);
  }
  const std::vector<Id> params = domains_.params(callee);
  for (std::size_t i = 0; i < call.args.size() && i < params.size(); ++i)
    domains_.unify(domain_of(call.args[i]), params[i], call.args[i]->span);
  domains_.unify(domain_of(expr), domains_.result(callee), expr->span);
}

void DeviceConstraints::read_function(const Expr& expr) {
  const auto& fn = lang::cast<lang::Function>(expr);
  const Id id = domain_of(expr);
  RELAY_CHECK(domains_.is_function(id), "a function has the type of one");
  const std::vector<Id> params = domains_.params(id);
  const Id result = domains_.result(id);
  for (std::size_t i = 0; i < fn.params.size(); ++i) {
    const lang::VariableRef& param = fn.params[i];
    domains_.unify(domain_of(param), params[i], param->span);
    if (const auto device = device_in(param->attrs))
      domains_.unify(params[i], domains_.fixed(nullptr, *device, param->span), param->span);
  }
  if (const auto device = device_in(fn.attrs))
    domains_.unify(result, domains_.fixed(nullptr, *device, expr->span), expr->span);
  if (!lang::is_group(expr)) domains_.unify(domain_of(fn.body), result, fn.body->span);
}

void DeviceConstraints::read_match(const Expr& expr) {
  const auto& match = lang::cast<lang::Match>(expr);
  const Id here = domain_of(match.scrutinee);
  for (const lang::Clause& clause : match.clauses) {
    lang::for_each_variable(clause.pattern, [&](const lang::VariableRef& variable) {
      domains_.unify(here, domain_of(variable), variable->span);
    });
    domains_.unify(domain_of(expr), domain_of(clause.body), clause.body->span);
  }
  domains_.unify(here, domain_of(expr), expr->span);
}

void DeviceConstraints::read_node(const Expr& expr) {
  switch (expr->kind) {
    case ExprKind::Call:
      return read_call(expr);
    case ExprKind::Function:
      return read_function(expr);
    case ExprKind::Match:
      return read_match(expr);
    case ExprKind::Let: {
      const auto& let = lang::cast<lang::Let>(expr);
      domains_.unify(domain_of(let.variable), domain_of(let.value), let.value->span);
      return domains_.unify(domain_of(expr), domain_of(let.body), let.body->span);
    }
    case ExprKind::Var:
    case ExprKind::GlobalVar:
    case ExprKind::Constant:
    case ExprKind::Literal:
    case ExprKind::Operator:
    case ExprKind::ConstructorRef:
    case ExprKind::DimTerm:
      return;
    case ExprKind::Tuple:
    case ExprKind::Projection:
    case ExprKind::If:
    case ExprKind::RefCreate:
    case ExprKind::RefRead:
    case ExprKind::RefWrite:
    case ExprKind::Comprehension:
    case ExprKind::Reduction:
    case ExprKind::Index:
    case ExprKind::ScatterReduce:
    case ExprKind::Primitive:
    case ExprKind::Differentiate:
      break;
  }
  // Works in one place, and gives what it has there.
  lang::for_each_binder(expr, [&](const lang::VariableRef& variable) {
    domains_.unify(domain_of(expr), domain_of(variable), expr->span);
  });
  lang::for_each_child(expr, [&](const Expr& child) {
    domains_.unify(domain_of(expr), domain_of(child), child->span);
  });
}

void DeviceConstraints::read(const Expr& function) {
  visit_outside_groups(function, [this](const Expr& expr) { read_node(expr); });
}

// A copy is allowed there, and would serve nothing where both sides may be in one place.
void DeviceConstraints::join_free(const Expr& function) {
  visit_outside_groups(function, [this](const Expr& expr) {
    const auto annotated = on_device_of(expr);
    if (annotated && !annotated->constrains_body && !annotated->constrains_result)
      domains_.try_unify(domain_of(expr), domain_of(annotated->body));
  });
}

void DeviceConstraints::settle(const Expr& function) {
  visit_outside_groups(function, [this](const Expr& expr) {
    if (lang::is_group(expr)) return;
    if (expr->kind == ExprKind::Function) {
      domains_.settle(domain_of(expr), usual_);
    } else if (const auto* call = as<lang::Call>(expr)) {
      domains_.settle(callee_of(*call), usual_);
    } else if (const auto* let = as<lang::Let>(expr)) {
      domains_.settle(domain_of(let->variable), usual_);
    }
  });
}

const VirtualDevice& DeviceConstraints::settled(Id id) {
  domains_.settle(id, usual_);
  return domains_.device(id);
}

std::vector<VirtualDevice> DeviceConstraints::wanted_of_arguments(const lang::Call& call) {
  const Id callee = callee_of(call);
  std::vector<VirtualDevice> wanted;
  if (!domains_.is_function(callee)) return {call.args.size(), settled(callee)};
  for (const Id param : std::vector<Id>(domains_.params(callee))) wanted.push_back(settled(param));
  return wanted;
}

}  // namespace relay::opt
