#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "flow/function.h"
#include "flow/layout.h"
#include "flow/native.h"
#include "jit/host.h"
#include "jit/llvm.h"
#include "jit/scalar_codegen.h"
#include "loops/reduction_tree.h"

namespace relay::jit {

// Emits functions of flow/ into a module, as calls of tailcc that give a status (0, or 1 after an
// error) and their results, in registers where these hold them, else in memory of the caller.
//
// A slot is a value of SSA: a scalar as jit/scalar_codegen has it, or the pointer of a counted
// object. What fails goes through blocks that give back what the step's `cleanup` says, and that
// other steps go through, too. A call of the function itself in tail position is a jump.
//
// The methods are spread over function_codegen.cpp (functions, calls, control), object_codegen.cpp
// (counts, cells, tensors), nest_codegen.cpp (loops and folds), lane_fold_codegen.cpp,
// plain_nest_codegen.cpp, chunk_codegen.cpp, inner_kernels_codegen.cpp and cons_codegen.cpp.
class FunctionCodegen {
 public:
  // `identity`: of all the functions that will be emitted.
  FunctionCodegen(llvm::Module& module, const flow::Services& services, const flow::Layout& layout,
                  const HostTraits& host, const flow::Identity& identity);

  void emit(const flow::Function& function);
  // The function as the evaluator calls it (flow::Entry).
  void emit_entry(const flow::Function& function);
  // Has all that was emitted its addresses by name?
  bool is_complete() const { return names_->are_complete; }

 private:
  // Of what code holds addresses of.
  struct Names {
    std::unordered_map<const void*, std::string> objects;
    std::unordered_map<const flow::Function*, std::string> callees;
    bool are_complete = true;
  };
  // For a chunk of one of its functions.
  explicit FunctionCodegen(const FunctionCodegen& outer)
      : module_(outer.module_),
        services_(outer.services_),
        layout_(outer.layout_),
        host_(outer.host_),
        names_(outer.names_),
        b_(outer.module_.getContext()) {}

  using Values = std::vector<llvm::Value*>;
  struct Join {
    llvm::BasicBlock* block = nullptr;
    std::vector<llvm::PHINode*> phis;
  };
  using Emit = std::function<void()>;
  // Of a function that is tail called: the first and the last call, and how many there were. No
  // value: none.
  struct Tail {
    llvm::Value* first = nullptr;
    llvm::Value* last = nullptr;
    llvm::Value* count = nullptr;
  };

  // function_codegen.cpp
  llvm::Type* slot_type(const flow::SlotType& type);
  static bool fits_registers(const flow::Function& function);
  llvm::StructType* results_type(const flow::Function& function, bool with_status);
  llvm::FunctionType* type_of(const flow::Function& function);
  llvm::Function* declared(const flow::Function& function);
  void begin(const flow::Function& function);
  void begin_loop(const flow::Function& function);
  llvm::Value* frame_limit();
  void check_stack();
  void block(const flow::Block& block, const Join* join);
  void steps(const flow::Block& block);
  void step(const flow::Step& step);
  void leave_block(const flow::Block& block, const Join* join);
  void return_values(const Values& values);
  Join make_join(const flow::Step& step);
  void primitive(const flow::Step& step);
  void call(const flow::Step& step);
  void call_as_data(const flow::Step& step);
  void branch(const flow::Step& step);
  void match(const flow::Step& step);
  // `is_kept`: it stays a call.
  Values call_function(const flow::Function& callee, const Values& args, llvm::Value*& status,
                       bool is_kept = false);
  Values arguments(const std::vector<flow::Operand>& operands);
  // All that a call hands over: what stands in front of the arguments, too.
  Values with_hidden(const flow::Function& callee, llvm::Value* out, const Tail& tail,
                     const Values& args);
  Tail tail_after(const flow::Site* site);

  // Leaves the step if `failed` holds: what `cold` emits comes first, then its cleanup.
  void leave_if(llvm::Value* failed, const flow::Step& step, const Emit& cold);
  // Goes to `fail_` by way of blocks that give back the step's cleanup.
  void fail_after(const flow::Step& step);
  void give_back_arguments(const Values& values);

