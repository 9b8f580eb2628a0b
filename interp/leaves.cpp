#include "interp/leaves.h"

#include <utility>

#include "lang/type.h"

namespace relay::interp {

using lang::Value;

void append_leaves(const Value& value, std::vector<lang::TensorRef>& leaves) {
  if (value.kind() == lang::ValueKind::Tuple) {
    for (const Value& field : value.as_tuple().fields()) append_leaves(field, leaves);
    return;
  }
  leaves.push_back(value.to_tensor());
}

Value value_of_leaves(const lang::Type& type, std::vector<lang::TensorRef>& leaves,
                      std::size_t& next) {
  if (const auto* tuple = lang::as<lang::TupleType>(type)) {
    if (tuple->fields.empty()) return Value::unit();
    auto cell = lang::TupleCell::make(tuple->fields.size());
    for (std::size_t i = 0; i < tuple->fields.size(); ++i)
      cell->fields()[i] = value_of_leaves(tuple->fields[i], leaves, next);
    return Value::tuple(std::move(cell));
  }
  return Value::tensor(std::move(leaves[next++]));
}

}  // namespace relay::interp
