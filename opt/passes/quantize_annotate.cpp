#include <algorithm>
#include <cmath>
#include <utility>

#include "lang/visit.h"
#include "opt/quantize.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::Expr;

namespace {

struct AnnotateOptions {
  std::vector<std::int64_t> skipped_convolutions;
  bool skips_dense;
  std::int64_t input_bits;
  std::int64_t weight_bits;
};

class Annotator final : public lang::Rewriter {
 public:
  explicit Annotator(const AnnotateOptions& options) : options_(options) {}

 protected:
  Expr pre(const Expr& expr) override {
    return expr->kind == lang::ExprKind::Let || operator_of(expr) ? block(expr) : Expr();
  }

 private:
  Expr block(const Expr& expr) {
    lang::Block opened = lang::open_block(expr);
    bool changed = false;
    std::vector<lang::Binding> made;
    const auto step = [&](const Expr& value) {
      Expr found = annotated(operator_of(value) ? value : rewrite(value), made);
      changed = changed || !(found == value);
      return found;
    };
    for (const lang::Binding& binding : opened.bindings) {
      Expr value = step(binding.value);
      definitions_.add(binding.variable, value);
      made.push_back({binding.variable, std::move(value), binding.span});
    }
    Expr result = step(opened.result);
    return changed ? lang::close_block({std::move(made), std::move(result)}) : expr;
  }

  Expr annotated(const Expr& step, std::vector<lang::Binding>& made) {
    if (hints_at_integers(step)) {
      return simulated(lang::cast<lang::Call>(step).args[0], QuantizedKind::Activation,
                       options_.input_bits, step->span, made);
    }
    if (!is_wanted(quantized_product(step))) return step;
    const auto& call = lang::cast<lang::Call>(step);
    if (!lang::is_float(dtype_of(call.args[0]))) return step;
    std::vector<Expr> args = call.args;
    args[0] = simulated(args[0], QuantizedKind::Input, options_.input_bits, step->span, made);
    args[1] = simulated(args[1], QuantizedKind::Weight, options_.weight_bits, step->span, made);
    if (args == call.args) return step;
    return with_operands(step, std::move(args));
  }

  // Convolutions are counted in the order in which they are computed.
  bool is_wanted(QuantizedProduct product) {
    switch (product) {
      case QuantizedProduct::None:
        return false;
      case QuantizedProduct::Convolution: {
        const auto& skipped = options_.skipped_convolutions;
        return std::find(skipped.begin(), skipped.end(), convolutions_++) == skipped.end();
      }
      case QuantizedProduct::Dense:
      case QuantizedProduct::Batches:
        return !options_.skips_dense;
    }
    return false;
  }

  // What several products take is simulated once.
  Expr simulated(const Expr& atom, QuantizedKind kind, std::int64_t bits, lang::Span place,
                 std::vector<lang::Binding>& made) {
    if (simulated_of(definitions_.of(atom), definitions_)) return atom;
    const lang::Variable* variable = variable_of(atom);
    if (const Expr* found = variable ? simulated_.find(variable) : nullptr) return *found;
    const double most = std::exp2(static_cast<double>(bits - 1)) - 1;
    const Expr value = at_place(simulate(atom, kind, 0, -most, most), place);
    const lang::VariableRef name = lang::make_variable("simulated", value->type);
    made.push_back({name, value, {}});
    definitions_.add(name, value);
    const Expr use = lang::make_var(name);
    if (variable) simulated_[variable] = use;
    return use;
  }

  const AnnotateOptions& options_;
  Definitions definitions_;
  lang::PointerMap<lang::Variable, Expr> simulated_;
  std::int64_t convolutions_ = 0;
};

std::int64_t bits_of(const lang::Attrs& options, const std::string& name) {
  const std::int64_t bits = options.get_int(name);
  if (bits >= 2 && bits <= 8) return bits;
  lang::fail(lang::DiagnosticKind::BadAttribute, "`" + name + "` is from 2 to 8");
}

}  // namespace

Pass quantize_annotate_pass() {
  Pass pass;
  pass.name = "QuantizeAnnotate";
  pass.doc =
      "puts `simulated_quantize` at the data and the weights of convolutions and products, and in "
      "the place of `annotation.cast_hint` of int8, with a scale of 0: not chosen yet";
  pass.options = {
      {"skip_conv_layers", lang::AttrKind::IntList, lang::AttrValue::ints({0}),
       "which convolutions stay in floats, counted from 0 in each function"},
      {"skip_dense_layer", lang::AttrKind::Bool, lang::AttrValue(true),
       "products that are no convolutions stay in floats"},
      {"nbit_input", lang::AttrKind::Int, lang::AttrValue(8), "bits of the data, from 2 to 8"},
      {"nbit_weight", lang::AttrKind::Int, lang::AttrValue(8), "bits of the weights, from 2 to 8"}};
  pass.level = 0;
  pass.example =
      R"(def f(x: Tensor[(1, 2, 4, 4), float32], v: Tensor[(2, 2, 3, 3), float32], w: Tensor[(2, 2, 1, 1), float32]) {
  nn.conv2d(nn.relu(nn.conv2d(x, v)), w)
})";
  pass.run = [](PassProgram& program, const lang::Attrs& options) {
    const AnnotateOptions how{options.get_ints("skip_conv_layers"),
                              options.get_bool("skip_dense_layer"), bits_of(options, "nbit_input"),
                              bits_of(options, "nbit_weight")};
    program.each([&](const Expr& fn) { return Annotator(how).rewrite(fn); });
  };
  return pass;
}

}  // namespace relay::opt
