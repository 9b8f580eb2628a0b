#include "repl/shown_derivative.h"

#include <cctype>
#include <span>
#include <string>
#include <vector>

#include "repl/value_line.h"

namespace relay::repl {

using lang::Value;
using lang::ValueKind;

namespace {

// The constructor of a mirror as that of the primal: `List_Tangent_3_Cons` is `Cons`.
std::string primal_name(const std::string& name) {
  static constexpr std::string_view kMark = "_Tangent_";
  std::size_t at = name.rfind(kMark);
  if (at == std::string::npos) return name;
  at += kMark.size();
  std::size_t behind = at;
  while (behind < name.size() && std::isdigit(static_cast<unsigned char>(name[behind])) != 0)
    ++behind;
  return name.substr(behind > at && behind < name.size() && name[behind] == '_' ? behind + 1 : at);
}

}  // namespace

bool holds_float(const Value& value) {
  if (value.is_scalar()) return lang::is_float(value.dtype());
  if (value.is_tensor()) return lang::is_float(value.as_tensor().dtype());
  return true;
}

Value ShownDerivative::of(const Value& derivative, const Value& primal, std::size_t depth) {
  if (depth > kValueLine) return derivative;
  if (derivative.kind() == ValueKind::Adt) {
    if (primal.kind() == ValueKind::Adt) return data(derivative, primal, depth);
    return of_function(derivative, depth);
  }
  if (derivative.kind() != ValueKind::Tuple) return derivative;
  const std::span<Value> parts = derivative.as_tuple().fields();
  const bool is_record = primal.kind() == ValueKind::Adt;
  if (!is_record && primal.kind() != ValueKind::Tuple) return derivative;
  const std::span<Value> fields = is_record ? primal.as_adt().fields() : primal.as_tuple().fields();
  if (parts.size() != fields.size() || parts.empty()) return derivative;
  std::vector<Value> shown;
  for (std::size_t i = 0; i < parts.size(); ++i)
    shown.push_back(of(parts[i], fields[i], depth + 1));
  if (!is_record) return Value::tuple(lang::TupleCell::make(shown));
  return Value::adt(lang::AdtCell::make(&primal.as_adt().constructor(), shown));
}

// Fields that have no tangent are left out in mirrors.
Value ShownDerivative::data(const Value& derivative, const Value& primal, std::size_t depth) {
  const lang::AdtCell& cell = derivative.as_adt();
  const std::span<Value> parts = cell.fields();
  const std::span<Value> fields = primal.as_adt().fields();
  const bool is_zero = cell.tag() == 0 && &cell.constructor() != &primal.as_adt().constructor();
  const bool is_whole = parts.size() == fields.size();
  std::vector<Value> shown;
  std::size_t next = 0;
  for (const Value& field : fields) {
    const bool is_there = is_whole || holds_float(field);
    if (is_there && next == parts.size()) break;
    shown.push_back(is_there ? of(parts[next++], field, depth + 1) : Value::unit());
  }
  if (!is_zero && next == parts.size() && shown.size() == fields.size())
    return Value::adt(lang::AdtCell::make(&primal.as_adt().constructor(), shown));
  return named(primal_name(cell.constructor().name), {parts.begin(), parts.end()});
}

// What a function captured has adjoints.
Value ShownDerivative::of_function(const Value& derivative, std::size_t depth) {
  const std::span<Value> parts = derivative.as_adt().fields();
  if (parts.empty()) return named("0", {});
  std::vector<Value> shown;
  for (const Value& part : parts) {
    const bool is_data = part.kind() == ValueKind::Adt;
    shown.push_back(is_data ? of_function(part, depth + 1) : part);
  }
  return named("captured", std::move(shown));
}

Value ShownDerivative::named(std::string name, std::vector<Value> fields) {
  lang::Constructor& constructor = made_.emplace_back();
  constructor.name = std::move(name);
  return Value::adt(lang::AdtCell::make(&constructor, fields));
}

}  // namespace relay::repl
