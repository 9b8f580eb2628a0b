#include "tests/unit/jit/kernel_builder.h"

#include <dlfcn.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "jit/jit.h"
#include "tests/unit/jit/reference.h"

namespace relay::test {

using lang::DType;
using lang::Prim;
using loops::Code;
using loops::Instruction;
using loops::Region;

namespace {

Instruction make(Code code, DType dtype) {
  Instruction instruction;
  instruction.code = code;
  instruction.dtype = dtype;
  return instruction;
}

}  // namespace

KernelBuilder::KernelBuilder() {
  kernel.regions.emplace_back();
  open_ = {0};
}

Extent KernelBuilder::slot(std::int64_t value) {
  sizes.push_back(value);
  return {Size::slot(kernel.slot_count++), value};
}

std::int32_t KernelBuilder::domain_axis(Extent extent) {
  ++kernel.domain_rank;
  return reduction_axis(extent);
}

std::int32_t KernelBuilder::reduction_axis(Extent extent) {
  kernel.extents.push_back(extent.size);
  extents_.push_back(extent);
  return static_cast<std::int32_t>(extents_.size()) - 1;
}

std::int32_t KernelBuilder::buffer(DType dtype, std::int64_t count, bool is_output) {
  kernel.buffers.push_back({dtype, is_output});
  counts_.push_back(count);
  data.emplace_back((count * lang::size_of(dtype) + 7) / 8);
  return static_cast<std::int32_t>(data.size()) - 1;
}

void KernelBuilder::set(std::int32_t buffer, std::int64_t index, std::uint64_t bits) {
  const std::size_t size = lang::size_of(kernel.buffers[buffer].dtype);
  std::memcpy(reinterpret_cast<std::byte*>(data[buffer].data()) + index * size, &bits, size);
}

std::uint64_t KernelBuilder::get(std::int32_t buffer, std::int64_t index) const {
  const std::size_t size = lang::size_of(kernel.buffers[buffer].dtype);
  std::uint64_t bits = 0;
  std::memcpy(&bits, reinterpret_cast<const std::byte*>(data[buffer].data()) + index * size, size);
  return bits;
}

ValueId KernelBuilder::add(Instruction instruction) {
  instruction.id = kernel.value_count++;
  types_.push_back(instruction.dtype);
  kernel.regions[open_.back()].code.push_back(instruction);
  return instruction.id;
}

ValueId KernelBuilder::axis(std::int32_t axis) {
  Instruction instruction = make(Code::Axis, DType::Int64);
  instruction.axis = axis;
  return add(instruction);
}

ValueId KernelBuilder::constant(DType dtype, std::uint64_t bits) {
  Instruction instruction = make(Code::Constant, dtype);
  instruction.bits = bits;
  return add(instruction);
}

ValueId KernelBuilder::f32(float value) {
  return constant(DType::Float32, std::bit_cast<std::uint32_t>(value));
}

ValueId KernelBuilder::i64(std::int64_t value) {
  return constant(DType::Int64, static_cast<std::uint64_t>(value));
}

ValueId KernelBuilder::size_value(Extent extent) {
  Instruction instruction = make(Code::SizeValue, DType::Int64);
  instruction.size = extent.size;
  return add(instruction);
}

ValueId KernelBuilder::scalar_input(std::int32_t buffer) {
  Instruction instruction = make(Code::ScalarInput, kernel.buffers[buffer].dtype);
  instruction.buffer = buffer;
  return add(instruction);
}

ValueId KernelBuilder::load(std::int32_t buffer, std::vector<loops::AddressTerm> terms,
                            Size offset) {
  Instruction instruction = make(Code::Load, kernel.buffers[buffer].dtype);
  instruction.buffer = buffer;
  instruction.address = {std::move(terms), offset};
  return add(instruction);
}

ValueId KernelBuilder::prim(Prim prim, std::vector<ValueId> args) {
  const bool is_truth = lang::info(prim).result == lang::PrimResult::kTruth;
  Instruction instruction = make(Code::Primitive, is_truth ? DType::Bool : type_of(args.back()));
  instruction.prim = prim;
  instruction.args = std::move(args);
  return add(instruction);
}

ValueId KernelBuilder::cast(ValueId value, DType to) {
  Instruction instruction = make(Code::Primitive, to);
  instruction.prim = Prim::Cast;
  instruction.args = {value};
  return add(instruction);
}

ValueId KernelBuilder::check(ValueId index, Extent extent, std::int32_t site) {
  Instruction instruction = make(Code::CheckIndex, DType::Int64);
  instruction.args = {index};
  instruction.size = extent.size;
  instruction.site = site;
  while (std::int32_t(kernel.sites.size()) <= site) kernel.sites.emplace_back();
  return add(instruction);
}

void KernelBuilder::open_reduce(lang::ReduceOp op, std::vector<std::int32_t> axes) {
  open_.push_back(static_cast<std::int32_t>(kernel.regions.size()));
  Region& region = kernel.regions.emplace_back();
  region.op = op;
  region.axes = std::move(axes);
}

ValueId KernelBuilder::close_reduce(ValueId result) {
  Region& region = kernel.regions[open_.back()];
  region.result = result;
  const bool is_arg = region.op == lang::ReduceOp::ArgMax || region.op == lang::ReduceOp::ArgMin;
  Instruction instruction = make(Code::Reduce, is_arg ? DType::Int64 : type_of(result));
  instruction.region = open_.back();
  open_.pop_back();
  return add(instruction);
}

void KernelBuilder::finish(ValueId result) {
  kernel.regions[0].result = result;
  std::int64_t total = 1;
  for (std::int32_t i = kernel.domain_rank; i-- > 0;) {
    const ValueId index = axis(i);
    const Extent stride = total == 1 ? literal(1) : slot(total);
    kernel.destination.terms.insert(kernel.destination.terms.begin(), {index, stride.size});
    total *= extent_of(i);
  }
  kernel.output = buffer(type_of(result), total, true);
}

loops::KernelCompiler* jit_compiler() {
  static const std::unique_ptr<loops::KernelCompiler> compiler = [] {
    const char* const path = std::getenv("RELAY_JIT_LIBRARY");
    void* const library = dlopen(path != nullptr ? path : "librelay_jit.so", RTLD_NOW | RTLD_LOCAL);
    void* const make = library != nullptr ? dlsym(library, jit::kEntryName) : nullptr;
    return std::unique_ptr<loops::KernelCompiler>(
        make != nullptr ? reinterpret_cast<jit::MakeKernelCompiler>(make)() : nullptr);
  }();
  return compiler.get();
}

namespace {

std::vector<void*> pointers(std::vector<std::vector<std::uint64_t>>& data) {
  std::vector<void*> result;
  for (auto& words : data) result.push_back(words.data());
  return result;
}

}  // namespace

std::string compare_with_reference(const KernelBuilder& built, std::int64_t cut,
                                   bool exact_errors) {
  const loops::Kernel& kernel = built.kernel;
  const std::int64_t end = kernel.domain_rank == 0 ? 1 : built.extent_of(0);
  KernelBuilder expected = built;
  loops::KernelError expected_error;
  const int expected_code =
      Reference(kernel, pointers(expected.data), built.sizes).run(0, end, &expected_error);

  const loops::KernelFunction function = jit_compiler()->compile(kernel);
  if (function == nullptr) return "not compiled";
  KernelBuilder actual = built;
  loops::KernelError error;
  const std::vector<void*> buffers = pointers(actual.data);
  int code = 0;
  if (cut > 0 && cut < end) {
    code = function(buffers.data(), built.sizes.data(), 0, cut, &error);
    if (code == 0) code = function(buffers.data(), built.sizes.data(), cut, end, &error);
  } else {
    code = function(buffers.data(), built.sizes.data(), 0, end, &error);
  }

  if (code != expected_code) return fmt::format("returned {}, expected {}", code, expected_code);
  if (code != 0) {
    if (!exact_errors ||
        (error.site == expected_error.site && error.index == expected_error.index &&
         error.extent == expected_error.extent)) {
      return "";
    }
    return fmt::format("error {} {} {}, expected {} {} {}", error.site, error.index, error.extent,
                       expected_error.site, expected_error.index, expected_error.extent);
  }
  const DType dtype = kernel.buffers[kernel.output].dtype;
  for (std::int64_t i = 0; i < built.count(kernel.output); ++i) {
    const std::uint64_t a = actual.get(kernel.output, i);
    const std::uint64_t e = expected.get(kernel.output, i);
    if (is_same(dtype, a, e)) continue;
    return fmt::format("element {} of {} {}: {:#x}, expected {:#x}", i, built.count(kernel.output),
                       lang::name_of(dtype), a, e);
  }
  return "";
}

}  // namespace relay::test
