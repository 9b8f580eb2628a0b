#include "loops/loop_ir.h"

#include <cstring>
#include <iterator>

#include <fmt/format.h>

#include "lang/diagnostic.h"
#include "lang/lowerable.h"
#include "loops/reduce_op.h"

namespace relay::loops {

using lang::Prim;
using lang::PrimResult;

namespace {

// --- Key ---

class KeyWriter {
 public:
  std::string take() { return std::move(text_); }

  template <class T>
  void raw(T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    text_.append(bytes, sizeof(T));
  }
  void size(const Size& size) {
    raw(size.is_literal);
    raw(size.value);
  }
  void address(const Address& address) {
    raw(static_cast<std::uint32_t>(address.terms.size()));
    for (const auto& term : address.terms) {
      raw(term.index);
      size(term.stride);
    }
    size(address.offset);
  }
  void instruction(const Instruction& instruction) {
    raw(instruction.code);
    raw(instruction.dtype);
    raw(instruction.id);
    switch (instruction.code) {
      case Code::Axis:
        raw(instruction.axis);
        break;
      case Code::Constant:
        raw(instruction.bits);
        break;
      case Code::SizeValue:
        size(instruction.size);
        break;
      case Code::ScalarInput:
        raw(instruction.buffer);
        break;
      case Code::Load:
        raw(instruction.buffer);
        address(instruction.address);
        args(instruction);
        break;
      case Code::Primitive:
        raw(instruction.prim);
        args(instruction);
        break;
      case Code::InRange:
        size(instruction.size);
        args(instruction);
        break;
      case Code::CheckIndex:
        size(instruction.size);
        raw(instruction.site);
        args(instruction);
        break;
      case Code::Reduce:
        raw(instruction.region);
        break;
    }
  }

 private:
  void args(const Instruction& instruction) {
    raw(static_cast<std::uint8_t>(instruction.args.size()));
    for (ValueId arg : instruction.args) raw(arg);
  }
  std::string text_;
};

// --- Text ---

std::string text_of(const Size& size) {
  return size.is_literal ? std::to_string(size.value) : fmt::format("s{}", size.value);
}

std::string text_of(const Address& address) {
  std::string text;
  for (const auto& term : address.terms) {
    if (!text.empty()) text += " + ";
    text += fmt::format("v{}", term.index);
    if (term.stride != Size::literal(1)) text += " * " + text_of(term.stride);
  }
  if (text.empty() || address.offset != Size::literal(0)) {
    text += (text.empty() ? "" : " + ") + text_of(address.offset);
  }
  return text;
}

void write(const Kernel& kernel, std::int32_t region, int depth, std::string& out);

void write(const Kernel& kernel, const Instruction& instruction, int depth, std::string& out) {
  const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
  out += fmt::format("{}v{}: {} = ", indent, instruction.id, lang::name_of(instruction.dtype));
  switch (instruction.code) {
    case Code::Axis:
      out += fmt::format("axis {}", instruction.axis);
      break;
    case Code::Constant:
      out += fmt::format("constant {:#x}", instruction.bits);
      break;
    case Code::SizeValue:
      out += fmt::format("size {}", text_of(instruction.size));
      break;
    case Code::ScalarInput:
      out += fmt::format("b{}[]", instruction.buffer);
      break;
    case Code::Load:
      out += fmt::format("b{}[{}]", instruction.buffer, text_of(instruction.address));
      for (std::size_t i = 0; i < instruction.args.size(); ++i)
        out += fmt::format("{} v{}", i == 0 ? " where" : " and", instruction.args[i]);
      break;
    case Code::InRange:
      out += fmt::format("0 <= v{} < {}", instruction.args[0], text_of(instruction.size));
      break;
    case Code::CheckIndex:
      out += fmt::format("check v{} < {} at site {}", instruction.args[0],
                         text_of(instruction.size), instruction.site);
      if (instruction.args.size() > 1) out += fmt::format(" where v{}", instruction.args[1]);
      break;
    case Code::Primitive: {
      out += fmt::format("{}(", lang::info(instruction.prim).text);
      for (std::size_t i = 0; i < instruction.args.size(); ++i) {
        out += fmt::format("{}v{}", i == 0 ? "" : ", ", instruction.args[i]);
      }
      out += ")";
      break;
    }
    case Code::Reduce: {
      const Region& region = kernel.regions[instruction.region];
      out += std::string(lang::name_of(region.op));
      for (std::int32_t axis : region.axes)
        out += fmt::format(" a{} < {}", axis, text_of(kernel.extents[axis]));
      out += " {\n";
      write(kernel, instruction.region, depth + 1, out);
      out += indent + "}";
      break;
    }
  }
  out += "\n";
}

void write(const Kernel& kernel, std::int32_t region, int depth, std::string& out) {
  for (const auto& instruction : kernel.regions[region].code)
    write(kernel, instruction, depth, out);
  if (region > 0)
    out += fmt::format("{}v{}{}\n", std::string(static_cast<std::size_t>(depth) * 2, ' '),
                       kernel.regions[region].result,
                       kernel.regions[region].op == ReduceOp::Dot ? ", not rounded" : "");
}

// --- Verification ---

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel)
      : kernel_(kernel), dtypes_(static_cast<std::size_t>(kernel.value_count)) {}

