// Attributes that are computed: `reshape(x, newshape=[n, 2])` is `dyn.reshape(x, [n, 2])`, for each
// operator that is the static form of another one with that attribute as an input.

#include <algorithm>

#include <fmt/format.h>

#include "parser/resolver.h"

namespace relay::parser {

using lang::Attr;
using lang::AttrValue;
using lang::DType;
using lang::Expr;

namespace {

const lang::InputSpec* input_for(const lang::OpDef& op, std::string_view key) {
  const auto found = std::find_if(op.inputs.begin(), op.inputs.end(),
                                  [&](const lang::InputSpec& input) { return input.attr == key; });
  return found == op.inputs.end() ? nullptr : &*found;
}

// The operator that `op` is the static form of, with all these attributes as inputs.
template <class Keys>
const lang::OpDef* dynamic_form(const lang::OpDef& op, const Keys& keys) {
  for (const lang::OpDef* candidate : lang::OpRegistry::instance().all()) {
    if (candidate->static_form != op.name) continue;
    if (std::all_of(keys.begin(), keys.end(),
                    [&](const auto& key) { return input_for(*candidate, key) != nullptr; }))
      return candidate;
  }
  return nullptr;
}

void collect(const AttrValue& value, std::vector<double>& numbers) {
  if (const AttrValue::List* list = value.as_list()) {
    for (const AttrValue& each : *list) collect(each, numbers);
  } else if (const double* real = value.as_float()) {
    numbers.push_back(*real);
  } else if (const std::int64_t* integer = value.as_int()) {
    numbers.push_back(static_cast<double>(*integer));
  }
}

// A written attribute as the input it stands for: integers as int64, a list of lists as a matrix.
// `None` is an empty vector.
Expr as_input(const AttrValue& value, bool is_float, lang::Span where) {
  std::vector<std::int64_t> shape;
  for (const AttrValue* at = &value; at->as_list(); at = &at->as_list()->front()) {
    shape.push_back(static_cast<std::int64_t>(at->as_list()->size()));
    if (at->as_list()->empty()) break;
  }
  if (value.is_null()) shape.push_back(0);
  std::vector<double> numbers;
  collect(value, numbers);
  const DType dtype = is_float ? DType::Float32 : DType::Int64;
  lang::TensorRef tensor = lang::Tensor::make(dtype, shape);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    tensor->set_bits(static_cast<std::int64_t>(i), lang::bits_from_double(dtype, numbers[i]));
  }
  return lang::make_constant(std::move(tensor), where);
}

}  // namespace

bool Resolver::is_computed(const lang::OpDef& op, std::string_view key, const Node& value) {
  const std::vector<std::string_view> keys = {key};
  return !strict_ && dynamic_form(op, keys) && is_computed(value);
}

bool Resolver::is_computed(const Node& value) {
  switch (value.kind) {
    case Syntax::String:
    case Syntax::Number:
    case Syntax::Meta:
    case Syntax::Mark:
      return false;
    case Syntax::Prefix:
      return value.last()->kind != Syntax::Number;
    case Syntax::Name: {
      const std::string_view name = tree_.text(value);
      return name != "True" && name != "False" && name != "None" && !attribute_parameter(value);
    }
    case Syntax::Parens:
    case Syntax::Tuple:
    case Syntax::List:
      return std::any_of(value.children().begin(), value.children().end(),
                         [&](const Node* child) { return is_computed(*child); });
    default:
      return true;
  }
}

Expr Resolver::computed_call(const lang::OpDef& op, std::vector<Expr> args, std::vector<Attr> attrs,
                             std::vector<Computed> computed, Span where) {
  std::vector<std::string> keys;
  for (const Computed& each : computed) keys.push_back(each.key);
  const lang::OpDef* form = dynamic_form(op, keys);
  if (!form) {
    report(Kind::BadAttribute,
           fmt::format("attributes of `{}` that are computed together with others", op.name),
           where);
    return lang::make_tuple({}, where);
  }
  std::vector<Expr> inputs;
  std::size_t next = 0;
  for (const lang::InputSpec& input : form->inputs) {
    const auto given = std::find_if(computed.begin(), computed.end(),
                                    [&](const Computed& each) { return each.key == input.attr; });
    if (input.attr.empty()) {
      if (next < args.size()) inputs.push_back(args[next++]);
    } else if (given != computed.end()) {
      inputs.push_back(given->value);
    } else {
      const auto written = std::find_if(attrs.begin(), attrs.end(),
                                        [&](const Attr& attr) { return attr.key == input.attr; });
      const auto spec =
          std::find_if(op.attrs.begin(), op.attrs.end(),
                       [&](const lang::AttrSpec& each) { return each.name == input.attr; });
      if (written == attrs.end() && (spec == op.attrs.end() || !spec->default_value)) {
        report(Kind::MissingAttribute, fmt::format("`{}` needs `{}` too", op.name, input.attr),
               where);
        return lang::make_tuple({}, where);
      }
      const bool is_float = spec != op.attrs.end() && (spec->kind == lang::AttrKind::Float ||
                                                       spec->kind == lang::AttrKind::FloatList);
      inputs.push_back(as_input(written == attrs.end() ? *spec->default_value : written->value,
                                is_float, where));
      if (written != attrs.end()) attrs.erase(written);
    }
  }
  while (next < args.size()) inputs.push_back(args[next++]);
  return lang::make_call(lang::make_operator(form, where), std::move(inputs),
                         attrs.empty() ? nullptr : lang::make_attrs(std::move(attrs)), where);
}

}  // namespace relay::parser
