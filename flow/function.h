#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lang/expr.h"
#include "lang/module.h"
#include "lang/value.h"
#include "loops/lower.h"

// Functions as control flow over slots: what native code is made of (jit/function_codegen). Made
// from typed, finished A-normal form by flow/lower; what owns which object, and where it is given
// back, is then written in by flow/ownership.
//
// A slot holds a scalar or one counted object, and is set once. Tuples that a function works with
// are spread over slots, and so are small tensors, an element each; where they are stored in data
// or handed to unknown code they are objects.
namespace relay::flow {

using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = UINT32_MAX;

struct SlotType {
  lang::ValueKind kind = lang::ValueKind::Scalar;  // Scalar, Tensor, Tuple (a cell), Adt, Closure,
                                                   // Reference
  lang::DType dtype = lang::DType::Bool;           // Scalar
  bool is_object() const { return kind != lang::ValueKind::Scalar; }
  friend bool operator==(const SlotType&, const SlotType&) = default;
};

// What a slot, or a constant of the function, holds.
struct Operand {
  enum class From : std::uint8_t { Slot, Constant };
  From from = From::Slot;
  std::uint32_t index = 0;
  static Operand slot(Slot slot) { return {From::Slot, slot}; }
  static Operand constant(std::uint32_t index) { return {From::Constant, index}; }
  bool is_slot() const { return from == From::Slot; }
};

// A place in the text where running may fail, for messages.
struct Site {
  lang::Span span;
};

// Kernels that are part of a function: lowered for row-major arguments of the extents that their
// types tell. Each result leaf is a tensor of its own.
struct Kernels {
  loops::LoweredGroup group;
  std::vector<lang::Type> args;     // leaves
  std::vector<lang::Type> results;  // leaves
  std::vector<bool> is_taken;       // by argument: its memory may become a result's
  bool may_fail = false;
};

// An expression that the interpreter evaluates: a function of its free variables.
struct Interpreted {
  lang::Expr function;
  lang::Ref<const lang::Counted> code;  // what the interpreter makes of it
  std::string why;                      // of kernels: what keeps them from being steps
};

struct Function;
struct Block;

enum class StepKind : std::uint8_t {
  Primitive,   // of scalars
  Element,     // of a tensor (args[0]) at indices (the others), which are integers of any width
  View,        // the same with fewer indices than axes: a tensor
  Extent,      // of axis `number` of a tensor: int64
  Call,        // of `callee`
  CallValue,   // of a function value (args[0]); the arguments and the result are as in data
  Interpret,   // `interpreted` of args, as in data
  Fits,        // a bool: are args, leaves, what `kernels` are for?
  Kernels,     // `kernels` of args, for which they are, and which may be small tensors, spread; the
               // results are leaves, and where they may fail, whether they have not
  Construct,   // a cell of `constructor`, or a tuple's; fields as in data
  Tensor,      // of `type`, a small tensor's: the elements
  CheckShape,  // args[0] is a tensor of the extents of `type`, or an error: data may hold others
  CheckIndex,  // args[0], a tensor, has an element at the others, or an error
  Own,         // args[0], a tensor, or a copy of it where somebody else holds it: to be stored to
  Store,       // the element of args[0], by Own, at the next ones becomes `reduce` of itself and
               // the last
  Set,         // the same, where it becomes the last
  Field,       // `number` of a cell (args[0])
  If,          // args[0], a bool: blocks[0], else blocks[1]
  Match,       // the first of `arms` whose tests hold; none: an error, with args[0] as the value
  Loop,  // over extents (args), row-major: what blocks[0] yields, stacked: a tensor for each of
         // `parts`, if any
  Fold,  // the same, of a scalar yield, or two for Dot, by `reduce`; the order is that of
         // loops/loop_ir.h
  // Written by flow/ownership.
  Retain,
  Release,
  Take,  // the cell args[0] is given back, `results` are its fields from Field, to be owned
};

// A test of an arm. A field that is read is borrowed from its cell.
struct Test {
  enum class Kind : std::uint8_t { Tag, Field } kind = Kind::Tag;
  Operand cell;
  std::uint32_t number = 0;  // the tag that it must have; which field
  Slot result = kNoSlot;     // Field
};

// What has to hold before a loop so that a tensor has an element at each of its points: of the
// index along one axis, which is a binder, more or less by a number from outside, or that number.
struct LoopCheck {
  Operand tensor;
  std::size_t axis = 0;
  std::optional<std::size_t> binder;
  std::optional<Operand> shift;
  bool subtracts = false;  // the number from the binder
};

struct Arm;

// An object in a cell, which nobody reads.
struct Dropped {
  std::uint32_t number = 0;
  SlotType type;
};

struct Step {
  StepKind kind = StepKind::Primitive;
  std::vector<Slot> results;
  std::vector<Operand> args;
  lang::Prim prim = lang::Prim::Add;  // Primitive
  lang::DType dtype =
      lang::DType::Bool;      // Primitive: of the operands; Fold, Store: of the elements
  bool in_bounds = false;     // Element: known, of the very tensor
  bool has_fallback = false;  // If: blocks[1] does what blocks[0] does, by the interpreter
  bool is_light = false;      // View: no object, but a header that lies with its function; by
                              // flow/ownership
  std::uint32_t number = 0;   // Extent, Field; Take: of fields, 0: not known
  lang::ReduceOp reduce = lang::ReduceOp::Sum;
  Function* callee = nullptr;                      // Call
  const lang::Constructor* constructor = nullptr;  // Construct; null: a tuple's cell
  Interpreted* interpreted = nullptr;              // Interpret
  const Kernels* kernels = nullptr;                // Fits, Kernels
  lang::Type type;                    // Interpret, CallValue, Tensor: of the result; CheckShape
  std::vector<lang::Type> arg_types;  // the same: of the arguments, as in data
  const Site* site = nullptr;
  std::vector<std::uint32_t> fields;  // Take: their numbers. Kernels: by leaf of the arguments, how
                                      // many elements of args stand for it; 0: one object
  std::vector<Dropped> dropped;       // Take, where the number of fields is known: the other ones
  std::vector<Slot> binders;          // Loop, Fold: the indices
  std::vector<const Site*> binder_sites;
  bool is_plain = false;  // Loop, Fold: nothing can fail where `checks` hold; by flow/plain_loops
  std::vector<LoopCheck> checks;
  bool is_parallel = false;       // Loop: any thread can compute its points; by flow/parallel_loops
  std::vector<lang::Type> parts;  // Loop: what it yields, tensors in slots or as objects
  std::vector<Block> blocks;
  std::vector<Arm> arms;
  // By flow/ownership: what is given back when the step fails.
  std::vector<Slot> cleanup;
};

enum class Exit : std::uint8_t {
  Yield,     // values go to the step's results (or are a loop's elements)
  Return,    // from the function
  TailCall,  // of `callee` with the values
  None,      // the last step's blocks have left
};

// A cell with a place that is filled later; the operand there stands for nothing.
struct Filled {
  const lang::Constructor* constructor = nullptr;
  std::vector<Operand> fields;
  std::uint32_t place = 0;
};

// What the function gives in the end is combined with this number.
struct Accumulated {
  lang::Prim prim = lang::Prim::Add;
  lang::DType dtype = lang::DType::Bool;
  Operand number;
};

struct Block {
  std::vector<Step> steps;
  Exit exit = Exit::Yield;
  std::vector<Operand> values;
  Function* callee = nullptr;
  const Site* site = nullptr;
  // TailCall of the function by itself, by flow/cons_calls: what it gives takes the place in the
  // last of these cells, each takes that in the one before it, and the first is the result.
  std::vector<Filled> cells;
  // The same, by flow/accumulate.
  std::optional<Accumulated> accumulated;
};

// What a cell looks like once the tests of an arm hold.
struct Shape {
  Operand cell;
  std::vector<SlotType> fields;  // of kind Empty: not known before it runs
};

struct Arm {
  std::vector<Test> tests;
  std::vector<Shape> shapes;  // of the cells in `tests`
  Block body;
};

// Does a call of the function by itself leave something to be done with what it gives?
inline bool is_call_with_rest(const Block& block) {
  return !block.cells.empty() || block.accumulated;
}

struct Function {
  std::string name;
  lang::Expr source;  // keeps types, operators, constructors and spans alive
  std::vector<lang::Type> param_types;
  std::vector<const Site*> param_sites;
  lang::Type result_type;
  std::vector<SlotType> slots;    // parameters first
  std::size_t param_count = 0;    // slots
  std::vector<bool> is_borrowed;  // by parameter slot: the caller keeps what it holds
  std::vector<SlotType> results;
  Block body;
  std::vector<lang::Value> constants;
  std::vector<std::unique_ptr<Site>> sites;
  std::vector<std::unique_ptr<Interpreted>> interpreted;
  std::vector<std::unique_ptr<const Kernels>> kernels;
  std::vector<std::unique_ptr<Function>> locals;  // of known local functions
  std::vector<lang::Expr> expansions;             // of operators; their nodes are part of no source
  bool is_tail_called = false;  // by other functions: it can tell of those calls after an error
  bool is_local = false;        // only called from the function whose local it is
  bool is_shareable = false;    // any thread can run it; by flow/parallel_loops
  bool makes_cells = false;     // itself, or something that it calls may; by flow/ownership
  bool is_lowered = false;
  bool is_compiled = false;
  std::string symbol;  // in the image of its code
};

// The code of a function that is not local as the evaluator calls it (flow::Entry).
inline std::string entry_symbol(const Function& function) { return function.symbol + "_entry"; }

// How many elements a tensor of constant shape and rank 1 or more has, if that is 1 to `most`, and
// at most 16 along an axis. 0 for any other type.
inline std::size_t elements_up_to(const lang::Type& type, std::int64_t most) {
  constexpr std::int64_t kMostInRow = 16;
  const auto* tensor = lang::as<lang::TensorType>(type);
  if (!tensor || !tensor->shape.has_rank() || tensor->shape.rank() == 0 ||
      !tensor->dtype.is_known())
    return 0;
  std::int64_t count = 1;
  for (const lang::Dim& dim : tensor->shape.dims()) {
    if (!dim.is_constant() || dim.constant() < 1 || dim.constant() > kMostInRow) return 0;
    count *= dim.constant();
    if (count > most) return 0;
  }
  return static_cast<std::size_t>(count);
}
// Of a small tensor, which is spread over slots wherever it goes.
inline std::size_t small_elements(const lang::Type& type) { return elements_up_to(type, 16); }
// Of one that a point of a loop yields element by element, too.
inline std::size_t yielded_elements(const lang::Type& type) { return elements_up_to(type, 32); }

// The slots of a value of a type; tuples and small tensors are spread. Throws Failure(Unsupported)
// for what has none.
void append_slot_types(const lang::Type& type, std::vector<SlotType>& slots);
// As in data: a tuple is a cell, a small tensor is a tensor.
SlotType cell_type(const lang::Type& type);

// For `:show flow` and debugging.
std::string to_string(const Function& function);

}  // namespace relay::flow
