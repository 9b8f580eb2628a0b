#include "ad/replay.h"

#include <vector>

#include "lang/op.h"

namespace relay::ad {

using lang::Expr;
using lang::Type;

namespace {

lang::OpDef effect(const char* name, const char* doc, lang::Effect effect, const Type& result) {
  lang::OpDef op;
  op.name = name;
  op.doc = doc;
  op.level = 0;
  op.type_rule = [result](lang::TypeCall& call) {
    call.returns(result);
    return lang::RuleOutcome::Solved;
  };
  op.effect = effect;
  op.differentiable = false;
  return op;
}

const lang::OpDef& time_operator() {
  static const lang::OpDef kOperator =
      effect("reference_time", "How often references have been made or written.",
             lang::Effect::Time, lang::scalar_type(lang::DType::Int64));
  return kOperator;
}

const lang::OpDef& begin_operator() {
  static const lang::OpDef kOperator = [] {
    lang::OpDef op = effect("begin_replay", "What was computed before is computed again.",
                            lang::Effect::BeginReplay, lang::unit_type());
    op.inputs = {{"since", "when it was computed first"}};
    return op;
  }();
  return kOperator;
}

const lang::OpDef& end_operator() {
  static const lang::OpDef kOperator = effect("end_replay", "It has been computed again.",
                                              lang::Effect::EndReplay, lang::unit_type());
  return kOperator;
}

Expr call_of(const lang::OpDef& op, const std::vector<Expr>& args) {
  std::vector<Type> types;
  for (const Expr& arg : args) types.push_back(arg->type);
  const Type result = lang::ground_result_type(op, types, nullptr);
  const Expr callee = lang::make_operator(&op, {}, lang::function_type(std::move(types), result));
  return lang::make_call(callee, args, nullptr, {}, result);
}

}  // namespace

Expr reference_time() { return call_of(time_operator(), {}); }
Expr begin_replay(const Expr& since) { return call_of(begin_operator(), {since}); }
Expr end_replay() { return call_of(end_operator(), {}); }

}  // namespace relay::ad
