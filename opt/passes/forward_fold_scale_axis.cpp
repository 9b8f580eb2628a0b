#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

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
  // places; nothing where one of them cannot take the scale up. All that is made of it must end in
  // products.
  std::optional<std::map<std::size_t, Expr>> moved(std::size_t place, const Expr& data) {
    carry(place);
    while (!open_.empty()) {
      const std::size_t next = *open_.begin();
      open_.erase(open_.begin());
      const Expr& step = block_.bindings[next].value;
      const Expr made = with_scaled_operands(step);
      if (!made) return std::nullopt;
      changed_[next] = at_place(made, step->span);
      if (scaling_of(step)->how != Scaling::Product) carry(next);
    }
    const lang::Substitution unscaled = {{block_.bindings[place].variable.get(), data}};
    for (auto& [at, value] : changed_) value = lang::substitute(value, unscaled);
    return changed_;
  }

 private:
  void carry(std::size_t place) {
    const lang::Variable* variable = block_.bindings[place].variable.get();
    carried_.insert(variable);
    const auto& users = uses_.users_of(variable);
    open_.insert(users.begin(), users.end());
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

// Of each binding: does all that is made of it end in products, through steps that scales pass?
std::vector<bool> leading_to_products(const lang::Block& block, const BlockUses& uses) {
  std::vector<bool> leading(block.bindings.size() + 1, false);
  for (std::size_t place = block.bindings.size(); place-- > 0;) {
    const auto& users = uses.users_of(block.bindings[place].variable.get());
    leading[place] =
        !users.empty() && std::all_of(users.begin(), users.end(), [&](std::size_t user) {
          const ScalingRow* row =
              user < block.bindings.size() ? scaling_of(block.bindings[user].value) : nullptr;
          return row && (row->how == Scaling::Product || leading[user]);
        });
  }
  return leading;
}

// One look at the uses does for all scales of the block: what a step that has changed mentions anew
// stands before all scales that are looked at later. A step changes once, and the rest waits for
// the next round, where its new operands are steps of their own.
bool move_on(lang::Block& block, Definitions& definitions, lang::Program& program) {
  Effects effects(&program);
  const BlockUses uses(block, effects);
  const std::vector<bool> leading = leading_to_products(block, uses);
  std::vector<bool> has_changed(block.bindings.size(), false);
  bool changed = false;
  for (std::size_t place = 0; place < block.bindings.size(); ++place) {
    if (!leading[place] || has_changed[place]) continue;
    const Expr value = block.bindings[place].value;
    const lang::AlgebraScope scope(lang::algebra_of(value));
    for (const ScaledStep& step : scaled_steps(value, definitions)) {
      const auto moved = ForwardMover(block, uses, step.scale).moved(place, step.data);
      if (!moved) continue;
      for (const auto& [at, made] : *moved) {
        if (has_changed[at]) return true;
      }
      for (const auto& [at, made] : *moved) {
        block.bindings[at].value = made;
        has_changed[at] = true;
      }
      changed = true;
      break;
    }
  }
  return changed;
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
