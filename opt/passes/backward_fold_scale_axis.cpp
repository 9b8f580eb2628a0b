#include "opt/block_uses.h"
#include "opt/scale_folding.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::Expr;

namespace {

// How many steps a scale goes back at most: one that passes more is not worth the search.
constexpr int kFarthest = 64;

// Moves a scale of a block back into the weights of what its data are made of.
class BackwardMover {
 public:
  BackwardMover(const lang::Block& block, const BlockUses& uses, const ChannelScale& scale)
      : block_(block), uses_(uses), scale_(scale) {}

  // The tensor with the scale in it; null where it cannot take it up. Each step that is passed has
  // no other use, so that nothing is computed twice.
  Expr absorbed(const Expr& atom, int farthest = kFarthest) const {
    const lang::Variable* variable = variable_of(atom);
    const auto place = variable ? uses_.place_of(variable) : std::nullopt;
    if (!place || farthest == 0 || uses_.users_of(variable).size() != 1) return nullptr;
    const Expr& step = block_.bindings[*place].value;
    const ScalingRow* row = scaling_of(step);
    if (!row) return nullptr;
    const auto& call = lang::cast<lang::Call>(step);
    if (row->how != Scaling::Product && !scale_.passes(call, *row)) return nullptr;
    switch (row->how) {
      case Scaling::Linear:
      case Scaling::Positive:
        return rebuilt(step, absorbed(call.args[0], farthest - 1), {});
      case Scaling::Bias:
        return rebuilt(step, absorbed(call.args[0], farthest - 1), scale_.bias_times(call));
      case Scaling::Product:
        return rebuilt(step, call.args[0], scale_.weight_of_scaled_result(call));
      case Scaling::Sum:
        return sum(step, farthest);
      case Scaling::Factor:
        return product(step, farthest);
    }
    return nullptr;
  }

 private:
  static Expr rebuilt(const Expr& step, const Expr& first, const Expr& second) {
    const std::size_t count = lang::cast<lang::Call>(step).args.size();
    if (!first || (count == 2 && !second)) return nullptr;
    return with_operands(step, count == 2 ? std::vector<Expr>{first, second} : std::vector{first});
  }
  Expr absorbed_as(const Expr& atom, const Expr& step, int farthest) const {
    return same_type(atom, step) ? absorbed(atom, farthest - 1) : Expr();
  }
  Expr sum(const Expr& step, int farthest) const {
    const auto& args = lang::cast<lang::Call>(step).args;
    if (same_atom(args[0], args[1])) return nullptr;
    Expr first = absorbed_as(args[0], step, farthest);
    Expr second = absorbed_as(args[1], step, farthest);
    if (!first && !second) return nullptr;
    if (!first) first = scale_.times(args[0]);
    if (!second) second = scale_.times(args[1]);
    return rebuilt(step, first, second);
  }
  Expr product(const Expr& step, int farthest) const {
    const auto& args = lang::cast<lang::Call>(step).args;
    if (same_atom(args[0], args[1])) return nullptr;
    if (const Expr first = absorbed_as(args[0], step, farthest))
      return with_operands(step, {first, args[1]});
    if (const Expr second = absorbed_as(args[1], step, farthest))
      return with_operands(step, {args[0], second});
    return nullptr;
  }

  const lang::Block& block_;
  const BlockUses& uses_;
  const ChannelScale& scale_;
};

bool move_back(lang::Block& block, Definitions& definitions, lang::Program& program) {
  Effects effects(&program);
  const BlockUses uses(block, effects);
  bool changed = false;
  for (lang::Binding& binding : block.bindings) {
    const lang::AlgebraScope scope(lang::algebra_of(binding.value));
    for (const ScaledStep& step : scaled_steps(binding.value, definitions)) {
      const Expr made = BackwardMover(block, uses, step.scale).absorbed(step.data);
      if (!made) continue;
      binding.value = lang::with_type(at_place(made, binding.value->span), binding.value->type);
      changed = true;
      break;
    }
  }
  return changed;
}

}  // namespace

Pass backward_fold_scale_axis_pass() {
  Pass pass;
  pass.name = "BackwardFoldScaleAxis";
  pass.doc =
      "multiplies the weights of convolutions and `nn.dense` by what scales their results, channel "
      "by channel";
  pass.keeps = Keeps::Rounding;
  pass.level = 3;
  pass.example =
      R"(def f(x: Tensor[(1, 2, 4, 4), float32], w: Tensor[(2, 2, 3, 3), float32], b: Tensor[(2, 1, 1), float32]) {
  nn.relu(nn.conv2d(x, w) + b) * [[[0.5]], [[2.0]]]
})";
  pass.run = moving_scales(move_back);
  return pass;
}

}  // namespace relay::opt
