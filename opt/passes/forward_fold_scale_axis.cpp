#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "lang/visit.h"
#include "opt/block_uses.h"
#include "opt/scale_folding.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::Expr;

namespace {

// Moves a scale of a block on to the weights of what its data go into.
class ForwardMover {
 public:
  ForwardMover(const lang::Block& block, const BlockUses& uses, const ChannelScale& scale)
      : block_(block), uses_(uses), scale_(scale) {}

  // The new values of the steps behind the binding at `place`, whose data are `data`, by their
  // places; nothing where one of them cannot take the scale up.
  std::optional<std::map<std::size_t, Expr>> moved(std::size_t place, const Expr& data) {
    if (!carry(place)) return std::nullopt;
    bool is_taken_up = false;
    while (!open_.empty()) {
      const std::size_t next = *open_.begin();
      open_.erase(open_.begin());
      if (next >= block_.bindings.size()) return std::nullopt;
      const Expr& step = block_.bindings[next].value;
      const Expr made = with_scaled_operands(step);
      const ScalingRow* row = made ? scaling_of(step) : nullptr;
      if (!row) return std::nullopt;
      changed_[next] = at_place(made, step->span);
      is_taken_up = is_taken_up || row->how == Scaling::Product;
      if (row->how != Scaling::Product && !carry(next)) return std::nullopt;
    }
    if (!is_taken_up) return std::nullopt;
    const lang::Substitution unscaled = {{block_.bindings[place].variable.get(), data}};
    for (auto& [at, value] : changed_) value = lang::substitute(value, unscaled);
    return changed_;
  }

 private:
  bool carry(std::size_t place) {
    const lang::Variable* variable = block_.bindings[place].variable.get();
    carried_.insert(variable);
    const auto& users = uses_.users_of(variable);
    open_.insert(users.begin(), users.end());
    return !users.empty();
  }
  bool is_carried(const Expr& atom) const { return carried_.contains(variable_of(atom)); }
  bool mentions_carried(const Expr& value) const {
    const auto used = lang::free_variables(value);
    return std::any_of(used.begin(), used.end(),
                       [&](const auto& each) { return carried_.contains(each.get()); });
  }

  // The step, where those operands are no longer scaled that had the scale; what it gives may lack
  // it then. Null where that is another value.
  Expr with_scaled_operands(const Expr& step) const {
    const ScalingRow* row = scaling_of(step);
    if (!row) return nullptr;
    const auto& call = lang::cast<lang::Call>(step);
    const Expr& first = call.args[0];
    const bool is_first = is_carried(first);
    if (call.args.size() == 1) return is_first && scale_.passes(call, *row) ? step : Expr();
    const Expr& second = call.args[1];
    switch (row->how) {
      case Scaling::Sum: {
        if (is_first && is_carried(second)) return step;
        const Expr other = scale_.divided(is_first ? second : first);
        if (!other || !same_type(is_first ? first : second, step)) return nullptr;
        return with_operands(step,
                             is_first ? std::vector{first, other} : std::vector{other, second});
      }
      case Scaling::Factor:
        return is_first != is_carried(second) && same_type(is_first ? first : second, step)
                   ? step
                   : Expr();
      case Scaling::Bias:
        return is_first ? with_second(step, scale_.bias_divided(call)) : Expr();
      case Scaling::Product:
        return is_first && !mentions_carried(second)
                   ? with_second(step, scale_.weight_of_scaled_data(call))
                   : Expr();
      case Scaling::Linear:
      case Scaling::Positive:
        break;
    }
    return nullptr;
  }
  static Expr with_second(const Expr& step, const Expr& second) {
    return second ? with_operands(step, {lang::cast<lang::Call>(step).args[0], second}) : Expr();
  }

  const lang::Block& block_;
  const BlockUses& uses_;
  const ChannelScale& scale_;
  lang::PointerSet<lang::Variable> carried_;
  std::set<std::size_t> open_;
  std::map<std::size_t, Expr> changed_;
};

bool move_on(lang::Block& block, Definitions& definitions, lang::Program& program) {
  Effects effects(&program);
  for (std::size_t place = 0; place < block.bindings.size(); ++place) {
    const Expr value = block.bindings[place].value;
    const lang::AlgebraScope scope(lang::algebra_of(value));
    for (const ScaledStep& step : scaled_steps(value, definitions)) {
      const BlockUses uses(block, effects);
      const auto moved = ForwardMover(block, uses, step.scale).moved(place, step.data);
      if (!moved) continue;
      for (const auto& [at, made] : *moved) block.bindings[at].value = made;
      return true;
    }
  }
  return false;
}

}  // namespace

Pass forward_fold_scale_axis_pass() {
  Pass pass;
  pass.name = "ForwardFoldScaleAxis";
  pass.doc =
      "multiplies the weights of convolutions and `nn.dense` by what scales their data, channel by "
      "channel";
  pass.keeps = Keeps::Rounding;
  pass.level = 3;
  pass.example =
      R"(def f(x: Tensor[(1, 2, 4, 4), float32], w: Tensor[(2, 2, 3, 3), float32]) {
  nn.conv2d(nn.relu(x * [[[0.5]], [[2.0]]]), w)
})";
  pass.run = moving_scales(move_on);
  return pass;
}

}  // namespace relay::opt
