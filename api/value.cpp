#include "api/value.h"

#include <utility>

#include <fmt/format.h>

#include "lang/record.h"
#include "repl/session_state.h"

namespace relay::api {

using lang::Type;
using lang::Value;
using lang::ValueKind;

namespace {

// Tensors, and tuples of them: they mean the same to every engine.
bool is_of_no_engine(const Type& type) {
  if (lang::as<lang::TensorType>(type)) return true;
  const auto* tuple = lang::as<lang::TupleType>(type);
  if (!tuple) return false;
  for (const Type& field : tuple->fields) {
    if (!is_of_no_engine(field)) return false;
  }
  return true;
}

}  // namespace

relay_value* make_value(const CoreRef& core, Value value, const Type& type) {
  auto made = std::make_unique<relay_value>();
  made->type =
      value.is_scalar() ? lang::scalar_type(value.dtype()) : repl::concrete_type(type, value);
  if (!is_of_no_engine(made->type)) {
    made->core = core;
    made->is_open = !lang::variables_of(made->type).empty();
  }
  made->value = std::move(value);
  return made.release();
}

relay_value* make_function(const CoreRef& core, std::string code, std::string scheme) {
  auto made = std::make_unique<relay_value>();
  made->core = core;
  made->code = std::move(code);
  made->scheme = std::move(scheme);
  return made.release();
}

relay_error* check_owner(const relay_value* value, const CoreRef& core, const std::string& what) {
  if (!value) return bad_argument(what + " is NULL");
  if (!value->core || !core || value->core == core) return nullptr;
  return bad_argument(what +
                      " belongs to another engine: only tensors and tuples of them may be "
                      "shared");
}

const lang::Constructor* constructor_of(const relay_value& value) {
  if (value.value.kind() == ValueKind::Adt) return &value.value.as_adt().constructor();
  if (value.value.kind() == ValueKind::Constructor) return &value.value.as_constructor();
  return nullptr;
}

const std::string& code_of(relay_value& value) {
  if (value.code.empty()) {
    Core& core = *value.core;
    std::string name = fmt::format("__held{}", ++core.held_values);
    core.session->bind(name, value.value, value.type);
    value.code = std::move(name);
  }
  return value.code;
}

}  // namespace relay::api

using namespace relay;       // NOLINT: the interface itself
using namespace relay::api;  // NOLINT

namespace {

std::span<lang::Value> fields_of(const relay_value* value) {
  if (!value) return {};
  if (value->value.kind() == lang::ValueKind::Tuple) return value->value.as_tuple().fields();
  if (value->value.kind() == lang::ValueKind::Adt) return value->value.as_adt().fields();
  return {};
}

lang::Type field_type(const relay_value& value, std::size_t index) {
  if (const auto* tuple = lang::as<lang::TupleType>(value.type)) return tuple->fields[index];
  return lang::field_type(*lang::as<lang::AdtType>(value.type), value.value.as_adt().constructor(),
                          index);
}

// `text` as it was made first. Null where it cannot be.
const char* kept(const relay_value* value, std::string relay_value::*text,
                 const std::function<std::string()>& make) {
  auto* const held = const_cast<relay_value*>(value);
  const Turn turn(nullptr);
  if (!turn) {
    relay_error_free(turn.why());
    return nullptr;
  }
  try {
    if ((held->*text).empty()) held->*text = make();
  } catch (...) {
    return nullptr;
  }
  return (held->*text).c_str();
}

}  // namespace

extern "C" {

relay_value* relay_value_retain(relay_value* value) {
  if (value) value->count.fetch_add(1, std::memory_order_relaxed);
  return value;
}

void relay_value_release(relay_value* value) {
  if (value && value->count.fetch_sub(1, std::memory_order_acq_rel) == 1)
    in_some_turn([value] { delete value; });
}

relay_kind relay_value_kind(const relay_value* value) {
  switch (value ? value->value.kind() : lang::ValueKind::Empty) {
    case lang::ValueKind::Scalar:
    case lang::ValueKind::Tensor:
      return RELAY_TENSOR;
    case lang::ValueKind::Tuple:
      return RELAY_TUPLE;
    case lang::ValueKind::Adt:
      return RELAY_DATA;
    case lang::ValueKind::Reference:
      return RELAY_REFERENCE;
    case lang::ValueKind::Empty:
    case lang::ValueKind::Closure:
    case lang::ValueKind::Operator:
    case lang::ValueKind::Constructor:
      break;
  }
  return RELAY_FUNCTION;
}

const char* relay_value_type(const relay_value* value) {
  if (!value) return nullptr;
  return kept(value, &relay_value::type_text,
              [&] { return value->type ? lang::to_string(value->type) : value->scheme; });
}

const char* relay_value_text(const relay_value* value) {
  if (!value) return nullptr;
  return kept(value, &relay_value::value_text, [&]() -> std::string {
    return value->value ? lang::to_string(value->value) : "<function>";
  });
}

relay_error* relay_tuple(relay_value* const* fields, size_t count, relay_value** value) {
  if (!value) return bad_argument("relay_tuple: `value` is NULL");
  *value = nullptr;
  if (!fields && count > 0) return bad_argument("relay_tuple: `fields` is NULL");
  return enter(nullptr, [&]() -> relay_error* {
    CoreRef core;
    std::vector<lang::Value> values;
    std::vector<lang::Type> types;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string what = fmt::format("relay_tuple: field {}", i);
      if (relay_error* error = check_owner(fields[i], core, what)) return error;
      if (!fields[i]->type)
        return bad_argument(what + " is a function whose types are open: only calls settle them");
      if (fields[i]->core) core = fields[i]->core;
      values.push_back(fields[i]->value);
      types.push_back(fields[i]->type);
    }
    lang::Value made =
        count == 0 ? lang::Value::unit() : lang::Value::tuple(lang::TupleCell::make(values));
    *value = make_value(core, std::move(made), lang::tuple_type(std::move(types)));
    return nullptr;
  });
}

size_t relay_field_count(const relay_value* value) {
  if (value && value->value.kind() == lang::ValueKind::Constructor)
    return value->value.as_constructor().fields.size();
  return fields_of(value).size();
}

relay_error* relay_field(const relay_value* value, size_t index, relay_value** field) {
  if (!field) return bad_argument("relay_field: `field` is NULL");
  *field = nullptr;
  const std::size_t count = fields_of(value).size();
  if (index >= count)
    return bad_argument(
        fmt::format("relay_field: there are {} fields, and no field {}", count, index));
  return enter(nullptr, [&]() -> relay_error* {
    *field = make_value(value->core, fields_of(value)[index], field_type(*value, index));
    return nullptr;
  });
}

const char* relay_constructor(const relay_value* value) {
  const lang::Constructor* const constructor = value ? constructor_of(*value) : nullptr;
  return constructor ? constructor->name.c_str() : nullptr;
}

const char* relay_field_name(const relay_value* value, size_t index) {
  const lang::Constructor* const constructor = value ? constructor_of(*value) : nullptr;
  if (!constructor || index >= constructor->field_names.size()) return nullptr;
  return constructor->field_names[index].c_str();
}

}  // extern "C"
