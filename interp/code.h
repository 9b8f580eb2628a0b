#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "interp/eval.h"
#include "interp/scalar.h"
#include "lang/value.h"

// Prepared code: what the evaluator walks. Made from typed ANF by interp/prepare: names are
// resolved to slots, last uses are marked (the value is moved out, so its buffer or cell may be
// reused or freed at once), scalar operators are expanded to primitives, tensor operators to kernel
// groups.
namespace relay::interp {

class Machine;
struct FunctionCode;
struct Closure;
class Group;        // interp/group.h
struct NativeCode;  // interp/native.h

// Where an operand comes from.
enum class From : std::uint8_t { Slot, LastUse, Capture, Constant, Self };
struct Operand {
  From from = From::Slot;
  std::uint32_t index = 0;
};

struct Frame {
  Machine& machine;
  const FunctionCode& function;
  const Closure* closure;  // null for globals
  lang::Value* slots;
};

// An Empty value returned means: look at the machine's signal (an error, or a tail call to make).
class Code {
 public:
  explicit Code(lang::Span span = {}) : span(span) {}
  virtual ~Code() = default;
  virtual lang::Value eval(Frame& frame) const = 0;
  // Of the body of a function that is called with `args`, which are moved from: the same without a
  // frame. False if it needs one; then nothing has happened.
  virtual bool eval_call(Machine& machine, const FunctionCode& function, lang::Value* args,
                         lang::Value& result) const {
    (void)machine, (void)function, (void)args, (void)result;
    return false;
  }
  const lang::Span span;
};
using CodePtr = std::unique_ptr<Code>;

// A prepared function: parameters are slots 0.. in order.
struct FunctionCode;
using FunctionCodeRef = lang::Ref<FunctionCode>;

struct FunctionCode : lang::Counted {
  std::string name;  // for messages; may be empty
  std::uint32_t param_count = 0;
  std::uint32_t slot_count = 0;
  mutable std::vector<lang::Value> constants;
  // Constants that are globals: filled in at the first call (constants[index] is Empty until then).
  struct GlobalConstant {
    std::uint32_t index;
    std::string name;
    lang::Type type;
    lang::Span span;
  };
  mutable std::vector<GlobalConstant> pending_globals;
  CodePtr body;
  lang::Expr source;  // keeps types, operators and spans alive
  // Of a closure's code: the free variables of `source`, in the order of the captures, and the one
  // by which it calls itself, or null.
  std::vector<lang::VariableRef> captured;
  lang::VariableRef self;
  // Of the closures that it makes and of its index notation that is no kernel.
  std::vector<FunctionCodeRef> inner;
  // Groups in `body`, with the atoms that are their arguments.
  struct GroupUse {
    Group* group;
    std::vector<lang::Expr> args;
  };
  std::vector<GroupUse> groups;
  bool is_nest = false;  // the body is index notation, and nothing else
  // Of a constructor as a closure, which has no source.
  const lang::Constructor* constructor = nullptr;
  // Globals that it calls, as far as it has come to that; they are the machine's.
  mutable std::vector<FunctionCodeRef> calls;
  // Once they have been asked for.
  mutable lang::Ref<FunctionCode> with_pullback;
  mutable lang::Ref<FunctionCode> with_tangent;
  // Calls and steps so far, and what has come of them.
  mutable std::int64_t heat = 0;
  mutable lang::Ref<NativeCode> native;
};

// A function value of this tier.
struct Closure final : lang::ClosureCell {
  FunctionCodeRef code;
  std::vector<lang::Value> captures;
  static void* operator new(std::size_t bytes) { return lang::allocate_cell(bytes); }
  static void operator delete(void* cell) { lang::release_cell(cell, sizeof(Closure)); }
};

}  // namespace relay::interp
