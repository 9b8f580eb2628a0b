#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flow/function.h"
#include "flow/identity.h"
#include "lang/cell_memory.h"
#include "lang/code_image.h"

namespace relay::flow {

// Who runs native code: the evaluator's state, which the services below look into. Native code
// itself takes cells from the lists of the thread that runs it.
struct Runner {
  lang::CellList* cells = nullptr;
  const std::atomic<std::uintptr_t>* frame_limit = nullptr;  // as that of lang/stop.h
  // A thread that helps with a loop (Services::parallel): it can tell nobody of errors, and gives
  // up where it needs the evaluator.
  bool is_helper = false;
};

// Computes points of a loop whose outermost index is in [begin, end), with what `context` holds.
// Gives that index where it has to give up; -1 if all are done.
using Chunk = std::int64_t (*)(Runner*, void* context, std::int64_t begin, std::int64_t end);

// A native function as the evaluator calls it. Arguments may be moved from; what is left of them is
// the caller's. Returns 0 with the result in `result` (Empty before), or 1: the runner
// knows why.
using Entry = int (*)(Runner* runner, lang::Value* args, lang::Value* result);

// What native code calls. Those that return an int or a pointer return 1, or null, after an error
// that the runner knows of. No exception leaves them. What is "moved" is theirs in any case.
struct Services {
  int (*divided_by_zero)(Runner*, const Site*);
  int (*out_of_range)(Runner*, const Site*, const lang::Tensor*, std::uint64_t axis,
                      std::int64_t index);
  int (*negative_extent)(Runner*, const Site*, std::int64_t extent);
  int (*too_many_steps)(Runner*, const Site*, std::uint64_t count, const std::int64_t* extents);
  int (*nothing_to_fold)(Runner*, const Site*, lang::ReduceOp);
  // The stack is used up, or somebody asks to stop.
  int (*at_limit)(Runner*);
  // Runs the chunk over all indices below `extent`, on several threads where that pays.
  int (*parallel)(Runner*, Chunk, void* context, std::int64_t extent);
  // A tensor of other extents than its type.
  int (*wrong_shape)(Runner*, const Site*, const lang::TypeNode*, const lang::Tensor*);
  // `leaves`: the slots of a value of this type, which stay the caller's.
  int (*no_match)(Runner*, const Site*, const lang::TypeNode*, const lang::Value* leaves);
  // An error comes out of the call at the site.
  void (*leave)(Runner*, const Site*);
  // It comes out of a function that was reached by `count` tail calls.
  void (*leave_tail)(Runner*, const Site* first, const Site* last, std::int64_t count);
  // `args` are moved.
  int (*interpret)(Runner*, const Interpreted*, const Site*, lang::Value* args, std::uint64_t count,
                   lang::Value* result);
  int (*call_value)(Runner*, const lang::Counted* closure, const Site*, lang::Value* args,
                    std::uint64_t count, lang::Value* result);
  // Memory of a cell, from lang/cell_memory.h, and back; where the lists do not serve.
  void* (*allocate_cell)(Runner*, std::uint64_t bytes);
  void (*release_cell)(void* cell, std::uint64_t bytes);
  // Tensors and views, counted once.
  lang::Tensor* (*make_tensor)(Runner*, const Site*, lang::DType, std::uint64_t rank,
                               const std::int64_t* extents);
  lang::Tensor* (*view)(Runner*, const Site*, const lang::Tensor*, std::uint64_t count,
                        const std::int64_t* indices);
  // What the point number `linear` of a loop yields is copied to the stack of its result, which is
  // null at first.
  int (*put_point)(Runner*, const Site*, lang::Tensor** stack, std::uint64_t rank,
                   const std::int64_t* extents, std::int64_t linear, lang::Tensor* moved);
  // The stack where there are no points, from the type of the result.
  lang::Tensor* (*stack_of_none)(Runner*, const lang::TypeNode*, std::uint64_t rank,
                                 const std::int64_t* extents);
  // A row-major tensor that nobody else holds, with the elements of the one that is moved here.
  lang::Tensor* (*own_tensor)(Runner*, lang::Tensor* moved);
  // The closure that does what a function value of another kind does; it is not counted for the
  // caller.
  const lang::Counted* (*closure_of)(Runner*, const lang::Value*);
  void (*release)(const lang::Counted*);           // the last count
  void (*reclaim)(lang::Counted*, std::uint64_t);  // the same of a Tuple or Adt, which is told
};

// Functions on their way to code.
class Compilation {
 public:
  virtual ~Compilation() = default;
  // Makes the code: of each function under its symbol, and of its entry. Empty if that cannot be
  // done; `problem` is then why, if that is known. On any thread; of the same compiler nothing but
  // begin() may be called meanwhile.
  virtual std::optional<lang::CodeImage> run(std::string& problem) = 0;
};

// A compiler of functions. The JIT's shared object provides one.
class FunctionCompiler {
 public:
  virtual ~FunctionCompiler() = default;
  // Functions that call one another, or such as have code, and their identity. They are read now,
  // and not later. The code names what is elsewhere as flow/identity.h says.
  virtual std::unique_ptr<Compilation> begin(std::span<Function* const> functions,
                                             const Identity& identity) = 0;
  // Text of the optimised code: "llvm" or "asm". For functions that are not compiled to run: their
  // symbols become their names. Nothing else goes on.
  virtual std::string dump(std::span<Function* const> functions, const Identity& identity,
                           const std::string& stage) = 0;
};

}  // namespace relay::flow