  // object_codegen.cpp
  llvm::Value* part(llvm::Value* object, std::size_t offset);
  llvm::Value* load_header(llvm::Type* type, llvm::Value* object, std::size_t offset);
  void retain(llvm::Value* object);
  void release(llvm::Value* object, const flow::SlotType& type);
  // Memory of a cell with so many fields; null where there is none.
  llvm::Value* allocate_cell(lang::ValueKind kind, std::size_t count);
  void free_cell(llvm::Value* cell, lang::ValueKind kind, std::size_t count);
  std::size_t bytes_of_cell(lang::ValueKind kind, std::size_t count) const;
  llvm::Value* cell_list(std::size_t bytes);
  void take(const flow::Step& step);
  llvm::Value* to_bits(llvm::Value* value, const flow::SlotType& type);
  llvm::Value* from_bits(llvm::Value* bits, const flow::SlotType& type);
  void store_value(llvm::Value* place, llvm::Value* value, const flow::SlotType& type);
  llvm::Value* load_value(llvm::Value* place, const flow::SlotType& type);
  llvm::Value* field_place(llvm::Value* cell, lang::ValueKind kind, std::size_t number);
  llvm::Value* make_cell(const lang::Constructor* constructor, std::size_t count,
                         const Emit& failed);
  void construct(const flow::Step& step);
  void small_tensor(const flow::Step& step);
  llvm::Value* has_other_extents(llvm::Value* tensor, const lang::Type& type);
  // A tensor of the type of a small one, or null, with room for its elements.
  llvm::Value* new_small_tensor(const lang::Type& type);
  void store_elements(llvm::Value* tensor, const Values& elements, std::size_t first,
                      std::size_t count, lang::DType dtype);
  void element(const flow::Step& step);
  void view(const flow::Step& step);
  void light_view(const flow::Step& step);
  // Leaves the step where the tensor, its first argument, has no element at the indices.
  void check_index(const flow::Step& step, std::span<const flow::Operand> indices);
  llvm::Value* stride_of(llvm::Value* tensor, std::size_t axis);
  llvm::Value* data_of(llvm::Value* tensor);
  void know_header(llvm::Value* tensor, std::size_t rank);
  // The place of an element of a tensor, which has it.
  llvm::Value* element_place(llvm::Value* tensor, std::span<const flow::Operand> indices,
                             lang::DType dtype);
  // Row-major, and held by nobody else, nor is its buffer?
  llvm::Value* is_own(llvm::Value* tensor, std::size_t rank);
  void own(const flow::Step& step);
  void forget_content(llvm::Value* tensor);
  void store(const flow::Step& step);
  llvm::Value* extent_of(llvm::Value* tensor, std::size_t axis);
  llvm::Value* index_value(const flow::Operand& operand);
  llvm::Type* memory_type(lang::DType dtype);
  // The slots of an argument of the entry. Of owned parameters it is moved, a part of it counted
  // once more.
  void unpack(llvm::Value* place, const lang::Type& type, const flow::Function& function,
              const flow::Site* site, Values& leaves, bool is_part);
  void box(llvm::Value* place, const lang::Type& type, const Values& leaves, std::size_t& next,
           llvm::BasicBlock* failed);

  // inner_kernels_codegen.cpp
  struct InnerRun;
  llvm::Value* fits_kernels(const flow::Step& step);
  void kernels(const flow::Step& step);
  std::vector<llvm::Function*> kernel_functions(const flow::Kernels& kernels);
  void place_arguments(const flow::Step& step, InnerRun& run);
  void make_tensors(const flow::Step& step, InnerRun& run);
  void make_tensor(const flow::Step& step, std::size_t number, InnerRun& run);
  llvm::Value* room_for(const loops::MadeTensor& tensor);
  void release_made(const InnerRun& run, std::size_t end);
  void release_taken(const InnerRun& run);
  llvm::Value* launch(const loops::Launch& launch, llvm::Function* function, InnerRun& run);
  void set_results(const flow::Step& step, const InnerRun& run);

