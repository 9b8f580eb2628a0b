#include <mutex>
#include <string>
#include <unordered_map>

#include "flow/native.h"
#include "jit/engine.h"
#include "jit/function_codegen.h"
#include "jit/jit.h"
#include "jit/optimise.h"

namespace relay::jit {

namespace {

class NativeFunctions final : public flow::FunctionCompiler {
 public:
  NativeFunctions(std::unique_ptr<Engine> engine, const flow::Services& services,
                  const flow::Layout& layout)
      : engine_(std::move(engine)), services_(services), layout_(layout) {}

  std::vector<flow::Entry> compile(std::span<flow::Function* const> functions) override {
    const std::lock_guard lock(mutex_);
    for (flow::Function* function : functions) function->symbol = "f" + std::to_string(count_++);
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = build(functions, *context);
    std::vector<flow::Entry> entries(functions.size(), nullptr);
    if (module == nullptr || !engine_->add(std::move(module), std::move(context))) return entries;
    for (std::size_t i = 0; i < functions.size(); ++i) {
      const std::string name = functions[i]->name.empty() ? "fn" : functions[i]->name;
      engine_->note_for_perf(functions[i]->symbol, "relay:" + name);
      if (functions[i]->is_local) continue;
      engine_->note_for_perf(FunctionCodegen::entry_name(*functions[i]),
                             "relay:" + name + ".entry");
      entries[i] = reinterpret_cast<flow::Entry>(
          engine_->address(FunctionCodegen::entry_name(*functions[i])));
    }
    return entries;
  }

  std::size_t code_size(const flow::Function& function) override {
    const std::lock_guard lock(mutex_);
    return engine_->size(function.symbol) + engine_->size(FunctionCodegen::entry_name(function));
  }

  std::string dump(std::span<flow::Function* const> functions, const std::string& stage) override {
    const std::lock_guard lock(mutex_);
    const bool is_asm = stage == "asm";
    if (!is_asm && stage != "llvm") return "";
    std::unordered_map<std::string, int> names;
    for (flow::Function* function : functions) {
      function->symbol = function->name.empty() ? "fn" : function->name;
      if (const int count = names[function->symbol]++; count > 0)
        function->symbol += "." + std::to_string(count);
    }
    llvm::LLVMContext context;
    const auto module = build(functions, context);
    if (module == nullptr) return "";
    if (is_asm) return assembly(*module, engine_->machine());
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream, nullptr);
    return text;
  }

 private:
  // The optimised module; null if it does not verify.
  std::unique_ptr<llvm::Module> build(std::span<flow::Function* const> functions,
                                      llvm::LLVMContext& context) {
    auto module = engine_->new_module("functions", context);
    FunctionCodegen codegen(*module, services_, layout_);
    for (const flow::Function* function : functions) {
      codegen.emit(*function);
      if (!function->is_local) codegen.emit_entry(*function);
    }
    if (llvm::verifyModule(*module, &llvm::errs())) return nullptr;
    optimise_functions(*module, engine_->machine());
    return module;
  }

  std::mutex mutex_;
  std::unique_ptr<Engine> engine_;
  const flow::Services& services_;
  const flow::Layout& layout_;
  int count_ = 0;
};

}  // namespace

extern "C" flow::FunctionCompiler* relay_make_function_compiler(const flow::Services* services,
                                                                const flow::Layout* layout) {
  auto engine = Engine::make();
  if (engine == nullptr) return nullptr;
  return std::make_unique<NativeFunctions>(std::move(engine), *services, *layout).release();
}

}  // namespace relay::jit
