#include "interp/effects.h"

#include <fmt/format.h>

namespace relay::interp {

using lang::DiagnosticKind;
using lang::Effect;
using lang::Value;

namespace {

std::string print_text(const Value& value, const lang::AttrsRef& attrs) {
  if (value.is_scalar() && !attrs->is_null("digits") && lang::is_float(value.dtype())) {
    return fmt::format("{:.{}f}", lang::double_from_bits(value.dtype(), value.bits()),
                       attrs->get_int("digits"));
  }
  return to_string(value);
}

}  // namespace

Value EffectCode::eval(Frame& frame) const {
  Machine& machine = frame.machine;
  switch (op_->effect) {
    case Effect::Print: {
      const std::string& label = attrs_->get_string("label");
      const std::string text = print_text(peek(args_[0], frame), attrs_);
      machine.host.write(label.empty() ? text + "\n" : label + " " + text + "\n");
      return Value::unit();
    }
    case Effect::Assert:
      if (peek(args_[0], frame).truth()) return Value::unit();
      if (const std::string& message = attrs_->get_string("message"); !message.empty()) {
        return machine.fail(DiagnosticKind::AssertionFailed, "assertion failed: " + message, span);
      }
      return machine.fail(DiagnosticKind::AssertionFailed,
                          fmt::format("assertion failed: `{}`", span.text()), span);
    case Effect::LoadCsv: {
      auto tensor =
          load_csv(machine.host.find_file(attrs_->get_string("path")), attrs_->get_dtype("dtype"));
      if (tensor) return Value::tensor(*tensor);
      lang::Diagnostic first = tensor.errors().front();
      first.span = span;
      return machine.fail(std::move(first));
    }
    case Effect::None:
      break;
  }
  return machine.fail(DiagnosticKind::Unsupported,
                      fmt::format("operator `{}` has no definition", op_->name), span);
}

}  // namespace relay::interp
