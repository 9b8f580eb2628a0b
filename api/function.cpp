// Calls of functions, and the functions that are their derivatives.

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/number.h"
#include "api/value.h"
#include "lang/derivative.h"

namespace {

using namespace relay;       // NOLINT: the interface itself
using namespace relay::api;  // NOLINT

using Args = std::span<relay_value* const>;

// A program may call a function with ever other shapes.
constexpr std::size_t kMostSpecialised = 64;

// Does the argument stand in the text of a call, which settles its type?
bool is_text(const relay_value& value) { return !value.type || value.is_open; }

bool fits(const Specialised& each, Args args) {
  if (each.params.size() != args.size()) return false;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (each.numbers[i] != number_kind(*args[i])) return false;
    if (is_text(*args[i]) != !each.params[i]) return false;
    if (is_text(*args[i]) ? each.codes[i] != code_of(*args[i])
                          : !lang::equal(each.params[i], type_at(*args[i], each.params[i])))
      return false;
  }
  return true;
}

// Is it a function value with just these parameters? Then there is nothing to settle.
const lang::FunctionType* settled_type(const relay_value& function, Args args) {
  const auto* type = lang::as<lang::FunctionType>(function.type);
  if (!type || function.value.kind() != lang::ValueKind::Closure || !type->quantified.empty() ||
      type->params.size() != args.size())
    return nullptr;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (is_text(*args[i]) || !lang::equal(type->params[i], type_at(*args[i], type->params[i])))
      return nullptr;
  }
  return type;
}

constexpr const char* kCall = "<call>";

// Nobody has written the text of a call: it is no place, and no mend.
void without_our_text(lang::Failure& failure) {
  const auto is_ours = [](lang::Span span) { return span && span.source->name() == kCall; };
  for (lang::Diagnostic& each : failure.diagnostics) {
    if (!is_ours(each.span)) continue;
    each.span = {};
    std::erase_if(each.labels, [&](const lang::Label& label) { return is_ours(label.span); });
    std::erase_if(each.notes, [](const std::string& note) { return note.starts_with("help:"); });
  }
}

// `fn (arg0: float32, arg2: int32) { f(arg0, g, arg2) }`, a parameter for each argument that has a
// type; `types`: null for those that are left open.
std::string text_of_call(relay_value& function, Args args, std::span<const lang::Type> types) {
  std::string params;
  std::string list;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (i > 0) list += ", ";
    list += is_text(*args[i]) ? code_of(*args[i]) : fmt::format("arg{}", i);
    if (is_text(*args[i])) continue;
    if (!params.empty()) params += ", ";
    params += fmt::format("arg{}", i);
    if (types[i]) params += ": " + lang::to_string(types[i]);
  }
  return fmt::format("fn ({}) {{ {}({}) }}", params, code_of(function), list);
}

// The variable that the dtype of a tensor is; null if it is none.
const lang::TypeVar* open_dtype(const lang::Type& type) {
  const auto* tensor = lang::as<lang::TensorType>(type);
  return tensor && !tensor->dtype.is_known() ? tensor->dtype.var().get() : nullptr;
}

// Gives numbers the dtypes that the function wants.
void settle_numbers(relay_value& function, Args args, std::vector<lang::Type>& types) {
  std::vector<lang::Type> known = types;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i]->number) known[i] = nullptr;
  }
  repl::Session& session = *function.core->session;
  const auto code = session.read(kCall, text_of_call(function, args, known));
  const auto typed = code ? session.evaluate_typed(*code) : code.errors();
  if (!typed) return;  // the call itself says why
  const std::vector<lang::Type>& wanted = lang::as<lang::FunctionType>(typed->type)->params;
  // Numbers may be of one dtype that nothing else tells: one that is no integer does.
  std::set<const lang::TypeVar*> floats;
  std::size_t next = 0;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (is_text(*args[i])) continue;
    types[i] = type_at(*args[i], wanted[next]);
    const lang::TypeVar* const open = open_dtype(wanted[next++]);
    if (open && number_kind(*args[i]) == 'f') floats.insert(open);
  }
  next = 0;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (is_text(*args[i])) continue;
    const lang::TypeVar* const open = open_dtype(wanted[next++]);
    if (args[i]->number && floats.contains(open)) {
      types[i] = type_at(*args[i], lang::scalar_type(lang::DType::Float32));
    }
  }
}

Specialised specialise(relay_value& function, Args args) {
  Specialised made;
  bool has_numbers = false;
  for (relay_value* each : args) {
    made.params.push_back(is_text(*each) ? nullptr : each->type);
    made.codes.push_back(is_text(*each) ? code_of(*each) : "");
    made.numbers.push_back(number_kind(*each));
    has_numbers = has_numbers || each->number;
  }
  if (has_numbers) settle_numbers(function, args, made.params);
  repl::Session& session = *function.core->session;
  const std::string code = text_of_call(function, args, made.params);
  repl::Session::Typed typed;
  try {
    typed = session.evaluate_typed(session.read(kCall, code).or_throw(), true).or_throw();
  } catch (lang::Failure& failure) {
    without_our_text(failure);
    throw;
  }
  const auto* type = lang::as<lang::FunctionType>(typed.type);
  std::size_t next = 0;
  for (std::size_t i = 0; i < args.size(); ++i) {
    // The name of a type may mean another by now, whose values have other fields.
    if (made.params[i] && !lang::equal(type->params[next++], made.params[i])) {
      lang::fail(lang::DiagnosticKind::TypeMismatch,
                 fmt::format("argument {} is a `{}` from before that type was defined anew", i,
                             lang::to_string(made.params[i])));
    }
  }
  made.function = std::move(typed.value);
  made.result = type->result;
  return made;
}

