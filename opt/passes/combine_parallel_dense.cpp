#include <utility>

#include <fmt/format.h>

#include "lang/build.h"
#include "opt/parallel_calls.h"
#include "opt/pass_program.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::Expr;
namespace build = lang::build;

namespace {

std::string dtypes_of_dense(const lang::Call& call) {
  return fmt::format("{} {} {}", lang::to_string(call.args[0]->type),
                     lang::name_of(dtype_of(call.args[1])),
                     call.attrs->find("out_dtype")->to_string());
}

// Their weights behind one another.
ParallelCalls flat_dense() {
  return {known::dense,
          [](const lang::Call& call) {
            return known_extent(call.args[1], 0) ? dtypes_of_dense(call) : std::string();
          },
          [](const std::vector<const lang::Call*>& calls) {
            return build::op("nn.dense", {calls[0]->args[0], joined_seconds(calls, 0)},
                             with_attrs(calls[0]->attrs, {{"units", {}}}));
          },
          [](const Expr& result, const std::vector<const lang::Call*>& calls) {
            const auto& type = *lang::as<lang::TensorType>(result->type);
            return parts_along(result, type.shape.rank() - 1, extents_of_seconds(calls, 0));
          }};
}

// As a batch of products of matrices; only those of equal weights.
ParallelCalls batched_dense() {
  return {known::dense,
          [](const lang::Call& call) {
            const auto& data = *lang::as<lang::TensorType>(call.args[0]->type);
            const auto units = known_extent(call.args[1], 0);
            if (data.shape.rank() != 2 || !units) return std::string();
            return fmt::format("{} {}", dtypes_of_dense(call), *units);
          },
          [](const std::vector<const lang::Call*>& calls) {
            std::vector<Expr> data;
            std::vector<Expr> weights;
            for (const auto* call : calls) {
              data.push_back(call->args[0]);
              weights.push_back(call->args[1]);
            }
            const auto stack = [](std::vector<Expr> tensors) {
              return build::op("stack", {build::tuple(std::move(tensors))}, {{"axis", 0}});
            };
            return build::op(
                "nn.batch_matmul", {stack(std::move(data)), stack(std::move(weights))},
                {{"transpose_b", true}, {"out_dtype", *calls[0]->attrs->find("out_dtype")}});
          },
          [](const Expr& result, const std::vector<const lang::Call*>& calls) {
            const std::vector<std::int64_t> each(calls.size(), 1);
            std::vector<Expr> parts = parts_along(result, 0, each);
            for (Expr& part : parts)
              part = build::op("squeeze", {part}, {{"axis", lang::AttrValue::ints({0})}});
            return parts;
          }};
}

}  // namespace

Pass combine_parallel_dense_pass() {
  Pass pass;
  pass.name = "CombineParallelDense";
  pass.doc = "makes one product of several `nn.dense` of the same data";
  pass.options = {{"to_batch", lang::AttrKind::Bool, lang::AttrValue(true),
                   "a product of two batches, for weights of equal shapes; else the weights behind "
                   "one another"}};
  pass.example =
      R"(def f(x: Tensor[(2, 4), float32], a: Tensor[(3, 4), float32],
  b: Tensor[(3, 4), float32], c: Tensor[(3, 4), float32]) {
  (nn.dense(x, a), nn.dense(x, b), tanh(nn.dense(x, c)))
})";
  return joining(std::move(pass), [](const lang::Attrs& options) {
    return options.get_bool("to_batch") ? batched_dense() : flat_dense();
  });
}

}  // namespace relay::opt
