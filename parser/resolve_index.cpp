#include <algorithm>

#include <fmt/format.h>

#include "parser/resolver.h"

// Index notation, indexing and slicing, tensor literals.
namespace relay::parser {

using lang::Diagnostic;
using lang::DiagnosticKind;
using lang::DType;

// --- for, reductions, scatter ---

std::vector<lang::IndexBinder> Resolver::binders(const Node& node) {
  std::vector<lang::IndexBinder> result;
  std::vector<std::string_view> names;
  for (const Node* child : node.children()) {  // extents are evaluated outside all binders
    if (child->kind != Syntax::Binder) continue;
    const Node& name = *child->child(0);
    const std::string_view text = name_text(name);
    const auto earlier = std::find(names.begin(), names.end(), text);
    if (earlier != names.end()) {
      report(Diagnostic(DiagnosticKind::DuplicateDefinition,
                        fmt::format("two index variables have the name `{}`", text), span(name))
                 .label(result[static_cast<std::size_t>(earlier - names.begin())].variable->span,
                        "the first one"));
    }
    names.push_back(text);
    Expr extent = child->count > 1 ? expr(*child->child(1)) : nullptr;
    result.push_back(
        {lang::make_variable(std::string(text), lang::scalar_type(DType::Int64), span(name)),
         std::move(extent)});
  }
  for (std::size_t i = 0; i < result.size(); ++i) bind_local(names[i], result[i].variable);
  return result;
}

lang::Expr Resolver::comprehension(const Node& node) {
  const Scope scope(*this);
  std::vector<lang::IndexBinder> indices = binders(node);
  return lang::make_comprehension(std::move(indices), expr(*node.last()), span(node));
}

lang::Expr Resolver::reduction(const Node& node) {
  const Scope scope(*this);
  const lang::ReduceOp op = *lang::parse_reduce_op(tree_.text(*node.child(0)));
  std::vector<lang::IndexBinder> indices = binders(node);
  return lang::make_reduction(op, std::move(indices), expr(*node.last()), span(node));
}

lang::Expr Resolver::scatter(const Node& node) {
  const Node& word = *node.child(0);
  const lang::ReduceOp op = *lang::parse_reduce_op(tree_.text(word));
  Expr init = expr(*node.child(1));
  const Scope scope(*this);
  std::vector<lang::IndexBinder> indices = binders(node);
  if (!lang::is_scatter_op(op)) {
    report(Kind::SyntaxError,
           fmt::format("`scatter` folds with `sum`, `prod`, `max`, `min` or `set`, not with `{}`",
                       lang::name_of(op)),
           span(word));
    return nothing(node);
  }
  std::vector<Expr> places;
  for (const Node* place : node.find(Syntax::Indices)->children()) places.push_back(expr(*place));
  return lang::make_scatter_reduce(op, std::move(init), std::move(indices), std::move(places),
                                   expr(*node.last()), span(node));
}

// --- x[...] ---

// An annotation may already say how many axes there are.
lang::Expr Resolver::index_into(const Node& node, Expr tensor, std::vector<Expr> indices,
                                bool in_bounds) {
  const auto* known = lang::as<lang::TensorType>(tensor->type);
  if (known && known->shape.has_rank() && known->shape.rank() < indices.size()) {
    report(Diagnostic(DiagnosticKind::RankMismatch,
                      fmt::format("{} indices into a tensor of rank {}", indices.size(),
                                  known->shape.rank()),
                      span(node))
               .label(span(*node.child(0)), lang::to_string(tensor->type)));
    return nothing(node);
  }
  return lang::make_index(std::move(tensor), std::move(indices), in_bounds, span(node));
}

lang::Expr Resolver::index(const Node& node, bool in_bounds) {
  Expr tensor = expr(*node.child(0));
  const auto parts = node.children().subspan(1);
  const auto has = [&](Syntax kind) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const Node* part) { return part->kind == kind; });
  };
  if (has(Syntax::Ellipsis)) return around_ellipsis(node, parts, std::move(tensor));
  if (has(Syntax::Slice)) return indexed(node, parts, std::move(tensor));
  if (parts.empty()) {
    report(Kind::SyntaxError, "the brackets hold no index", span(node));
    return tensor;
  }
  std::vector<Expr> indices;
  for (const Node* part : parts) indices.push_back(expr(*part));
  return index_into(node, std::move(tensor), std::move(indices), in_bounds);
}

// --- [[1.0, 2.0], [3.0, 4.0]] ---

namespace {

// The elements of a literal in row-major order, and its shape.
struct Elements {
  std::vector<std::int64_t> shape;
  std::vector<const Node*> leaves;
  const Node* ragged = nullptr;  // a row whose shape differs from the first one's
};

void gather(const Node& node, std::size_t depth, Elements& out) {
  const Node& at = inner(node);
  if (at.kind != Syntax::List) {
    if (depth != out.shape.size() && !out.ragged) out.ragged = &node;
    out.leaves.push_back(&at);
    return;
  }
  if (depth == out.shape.size()) {
    if (!out.leaves.empty() && !out.ragged) out.ragged = &node;
    if (out.leaves.empty()) out.shape.push_back(at.count);
  }
  if (depth < out.shape.size() && out.shape[depth] != at.count && !out.ragged) out.ragged = &node;
  for (const Node* child : at.children()) gather(*child, depth + 1, out);
}

}  // namespace

