#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lang/infix.h"
#include "lang/short_circuit.h"
#include "lang/stop.h"
#include "parser/builder.h"
#include "parser/resolver.h"

namespace relay::parser {

using lang::Diagnostic;
using lang::DiagnosticKind;
using lang::Failure;
using lang::VariableRef;

lang::Expr Resolver::expr(const Node& node) {
  lang::poll();
  switch (node.kind) {
    case Syntax::Name:
      return with_float_forms(name(node));
    case Syntax::Local:
      return local(node);
    case Syntax::Global:
      return global(node);
    case Syntax::Graph:
      return graph(node);
    case Syntax::Dotted:
      return dotted(node);
    case Syntax::Number:
      return number(node, false, span(node));
    case Syntax::Parens:
      return expr(*node.child(0));
    case Syntax::Tuple:
      return tuple(node);
    case Syntax::Call:
      return call(node);
    case Syntax::Pipe:
      return pipe(node);
    case Syntax::Index:
      return index(node, false);
    case Syntax::SafeIndex:
      return index(node, true);
    case Syntax::Infix:
      return infix(node);
    case Syntax::Prefix:
      return prefix(node);
    case Syntax::If:
      return if_expr(node);
    case Syntax::Function:
      return function(node);
    case Syntax::Match:
      return match(node);
    case Syntax::Sequence:
      return sequence(node);
    case Syntax::List:
      return list(node);
    case Syntax::For:
      return comprehension(node);
    case Syntax::Reduce:
      return reduction(node);
    case Syntax::Scatter:
      return scatter(node);
    case Syntax::Projection:
      return projection(node);
    case Syntax::RefCreate:
      return lang::make_ref_create(expr(*node.child(0)), span(node));
    case Syntax::RefRead:
      return lang::make_ref_read(expr(*node.child(0)), span(node));
    case Syntax::RefWrite: {
      Expr ref = expr(*node.child(0));
      return lang::make_ref_write(std::move(ref), expr(*node.child(1)), span(node));
    }
    case Syntax::Field:
      return field(*node.child(1), expr(*node.child(0)), span(node));
    case Syntax::With:
      return with(node);
    case Syntax::Meta:
      return meta_expr(node);
    case Syntax::String:
      report(Kind::SyntaxError, "a string is no value, it can only be an attribute of an operator",
             span(node));
      break;
    case Syntax::Broken:
      return broken(node);
    case Syntax::Empty:
      report(Kind::SyntaxError, "an index is missing here", span(node));
      break;
    default:
      RELAY_CHECK(false, "no expression");
  }
  return nothing(node);
}

lang::Expr Resolver::number(const Node& node, bool negative, Span where) {
  try {
    const NumberValue value = read_number(tree_.text(node), negative, strict_, where);
    if (value.dtype)
      return lang::make_constant(lang::Tensor::scalar(*value.dtype, value.bits), where);
    return value.is_float ? lang::make_literal(value.real, where)
                          : lang::make_literal(value.integer, where);
  } catch (Failure& failure) {
    report(std::move(failure.diagnostics.front()));
    return nothing(node);
  }
}

lang::Expr Resolver::tuple(const Node& node) {
  std::vector<Expr> fields;
  for (const Node* child : node.children()) {
    if (child->kind != Syntax::Mark) fields.push_back(expr(*child));
  }
  return lang::make_tuple(std::move(fields), span(node));
}

lang::Expr Resolver::projection(const Node& node) {
  const Node& place = *node.child(1);
  Expr tuple = expr(*node.child(0));
  const std::int64_t index = read_digits(tree_.text(place), span(place));
  const auto* known = lang::as<lang::TupleType>(tuple->type);
  const std::size_t size = known ? known->fields.size() : UINT32_MAX;
  const Syntax of = node.child(0)->kind;
  const bool is_told = of == Syntax::Number || of == Syntax::Name || of == Syntax::Dotted;
  if (size == 0 && is_told) return tuple;  // stands where there is no expression
  if (static_cast<std::uint64_t>(index) >= size) {
    if (!known)
      lang::fail(Kind::LiteralOutOfRange, fmt::format("no tuple has a field `{}`", index),
                 span(place));
    report(Diagnostic(DiagnosticKind::TypeMismatch,
                      fmt::format("a tuple of {} field{} has no field `{}`", size,
                                  size == 1 ? "" : "s", index),
                      span(place))
               .label(span(*node.child(0)), lang::to_string(tuple->type)));
    return nothing(node);
  }
  return lang::make_projection(std::move(tuple), static_cast<std::uint32_t>(index), span(node));
}

// --- Bindings: a block is a loop here, and the chain of lets is built from its end. ---

lang::Expr Resolver::sequence(const Node& node) {
  const Scope scope(*this);
  std::vector<Step> steps;
  for (const Node* child : node.children().first(node.count - 1)) {
    switch (child->kind) {
      case Syntax::Let:
        let_statement(*child, steps);
        break;
      case Syntax::Bind: {
        const Node& name = *child->child(0);
        Expr value = expr(*child->child(1));
        const auto [place, is_new] =
            graphs_.try_emplace(name_text(name), Graph{std::move(value), span(name)});
        if (is_new) {
          note_definition(NameKind::Local, name);
          graph_log_.push_back(name_text(name));
        } else {
          report(Diagnostic(DiagnosticKind::DuplicateDefinition,
                            fmt::format("graph variable `{}` is bound twice", tree_.text(name)),
                            span(name))
                     .label(place->second.span, "first bound here"));
        }
        break;
      }
      case Syntax::Broken: {  // a name, whatever its value
        std::string_view name = tree_.text(*child);
        if (name.starts_with('%')) name.remove_prefix(1);
        if (!graphs_.try_emplace(name, Graph{broken(*child), span(*child)}).second) break;
        graph_log_.push_back(name);
        bind_local(name, lang::make_variable(std::string(name), nullptr, span(*child)));
        break;
      }
      case Syntax::FreeVar: {
        const Node& name = *child->child(0);
        bind_local(name_text(name), lang::make_variable(std::string(name_text(name)),
                                                        annotation_of(*child), span(name)));
        break;
      }
      default: {
        Expr value = expr(*child);
        steps.push_back(
            {lang::make_variable("_", nullptr, span(*child)), std::move(value), span(*child)});
      }
    }
  }
  Expr body = expr(*node.last());
  for (; !steps.empty(); steps.pop_back()) {
    Step& step = steps.back();
    body =
        lang::make_let(std::move(step.variable), std::move(step.value), std::move(body), step.span);
  }
  return body;
}

// --- Operators ---

namespace {

bool is_ordering(const lang::Infix& infix) {
  static const int kOrdering = lang::find_infix("<")->precedence;
  return infix.precedence == kOrdering;
}

}  // namespace

// `a < b < 3`: a truth value is never compared with a number.
void Resolver::report_chain(const Node& node, std::size_t second, const std::vector<Expr>& values,
                            std::string_view first) {
  const Span left = values[values.size() - 2]->span;
  const Span middle = values.back()->span;
  std::size_t end = second + 1;
  const int ordering = lang::find_infix(first)->precedence;
  const auto binds_tighter = [&](std::size_t at) {
    return at + 1 < node.count &&
           lang::find_infix(tree_.text(*node.child(at)))->precedence > ordering;
  };
  while (binds_tighter(end + 1)) end += 2;
  const Span right = lang::join(span(*node.child(second + 1)), span(*node.child(end)));
  Diagnostic diagnostic(Kind::SyntaxError, "comparisons do not chain", lang::join(left, right));
  diagnostic.label(lang::join(left, middle), "a truth value");
  diagnostic.note(fmt::format("help: `{0} {1} {2} && {2} {3} {4}`", left.text(), first,
                              middle.text(), tree_.text(*node.child(second)), right.text()));
  report(std::move(diagnostic));
}

lang::Expr Resolver::infix(const Node& node) {
  std::vector<Expr> values;
  std::vector<const lang::Infix*> pending;
  const auto reduce = [&] {
    Expr right = std::move(values.back());
    values.pop_back();
    const Span where = lang::join(values.back()->span, right->span);
    std::vector<Expr> operands{std::move(values.back()), std::move(right)};
    const Symbol& symbol = symbols_.intern(pending.back()->op);
    const lang::OpDef* lazy =
        symbol.op && !is_in_pattern_ ? lang::short_circuit_form(*symbol.op) : nullptr;
    values.back() = lazy ? lang::make_call(lang::make_operator(lazy, where), std::move(operands),
                                           nullptr, where)
                         : operator_call(pending.back()->op, std::move(operands), {}, where);
    pending.pop_back();
  };
  // The walks over what it becomes recurse, as deep as it is long.
  if (node.count / 2 > kNestingLimit) {
    Diagnostic diagnostic(Kind::NestingTooDeep,
                          fmt::format("this is a chain of more than {} operators", kNestingLimit),
                          span(node));
    diagnostic.note("help: name parts of it with `let`, or use `sum` of a tensor");
    throw lang::Failure(std::move(diagnostic));
  }
  values.push_back(expr(*node.child(0)));
  for (std::size_t i = 1; i + 1 < node.count; i += 2) {
    const lang::Infix* next = lang::find_infix(tree_.text(*node.child(i)));
    RELAY_CHECK(next, "no infix operator");
    while (!pending.empty() && pending.back()->precedence >= next->precedence) {
      if (!strict_ && is_ordering(*pending.back()) && is_ordering(*next) &&
          node.child(i + 1)->kind == Syntax::Number) {
        report_chain(node, i, values, pending.back()->symbol);
      }
      reduce();
    }
    pending.push_back(next);
    values.push_back(expr(*node.child(i + 1)));
  }
  while (!pending.empty()) reduce();
  return std::move(values.back());
}

lang::Expr Resolver::prefix(const Node& node) {
  std::size_t left = node.count - 1;
  const Node& operand = *node.last();
  const auto from = [&](std::size_t i) { return lang::join(span(*node.child(i)), span(operand)); };
  Expr value;
  if (operand.kind == Syntax::Number && tree_.text(*node.child(left - 1)) == "-") {
    --left;
    value = number(operand, true, from(left));
  } else {
    value = expr(operand);
  }
  while (left-- > 0) {
    const bool is_minus = tree_.text(*node.child(left)) == "-";
    value =
        operator_call(is_minus ? "negative" : "logical_not", {std::move(value)}, {}, from(left));
  }
  return value;
}

// --- Control ---

lang::Expr Resolver::if_expr(const Node& node) {
  struct Case {
    Expr condition;
    Expr branch;
  };
  std::vector<Case> cases;
  for (std::size_t i = 0; i + 1 < node.count; i += 2) {
    Expr condition = expr(*node.child(i));
    const Scope scope(*this);
    cases.push_back({std::move(condition), expr(*node.child(i + 1))});
  }
  // Without `else` it is done for its effect. Where that is nothing, no text stands.
  const Span end{tree_.source, node.end, node.end};
  Expr result = node.count % 2 == 1 ? expr(*node.last()) : lang::make_tuple({}, end);
  for (std::size_t i = cases.size(); i-- > 0;) {
    const Span where = i == 0 ? span(node) : lang::join(cases[i].condition->span, span(node));
    result = lang::make_if(std::move(cases[i].condition), std::move(cases[i].branch),
                           std::move(result), where);
  }
  return result;
}

lang::VariableRef Resolver::parameter(const Node& node, const Signature* signature) {
  const Node& name = *node.child(0);
  std::vector<lang::Attr> extra;
  if (const Node* list = node.find(Syntax::Attributes)) {
    for (const Node* attr : list->children()) extra.push_back(attribute(*attr));
  }
  const bool has_default = node.kind == Syntax::Attr || node.find(Syntax::Default);
  if (has_default && !signature) {
    Diagnostic diagnostic(DiagnosticKind::SyntaxError, "parameters of `fn` have no default values",
                          span(node));
    diagnostic.note("help: those of a `def` may have them");
    report(std::move(diagnostic));
  }
  return lang::make_variable(std::string(name_text(name)), annotation_of(node), span(name),
                             lang::make_attrs(std::move(extra)));
}

lang::Expr Resolver::function(const Node& node, const Signature* signature, bool is_gradient) {
  const FunctionScope scope(*this);
  if (signature) bind_attributes(*signature, span(node));
  const std::size_t mark = type_params_.size();
  const Node* const outer = std::exchange(declares_, &node);
  declare_type_params(node);
  std::vector<VariableRef> params;
  std::vector<lang::Attr> attrs;
  std::vector<std::string_view> names;
  const Node& list = *node.find(Syntax::Params);
  for (const Node* child : list.children()) {
    if (child->kind == Syntax::Attr && is_function_attribute(list, *child)) {
      attrs.push_back(attribute(*child));
      continue;
    }
    const Node& name = *child->child(0);
    const std::string_view text = name_text(name);
    if (signature && !is_gradient && signature->is_attribute(text)) continue;
    if (!attrs.empty())
      report(Kind::SyntaxError, "a parameter stands after the attributes", span(*child));
    const auto earlier = std::find(names.begin(), names.end(), text);
    if (earlier != names.end() && text != "_") {
      report(Diagnostic(DiagnosticKind::DuplicateDefinition,
                        fmt::format("two parameters have the name `{}`", text), span(name))
                 .label(params[static_cast<std::size_t>(earlier - names.begin())]->span,
                        "the first one"));
    }
    names.push_back(text);
    params.push_back(parameter(*child, is_gradient ? nullptr : signature));
  }
  Type result = annotation_of(node);
  for (std::size_t i = 0; i < params.size(); ++i) bind_local(names[i], params[i]);
  Expr body = expr(*node.last());
  declares_ = outer;
  lang::AttrsRef attributes = attrs.empty() ? nullptr : lang::make_attrs(std::move(attrs));
  return lang::make_function(std::move(params), std::move(result), std::move(body),
                             close_type_params(mark), std::move(attributes), span(node));
}

}  // namespace relay::parser
