#include "interp/external.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "lang/external_compiler.h"
#include "lang/function_fact.h"

namespace relay::interp {

using lang::DiagnosticKind;
using lang::Value;

namespace {

void append_leaves(const Value& value, std::vector<lang::TensorRef>& leaves) {
  if (value.kind() == lang::ValueKind::Tuple) {
    for (const Value& field : value.as_tuple().fields()) append_leaves(field, leaves);
    return;
  }
  leaves.push_back(lang::contiguous(value.to_tensor()));
}

Value value_of_leaves(const lang::Type& type, std::vector<lang::TensorRef>& leaves,
                      std::size_t& next) {
  const auto* tuple = lang::as<lang::TupleType>(type);
  if (!tuple) return Value::tensor(std::move(leaves[next++]));
  const auto cell = lang::TupleCell::make(tuple->fields.size());
  for (std::size_t i = 0; i < tuple->fields.size(); ++i)
    cell->fields()[i] = value_of_leaves(tuple->fields[i], leaves, next);
  return Value::tuple(cell);
}

}  // namespace

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
        DiagnosticKind::BadData,
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
  std::vector<lang::TensorRef> results;
  for (const lang::ExternalType& type : made_->results)
    results.push_back(lang::Tensor::make(type.dtype, type.shape));
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const int threads = frame.machine.threads > 0 ? frame.machine.threads : cores;
  const std::string error = made_->code->run(args, results, threads);
  if (!error.empty()) {
    lang::fail(DiagnosticKind::BadData,
               fmt::format("the external compiler `{}`: {}", compiler_, error), span);
  }
  std::size_t next = 0;
  return value_of_leaves(lang::cast<lang::Function>(function_).body->type, results, next);
}

}  // namespace relay::interp