// An element that is a literal; nothing if it is another expression.
std::optional<NumberValue> Resolver::literal_element(const Node& leaf) {
  const std::string_view text = tree_.text(leaf);
  if (leaf.kind == Syntax::Name && (text == "True" || text == "False")) {
    NumberValue value;
    value.dtype = DType::Bool;
    value.bits = text == "True" ? 1 : 0;
    return value;
  }
  const bool negative =
      leaf.kind == Syntax::Prefix && leaf.count == 2 && tree_.text(*leaf.child(0)) == "-";
  const Node& digits = negative ? *leaf.last() : leaf;
  if (digits.kind == Syntax::Name && !strict_) {  // `inf`, `nan`, unless they mean something here
    const Expr word = name(digits);
    const auto* literal = lang::as<lang::Literal>(word);
    if (!literal) return std::nullopt;
    NumberValue value;
    value.is_float = true;
    value.real = negative ? -literal->real : literal->real;
    return value;
  }
  if (digits.kind != Syntax::Number) return std::nullopt;
  return read_number(tree_.text(digits), negative, strict_, span(leaf));
}

// The bits of an element in a tensor of `dtype`, which another element has said; nothing with an
// error reported if it is none.
std::optional<std::uint64_t> Resolver::element_bits(const NumberValue& value, DType dtype,
                                                    const Node& leaf) {
  if (value.dtype) return value.bits;
  if (dtype == DType::Bool || (value.is_float && !lang::is_float(dtype))) {
    report(Kind::DTypeMismatch,
           fmt::format("`{}` is no element of a {} tensor", tree_.text(leaf), lang::name_of(dtype)),
           span(leaf));
    return std::nullopt;
  }
  if (lang::is_float(dtype)) {
    const double real = value.is_float ? value.real : static_cast<double>(value.integer);
    if (lang::can_represent(dtype, real)) return lang::bits_from_double(dtype, real);
  } else {
    const std::uint64_t bits = lang::bits_from_int(dtype, value.integer);
    if (lang::int_from_bits(dtype, bits) == value.integer) return bits;
  }
  report(Kind::LiteralOutOfRange,
         fmt::format("`{}` does not fit in {}", tree_.text(leaf), lang::name_of(dtype)),
         span(leaf));
  return std::nullopt;
}

namespace {

// Elements without a dtype: that of their context is found in inference.
lang::Expr undecorated(const std::vector<NumberValue>& values, bool any_float,
                       const std::vector<std::int64_t>& shape, lang::Span where) {
  const lang::TensorRef tensor =
      lang::Tensor::make(any_float ? DType::Float64 : DType::Int64, shape);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const NumberValue& value = values[i];
    const double real = value.is_float ? value.real : static_cast<double>(value.integer);
    tensor->set_bits(static_cast<std::int64_t>(i),
                     any_float ? lang::bits_from_double(DType::Float64, real)
                               : lang::bits_from_int(DType::Int64, value.integer));
  }
  return lang::make_literal(tensor, where);
}

}  // namespace

// Strict text has no tensor literals in Relay; ours are how constants print there.
lang::Expr Resolver::list(const Node& node) {
  Elements elements;
  gather(node, 0, elements);
  if (elements.ragged) {
    report(Kind::ShapeMismatch, "the rows of this tensor differ in shape", span(*elements.ragged));
    return nothing(node);
  }
  if (elements.leaves.empty()) {
    Diagnostic diagnostic(DiagnosticKind::AmbiguousType, "an empty tensor literal has no dtype",
                          span(node));
    diagnostic.note("help: `zeros(shape=[0], dtype=\"float32\")`");
    report(std::move(diagnostic));
    return nothing(node);
  }
  std::vector<NumberValue> values;
  values.reserve(elements.leaves.size());
  const Node* decorated = nullptr;  // the element that says the dtype
  std::optional<DType> dtype;
  bool any_float = false;
  for (const Node* leaf : elements.leaves) {
    const std::optional<NumberValue> value = literal_element(*leaf);
    if (!value && !strict_) return stack_list(node);
    if (!value) {
      report(Kind::SyntaxError, "a tensor literal of strict text holds literals only", span(*leaf));
      return nothing(node);
    }
    any_float |= value->is_float;
    if (value->dtype && dtype && *dtype != *value->dtype) {
      const std::string_view first = lang::name_of(*dtype);
      const std::string_view second = lang::name_of(*value->dtype);
      report(Diagnostic(DiagnosticKind::DTypeMismatch,
                        fmt::format("elements of a tensor literal are {} and {}", first, second),
                        span(node))
                 .label(span(*decorated), std::string(first))
                 .label(span(*leaf), std::string(second)));
      return nothing(node);
    }
    if (value->dtype && !dtype) {
      dtype = value->dtype;
      decorated = leaf;
    }
    values.push_back(*value);
  }
  if (!dtype) return undecorated(values, any_float, elements.shape, span(node));
  const lang::TensorRef tensor = lang::Tensor::make(*dtype, elements.shape);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::optional<std::uint64_t> bits = element_bits(values[i], *dtype, *elements.leaves[i]);
    if (!bits) return nothing(node);
    tensor->set_bits(static_cast<std::int64_t>(i), *bits);
  }
  return lang::make_constant(tensor, span(node));
}

// With elements that are no literals: `stack((a, b), axis=0)`, level by level.
lang::Expr Resolver::stack_list(const Node& node) {
  const Node& at = inner(node);
  if (at.kind != Syntax::List) return expr(node);
  std::vector<Expr> rows;
  for (const Node* child : at.children()) rows.push_back(stack_list(*child));
  return operator_call("stack", {lang::make_tuple(std::move(rows), span(at))},
                       {{"axis", lang::AttrValue(0)}}, span(at));
}

}  // namespace relay::parser
