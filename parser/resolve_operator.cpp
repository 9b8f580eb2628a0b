// Calls of operators in the light notation: attributes by place, lists for tuples of tensors,
// inputs that are left out.

#include <algorithm>
#include <set>

#include "lang/call_form.h"
#include "parser/resolver.h"

namespace relay::parser {

using lang::AttrKind;
using lang::AttrSpec;
using lang::Expr;

namespace {

// Where an input has the value of an attribute, Relay's texts repeat it there; nobody writes it.
bool is_repeated(const lang::OpDef& op, const AttrSpec& spec) {
  return std::any_of(op.inputs.begin(), op.inputs.end(),
                     [&](const lang::InputSpec& input) { return input.attr == spec.name; });
}

// `max(1, 2)`: no axis of a number is meant.
bool has_no_axes(std::span<const Node* const> nodes, const AttrSpec& spec, const Node& value) {
  return spec.kind == AttrKind::IntOrIntList && value.kind == Syntax::Number &&
         nodes.front() != &value && nodes.front()->kind == Syntax::Number;
}

}  // namespace

// Without complaint: what fits nowhere is an argument too many, and inference says so.
bool Resolver::fits_attribute(const lang::OpDef& op, const AttrSpec& spec, const Node& value) {
  if (is_computed(op, spec.name, value)) return true;
  const bool is_dtype = value.kind == Syntax::Name && lang::parse_dtype(tree_.text(value));
  if (is_computed(value) && !is_dtype) return false;
  const std::size_t errors = errors_.size();
  const bool was_broken = item_is_broken_;
  const std::optional<lang::AttrValue> known = attribute_value(value);
  errors_.resize(errors);
  item_is_broken_ = was_broken;
  if (!known) return false;
  if (has_placeholder(*known)) return true;
  if (spec.kind == AttrKind::Bool) return known->as_bool() != nullptr;
  return known->is_null() ? spec.nullable : lang::coerce_attr(spec.kind, *known).has_value();
}

// What is given to an operator by place: attributes for nodes, null for those that are inputs.
struct Resolver::ByPlace {
  std::vector<const AttrSpec*> attrs;
  bool fit = true;  // else only its strings count
};

// The first `inputs` arguments are inputs, and what is over gives the attributes that have no name,
// in the order of the record. A string is no value: among the inputs it gives the next attribute of
// that kind.
Resolver::ByPlace Resolver::places_after(const lang::OpDef& op, std::size_t before,
                                         std::size_t inputs, std::span<const Node* const> nodes) {
  ByPlace places{std::vector<const AttrSpec*>(nodes.size())};
  std::set<std::string_view> named;
  std::set<std::string_view> given;
  for (const Node* node : nodes) {
    if (node->kind == Syntax::Attr) named.insert(tree_.text(*node->child(0)));
  }
  const auto next = [&](bool is_string) -> const AttrSpec* {
    const auto found = std::find_if(op.attrs.begin(), op.attrs.end(), [&](const AttrSpec& spec) {
      return !given.count(spec.name) && !is_repeated(op, spec) &&
             (!is_string || (spec.kind == AttrKind::String && !named.count(spec.name)));
    });
    return found == op.attrs.end() || named.count(found->name) ? nullptr : &*found;
  };
  std::size_t input = before;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = *nodes[i];
    if (node.kind == Syntax::Attr || is_meta_attrs(node)) continue;
    const bool is_string = node.kind == Syntax::String;
    if (input < inputs && !is_string) {
      ++input;
      continue;
    }
    const AttrSpec* spec = input < inputs ? nullptr : next(false);
    if (spec && !fits_attribute(op, *spec, node)) spec = nullptr;
    if (spec && has_no_axes(nodes, *spec, node)) spec = nullptr;
    if (!spec && is_string) spec = next(true);
    places.fit = places.fit && spec;
    if (spec) given.insert(spec->name);
    places.attrs[i] = spec;
  }
  return places;
}

// Is there an attribute that must be written, and is neither named nor at one of these places?
bool Resolver::lacks_attribute(const lang::OpDef& op, std::span<const Node* const> nodes,
                               const ByPlace& places) {
  return std::any_of(op.attrs.begin(), op.attrs.end(), [&](const AttrSpec& spec) {
    const auto is_it = [&](const Node* node) {
      return node->kind == Syntax::Attr && tree_.text(*node->child(0)) == spec.name;
    };
    const auto& attrs = places.attrs;
    return !lang::attr_default(op, spec) && std::none_of(nodes.begin(), nodes.end(), is_it) &&
           std::find(attrs.begin(), attrs.end(), &spec) == attrs.end();
  });
}

