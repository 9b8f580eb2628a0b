#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "built/tables.h"
#include "lang/attrs.h"
#include "lang/module.h"
#include "lang/source.h"
#include "lang/type.h"

namespace relay::built {

// Writes the tables up to the attributes. What is the same type, dimension or list of attributes
// gets the same number.
class TypeWriter {
 public:
  // Each writes a reference.
  void name(std::string_view name, lang::ByteWriter& to);
  void span(lang::Span span, lang::ByteWriter& to);
  void type_var(const lang::TypeVarRef& var, lang::ByteWriter& to);
  void dim(const lang::Dim& dim, lang::ByteWriter& to) { to.number(number_of(dim, 0)); }
  void type(const lang::Type& type, lang::ByteWriter& to);  // null: 0
  void constructor(const lang::Constructor& constructor, lang::ByteWriter& to);
  void attrs(const lang::AttrsRef& attrs, lang::ByteWriter& to);  // null: 0

  // Not null.
  std::uint32_t number_of(const lang::Type& type);

  // Nothing may be written after that.
  void finish();
  void append_to(lang::ByteWriter& to) const;

 private:
  std::uint32_t number_of(const lang::Source* source);
  std::uint32_t number_of(const lang::Dim& dim, int depth);
  std::uint32_t number_of(const lang::TypeDef* def);
  void write(const lang::TensorType& type, lang::ByteWriter& to);
  void types(const std::vector<lang::Type>& types, lang::ByteWriter& to);
  void value(const lang::AttrValue& value, int depth, lang::ByteWriter& to);
  void list(const std::vector<lang::Attr>& list, int depth, lang::ByteWriter& to);

  TextTable names_;
  Table<lang::Source> sources_;
  Table<lang::TypeVar> vars_;
  std::vector<const lang::TypeVar*> all_vars_;
  Table<lang::TypeDef> defs_;
  std::vector<const lang::TypeDef*> all_defs_;
  TextTable dims_;
  TextTable types_;
  lang::PointerMap<lang::TypeNode, std::uint32_t> type_numbers_;
  lang::ByteWriter fields_;
  TextTable attrs_;
  lang::ByteWriter var_order_;
};

}  // namespace relay::built
