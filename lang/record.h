#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/module.h"
#include "lang/op.h"

// Records are data types whose constructors name their fields. `p.w` and `p with { w = e }` are
// sugar for `match`, but which type they match on is known only after inference. Until then they
// are calls of one operator, which no registry holds:
//
//   record.get(p, C...; fields=["w"])           p.w
//   record.with(p, e..., C...; fields=["w"])    p with { w = e }
//
// The constructors C say which records in scope have these fields (the first constructor of each):
// if it is one, that is the type of `p` when nothing else tells.
namespace relay::lang {

const OpDef& record_get();
const OpDef& record_with();
const OpDef* find_record_form(std::string_view name);  // by name; null if it is neither
bool is_record_form(const OpDef& op);

// The names in the attribute `fields`.
std::vector<std::string> record_fields(const AttrsRef& attrs);
AttrsRef record_attrs(const std::vector<std::string>& fields);

// The place of a field; nothing if the constructor has none of that name.
std::optional<std::size_t> field_place(const Constructor& constructor, std::string_view name);
// Has every constructor of the type this field (and is there any)?
bool has_field(const TypeDef& def, std::string_view name);
// What the parameters of the data type stand for.
TypeSubstitution arguments_of(const AdtType& adt);
// The fields of a constructor with the type's parameters replaced by those of `adt`.
Type field_type(const AdtType& adt, const Constructor& constructor, std::size_t place);
std::vector<Type> field_types(const AdtType& adt, const Constructor& constructor);

// `match record { C(_, w, _) => w }` where C is the only constructor of its type.
struct FieldRead {
  const Constructor* constructor;
  std::size_t place;
};
std::optional<FieldRead> as_field_read(const Match& match);
Expr read_field(const Expr& record, const Constructor& constructor, std::size_t place, Span span);

// What a form whose types are known stands for. `args` are the record and, for `with`, the values.
Expr expand_record_form(const OpDef& form, const std::vector<std::string>& fields,
                        const std::vector<Expr>& args, Span span);

// The other way, for printers: is this match what `p.w` or `p with { .. }` stands for? Of a `with`
// the new values are the arguments of the clause's body at `places`.
struct RecordForm {
  bool is_with = false;
  std::vector<std::size_t> places;
  std::vector<std::string> fields;
};
std::optional<RecordForm> as_record_form(const Match& match);

}  // namespace relay::lang