  void run() {
    check(!kernel_.regions.empty(), "a kernel has a body");
    check(kernel_.domain_rank >= 0 &&
              kernel_.domain_rank <= static_cast<std::int32_t>(kernel_.extents.size()),
          "domain rank");
    for (const auto& extent : kernel_.extents) size(extent);
    for (std::int32_t axis = 0; axis < kernel_.domain_rank; ++axis) open_axes_.push_back(axis);
    check(kernel_.regions[0].axes.empty(), "the body has no reduction axes");
    region(0, [&] {
      const BufferSlot& output = buffer(kernel_.output);
      check(output.is_output, "the output is marked as such");
      check(dtype_of(kernel_.regions[0].result) == output.dtype,
            "the result has the output's dtype");
      address(kernel_.destination);
      check(kernel_.further.empty() || kernel_.store == StoreKind::Assign,
            "only assignments have further results");
      for (const FurtherStore& store : kernel_.further) {
        const BufferSlot& other = buffer(store.output);
        check(other.is_output && dtype_of(store.value) == other.dtype,
              "a further result has its output's dtype");
        address(store.destination);
      }
    });
  }

 private:
  void check(bool condition, const char* what) {
    RELAY_CHECK(condition, fmt::format("bad kernel: {}\n{}", what, to_string(kernel_)));
  }

  void size(const Size& size) {
    if (!size.is_literal) check(size.value >= 0 && size.value < kernel_.slot_count, "size slot");
  }
  const BufferSlot& buffer(std::int32_t number) {
    check(number >= 0 && number < static_cast<std::int32_t>(kernel_.buffers.size()),
          "buffer number");
    return kernel_.buffers[static_cast<std::size_t>(number)];
  }
  DType dtype_of(ValueId id) {
    check(id >= 0 && id < kernel_.value_count && defined_[static_cast<std::size_t>(id)],
          "a value is used where it is not defined");
    return dtypes_[static_cast<std::size_t>(id)];
  }
  void address(const Address& address) {
    size(address.offset);
    for (const auto& term : address.terms) {
      check(dtype_of(term.index) == DType::Int64, "an index is int64");
      size(term.stride);
    }
  }

  template <class F>
  void region(std::int32_t number, F at_end) {
    check(number >= 0 && number < static_cast<std::int32_t>(kernel_.regions.size()),
          "region number");
    std::vector<ValueId> own;
    for (const auto& instruction : kernel_.regions[static_cast<std::size_t>(number)].code) {
      this->instruction(instruction);
      check(instruction.id >= 0 && instruction.id < kernel_.value_count, "value id");
      const auto id = static_cast<std::size_t>(instruction.id);
      check(!defined_[id], "a value is defined once");
      defined_[id] = true;
      dtypes_[id] = instruction.dtype;
      own.push_back(instruction.id);
    }
    dtype_of(kernel_.regions[static_cast<std::size_t>(number)].result);
    at_end();
    for (ValueId id : own) defined_[static_cast<std::size_t>(id)] = false;
  }

  void instruction(const Instruction& instruction) {
    switch (instruction.code) {
      case Code::Axis: {
        bool open = false;
        for (std::int32_t axis : open_axes_) open = open || axis == instruction.axis;
        check(open && instruction.dtype == DType::Int64,
              "an axis is read inside its loop, as int64");
        break;
      }
      case Code::Constant:
        break;
      case Code::SizeValue:
        size(instruction.size);
        check(instruction.dtype == DType::Int64, "a size is int64");
        break;
      case Code::ScalarInput:
        check(buffer(instruction.buffer).dtype == instruction.dtype, "dtype of an input");
        break;
      case Code::Load:
        check(buffer(instruction.buffer).dtype == instruction.dtype, "dtype of a load");
        check(!buffer(instruction.buffer).is_output, "the output is not loaded");
        address(instruction.address);
        for (const ValueId arg : instruction.args)
          check(dtype_of(arg) == DType::Bool, "what masks a load is a bool");
        break;
      case Code::InRange:
        size(instruction.size);
        check(instruction.args.size() == 1 && dtype_of(instruction.args[0]) == DType::Int64 &&
                  instruction.dtype == DType::Bool,
              "a range has one int64 operand, and is a bool");
        break;
      case Code::CheckIndex:
        size(instruction.size);
        check((instruction.args.size() == 1 || instruction.args.size() == 2) &&
                  dtype_of(instruction.args[0]) == DType::Int64,
              "a check has an int64 operand");
        check(instruction.args.size() == 1 || dtype_of(instruction.args[1]) == DType::Bool,
              "what guards a check is a bool");
        check(instruction.site >= 0 &&
                  instruction.site < static_cast<std::int32_t>(kernel_.sites.size()),
              "site number");
        break;
      case Code::Primitive:
        primitive(instruction);
        break;
      case Code::Reduce:
        reduce(instruction);
        break;
    }
  }

