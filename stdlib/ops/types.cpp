#include "stdlib/ops/types.h"

#include "stdlib/ops/families.h"

namespace relay::stdlib {

lang::Shape ranked(lang::TypeCall& call, std::size_t argument, std::size_t rank) {
  const lang::Shape& shape = call.tensor_node(argument).shape;
  if (shape.has_rank() && shape.rank() != rank) {
    call.fail(lang::DiagnosticKind::RankMismatch,
              "`" + call.op.name + "` takes " + call.op.inputs[argument].name + " of rank " +
                  std::to_string(rank) + ", and `" + to_string(shape) + "` has rank " +
                  std::to_string(shape.rank()));
  }
  return with_rank(call, shape, rank);
}

void bad_attribute(const lang::TypeCall& call, const std::string& message) {
  lang::fail(lang::DiagnosticKind::BadAttribute, message, call.span);
}

std::size_t new_axes(const lang::TypeCall& call) {
  constexpr std::int64_t kMost = 1000;
  const std::int64_t count = call.attrs->get_int("num_newaxis");
  if (count < 0) bad_attribute(call, "`num_newaxis` must not be negative");
  if (count > kMost) {
    bad_attribute(call, "`num_newaxis` is " + std::to_string(count) + ", and must be at most " +
                            std::to_string(kMost));
  }
  return static_cast<std::size_t>(count);
}

}  // namespace relay::stdlib
