#include <dlfcn.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "flow/identity.h"
#include "flow/layout.h"
#include "flow/native.h"
#include "interp/native.h"
#include "jit/jit.h"

using namespace relay;
using lang::DType;

namespace {

std::unique_ptr<flow::FunctionCompiler> function_compiler() {
  const char* const path = std::getenv("RELAY_JIT_LIBRARY");
  void* const library = dlopen(path ? path : "librelay_jit.so", RTLD_NOW | RTLD_LOCAL);
  auto* const make =
      library ? reinterpret_cast<jit::MakeFunctionCompiler>(dlsym(library, jit::kFunctionEntryName))
              : nullptr;
  return std::unique_ptr<flow::FunctionCompiler>(
      make ? make(&interp::native_services(), &flow::layout()) : nullptr);
}

// fn (x) { x }, of scalars.
flow::Function identity(DType dtype) {
  flow::Function function;
  function.param_types = {lang::scalar_type(dtype)};
  function.param_sites = {nullptr};
  function.result_type = lang::scalar_type(dtype);
  function.slots = {{lang::ValueKind::Scalar, dtype}};
  function.param_count = 1;
  function.is_borrowed = {false};
  function.results = function.slots;
  function.body.exit = flow::Exit::Return;
  function.body.values = {flow::Operand::slot(0)};
  function.is_lowered = true;
  return function;
}

// fn (x) { callee(x) }
flow::Function calling(flow::Function& callee, DType given) {
  flow::Function function = identity(given);
  function.result_type = callee.result_type;
  function.results = callee.results;
  function.slots.push_back(callee.results[0]);
  flow::Step step;
  step.kind = flow::StepKind::Call;
  step.callee = &callee;
  step.args = {flow::Operand::slot(0)};
  step.results = {1};
  function.sites.push_back(std::make_unique<flow::Site>());
  step.site = function.sites.back().get();
  function.body.steps.push_back(std::move(step));
  function.body.values = {flow::Operand::slot(1)};
  return function;
}

std::string problem_of_calling(DType given) {
  const auto compiler = function_compiler();
  flow::Function callee = identity(DType::Int64);
  flow::Function caller = calling(callee, given);
  caller.symbol = "f0";
  callee.symbol = "f1";
  flow::Function* functions[] = {&caller, &callee};
  std::string problem;
  const auto image = compiler->begin(functions, flow::identity_of(functions))->run(problem);
  CHECK(image.has_value() == problem.empty());
  return problem;
}

}  // namespace

TEST_CASE("code that does not verify is none, and LLVM's words are handed on") {
  if (!function_compiler()) {
    WARN("librelay_jit.so is not there: native code is not tested");
    return;
  }
  CHECK(problem_of_calling(DType::Int64).empty());
  CHECK(problem_of_calling(DType::Int32).find("does not match function signature") !=
        std::string::npos);
}
