#include <optional>
#include <utility>

#include "lang/build.h"
#include "lang/visit.h"
#include "opt/fake_quantization.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;
namespace build = lang::build;

namespace {

const lang::NamedOp kDequantize("qnn.dequantize");
const lang::NamedOp kQuantize("qnn.quantize");

// Scale, zero point and axis of `qnn.quantize` and `qnn.dequantize`; constants as such, so that
// they can be compared.
Quantized quantization_of(const lang::Call& call, const Definitions& definitions) {
  const auto parameter = [&](const Expr& atom) {
    const Expr& value = definitions.of(atom);
    return value->kind == ExprKind::Constant ? value : atom;
  };
  Quantized how{parameter(call.args[1]), parameter(call.args[2]), call.attrs->get_int("axis")};
  if (how.is_per_channel()) how.axis = place_of_axis(how.axis, rank_of(call.args[0]));
  return how;
}

// Null where the step gives something else than the numbers that integers stand for: the places of
// the largest, or numbers of another dtype.
const FakeQuantizationRules* rules_of(const Expr& step) {
  const lang::OpDef* op = operator_of(step);
  const auto* tensor = as<lang::TensorType>(step->type);
  if (!op || !tensor || !tensor->dtype.is_known() || tensor->dtype.known() != lang::DType::Float32)
    return nullptr;
  return fake_quantization_rules(op->name);
}

// The integers of each step stand in front of it; who uses them decides which of the two stays.
class IntegerMaker final : public lang::Rewriter {
 public:
  explicit IntegerMaker(bool joins_floats) : joins_floats_(joins_floats) {}

 protected:
  Expr pre(const Expr& expr) override { return expr->kind == ExprKind::Let ? block(expr) : Expr(); }

 private:
  Expr block(const Expr& expr) {
    lang::Block opened = lang::open_block(expr);
    const lang::VariableRef last = lang::make_variable("result", opened.result->type);
    opened.bindings.push_back({last, opened.result, {}});
    bool changed = false;
    std::vector<lang::Binding> made;
    for (const lang::Binding& binding : opened.bindings) {
      const lang::AlgebraScope scope(lang::algebra_of(binding.value));
      Expr value = rewrite(binding.value);
      if (const Expr integers = quantized(value)) value = integers;
      if (auto affine = affine_of(value)) {
        bind(affine->how.scale, "scale", made);
        const bool is_step = !build::is_atom(affine->integers);
        bind(affine->integers, "integers", made);
        if (joins_floats_ && is_step && affine->is_exact) value = numbers_of(*affine);
        affine_[binding.variable.get()] = std::move(*affine);
      }
      value = lang::with_type(at_place(value, binding.value->span), binding.value->type);
      changed = changed || !(value == binding.value);
      definitions_.add(binding.variable, value);
      made.push_back({binding.variable, std::move(value), binding.span});
    }
    if (!changed) return expr;
    Expr result = made.back().value;
    made.pop_back();
    return lang::close_block({std::move(made), std::move(result)});
  }

  static void bind(Expr& value, const char* name, std::vector<lang::Binding>& made) {
    if (build::is_atom(value)) return;
    const lang::VariableRef variable = lang::make_variable(name, value->type);
    made.push_back({variable, value, {}});
    value = lang::make_var(variable);
  }

  static Expr numbers_of(const Affine& affine) {
    return build::op(kDequantize.name(), {affine.integers, affine.how.scale, affine.how.zero_point},
                     {{"out_dtype", lang::DType::Float32}, {"axis", affine.how.axis_attr()}});
  }

  const Affine* find(const Expr& atom) const {
    const lang::Variable* variable = variable_of(atom);
    return variable ? affine_.find(variable) : nullptr;
  }

  std::optional<Affine> affine_of(const Expr& value) {
    if (const auto* call = call_of(value, kDequantize)) {
      if (call->attrs->get_dtype("out_dtype") != lang::DType::Float32) return std::nullopt;
      return Affine{call->args[0], quantization_of(*call, definitions_)};
    }
    const auto* rules = rules_of(value);
    if (!rules || !rules->rule) return std::nullopt;
    return unless_refused([&] { return rules->rule(AffineStep(value, definitions_, find_)); });
  }

  // What a `qnn.quantize` of known integers is; null for all other steps.
  Expr quantized(const Expr& value) {
    const auto* call = call_of(value, kQuantize);
    if (!call) return nullptr;
    const Quantized wanted = quantization_of(*call, definitions_);
    const lang::DType dtype = call->attrs->get_dtype("out_dtype");
    if (const Affine* data = find(call->args[0]))
      return unless_refused([&] { return requantize(*data, wanted, dtype); });
    const Expr& step = definitions_.of(call->args[0]);
    const auto* rules = rules_of(step);
    if (!rules || !rules->final_rule) return nullptr;
    return unless_refused(
        [&] { return rules->final_rule(AffineStep(step, definitions_, find_), wanted, dtype); });
  }

  const bool joins_floats_;
  const std::function<const Affine*(const Expr&)> find_ = [this](const Expr& atom) {
    return find(atom);
  };
  Definitions definitions_;
  lang::PointerMap<lang::Variable, Affine> affine_;
};

}  // namespace

Pass fake_quantization_to_integer_pass() {
  Pass pass;
  pass.name = "FakeQuantizationToInteger";
  pass.doc =
      "computes with integers what stands between `qnn.dequantize` and `qnn.quantize`; values may "
      "be another step of the scale";
  pass.options = {{"use_qat", lang::AttrKind::Bool, lang::AttrValue(false),
                   "also where floats follow, which then begin behind the integers"}};
  pass.keeps = Keeps::Rounding;
  pass.level = 0;
  pass.example =
      R"(def f(x: Tensor[(1, 4), int8], w: Tensor[(2, 4), int8]) {
  let y = nn.dense(qnn.dequantize(x, 0.5, 0, out_dtype="float32"), qnn.dequantize(w, 0.25, 0, out_dtype="float32"));
  qnn.quantize(nn.relu(y), 0.5, 0, out_dtype="int8")
})";
  pass.run = [](PassProgram& program, const lang::Attrs& options) {
    const bool joins_floats = options.get_bool("use_qat");
    program.each([&](const Expr& fn) {
      const Expr made = IntegerMaker(joins_floats).rewrite(fn);
      return made == fn ? fn : eliminate_dead_code(to_anf(made, &program), &program);
    });
  };
  return pass;
}

}  // namespace relay::opt