  // cons_codegen.cpp
  void begin_filling(const flow::Block& block);
  void accumulate(const flow::Accumulated& accumulated);
  llvm::Value* with_sum(llvm::Value* value);
  // `args`: of the call that fills them.
  void fill_with_cells(const flow::Block& block, const Values& args);
  void give_back_fields(const flow::Filled& cell);
  void put_in_place(llvm::Value* value);
  void give_up_filling(const flow::Site* site);

  // nest_codegen.cpp
  Values extents_of(const flow::Step& step, llvm::Value*& points);
  void nest(const flow::Step& step, const Values& extents,
            const std::function<void(llvm::Value*)>& point);
  void poll();
  // What one part of a loop's results is made in. The elements of scalars and small tensors, so
  // many for each point, are stored where they belong; tensors are copied there, by a service that
  // makes the whole once it sees the first.
  struct Stack {
    lang::DType dtype = lang::DType::Bool;
    std::size_t elements = 0;           // 0: tensors
    llvm::Value* data = nullptr;        // of elements
    llvm::AllocaInst* whole = nullptr;  // of tensors: null at first
  };
  Stack begin_stack(const flow::Step& step, std::size_t part_number, const Values& extents,
                    const Emit& failed);
  llvm::Value* words_of(const Values& values);
  void store_point(const flow::Step& step, const Stack& stack, const Values& extents,
                   llvm::Value* linear, const Values& values, std::size_t next, const Emit& failed);
  void end_stack(const flow::Step& step, std::size_t part_number, const Stack& stack,
                 const Values& extents);
  void stack_points(const flow::Step& step, const std::vector<Stack>& stacks,
                    const Values& extents);
  void comprehension(const flow::Step& step);
  void fold(const flow::Step& step);
  void fold_exact(const flow::Step& step, const Values& extents);
  void fold_arg(const flow::Step& step, const Values& extents);

  // chunk_codegen.cpp
  llvm::Value* first_of(const flow::Step& step, std::size_t axis);
  llvm::Value* end_of(const flow::Step& step, std::size_t axis, const Values& extents);
  void note_index(const flow::Step& step, std::size_t axis, llvm::Value* index);
  void in_chunks(const flow::Step& step, const Values& extents, const std::vector<Stack>& stacks);
  llvm::Function* emit_chunk(const flow::Function& function, const flow::Step& step,
                             const std::vector<flow::Slot>& captures, std::vector<Stack> stacks);

  // plain_nest_codegen.cpp
  llvm::Value* holds(const flow::LoopCheck& check, const Values& extents);
  void where_plain(const flow::Step& step, const Values& extents, const Emit& plain,
                   const Emit& other);
  void over_points(const flow::Step& step, const Values& extents,
                   const std::function<void(llvm::Value*)>& point);
  void plain_nest(const flow::Step& step, const Values& extents,
                  const std::function<void(llvm::Value*)>& point);

  // lane_fold_codegen.cpp
  static constexpr std::int64_t kBlockBits =
      std::countr_zero(static_cast<std::uint64_t>(loops::kReductionBlock));
  struct LaneFold;
  llvm::Function* lane_combiner(lang::Prim prim, lang::DType dtype);
  LaneFold begin_lanes(const flow::Step& step);
  void clear_lanes(const LaneFold& fold);
  void add_to_lane(const flow::Step& step, const LaneFold& fold, llvm::Value* lanes,
                   llvm::Value* lane);
  void fold_waiting(const LaneFold& fold, llvm::Value* blocks, bool at_end);
  void close_block(const LaneFold& fold, llvm::Value* before);
  void end_lanes(const LaneFold& fold, llvm::Value* lanes, llvm::Value* blocks);
  void fold_lanes(const flow::Step& step, const Values& extents);
  void fold_rows(const flow::Step& step, const LaneFold& fold, llvm::Value* extent);

