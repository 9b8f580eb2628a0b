#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "flow/native.h"
#include "interp/loaded_code.h"
#include "interp/work_queue.h"
#include "lang/stop.h"
#include "loops/loop_ir.h"

namespace relay::interp {

// Code of a kernel, which is there once the queue has done the ticket.
struct KernelCode {
  WorkQueue::Ticket ticket = 0;
  loops::KernelFunction function = nullptr;  // null: there is none, and lanes run it
  std::shared_ptr<const LoadedCode> memory;
};

// Code of functions, likewise.
struct FunctionsCode {
  WorkQueue::Ticket ticket = 0;
  struct Code {
    flow::Entry entry = nullptr;  // null: it is local, or no code could be made
    std::size_t size = 0;         // in bytes, the entry's included
  };
  std::vector<Code> codes;  // of each function
  std::string problem;      // why there is none, if that is known
  double seconds = 0;       // of making it
  std::shared_ptr<const LoadedCode> memory;
  std::vector<std::shared_ptr<const LoadedCode>> called;  // what that calls
};

// Where code is kept for later. May be used on several threads at once.
class CodeStore {
 public:
  virtual ~CodeStore() = default;
  virtual std::optional<lang::CodeImage> find(const std::string& key) = 0;
  virtual void add(const std::string& key, const lang::CodeImage& image) = 0;
};

// Native code on its way: the compilers, which are loaded when they are first asked for, and the
// thread on which they work. Whoever asks goes on, and looks later, or waits.
class Compiling {
 public:
  // Called on that thread, but for the store, on any; null: there is none.
  struct Makers {
    std::function<std::unique_ptr<loops::KernelCompiler>()> kernels;
    std::function<std::unique_ptr<flow::FunctionCompiler>()> functions;
    std::function<std::unique_ptr<CodeStore>()> store = nullptr;
  };
  explicit Compiling(Makers makers) : makers_(std::move(makers)) {}

  // Kernels of the same structure have the same code.
  std::shared_ptr<const KernelCode> code_of(const loops::Kernel& kernel);

  // Begins to load what makes code of functions, if nobody has.
  WorkQueue::Ticket load_functions();
  // Has it been loaded? Then there is a compiler, or there is none.
  bool has_loaded_functions() const;
  flow::FunctionCompiler* functions() const;
  // Begins to make code of functions, or to load what is kept. They are read now, and not later.
  // Null: that takes the compiler, which is not there.
  std::shared_ptr<const FunctionsCode> code_of(std::span<flow::Function* const> functions);

  bool is_done(WorkQueue::Ticket ticket) const { return queue_.is_done(ticket); }
  void wait(WorkQueue::Ticket ticket, lang::Poll poll) { queue_.wait(ticket, poll); }
  // Waits until nothing goes on.
  void settle(lang::Poll poll) { queue_.wait(queue_.last(), poll); }

  // How long the compilers have worked.
  double seconds() const { return seconds_; }

  // Text of optimised code, as the compilers' own. Waits; fails where there is no compiler.
  std::string dump(const loops::Kernel& kernel, const std::string& stage);
  std::string dump(std::span<flow::Function* const> functions, const std::string& stage);

 private:
  void load_kernels();
  std::optional<lang::CodeImage> image_of(const loops::Kernel& kernel);
  CodeStore* store();
  struct Wanted;
  void load(const lang::CodeImage& image, const Wanted& wanted, FunctionsCode& code);
  const void* address_of(const std::string& name, const Wanted& wanted, FunctionsCode& code) const;
  template <class Work>
  double timed(const Work& work);

  Makers makers_;
  std::unordered_map<std::string, std::shared_ptr<KernelCode>> kernels_;  // by structural key
  std::unique_ptr<loops::KernelCompiler> kernel_compiler_;
  bool has_tried_kernels_ = false;
  int kernels_made_ = 0;
  std::once_flag opening_store_;
  std::unique_ptr<CodeStore> store_;
  std::unique_ptr<flow::FunctionCompiler> function_compiler_;
  // Where functions have their code, and what holds it; a function that is gone may still be here.
  struct Place {
    const void* address;
    std::weak_ptr<const LoadedCode> memory;
  };
  std::unordered_map<const flow::Function*, Place> places_;
  WorkQueue::Ticket functions_loaded_ = 0;
  std::atomic<double> seconds_{0};
  WorkQueue queue_;  // ends before what it works with
};

}  // namespace relay::interp
