#pragma once

#include <memory>
#include <string>

#include "jit/host.h"
#include "jit/llvm.h"

namespace relay::jit {

// LLVM for this host: a machine to optimise for, and where compiled modules become code. Code lives
// as long as the engine.
class Engine {
 public:
  // Null if LLVM has no back end for this host.
  static std::unique_ptr<Engine> make();

  // A module with the layout and triple of the host.
  std::unique_ptr<llvm::Module> new_module(const std::string& name,
                                           llvm::LLVMContext& context) const;
  // Makes code of an optimised module; false if it cannot.
  bool add(std::unique_ptr<llvm::Module> module, std::unique_ptr<llvm::LLVMContext> context);
  // The address of a function that was added; null if there is none.
  void* address(const std::string& name);

  llvm::TargetMachine& machine() { return *machine_; }
  const HostTraits& host() const { return host_; }

 private:
  Engine(std::unique_ptr<llvm::orc::LLJIT> jit, std::unique_ptr<llvm::TargetMachine> machine,
         HostTraits host)
      : jit_(std::move(jit)), machine_(std::move(machine)), host_(host) {}

  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  HostTraits host_;
};

}  // namespace relay::jit
