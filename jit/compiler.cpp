#include <memory>
#include <optional>
#include <string>

#include "jit/engine.h"
#include "jit/jit.h"
#include "jit/kernel_codegen.h"
#include "jit/llvm.h"
#include "jit/optimise.h"

namespace relay::jit {

namespace {

using loops::Kernel;

class Compiler final : public loops::KernelCompiler {
 public:
  // Null if LLVM has no back end for this host.
  static std::unique_ptr<Compiler> make();

  std::optional<lang::CodeImage> compile(const Kernel& kernel) override;
  std::string dump(const Kernel& kernel, const std::string& stage) override;

 private:
  explicit Compiler(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

  // A module with one function `name`, or null if the kernel is out of reach.
  std::unique_ptr<llvm::Module> build(const Kernel& kernel, const std::string& name,
                                      llvm::LLVMContext& context);

  std::unique_ptr<Engine> engine_;
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
  KernelCodegen(kernel, analysis, engine_->host(), *module, KernelCodegen::Company::Alone)
      .emit(name);
  return module;
}

std::optional<lang::CodeImage> Compiler::compile(const Kernel& kernel) {
  llvm::LLVMContext context;
  const auto module = build(kernel, loops::kKernelSymbol, context);
  if (module == nullptr ||
      !optimise(*module->getFunction(loops::kKernelSymbol), engine_->machine()).empty())
    return std::nullopt;
  return engine_->compile(*module);
}

std::string Compiler::dump(const Kernel& kernel, const std::string& stage) {
  const bool is_asm = stage == "asm";
  if (!is_asm && stage != "llvm") return "";
  llvm::LLVMContext context;
  const auto module = build(kernel, loops::kKernelSymbol, context);
  if (module == nullptr) return "";
  if (std::string problem =
          optimise(*module->getFunction(loops::kKernelSymbol), engine_->machine());
      !problem.empty())
    return problem;
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
