#include "lang/mistaken.h"

#include <fmt/format.h>

namespace relay::lang {
namespace {

bool is_key(const Type& type) {
  const auto* tensor = as<TensorType>(type);
  return tensor && tensor->dtype.is_known() && tensor->dtype.known() == DType::UInt64 &&
         tensor->shape.has_rank() && tensor->shape.rank() == 1;
}

bool is_drawn(const Type& type) {
  const auto* pair = as<TupleType>(type);
  return pair && pair->fields.size() == 2 && is_key(pair->fields[0]) &&
         pair->fields[1]->kind == TypeKind::Tensor && !is_key(pair->fields[1]);
}

}  // namespace

std::string help_for_mistaken(const Type& type, Span where) {
  constexpr std::size_t kLongest = 60;
  std::string_view value = where ? where.text() : "";
  if (value.empty() || value.size() > kLongest || value.find('\n') != std::string_view::npos)
    value = "…";
  if (type->kind == TypeKind::Reference)
    return fmt::format("help: what it refers to is `ref_read({})`", value);
  if (is_drawn(type))
    return fmt::format("help: random operators give the next key and what was drawn, here `{}.1`",
                       value);
  return "";
}

}  // namespace relay::lang
