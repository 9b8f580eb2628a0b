#include <algorithm>

#include <fmt/format.h>

#include "loops/expand.h"

namespace relay::loops {

using lang::as;
using lang::Dim;
using lang::Expr;
using lang::TensorType;
using lang::Type;

bool is_concrete(const Type& type) {
  if (const auto* tuple = as<lang::TupleType>(type)) {
    for (const auto& field : tuple->fields) {
      if (!is_concrete(field)) return false;
    }
    return true;
  }
  const auto* tensor = as<TensorType>(type);
  if (!tensor || !tensor->shape.has_rank() || !tensor->dtype.is_known()) return false;
  for (const Dim& dim : tensor->shape.dims()) {
    if (!dim.is_constant()) return false;
  }
  return true;
}

namespace {

// The elements from axis `axis` on, nested as the axes are.
lang::AttrValue nested(const lang::Tensor& value, bool as_floats, std::size_t axis,
                       std::int64_t first) {
  if (axis == value.rank()) {
    const double number = value.number_at(first);
    if (as_floats) return number;
    return lang::is_float(value.dtype()) ? static_cast<std::int64_t>(number)
                                         : lang::int_from_bits(value.dtype(), value.bits_at(first));
  }
  std::int64_t step = 1;
  for (std::size_t inner = axis + 1; inner < value.rank(); ++inner) step *= value.shape()[inner];
  lang::AttrValue::List list;
  for (std::int64_t i = 0; i < value.shape()[axis]; ++i)
    list.push_back(nested(value, as_floats, axis + 1, first + i * step));
  return lang::AttrValue(std::move(list));
}

// A value as the attribute it stands for; one element serves as a number, and the reverse.
lang::AttrValue attr_of(const lang::Tensor& value, const lang::AttrSpec& spec) {
  using lang::AttrKind;
  const bool as_floats =
      spec.kind == AttrKind::Float || spec.kind == AttrKind::FloatList ||
      (spec.kind == AttrKind::Any && value.rank() == 0 && lang::is_float(value.dtype()));
  const bool is_number = spec.kind == AttrKind::Int || spec.kind == AttrKind::Float;
  lang::AttrValue attr = nested(value, as_floats, 0, 0);
  if (is_number && value.element_count() == 1) return nested(value, as_floats, value.rank(), 0);
  const bool is_list = spec.kind == AttrKind::IntList || spec.kind == AttrKind::FloatList;
  if (is_list && value.rank() == 0) return lang::AttrValue(lang::AttrValue::List{attr});
  return attr;
}

}  // namespace

Expr static_call(const lang::Call& call) {
  const lang::OpDef& op = *lang::cast<lang::Operator>(call.callee).op;
  const lang::OpDef& target = lang::static_form_of(op);
  std::vector<lang::Attr> attrs;
  const auto* result = as<TensorType>(call.type);
  for (const lang::Attr& attr : call.attrs ? call.attrs->list : std::vector<lang::Attr>()) {
    const bool is_known =
        std::any_of(target.attrs.begin(), target.attrs.end(),
                    [&](const lang::AttrSpec& spec) { return spec.name == attr.key; });
    if (!is_known) continue;
    const bool is_open_dtype = attr.key == "dtype" && attr.value.is_null() && result;
    attrs.push_back(is_open_dtype ? lang::Attr{attr.key, result->dtype.known(), {}} : attr);
  }
  std::vector<Expr> args;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const std::string& key = op.inputs[i].attr;
    if (key.empty()) {
      args.push_back(call.args[i]);
      continue;
    }
    const auto* value = as<lang::Constant>(call.args[i]);
    if (!value) {
      lang::fail(lang::DiagnosticKind::Unsupported,
                 fmt::format("not supported: `{}` of `{}` computed inside a kernel",
                             op.inputs[i].name, op.name),
                 call.args[i]->span);
    }
    const auto spec = std::find_if(target.attrs.begin(), target.attrs.end(),
                                   [&](const auto& candidate) { return candidate.name == key; });
    RELAY_CHECK(spec != target.attrs.end(), "an input sets an attribute that its operator has");
    std::erase_if(attrs, [&](const lang::Attr& attr) { return attr.key == key; });
    attrs.push_back({key, attr_of(*value->value, *spec), {}});
  }
  return lang::make_call(
      lang::make_operator(&target, call.callee->span), std::move(args),
      lang::complete_attrs(target, lang::make_attrs(std::move(attrs)), call.span), call.span);
}

Expr expand_operator(const lang::Call& call, std::vector<Expr> args, const Type& known_result) {
  const lang::OpDef& op = *lang::cast<lang::Operator>(call.callee).op;
  // Of scalars there is nothing that only running knows.
  const bool is_known = known_result && lang::is_scalar(known_result) &&
                        std::all_of(args.begin(), args.end(),
                                    [](const Expr& arg) { return lang::is_scalar(arg->type); });
  lang::AttrsRef attrs = call.attrs ? call.attrs : lang::complete_attrs(op, nullptr, call.span);
  Type result = known_result;
  if (!is_known) {
    std::vector<Type> types;
    for (const Expr& arg : args) types.push_back(arg->type);
    result = lang::ground_result_type(op, types, attrs, call.span);
  }
  return op.definition({std::move(args), std::move(attrs), std::move(result)});
}

}  // namespace relay::loops
