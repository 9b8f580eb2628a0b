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

// The arguments are the inputs, all of them, and what is over gives the attributes that have no
// name, in the order of the record. Either all of that fits, or none of it counts. A string is no
// value: among the inputs it gives the next attribute of that kind.
std::vector<const AttrSpec*> Resolver::attributes_by_place(const lang::OpDef& op,
                                                           std::size_t before,
                                                           std::span<const Node* const> nodes) {
  std::vector<const AttrSpec*> places(nodes.size());
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
  bool fit = true;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = *nodes[i];
    if (node.kind == Syntax::Attr || is_meta_attrs(node)) continue;
    const bool is_string = node.kind == Syntax::String;
    if (input < op.inputs.size() && !is_string) {
      ++input;
      continue;
    }
    const AttrSpec* spec = input < op.inputs.size() ? nullptr : next(false);
    if (spec && !fits_attribute(op, *spec, node)) spec = nullptr;
    if (spec && has_no_axes(nodes, *spec, node)) spec = nullptr;
    if (!spec && is_string) spec = next(true);
    fit = fit && spec;
    if (spec) given.insert(spec->name);
    places[i] = spec;
  }
  if (fit) return places;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i]->kind != Syntax::String) places[i] = nullptr;
  }
  return places;
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
  std::vector<std::optional<std::int64_t>> defaults;
  for (std::size_t i = 0; i < inputs; ++i)
    defaults.push_back(lang::input_form(op, i).default_value);
  const auto needed =
      static_cast<std::size_t>(std::count(defaults.begin(), defaults.end(), std::nullopt));
  if (args.size() < needed) return;
  std::size_t over = args.size() - needed;
  std::vector<Expr> all;
  std::size_t next = 0;
  for (const std::optional<std::int64_t>& value : defaults) {
    const bool is_given = !value || over > 0;
    if (value && is_given) --over;
    all.push_back(is_given ? args[next++] : lang::make_literal(*value, where));
  }
  args = std::move(all);
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
