#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "jit/host.h"
#include "jit/jit.h"
#include "jit/kernel_codegen.h"
#include "jit/llvm.h"
#include "jit/optimise.h"
#include "jit/runtime.h"

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
  Compiler(std::unique_ptr<llvm::orc::LLJIT> jit, std::unique_ptr<llvm::TargetMachine> machine,
           HostTraits host)
      : jit_(std::move(jit)), machine_(std::move(machine)), host_(host) {}

  KernelFunction compile_new(const Kernel& kernel);
  // The optimised module with one function `name`, or null if the kernel is out of reach.
  std::unique_ptr<llvm::Module> build(const Kernel& kernel, const std::string& name,
                                      llvm::LLVMContext& context);

  std::mutex mutex_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  HostTraits host_;
  std::unordered_map<std::string, KernelFunction>
      functions_;  // by structural key; null: out of reach
  int count_ = 0;
};

// The result, or null; LLVM's errors must be looked at, or they abort.
template <class T>
std::unique_ptr<T> value_or_null(llvm::Expected<std::unique_ptr<T>> expected) {
  if (expected) return std::move(*expected);
  llvm::consumeError(expected.takeError());
  return nullptr;
}

std::unique_ptr<Compiler> Compiler::make() {
  const auto builder = host_machine_builder();
  if (builder == nullptr) return nullptr;
  auto machine = value_or_null(builder->createTargetMachine());
  auto jit = value_or_null(llvm::orc::LLJITBuilder()
                               .setJITTargetMachineBuilder(*builder)
                               .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                               .create());
  if (machine == nullptr || jit == nullptr) return nullptr;
  llvm::orc::SymbolMap symbols;
  for (const RuntimeFunction& function : runtime_functions()) {
    symbols[jit->mangleAndIntern(function.name)] = {llvm::orc::ExecutorAddr(function.address),
                                                    llvm::JITSymbolFlags::Exported};
  }
  llvm::orc::JITDylib& library = jit->getMainJITDylib();
  if (auto error = library.define(llvm::orc::absoluteSymbols(std::move(symbols)))) {
    llvm::consumeError(std::move(error));
    return nullptr;
  }
  // What the code generator may call by itself: memcpy, memset, floorf without SSE 4.1.
  auto process = value_or_null(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      jit->getDataLayout().getGlobalPrefix()));
  if (process == nullptr) return nullptr;
  library.addGenerator(std::move(process));
  const HostTraits host = host_traits(*machine);
  return std::unique_ptr<Compiler>(new Compiler(std::move(jit), std::move(machine), host));
}

std::unique_ptr<llvm::Module> Compiler::build(const Kernel& kernel, const std::string& name,
                                              llvm::LLVMContext& context) {
  Analysis analysis(kernel);
  if (!analysis.is_supported(host_)) return nullptr;
  auto module = std::make_unique<llvm::Module>(name, context);
  module->setDataLayout(jit_->getDataLayout());
  module->setTargetTriple(jit_->getTargetTriple().str());
  llvm::Function* const function = KernelCodegen(kernel, analysis, host_, *module).emit(name);
#ifndef NDEBUG
  if (llvm::verifyFunction(*function, &llvm::errs())) return nullptr;
#endif
  optimise(*function, *machine_);
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
  llvm::orc::ThreadSafeModule safe(std::move(module), std::move(context));
  if (auto error = jit_->addIRModule(std::move(safe))) {
    llvm::consumeError(std::move(error));
    return nullptr;
  }
  auto address = jit_->lookup(name);
  if (!address) {
    llvm::consumeError(address.takeError());
    return nullptr;
  }
  return address->toPtr<KernelFunction>();
}

std::string Compiler::dump(const Kernel& kernel, const std::string& stage) {
  const std::lock_guard lock(mutex_);
  const bool is_asm = stage == "asm";
  if (!is_asm && stage != "llvm") return "";
  llvm::LLVMContext context;
  const auto module = build(kernel, "kernel", context);
  if (module == nullptr) return "";
  if (is_asm) return assembly(*module, *machine_);
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
