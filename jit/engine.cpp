#include "jit/engine.h"

#include "jit/perf_map.h"
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

template <class T>
T value_or(llvm::Expected<T> expected, T other) {
  if (expected) return std::move(*expected);
  llvm::consumeError(expected.takeError());
  return other;
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
  std::unique_ptr<Engine> engine(new Engine(std::move(jit), std::move(machine), host));
  engine->jit_->getObjTransformLayer().setTransform(
      [self = engine.get()](std::unique_ptr<llvm::MemoryBuffer> object)
          -> llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> {
        self->read_symbols(*object);
        return object;
      });
  return engine;
}

void Engine::read_symbols(const llvm::MemoryBuffer& object) {
  ++objects_;
  locals_.clear();
  auto file = value_or_null(llvm::object::ObjectFile::createObjectFile(object.getMemBufferRef()));
  if (file == nullptr) return;
  for (const auto& [symbol, size] : llvm::object::computeSymbolSizes(*file)) {
    const auto type = value_or(symbol.getType(), llvm::object::SymbolRef::ST_Unknown);
    if (type != llvm::object::SymbolRef::ST_Function) continue;
    const std::string name = value_or(symbol.getName(), llvm::StringRef()).str();
    const std::uint32_t flags = value_or(symbol.getFlags(), std::uint32_t{0});
    const Code code{static_cast<std::size_t>(size), value_or(symbol.getAddress(), std::uint64_t{0}),
                    objects_};
    if ((flags & llvm::object::SymbolRef::SF_Global) != 0) {
      code_[name] = code;
    } else {
      locals_.emplace_back(name, code);
    }
  }
}

std::size_t Engine::size(const std::string& name) const {
  const auto found = code_.find(name);
  return found == code_.end() ? 0 : found->second.size;
}

void Engine::note_for_perf(const std::string& symbol, const std::string& name) {
  if (!is_perf_map_written()) return;
  const auto* const start = static_cast<const std::byte*>(address(symbol));
  const auto found = code_.find(symbol);
  if (found == code_.end() || start == nullptr) return;
  note_code(name, start, found->second.size);
  if (found->second.object != objects_) return;
  for (const auto& [local, code] : locals_)
    note_code(name + "." + local, start - found->second.offset + code.offset, code.size);
  locals_.clear();
}

std::unique_ptr<llvm::Module> Engine::new_module(const std::string& name,
                                                 llvm::LLVMContext& context) const {
  auto module = std::make_unique<llvm::Module>(name, context);
  module->setDataLayout(jit_->getDataLayout());
  module->setTargetTriple(jit_->getTargetTriple().str());
  return module;
}

bool Engine::add(llvm::orc::ThreadSafeModule module) {
  if (auto error = jit_->addIRModule(std::move(module))) {
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
