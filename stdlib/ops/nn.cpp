#include <string>

#include "lang/attrs_struct.h"
#include "stdlib/ops/accumulate.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/formula.h"
#include "stdlib/ops/types.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

// --- bias_add ---

void add_bias_add() {
  OpDef def;
  def.name = "nn.bias_add";
  def.level = 1;
  def.doc = "The data plus a vector along one axis.";
  def.example =
      "nn.bias_add([[1.0, 2.0], [3.0, 4.0]], [10.0, 20.0])\n// expect: [[11.0, 22.0], [13.0, "
      "24.0]]";
  def.inputs = {{"data", "the tensor"}, {"bias", "a vector as long as the axis"}};
  def.attrs = {optional_attr("axis", AttrKind::Int, 1, "the axis that the bias runs along")};
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    const Type bias = call.tensor(1);
    call.solver.unify(as_tensor(data).dtype, as_tensor(bias).dtype);
    call.solver.require(as_tensor(data).dtype, PrimOperands::kNumeric);
    call.returns(data);
    const Shape& vector = as_tensor(bias).shape;
    if (vector.has_rank() && vector.rank() != 1) {
      call.fail(DiagnosticKind::RankMismatch, "the bias must be a vector, and `" +
                                                  to_string(vector) + "` has rank " +
                                                  std::to_string(vector.rank()));
    }
    const Shape length = with_rank(call, vector, 1);
    const Shape& shape = as_tensor(data).shape;
    if (!shape.has_rank()) return RuleOutcome::Stuck;
    check_axis(call, call.attrs->get_int("axis"), shape);
    const Dim& extent = shape[position_of(call.attrs->get_int("axis"), shape.rank())];
    if (extent.is_constant() && length[0].is_constant() && !(extent == length[0])) {
      call.fail(DiagnosticKind::ShapeMismatch,
                "a bias of length " + length[0].to_string() + " does not fit axis " +
                    std::to_string(call.attrs->get_int("axis")) + " of `" + to_string(shape) + "`");
    }
    call.solver.unify(extent, length[0]);
    return RuleOutcome::Solved;
  };
  def.usual = [](TypeCall& call, bool) {  // a batch of vectors
    const Shape data = as_tensor(call.tensor(0)).shape;
    const std::int64_t axis = call.attrs->get_int("axis");
    if (data.has_rank() || (axis != 1 && axis != -1)) return false;
    with_rank(call, data, 2);
    return true;
  };
  def.definition = [](const DefinitionCall& call) {
    const std::vector<Dim>& dims = dims_of(call.args[0]);
    const std::size_t axis = position_of(call.attrs->get_int("axis"), dims.size());
    return build::comprehension(dims, [&](const Indices& i) {
      return build::add(build::at(call.args[0], i), build::at(call.args[1], {i[axis]}));
    });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {call.dout,
            op("sum", {call.dout}, {{"axis", call.attrs->get_int("axis")}, {"exclude", true}})};
  };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- softmax and its logarithm ---

OpDef along_axis(const char* name, const char* doc, const char* example) {
  OpDef def;
  def.name = name;
  def.level = 1;
  def.doc = doc;
  def.example = example;
  def.inputs = {{"data", "the values"}};
  def.attrs = {optional_attr("axis", AttrKind::Int, -1, "the axis")};
  lang::set_attrs_struct(def.name, "SoftmaxAttrs");
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    call.solver.require(as_tensor(data).dtype, PrimOperands::kFloat);
    call.returns(data);
    if (!as_tensor(data).shape.has_rank()) return RuleOutcome::Stuck;
    check_axis(call, call.attrs->get_int("axis"), as_tensor(data).shape);
    return RuleOutcome::Solved;
  };
  return def;
}

std::vector<bool> only_axis(const DefinitionCall& call) {
  std::vector<bool> axes(dims_of(call.args[0]).size());
  axes[position_of(call.attrs->get_int("axis"), axes.size())] = true;
  return axes;
}

// Each element of x with the element of `reduced` (the axis has extent 1 there) that it belongs to.
Expr with_reduced(const Expr& x, const std::vector<bool>& axes, const Expr& reduced,
                  const std::function<Expr(const Expr& x, const Expr& reduced)>& f) {
  return build::comprehension(dims_of(x), [&](const Indices& i) {
    Indices outer = i;
    for (std::size_t axis = 0; axis < i.size(); ++axis) {
      if (axes[axis]) outer[axis] = build::index_constant(0);
    }
    return f(build::at(x, i), build::at(reduced, outer));
  });
}

Expr softmax_definition(const DefinitionCall& call) {
  const Expr& x = call.args[0];
  const std::vector<bool> axes = only_axis(call);
  return build::let("largest", reduce_axes(ReduceOp::Max, x, axes, true), [&](const Expr& largest) {
    const Expr powers = with_reduced(x, axes, largest, [](const Expr& value, const Expr& most) {
      return build::prim(Prim::Exp, {build::sub(widened_scalar(value), widened_scalar(most))});
    });
    return build::let("powers", powers, [&](const Expr& power) {
      return build::let(
          "total", reduce_axes(ReduceOp::Sum, power, axes, true), [&](const Expr& total) {
            return with_reduced(power, axes, total, [&](const Expr& value, const Expr& sum) {
              // One division for each row.
              const Expr share = build::div(build::scalar_like(sum, 1.0), sum);
              return build::cast_to(call.tensor(0).dtype.known(), build::mul(value, share));
            });
          });
    });
  });
}

