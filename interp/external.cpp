#include "interp/external.h"

#include <utility>

#include <fmt/format.h>

#include "interp/leaves.h"
#include "lang/external_compiler.h"
#include "lang/function_fact.h"

namespace relay::interp {

using lang::DiagnosticKind;
using lang::Value;

struct ExternalFunctionCode::Made {
  std::vector<lang::ExternalType> results;
  std::unique_ptr<lang::ExternalCode> code;
};

ExternalFunctionCode::ExternalFunctionCode(lang::Expr function, std::string compiler)
    : Code(function->span), function_(std::move(function)), compiler_(std::move(compiler)) {}
ExternalFunctionCode::~ExternalFunctionCode() = default;

void ExternalFunctionCode::make(Machine& machine) const {
  lang::ExternalCompilers* const compilers = machine.host.external_compilers();
  if (!compilers) {
    lang::fail(DiagnosticKind::Unsupported,
               fmt::format("not supported: the external compiler `{}` here", compiler_), span);
  }
  lang::ExternalCompiler& compiler = compilers->get(compiler_, span);
  const auto graph = lang::external_graph(lang::cast<lang::Function>(function_));
  auto made = compiler.compile(graph);
  if (!made.code) {
    lang::fail(
        DiagnosticKind::BadCompiler,
        fmt::format("the external compiler `{}` does not compile {}: {}", compiler_,
                    graph.symbol.empty() ? "this function" : fmt::format("`{}`", graph.symbol),
                    made.error),
        span);
  }
  made_ = std::make_unique<Made>();
  for (const lang::ExternalValue& value : graph.results)
    made_->results.push_back(graph.type_of(value));
  made_->code = std::move(made.code);
}

Value ExternalFunctionCode::eval(Frame& frame) const {
  Machine& machine = frame.machine;
  auto value = lang::capture([&] {
    if (!made_) make(machine);
    return run(frame);
  });
  return value ? std::move(*value) : machine.fail(value.errors().front());
}

Value ExternalFunctionCode::run(Frame& frame) const {
  std::vector<lang::TensorRef> args;
  for (std::uint32_t i = 0; i < frame.function.param_count; ++i)
    append_leaves(frame.slots[i], args);
  for (lang::TensorRef& arg : args) arg = lang::contiguous(arg);
  std::vector<lang::TensorRef> results;
  for (const lang::ExternalType& type : made_->results)
    results.push_back(lang::Tensor::make(type.dtype, type.shape));
  const std::string error = made_->code->run(args, results, frame.machine.threads);
  if (!error.empty()) {
    lang::fail(DiagnosticKind::BadCompiler,
               fmt::format("the external compiler `{}`: {}", compiler_, error), span);
  }
  std::size_t next = 0;
  return value_of_leaves(lang::cast<lang::Function>(function_).body->type, results, next);
}

}  // namespace relay::interp
