#include <string>
#include <vector>

#include <fmt/format.h>

#include "lang/build.h"
#include "lang/visit.h"
#include "opt/quantize.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
namespace build = lang::build;

namespace {

struct CalibrateOptions {
  bool has_data_mode;  // else `global_scale`
  ScaleChoice input;
  ScaleChoice weight;
  double global_scale;
  double percentile;
  std::string data;
};

// The values of a constant tensor.
std::vector<double> numbers_of(const Expr& constant) {
  const lang::Tensor& tensor = *lang::cast<lang::Constant>(constant).value;
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) numbers.push_back(tensor.number_at(i));
  return numbers;
}

class Calibrator {
 public:
  Calibrator(const CalibrateOptions& options, PassProgram& program)
      : options_(options), program_(program) {}

  Expr calibrated(const Expr& fn) {
    if (options_.has_data_mode) return calibrated_by_data(fn);
    return replace_steps(fn, [&](const Expr& step, const Definitions& definitions) {
      return with_scale(step, definitions, [&](const auto&) { return options_.global_scale; });
    });
  }

 private:
  // Chooses the scales in the body of a function, from what is computed before it to what comes
  // later: the second sees values that the first has rounded. What stands in branches and in inner
  // functions is not run with the data.
  Expr calibrated_by_data(const Expr& fn) {
    const auto* function = as<lang::Function>(fn);
    if (!function) return fn;
    lang::Block block = lang::open_block(function->body);
    Definitions definitions;
    bool changed = false;
    for (std::size_t i = 0; i <= block.bindings.size(); ++i) {
      lang::Binding* binding = i < block.bindings.size() ? &block.bindings[i] : nullptr;
      Expr& value = binding ? binding->value : block.result;
      const lang::AlgebraScope scope(lang::algebra_of(value));
      const Expr made = with_scale(value, definitions, [&](const Simulated& simulated) {
        return reach_of_data(simulated, *function, block, i);
      });
      if (made) value = at_place(made, value->span);
      changed = changed || made;
      if (binding) definitions.add(binding->variable, value);
    }
    if (!changed) return fn;
    return lang::make_function(function->params, function->result, lang::close_block(block),
                               function->type_params, function->attrs, fn->span, fn->type);
  }

  // The step, if it is a value whose scale is not chosen yet, with one; null for all others.
  template <class ReachOfData>
  Expr with_scale(const Expr& step, const Definitions& definitions,
                  const ReachOfData& reach) const {
    const auto simulated = simulated_of(step, definitions);
    if (!simulated || simulated->kind == QuantizedKind::Identity || simulated->scale != 0)
      return nullptr;
    const double reached = simulated->kind == QuantizedKind::Weight
                               ? reach_of_weight(*simulated, definitions)
                               : reach(*simulated);
    return simulate(simulated->call->args[0], simulated->kind, reached / simulated->steps(),
                    simulated->clip_min, simulated->clip_max);
  }

  double reach_of_weight(const Simulated& simulated, const Definitions& definitions) const {
    const Expr& weight = definitions.of(simulated.call->args[0]);
    Expr value = weight->kind == lang::ExprKind::Constant ? weight : Expr();
    if (!value && lang::free_variables(weight).empty()) value = program_.host().evaluate(weight);
    if (!value) {
      lang::fail(lang::DiagnosticKind::Unsupported,
                 "not supported: the scale of a weight that is no constant; `relay opt --bind` "
                 "makes parameters constants",
                 simulated.call->span);
    }
    return reach_of(numbers_of(value), options_.weight, 1, simulated.steps());
  }

  double reach_of_data(const Simulated& simulated, const lang::Function& function,
                       const lang::Block& block, std::size_t place) {
    if (function.params.size() != 1) {
      lang::fail(lang::DiagnosticKind::Unsupported,
                 fmt::format("not supported: calibration by data of a function of {} parameters; "
                             "`relay opt --bind` makes all but the data constants",
                             function.params.size()),
                 function.span);
    }
    lang::Block before{
        {block.bindings.begin(), block.bindings.begin() + static_cast<std::ptrdiff_t>(place)},
        simulated.call->args[0]};
    const Expr part =
        lang::rename_bound(build::function(function.params, lang::close_block(before)));
    const Expr value = program_.host().evaluate(build::call(part, {data(*function.params[0])}));
    if (!value) {
      lang::fail(lang::DiagnosticKind::BadAttribute,
                 fmt::format("the data of calibration, `{}`, cannot be run through the function",
                             options_.data),
                 function.span);
    }
    return reach_of(numbers_of(value), options_.input, options_.percentile, simulated.steps());
  }

