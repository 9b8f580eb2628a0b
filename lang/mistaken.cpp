#include "lang/mistaken.h"

#include <algorithm>

#include <fmt/format.h>

#include "lang/call_form.h"
#include "lang/familiar_names.h"
#include "lang/op.h"

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

std::string help_for_member(std::string_view member, Span value) {
  constexpr std::size_t kLongest = 32;
  const std::string_view text = value ? value.text() : "";
  if (text.empty() || text.size() > kLongest || text.find('\n') != std::string_view::npos)
    return "";
  if (member == "shape")
    return fmt::format(
        "help: `shape_of({0})` has the extents, and one of them is `dim_of({0}, axis=0)`", text);
  const OpDef* op = OpRegistry::instance().find(member);
  const FamiliarName* familiar = op ? nullptr : find_familiar(member);
  if (familiar) op = OpRegistry::instance().find(familiar->ours);
  if (member == "T") op = OpRegistry::instance().find("transpose");
  if (!op) return familiar ? std::string(familiar->help) : "";
  const bool needs_more = op->inputs.size() > 1 || std::any_of(op->attrs.begin(), op->attrs.end(),
                                                               [&](const AttrSpec& attr) {
                                                                 return !attr_default(*op, attr);
                                                               });
  return fmt::format("help: `{}({}{})`", op->name, text, needs_more ? ", …" : "");
}

}  // namespace relay::lang
