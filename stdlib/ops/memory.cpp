// The operators into which Relay's virtual machine lowers a program: memory, devices, shapes and
// calls of compiled functions. Here memory is no concern of a program: what only gives a value
// works, and what hands out memory is typed and refused.

#include "stdlib/ops/memory.h"

#include <optional>
#include <string>

#include "stdlib/ops/types.h"
#include "stdlib/ops/vendor.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

const AttrSpec kDevice = nullable_attr("virtual_device", AttrKind::Any, "the device");

// --- memory.* ---

constexpr const char* kNoMemory =
    "programs do not handle memory here; run the program before Relay has planned its memory";

void add_alloc_storage() {
  OpDef def = unsupported_operator("memory.alloc_storage", 10, "A block of memory.", kNoMemory,
                                   "1\n// expect: 1");
  def.inputs = {{"size", "how many bytes"},
                {"shape", "the shape that it is for"},
                {"alignment", "what its address is a multiple of"}};
  def.attrs = {optional_attr("dtype", AttrKind::DType, DType::Float32, "the dtype that it is for"),
               kDevice};
  // The result is of the data type `Storage`, which only a program can define.
  def.type_rule = [](TypeCall& call) -> RuleOutcome { refuse(call, kNoMemory); };
  lang::OpRegistry::instance().add(std::move(def));
}

// The extents in a list, or in a constant; `?` for what is none.
std::optional<std::vector<Dim>> extents_in(const AttrValue* value) {
  const auto* list = value ? value->as_list() : nullptr;
  if (!list || list->empty()) return std::nullopt;
  std::vector<Dim> dims;
  for (const AttrValue& element : *list) {
    const std::int64_t* extent = element.as_int();
    dims.push_back(extent && *extent >= 0 ? Dim(*extent) : Dim::any());
  }
  return dims;
}

// As many `?` as the vector of extents at argument `i` has elements; nothing while unknown.
std::optional<std::vector<Dim>> unknown_extents(TypeCall& call, std::size_t i) {
  const Shape& shape = call.tensor_node(i).shape;
  if (!shape.has_rank() || shape.rank() != 1 || !shape[0].is_constant()) return std::nullopt;
  return std::vector<Dim>(static_cast<std::size_t>(shape[0].constant()), Dim::any());
}

void add_alloc_tensor() {
  OpDef def =
      unsupported_operator("memory.alloc_tensor", 10, "A tensor in a block of memory.", kNoMemory,
                           typed_example("storage: float32",
                                         "memory.alloc_tensor(storage, 0, [2i64], "
                                         "assert_shape=[2])"));
  def.inputs = {{"storage", "the block of memory"},
                {"offset", "where in the block"},
                {"shape", "a vector of extents"}};
  def.attrs = {optional_attr("dtype", AttrKind::DType, DType::Float32, "dtype of the result"),
               nullable_attr("const_shape", AttrKind::Any, "its extents, as a constant"),
               nullable_attr("assert_shape", AttrKind::Any, "its extents, where they are known")};
  def.type_rule = [](TypeCall& call) {
    auto dims = extents_in(call.attrs->find("assert_shape"));
    if (!dims) dims = extents_in(call.attrs->find("const_shape"));
    if (!dims) dims = unknown_extents(call, 2);
    if (!dims) {
      result_shape(call, call.attrs->get_dtype("dtype"));
      return RuleOutcome::Stuck;
    }
    call.returns(lang::tensor_type(Shape(*dims), call.attrs->get_dtype("dtype")));
    return RuleOutcome::Solved;
  };
  lang::OpRegistry::instance().add(std::move(def));
}

