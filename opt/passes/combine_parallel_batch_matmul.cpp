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

// Of the right operand, the axis that the result has too.
std::size_t column_axis(const lang::Call& call) {
  return call.attrs->get_bool("transpose_b") ? 1 : 2;
}

ParallelCalls parallel_products() {
  return {lang::NamedOp("nn.batch_matmul"),
          [](const lang::Call& call) {
            const std::size_t columns = column_axis(call);
            if (!known_extent(call.args[1], columns)) return std::string();
            const auto& dims = lang::as<lang::TensorType>(call.args[1]->type)->shape.dims();
            if (dims[0].is_any() || dims[3 - columns].is_any()) return std::string();
            std::string text = fmt::format("{} {} {} {}", lang::to_string(call.args[0]->type),
                                           lang::name_of(dtype_of(call.args[1])),
                                           dims[0].to_string(), dims[3 - columns].to_string());
            for (const lang::Attr& attr : call.attrs->list)
              text += " " + attr.key + "=" + attr.value.to_string();
            return text;
          },
          [](const std::vector<const lang::Call*>& calls) {
            const Expr right = joined_seconds(calls, column_axis(*calls[0]));
            return build::op("nn.batch_matmul", {calls[0]->args[0], right},
                             with_attrs(calls[0]->attrs, {}));
          },
          [](const Expr& result, const std::vector<const lang::Call*>& calls) {
            return parts_along(result, 2, extents_of_seconds(calls, column_axis(*calls[0])));
          }};
}

}  // namespace

Pass combine_parallel_batch_matmul_pass() {
  Pass pass;
  pass.name = "CombineParallelBatchMatmul";
  pass.doc = "makes one product of several `nn.batch_matmul` of the same left operand";
  pass.example =
      R"(def f(x: Tensor[(2, 3, 4), float32], a: Tensor[(2, 4, 2), float32],
  b: Tensor[(2, 4, 5), float32], c: Tensor[(2, 4, 2), float32]) {
  (nn.batch_matmul(x, a), nn.batch_matmul(x, b), tanh(nn.batch_matmul(x, c)))
})";
  return joining(std::move(pass), [](const lang::Attrs&) { return parallel_products(); });
}

}  // namespace relay::opt