  // The value of that name, or what the function without parameters gives, which the parameter
  // takes.
  Expr data(const lang::Variable& param) {
    const PassProgram::Entry* entry = program_.find(options_.data);
    const auto* function = entry ? as<lang::FunctionType>(entry->function->type) : nullptr;
    std::string found = "is no tensor, and no function without parameters that gives one";
    if (!entry || (function && function->params.empty())) {
      const bool is_wanted = !entry || lang::equal(function->result, param.type);
      const Expr value = is_wanted ? value_of_data(entry, param.type) : Expr();
      if (value && lang::equal(value->type, param.type)) return value;
      if (value || !is_wanted)
        found = "is `" + lang::to_string(value ? value->type : function->result) + "`";
    }
    lang::fail(lang::DiagnosticKind::BadAttribute,
               fmt::format("the data of calibration, `{}`, {}; the parameter `{}` is `{}`",
                           options_.data, found, param.name, lang::to_string(param.type)),
               param.span);
  }
  Expr value_of_data(const PassProgram::Entry* entry, const lang::Type& type) {
    const Expr name =
        lang::make_global_var(options_.data, {}, entry ? entry->function->type : type);
    return unless_refused(
        [&] { return program_.host().evaluate(entry ? build::call(name, {}) : name); });
  }

  const CalibrateOptions& options_;
  PassProgram& program_;
};

CalibrateOptions calibrate_options(const lang::Attrs& options) {
  const std::string mode = options.get_string("calibrate_mode");
  const bool has_data_mode = mode != "global_scale";
  CalibrateOptions how{has_data_mode,
                       has_data_mode ? scale_choice("calibrate_mode", mode,
                                                    {ScaleChoice::Max, ScaleChoice::Percentile,
                                                     ScaleChoice::Divergence})
                                     : ScaleChoice::Max,
                       scale_choice("weight_scale", options.get_string("weight_scale"),
                                    {ScaleChoice::Power2, ScaleChoice::Max}),
                       options.get_float("global_scale"),
                       options.get_float("percentile"),
                       options.get_string("data")};
  if (has_data_mode && how.data.empty()) {
    lang::fail(
        lang::DiagnosticKind::BadAttribute,
        fmt::format("`calibrate_mode=\"{}\"` needs data: `data=\"NAME\"` names a tensor that "
                    "the function takes",
                    mode));
  }
  return how;
}

}  // namespace

Pass quantize_calibrate_pass() {
  Pass pass;
  pass.name = "QuantizeCalibrate";
  pass.doc = "chooses the scales of `simulated_quantize` that are not chosen yet";
  pass.options = {
      {"calibrate_mode", lang::AttrKind::String, lang::AttrValue("global_scale"),
       "how far the scale of data reaches: `global_scale`, or `max`, `percentile` or "
       "`kl_divergence` of what `data` give"},
      {"global_scale", lang::AttrKind::Float, lang::AttrValue(8.0), "one for all data"},
      {"weight_scale", lang::AttrKind::String, lang::AttrValue("power2"),
       "how far that of weights reaches: the largest magnitude (`max`), or the power of two above"},
      {"percentile", lang::AttrKind::Float, lang::AttrValue(0.99999),
       "how much of the data it covers"},
      {"data", lang::AttrKind::String, lang::AttrValue(std::string()),
       "the name of a tensor that the function takes"}};
  pass.keeps = Keeps::Meaning;
  pass.level = 0;
  pass.example =
      R"(def f(x: Tensor[(1, 2), float32]) {
  nn.dense(relay.op.annotation.simulated_quantize(x, 0.0, -127.0, 127.0, kind=1),
    relay.op.annotation.simulated_quantize([[0.5, 1.5]], 0.0, -127.0, 127.0, kind=2))
})";
  pass.run = [](PassProgram& program, const lang::Attrs& options) {
    const CalibrateOptions how = calibrate_options(options);
    Calibrator calibrator(how, program);
    program.each([&](const Expr& fn) { return calibrator.calibrated(fn); });
  };
  return pass;
}

}  // namespace relay::opt
