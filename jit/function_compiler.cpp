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

// A module of functions, and what is wanted of each once it is code.
class ModuleCompilation final : public flow::Compilation {
 public:
  struct Wanted {
    std::string symbol, entry, name;  // no entry: it is local
  };
  ModuleCompilation(Engine& engine, llvm::orc::ThreadSafeModule module, std::vector<Wanted> wanted)
      : engine_(engine), module_(std::move(module)), wanted_(std::move(wanted)) {}

  std::vector<Code> run() override {
    std::vector<Code> codes(wanted_.size());
    if (!optimise_functions(*module_.getModuleUnlocked(), engine_.machine()) ||
        !engine_.add(std::move(module_)))
      return codes;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const Wanted& wanted = wanted_[i];
      engine_.note_for_perf(wanted.symbol, wanted.name);
      if (!wanted.entry.empty()) {
        engine_.note_for_perf(wanted.entry, wanted.name + ".entry");
        codes[i].entry = reinterpret_cast<flow::Entry>(engine_.address(wanted.entry));
      }
    }
    // All of it is linked now.
    for (std::size_t i = 0; i < wanted_.size(); ++i)
      codes[i].size = engine_.size(wanted_[i].symbol) + engine_.size(wanted_[i].entry);
    return codes;
  }

 private:
  Engine& engine_;
  llvm::orc::ThreadSafeModule module_;
  std::vector<Wanted> wanted_;
};

class NativeFunctions final : public flow::FunctionCompiler {
 public:
  NativeFunctions(std::unique_ptr<Engine> engine, const flow::Services& services,
                  const flow::Layout& layout)
      : engine_(std::move(engine)), services_(services), layout_(layout) {}

  std::unique_ptr<flow::Compilation> begin(std::span<flow::Function* const> functions) override {
    std::vector<ModuleCompilation::Wanted> wanted;
    for (flow::Function* function : functions) {
      function->symbol = "f" + std::to_string(count_++);
      wanted.push_back({function->symbol,
                        function->is_local ? "" : FunctionCodegen::entry_name(*function),
                        "relay:" + (function->name.empty() ? "fn" : function->name)});
    }
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = build(functions, *context);
    return std::make_unique<ModuleCompilation>(
        *engine_, llvm::orc::ThreadSafeModule(std::move(module), std::move(context)),
        std::move(wanted));
  }

  std::string dump(std::span<flow::Function* const> functions, const std::string& stage) override {
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
    if (!optimise_functions(*module, engine_->machine())) return "";
    if (is_asm) return assembly(*module, engine_->machine());
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream, nullptr);
    return text;
  }

 private:
  std::unique_ptr<llvm::Module> build(std::span<flow::Function* const> functions,
                                      llvm::LLVMContext& context) {
    auto module = engine_->new_module("functions", context);
    FunctionCodegen codegen(*module, services_, layout_);
    for (const flow::Function* function : functions) {
      codegen.emit(*function);
      if (!function->is_local) codegen.emit_entry(*function);
    }
    return module;
  }

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
