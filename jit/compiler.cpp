#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "jit/engine.h"
#include "jit/jit.h"
#include "jit/kernel_codegen.h"
#include "jit/llvm.h"
#include "jit/optimise.h"

namespace relay::jit {

namespace {

using loops::Kernel;
using loops::KernelFunction;

class Compiler final : public loops::KernelCompiler {
 public:
  // Null if LLVM has no back end for this host.
  static std::unique_ptr<Compiler> make();

  KernelFunction compile(const Kernel& kernel) override;
  std::string dump(const Kernel& kernel, const std::string& stage) override;

 private:
  explicit Compiler(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

  KernelFunction compile_new(const Kernel& kernel);
  // The optimised module with one function `name`, or null if the kernel is out of reach.
  std::unique_ptr<llvm::Module> build(const Kernel& kernel, const std::string& name,
                                      llvm::LLVMContext& context);

  std::mutex mutex_;
  std::unique_ptr<Engine> engine_;
  std::unordered_map<std::string, KernelFunction>
      functions_;  // by structural key; null: out of reach
  int count_ = 0;
};

std::unique_ptr<Compiler> Compiler::make() {
  auto engine = Engine::make();
  return engine ? std::unique_ptr<Compiler>(new Compiler(std::move(engine))) : nullptr;
}

std::unique_ptr<llvm::Module> Compiler::build(const Kernel& kernel, const std::string& name,
                                              llvm::LLVMContext& context) {
  Analysis analysis(kernel);
  if (!analysis.is_supported(engine_->host())) return nullptr;
  auto module = engine_->new_module(name, context);
  llvm::Function* const function =
      KernelCodegen(kernel, analysis, engine_->host(), *module).emit(name);
#ifndef NDEBUG
  if (llvm::verifyFunction(*function, &llvm::errs())) return nullptr;
#endif
  optimise(*function, engine_->machine());
  return module;
}

KernelFunction Compiler::compile(const Kernel& kernel) {
  const std::lock_guard lock(mutex_);
  const auto [entry, is_new] = functions_.try_emplace(loops::structural_key(kernel), nullptr);
  if (is_new) entry->second = compile_new(kernel);
  return entry->second;
}

KernelFunction Compiler::compile_new(const Kernel& kernel) {
  const std::string name = "kernel" + std::to_string(count_++);
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = build(kernel, name, *context);
  if (module == nullptr) return nullptr;
  if (!engine_->add(std::move(module), std::move(context))) return nullptr;
  void* const address = engine_->address(name);
  engine_->note_for_perf(name, "relay:" + name);
  return reinterpret_cast<KernelFunction>(address);
}

std::string Compiler::dump(const Kernel& kernel, const std::string& stage) {
  const std::lock_guard lock(mutex_);
  const bool is_asm = stage == "asm";
  if (!is_asm && stage != "llvm") return "";
  llvm::LLVMContext context;
  const auto module = build(kernel, "kernel", context);
  if (module == nullptr) return "";
  if (is_asm) return assembly(*module, engine_->machine());
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, nullptr);
  return text;
}

}  // namespace

extern "C" loops::KernelCompiler* relay_make_kernel_compiler() {
  return Compiler::make().release();
}

extern "C" const char* relay_jit_version() { return "LLVM " LLVM_VERSION_STRING; }

}  // namespace relay::jit