void add_kill() {
  OpDef def;
  def.name = "memory.kill";
  def.level = 10;
  def.doc =
      "The end of a value's life, as Relay's planner of memory marks it.\n"
      "Gives `()` and has no effect: a value lives as long as something refers to it.";
  def.example = "memory.kill([1.0])\n1\n// expect: 1";
  def.inputs = {{"to_free", "any value"}};
  def.type_rule = [](TypeCall& call) {
    call.returns(lang::unit_type());
    return RuleOutcome::Solved;
  };
  def.expansion = [](const DefinitionCall&) { return build::tuple({}); };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- vm.* ---

void add_vm_shape_of() {
  OpDef def;
  def.name = "vm.shape_of";
  def.level = 10;
  def.doc = "The extents of a tensor as a vector, like `shape_of`, in int64 unless told otherwise.";
  def.example = "vm.shape_of([[1.0, 2.0]])\n// expect: [1, 2]";
  def.inputs = {{"tensor", "the tensor"}};
  def.attrs = {nullable_attr("dtype", AttrKind::DType, "dtype of the result; None: int64")};
  def.type_rule = [](TypeCall& call) {
    const Shape& shape = call.tensor_node(0).shape;
    const DTypeTerm dtype = attr_dtype(call.attrs, "dtype", DTypeTerm(DType::Int64));
    const Shape known = with_rank(call, result_shape(call, dtype), 1);
    if (!shape.has_rank()) return RuleOutcome::Stuck;
    call.solver.unify(known[0], Dim(static_cast<std::int64_t>(shape.rank())));
    return RuleOutcome::Solved;
  };
  def.expansion = [](const DefinitionCall& call) {
    const DType dtype = attr_dtype(call.attrs, "dtype", DTypeTerm(DType::Int64)).known();
    return op("shape_of", {call.args[0]}, {{"dtype", dtype}});
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_vm_reshape_tensor() {
  OpDef def;
  def.name = "vm.reshape_tensor";
  def.level = 10;
  def.doc =
      "The data in another shape, which is a vector; `newshape` repeats what is known of it.\n"
      "As many elements as before, row by row.";
  def.example =
      "vm.reshape_tensor([[1.0, 2.0]], [2i64, 1i64], newshape=[2, 1])\n// expect: [[1.0], [2.0]]";
  def.inputs = {{"data", "the tensor"}, {"shape", "the extents, integers", false, "newshape"}};
  def.attrs = {
      nullable_attr("newshape", AttrKind::Any, "the extents that are known; others: None")};
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    call.solver.require(call.tensor_node(1).dtype, PrimOperands::kInt);
    auto dims = extents_in(call.attrs->find("newshape"));
    if (!dims) dims = unknown_extents(call, 1);
    if (!dims) {
      result_shape(call, as_tensor(data).dtype);
      return RuleOutcome::Stuck;
    }
    call.returns(lang::tensor_type(Shape(*dims), as_tensor(data).dtype));
    return RuleOutcome::Solved;
  };
  def.static_form = "reshape";
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {op("reshape_like", {call.dout, call.args[0]}), nullptr};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

void add_invoke() {
  OpDef def = unsupported_operator("vm.invoke_tvm_op", 10,
                                   "A call of a compiled function that writes its results.",
                                   kNoMemory, "1\n// expect: 1");
  def.inputs = {{"op", "the function"},
                {"ins", "a tuple of its inputs"},
                {"outs", "a tuple of tensors for its results"}};
  def.type_rule = [](TypeCall& call) {
    call.returns(lang::unit_type());
    return RuleOutcome::Solved;
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- call_lowered, debug ---

RuleOutcome call_lowered_rule(TypeCall& call) {
  const auto* arguments = lang::as<lang::TupleType>(call.args[1]);
  if (!arguments) {
    if (lang::as<lang::VarType>(call.args[1])) return RuleOutcome::Stuck;
    call.fail(DiagnosticKind::TypeMismatch, "`call_lowered` takes its arguments as a tuple");
  }
  if (!call.result) call.returns(call.solver.fresh_type());
  call.solver.unify(call.args[0], lang::function_type(arguments->fields, call.result));
  return RuleOutcome::Solved;
}

void add_call_lowered() {
  OpDef def;
  def.name = "call_lowered";
  def.level = 10;
  def.doc =
      "A call of a function with a tuple of arguments, as Relay writes it once the function is "
      "compiled.";
  def.example = "call_lowered(fn (x: float32, y: float32) { x - y }, (3.0, 1.0))\n// expect: 2.0";
  def.inputs = {{"func", "the function"}, {"call_args", "a tuple of its arguments"}};
  def.attrs = {
      nullable_attr("metadata", AttrKind::Any, "what Relay notes of the function; unused")};
  def.type_rule = call_lowered_rule;
  def.expansion = [](const DefinitionCall& call) {
    return build::let("arguments", call.args[1], [&](const Expr& tuple) {
      const std::size_t count = lang::as<lang::TupleType>(tuple->type)->fields.size();
      std::vector<Expr> arguments;
      for (std::uint32_t i = 0; i < count; ++i) arguments.push_back(build::project(tuple, i));
      return build::call(call.args[0], std::move(arguments));
    });
  };
  lang::OpRegistry::instance().add(std::move(def));
}

void add_debug() {
  lang::OpRegistry::instance().add(identity_operator(
      "debug", 1, "A place at which Relay's interpreter calls a function of its host.",
      "debug([1.0, 2.0])\n// expect: [1.0, 2.0]",
      {nullable_attr("debug_func", AttrKind::Any, "the function, which there is none of here")}));
}

}  // namespace

void add_memory_operators() {
  add_alloc_storage();
  add_alloc_tensor();
  add_kill();
  add_vm_shape_of();
  add_vm_reshape_tensor();
  add_invoke();
  add_call_lowered();
  add_debug();
}

}  // namespace relay::stdlib
