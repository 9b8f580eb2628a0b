#include "built/type_writer.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "built/format.h"
#include "lang/call_site.h"
#include "lang/diagnostic.h"

namespace relay::built {

using lang::Dim;
using lang::Type;
using lang::TypeKind;

namespace {

[[noreturn]] void fail_too_deep(std::string_view what, std::int64_t levels) {
  lang::fail(
      lang::DiagnosticKind::Unsupported,
      fmt::format("not supported: {} of more than {} levels in a built program", what, levels));
}

}  // namespace

void TypeWriter::name(std::string_view name, lang::ByteWriter& to) {
  lang::ByteWriter entry;
  entry.text(name);
  to.number(names_.number_of(entry.take()));
}

void TypeWriter::span(lang::Span span, lang::ByteWriter& to) {
  if (!span) return to.number(0);
  to.number(std::uint64_t{number_of(span.source)} + 1);
  to.number(span.begin);
  to.signed_number(std::int64_t{span.end} - std::int64_t{span.begin});
}

// A source through which code is seen that was moved to a call is the text and the call.
std::uint32_t TypeWriter::number_of(const lang::Source* source) {
  if (const std::uint32_t* number = sources_.find(source)) return *number;
  const lang::Place place = lang::place_of({source, 0, 0});
  lang::ByteWriter entry;
  if (place.calls.empty()) {
    write_tag(SourceTag::Text, entry);
    name(source->name(), entry);
    entry.text(source->text());
  } else {
    lang::Span call = place.calls.back();
    for (std::size_t i = place.calls.size() - 1; i-- > 0;)
      call = lang::moved_to_call(place.calls[i], call);
    write_tag(SourceTag::Moved, entry);
    entry.number(number_of(place.span.source));
    span(call, entry);
  }
  sources_.entries.bytes(entry.all());
  return sources_.add(source);
}

void TypeWriter::type_var(const lang::TypeVarRef& var, lang::ByteWriter& to) {
  const std::uint32_t* number = vars_.find(var.get());
  if (!number) all_vars_.push_back(var.get());
  to.number(number ? *number : vars_.add(var.get()));
}

std::uint32_t TypeWriter::number_of(const Dim& dim, int depth) {
  if (depth > kDeepestDim) fail_too_deep("a dimension", kDeepestDim);
  lang::ByteWriter entry;
  if (dim.is_any()) {
    write_tag(DimTag::Any, entry);
    return dims_.number_of(entry.take());
  }
  write_tag(DimTag::Polynomial, entry);
  entry.signed_number(dim.constant_part());
  entry.number(dim.terms().size());
  for (const Dim::Term& term : dim.terms()) {
    entry.signed_number(term.coefficient);
    entry.number(term.atoms.size());
    for (const Dim::AtomRef& atom : term.atoms) {
      if (atom->variable) {
        write_tag(AtomTag::Variable, entry);
        type_var(atom->variable, entry);
      } else {
        const auto& [numerator, denominator] = *atom->division;
        RELAY_CHECK(is_one_atom(Dim::floor_div(numerator, denominator)),
                    "a division in normal form: " + dim.to_string());
        write_tag(AtomTag::Division, entry);
        entry.number(number_of(numerator, depth + 1));
        entry.number(number_of(denominator, depth + 1));
      }
    }
  }
  return dims_.number_of(entry.take());
}

// Its constructors' fields may lead to more data types, and back to this one: finish() writes them.
std::uint32_t TypeWriter::number_of(const lang::TypeDef* def) {
  if (const std::uint32_t* number = defs_.find(def)) return *number;
  all_defs_.push_back(def);
  const std::uint32_t number = defs_.add(def);
  lang::ByteWriter& to = defs_.entries;
  name(def->name, to);
  span(def->span, to);
  to.byte(def->is_extern ? 1 : 0);
  to.byte(static_cast<std::uint8_t>(def->origin));
  to.number(def->params.size());
  for (const lang::TypeVarRef& param : def->params) type_var(param, to);
  to.number(def->constructors.size());
  for (const lang::Constructor& each : def->constructors) {
    name(each.name, to);
    span(each.span, to);
    to.number(each.fields.size());
    to.byte(each.field_names.empty() ? 0 : 1);
    for (const std::string& field : each.field_names) name(field, to);
  }
  return number;
}

void TypeWriter::constructor(const lang::Constructor& constructor, lang::ByteWriter& to) {
  to.number(number_of(constructor.owner));
  to.number(constructor.tag);
}

void TypeWriter::type(const Type& type, lang::ByteWriter& to) {
  to.number(type ? std::uint64_t{number_of(type)} + 1 : 0);
}

void TypeWriter::types(const std::vector<Type>& types, lang::ByteWriter& to) {
  to.number(types.size());
  for (const Type& each : types) to.number(number_of(each));
}

void TypeWriter::write(const lang::TensorType& tensor, lang::ByteWriter& to) {
  if (tensor.dtype.is_known()) {
    to.byte(static_cast<std::uint8_t>(static_cast<int>(tensor.dtype.known()) + 1));
  } else {
    to.byte(0);
    type_var(tensor.dtype.var(), to);
  }
  if (tensor.shape.has_rank()) {
    to.number(std::uint64_t{tensor.shape.rank()} + 1);
    for (const Dim& each : tensor.shape.dims()) dim(each, to);
  } else {
    to.number(0);
    type_var(tensor.shape.var(), to);
  }
}

std::uint32_t TypeWriter::number_of(const Type& type) {
  if (const std::uint32_t* number = type_numbers_.find(type.get())) return *number;
  if (type->depth > kDeepestType) fail_too_deep("a type", kDeepestType);
  lang::ByteWriter entry;
  entry.byte(static_cast<std::uint8_t>(type->kind));
  switch (type->kind) {
    case TypeKind::Tensor:
      write(*lang::as<lang::TensorType>(type), entry);
      break;
    case TypeKind::Tuple:
      types(lang::as<lang::TupleType>(type)->fields, entry);
      break;
    case TypeKind::Function: {
      const auto& function = *lang::as<lang::FunctionType>(type);
      entry.number(function.quantified.size());
      for (const lang::TypeVarRef& var : function.quantified) type_var(var, entry);
      types(function.params, entry);
      entry.number(number_of(function.result));
      break;
    }
    case TypeKind::Adt:
      entry.number(number_of(lang::as<lang::AdtType>(type)->def));
      types(lang::as<lang::AdtType>(type)->args, entry);
      break;
    case TypeKind::Reference:
      entry.number(number_of(lang::as<lang::ReferenceType>(type)->content));
      break;
    case TypeKind::Var:
      type_var(lang::as<lang::VarType>(type)->var, entry);
      break;
    case TypeKind::Dimension:
      dim(lang::as<lang::DimensionType>(type)->dim, entry);
      break;
    case TypeKind::Incomplete:
      break;
  }
  const std::uint32_t number = types_.number_of(entry.take());
  type_numbers_.insert(type.get(), number);
  return number;
}

void TypeWriter::attrs(const lang::AttrsRef& attrs, lang::ByteWriter& to) {
  if (!attrs) return to.number(0);
  lang::ByteWriter entry;
  list(attrs->list, 0, entry);
  to.number(std::uint64_t{attrs_.number_of(entry.take())} + 1);
}

void TypeWriter::list(const std::vector<lang::Attr>& list, int depth, lang::ByteWriter& to) {
  to.number(list.size());
  for (const lang::Attr& each : list) {
    name(each.key, to);
    span(each.span, to);
    value(each.value, depth, to);
  }
}

void TypeWriter::value(const lang::AttrValue& value, int depth, lang::ByteWriter& to) {
  if (depth > kDeepestAttr) fail_too_deep("an attribute", kDeepestAttr);
  if (const bool* truth = value.as_bool())
    return write_tag(*truth ? AttrTag::True : AttrTag::False, to);
  if (const std::int64_t* integer = value.as_int()) {
    write_tag(AttrTag::Int, to);
    return to.signed_number(*integer);
  }
  if (const double* real = value.as_float()) {
    write_tag(AttrTag::Float, to);
    return to.word(std::bit_cast<std::uint64_t>(*real));
  }
  if (const std::string* text = value.as_string()) {
    write_tag(AttrTag::Text, to);
    return name(*text, to);
  }
  if (const lang::DType* dtype = value.as_dtype()) {
    write_tag(AttrTag::DType, to);
    return to.byte(static_cast<std::uint8_t>(*dtype));
  }
  if (const lang::AttrValue::List* values = value.as_list()) {
    write_tag(AttrTag::List, to);
    to.number(values->size());
    for (const lang::AttrValue& each : *values) this->value(each, depth + 1, to);
    return;
  }
  if (const lang::AttrObject* object = value.as_object()) {
    write_tag(AttrTag::Object, to);
    name(object->type_key, to);
    return list(object->fields, depth + 1, to);
  }
  write_tag(AttrTag::Null, to);
}

// Dimensions are in an order that follows from the order in which their variables were made: it is
// written with the variables, for the reader to make them so.
void TypeWriter::finish() {
  for (std::size_t i = 0; i < all_defs_.size(); ++i) {
    for (const lang::Constructor& each : all_defs_[i]->constructors) {
      for (const Type& field : each.fields) fields_.number(number_of(field));
    }
  }
  std::vector<const lang::TypeVar*> in_order = all_vars_;
  std::sort(in_order.begin(), in_order.end(),
            [](const lang::TypeVar* a, const lang::TypeVar* b) { return a->id < b->id; });
  for (const lang::TypeVar* var : all_vars_) {
    lang::ByteWriter& to = vars_.entries;
    to.byte(static_cast<std::uint8_t>(var->kind));
    to.byte(var->flexible ? 1 : 0);
    name(var->name, to);
  }
  for (const lang::TypeVar* var : in_order) var_order_.number(*vars_.find(var));
}

void TypeWriter::append_to(lang::ByteWriter& to) const {
  names_.append_to(to);
  sources_.append_to(to);
  vars_.append_to(to);
  to.bytes(var_order_.all());
  defs_.append_to(to);
  dims_.append_to(to);
  types_.append_to(to);
  to.bytes(fields_.all());
  attrs_.append_to(to);
}

}  // namespace relay::built
