#include <utility>

#include "lang/op.h"
#include "lang/visit.h"
#include "opt/block_uses.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::as;
using lang::Expr;

namespace {

class CastSplitter final : public lang::Rewriter {
 public:
  explicit CastSplitter(lang::Program& program) : program_(program) {}

 protected:
  Expr pre(const Expr& expr) override {
    return expr->kind == lang::ExprKind::Let ? block(expr) : Expr();
  }

 private:
  Expr block(const Expr& expr) {
    lang::Block opened = lang::open_block(expr);
    bool changed = false;
    for (lang::Binding& binding : opened.bindings) {
      const Expr value = rewrite(binding.value);
      changed = changed || !(value == binding.value);
      binding.value = value;
    }
    const Expr result = rewrite(opened.result);
    changed = changed || !(result == opened.result);
    opened.result = result;
    Effects effects(&program_);
    const BlockUses uses(opened, effects);
    std::vector<lang::Binding> made;
    for (const lang::Binding& binding : opened.bindings) {
      Expr value = with_own_casts(binding.value, opened, uses, made);
      changed = changed || !(value == binding.value);
      made.push_back({binding.variable, std::move(value), binding.span});
    }
    Expr last = with_own_casts(opened.result, opened, uses, made);
    changed = changed || !(last == opened.result);
    return changed ? lang::close_block({std::move(made), std::move(last)}) : expr;
  }

  // A step that can have a kernel with the cast in front of it.
  static Expr with_own_casts(const Expr& step, const lang::Block& block, const BlockUses& uses,
                             std::vector<lang::Binding>& made) {
    const lang::OpDef* op = operator_of(step);
    if (!op || !op->elementwise) return step;
    const auto& call = lang::cast<lang::Call>(step);
    std::vector<Expr> args = call.args;
    for (Expr& arg : args) {
      const Expr cast = shared_cast(arg, block, uses);
      if (!cast) continue;
      const lang::VariableRef own = lang::make_variable("cast", cast->type);
      made.push_back({own, copy_of(lang::cast<lang::Call>(cast)), {}});
      arg = lang::make_var(own);
    }
    if (args == call.args) return step;
    return with_operands(step, std::move(args));
  }

  // A node that is used in several places is one value.
  static Expr copy_of(const lang::Call& call) {
    return lang::make_call(call.callee, call.args, call.attrs, call.span, call.type, call.algebra);
  }

  // The cast that defines the atom, if it makes its data wider and several steps use it.
  static Expr shared_cast(const Expr& atom, const lang::Block& block, const BlockUses& uses) {
    const lang::Variable* variable = variable_of(atom);
    const auto place = variable ? uses.place_of(variable) : std::nullopt;
    if (!place || uses.users_of(variable).size() < 2) return nullptr;
    const Expr& value = block.bindings[*place].value;
    const auto* cast = call_of(value, known::cast);
    if (!cast || lang::size_of(dtype_of(cast->args[0])) >= lang::size_of(dtype_of(value)))
      return nullptr;
    return value;
  }

  lang::Program& program_;
};

}  // namespace

Pass canonicalize_cast_pass() {
  Pass pass;
  pass.name = "CanonicalizeCast";
  pass.doc =
      "gives each elementwise step that uses a cast to a wider dtype a cast of its own, so that "
      "they fuse, and kernels read the narrow data";
  pass.level = 3;
  pass.example =
      R"(def f(x: Tensor[(4), int8]) {
  let y = cast(x, dtype="int32");
  (y + 1, y * 3)
})";
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    program.each([&](const Expr& fn) {
      const Expr made = CastSplitter(program).rewrite(fn);
      return made == fn ? fn : eliminate_dead_code(made, &program);
    });
  };
  return pass;
}

}  // namespace relay::opt
