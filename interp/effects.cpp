#include "interp/effects.h"

#include <optional>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "interp/check_gradient.h"
#include "interp/failures.h"
#include "interp/tangents.h"
#include "lang/utf8.h"
#include "lang/value_digits.h"

namespace relay::interp {

using lang::DiagnosticKind;
using lang::Effect;
using lang::Value;

namespace {

std::string print_text(const Value& value, const lang::AttrsRef& attrs) {
  if (!attrs->is_null("digits"))
    return to_string_with_digits(value, static_cast<int>(attrs->get_int("digits")));
  return to_string(value);
}

// The label, and behind it the text, all of whose lines begin in one column.
std::string beside(const std::string& label, const std::string& text) {
  std::string result = label + " ";
  for (const char c : text) {
    result += c;
    if (c == '\n') result.append(lang::code_points(label) + 1, ' ');
  }
  return result;
}

bool is_unit(const Value& value) {
  return value.kind() == lang::ValueKind::Tuple && value.as_tuple().fields().empty();
}

// Nothing if the shape is as wanted.
std::optional<lang::Diagnostic> check_shape(const Value& value, const Value& wanted,
                                            const std::string& because, lang::Span span) {
  std::vector<std::int64_t> found;
  if (value.is_tensor()) {
    const auto& shape = value.as_tensor().shape();
    found.assign(shape.begin(), shape.end());
  }
  std::vector<std::int64_t> needed;
  for (const Value& extent : wanted.as_tuple().fields())
    needed.push_back(lang::int_from_bits(lang::DType::Int64, extent.bits()));
  bool agrees = found.size() == needed.size();
  for (std::size_t i = 0; agrees && i < found.size(); ++i) {
    if (needed[i] < 0) needed[i] = found[i];
    agrees = found[i] == needed[i];
  }
  if (agrees) return std::nullopt;
  lang::Diagnostic diagnostic(
      DiagnosticKind::ShapeMismatchAtRunTime,
      fmt::format("a tensor of shape `{}`, where {} needs `{}`", extents_text(found),
                  because.empty() ? "the program" : because, extents_text(needed)),
      span);
  diagnostic.label(span, fmt::format("`{}`", extents_text(found)));
  return diagnostic;
}

}  // namespace

Value EffectCode::fail_here(Machine& machine, lang::Diagnostic diagnostic) const {
  diagnostic.span = span;
  return machine.fail(std::move(diagnostic));
}

// What is not for people, but for whoever watches: the host.
Value EffectCode::trace(Frame& frame) const {
  std::vector<Value> values;
  for (const auto& arg : args_) values.push_back(peek(arg, frame));
  auto told = frame.machine.host.trace(op_->name, *attrs_, values);
  if (told) return std::move(*told);
  frame.machine.fail(told.errors().front());
  if (span) frame.machine.trail.begin(span);
  return {};
}

Value EffectCode::eval(Frame& frame) const {
  Machine& machine = frame.machine;
  switch (op_->effect) {
    case Effect::Print: {
      if (op_->name.starts_with(kTracePrefix)) return trace(frame);
      const std::string& label = attrs_->get_string("label");
      const Value& value = peek(args_[0], frame);
      if (!label.empty() && is_unit(value)) {
        machine.host.write(label + "\n");
        return Value::unit();
      }
      const std::string text = print_text(value, attrs_);
      machine.host.write((label.empty() ? text : beside(label, text)) + "\n");
      return Value::unit();
    }
    case Effect::Assert:
      if (peek(args_[0], frame).truth()) return Value::unit();
      if (const std::string& message = attrs_->get_string("message"); !message.empty()) {
        return machine.fail(DiagnosticKind::AssertionFailed, "assertion failed: " + message, span);
      }
      return machine.fail(DiagnosticKind::AssertionFailed,
                          fmt::format("assertion failed: `{}`", span.text()), span);
    case Effect::Load: {
      auto tensor = machine.host.load(attrs_);
      if (tensor) return Value::tensor(*tensor);
      return fail_here(machine, tensor.errors().front());
    }
    case Effect::Save: {
      const auto saved = machine.host.save(peek(args_[0], frame), attrs_);
      if (saved) return Value::unit();
      return fail_here(machine, saved.errors().front());
    }
    case Effect::Plot: {
      const auto drawn = machine.host.plot(peek(args_[0], frame), attrs_);
      if (drawn) return Value::unit();
      return fail_here(machine, drawn.errors().front());
    }
    case Effect::CheckShape: {
      if (peek(args_[0], frame).kind() == lang::ValueKind::Adt) {
        const auto trouble = misfit(peek(args_[0], frame), peek(args_[1], frame));
        return trouble ? machine.fail(DiagnosticKind::MatchFailed, *trouble, span)
                       : fetch(args_[0], frame);
      }
      auto trouble = check_shape(peek(args_[0], frame), peek(args_[1], frame),
                                 attrs_->get_string("because"), span);
      if (trouble) return machine.fail(std::move(*trouble));
      return fetch(args_[0], frame);
    }
    case Effect::CheckDims: {
      const std::int64_t lhs =
          lang::int_from_bits(lang::DType::Int64, peek(args_[0], frame).bits());
      const std::int64_t rhs =
          lang::int_from_bits(lang::DType::Int64, peek(args_[1], frame).bits());
      if (lhs == rhs) return fetch(args_[0], frame);
      const std::string& because = attrs_->get_string("because");
      const std::string& equation = attrs_->get_string("equation");
      return machine.fail(
          DiagnosticKind::ShapeMismatchAtRunTime,
          fmt::format(
              "{} needs {}, and here they are {} and {}", because.empty() ? "the program" : because,
              equation.empty() ? "two extents to be equal" : "`" + equation + "`", lhs, rhs),
          span);
    }
    case Effect::Pullback:
      return with_pullback(machine, peek(args_[0], frame), type_, span);
    case Effect::Tangent:
      return with_tangent(machine, peek(args_[0], frame), type_, span);
    case Effect::AddTangents:
      return add_tangents(peek(args_[0], frame), peek(args_[1], frame));
    case Effect::CheckGradient: {
      const auto arguments = peek(args_[1], frame).as_tuple().fields();
      const auto gradients = peek(args_[2], frame).as_tuple().fields();
      return check_gradient(machine, peek(args_[0], frame), {arguments.begin(), arguments.end()},
                            {gradients.begin(), gradients.end()}, attrs_, span);
    }
    case Effect::WalkCell: {
      lang::ReferenceCell& cell = peek(args_[0], frame).as_reference();
      if (args_.size() == 2)
        return machine.walks.tangent_cell(cell, peek(args_[1], frame).bits(), type_);
      if (const auto trouble = machine.walks.trouble_walking(cell); !trouble.empty()) {
        return machine.fail(DiagnosticKind::Unsupported, fmt::format("not supported: {}", trouble),
                            span);
      }
      return machine.walks.adjoint_cell(cell, type_);
    }
    case Effect::BeginWalk:
      if (!lang::is_scalar(type_)) {
        machine.walks.begin();
        return Value::unit();
      }
      return Value::scalar(lang::DType::Int64, machine.walks.begin_forward());
    case Effect::EndWalk:
      machine.walks.end();
      return Value::unit();
    case Effect::Time:
      return Value::scalar(lang::DType::Int64, machine.walks.time());
    case Effect::BeginReplay:
      machine.walks.begin_replay(peek(args_[0], frame).bits());
      return Value::unit();
    case Effect::EndReplay:
      machine.walks.end_replay();
      return Value::unit();
    case Effect::None:
      break;
  }
  return machine.fail(DiagnosticKind::Unsupported,
                      fmt::format("operator `{}` has no definition", op_->name), span);
}

}  // namespace relay::interp
