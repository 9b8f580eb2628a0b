#include "jit/engine.h"

#include "jit/runtime.h"

namespace relay::jit {

namespace {

// The result, or null; LLVM's errors must be looked at, or they abort.
template <class T>
std::unique_ptr<T> value_or_null(llvm::Expected<std::unique_ptr<T>> expected) {
  if (expected) return std::move(*expected);
  llvm::consumeError(expected.takeError());
  return nullptr;
}

}  // namespace

std::unique_ptr<Engine> Engine::make() {
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
  return std::unique_ptr<Engine>(new Engine(std::move(jit), std::move(machine), host));
}

std::unique_ptr<llvm::Module> Engine::new_module(const std::string& name,
                                                 llvm::LLVMContext& context) const {
  auto module = std::make_unique<llvm::Module>(name, context);
  module->setDataLayout(jit_->getDataLayout());
  module->setTargetTriple(jit_->getTargetTriple().str());
  return module;
}

bool Engine::add(std::unique_ptr<llvm::Module> module, std::unique_ptr<llvm::LLVMContext> context) {
  llvm::orc::ThreadSafeModule safe(std::move(module), std::move(context));
  if (auto error = jit_->addIRModule(std::move(safe))) {
    llvm::consumeError(std::move(error));
    return false;
  }
  return true;
}

void* Engine::address(const std::string& name) {
  auto address = jit_->lookup(name);
  if (!address) {
    llvm::consumeError(address.takeError());
    return nullptr;
  }
  return address->toPtr<void*>();
}

}  // namespace relay::jit
