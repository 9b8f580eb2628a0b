#include "jit/engine.h"

#include "jit/link.h"

namespace relay::jit {

Engine::Engine(std::unique_ptr<llvm::TargetMachine> machine)
    : machine_(std::move(machine)),
      layout_(machine_->createDataLayout()),
      triple_(machine_->getTargetTriple().str()),
      host_(host_traits(*machine_)) {}

std::unique_ptr<Engine> Engine::make() {
  auto machine = host_machine();
  return machine ? std::unique_ptr<Engine>(new Engine(std::move(machine))) : nullptr;
}

std::unique_ptr<llvm::Module> Engine::new_module(const std::string& name,
                                                 llvm::LLVMContext& context) const {
  auto module = std::make_unique<llvm::Module>(name, context);
  module->setDataLayout(layout_);
  module->setTargetTriple(triple_);
  return module;
}

std::optional<lang::CodeImage> Engine::compile(llvm::Module& module) {
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine_->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return std::nullopt;
  passes.run(module);
  return link({llvm::StringRef(object.data(), object.size()), module.getName()});
}

}  // namespace relay::jit
