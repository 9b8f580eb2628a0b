#include "lang/build.h"
#include "opt/pass_program.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::Expr;
namespace build = lang::build;

namespace {

Expr bias_as_sum(const Expr& step, const Definitions&) {
  const auto* call = call_of(step, known::bias_add);
  if (!call) return nullptr;
  const std::size_t rank = rank_of(call->args[0]);
  const std::int64_t place = place_of_axis(call->attrs->get_int("axis"), rank);
  const std::int64_t after = static_cast<std::int64_t>(rank) - 1 - place;
  Expr bias = call->args[1];
  if (after > 0) bias = build::op("expand_dims", {bias}, {{"axis", 1}, {"num_newaxis", after}});
  return build::op("add", {call->args[0], bias});
}

}  // namespace

Pass canonicalize_ops_pass() {
  Pass pass;
  pass.name = "CanonicalizeOps";
  pass.doc = "writes `nn.bias_add` as a sum";
  pass.level = 3;
  pass.example =
      R"(def f(x: Tensor[(2, 3, 4), float32], b: Tensor[(3), float32]) { nn.bias_add(x, b) })";
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    program.each([](const Expr& fn) { return replace_steps(fn, bias_as_sum); });
  };
  return pass;
}

}  // namespace relay::opt
