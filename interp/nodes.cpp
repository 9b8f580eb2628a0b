#include "interp/nodes.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "interp/failures.h"

namespace relay::interp {

using lang::DiagnosticKind;
using lang::Value;
using lang::ValueKind;

Value ProfiledCode::eval(Frame& frame) const {
  Profile* const running = Profile::running();
  const Profile::Scope scope(running && running->number() == profile_ ? running : nullptr, place_);
  return code_->eval(frame);
}

Value BlockCode::eval(Frame& frame) const {
  for (const Step& step : steps_) {
    Value value = step.code->eval(frame);
    if (value.is_empty()) return value;
    frame.slots[step.slot] = std::move(value);
  }
  return result_->eval(frame);
}

Value IfCode::eval(Frame& frame) const {
  const Value condition = condition_->eval(frame);
  if (condition.is_empty()) return {};
  return condition.truth() ? then_->eval(frame) : else_->eval(frame);
}

Value TupleCode::eval(Frame& frame) const {
  if (fields_.empty()) return Value::unit();
  auto cell = lang::TupleCell::make(fields_.size());
  Value* const fields = cell->fields().data();
  for (std::size_t i = 0; i < fields_.size(); ++i) fields[i] = fetch(fields_[i], frame);
  return Value::tuple(std::move(cell));
}

Value ProjectionCode::eval(Frame& frame) const {
  if (tuple_.from != From::LastUse) return peek(tuple_, frame).as_tuple().fields()[index_];
  const Value tuple = fetch(tuple_, frame);
  Value& field = tuple.as_tuple().fields()[index_];
  return tuple.is_unique() ? std::move(field) : field;
}

namespace {

// Arguments of a call or cell, evaluated into a small array.
class Arguments {
 public:
  Arguments(const std::vector<Operand>& operands, Frame& frame) : count_(operands.size()) {
    if (count_ > kInline) more_.resize(count_);
    for (std::size_t i = 0; i < count_; ++i) data()[i] = fetch(operands[i], frame);
  }
  Value* data() { return count_ > kInline ? more_.data() : few_.data(); }
  std::size_t size() const { return count_; }

