// Parameters of a `def` that are attributes: its body uses them as values of attributes of
// operators. The core knows no such parameters; for each of their values there is a function of its
// own, an instance, made where the values are known.

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "lang/rewrite_rule.h"
#include "lang/visit.h"
#include "parser/resolver.h"

namespace relay::parser {

using lang::AttrsRef;
using lang::AttrValue;

namespace {

bool has_placeholder(const AttrsRef& attrs) {
  return attrs && std::any_of(attrs->list.begin(), attrs->list.end(), [](const lang::Attr& attr) {
           return parser::has_placeholder(attr.value);
         });
}

AttrValue filled(const AttrValue& value, const lang::Attrs& values) {
  return lang::with_parameters(value, [&](const std::string& name) { return *values.find(name); });
}

bool is_attribute_variable(const lang::VariableRef& variable) {
  return variable && lang::has_role(*variable, lang::kAttributeRole);
}

// The value of an attribute where a value of the language is needed; null if it is none.
lang::Expr as_value(const AttrValue& value, lang::Span where) {
  if (const bool* truth = value.as_bool())
    return lang::make_constant(lang::Tensor::scalar(lang::DType::Bool, *truth ? 1 : 0), where);
  if (const std::int64_t* integer = value.as_int()) return lang::make_literal(*integer, where);
  if (const double* real = value.as_float()) return lang::make_literal(*real, where);
  const AttrValue::List* list = value.as_list();
  if (!list) return nullptr;
  std::vector<lang::Expr> fields;
  for (const AttrValue& each : *list) {
    fields.push_back(as_value(each, where));
    if (!fields.back()) return nullptr;
  }
  return lang::make_tuple(std::move(fields), where);
}

bool list_mentions(const SyntaxTree& tree, const Node& value, std::string_view name) {
  if (value.kind == Syntax::Name) return tree.text(value) == name;
  const bool is_list =
      value.kind == Syntax::List || value.kind == Syntax::Tuple || value.kind == Syntax::Parens;
  return is_list &&
         std::any_of(value.children().begin(), value.children().end(),
                     [&](const Node* child) { return list_mentions(tree, *child, name); });
}

}  // namespace

bool has_placeholder(const AttrValue& value) {
  if (const AttrValue::List* list = value.as_list())
    return std::any_of(list->begin(), list->end(),
                       [](const AttrValue& each) { return has_placeholder(each); });
  return lang::attribute_parameter(value) != nullptr;
}

// The operator that the callee of a call names, if it does.
const lang::OpDef* Resolver::operator_called(const Node& callee) {
  const Symbol& symbol = symbols_.intern(dotted_text(callee));
  return is_own(symbol) || symbol.local ? nullptr : symbol.op;
}

bool Resolver::takes_attribute(const Node& callee, std::string_view key) {
  if (callee.kind != Syntax::Name && callee.kind != Syntax::Dotted) return false;
  const std::string_view text = dotted_text(callee);
  if (text.starts_with("prim.") || operator_called(callee)) return true;
  const Signature* known = signature(symbols_.intern(text));
  return known && known->is_attribute(key);
}

bool Resolver::takes_attribute(const Node& callee, std::size_t place) {
  if (callee.kind != Syntax::Name && callee.kind != Syntax::Dotted) return false;
  if (const lang::OpDef* op = operator_called(callee)) return place >= op->inputs.size();
  const Signature* known = signature(symbols_.intern(dotted_text(callee)));
  return known && place < known->parameters->list.size() &&
         known->parameters->list[place].attribute;
}

bool Resolver::is_used_as_attribute(const Node& node, std::string_view name, std::size_t before) {
  if (node.kind == Syntax::Call) {
    const Node& callee = inner(*node.child(0));
    std::size_t place = before;
    for (const Node* child : node.children().subspan(1)) {
      const bool is_named = child->kind == Syntax::Attr;
      const Node& value = is_named ? *child->child(1) : *child;
      if (list_mentions(tree_, value, name) &&
          (is_named ? takes_attribute(callee, tree_.text(*child->child(0)))
                    : takes_attribute(callee, place)))
        return true;
      if (!is_named) ++place;
    }
  }
  for (const Node* child : node.children()) {
    const bool is_step = node.kind == Syntax::Pipe && child == node.last();
    if (is_used_as_attribute(*child, name, is_step ? 1 : 0)) return true;
  }
  return false;
}

// A name as the value of an attribute, if it is a parameter that is one.
std::optional<AttrValue> Resolver::attribute_parameter(const Node& name) {
  if (strict_) return std::nullopt;
  const Symbol& symbol = symbols_.intern(tree_.text(name));
  if (is_in_rule_ && !symbol.local && symbol.type_param >= 0)
    return lang::parameter_attribute(std::string(symbol.text));
  if (!is_attribute_variable(symbol.local) && !named_steps_.contains(symbol.local.get()))
    return std::nullopt;
  note(NameKind::Local, span(name), symbol.text, symbol.local->span);
  return lang::parameter_attribute(symbol.local->name);
}

void Resolver::bind_attributes(const Signature& signature, Span where) {
  for (const lang::Parameter& parameter : signature.parameters->list) {
    if (!parameter.attribute) continue;
    const Span name = span_of_parameter(
        std::string_view(signature.full_name).substr(prefix_.size()), parameter.name);
    bind_local(parameter.name,
               lang::make_variable(
                   parameter.name, nullptr, name ? name : where,
                   lang::make_attrs({{std::string(lang::kAttributeRole), AttrValue(true)}})));
  }
}

AttrsRef Resolver::default_attributes(const Signature& signature) const {
  std::vector<lang::Attr> values;
  for (const lang::Parameter& parameter : signature.parameters->list) {
    if (parameter.attribute) values.push_back({parameter.name, *parameter.attribute});
  }
  return lang::make_attrs(std::move(values));
}

// The function's own name at the default values, else with the other values behind it.
std::string Resolver::instance_name(const Signature& signature, const AttrsRef& values) {
  const AttrsRef defaults = default_attributes(signature);
  std::string name = signature.full_name;
  for (std::size_t i = 0; i < values->list.size(); ++i) {
    if (values->list[i] == defaults->list[i]) continue;
    name += "." + values->list[i].key + "_";
    for (const char c : values->list[i].value.to_string()) {
      const bool is_word = std::isalnum(static_cast<unsigned char>(c)) != 0;
      name += is_word ? std::string(1, c) : c == '-' ? "m" : c == '.' ? "p" : "_";
    }
  }
  if (name == signature.full_name) return name;
  // Two values may look alike then.
  const auto is_other = [&](const std::string& text) {
    const auto made = instances_.find(text);
    if (made != instances_.end())
      return made->second.signature != &signature || !lang::equal(made->second.values, values);
    const lang::Definition* known = scope_.find(text);
    return known && (known->instance_of != signature.full_name ||
                     !lang::equal(known->instance_attrs, values));
  };
  std::string result = name;
  for (int i = 2; is_other(result); ++i) result = fmt::format("{}_{}", name, i);
  return result;
}

lang::Expr Resolver::instance_call(const Signature& signature, std::vector<Expr> args,
                                   AttrsRef values, Span callee, Span where) {
  if (has_placeholder(values)) {
    return lang::make_call(lang::make_global_var(signature.full_name, callee), std::move(args),
                           std::move(values), where);
  }
  std::string name = instance_name(signature, values);
  if (name != signature.full_name &&
      instances_.try_emplace(name, Instance{&signature, values}).second)
    instances_to_make_.push_back(name);
  return lang::make_call(lang::make_global_var(std::move(name), callee), std::move(args), nullptr,
                         where);
}

const Resolver::Signature* Resolver::signature_of_global(const std::string& full_name) {
  std::string_view text = full_name;
  if (text.starts_with(prefix_) && own_defs_.contains(text.substr(prefix_.size())))
    text.remove_prefix(prefix_.size());
  return signature(symbols_.intern(texts_.emplace_back(text)));
}

// The function with values for its attributes.
lang::Expr Resolver::instantiate(const Expr& general, const AttrsRef& values) {
  class Filler final : public lang::Rewriter {
   public:
    Filler(Resolver& resolver, const lang::Attrs& values) : resolver_(resolver), values_(values) {}

   protected:
    Expr post(const Expr& expr) override {
      if (const auto* var = lang::as<lang::Var>(expr);
          var && is_attribute_variable(var->variable)) {
        const AttrValue& value = *values_.find(var->variable->name);
        if (Expr known = as_value(value, expr->span)) return known;
        resolver_.report(Kind::BadAttribute,
                         fmt::format("`{}` is {} here, which is no value of the language",
                                     var->variable->name, value.to_string()),
                         expr->span);
        return lang::make_tuple({}, expr->span);
      }
      const auto* call = lang::as<lang::Call>(expr);
      if (!call || !has_placeholder(call->attrs)) return expr;
      std::vector<lang::Attr> attrs;
      for (const lang::Attr& attr : call->attrs->list)
        attrs.push_back({attr.key, filled(attr.value, values_), attr.span});
      const auto* global = lang::as<lang::GlobalVar>(call->callee);
      const Signature* known = global ? resolver_.signature_of_global(global->name) : nullptr;
      if (known) {
        return resolver_.instance_call(*known, call->args, lang::make_attrs(std::move(attrs)),
                                       call->callee->span, expr->span);
      }
      return lang::make_call(call->callee, call->args, lang::make_attrs(std::move(attrs)),
                             expr->span, expr->type);
    }

   private:
    Resolver& resolver_;
    const lang::Attrs& values_;
  };
  return Filler(*this, *values).rewrite(general);
}

// Definitions that call instances of an earlier function of this name mean this one from now on.
void Resolver::renew_instances(const Signature& signature) {
  const AttrsRef defaults = default_attributes(signature);
  for (const lang::Definition* known : scope_.definitions()) {
    if (known->instance_of != signature.full_name) continue;
    const std::vector<lang::Attr>& attrs = known->instance_attrs->list;
    const bool fits =
        std::equal(attrs.begin(), attrs.end(), defaults->list.begin(), defaults->list.end(),
                   [](const lang::Attr& a, const lang::Attr& b) { return a.key == b.key; });
    if (fits &&
        instances_.try_emplace(known->name, Instance{&signature, known->instance_attrs}).second)
      instances_to_make_.push_back(known->name);
  }
}

namespace {

// Instances, which are the last, come to stand behind the function of which they are; in front of
// all where that is not here.
void put_behind_owners(std::vector<Item>& items) {
  std::unordered_map<std::string, std::size_t> places;  // of functions
  std::vector<std::pair<std::size_t, std::size_t>> order;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool is_instance = !items[i].instance_of.empty();
    if (!is_instance && items[i].kind == ItemKind::Def) places.emplace(items[i].name, i + 1);
    const auto owner = places.find(items[i].instance_of);
    order.emplace_back(!is_instance ? i + 1 : owner == places.end() ? 0 : owner->second, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<Item> sorted;
  for (const auto& [place, i] : order) sorted.push_back(std::move(items[i]));
  items = std::move(sorted);
}

}  // namespace

// One may need another.
void Resolver::make_instances(Parsed& parsed) {
  for (std::size_t i = 0; i < instances_to_make_.size(); ++i) {
    const std::string name = instances_to_make_[i];
    const auto [signature, values] = instances_.at(name);
    const lang::Parameters& parameters = *signature->parameters;
    const lang::Definition* known = scope_.find(name);
    const bool is_there = known && known->parameters == signature->parameters;
    if (is_there || !parameters.general) continue;
    Item item{};
    item.kind = ItemKind::Def;
    item.name = name;
    item.instance_of = signature->full_name;
    item.instance_attrs = values;
    item.parameters = signature->parameters;
    item.span = parameters.general->span;
    item_is_broken_ = false;
    item.expr = instantiate(parameters.general, values);
    if (item_is_broken_) continue;
    if (parameters.general_gradient) {
      Item gradient{};
      gradient.kind = ItemKind::Def;
      gradient.name = name + "." + std::string(lang::kGradientAttr);
      gradient.instance_of = signature->full_name;
      gradient.instance_attrs = values;
      gradient.span = parameters.general_gradient->span;
      gradient.expr = instantiate(parameters.general_gradient, values);
      item.expr = lang::with_gradient(item.expr, gradient.name);
      parsed.items.push_back(std::move(item));
      parsed.items.push_back(std::move(gradient));
    } else {
      parsed.items.push_back(std::move(item));
    }
  }
  if (!instances_to_make_.empty()) put_behind_owners(parsed.items);
}

}  // namespace relay::parser