  // Small things.
  llvm::Value* operand(const flow::Operand& operand);
  flow::SlotType type_of(const flow::Operand& operand) const;
  llvm::Value* int64(std::int64_t value) { return b_.getInt64(static_cast<std::uint64_t>(value)); }
  // Of something that the identity or the services hold, by its name there.
  llvm::Value* address(const void* pointer);
  llvm::Value* named(const std::string& name);
  template <class Function>
  llvm::CallInst* call_service(Function* service, llvm::Type* result,
                               std::initializer_list<llvm::Value*> args);
  llvm::CallInst* call_address(const void* service, llvm::Type* result,
                               llvm::ArrayRef<llvm::Value*> args);
  llvm::BasicBlock* new_block(const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, function_);
  }
  llvm::AllocaInst* new_cell(llvm::Type* type, const char* name);
  llvm::AllocaInst* scratch(std::size_t values);
  ScalarCodegen scalars() { return {b_, 1}; }
  llvm::MDNode* likely();
  llvm::MDNode* unlikely();
  void set(flow::Slot slot, llvm::Value* value) { values_[slot] = value; }

  llvm::Module& module_;
  const flow::Services& services_;
  const flow::Layout& layout_;
  const HostTraits& host_;
  std::shared_ptr<Names> names_;
  llvm::IRBuilder<> b_;
  const flow::Function* source_ = nullptr;
  llvm::Function* function_ = nullptr;
  llvm::Value* runner_ = nullptr;
  llvm::Value* out_ = nullptr;  // results, if they are in memory
  Tail tail_;
  llvm::BasicBlock* fail_ = nullptr;  // where a step that fails goes
  // By the block behind it and the object: the block that gives the object back.
  std::map<std::pair<llvm::BasicBlock*, llvm::Value*>, llvm::BasicBlock*> cleanups_;
  llvm::BasicBlock* header_ = nullptr;       // where a tail call of the function itself goes
  std::vector<llvm::PHINode*> header_phis_;  // by parameter; null: it is the same each time
  // What is known of tensors here: their headers need not be read again.
  struct Header {
    llvm::Value* data = nullptr;
    Values shape;
    Values strides;
    llvm::Value* base = nullptr;  // of a light view: of what, from which axis on
    std::size_t first_axis = 0;
  };
  std::unordered_map<llvm::Value*, Header> headers_;
  // Objects whose headers may be on the stack, where others have been before.
  std::unordered_set<llvm::Value*> lent_;
  // Of a function with a call that fills a cell: the first such cell, the place that waits in the
  // last one, and how many there are. Or of one whose result is combined with numbers: these so
  // far.
  struct Filling {
    llvm::AllocaInst* first = nullptr;
    llvm::AllocaInst* place = nullptr;
    llvm::AllocaInst* count = nullptr;
    llvm::AllocaInst* sum = nullptr;
    const flow::Accumulated* by = nullptr;
  };
  Filling filling_;
  // Of a chunk: its loop, its range along the outermost axis of that, and how far it is.
  const flow::Step* chunk_loop_ = nullptr;
  llvm::Value* chunk_begin_ = nullptr;
  llvm::Value* chunk_end_ = nullptr;
  llvm::AllocaInst* chunk_index_ = nullptr;
  bool nothing_fails_ = false;  // in what is emitted: it has been looked at before
  llvm::AllocaInst* probe_ = nullptr;
  llvm::AllocaInst* scratch_ = nullptr;
  std::size_t scratch_size_ = 0;
  llvm::AllocaInst* result_ = nullptr;  // a Value
  Values values_;                       // by slot
  // Of kernels that the functions have: theirs.
  std::unordered_map<const flow::Kernels*, std::vector<llvm::Function*>> kernel_functions_;
  int kernels_made_ = 0;
};

template <class Function>
llvm::CallInst* FunctionCodegen::call_service(Function* service, llvm::Type* result,
                                              std::initializer_list<llvm::Value*> args) {
  return call_address(reinterpret_cast<const void*>(service), result,
                      llvm::ArrayRef<llvm::Value*>(args.begin(), args.size()));
}

}  // namespace relay::jit