  void primitive(const Instruction& instruction) {
    const auto& facts = lang::info(instruction.prim);
    check(instruction.args.size() == facts.arity, "number of operands");
    const DType operand = dtype_of(instruction.args.back());
    check(lang::accepts(facts.operands, operand), "a primitive accepts its operands' dtype");
    for (std::size_t i = 0; i + 1 < instruction.args.size(); ++i) {
      const bool is_condition = instruction.prim == Prim::Select && i == 0;
      check(dtype_of(instruction.args[i]) == (is_condition ? DType::Bool : operand),
            "operands agree");
    }
    if (facts.result == PrimResult::kSame) check(instruction.dtype == operand, "dtype of a result");
    if (facts.result == PrimResult::kTruth)
      check(instruction.dtype == DType::Bool, "dtype of a comparison");
  }

  void reduce(const Instruction& instruction) {
    const Region& inner = kernel_.regions[static_cast<std::size_t>(instruction.region)];
    for (std::int32_t axis : inner.axes) {
      check(axis >= kernel_.domain_rank && axis < static_cast<std::int32_t>(kernel_.extents.size()),
            "a reduction axis");
      open_axes_.push_back(axis);
    }
    region(instruction.region, [&] {
      const DType wanted = is_arg(inner.op) ? DType::Int64 : dtype_of(inner.result);
      check(instruction.dtype == wanted, "dtype of a reduction");
    });
    open_axes_.resize(open_axes_.size() - inner.axes.size());
  }

  const Kernel& kernel_;
  std::vector<DType> dtypes_;
  std::vector<bool> defined_ =
      std::vector<bool>(static_cast<std::size_t>(kernel_.value_count), false);
  std::vector<std::int32_t> open_axes_;
};

}  // namespace

bool may_fail(const Kernel& kernel) {
  for (const Region& region : kernel.regions) {
    for (const Instruction& step : region.code) {
      const bool divides =
          step.code == Code::Primitive && lang::divides_integers(step.prim, step.dtype);
      if (divides || step.code == Code::CheckIndex) return true;
    }
  }
  return false;
}

std::string structural_key(const Kernel& kernel) {
  KeyWriter key;
  key.raw(static_cast<std::uint32_t>(kernel.buffers.size()));
  for (const auto& buffer : kernel.buffers) {
    key.raw(buffer.dtype);
    key.raw(buffer.is_output);
  }
  key.raw(static_cast<std::uint32_t>(kernel.extents.size()));
  for (const auto& extent : kernel.extents) key.size(extent);
  key.raw(kernel.domain_rank);
  key.raw(static_cast<std::uint32_t>(kernel.regions.size()));
  for (const auto& region : kernel.regions) {
    key.raw(static_cast<std::uint32_t>(region.code.size()));
    for (const auto& instruction : region.code) key.instruction(instruction);
    key.raw(region.result);
    key.raw(region.op);
    key.raw(static_cast<std::uint32_t>(region.axes.size()));
    for (std::int32_t axis : region.axes) key.raw(axis);
  }
  key.raw(kernel.store);
  key.raw(kernel.combine);
  key.raw(kernel.output);
  key.address(kernel.destination);
  key.raw(static_cast<std::uint32_t>(kernel.further.size()));
  for (const FurtherStore& store : kernel.further) {
    key.raw(store.value);
    key.raw(store.output);
    key.address(store.destination);
  }
  key.raw(kernel.tile_rank);
  key.raw(kernel.has_lanes);
  key.raw(kernel.polls);
  return key.take();
}

std::string to_string(const Kernel& kernel) {
  std::string out = "kernel(";
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
    const auto& buffer = kernel.buffers[i];
    out += fmt::format("{}b{}: {}{}", i == 0 ? "" : ", ", i, buffer.is_output ? "out " : "",
                       lang::name_of(buffer.dtype));
  }
  out += ") for";
  for (std::int32_t axis = 0; axis < kernel.domain_rank; ++axis) {
    const bool is_in_tile = axis + kernel.tile_rank >= kernel.domain_rank;
    const bool is_lanes = kernel.has_lanes && axis + 1 == kernel.domain_rank;
    out += fmt::format(" a{} < {}{}", axis, text_of(kernel.extents[static_cast<std::size_t>(axis)]),
                       is_lanes     ? " in lanes"
                       : is_in_tile ? " at once"
                                    : "");
  }
  out += " {\n";
  if (!kernel.regions.empty()) {
    write(kernel, 0, 1, out);
    const std::string place = fmt::format("b{}[{}]", kernel.output, text_of(kernel.destination));
    const ValueId result = kernel.regions[0].result;
    if (kernel.store == StoreKind::Assign) {
      out += fmt::format("  {} = v{}\n", place, result);
    } else {
      out +=
          fmt::format("  {} = {}({}, v{})\n", place, lang::name_of(kernel.combine), place, result);
    }
    for (const FurtherStore& store : kernel.further)
      out +=
          fmt::format("  b{}[{}] = v{}\n", store.output, text_of(store.destination), store.value);
  }
  return out + "}\n";
}

void verify(const Kernel& kernel) { Verifier(kernel).run(); }

}  // namespace relay::loops
