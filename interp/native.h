#pragma once

#include <memory>
#include <optional>
#include <string>

#include "flow/lower.h"
#include "flow/native.h"
#include "interp/code.h"

namespace relay::interp {

// A function on its way to native code.
struct NativeCode final : lang::Counted {
  flow::Function flow;
  flow::Entry entry = nullptr;
  enum class State : std::uint8_t { New, UnderWay, Lowered, Refused, Compiled } state = State::New;
  std::string refusal;  // why there is no entry
};

// What native code calls.
const flow::Services& native_services();

// Makes native code of functions that are worth it.
class NativeTier final : public flow::Environment {
 public:
  explicit NativeTier(Machine& machine) : machine_(machine) {}
  ~NativeTier() override;

  // Called when `code` has become warmer: compiles it, with what it calls, once it is hot enough.
  // True if it has an entry, which no code with captures has.
  bool consider(const FunctionCode& code);
  // Runs code that has an entry. Empty after an error, as Machine::invoke.
  lang::Value run(const FunctionCode& code, lang::Value* args);

  flow::Function* callee(const lang::GlobalVar& global) override;
  lang::Value value_of(const lang::Expr& atom) override;
  std::optional<std::uint64_t> scalar(lang::Prim prim, lang::DType operand, lang::DType result,
                                      const std::uint64_t* args) override;
  // A constructor as a closure; kept.
  const lang::Value& closure_of(const lang::Constructor* constructor);

 private:
  NativeCode& native_of(const FunctionCode& code);
  bool lower(const FunctionCode& code);
  void compile(const FunctionCode& root);

  Machine& machine_;
  std::vector<FunctionCodeRef> lowered_;  // since compile() began
  std::unordered_map<const lang::Constructor*, lang::Value> constructors_;
  std::exception_ptr escaped_;  // out of a service

  friend struct NativeServices;
};

}  // namespace relay::interp
