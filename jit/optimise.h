#pragma once

#include <string>

#include "jit/llvm.h"

namespace relay::jit {

// A short list of passes: the emitted code is vector code already, and has its loops where they
// belong. Where code is checked, false if it does not verify.
bool optimise(llvm::Function& function, llvm::TargetMachine& machine);

// For functions of flow/, which are emitted as they are written. False if they do not verify.
bool optimise_functions(llvm::Module& module, llvm::TargetMachine& machine);

// The machine code as text. Changes the module.
std::string assembly(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace relay::jit
