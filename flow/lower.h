#pragma once

#include <optional>
#include <span>
#include <string>

#include "flow/function.h"

namespace relay::flow {

// What lowering asks of the program around a function.
class Environment {
 public:
  virtual ~Environment() = default;
  // The global function of this ground type: its parameters and result are known, its body may not
  // be lowered yet. Null if the global is a value.
  virtual Function* callee(const lang::GlobalVar& global) = 0;
  // A global, an operator or a constructor as a value. Throws Failure where it has none.
  virtual lang::Value value_of(const lang::Expr& atom) = 0;
  // The kernels of a group for arguments of these layouts. Nothing where a library has a part in
  // it, or where it is so long that beginning it takes no time beside it.
  virtual std::optional<loops::LoweredGroup> kernels(const lang::Function& group,
                                                     std::span<const loops::Layout> args) = 0;
  // The element of dtype `result` that the primitive gives; nothing where that is an error.
  virtual std::optional<std::uint64_t> scalar(lang::Prim prim, lang::DType operand,
                                              lang::DType result, const std::uint64_t* args) = 0;
};

// What is known of a function before its body is looked at. `source` is a closed, typed Function.
// Throws Failure(Unsupported) for parameters or a result that no slots can hold.
void declare(Function& function, std::string name, const lang::Expr& source);

// Lowers the body of a declared function. Throws Failure(Unsupported) with the expression that
// native code cannot have. Cost: linear in the source.
void lower(Function& function, Environment& environment);

}  // namespace relay::flow