// The arguments are the inputs, all of them, and then attributes: either all of that fits, or none
// of it counts. Where inputs that have a default are not all there, or an attribute is missing, the
// inputs that have none may be all: `one_hot(x, 3)`, `random.uniform(key, [3])`.
std::vector<const AttrSpec*> Resolver::attributes_by_place(const lang::OpDef& op,
                                                           std::size_t before,
                                                           std::span<const Node* const> nodes) {
  std::size_t needed = 0;
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    needed += lang::input_form(op, i).default_value ? 0 : 1;
  const auto values =
      static_cast<std::size_t>(std::count_if(nodes.begin(), nodes.end(), [](const Node* node) {
        return node->kind != Syntax::Attr && node->kind != Syntax::String;
      }));
  ByPlace places = places_after(op, before, op.inputs.size(), nodes);
  if (needed < op.inputs.size() && before + values > needed &&
      (before + values < op.inputs.size() || lacks_attribute(op, nodes, places))) {
    ByPlace fewer = places_after(op, before, needed, nodes);
    if (fewer.fit) return std::move(fewer.attrs);
  }
  if (places.fit) return std::move(places.attrs);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i]->kind != Syntax::String) places.attrs[i] = nullptr;
  }
  return std::move(places.attrs);
}

Expr Resolver::argument(const lang::OpDef& op, std::size_t input, const Node& node) {
  const Node& list = inner(node);
  const bool is_tuple = lang::input_form(op, input).is_tuple;
  if (!is_tuple || list.kind != Syntax::List) return expr(node);
  std::vector<Expr> fields;
  for (const Node* child : list.children()) {
    if (child->kind != Syntax::Mark) fields.push_back(expr(*child));
  }
  return lang::make_tuple(std::move(fields), span(node));
}

void Resolver::add_defaults(const lang::OpDef& op, std::vector<Expr>& args, Span where) {
  const std::size_t inputs = op.inputs.size();
  if (args.size() >= inputs) return;
  std::vector<std::optional<lang::AttrValue>> defaults;
  for (std::size_t i = 0; i < inputs; ++i)
    defaults.push_back(lang::input_form(op, i).default_value);
  const auto needed = static_cast<std::size_t>(
      std::count_if(defaults.begin(), defaults.end(), [](const auto& value) { return !value; }));
  if (args.size() < needed) return;
  std::size_t over = args.size() - needed;
  std::vector<Expr> all;
  std::size_t next = 0;
  for (const std::optional<lang::AttrValue>& value : defaults) {
    const bool is_given = !value || over > 0;
    if (value && is_given) --over;
    all.push_back(is_given          ? args[next++]
                  : value->as_int() ? lang::make_literal(*value->as_int(), where)
                                    : lang::make_literal(*value->as_float(), where));
  }
  args = std::move(all);
}

bool Resolver::add_attr_defaults(const lang::OpDef& op, const std::vector<Computed>& computed,
                                 std::vector<lang::Attr>& attrs) {
  bool all = true;
  for (const AttrSpec& spec : op.attrs) {
    if (spec.default_value) continue;
    const auto is_it = [&](const auto& each) { return each.key == spec.name; };
    if (std::any_of(attrs.begin(), attrs.end(), is_it) ||
        std::any_of(computed.begin(), computed.end(), is_it))
      continue;
    const auto value = lang::attr_default(op, spec);
    all = all && value;
    if (value) attrs.push_back({spec.name, *value, {}});
  }
  return all;
}

void Resolver::add_float_forms(const lang::OpDef& op, std::vector<Expr>& args) {
  for (std::size_t i = 0; i < args.size() && i < op.inputs.size(); ++i) {
    if (!lang::input_form(op, i).as_float) continue;
    const Span where = args[i]->span;
    args[i] = operator_call("as_float", {std::move(args[i])}, {}, where);
  }
}

Expr Resolver::with_float_forms(Expr f) {
  const auto* op = lang::as<lang::Operator>(f);
  if (strict_ || !op || !lang::takes_floats(*op->op)) return f;
  std::vector<lang::VariableRef> params;
  std::vector<Expr> args;
  for (const lang::InputSpec& input : op->op->inputs) {
    params.push_back(lang::make_variable(input.name, nullptr));
    args.push_back(lang::make_var(params.back(), f->span));
  }
  add_float_forms(*op->op, args);
  const Span where = f->span;
  Expr body = lang::make_call(std::move(f), std::move(args), nullptr, where);
  return lang::make_function(std::move(params), nullptr, std::move(body), {}, nullptr, where);
}

}  // namespace relay::parser
