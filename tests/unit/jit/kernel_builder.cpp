#include "tests/unit/jit/kernel_builder.h"

#include <dlfcn.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "interp/lanes.h"
#include "interp/loaded_code.h"
#include "interp/runtime_functions.h"
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

ValueId KernelBuilder::load(std::int32_t buffer, std::vector<loops::AddressTerm> terms, Size offset,
                            std::vector<ValueId> masks) {
  Instruction instruction = make(Code::Load, kernel.buffers[buffer].dtype);
  instruction.buffer = buffer;
  instruction.address = {std::move(terms), offset};
  instruction.args = std::move(masks);
  return add(instruction);
}

ValueId KernelBuilder::in_range(ValueId index, Extent extent) {
  Instruction instruction = make(Code::InRange, DType::Bool);
  instruction.args = {index};
  instruction.size = extent.size;
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

ValueId KernelBuilder::check(ValueId index, Extent extent, std::int32_t site, ValueId guard) {
  Instruction instruction = make(Code::CheckIndex, DType::Int64);
  instruction.args = {index};
  if (guard >= 0) instruction.args.push_back(guard);
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

std::int32_t KernelBuilder::new_output(ValueId value, bool is_transposed,
                                       loops::Address& destination) {
  std::int64_t total = 1;
  for (std::int32_t i = 0; i < kernel.domain_rank; ++i) {
    const std::int32_t at = is_transposed ? i : kernel.domain_rank - 1 - i;
    const ValueId index = axis(at);
    const Extent stride = total == 1 ? literal(1) : slot(total);
    destination.terms.insert(destination.terms.begin(), {index, stride.size});
    total *= extent_of(at);
  }
  return buffer(type_of(value), total, true);
}

void KernelBuilder::finish(ValueId result) {
  kernel.regions[0].result = result;
  kernel.output = new_output(result, false, kernel.destination);
}

void KernelBuilder::store_further(ValueId value, bool is_transposed) {
  loops::FurtherStore store;
  store.value = value;
  store.output = new_output(value, is_transposed, store.destination);
  kernel.further.push_back(std::move(store));
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

// What became of a run.
struct Outcome {
  int code = 0;
  loops::KernelError error;
  KernelBuilder state;  // with the data as it was left
};

// Runs the domain's first axis in pieces that end at `cuts`, by run(buffers, sizes, begin, end,
// error).
template <class Run>
Outcome outcome_of(const KernelBuilder& built, const std::vector<std::int64_t>& cuts, Run run) {
  Outcome outcome{0, {}, built};
  std::vector<void*> buffers;
  for (auto& words : outcome.state.data) buffers.push_back(words.data());
  std::int64_t begin = 0;
  for (const std::int64_t end : cuts) {
    outcome.code = run(buffers, built.sizes.data(), begin, end, &outcome.error);
    if (outcome.code != 0) break;
    begin = end;
  }
  return outcome;
}

std::string difference(const Outcome& actual, const Outcome& expected) {
  if (actual.code != expected.code) {
    return fmt::format("returned {}, expected {}", actual.code, expected.code);
  }
  const loops::KernelError &a = actual.error, &e = expected.error;
  if (actual.code != 0) {
    if (a.site == e.site && a.index == e.index && a.extent == e.extent) return "";
    return fmt::format("error {} {} {}, expected {} {} {}", a.site, a.index, a.extent, e.site,
                       e.index, e.extent);
  }
  const loops::Kernel& kernel = expected.state.kernel;
  for (std::int32_t output = 0; output < std::int32_t(kernel.buffers.size()); ++output) {
    if (!kernel.buffers[output].is_output) continue;
    const DType dtype = kernel.buffers[output].dtype;
    const std::int64_t count = expected.state.count(output);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint64_t is = actual.state.get(output, i);
      const std::uint64_t should = expected.state.get(output, i);
      if (is_same(dtype, is, should)) continue;
      return fmt::format("element {} of {} {} in b{}: {:#x}, expected {:#x}", i, count,
                         lang::name_of(dtype), output, is, should);
    }
  }
  return "";
}

}  // namespace

std::string compare_with_reference(const KernelBuilder& built, std::int64_t cut) {
  const loops::Kernel& kernel = built.kernel;
  loops::verify(kernel);
  const std::int64_t end = kernel.domain_rank == 0 ? 1 : built.extent_of(0);
  std::vector<std::int64_t> cuts = {end};
  if (cut > 0 && cut < end) cuts.insert(cuts.begin(), cut);
  const auto expected =
      outcome_of(built, {end}, [&](auto& buffers, auto, auto from, auto to, auto* error) {
        return Reference(kernel, buffers, built.sizes).run(from, to, error);
      });
  const auto lanes =
      outcome_of(built, cuts, [&](auto& buffers, auto* sizes, auto from, auto to, auto* error) {
        return interp::run_lanes(kernel, buffers.data(), sizes, from, to, error);
      });
  const std::string of_lanes = difference(lanes, expected);
  if (!of_lanes.empty()) return "lanes: " + of_lanes;
  const auto image = jit_compiler()->compile(kernel);
  if (!image) return "not compiled";
  const auto code = interp::LoadedCode::load(*image, interp::runtime_function);
  const auto function =
      reinterpret_cast<loops::KernelFunction>(code->address(*image->find(loops::kKernelSymbol)));
  const auto native =
      outcome_of(built, cuts, [&](auto& buffers, auto* sizes, auto from, auto to, auto* error) {
        return function(buffers.data(), sizes, from, to, error);
      });
  return difference(native, expected);
}

}  // namespace relay::test
