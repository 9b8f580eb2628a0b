#include "repl/native_makers.h"

#include <dlfcn.h>

#include <memory>

#include "flow/layout.h"
#include "interp/native.h"
#include "jit/jit.h"
#include "repl/code_cache.h"

namespace relay::repl {

namespace {

// An entry of the library of native code, or null. It is never unloaded: LLVM's static state does
// not survive that.
template <class Make>
Make entry_of_jit(const char* name) {
  static void* const library = dlopen("librelay_jit.so", RTLD_NOW | RTLD_LOCAL);
  return library ? reinterpret_cast<Make>(dlsym(library, name)) : nullptr;
}

}  // namespace

interp::Compiling::Makers native_makers(const std::string& code_cache) {
  return {[] {
            const auto make = entry_of_jit<jit::MakeKernelCompiler>(jit::kEntryName);
            return std::unique_ptr<loops::KernelCompiler>(make ? make() : nullptr);
          },
          [] {
            const auto make = entry_of_jit<jit::MakeFunctionCompiler>(jit::kFunctionEntryName);
            return std::unique_ptr<flow::FunctionCompiler>(
                make ? make(&interp::native_services(), &flow::layout()) : nullptr);
          },
          [code_cache]() -> std::unique_ptr<interp::CodeStore> {
            if (code_cache.empty()) return nullptr;
            return open_code_cache(code_cache, code_maker());
          }};
}

}  // namespace relay::repl