Expr log_softmax_definition(const DefinitionCall& call) {
  const Expr& x = call.args[0];
  const std::vector<bool> axes = only_axis(call);
  return build::let("largest", reduce_axes(ReduceOp::Max, x, axes, true), [&](const Expr& largest) {
    const Expr shifts = with_reduced(x, axes, largest, [](const Expr& value, const Expr& most) {
      return build::sub(widened_scalar(value), widened_scalar(most));
    });
    return build::let("shifted", shifts, [&](const Expr& shifted) {
      const auto power = [](const Expr& value) { return build::prim(Prim::Exp, {value}); };
      return build::let(
          "total", reduce_axes(ReduceOp::Sum, shifted, axes, true, power), [&](const Expr& total) {
            return with_reduced(shifted, axes, total, [&](const Expr& value, const Expr& sum) {
              return build::cast_to(call.tensor(0).dtype.known(),
                                    build::sub(value, build::prim(Prim::Log, {sum})));
            });
          });
    });
  });
}

Expr sum_along(const AttrsRef& attrs, const Expr& value) {
  return op("sum", {value}, {{"axis", attrs->get_int("axis")}, {"keepdims", true}});
}

void add_softmax() {
  OpDef def =
      along_axis("nn.softmax",
                 "Exponentials along an axis, divided by their sum; large values do not overflow.\n"
                 "NaN, or infinity, makes its whole row NaN.",
                 "nn.softmax([1.0, 1.0])\n// expect: [0.5, 0.5]");
  def.definition = softmax_definition;
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {call.out * (call.dout - sum_along(call.attrs, call.dout * call.out))};
  };
  def.tangent = [](const lang::TangentCall& call) -> Expr {
    const Expr& dx = call.tangents[0];
    return call.out * (dx - sum_along(call.attrs, dx * call.out));
  };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_log_softmax() {
  OpDef def =
      along_axis("nn.log_softmax",
                 "The logarithm of `nn.softmax` along an axis, without its loss of precision.\n"
                 "NaN, or infinity, makes its whole row NaN.",
                 "nn.log_softmax([[5.0], [7.0]])\n// expect: [[0.0], [0.0]]");
  def.definition = log_softmax_definition;
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {call.dout - op("exp", {call.out}) * sum_along(call.attrs, call.dout)};
  };
  def.tangent = [](const lang::TangentCall& call) -> Expr {
    const Expr& dx = call.tangents[0];
    return dx - sum_along(call.attrs, op("exp", {call.out}) * dx);
  };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- Cross entropy: the mean over rows of -sum(y * f(x)) ---

OpDef loss(const char* name, const char* doc, const char* example, bool takes_log) {
  OpDef def;
  def.name = name;
  def.level = 10;
  def.doc = doc;
  def.example = example;
  def.inputs = {{"x", "predictions, a row for each sample"},
                {"y", "target probabilities, of the same shape"}};
  def.type_rule = [](TypeCall& call) {
    const Type x = call.tensor(0);
    const Type y = call.tensor(1);
    for (const Type& type : {x, y}) {
      const Shape& shape = as_tensor(type).shape;
      if (!shape.has_rank() || shape.rank() == 2) continue;
      call.fail(DiagnosticKind::RankMismatch, "`" + call.op.name + "` takes matrices, and `" +
                                                  to_string(shape) + "` has rank " +
                                                  std::to_string(shape.rank()));
    }
    call.solver.unify(x, y);
    call.solver.unify(as_tensor(x).shape, with_rank(call, as_tensor(x).shape, 2));
    call.solver.require(as_tensor(x).dtype, PrimOperands::kFloat);
    call.returns(lang::tensor_type(Shape(), as_tensor(x).dtype));
    return RuleOutcome::Solved;
  };
  def.definition = [takes_log](const DefinitionCall& call) {
    const Expr& x = call.args[0];
    const DType dtype = call.tensor(0).dtype.known();
    const Expr sum = build::reduction(ReduceOp::Sum, dims_of(x), [&](const Indices& i) {
      const Expr value = widened_scalar(build::at(x, i));
      return build::mul(widened_scalar(build::at(call.args[1], i)),
                        takes_log ? build::prim(Prim::Log, {value}) : value);
    });
    return build::let("total", sum, [&](const Expr& total) {
      const auto rows = static_cast<double>(dims_of(x)[0].constant());
      const DType wide = accumulator_of(dtype);
      const Expr mean = build::div(total, build::constant(wide, rows));
      return build::cast_to(dtype, build::sub(build::constant(wide, 0), mean));
    });
  };
  return def;
}

// What each row's loss counts for: -dout / rows.
Expr row_weight(const GradientCall& call) {
  return -over_count(call.dout, call.args[0], {true, false});
}

void add_cross_entropies() {
  OpDef plain =
      loss("nn.cross_entropy", "The mean over rows of -sum(y * log(x)), x being probabilities.",
           "nn.cross_entropy([[1.0, 1.0]], [[0.5, 0.5]])\n// expect: 0.0", true);
  plain.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const Expr& x = call.args[0];
    return {row_weight(call) * (call.args[1] / x), row_weight(call) * op("log", {x})};
  };
  lang::OpRegistry::instance().add(std::move(plain));

  OpDef logits =
      loss("nn.cross_entropy_with_logits",
           "The mean over rows of -sum(y * x), x being logarithms of probabilities.\n"
           "For raw scores put `nn.log_softmax` in front.",
           "nn.cross_entropy_with_logits([[-1.0, -3.0]], [[0.5, 0.5]])\n// expect: 2.0", false);
  logits.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {row_weight(call) * call.args[1], row_weight(call) * call.args[0]};
  };
  lang::OpRegistry::instance().add(std::move(logits));
}

}  // namespace

void add_nn_operators() {
  add_bias_add();
  add_softmax();
  add_log_softmax();
  add_cross_entropies();
}

}  // namespace relay::stdlib
