#include <cstring>
#include <exception>
#include <utility>

#include "flow/function.h"
#include "interp/failures.h"
#include "interp/machine.h"
#include "interp/native.h"
#include "interp/native_chunks.h"
#include "interp/nodes.h"
#include "interp/point_stack.h"

// What native code calls (flow::Services).
namespace relay::interp {

using flow::Runner;
using flow::Site;
using lang::Value;

struct NativeServices {
  static Machine& machine(Runner* runner) { return *static_cast<Machine*>(runner); }

  // No exception leaves: it goes on where native code was entered.
  template <class Result, class Body>
  static Result guarded(Runner* runner, Result failed, Body body) {
    if (runner->is_helper) return failed;
    try {
      return body(machine(runner));
    } catch (...) {
      machine(runner).native.escaped_ = std::current_exception();
      return failed;
    }
  }
  template <class Body>
  static int failing(Runner* runner, Body body) {
    return guarded(runner, 1, [&](Machine& machine) {
      body(machine);
      return 1;
    });
  }

  static int divided_by_zero(Runner* runner, const Site* site) {
    return failing(runner, [&](Machine& machine) { fail_division(machine, site->span); });
  }
  static int out_of_range(Runner* runner, const Site* site, const lang::Tensor* tensor,
                          std::uint64_t axis, std::int64_t index) {
    return failing(
        runner, [&](Machine& machine) { fail_index(machine, index, axis, *tensor, site->span); });
  }
  static int negative_extent(Runner* runner, const Site* site, std::int64_t extent) {
    return failing(runner, [&](Machine& machine) { fail_extent(machine, extent, site->span); });
  }
  static int too_many_steps(Runner* runner, const Site* site, std::uint64_t count,
                            const std::int64_t* extents) {
    return failing(runner, [&](Machine& machine) {
      fail_steps(machine, {extents, static_cast<std::size_t>(count)}, site->span);
    });
  }
  static int nothing_to_fold(Runner* runner, const Site* site, lang::ReduceOp op) {
    return failing(runner, [&](Machine& machine) { fail_empty_fold(machine, op, site->span); });
  }
  static int at_limit(Runner* runner) {
    return failing(runner, [](Machine& machine) { machine.fail_at_limit(); });
  }
  static int parallel(Runner* runner, flow::Chunk chunk, void* context, std::int64_t extent) {
    const int threads = runner->is_helper ? 1 : machine(runner).threads;
    return run_chunks(*runner, chunk, context, extent, threads) ? 0 : 1;
  }
  static int wrong_shape(Runner* runner, const Site* site, const lang::TypeNode* type,
                         const lang::Tensor* tensor) {
    return failing(runner, [&](Machine& machine) {
      fail_shape(machine, *tensor, lang::Type(type), site->span);
    });
  }
  static int no_match(Runner* runner, const Site* site, const lang::TypeNode* type,
                      const Value* leaves) {
    return failing(runner, [&](Machine& machine) {
      fail_match(machine, gather(lang::Type(type), leaves), site->span);
    });
  }
  static void leave(Runner* runner, const Site* site) {
    (void)failing(runner, [&](Machine& machine) { machine.trail.add(site->span); });
  }
  static void leave_tail(Runner* runner, const Site* first, const Site* last, std::int64_t count) {
    (void)failing(runner, [&](Machine& machine) {
      machine.trail.add(last->span);
      if (count > 2) machine.trail.add_tail_calls(count - 2);
      if (count > 1) machine.trail.add(first->span);
    });
  }

  // A call from native code.
  template <class Call>
  static int call(Runner* runner, const Site* site, Value* args, std::uint64_t count, Value* result,
                  Call call) {
    const int status = guarded(runner, 1, [&](Machine& machine) {
      Value value = call(machine);
      if (value.is_empty()) {
        machine.trail.add(site->span);
        return 1;
      }
      new (result) Value(std::move(value));
      return 0;
    });
    for (std::uint64_t i = 0; i < count; ++i) args[i] = Value();
    return status;
  }
  static int interpret(Runner* runner, const flow::Interpreted* interpreted, const Site* site,
                       Value* args, std::uint64_t count, Value* result) {
    // It is part of the function: no call to tell of.
    const int status = guarded(runner, 1, [&](Machine& machine) {
      const FunctionCodeRef code(
          const_cast<FunctionCode*>(static_cast<const FunctionCode*>(interpreted->code.get())));
      Value value;
      const bool is_done =
          code->pending_globals.empty() && code->body->eval_call(machine, *code, args, value);
      if (!is_done) value = machine.invoke(code, nullptr, args, count);
      if (value.is_empty()) return 1;
      new (result) Value(std::move(value));
      return 0;
    });
    (void)site;
    for (std::uint64_t i = 0; i < count; ++i) args[i] = Value();
    return status;
  }
  static int call_value(Runner* runner, const lang::Counted* closure, const Site* site, Value* args,
                        std::uint64_t count, Value* result) {
    return call(runner, site, args, count, result, [&](Machine& machine) {
      const lang::Ref<const Closure> held(static_cast<const Closure*>(closure));
      return machine.invoke(held->code, held, args, count);
    });
  }

