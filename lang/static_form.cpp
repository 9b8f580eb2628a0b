#include "lang/static_form.h"

#include <algorithm>

#include <fmt/format.h>

#include "lang/diagnostic.h"
#include "lang/op.h"

namespace relay::lang {

namespace {

// The elements from axis `axis` on, nested as the axes are.
AttrValue nested_attr(const Tensor& value, bool as_floats, std::size_t axis, std::int64_t first) {
  if (axis == value.rank()) {
    const double number = value.number_at(first);
    if (as_floats) return number;
    return is_float(value.dtype()) ? static_cast<std::int64_t>(number)
                                   : int_from_bits(value.dtype(), value.bits_at(first));
  }
  std::int64_t step = 1;
  for (std::size_t inner = axis + 1; inner < value.rank(); ++inner) step *= value.shape()[inner];
  AttrValue::List list;
  for (std::int64_t i = 0; i < value.shape()[axis]; ++i)
    list.push_back(nested_attr(value, as_floats, axis + 1, first + i * step));
  return AttrValue(std::move(list));
}

// A value as the attribute it stands for; one element serves as a number, and the reverse.
AttrValue static_attr_of(const Tensor& value, const AttrSpec& spec) {
  const bool as_floats =
      spec.kind == AttrKind::Float || spec.kind == AttrKind::FloatList ||
      (spec.kind == AttrKind::Any && value.rank() == 0 && is_float(value.dtype()));
  const bool is_number = spec.kind == AttrKind::Int || spec.kind == AttrKind::Float;
  AttrValue attr = nested_attr(value, as_floats, 0, 0);
  if (is_number && value.element_count() == 1)
    return nested_attr(value, as_floats, value.rank(), 0);
  const bool is_list = spec.kind == AttrKind::IntList || spec.kind == AttrKind::FloatList;
  if (is_list && value.rank() == 0) return AttrValue(AttrValue::List{attr});
  return attr;
}

}  // namespace

Expr static_call(const Call& call) {
  const OpDef& op = *cast<Operator>(call.callee).op;
  const OpDef& target = static_form_of(op);
  std::vector<Attr> attrs;
  const auto* result = as<TensorType>(call.type);
  for (const Attr& attr : call.attrs ? call.attrs->list : std::vector<Attr>()) {
    const bool is_known = std::any_of(target.attrs.begin(), target.attrs.end(),
                                      [&](const AttrSpec& spec) { return spec.name == attr.key; });
    if (!is_known) continue;
    const bool is_open_dtype = attr.key == "dtype" && attr.value.is_null() && result;
    attrs.push_back(is_open_dtype ? Attr{attr.key, result->dtype.known(), {}} : attr);
  }
  std::vector<Expr> args;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const std::string& key = op.inputs[i].attr;
    if (key.empty()) {
      args.push_back(call.args[i]);
      continue;
    }
    const auto* value = as<Constant>(call.args[i]);
    if (!value) {
      fail(DiagnosticKind::Unsupported,
           fmt::format("not supported: `{}` of `{}` computed inside a kernel", op.inputs[i].name,
                       op.name),
           call.args[i]->span);
    }
    const auto spec = std::find_if(target.attrs.begin(), target.attrs.end(),
                                   [&](const auto& candidate) { return candidate.name == key; });
    RELAY_CHECK(spec != target.attrs.end(), "an input sets an attribute that its operator has");
    std::erase_if(attrs, [&](const Attr& attr) { return attr.key == key; });
    attrs.push_back({key, static_attr_of(*value->value, *spec), {}});
  }
  return make_call(make_operator(&target, call.callee->span), std::move(args),
                   complete_attrs(target, make_attrs(std::move(attrs)), call.span), call.span);
}

}  // namespace relay::lang
