// Operators that fold axes.
#include <array>

#include <fmt/format.h>

#include "models/onnx/operators.h"
#include "models/onnx/writing.h"

namespace relay::models::onnx {

namespace {

using lang::DType;

std::string reduction(std::string_view op, const std::string& x, const std::string& rest) {
  if (op == "ReduceSum") return fmt::format("sum({}{})", x, rest);
  if (op == "ReduceMean") return fmt::format("mean({}{})", x, rest);
  if (op == "ReduceMax") return fmt::format("max({}{})", x, rest);
  if (op == "ReduceMin") return fmt::format("min({}{})", x, rest);
  if (op == "ReduceProd") return fmt::format("prod({}{})", x, rest);
  if (op == "ReduceL1") return fmt::format("sum(abs({}){})", x, rest);
  if (op == "ReduceL2") return fmt::format("sqrt(sum(square({}){}))", x, rest);
  if (op == "ReduceLogSum") return fmt::format("log(sum({}{}))", x, rest);
  if (op == "ReduceSumSquare") return fmt::format("sum(square({}){})", x, rest);
  return fmt::format("logsumexp({}{})", x, rest);
}

void reduce(Call& call) {
  const std::size_t rank = call.rank(0);
  const auto axes = call.integers("axes", 1);
  const bool keeps = call.integer("keepdims", 1) != 0;
  const bool is_all = !axes || axes->empty();
  if (is_all && call.integer("noop_with_empty_axes", 0) != 0) return call.give(Value(call.in(0)));
  const Value& value = call.in(0);
  if (value.elements && !value.constant && call.node.op == "ReduceProd") {
    return call.give(elements_value(call.output_name(0), {element_count(*value.elements)},
                                    !keeps || rank == 0, value.dtype()));
  }
  std::string rest;
  if (!is_all) {
    const auto list = call.axes(*axes, rank);
    rest = list.size() == 1 ? fmt::format(", axis={}", list[0])
                            : fmt::format(", axis={}", list_text(list));
  }
  if (keeps && rank > 0) rest += ", keepdims=True";
  call.give(reduction(call.node.op, call.text(0), rest));
}

void arg_reduce(Call& call) {
  const std::size_t axis = call.axis(call.integer("axis", 0), call.rank(0));
  std::string text = fmt::format("{}({}, axis={}", call.node.op == "ArgMax" ? "argmax" : "argmin",
                                 call.text(0), axis);
  if (call.integer("keepdims", 1) != 0) text += ", keepdims=True";
  if (call.integer("select_last_index", 0) != 0) text += ", select_last_index=True";
  call.give(fmt::format("cast({}), dtype=\"int64\")", text));
}

void cumulative_sum(Call& call) {
  const auto axes = call.known(1);
  if (axes.size() != 1) call.bad("`axis` is not one number");
  const std::size_t axis = call.axis(axes[0], call.rank(0));
  const bool reverse = call.integer("reverse", 0) != 0;
  std::string x = call.text(0);
  if (reverse) x = fmt::format("reverse({}, axis={})", x, axis);
  x = fmt::format("cumsum({}, axis={}{})", x, axis,
                  call.integer("exclusive", 0) != 0 ? ", exclusive=True" : "");
  if (reverse) x = fmt::format("reverse({}, axis={})", x, axis);
  call.give(x);
}

void lp_normalize(Call& call) {
  const std::size_t axis = call.axis(call.integer("axis", -1), call.rank(0));
  const std::int64_t p = call.integer("p", 2);
  if (p != 1 && p != 2) call.bad("`p` is neither 1 nor 2");
  const std::string x = call.text(0);
  const std::string norm =
      p == 1 ? fmt::format("sum(abs({}), axis={}, keepdims=True)", x, axis)
             : fmt::format("sqrt(sum(square({}), axis={}, keepdims=True))", x, axis);
  call.give(fmt::format("{} / {}", x, norm));
}

constexpr auto kReduceOperators = std::to_array<Operator>({
    {"ReduceSum", &reduce, "axes known"},
    {"ReduceMean", &reduce, ""},
    {"ReduceMax", &reduce, ""},
    {"ReduceMin", &reduce, ""},
    {"ReduceProd", &reduce, ""},
    {"ReduceL1", &reduce, ""},
    {"ReduceL2", &reduce, ""},
    {"ReduceLogSum", &reduce, ""},
    {"ReduceLogSumExp", &reduce, ""},
    {"ReduceSumSquare", &reduce, ""},
    {"ArgMax", &arg_reduce, ""},
    {"ArgMin", &arg_reduce, ""},
    {"CumSum", &cumulative_sum, "axis known"},
    {"LpNormalization", &lp_normalize, ""},
});

}  // namespace

std::span<const Operator> reduce_operators() { return kReduceOperators; }

}  // namespace relay::models::onnx