 private:
  static constexpr std::size_t kInline = 6;
  std::size_t count_;
  std::array<Value, kInline> few_;
  std::vector<Value> more_;
};

void set_next_args(Machine& machine, const std::vector<Operand>& operands, lang::Span span,
                   Frame& frame) {
  machine.next_span = span;
  // Fetch everything before touching next_args: nothing here runs code, so no call can intervene.
  machine.next_args.resize(std::max(machine.next_args.size(), operands.size()));
  for (std::size_t i = 0; i < operands.size(); ++i)
    machine.next_args[i] = fetch(operands[i], frame);
}

// The same function again, in the same frame.
Value restart(const std::vector<Operand>& operands, Frame& frame) {
  Arguments args(operands, frame);
  for (std::size_t i = 0; i < args.size(); ++i) frame.slots[i] = std::move(args.data()[i]);
  frame.machine.signal = Signal::SelfTailCall;
  return {};
}

}  // namespace

Value ConstructCode::eval(Frame& frame) const {
  auto cell = lang::AdtCell::make(constructor_, fields_.size());
  Value* const fields = cell->fields().data();
  for (std::size_t i = 0; i < fields_.size(); ++i) fields[i] = fetch(fields_[i], frame);
  return Value::adt(std::move(cell));
}

Value MakeClosureCode::eval(Frame& frame) const {
  auto* closure = new Closure;
  lang::Ref<lang::ClosureCell> owner(closure);
  closure->code = code_;
  closure->captures.reserve(captures_.size());
  for (const Operand& capture : captures_) closure->captures.push_back(fetch(capture, frame));
  return Value::closure(std::move(owner));
}

namespace {

// What a call gives. Empty can only be an error: tail calls have been followed.
Value left(Value result, lang::Span call, Machine& machine) {
  if (result.is_empty()) machine.trail.add(call);
  return result;
}

// A call of a function value, which may be a closure or a constructor.
Value call_value(const Value& callee, const std::vector<Operand>& operands, bool tail,
                 lang::Span span, Frame& frame) {
  Machine& machine = frame.machine;
  if (tail && callee.kind() == ValueKind::Closure) {
    set_next_args(machine, operands, span, frame);
    machine.next_closure =
        lang::Ref<const Closure>(static_cast<const Closure*>(&callee.as_closure()));
    machine.next_code = machine.next_closure->code;
    machine.signal = Signal::TailCall;
    return {};
  }
  Arguments args(operands, frame);
  return left(machine.apply(callee, args.data(), args.size(), span), span, machine);
}

}  // namespace

bool CallGlobalCode::resolve(Frame& frame) const {
  Machine& machine = frame.machine;
  if (!machine.host.is_binding(name_)) {
    FunctionCodeRef target = machine.global(name_, type_, span);
    target_ = target.get();
    if (target) frame.function.calls.push_back(std::move(target));
    return target_ != nullptr;
  }
  auto found = machine.host.global_value(name_);
  if (!found) {
    machine.fail(found.errors().front());
    return false;
  }
  bound_ = std::move(*found);
  return true;
}

Value CallGlobalCode::eval(Frame& frame) const {
  Machine& machine = frame.machine;
  if (!target_ && bound_.is_empty() && !resolve(frame)) return {};
  if (!target_) return call_value(bound_, args_, tail_, span, frame);
  if (tail_) {
    if (target_ == &frame.function) return restart(args_, frame);
    set_next_args(machine, args_, span, frame);
    machine.next_code = FunctionCodeRef(const_cast<FunctionCode*>(target_));
    machine.next_closure = nullptr;
    machine.signal = Signal::TailCall;
    return {};
  }
  Arguments args(args_, frame);
  return left(machine.invoke(FunctionCodeRef(const_cast<FunctionCode*>(target_)), nullptr,
                             args.data(), args.size()),
              span, machine);
}

Value CallSelfCode::eval(Frame& frame) const {
  if (tail_) return restart(args_, frame);
  Arguments args(args_, frame);
  return left(
      frame.machine.invoke(FunctionCodeRef(const_cast<FunctionCode*>(&frame.function)),
                           lang::Ref<const Closure>(frame.closure), args.data(), args.size()),
      span, frame.machine);
}

Value CallValueCode::eval(Frame& frame) const {
  return call_value(fetch(callee_, frame), args_, tail_, span, frame);
}

namespace {

Value unsupported(Machine& machine, std::string_view what, lang::Span span) {
  return machine.fail(DiagnosticKind::Unsupported, fmt::format("not supported: {}", what), span);
}

}  // namespace

Value RefCreateCode::eval(Frame& frame) const {
  return Value::reference(lang::Ref<lang::ReferenceCell>(
      new lang::ReferenceCell(fetch(value_, frame), frame.machine.walks.tick())));
}

Value RefReadCode::eval(Frame& frame) const {
  const lang::ReferenceCell& cell = peek(ref_, frame).as_reference();
  const std::string_view trouble = frame.machine.walks.trouble_reading(cell);
  return trouble.empty() ? cell.content : unsupported(frame.machine, trouble, span);
}

Value RefWriteCode::eval(Frame& frame) const {
  Value value = fetch(value_, frame);
  lang::ReferenceCell& cell = peek(ref_, frame).as_reference();
  const std::string_view trouble = frame.machine.walks.trouble_writing(cell);
  if (!trouble.empty()) return unsupported(frame.machine, trouble, span);
  cell.content = std::move(value);
  cell.written = frame.machine.walks.tick();
  return Value::unit();
}

bool PatternCode::match(const Value& value, Frame& frame) const {
  switch (kind) {
    case lang::PatternKind::Wildcard:
      return true;
    case lang::PatternKind::Variable:
      frame.slots[slot] = value;
      return true;
    case lang::PatternKind::Constructor: {
      const lang::AdtCell& cell = value.as_adt();
      if (cell.tag() != constructor->tag) return false;
      for (const PatternCode& field : fields) {
        if (!field.match(cell.fields()[field.place], frame)) return false;
      }
      return true;
    }
    case lang::PatternKind::Tuple: {
      const auto values = value.as_tuple().fields();
      for (const PatternCode& field : fields) {
        if (!field.match(values[field.place], frame)) return false;
      }
      return true;
    }
  }
  return false;
}

Value MatchCode::eval(Frame& frame) const {
  Value scrutinee = fetch(scrutinee_, frame);
  for (const Arm& arm : arms_) {
    if (!arm.pattern.match(scrutinee, frame)) continue;
    scrutinee = Value();  // the fields stand in slots now: let the cell go before a deep body runs
    return arm.body->eval(frame);
  }
  return fail_match(frame.machine, scrutinee, span);
}

PrimitiveCode::PrimitiveCode(ScalarFunction function, lang::DType result, bool checks_divisor,
                             std::vector<Arg> args, lang::Span span)
    : Code(span),
      function_(function),
      result_(result),
      checks_divisor_(checks_divisor),
      args_(std::move(args)) {
  RELAY_CHECK(args_.size() <= 3, "a primitive has at most three operands");
}

Value PrimitiveCode::eval(Frame& frame) const {
  std::uint64_t bits[3] = {};
  for (std::size_t i = 0; i < args_.size(); ++i) {
    if (args_[i].code) {
      const Value value = args_[i].code->eval(frame);
      if (value.is_empty()) return {};
      bits[i] = value.bits();
    } else {
      bits[i] = peek(args_[i].operand, frame).bits();
    }
  }
  if (checks_divisor_ && bits[1] == 0) {
    return fail_division(frame.machine, span);
  }
  return Value::scalar(result_, function_(bits));
}

lang::TensorRef view_of(Machine& machine, const lang::Tensor& tensor,
                        std::span<const std::int64_t> indices, lang::Span span) {
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    const std::int64_t index = indices[axis];
    if (index < 0 || index >= tensor.shape()[axis]) {
      fail_index(machine, index, axis, tensor, span);
      return {};
    }
    offset += index * tensor.strides()[axis];
  }
  const auto used = static_cast<std::ptrdiff_t>(indices.size());
  return lang::Tensor::view(tensor, {tensor.shape().begin() + used, tensor.shape().end()},
                            {tensor.strides().begin() + used, tensor.strides().end()}, offset);
}

Value IndexCode::eval(Frame& frame) const {
  const Value& base = peek(tensor_, frame);
  if (indices_.empty()) return base;
  constexpr std::size_t kFew = 8;
  std::array<std::int64_t, kFew> few{};
  std::vector<std::int64_t> many(indices_.size() > kFew ? indices_.size() : 0);
  const std::span<std::int64_t> indices(many.empty() ? few.data() : many.data(), indices_.size());
  for (std::size_t axis = 0; axis < indices_.size(); ++axis) {
    const Value& position = peek(indices_[axis], frame);
    indices[axis] = lang::int_from_bits(position.dtype(), position.bits());
  }
  lang::TensorRef view = view_of(frame.machine, base.as_tensor(), indices, span);
  return view ? Value::tensor(std::move(view)) : Value();
}

Value CallPreparedCode::eval(Frame& frame) const {
  Arguments args(args_, frame);
  return frame.machine.invoke(code_, nullptr, args.data(), args.size());
}

}  // namespace relay::interp
