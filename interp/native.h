#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flow/lower.h"
#include "flow/native.h"
#include "interp/code.h"
#include "interp/compiling.h"

namespace relay::interp {

// A function on its way to native code.
struct NativeCode final : lang::Counted {
  flow::Function flow;
  flow::Entry entry = nullptr;
  std::shared_ptr<const FunctionsCode> code;  // where that is
  // Lowered: LLVM makes code of it, or will soon.
  enum class State : std::uint8_t { New, UnderWay, Lowered, Refused, Compiled } state = State::New;
  std::optional<lang::Diagnostic> refusal;  // why there is no entry
  bool is_kernels = false;                  // there is nothing else in it
  bool needs_compiler = false;  // there is something to compile, once what compiles is loaded
  bool is_straight = false;     // without calls and loops: compiled where it is repeated
  double seconds = 0;           // of compiling, with those that it calls
  std::string compiled_with;    // "`f`": the function for which it was compiled, if another
  std::size_t size = 0;         // of the code, in bytes
};

// What native code calls.
const flow::Services& native_services();

// Makes native code of functions that are worth it.
class NativeTier final : public flow::Environment {
 public:
  explicit NativeTier(Machine& machine) : machine_(machine) {}
  ~NativeTier() override;

  // Called when `code` has become warmer: has native code made of it, with what it calls, once it
  // is hot enough, and waits for that with JitMode::Always. True if it has an entry; with captures
  // only what calls itself by its own name has one.
  bool consider(const FunctionCode& code);
  // The same of code that nobody has called yet, however often it will be. True if it has an entry.
  bool make(const FunctionCode& code);
  // Waits for all that is being made.
  void settle();
  // Runs code that has an entry, of `closure` if it has captures. Empty after an error, as
  // Machine::invoke.
  lang::Value run(const FunctionCode& code, const Closure* closure, lang::Value* args);

  // What compiling would begin with: the functions, this one first, that native code would be made
  // of, with who owns what; none if it is refused. Nothing is compiled; `code` is this machine's,
  // which runs nothing.
  std::vector<FunctionCodeRef> lowered(const FunctionCode& code);

  flow::Function* callee(const lang::GlobalVar& global) override;
  lang::Value value_of(const lang::Expr& atom) override;
  std::optional<loops::LoweredGroup> kernels(const lang::Function& group,
                                             std::span<const loops::Layout> args) override;
  std::optional<std::uint64_t> scalar(lang::Prim prim, lang::DType operand, lang::DType result,
                                      const std::uint64_t* args) override;
  // A constructor as a closure; kept.
  const lang::Value& closure_of(const lang::Constructor* constructor);

 private:
  NativeCode& native_of(const FunctionCode& code);
  bool lower(const FunctionCode& code);
  bool has_compiler(const FunctionCode& root);
  void compile(const FunctionCode& root);
  void take_back(std::size_t first);
  void install_done();

  // Functions that become code together.
  struct Batch {
    FunctionCodeRef root;
    std::vector<FunctionCodeRef> codes;
    std::vector<flow::Function*> functions;  // of them, with the local ones
    std::shared_ptr<const FunctionsCode> made;
    double seconds;  // of lowering
  };
  void install(const Batch& batch);

  Machine& machine_;
  std::vector<FunctionCodeRef> lowered_;  // since compile() began
  const FunctionCode* lowering_ = nullptr;
  std::deque<Batch> batches_;  // that are not installed, as they were begun
  std::unordered_map<const lang::Constructor*, lang::Value> constructors_;
  std::exception_ptr escaped_;  // out of a service

  friend struct NativeServices;
};

}  // namespace relay::interp
