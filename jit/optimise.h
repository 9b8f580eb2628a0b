#pragma once

#include <string>

#include "jit/llvm.h"

namespace relay::jit {

// A short list of passes: the emitted code is vector code already, and has its loops where they
// belong. Where code is checked, what the verifier says of it; empty where that is nothing.
std::string optimise(llvm::Function& function, llvm::TargetMachine& machine);

// For functions of flow/, which are emitted as they are written. What the verifier says, likewise;
// then nothing is done.
std::string optimise_functions(llvm::Module& module, llvm::TargetMachine& machine);

// The machine code as text. Changes the module.
std::string assembly(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace relay::jit
