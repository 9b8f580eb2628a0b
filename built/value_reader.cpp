#include "built/value_reader.h"

#include <limits>

#include "built/format.h"

namespace relay::built {

using lang::Value;

ValueReader::ValueReader(lang::ByteReader& from, TypeReader& types, TensorReader& tensors,
                         CodeReader& code)
    : from_(from), types_(types), tensors_(tensors), code_(code) {
  for (std::size_t left = from_.count(); left > 0; --left)
    references_.push_back(lang::make_ref<lang::ReferenceCell>(Value()));
  for (std::size_t left = from_.count(); left > 0; --left) read_cell();
  for (const auto& reference : references_) reference->content = value();
}

void ValueReader::read_cell() {
  if (read_tag<CellTag>(from_) == CellTag::Tuple) {
    const std::size_t count = from_.count();
    if (count > std::numeric_limits<std::uint32_t>::max()) fail_damaged();
    const lang::Ref<lang::TupleCell> cell = lang::TupleCell::make(count);
    for (Value& field : cell->fields()) field = value();
    cells_.push_back(Value::tuple(cell));
  } else {
    const lang::Constructor* const constructor = types_.constructor();
    const lang::Ref<lang::AdtCell> cell =
        lang::AdtCell::make(constructor, constructor->fields.size());
    for (Value& field : cell->fields()) field = value();
    cells_.push_back(Value::adt(cell));
  }
}

Value ValueReader::value() {
  switch (read_tag<ValueTag>(from_)) {
    case ValueTag::Scalar: {
      const auto dtype = static_cast<lang::DType>(from_.byte_below(lang::kDTypeCount));
      return Value::scalar(dtype, from_.number());
    }
    case ValueTag::Tensor:
      return Value::tensor(tensors_.tensor());
    case ValueTag::Unit:
      return Value::unit();
    case ValueTag::Cell:
      return from_.at(cells_);
    case ValueTag::Reference:
      return Value::reference(from_.at(references_));
    case ValueTag::Operator:
      return Value::op(code_.op());
    case ValueTag::Constructor:
      return Value::constructor(types_.constructor());
    case ValueTag::kCount:
      break;
  }
  fail_damaged();
}

}  // namespace relay::built
