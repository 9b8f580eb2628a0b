#include <array>
#include <vector>

#include "jit/math_target.h"
#include "jit/scalar_codegen.h"
#include "loops/math.h"

namespace relay::jit {

using lang::Prim;
using llvm::Value;

Value* emit_math(llvm::IRBuilder<>& builder, int width, Prim prim, bool is_double,
                 std::span<Value* const> args) {
  LlvmTarget target(builder, width);
  switch (prim) {
#define RELAY_OPERANDS_1 args[0]
#define RELAY_OPERANDS_2 args[0], args[1]
#define RELAY_MATH(Name, function, arity, ...)                                        \
  case Prim::Name:                                                                    \
    if (is_double) return emit_call(builder, width, "relay_" #function "_f64", args); \
    return loops::math::function(target, RELAY_OPERANDS_##arity);
#include "loops/math.def"
#undef RELAY_MATH
#undef RELAY_OPERANDS_1
#undef RELAY_OPERANDS_2
    default:
      return nullptr;
  }
}

Value* emit_call(llvm::IRBuilder<>& builder, int width, const char* name,
                 std::span<Value* const> args) {
  llvm::Module* const module = builder.GetInsertBlock()->getModule();
  llvm::Type* const scalar = args[0]->getType()->getScalarType();
  const std::vector<llvm::Type*> types(args.size(), scalar);
  llvm::FunctionCallee callee =
      module->getOrInsertFunction(name, llvm::FunctionType::get(scalar, types, false));
  if (auto* function = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
    function->setDoesNotThrow();
    function->setDoesNotAccessMemory();
    function->setWillReturn();
  }
  if (width == 1) return builder.CreateCall(callee, llvm::ArrayRef(args.data(), args.size()));
  Value* result = llvm::PoisonValue::get(args[0]->getType());
  for (int lane = 0; lane < width; ++lane) {
    std::array<Value*, 2> operands{};
    for (std::size_t i = 0; i < args.size(); ++i) {
      operands[i] = builder.CreateExtractElement(args[i], static_cast<std::uint64_t>(lane));
    }
    Value* const one = builder.CreateCall(callee, llvm::ArrayRef(operands.data(), args.size()));
    result = builder.CreateInsertElement(result, one, static_cast<std::uint64_t>(lane));
  }
  return result;
}

}  // namespace relay::jit
