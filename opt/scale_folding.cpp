#include "opt/scale_folding.h"

#include <utility>

#include "lang/visit.h"

namespace relay::opt {

using lang::as;
using lang::Expr;

namespace {

class BlockScaleMover final : public lang::Rewriter {
 public:
  BlockScaleMover(const ScaleMover& mover, lang::Program& program)
      : mover_(mover), program_(program) {}

 protected:
  Expr pre(const Expr& expr) override {
    return expr->kind == lang::ExprKind::Let ? block(expr) : Expr();
  }

 private:
  Expr block(const Expr& expr) {
    lang::Block opened = lang::open_block(expr);
    bool changed = false;
    const auto rewritten = [&](const Expr& value) {
      Expr made = rewrite(value);
      changed = changed || !(made == value);
      return made;
    };
    for (lang::Binding& binding : opened.bindings) {
      binding.value = rewritten(binding.value);
      definitions_.add(binding.variable, binding.value);
    }
    opened.result = rewritten(opened.result);
    const lang::VariableRef last = lang::make_variable("result", opened.result->type);
    const bool is_step = opened.result->kind == lang::ExprKind::Call;
    if (is_step) {
      opened.bindings.push_back({last, opened.result, {}});
      opened.result = lang::make_var(last);
    }
    changed = mover_(opened, definitions_, program_) || changed;
    if (is_step) {
      opened.result = opened.bindings.back().value;
      opened.bindings.pop_back();
    }
    return changed ? lang::close_block(opened) : expr;
  }

  const ScaleMover& mover_;
  lang::Program& program_;
  Definitions definitions_;
};

}  // namespace

std::vector<ScaledStep> scaled_steps(const Expr& step, const Definitions& definitions) {
  const ScalingRow* row = scaling_of(step);
  if (!row || row->how != Scaling::Factor) return {};
  const auto& args = lang::cast<lang::Call>(step).args;
  std::vector<ScaledStep> readings;
  for (const std::size_t data : {0U, 1U}) {
    if (!same_type(args[data], step) || same_atom(args[0], args[1])) continue;
    ChannelScale scale(args[1 - data], args[data], definitions);
    if (scale.scale()) readings.push_back({args[data], std::move(scale)});
  }
  return readings;
}

std::function<void(PassProgram&, const lang::Attrs&)> moving_scales(ScaleMover mover) {
  return [mover = std::move(mover)](PassProgram& program, const lang::Attrs&) {
    program.each([&](const Expr& fn) {
      Expr made = fn;
      // What one round moves may stand behind another product in the next.
      for (Expr before; !(made == before);) {
        before = made;
        made = BlockScaleMover(mover, program).rewrite(before);
        if (!(made == before)) made = eliminate_dead_code(to_anf(made, &program), &program);
      }
      return made;
    });
  };
}

}  // namespace relay::opt
