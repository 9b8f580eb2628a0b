#include "built/value_writer.h"

#include <span>

#include <fmt/format.h>

#include "built/format.h"
#include "built/post_order.h"
#include "lang/diagnostic.h"

namespace relay::built {

using lang::Value;
using lang::ValueKind;

namespace {

bool is_unit(const Value& value) {
  return value.kind() == ValueKind::Tuple && value.as_tuple().fields().empty();
}

// Of a tuple or of data; null for everything else.
const lang::Counted* cell_of(const Value& value) {
  if (value.kind() == ValueKind::Tuple && !is_unit(value)) return &value.as_tuple();
  if (value.kind() == ValueKind::Adt) return &value.as_adt();
  return nullptr;
}

std::span<Value> fields_of(const Value& cell) {
  return cell.kind() == ValueKind::Tuple ? cell.as_tuple().fields() : cell.as_adt().fields();
}

}  // namespace

// A cell comes after the cells in its fields, which only references can lead back to: those are
// written as their numbers, and what is in them at the end.
void ValueWriter::cells_of(const Value& value, const std::string& binding) {
  using Handle = const Value*;
  in_post_order(
      &value,
      [this](Handle each) {
        const lang::Counted* cell = cell_of(*each);
        return !cell || cells_.find(cell) != nullptr;
      },
      [](Handle each, const auto& push) {
        for (const Value& field : fields_of(*each)) push(&field);
      },
      [&](Handle each) { emit(*each, binding); });
}

void ValueWriter::emit(const Value& cell, const std::string& binding) {
  lang::ByteWriter& to = cells_.entries;
  if (cell.kind() == ValueKind::Tuple) {
    write_tag(CellTag::Tuple, to);
    to.number(cell.as_tuple().fields().size());
  } else {
    write_tag(CellTag::Adt, to);
    types_.constructor(cell.as_adt().constructor(), to);
  }
  for (const Value& each : fields_of(cell)) field(each, binding, to);
  cells_.add(cell_of(cell));
}

void ValueWriter::value(const Value& value, const std::string& binding, lang::ByteWriter& to) {
  cells_of(value, binding);
  field(value, binding, to);
}

void ValueWriter::reference(lang::ReferenceCell& cell, const std::string& binding,
                            lang::ByteWriter& to) {
  const std::uint32_t* number = references_.find(&cell);
  if (!number) all_references_.push_back({&cell, binding});
  to.number(number ? *number : references_.add(&cell));
}

void ValueWriter::field(const Value& value, const std::string& binding, lang::ByteWriter& to) {
  switch (value.kind()) {
    case ValueKind::Empty:
      break;
    case ValueKind::Scalar:
      write_tag(ValueTag::Scalar, to);
      to.byte(static_cast<std::uint8_t>(value.dtype()));
      return to.number(value.bits());
    case ValueKind::Tensor:
      write_tag(ValueTag::Tensor, to);
      return tensors_.tensor(value.as_tensor(), to);
    case ValueKind::Tuple:
    case ValueKind::Adt:
      if (is_unit(value)) return write_tag(ValueTag::Unit, to);
      write_tag(ValueTag::Cell, to);
      return to.number(*cells_.find(cell_of(value)));
    case ValueKind::Closure:
      lang::fail(lang::DiagnosticKind::Unsupported,
                 fmt::format("not supported: a function value in a built program; the top-level "
                             "binding `{}` holds one",
                             binding));
    case ValueKind::Reference:
      write_tag(ValueTag::Reference, to);
      return reference(value.as_reference(), binding, to);
    case ValueKind::Operator:
      write_tag(ValueTag::Operator, to);
      return code_.op(value.as_op(), to);
    case ValueKind::Constructor:
      write_tag(ValueTag::Constructor, to);
      return types_.constructor(value.as_constructor(), to);
  }
  lang::internal_error(__FILE__, __LINE__, "`" + binding + "` holds an empty value");
}

void ValueWriter::finish() {
  for (std::size_t i = 0; i < all_references_.size(); ++i) {
    const Reference each = all_references_[i];
    value(each.cell->content, each.binding, references_.entries);
  }
}

void ValueWriter::append_to(lang::ByteWriter& to) const {
  to.number(references_.count());
  cells_.append_to(to);
  to.bytes(references_.entries.all());
}

}  // namespace relay::built
