#include "ahead/collect.h"

#include <deque>
#include <set>
#include <string>

#include <fmt/format.h>

#include "built/host.h"
#include "lang/diagnostic.h"
#include "lang/function_fact.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::ahead {

using lang::Effect;
using lang::Expr;

namespace {

[[noreturn]] void refuse(const std::string& what, lang::Span span) {
  lang::fail(lang::DiagnosticKind::Unsupported, "not supported in a built object: " + what, span);
}

void check_effect(const lang::OpDef& op, lang::Span span) {
  switch (op.effect) {
    case Effect::Load:
    case Effect::Save:
    case Effect::Plot:
      refuse(fmt::format("`{}`; what a top-level `let` has computed is part of it", op.name), span);
    case Effect::Pullback:
    case Effect::Tangent:
    case Effect::CheckGradient:
      refuse("the derivative of a function that is only known when it runs", span);
    default:
      break;
  }
}

class Collector {
 public:
  explicit Collector(interp::Host& host) : host_(host) {}

  built::Snapshot collect(std::span<const interp::GlobalFunction> entries) {
    made_.entry_count = static_cast<std::uint32_t>(entries.size());
    for (const interp::GlobalFunction& entry : entries) want(entry);
    for (; !wanted_.empty(); wanted_.pop_front()) {
      const interp::GlobalFunction next = wanted_.front();
      const Expr code = host_.prepared(next.name, next.type).or_throw();
      made_.functions.push_back({next.name, next.type, code});
      lang::visit_post_order(code, [&](const Expr& node) { see(node); });
    }
    return std::move(made_);
  }

 private:
  void want(const interp::GlobalFunction& function) {
    if (seen_.insert(built::function_key(function.name, function.type)).second)
      wanted_.push_back(function);
  }

  void see(const Expr& node) {
    if (const auto* op = lang::as<lang::Operator>(node)) check_effect(*op->op, node->span);
    if (const auto* compiler = lang::compiler_of(node))
      refuse(fmt::format("what the external compiler `{}` runs", *compiler), node->span);
    const auto* global = lang::as<lang::GlobalVar>(node);
    if (!global) return;
    if (!host_.is_binding(global->name)) return want({global->name, node->type});
    if (!seen_.insert(global->name).second) return;
    made_.bindings.push_back({global->name, host_.global_value(global->name).or_throw()});
  }

  interp::Host& host_;
  built::Snapshot made_;
  std::deque<interp::GlobalFunction> wanted_;
  std::set<std::string> seen_;  // functions by key, which has a type, and bindings by name
};

}  // namespace

built::Snapshot collect(interp::Host& host, std::span<const interp::GlobalFunction> entries) {
  return Collector(host).collect(entries);
}

}  // namespace relay::ahead
