#pragma once

#include <memory>
#include <optional>
#include <string>

#include "jit/host.h"
#include "jit/llvm.h"
#include "lang/code_image.h"

namespace relay::jit {

// LLVM for this host: a machine to optimise for, and what makes code of modules.
class Engine {
 public:
  // Null if LLVM has no back end for this host.
  static std::unique_ptr<Engine> make();

  // A module with the layout and triple of the host. On any thread.
  std::unique_ptr<llvm::Module> new_module(const std::string& name,
                                           llvm::LLVMContext& context) const;
  // Code of an optimised module; empty if it cannot be made.
  std::optional<lang::CodeImage> compile(llvm::Module& module);

  llvm::TargetMachine& machine() { return *machine_; }
  const HostTraits& host() const { return host_; }

 private:
  explicit Engine(std::unique_ptr<llvm::TargetMachine> machine);

  std::unique_ptr<llvm::TargetMachine> machine_;
  const llvm::DataLayout layout_;
  const std::string triple_;
  const HostTraits host_;
};

}  // namespace relay::jit
