#include "opt/own_calls.h"

#include <cstddef>
#include <utility>

#include "lang/visit.h"
#include "opt/definitions.h"

namespace relay::opt {

using lang::as;
using lang::Expr;

bool Self::operator()(const Expr& expr) const {
  if (variable) return variable_of(expr) == variable;
  const auto* global = as<lang::GlobalVar>(expr);
  return global && global->name == name;
}

const lang::Call* own_call(const Expr& expr, const Self& is_it) {
  const auto* call = as<lang::Call>(expr);
  return call && is_it(call->callee) ? call : nullptr;
}

std::optional<OwnCalls> own_calls_in(const Expr& body, const Self& is_it) {
  OwnCalls calls;
  bool is_value = false;
  lang::visit_post_order(body, [&](const Expr& node) {
    const lang::Call* const call = own_call(node, is_it);
    if (call) calls.insert(call);
    const std::size_t most = call ? 1 : 0;
    std::size_t mentions = 0;
    lang::for_each_child(node, [&](const Expr& child) { mentions += is_it(child) ? 1 : 0; });
    is_value = is_value || mentions > most;
  });
  return is_value || is_it(body) ? std::nullopt : std::optional(std::move(calls));
}

}  // namespace relay::opt
