#include "ad/block.h"
#include "ad/pairs.h"
#include "ad/replay.h"

// References in reverse: what is written has the adjoint that its readers have left in the
// reference's adjoint cell (ad/adjoint_cells). All that uses references runs in exactly the reverse
// order, whether or not somebody asks for the adjoint of its result.
namespace relay::ad {

using lang::as;
using lang::Binding;
using lang::Expr;
using lang::ExprKind;

bool BlockReverse::runs_anyway(const lang::Variable& variable) const {
  if (unknown_calls_.count(&variable)) return true;
  const auto pair = pair_calls_.find(&variable);
  return pair != pair_calls_.end() && pair->second.uses_references;
}

void BlockReverse::reverse_read(const lang::RefRead& read, const Expr& adjoint) {
  if (!pairs_.cells().has_adjoint(read.ref->type)) return;
  uses_references_ = true;
  pairs_.cells().add(read.ref, adjoint, backward_);
}

void BlockReverse::reverse_write(const Binding& binding) {
  const auto* write = as<lang::RefWrite>(binding.value);
  const auto* create = as<lang::RefCreate>(binding.value);
  if (!write && !create) return;
  const Expr reference = write ? write->ref : lang::make_var(binding.variable);
  if (!pairs_.cells().has_adjoint(reference->type)) return;
  uses_references_ = true;
  const Expr& value = write ? write->value : create->value;
  accumulate(value, pairs_.cells().take(reference, value, backward_));
}

std::vector<Binding> BlockReverse::take_walk() {
  std::vector<Binding> code = backward_.take();
  if (!uses_references_) return code;
  const auto step = [](const Expr& value) {
    return Binding{lang::make_variable("walk", value->type), value};
  };
  code.insert(code.begin(), step(AdjointCells::begin()));
  code.push_back(step(AdjointCells::end()));
  return code;
}

void BlockReverse::push_effect(const Expr& effect) {
  primal_.push_back({{lang::make_variable("watch", effect->type), effect, effect->span}});
}

Expr BlockReverse::forward_watch(const Binding& binding) {
  const ExprKind kind = binding.value->kind;
  if (kind != ExprKind::Comprehension && kind != ExprKind::Reduction &&
      kind != ExprKind::ScatterReduce)
    return nullptr;
  if (!pairs_.reference_use().in(binding.value)) return nullptr;
  const Expr time = reference_time();
  const lang::VariableRef since = lang::make_variable("since", time->type);
  primal_.push_back({{since, time, binding.span}});
  watched_.emplace(binding.variable.get(), since);
  push_effect(begin_replay(lang::make_var(since)));
  return lang::make_var(since);
}

}  // namespace relay::ad
