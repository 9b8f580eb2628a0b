#include "jit/host.h"

#include <cstdlib>

namespace relay::jit {

std::unique_ptr<llvm::orc::JITTargetMachineBuilder> host_machine_builder() {
  if (llvm::InitializeNativeTarget() || llvm::InitializeNativeTargetAsmPrinter()) return nullptr;
  auto detected = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!detected) {
    llvm::consumeError(detected.takeError());
    return nullptr;
  }
  auto builder = std::make_unique<llvm::orc::JITTargetMachineBuilder>(std::move(*detected));
  if (const char* const cpu = std::getenv("RELAY_JIT_CPU")) {
    builder->setCPU(cpu);
    builder->getFeatures() = llvm::SubtargetFeatures();
  }
  builder->getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  builder->setCodeModel(llvm::CodeModel::Small);
  builder->setRelocationModel(llvm::Reloc::PIC_);
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  return builder;
}

HostTraits host_traits(const llvm::TargetMachine& machine) {
  HostTraits traits;
  const llvm::MCSubtargetInfo& info = *machine.getMCSubtargetInfo();
  const llvm::Triple& triple = machine.getTargetTriple();
  if (triple.isX86()) {
    const bool has_avx512 = info.checkFeatures("+avx512f,+avx512bw,+avx512vl,+avx512dq");
    if (info.checkFeatures("+avx2")) traits.vector_bytes = 32;
    if (has_avx512) traits.vector_bytes = 64;
    traits.has_masks = has_avx512;
    traits.has_half = info.checkFeatures("+f16c");
  } else if (triple.isAArch64()) {
    traits.has_half = true;
  }
  return traits;
}

}  // namespace relay::jit
