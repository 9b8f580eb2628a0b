#include "tests/support/passed_program.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace relay::tests {

using lang::Value;

namespace {

[[noreturn]] void fail_in(const std::string& what, const std::vector<lang::Diagnostic>& errors) {
  throw std::runtime_error(what + "\n" + lang::render(errors.front()));
}

bool is_tensor(const Value& value) { return value.is_scalar() || value.is_tensor(); }

}  // namespace

repl::SessionOptions quiet_options() {
  repl::SessionOptions options;
  options.jit = interp::JitMode::Off;
  options.write = [](std::string_view) {};
  return options;
}

PassedProgram::PassedProgram(const std::string& text) : text_(text), session_(quiet_options()) {
  const auto errors = session_.run("<program>", text, nullptr);
  if (!errors.empty()) fail_in(text_, errors);
}

Value PassedProgram::value(const std::string& call) {
  auto given = session_.evaluate(call);
  if (!given) fail_in(text_ + call, given.errors());
  return *given;
}

std::string PassedProgram::passed(const std::string& passes) {
  const auto given = session_.optimised({.passes = passes});
  if (!given) fail_in(passes + " of\n" + text_, given.errors());
  return given->text;
}

bool is_close(const Value& a, const Value& b, double tolerance, DTypes dtypes) {
  if (a.kind() == lang::ValueKind::Tuple && b.kind() == lang::ValueKind::Tuple) {
    const auto x = a.as_tuple().fields();
    const auto y = b.as_tuple().fields();
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [&](const Value& p, const Value& q) {
      return is_close(p, q, tolerance, dtypes);
    });
  }
  if (!is_tensor(a) || !is_tensor(b)) return lang::to_string(a) == lang::to_string(b);
  const lang::TensorRef x = a.to_tensor();
  const lang::TensorRef y = b.to_tensor();
  if (x->shape() != y->shape()) return false;
  if (dtypes == DTypes::Same && x->dtype() != y->dtype()) return false;
  double largest = 0;
  for (std::int64_t i = 0; i < x->element_count(); ++i) {
    if (std::isfinite(x->number_at(i))) largest = std::max(largest, std::abs(x->number_at(i)));
  }
  for (std::int64_t i = 0; i < x->element_count(); ++i) {
    const double p = x->number_at(i);
    const double q = y->number_at(i);
    const bool are_same = p == q || (std::isnan(p) && std::isnan(q));
    if (!are_same && !(std::abs(p - q) <= tolerance * largest)) return false;
  }
  return true;
}

}  // namespace relay::tests
