#include <array>
#include <limits>
#include <string>
#include <vector>

#include "jit/math_target.h"
#include "jit/scalar_codegen.h"
#include "loops/math.h"
#include "loops/math64.h"

namespace relay::jit {

using lang::Prim;
using llvm::Value;

namespace {

// `result`, or where a lane of `x` is beyond `largest`, what the complete function `name` of the
// runtime gives for every lane.
Value* or_complete(llvm::IRBuilder<>& b, int width, const std::string& name, double largest,
                   Value* x, Value* result) {
  Value* const magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  Value* is_large = b.CreateFCmpOGT(magnitude, llvm::ConstantFP::get(x->getType(), largest));
  // Lanes that do not count may hold anything.
  is_large = b.CreateFreeze(is_large);
  if (width > 1) is_large = b.CreateOrReduce(is_large);
  llvm::Function* const function = b.GetInsertBlock()->getParent();
  llvm::LLVMContext& context = function->getContext();
  llvm::BasicBlock* const before = b.GetInsertBlock();
  auto* const large = llvm::BasicBlock::Create(context, "large", function);
  auto* const after = llvm::BasicBlock::Create(context, "small", function);
  b.CreateCondBr(is_large, large, after, llvm::MDBuilder(context).createBranchWeights(1, 1 << 20));
  b.SetInsertPoint(large);
  const std::array<Value*, 1> args = {x};
  Value* const complete = emit_call(b, width, name.c_str(), args);
  b.CreateBr(after);
  b.SetInsertPoint(after);
  llvm::PHINode* const phi = b.CreatePHI(result->getType(), 2);
  phi->addIncoming(result, before);
  phi->addIncoming(complete, large);
  return phi;
}

}  // namespace

Value* emit_math(llvm::IRBuilder<>& builder, int width, Prim prim, bool is_double,
                 std::span<Value* const> args) {
  LlvmTarget target(builder, width);
  LlvmTargetF64 target64(builder, width);
  Value* result = nullptr;
  std::string name;
  switch (prim) {
#define RELAY_OPERANDS_1 args[0]
#define RELAY_OPERANDS_2 args[0], args[1]
#define RELAY_MATH(Name, function, arity, ...)                                    \
  case Prim::Name:                                                                \
    if (!is_double) return loops::math::function(target, RELAY_OPERANDS_##arity); \
    result = loops::math64::function(target64, RELAY_OPERANDS_##arity);           \
    name = "relay_" #function "_f64";                                             \
    break;
#include "loops/math.def"
#undef RELAY_MATH
#undef RELAY_OPERANDS_1
#undef RELAY_OPERANDS_2
    default:
      return nullptr;
  }
  const double largest = loops::math64::largest_argument(prim);
  if (largest == std::numeric_limits<double>::infinity()) return result;
  return or_complete(builder, width, name, largest, args[0], result);
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