// What there is for these arguments, at the front of the list.
const Specialised& specialised(relay_value& function, Args args) {
  auto& list = function.specialised;
  if (function.generation != function.core->generation) list.clear();
  function.generation = function.core->generation;
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const Specialised& each) { return fits(each, args); });
  if (found != list.end()) {
    std::rotate(list.begin(), found, found + 1);
  } else {
    Specialised made = specialise(function, args);
    if (list.size() == kMostSpecialised) list.pop_back();
    list.insert(list.begin(), std::move(made));
  }
  return list.front();
}

// The values that go into a call of `params`; null: the argument stands in the text.
std::vector<lang::Value> values_of(Args args, std::span<const lang::Type> params) {
  std::vector<lang::Value> values;
  values.reserve(args.size());
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!is_text(*args[i])) values.push_back(value_at(*args[i], params[i]));
  }
  return values;
}

relay_error* call(relay_value& function, Args args, relay_value** result) {
  repl::Session& session = *function.core->session;
  if (const lang::FunctionType* type = settled_type(function, args)) {
    *result = make_value(function.core,
                         session.call(function.value, values_of(args, type->params)).or_throw(),
                         type->result);
    return nullptr;
  }
  const Specialised& made = specialised(function, args);
  *result =
      make_value(function.core,
                 session.call(made.function, values_of(args, made.params)).or_throw(), made.result);
  return nullptr;
}

relay_error* derivative(relay_value* function, lang::DiffMode mode, const char* name,
                        relay_value** made) {
  if (!made) return bad_argument(fmt::format("{}: `derivative` is NULL", name));
  *made = nullptr;
  if (!function) return bad_argument(fmt::format("{}: `function` is NULL", name));
  if (relay_value_kind(function) != RELAY_FUNCTION || !function->core)
    return bad_argument(fmt::format("{}: the value is no function", name));
  return enter(function->core.get(), [&]() -> relay_error* {
    const std::string code = fmt::format("{}({})", lang::name_of(mode), code_of(*function));
    repl::Session& session = *function->core->session;
    std::string scheme = session.type_of(code).or_throw();
    *made = make_function(function->core, code, std::move(scheme));
    return nullptr;
  });
}

}  // namespace

extern "C" {

relay_error* relay_call(relay_value* function, relay_value* const* args, size_t count,
                        relay_value** result) {
  if (!result) return bad_argument("relay_call: `result` is NULL");
  *result = nullptr;
  if (!function) return bad_argument("relay_call: `function` is NULL");
  if (relay_value_kind(function) != RELAY_FUNCTION || !function->core)
    return bad_argument("relay_call: the value is no function");
  if (!args && count > 0) return bad_argument("relay_call: `args` is NULL");
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_fine = args[i] && (!args[i]->core || args[i]->core == function->core);
    if (!is_fine)
      return check_owner(args[i], function->core, fmt::format("relay_call: argument {}", i));
  }
  return enter(function->core.get(), [&] { return call(*function, {args, count}, result); });
}

relay_error* relay_grad(relay_value* function, relay_value** made) {
  return derivative(function, lang::DiffMode::Grad, "relay_grad", made);
}
relay_error* relay_value_and_grad(relay_value* function, relay_value** made) {
  return derivative(function, lang::DiffMode::ValueAndGrad, "relay_value_and_grad", made);
}
relay_error* relay_jvp(relay_value* function, relay_value** made) {
  return derivative(function, lang::DiffMode::Jvp, "relay_jvp", made);
}
relay_error* relay_vjp(relay_value* function, relay_value** made) {
  return derivative(function, lang::DiffMode::Vjp, "relay_vjp", made);
}
relay_error* relay_linearize(relay_value* function, relay_value** made) {
  return derivative(function, lang::DiffMode::Linearize, "relay_linearize", made);
}
relay_error* relay_hvp(relay_value* function, relay_value** made) {
  return derivative(function, lang::DiffMode::Hvp, "relay_hvp", made);
}
relay_error* relay_hessian(relay_value* function, relay_value** made) {
  return derivative(function, lang::DiffMode::Hessian, "relay_hessian", made);
}
relay_error* relay_jacobian(relay_value* function, relay_value** made) {
  return derivative(function, lang::DiffMode::Jacobian, "relay_jacobian", made);
}
relay_error* relay_check_grad(relay_value* function, relay_value** made) {
  return derivative(function, lang::DiffMode::CheckGrad, "relay_check_grad", made);
}

}  // extern "C"
