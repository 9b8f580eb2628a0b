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

bool has_unknown_dims(const Type& type) {
  if (const auto* tuple = as<lang::TupleType>(type)) {
    for (const auto& field : tuple->fields) {
      if (has_unknown_dims(field)) return true;
    }
    return false;
  }
  const auto* tensor = as<TensorType>(type);
  if (!tensor || !tensor->shape.has_rank()) return true;
  for (const Dim& dim : tensor->shape.dims()) {
    if (dim.is_any()) return true;
  }
  return false;
}

namespace {

lang::AttrValue attr_of(const lang::Tensor& value, const lang::AttrSpec& spec) {
  std::vector<lang::AttrValue> elements;
  for (std::int64_t i = 0; i < value.element_count(); ++i) {
    if (lang::is_float(value.dtype())) {
      elements.emplace_back(value.number_at(i));
    } else {
      elements.emplace_back(lang::int_from_bits(value.dtype(), value.bits_at(i)));
    }
  }
  const bool is_list = spec.kind == lang::AttrKind::IntList ||
                       spec.kind == lang::AttrKind::FloatList ||
                       (spec.kind == lang::AttrKind::IntOrIntList && value.rank() > 0);
  if (is_list || elements.size() != 1) return lang::AttrValue(std::move(elements));
  return std::move(elements.front());
}

}  // namespace

Expr static_call(const lang::Call& call) {
  const lang::OpDef& op = *lang::cast<lang::Operator>(call.callee).op;
  const lang::OpDef& target = lang::OpRegistry::instance().get(op.static_form);
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
  bool is_known = known_result && is_concrete(known_result);
  for (const Expr& arg : call.args)
    is_known = is_known && arg->type && !has_unknown_dims(arg->type);
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