  // Counted once, for native code.
  template <class T>
  static T* handed_over(lang::Ref<T> object) {
    return object.detach();
  }
  // The count that native code has handed over.
  static lang::TensorRef taken(lang::Tensor* moved) {
    lang::TensorRef held(moved);
    moved->release();
    return held;
  }
  static void* allocate_cell(Runner* runner, std::uint64_t bytes) {
    return guarded<void*>(runner, nullptr,
                          [&](Machine&) { return lang::allocate_cell_slowly(bytes); });
  }
  static void release_cell(void* cell, std::uint64_t bytes) {
    lang::release_cell_slowly(cell, bytes);
  }
  static lang::Tensor* make_tensor(Runner* runner, const Site*, lang::DType dtype,
                                   std::uint64_t rank, const std::int64_t* extents) {
    return guarded<lang::Tensor*>(runner, nullptr, [&](Machine&) {
      return handed_over(
          lang::Tensor::make(dtype, std::span(extents, static_cast<std::size_t>(rank))));
    });
  }
  static lang::Tensor* view(Runner* runner, const Site* site, const lang::Tensor* tensor,
                            std::uint64_t count, const std::int64_t* indices) {
    return guarded<lang::Tensor*>(runner, nullptr, [&](Machine& machine) {
      return handed_over(
          view_of(machine, *tensor, {indices, static_cast<std::size_t>(count)}, site->span));
    });
  }
  static int put_point(Runner* runner, const Site* site, lang::Tensor** stack, std::uint64_t rank,
                       const std::int64_t* extents, std::int64_t linear, lang::Tensor* moved) {
    const lang::TensorRef item = taken(moved);
    lang::TensorRef whole = *stack != nullptr ? taken(*stack) : lang::TensorRef();
    const int status = guarded(runner, 1, [&](Machine& machine) {
      const std::span points(extents, static_cast<std::size_t>(rank));
      return interp::put_point(machine, whole, points, linear, item, site->span) ? 0 : 1;
    });
    *stack = whole.detach();
    return status;
  }
  static lang::Tensor* stack_of_none(Runner* runner, const lang::TypeNode* type, std::uint64_t rank,
                                     const std::int64_t* extents) {
    return guarded<lang::Tensor*>(runner, nullptr, [&](Machine&) {
      return handed_over(
          interp::stack_of_none(lang::Type(type), {extents, static_cast<std::size_t>(rank)}));
    });
  }
  static lang::Tensor* own_tensor(Runner* runner, lang::Tensor* moved) {
    const lang::TensorRef held = taken(moved);
    return guarded<lang::Tensor*>(runner, nullptr, [&](Machine&) {
      const lang::TensorRef dense = lang::contiguous(held);
      if (dense != held) return handed_over(dense);
      const lang::TensorRef copy = lang::Tensor::make(held->dtype(), held->shape());
      const auto count = static_cast<std::size_t>(held->element_count());
      if (count > 0) std::memcpy(copy->data(), held->data(), count * lang::size_of(held->dtype()));
      return handed_over(copy);
    });
  }
  static const lang::Counted* closure_of(Runner* runner, const Value* value) {
    return &machine(runner).native.closure_of(&value->as_constructor()).as_closure();
  }
  static void release(const lang::Counted* object) { object->release(); }
  static void reclaim(lang::Counted* cell, std::uint64_t kind) {
    lang::reclaim_cell(cell, static_cast<lang::ValueKind>(kind));
  }

 private:
  static Value gather(const lang::Type& type, const Value*& leaves) {
    const auto* tuple = lang::as<lang::TupleType>(type);
    if (const std::size_t count = flow::small_elements(type)) {
      std::vector<std::int64_t> shape;
      for (const lang::Dim& dim : lang::as<lang::TensorType>(type)->shape.dims())
        shape.push_back(dim.constant());
      const lang::TensorRef tensor = lang::Tensor::make(leaves->dtype(), shape);
      for (std::size_t i = 0; i < count; ++i)
        tensor->set_bits(static_cast<std::int64_t>(i), (leaves++)->bits());
      return Value::tensor(tensor);
    }
    if (!tuple) return *leaves++;
    auto cell = lang::TupleCell::make(tuple->fields.size());
    for (std::size_t i = 0; i < tuple->fields.size(); ++i)
      cell->fields()[i] = gather(tuple->fields[i], leaves);
    return Value::tuple(std::move(cell));
  }
};

const flow::Services& native_services() {
  static const flow::Services services = {
      .divided_by_zero = &NativeServices::divided_by_zero,
      .out_of_range = &NativeServices::out_of_range,
      .negative_extent = &NativeServices::negative_extent,
      .too_many_steps = &NativeServices::too_many_steps,
      .nothing_to_fold = &NativeServices::nothing_to_fold,
      .at_limit = &NativeServices::at_limit,
      .parallel = &NativeServices::parallel,
      .wrong_shape = &NativeServices::wrong_shape,
      .no_match = &NativeServices::no_match,
      .leave = &NativeServices::leave,
      .leave_tail = &NativeServices::leave_tail,
      .interpret = &NativeServices::interpret,
      .call_value = &NativeServices::call_value,
      .allocate_cell = &NativeServices::allocate_cell,
      .release_cell = &NativeServices::release_cell,
      .make_tensor = &NativeServices::make_tensor,
      .view = &NativeServices::view,
      .put_point = &NativeServices::put_point,
      .stack_of_none = &NativeServices::stack_of_none,
      .own_tensor = &NativeServices::own_tensor,
      .closure_of = &NativeServices::closure_of,
      .release = &NativeServices::release,
      .reclaim = &NativeServices::reclaim,
  };
  return services;
}

}  // namespace relay::interp
