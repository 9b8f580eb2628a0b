#include <algorithm>
#include <array>

#include "lang/op.h"
#include "opt/pass_program.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::as;
using lang::Expr;

namespace {

const std::array<lang::NamedOp, 6> kTakenApart = {
    lang::NamedOp("nn.batch_norm"),    lang::NamedOp("nn.layer_norm"),
    lang::NamedOp("nn.instance_norm"), lang::NamedOp("nn.group_norm"),
    lang::NamedOp("nn.l2_normalize"),  lang::NamedOp("nn.dropout")};

// Dropout with a key does drop.
bool draws(const lang::Call& call) {
  return std::any_of(call.args.begin(), call.args.end(), [](const Expr& arg) {
    const auto* tensor = as<lang::TensorType>(arg->type);
    return tensor && tensor->dtype.known() == lang::DType::UInt64;
  });
}

// The operators of its definition.
Expr by_definition(const Expr& step, const Definitions&) {
  const lang::OpDef* op = operator_of(step);
  if (!op || std::none_of(kTakenApart.begin(), kTakenApart.end(),
                          [&](const lang::NamedOp& each) { return each.is(*op); }))
    return nullptr;
  const auto& call = lang::cast<lang::Call>(step);
  if (draws(call)) return nullptr;
  return lang::definition_at(*op, {call.args, call.attrs, step->type}, call.algebra)
      .value_or(nullptr);
}

Expr field_of_known(const Expr& step, const Definitions& definitions) {
  const auto* projection = as<lang::Projection>(step);
  const auto* tuple = projection ? as<lang::Tuple>(definitions.of(projection->tuple)) : nullptr;
  return tuple ? tuple->fields[projection->index] : Expr();
}

}  // namespace

Pass simplify_inference_pass() {
  Pass pass;
  pass.name = "SimplifyInference";
  pass.doc =
      "writes `nn.batch_norm` and the other norms as arithmetic, and drops dropout without a key";
  pass.level = 0;
  pass.example =
      R"(def f(x: Tensor[(2, 3), float32], gamma: Tensor[(3), float32],
  beta: Tensor[(3), float32], mean: Tensor[(3), float32], var: Tensor[(3), float32]) {
  nn.dropout(nn.batch_norm(x, gamma, beta, mean, var).0).0
})";
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    program.each([&](const Expr& fn) {
      const Expr apart = replace_steps(fn, by_definition);
      if (apart == fn) return fn;
      return eliminate_dead_code(replace_steps(to_anf(apart, &program), field_of_known), &program);
    });
  };
  return pass;
}

}  // namespace relay::opt
