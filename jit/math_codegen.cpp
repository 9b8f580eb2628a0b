#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "jit/math_target.h"
#include "jit/scalar_codegen.h"
#include "loops/is_math.h"
#include "loops/math.h"
#include "loops/math64.h"

namespace relay::jit {

using lang::Prim;
using llvm::Value;

namespace {

// What the complete function `name` of the runtime gives for every lane of what stands at a place
// in memory, instead of that. It is seldom called, so that it keeps the registers that hold no
// vectors. (A function that kept all of them would lose upper halves to VZEROUPPER in LLVM 19.)
llvm::Function* complete_in_place(llvm::Module& module, int width, const std::string& name,
                                  llvm::Type* type) {
  const std::string own_name = name + ".x" + std::to_string(width);
  if (llvm::Function* known = module.getFunction(own_name)) return known;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* const place = llvm::PointerType::getUnqual(context);
  auto* const function = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), {place}, false),
      llvm::GlobalValue::InternalLinkage, own_name, module);
  function->setCallingConv(llvm::CallingConv::PreserveMost);
  function->setDoesNotThrow();
  function->setOnlyAccessesArgMemory();
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addParamAttr(0, llvm::Attribute::NoCapture);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", function));
  const std::array<Value*, 1> args = {b.CreateLoad(type, function->getArg(0))};
  b.CreateStore(emit_call(b, width, name.c_str(), args), function->getArg(0));
  b.CreateRetVoid();
  return function;
}

// `result`, or where a lane of `x` is beyond `largest`, what the complete function `name` of the
// runtime gives for every lane. The builder is in the first block of its function, and goes on in
// another.
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
  const std::array<Value*, 1> args = {x};
  Value* const place = width > 1 ? b.CreateAlloca(x->getType()) : nullptr;
  auto* const large = llvm::BasicBlock::Create(context, "large", function);
  auto* const after = llvm::BasicBlock::Create(context, "small", function);
  b.CreateCondBr(is_large, large, after, llvm::MDBuilder(context).createBranchWeights(1, 1 << 20));
  b.SetInsertPoint(large);
  Value* complete = nullptr;
  if (place) {
    b.CreateStore(x, place);
    llvm::Function* const in_place =
        complete_in_place(*function->getParent(), width, name, x->getType());
    b.CreateCall(in_place, {place})->setCallingConv(in_place->getCallingConv());
    complete = b.CreateLoad(x->getType(), place);
  } else {
    complete = emit_call(b, width, name.c_str(), args);
  }
  b.CreateBr(after);
  b.SetInsertPoint(after);
  llvm::PHINode* const phi = b.CreatePHI(result->getType(), 2);
  phi->addIncoming(result, before);
  phi->addIncoming(complete, large);
  return phi;
}

Value* emit_body(llvm::IRBuilder<>& builder, int width, Prim prim, bool is_double,
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

constexpr std::string_view kMath = "relay.math.";

// The function of that many lanes, once for a module.
llvm::Function* math_function(llvm::Module& module, int width, Prim prim, bool is_double,
                              std::span<Value* const> args) {
  llvm::Type* const type = args[0]->getType();
  const std::string name =
      fmt::format("{}{}.f{}x{}", kMath, lang::info(prim).text, is_double ? 64 : 32, width);
  if (llvm::Function* known = module.getFunction(name)) return known;
  const std::vector<llvm::Type*> types(args.size(), type);
  auto* const function = llvm::Function::Create(llvm::FunctionType::get(type, types, false),
                                                llvm::GlobalValue::InternalLinkage, name, module);
  function->setDoesNotThrow();
  function->setDoesNotAccessMemory();
  function->setWillReturn();
  function->addFnAttr(llvm::Attribute::NoInline);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "entry", function));
  std::vector<Value*> params;
  for (llvm::Argument& param : function->args()) params.push_back(&param);
  builder.CreateRet(emit_body(builder, width, prim, is_double, params));
  return function;
}

// So much of their code is written where it is called, in one function: LLVM takes time for it that
// grows faster than its length.
constexpr std::uint64_t kInlinedInstructions = 1000;

}  // namespace

Value* emit_math(llvm::IRBuilder<>& builder, int width, Prim prim, bool is_double,
                 std::span<Value* const> args) {
  if (!loops::is_math(prim)) return nullptr;
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  return builder.CreateCall(math_function(module, width, prim, is_double, args),
                            llvm::ArrayRef(args.data(), args.size()));
}

void inline_math(llvm::Function& function) {
  std::vector<llvm::CallInst*> calls;
  std::uint64_t size = 0;
  for (llvm::BasicBlock& block : function) {
    for (llvm::Instruction& instruction : block) {
      auto* const call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
      if (!callee || !callee->getName().starts_with(kMath)) continue;
      size += callee->getInstructionCount();
      if (size > kInlinedInstructions) break;
      calls.push_back(call);
    }
    if (size > kInlinedInstructions) break;
  }
  for (llvm::CallInst* const call : calls) {
    llvm::InlineFunctionInfo info;
    llvm::InlineFunction(*call, info);
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
