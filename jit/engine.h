#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

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
  bool add(llvm::orc::ThreadSafeModule module);
  // The address of a function that was added; null if there is none.
  void* address(const std::string& name);
  // Tells `perf` of a function whose address is known, under a name for people, and of the
  // functions compiled with it that are not seen from outside.
  void note_for_perf(const std::string& symbol, const std::string& name);
  // Bytes of its code; 0 until its address has been asked for.
  std::size_t size(const std::string& name) const;

  llvm::TargetMachine& machine() { return *machine_; }
  const HostTraits& host() const { return host_; }

 private:
  Engine(std::unique_ptr<llvm::orc::LLJIT> jit, std::unique_ptr<llvm::TargetMachine> machine,
         HostTraits host)
      : jit_(std::move(jit)), machine_(std::move(machine)), host_(host) {}

  // Notes what an object holds, before it is linked.
  void read_symbols(const llvm::MemoryBuffer& object);

  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  HostTraits host_;
  struct Code {
    std::size_t size;
    std::uint64_t offset;  // in the text of its object
    std::size_t object;    // its number
  };
  std::unordered_map<std::string, Code> code_;        // of functions that are seen from outside
  std::vector<std::pair<std::string, Code>> locals_;  // of the last object
  std::size_t objects_ = 0;
};

}  // namespace relay::jit
