#include "flow/identity.h"

#include <cstring>
#include <iterator>
#include <type_traits>
#include <unordered_map>

#include <fmt/format.h>

#include "flow/layout.h"
#include "lang/type.h"

namespace relay::flow {

namespace {

class Writer {
 public:
  explicit Writer(std::span<Function* const> functions) {
    for (const Function* function : functions) own_.emplace(function, own_.size());
    Layout known = layout();
    known.adt_begin = known.tuple_begin = 0;  // code names them
    made_.key = "functions\n";
    made_.key.append(reinterpret_cast<const char*>(&known), sizeof(known));
    for (const Function* each : functions) function(*each);
  }

  Identity take() { return std::move(made_); }

 private:
  template <class... Parts>
  void put(const Parts&... parts) {
    (part(parts), ...);
    made_.key += '\n';
  }
  void part(char word) { made_.key += word; }
  template <class Number>
  requires std::is_integral_v<Number> || std::is_enum_v<Number>
  void part(Number number) {
    fmt::format_to(std::back_inserter(made_.key), " {}", static_cast<std::int64_t>(number));
  }
  void part(const SlotType& type) {
    part(type.kind);
    part(type.dtype);
  }
  // A slot is even.
  void part(const Operand& operand) {
    part(std::uint64_t{2} * operand.index + (operand.is_slot() ? 0 : 1));
  }
  void part(const lang::Type& type) {
    objects_of(type);
    if (!type) return;
    const std::string text = lang::to_string(type);
    fmt::format_to(std::back_inserter(made_.key), " {}:{}", text.size(), text);
  }
  template <class Each>
  void part(const std::vector<Each>& list) {
    part(list.size());
    for (const Each& each : list) part(each);
  }
  void part(const std::vector<bool>& list) {
    part(list.size());
    for (const bool each : list) part(each);
  }
  void part(const Site* site) { object(site); }
  void part(const lang::Constructor* constructor) { object(constructor); }
  void part(const Interpreted* interpreted) { object(interpreted); }
  void part(const Dropped& dropped) {
    part(dropped.number);
    part(dropped.type);
  }
  void part(const Test& test) {
    part(test.kind);
    part(test.cell);
    part(test.number);
    part(test.result);
  }
  void part(const Filled& filled) {
    part(filled.constructor);
    part(filled.fields);
    part(filled.place);
  }
  void part(const LoopCheck& check) {
    part(check.tensor);
    part(check.axis);
    part(check.binder ? static_cast<std::int64_t>(*check.binder) : -1);
    part(check.shift ? 1 : 0);
    if (check.shift) part(*check.shift);
    part(check.subtracts);
  }
  void part(const loops::MadeTensor& tensor) {
    part(tensor.dtype);
    part(tensor.shape);
  }
  void part(const loops::ResultLeaf& leaf) {
    part(leaf.buffer);
    part(leaf.shape);
    part(leaf.strides);
    part(leaf.offset);
  }
  void part(const loops::Reuse& reuse) {
    part(reuse.arg);
    part(reuse.made);
    part(reuse.copy ? static_cast<std::int64_t>(*reuse.copy) : -1);
  }
  void part(const loops::Launch& launch) {
    const std::string kernel = loops::structural_key(launch.kernel);
    fmt::format_to(std::back_inserter(made_.key), " {}:{}", kernel.size(), kernel);
    part(launch.buffers);
    part(launch.sizes);
  }
  void part(const lang::TensorRef& literal) { object(literal->data()); }
  void part(const Kernels* kernels) {
    if (kernels == nullptr) return part(-1);
    const auto [known, is_new] = kernels_.emplace(kernels, kernels_.size());
    part(known->second);
    if (!is_new) return;
    part(kernels->group.literals);
    part(kernels->group.made);
    part(kernels->group.launches);
    part(kernels->group.results);
    part(kernels->group.reuse);
    part(kernels->args);
    part(kernels->results);
    part(kernels->is_taken);
    part(kernels->may_fail);
  }
  void part(const Accumulated& accumulated) {
    part(accumulated.prim);
    part(accumulated.dtype);
    part(accumulated.number);
  }
  void part(const lang::Value& value) {
    part(value.kind());
    if (value.is_scalar()) {
      part(value.dtype());
      part(value.bits());
      return;
    }
    std::uintptr_t address = 0;
    std::memcpy(&address, reinterpret_cast<const std::byte*>(&value) + layout().value_bits,
                sizeof(address));
    object(reinterpret_cast<const void*>(address));
  }
  void part(const Function* callee) {
    if (callee == nullptr) return part(-1);
    if (const auto own = own_.find(callee); own != own_.end()) return part(own->second);
    const auto [known, is_new] = callees_.emplace(callee, made_.callees.size());
    if (is_new) made_.callees.push_back(callee);
    part('c');
    part(known->second);
    if (is_new) signature(*callee);
  }

  // A `for` that has no points makes the parts of its tuple by their types.
  void objects_of(const lang::Type& type) {
    object(type.get());
    if (const auto* tuple = lang::as<lang::TupleType>(type)) {
      for (const lang::Type& field : tuple->fields) objects_of(field);
    }
  }
  void object(const void* address) {
    if (address == nullptr) return part(-1);
    const auto [known, is_new] = objects_.emplace(address, made_.objects.size());
    if (is_new) made_.objects.push_back(address);
    part(known->second);
  }

  // What a caller sees.
  void signature(const Function& function) {
    part(function.param_count);
    for (std::size_t i = 0; i < function.param_count; ++i) part(function.slots[i]);
    part(function.is_borrowed);
    part(function.results);
    part(function.is_tail_called);
  }

  void function(const Function& function) {
    put('f', function.is_local, function.makes_cells, function.is_shareable, function.slots,
        function.constants);
    signature(function);
    put('p', function.param_types, function.param_sites, function.result_type);
    block(function.body);
  }

  void block(const Block& block) {
    for (const Step& each : block.steps) step(each);
    put('}', block.exit, block.values, block.callee, block.site, block.cells);
    if (block.accumulated) put('+', *block.accumulated);
  }

  void step(const Step& step) {
    put('s', step.kind, step.results, step.args, step.prim, step.dtype, step.in_bounds, step.number,
        step.reduce, step.callee, step.constructor, step.interpreted, step.type, step.arg_types,
        step.site, step.fields, step.dropped, step.binders, step.binder_sites, step.cleanup,
        step.has_fallback, step.is_light, step.kernels, step.is_plain, step.is_parallel,
        step.checks, step.parts);
    put('b', step.blocks.size(), step.arms.size());
    for (const Block& each : step.blocks) block(each);
    for (const Arm& arm : step.arms) {
      put('a', arm.tests);
      block(arm.body);
    }
  }

  Identity made_;
  std::unordered_map<const Function*, std::size_t> own_;
  std::unordered_map<const Function*, std::size_t> callees_;
  std::unordered_map<const void*, std::size_t> objects_;
  std::unordered_map<const Kernels*, std::size_t> kernels_;
};

}  // namespace

Identity identity_of(std::span<Function* const> functions) { return Writer(functions).take(); }

}  // namespace relay::flow
