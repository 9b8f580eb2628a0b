#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "flow/native.h"
#include "jit/engine.h"
#include "jit/function_codegen.h"
#include "jit/jit.h"
#include "jit/optimise.h"

namespace relay::jit {

namespace {

class ModuleCompilation final : public flow::Compilation {
 public:
  ModuleCompilation(Engine& engine, std::unique_ptr<llvm::LLVMContext> context,
                    std::unique_ptr<llvm::Module> module)
      : engine_(engine), context_(std::move(context)), module_(std::move(module)) {}

  std::optional<lang::CodeImage> run(std::string& problem) override {
    if (!module_) return std::nullopt;
    problem = optimise_functions(*module_, engine_.machine());
    if (!problem.empty()) return std::nullopt;
    return engine_.compile(*module_);
  }

 private:
  Engine& engine_;
  std::unique_ptr<llvm::LLVMContext> context_;
  std::unique_ptr<llvm::Module> module_;
};

class NativeFunctions final : public flow::FunctionCompiler {
 public:
  NativeFunctions(std::unique_ptr<Engine> engine, const flow::Services& services,
                  const flow::Layout& layout)
      : engine_(std::move(engine)), services_(services), layout_(layout) {}

  std::unique_ptr<flow::Compilation> begin(std::span<flow::Function* const> functions,
                                           const flow::Identity& identity) override {
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = build(functions, identity, *context);
    return std::make_unique<ModuleCompilation>(*engine_, std::move(context), std::move(module));
  }

  std::string dump(std::span<flow::Function* const> functions, const flow::Identity& identity,
                   const std::string& stage) override {
    const bool is_asm = stage == "asm";
    if (!is_asm && stage != "llvm") return "";
    std::unordered_map<std::string, int> names;
    for (flow::Function* function : functions) {
      function->symbol = function->name.empty() ? "fn" : function->name;
      if (const int count = names[function->symbol]++; count > 0)
        function->symbol += "." + std::to_string(count);
    }
    llvm::LLVMContext context;
    const auto module = build(functions, identity, context);
    if (!module) return "";
    if (std::string problem = optimise_functions(*module, engine_->machine()); !problem.empty())
      return problem;
    if (is_asm) return assembly(*module, engine_->machine());
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream, nullptr);
    return text;
  }

 private:
  // Null where the code would hold an address that has no name.
  std::unique_ptr<llvm::Module> build(std::span<flow::Function* const> functions,
                                      const flow::Identity& identity, llvm::LLVMContext& context) {
    auto module = engine_->new_module("functions", context);
    FunctionCodegen codegen(*module, services_, layout_, engine_->host(), identity);
    for (const flow::Function* function : functions) {
      codegen.emit(*function);
      if (!function->is_local) codegen.emit_entry(*function);
    }
    return codegen.is_complete() ? std::move(module) : nullptr;
  }

  std::unique_ptr<Engine> engine_;
  const flow::Services& services_;
  const flow::Layout& layout_;
};

}  // namespace

extern "C" flow::FunctionCompiler* relay_make_function_compiler(const flow::Services* services,
                                                                const flow::Layout* layout) {
  auto engine = Engine::make();
  if (engine == nullptr) return nullptr;
  return std::make_unique<NativeFunctions>(std::move(engine), *services, *layout).release();
}

}  // namespace relay::jit
