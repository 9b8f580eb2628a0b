#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/derivative.h"
#include "lang/record.h"
#include "lang/tree_form.h"
#include "parser/resolver.h"
#include "parser/scan.h"
#include "parser/strings.h"

namespace relay::parser {

using lang::Attr;
using lang::AttrValue;
using lang::Diagnostic;
using lang::DiagnosticKind;

lang::Expr Resolver::operator_call(std::string_view name, std::vector<Expr> args,
                                   std::vector<Attr> attrs, Span where) {
  const Symbol& symbol = symbols_.intern(name);
  if (!symbol.op) {
    report(Kind::Unsupported, fmt::format("not supported: this needs operator `{}`", name), where);
    return lang::make_tuple({}, where);
  }
  lang::AttrsRef list = attrs.empty() ? nullptr : lang::make_attrs(std::move(attrs));
  return lang::make_call(lang::make_operator(symbol.op, where), std::move(args), std::move(list),
                         where);
}

lang::Expr Resolver::call(const Node& node) {
  return apply(*node.child(0), {}, node.children().subspan(1), span(node));
}

// `x |> f(a)` is `f(x, a)`; any other function is called with `x` alone.
lang::Expr Resolver::pipe(const Node& node) {
  // A long pipe is a loop: its steps nest to the left.
  std::vector<const Node*> steps;
  const Node* at = &node;
  for (; at->kind == Syntax::Pipe; at = at->child(0)) steps.push_back(at);
  const Node& first = *steps.back()->child(1);
  const Node& callee = inner(first.kind == Syntax::Call ? *first.child(0) : first);
  const bool is_name = callee.kind == Syntax::Name || callee.kind == Syntax::Dotted;
  const lang::OpDef* op = is_name && !strict_ ? operator_called(callee) : nullptr;
  Expr value = op ? argument(*op, 0, *at) : expr(*at);
  for (; !steps.empty(); steps.pop_back()) {
    const Node& target = *steps.back()->child(1);
    std::vector<Expr> before;
    before.push_back(std::move(value));
    const Span where = span(*steps.back());
    value = target.kind == Syntax::Call
                ? apply(*target.child(0), std::move(before), target.children().subspan(1), where)
                : apply(target, std::move(before), {}, where);
  }
  return value;
}

namespace {

// The fields of an attribute structure as attributes of a call of what is no operator: there the
// text says which structure it is.
std::vector<Attr> attrs_with_key(const lang::AttrObject& object, lang::Span where) {
  std::vector<Attr> attrs = object.fields;
  for (Attr& attr : attrs) attr.span = where;
  attrs.push_back({"attrs_type_key", object.type_key, where});
  return attrs;
}

}  // namespace

lang::Expr Resolver::apply(const Node& callee_node, std::vector<Expr> before,
                           std::span<const Node* const> nodes, Span where) {
  const Node& stripped = inner(callee_node);
  if (stripped.kind == Syntax::Name || stripped.kind == Syntax::Dotted) {
    if (std::optional<Expr> special = special_form(stripped, before, nodes, where))
      return std::move(*special);
  }
  Expr callee = stripped.kind == Syntax::Name ? name(stripped) : expr(callee_node);
  const lang::Operator* op = lang::as<lang::Operator>(callee);
  if (!strict_ && callee->kind == lang::ExprKind::ConstructorRef &&
      std::any_of(nodes.begin(), nodes.end(),
                  [](const Node* node) { return node->kind == Syntax::Attr; }))
    return record_call(callee, std::move(before), nodes, where);
  if (std::optional<Expr> named = named_call(stripped, callee, before, nodes, where))
    return std::move(*named);
  if (std::optional<Expr> derivative = derivative_call(callee, before, nodes, where))
    return std::move(*derivative);
  std::vector<Expr> args = std::move(before);
  std::vector<Attr> attrs;
  std::vector<Computed> computed;
  bool has_type_key = false;
  Span first_attr;
  const bool is_light_operator = op && !strict_;
  const auto by_place = is_light_operator ? attributes_by_place(*op->op, args.size(), nodes)
                                          : std::vector<const lang::AttrSpec*>(nodes.size());
  const auto compute = [&](std::string_view key, const Node& value) {
    if (!op || !is_computed(*op->op, key, value)) return false;
    computed.push_back({std::string(key), expr(value)});
    return true;
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node* node = nodes[i];
    if (node->kind == Syntax::Attr) {
      if (!first_attr) first_attr = span(*node);
      if (op && repeats_input(*op->op, *node)) continue;
      if (compute(tree_.text(*node->child(0)), *node->child(1))) continue;
      Attr attr = attribute(*node);
      const bool is_type_key = attr.key == "attrs_type_key";
      has_type_key |= is_type_key;
      if (!(is_type_key && op))
        attrs.push_back(std::move(attr));  // a record says which attributes it has
      continue;
    }
    if (first_attr)
      report(Kind::SyntaxError, "an argument stands after the attributes", span(*node));
    if (is_meta_attrs(*node)) {
      first_attr = span(*node);
      has_type_key = true;
      const std::optional<AttrValue> value = meta_value(*node);
      if (const lang::AttrObject* object = value ? value->as_object() : nullptr)
        attrs =
            op ? attributes_of(*op->op, *object, first_attr) : attrs_with_key(*object, first_attr);
      continue;
    }
    if (by_place[i]) {
      if (!compute(by_place[i]->name, *node))
        attrs.push_back({by_place[i]->name, *attribute_value(*node), span(*node)});
      continue;
    }
    args.push_back(is_light_operator ? argument(*op->op, args.size(), *node) : expr(*node));
  }
  if (const auto* ref = lang::as<lang::ConstructorRef>(callee)) {
    if (first_attr) {
      report(Kind::UnknownAttribute, "a call of a constructor takes no attributes", first_attr);
      return lang::make_tuple({}, where);
    }
    if (args.empty() && ref->constructor->fields.empty()) return callee;
  } else if (op) {
    const auto& inputs = op->op->inputs;
    if (is_light_operator && !is_in_pattern_) {
      // Where an attribute is missing too, it is the arguments that inference speaks of.
      if (add_attr_defaults(*op->op, computed, attrs)) add_defaults(*op->op, args, where);
      add_float_forms(*op->op, args);
    }
    while (!is_in_pattern_ && args.size() < inputs.size() && inputs[args.size()].is_optional)
      args.push_back(lang::make_tuple({}, where));
  } else if (first_attr && !has_type_key && !is_in_pattern_) {
    report(Kind::UnknownAttribute, "a call of a function takes no attributes", first_attr);
  }
  if (!computed.empty())
    return computed_call(*op->op, std::move(args), std::move(attrs), std::move(computed), where);
  lang::AttrsRef list = attrs.empty() ? nullptr : lang::make_attrs(std::move(attrs));
  return lang::make_call(std::move(callee), std::move(args), std::move(list), where);
}

// Of a function that stands there, or is known by its name.
std::optional<std::size_t> Resolver::param_count(const Node& node) {
  if (node.kind == Syntax::Function) return node.find(Syntax::Params)->children().size();
  if (node.kind != Syntax::Name && node.kind != Syntax::Dotted) return std::nullopt;
  if (const lang::OpDef* op = operator_called(node)) return op->inputs.size();
  const Symbol& symbol = symbols_.intern(dotted_text(node));
  const Signature* known = symbol.local ? nullptr : signature(symbol);
  return known ? std::optional(known->parameters->list.size()) : std::nullopt;
}

// `3.0 |> grad(f)` and `grad(f, 3.0)` mean the derivative of `f` at 3.0.
void Resolver::help_with_arguments(Diagnostic& diagnostic, std::string_view form,
                                   const std::vector<Expr>& before,
                                   std::span<const Node* const> nodes) {
  std::string args;
  const auto add = [&](std::string_view text) {
    args += fmt::format("{}{}", args.empty() ? "" : ", ", text);
  };
  for (const Expr& arg : before) {
    if (!arg->span) return;
    add(arg->span.text());
  }
  const bool is_reversed = !before.empty() && (before.front()->kind == lang::ExprKind::Function ||
                                               before.front()->kind == lang::ExprKind::Operator);
  if (nodes.empty() || nodes[0]->kind == Syntax::Attr || is_reversed) return;
  for (const Node* node : nodes.subspan(1))
    add(tree_.text(node->kind == Syntax::Attr ? *node->child(1) : *node));
  if (args.find('\n') != std::string::npos) return;
  const std::string_view function = tree_.text(*nodes[0]);
  const std::optional<std::size_t> count = param_count(inner(*nodes[0]));
  const bool is_digit = args.size() == 1 && grammar::is_digit(args[0]);
  // `grad(f, 1)` is by the second parameter elsewhere.
  if (form == "grad" && before.empty() && is_digit &&
      (count != 1 || nodes[1]->kind == Syntax::Attr)) {
    const bool is_place =
        !count || (*count > 1 && static_cast<std::size_t>(args[0] - '0') < *count);
    const std::string of_place = fmt::format(
        "{}, of which `.{}` is one", count ? ": a tuple" : "; of several it is a tuple", args);
    diagnostic.note(fmt::format("help: `grad({})(…)` is by all parameters{}", function,
                                is_place ? of_place : ""));
    return;
  }
  const bool wants_direction =
      (form == "jvp" || form == "hvp") && before.size() + nodes.size() == 2;
  diagnostic.note(fmt::format("help: the derivative is a function{}: `{}({})({}{})`",
                              wants_direction ? " of arguments and directions" : "", form, function,
                              args, wants_direction ? ", dx" : ""));
}

// `grad(f)` and its kin, `dim(n + 1)`, `prim.add(a, b)`: unless the name means something else here.
std::optional<lang::Expr> Resolver::special_form(const Node& callee,
                                                 const std::vector<Expr>& before,
                                                 std::span<const Node* const> nodes, Span where) {
  const std::string_view text = dotted_text(callee);
  if (callee.kind == Syntax::Dotted) {
    if (const lang::OpDef* form = lang::find_record_form(text))
      return printed_form(*form, nodes, where);
    if (!text.starts_with("prim.") || (!strict_ && symbols_.intern("prim").local))
      return std::nullopt;
    return primitive(text.substr(5), nodes, where);
  }
  const lang::OpDef* tree_form = lang::find_tree_form(text);
  const std::optional<lang::DiffMode> mode = lang::parse_diff_mode(text);
  if (!mode && !tree_form && text != "dim") return std::nullopt;
  Symbol& symbol = symbols_.intern(text);
  const bool has_meaning = symbol.constructor() || symbol.op ||
                           (!strict_ && (symbol.local || (symbol.own_global && !is_ahead(symbol)) ||
                                         symbol.outer_global));
  if (has_meaning) return std::nullopt;
  if (tree_form) {
    std::vector<Expr> args = before;
    for (const Node* node : nodes) {
      if (node->kind == Syntax::Attr)
        report(Kind::UnknownAttribute, fmt::format("`{}` takes no attributes", text), span(*node));
      else
        args.push_back(expr(*node));
    }
    return lang::make_call(lang::make_operator(tree_form, span(callee)), std::move(args), nullptr,
                           where);
  }
  const bool has_attr = std::any_of(nodes.begin(), nodes.end(),
                                    [](const Node* node) { return node->kind == Syntax::Attr; });
  if (mode && lang::takes_arguments(*mode) && before.size() + nodes.size() > 1 &&
      (!before.empty() || nodes[0]->kind != Syntax::Attr)) {
    std::vector<Expr> args = before;
    if (args.empty()) {
      args.push_back(expr(*nodes[0]));
      nodes = nodes.subspan(1);
    }
    Expr form = lang::make_differentiate(*mode, args.front(), where);
    args.erase(args.begin());
    if (std::optional<Expr> derivative = derivative_call(form, args, nodes, where))
      return std::move(*derivative);
    for (const Node* node : nodes) {
      if (node->kind == Syntax::Attr)
        report(Kind::UnknownAttribute, "a call of a function takes no attributes", span(*node));
      else
        args.push_back(expr(*node));
    }
    return lang::make_call(std::move(form), std::move(args), nullptr, where);
  }
  if (before.size() + nodes.size() != 1 || has_attr) {
    Diagnostic diagnostic(
        Kind::WrongArity,
        fmt::format(
            "`{}` takes {}, but {} given", text,
            mode && lang::takes_arguments(*mode) ? "a function and its arguments" : "one argument",
            before.size() + nodes.size() == 1
                ? "an attribute is"
                : fmt::format("{} are", before.size() + nodes.size())),
        where);
    if (mode) help_with_arguments(diagnostic, text, before, nodes);
    report(std::move(diagnostic));
    return lang::make_tuple({}, where);
  }
  if (text == "dim") {
    if (nodes.empty()) {
      report(Kind::SyntaxError, "`dim` takes a dimension, not a value", where);
      return lang::make_tuple({}, where);
    }
    return lang::make_dim_term(dim(*nodes[0]), where);
  }
  Expr fn = nodes.empty() ? before[0] : expr(*nodes[0]);
  return lang::make_differentiate(*mode, std::move(fn), where);
}

// Reports operands whose dtypes are known (from literals and annotations) and do not fit.
bool Resolver::check_operands(std::string_view name, lang::Prim prim, const std::vector<Expr>& args,
                              Span where) {
  const auto dtype_of = [](const Expr& arg) -> std::optional<lang::DType> {
    const auto* tensor = lang::as<lang::TensorType>(arg->type);
    return tensor && tensor->dtype.is_known() ? std::optional(tensor->dtype.known()) : std::nullopt;
  };
  const std::optional<lang::DType> last = dtype_of(args.back());
  for (std::size_t i = prim == lang::Prim::Select ? 1 : 0; last && i < args.size(); ++i) {
    if (!args[i]->type) continue;
    const std::optional<lang::DType> each = dtype_of(args[i]);
    if (each == last && lang::accepts(lang::info(prim).operands, *each)) continue;
    report(Kind::DTypeMismatch,
           each == last ? fmt::format("`prim.{}` takes no {}", name, lang::name_of(*each))
                        : fmt::format("operands of `prim.{}` are {} and {}", name,
                                      lang::to_string(args[i]->type), lang::name_of(*last)),
           where);
    return false;
  }
  return true;
}

lang::Expr Resolver::primitive(std::string_view name, std::span<const Node* const> nodes,
                               Span where) {
  const std::optional<lang::Prim> prim = lang::parse_prim(name);
  if (!prim) {
    report(Kind::UnknownName, fmt::format("unknown primitive `prim.{}`", name), where);
    return lang::make_tuple({}, where);
  }
  std::vector<Expr> args;
  std::optional<lang::DType> dtype;
  for (const Node* node : nodes) {
    if (node->kind != Syntax::Attr) {
      args.push_back(expr(*node));
      continue;
    }
    const Attr attr = attribute(*node);
    if (attr.key == "dtype") {
      if (const std::string* text = attr.value.as_string()) dtype = lang::parse_dtype(*text);
      if (const lang::DType* known = attr.value.as_dtype()) dtype = *known;
    }
    if (!dtype || *prim != lang::Prim::Cast) {
      report(Kind::UnknownAttribute, fmt::format("`prim.{}` has no such attribute", name),
             attr.span);
      return lang::make_tuple({}, where);
    }
  }
  const lang::PrimInfo& facts = lang::info(*prim);
  if (args.size() != facts.arity) {
    report(Kind::WrongArity,
           fmt::format("`prim.{}` takes {} argument{}, but {} given", name, facts.arity,
                       facts.arity == 1 ? "" : "s",
                       args.size() == 1 ? "1 is" : fmt::format("{} are", args.size())),
           where);
    return lang::make_tuple({}, where);
  }
  if (*prim == lang::Prim::Cast && !dtype) {
    report(Kind::MissingAttribute, "`prim.cast` needs a dtype, as in `dtype=\"float32\"`", where);
    return lang::make_tuple({}, where);
  }
  if (!check_operands(name, *prim, args, where)) return lang::make_tuple({}, where);
  return lang::make_primitive(*prim, std::move(args), where,
                              dtype ? lang::scalar_type(*dtype) : nullptr);
}

// --- Attributes ---

lang::Attr Resolver::attribute(const Node& node) {
  const Node& key = *node.child(0);
  const Node& value = *node.child(1);
  Attr attr{std::string(tree_.text(key)), {}, span(node)};
  if (std::optional<AttrValue> known = attribute_value(value)) attr.value = std::move(*known);
  return attr;
}

// Where an input stands for an attribute, Relay's texts write the attribute too: as a reference to
// the input's expression.
bool Resolver::repeats_input(const lang::OpDef& op, const Node& attribute) const {
  if (attribute.child(1)->kind != Syntax::Meta) return false;
  const std::string_view key = tree_.text(*attribute.child(0));
  return std::any_of(op.inputs.begin(), op.inputs.end(),
                     [&](const lang::InputSpec& input) { return input.attr == key; });
}

// The value, or nothing with an error reported.
std::optional<lang::AttrValue> Resolver::attribute_value(const Node& node) {
  switch (node.kind) {
    case Syntax::String:
      return AttrValue(read_string(tree_.text(node), strict_));
    case Syntax::Parens:
      return attribute_value(*node.child(0));
    case Syntax::Number:
    case Syntax::Prefix: {
      const bool negative = node.kind == Syntax::Prefix;
      const Node& digits = negative ? *node.last() : node;
      if (digits.kind != Syntax::Number ||
          (negative && (node.count != 2 || tree_.text(*node.child(0)) != "-")))
        break;
      try {
        const NumberValue value = read_number(tree_.text(digits), negative, strict_, span(node));
        return value.is_float ? AttrValue(value.real) : AttrValue(value.integer);
      } catch (lang::Failure& failure) {
        report(std::move(failure.diagnostics.front()));
        return std::nullopt;
      }
    }
    case Syntax::Name: {
      const std::string_view text = tree_.text(node);
      if (text == "True" || text == "False") return AttrValue(text == "True");
      if (text == "None" || text == "nullptr") return AttrValue();
      if (auto parameter = attribute_parameter(node)) return parameter;
      const auto dtype = lang::parse_dtype(text);
      if (dtype && !strict_) return AttrValue(*dtype);
      if (dtype) {
        Diagnostic diagnostic(DiagnosticKind::BadAttribute,
                              "in strict text a dtype is written as a string", span(node));
        diagnostic.note(fmt::format("help: `\"{}\"`", text));
        report(std::move(diagnostic));
        return std::nullopt;
      }
      break;
    }
    case Syntax::Tuple:
    case Syntax::List: {
      if (strict_ && node.kind == Syntax::Tuple) {
        Diagnostic diagnostic(DiagnosticKind::BadAttribute, "a tuple is no value of an attribute",
                              span(node));
        diagnostic.note("help: write a list, as in `[1, 2]`");
        report(std::move(diagnostic));
        return std::nullopt;
      }
      AttrValue::List list;
      for (const Node* child : node.children()) {
        if (child->kind == Syntax::Mark) continue;
        std::optional<AttrValue> element = attribute_value(*child);
        if (!element) return std::nullopt;
        list.push_back(std::move(*element));
      }
      return AttrValue(std::move(list));
    }
    case Syntax::Meta:
      return meta_value(node);
    default:
      break;
  }
  Diagnostic diagnostic(
      DiagnosticKind::BadAttribute,
      "the value of an attribute is a number, a string, a list, `True`, `False` or `None`",
      span(node));
  const bool is_local =
      !strict_ && node.kind == Syntax::Name && symbols_.intern(tree_.text(node)).local;
  if (is_local && is_in_rule_) {
    diagnostic.note(fmt::format(
        "help: write `{0}` as an attribute in the pattern, too, or name a step of it by "
        "`let` for `like={0}`",
        tree_.text(node)));
  } else if (is_local) {
    diagnostic.note(
        fmt::format("help: a parameter of a `def` that has a default value may stand "
                    "here, as in `def f(x, {} = 0)`",
                    tree_.text(node)));
  }
  report(std::move(diagnostic));
  return std::nullopt;
}

}  // namespace relay::parser
