#include "tests/support/by_point.h"

#include <fmt/format.h>

namespace relay::tests {
namespace {

// Kernels do not contain a function that calls itself.
constexpr const char* kByPoint =
    "def again(y: float32, n: int32) -> float32 { if n == 0 { y } else { again(y, n - 1) } }\n"
    "def same(y: float32) -> float32 { again(y, 1) }\n"
    "def again_row[n](y: Tensor[(n), float32], k: int32) -> Tensor[(n), float32] {\n"
    "  if k == 0 { y } else { again_row(y, k - 1) }\n}\n"
    "def same_row[n](y: Tensor[(n), float32]) -> Tensor[(n), float32] { again_row(y, 1) }\n";
constexpr const char* kByKernel =
    "def same(y: float32) -> float32 { y }\n"
    "def same_row[n](y: Tensor[(n), float32]) -> Tensor[(n), float32] { y }\n";

Outcome outcome(repl::Session& session, const char* same, const std::string& program) {
  auto errors = session.run("<program>", same + program, nullptr);
  if (errors.empty()) {
    auto value = session.evaluate("f(x, m, d)");
    if (value) return {lang::to_string(*value), true};
    errors = value.errors();
  }
  const lang::Diagnostic& error = errors.front();
  std::string told = fmt::format("{}: {}", lang::name_of(error.kind), error.message);
  // A kernel does not know which division it was.
  if (error.kind == lang::DiagnosticKind::IndexOutOfRange)
    told += fmt::format(" at `{}`", error.span.text());
  return {told, false};
}

}  // namespace

Outcome outcome_by_kernel(repl::Session& session, const std::string& program) {
  return outcome(session, kByKernel, program);
}
Outcome outcome_by_point(repl::Session& session, const std::string& program) {
  return outcome(session, kByPoint, program);
}

repl::SessionOptions verified(interp::JitMode jit) {
  repl::SessionOptions options;
  options.verify = true;
  options.jit = jit;
  // A kernel of all points may be a large product, which a library adds up in its own order.
  options.kernels = repl::LibraryKernels::Off;
  return options;
}

}  // namespace relay::tests
