#include "ad/tangent_value.h"

#include <algorithm>

#include "lang/build.h"

namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::Type;
namespace build = lang::build;

TangentValue TangentValue::of_fields(std::vector<TangentValue> fields) {
  TangentValue value;
  value.fields_ = std::move(fields);
  return value;
}

bool TangentValue::is_zero() const {
  return !whole_ && std::all_of(fields_.begin(), fields_.end(),
                                [](const TangentValue& field) { return field.is_zero(); });
}

TangentValue TangentValue::field(std::uint32_t index, Emitter& code) const {
  if (index < fields_.size()) return fields_[index];
  if (!whole_ || is_unit(as<lang::TupleType>(whole_->type)->fields[index])) return {};
  return TangentValue(code.emit("d", build::project(whole_, index)));
}

Expr TangentValue::value(const Type& type, const Expr& primal, Emitter& code) const {
  if (whole_) return whole_;
  if (is_unit(type)) return build::tuple({});
  const auto* tuple = as<lang::TupleType>(type);
  if (!tuple || fields_.empty()) return code.emit("zero", zero_of(type, primal));
  std::vector<Expr> fields;
  for (std::uint32_t i = 0; i < tuple->fields.size(); ++i) {
    Expr part;
    if (!fields_[i].whole_ && needs_primal(tuple->fields[i]))
      part = code.emit("part", part_of(primal, i));
    fields.push_back(fields_[i].value(tuple->fields[i], part, code));
  }
  return code.emit("d", build::tuple(std::move(fields)));
}

}  // namespace relay::ad
