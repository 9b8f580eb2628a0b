#include <mutex>
#include <string>
#include <unordered_map>

#include "flow/native.h"
#include "jit/apart.h"
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

  std::vector<flow::Entry> compile(std::span<flow::Function* const> functions,
                                   lang::Poll poll) override {
    const std::lock_guard lock(mutex_);
    apart_.wait(poll);
    // What the work needs of a function, which may be gone when nobody waits any more.
    struct Wanted {
      std::string symbol, entry, name;
      flow::Entry address = nullptr;
    };
    std::vector<Wanted> list;
    for (flow::Function* function : functions) {
      function->symbol = "f" + std::to_string(count_++);
      list.push_back({function->symbol,
                      function->is_local ? "" : FunctionCodegen::entry_name(*function),
                      "relay:" + (function->name.empty() ? "fn" : function->name)});
    }
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = build(functions, *context);
    const auto wanted = std::make_shared<std::vector<Wanted>>(std::move(list));
    // A std::function wants to be copied.
    const auto safe =
        std::make_shared<llvm::orc::ThreadSafeModule>(std::move(module), std::move(context));
    apart_.start([this, wanted, safe] {
      if (!optimise_functions(*safe->getModuleUnlocked(), engine_->machine()) ||
          !engine_->add(std::move(*safe)))
        return;
      for (Wanted& each : *wanted) {
        engine_->note_for_perf(each.symbol, each.name);
        if (each.entry.empty()) continue;
        engine_->note_for_perf(each.entry, each.name + ".entry");
        each.address = reinterpret_cast<flow::Entry>(engine_->address(each.entry));
      }
    });
    apart_.wait(poll);
    std::vector<flow::Entry> entries;
    for (const Wanted& each : *wanted) entries.push_back(each.address);
    return entries;
  }

  std::size_t code_size(const flow::Function& function) override {
    const std::lock_guard lock(mutex_);
    apart_.wait([] {});
    return engine_->size(function.symbol) + engine_->size(FunctionCodegen::entry_name(function));
  }

  std::string dump(std::span<flow::Function* const> functions, const std::string& stage) override {
    const std::lock_guard lock(mutex_);
    apart_.wait([] {});
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

  std::mutex mutex_;
  std::unique_ptr<Engine> engine_;
  const flow::Services& services_;
  const flow::Layout& layout_;
  int count_ = 0;
  Apart apart_;  // ends before what it works with
};

}  // namespace

extern "C" flow::FunctionCompiler* relay_make_function_compiler(const flow::Services* services,
                                                                const flow::Layout* layout) {
  auto engine = Engine::make();
  if (engine == nullptr) return nullptr;
  return std::make_unique<NativeFunctions>(std::move(engine), *services, *layout).release();
}

}  // namespace relay::jit
