#include "interp/compiling.h"

#include <chrono>
#include <utility>

#include "lang/diagnostic.h"
#include "lang/memory.h"

namespace relay::interp {

namespace {

void check_there(bool is_there) {
  if (!is_there) {
    lang::fail(lang::DiagnosticKind::Unsupported,
               "not supported: this program was built without the JIT");
  }
}

}  // namespace

// Does work that knows no exceptions, and gives the seconds it took.
template <class Work>
double Compiling::timed(const Work& work) {
  const lang::Unfailing compiling;  // LLVM cannot be told that there is no memory
  const auto start = std::chrono::steady_clock::now();
  work();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  seconds_ += seconds;
  return seconds;
}

// On the queue's thread, or while nothing goes on there.
void Compiling::load_kernels() {
  if (!has_tried_kernels_ && makers_.kernels) kernel_compiler_ = makers_.kernels();
  has_tried_kernels_ = true;
}

std::shared_ptr<const KernelCode> Compiling::code_of(const loops::Kernel& kernel) {
  const lang::Unfailing asking;  // what waits for the queue needs it to be in order
  std::shared_ptr<KernelCode>& code = kernels_[loops::structural_key(kernel)];
  if (code) return code;
  code = std::make_shared<KernelCode>();
  code->ticket = queue_.add([this, code, kernel] {
    timed([&] {
      load_kernels();
      if (kernel_compiler_) code->function = kernel_compiler_->compile(kernel);
    });
  });
  return code;
}

WorkQueue::Ticket Compiling::load_functions() {
  const lang::Unfailing asking;
  if (functions_loaded_ == 0) {
    functions_loaded_ = queue_.add([this] {
      timed([this] {
        if (makers_.functions) function_compiler_ = makers_.functions();
      });
    });
  }
  return functions_loaded_;
}

bool Compiling::has_loaded_functions() const {
  return functions_loaded_ != 0 && queue_.is_done(functions_loaded_);
}

flow::FunctionCompiler* Compiling::functions() const {
  return has_loaded_functions() ? function_compiler_.get() : nullptr;
}

std::shared_ptr<const FunctionsCode> Compiling::code_of(
    std::span<flow::Function* const> functions) {
  const lang::Unfailing asking;
  auto code = std::make_shared<FunctionsCode>();
  std::shared_ptr<flow::Compilation> compilation;
  code->seconds = timed([&] { compilation = function_compiler_->begin(functions); });
  code->ticket = queue_.add([this, code, compilation] {
    code->seconds += timed([&] { code->codes = compilation->run(); });
  });
  return code;
}

std::string Compiling::dump(const loops::Kernel& kernel, const std::string& stage) {
  settle(lang::poll);
  load_kernels();
  check_there(kernel_compiler_ != nullptr);
  return kernel_compiler_->dump(kernel, stage);
}

std::string Compiling::dump(std::span<flow::Function* const> functions, const std::string& stage) {
  load_functions();
  settle(lang::poll);
  check_there(function_compiler_ != nullptr);
  return function_compiler_->dump(functions, stage);
}

}  // namespace relay::interp
