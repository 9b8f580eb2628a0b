#include "jit/optimise.h"

#include "jit/scalar_codegen.h"

namespace relay::jit {

namespace {

// What passes know of a module and its parts.
struct Analyses {
  explicit Analyses(llvm::PassBuilder& builder) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
};

}  // namespace

std::string optimise_functions(llvm::Module& module, llvm::TargetMachine& machine) {
  std::string mistakes;
  llvm::raw_string_ostream stream(mistakes);
  if (llvm::verifyModule(module, &stream)) return mistakes;
  for (llvm::Function& function : module) inline_math(function);
  llvm::PassBuilder builder(&machine);
  Analyses analyses(builder);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, analyses.modules);
  return {};
}

std::string optimise(llvm::Function& function, llvm::TargetMachine& machine) {
#ifndef NDEBUG
  std::string mistakes;
  llvm::raw_string_ostream stream(mistakes);
  if (llvm::verifyFunction(function, &stream)) return mistakes;
#endif
  inline_math(function);
  llvm::PassBuilder builder(&machine);
  Analyses analyses(builder);
  llvm::GlobalDCEPass().run(*function.getParent(), analyses.modules);

  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                       /*UseMemorySSA=*/true));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.run(function, analyses.functions);
  return {};
}

std::string assembly(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return "";
  passes.run(module);
  return text.str().str();
}

}  // namespace relay::jit
