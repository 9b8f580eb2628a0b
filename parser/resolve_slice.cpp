#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "parser/resolver.h"

// Slices. With literal bounds they are one `strided_slice`, which clamps and counts negative ones
// from the end. Other bounds become index notation, where they are checked: `x[a:b]` is
// `for i < b - a { x[i + a] }`.
namespace relay::parser {

using lang::Dim;
using lang::DType;

// The integer of a literal with its sign; nothing for anything else.
std::optional<std::int64_t> Resolver::literal_integer(const Node& node) {
  const Node& at = inner(node);
  const bool negative =
      at.kind == Syntax::Prefix && at.count == 2 && tree_.text(*at.child(0)) == "-";
  const Node& digits = negative ? *at.last() : at;
  if (digits.kind != Syntax::Number) return std::nullopt;
  const NumberValue value = read_number(tree_.text(digits), negative, strict_, span(at));
  return value.is_float ? std::nullopt : std::optional(value.integer);
}

bool Resolver::is_literal_slice(const Node& part) {
  const auto is_known = [&](const Node& bound) {
    return bound.kind == Syntax::Empty || literal_integer(bound).has_value();
  };
  return part.kind == Syntax::Slice && is_known(*part.child(0)) && is_known(*part.child(1));
}

lang::Expr Resolver::literal_slices(const Node& node, std::span<const Node* const> parts,
                                    std::int64_t first, Expr tensor) {
  constexpr std::int64_t kEnd = std::numeric_limits<std::int32_t>::max();  // strided_slice clamps
  std::vector<std::int64_t> begins, ends, strides, axes;
  for (std::size_t axis = 0; axis < parts.size(); ++axis) {
    const Node& part = *parts[axis];
    if (part.kind != Syntax::Slice) continue;
    const Node* step =
        part.count > 2 && part.child(2)->kind != Syntax::Empty ? part.child(2) : nullptr;
    const std::int64_t stride = step ? literal_integer(*step).value_or(0) : 1;
    if (step && !literal_integer(*step)) {
      report(Kind::Unsupported, "not supported: a step of a slice that is no integer literal",
             span(*step));
    } else if (stride == 0) {
      report(Kind::SyntaxError, "the step of a slice is 0", span(*step));
    } else if (stride != 1 && !is_literal_slice(part)) {
      report(Kind::Unsupported,
             "not supported: a step in a slice whose bounds are no integer literals", span(*step));
    }
    if (!is_literal_slice(part)) continue;
    const auto bound = [&](std::size_t i, std::int64_t missing) {
      return part.child(i)->kind == Syntax::Empty ? missing : *literal_integer(*part.child(i));
    };
    const std::int64_t begin = bound(0, stride < 0 ? -1 : 0);
    const std::int64_t end = bound(1, stride < 0 ? -kEnd : kEnd);
    if (begin == 0 && end == kEnd && stride == 1) continue;
    begins.push_back(begin);
    ends.push_back(end);
    strides.push_back(stride);
    axes.push_back(first + static_cast<std::int64_t>(axis));
  }
  using lang::AttrValue;
  // All of the last axis: nothing else needs it to be there.
  const std::int64_t last = first + static_cast<std::int64_t>(parts.size()) - 1;
  if (!parts.empty() && is_literal_slice(*parts.back()) && (axes.empty() || axes.back() != last)) {
    const AttrValue least(static_cast<std::int64_t>(parts.size()));
    tensor = operator_call("with_axes", {std::move(tensor)}, {{"least", least}}, span(node));
  }
  if (axes.empty()) return tensor;
  std::vector<lang::Attr> attrs = {{"begin", AttrValue::ints(begins)},
                                   {"end", AttrValue::ints(ends)},
                                   {"strides", AttrValue::ints(strides)},
                                   {"axes", AttrValue::ints(axes)}};
  return operator_call("strided_slice", {std::move(tensor)}, std::move(attrs), span(node));
}

// --- Bounds that are computed ---

struct Resolver::Bound {
  std::optional<Dim> dim;
  Expr value;  // int64, where it is no dimension
};

// Arithmetic over dimensions and numbers: its value is known as a dimension.
bool Resolver::is_dimension(const Node& node) {
  switch (node.kind) {
    case Syntax::Parens:
      return is_dimension(*node.child(0));
    case Syntax::Number:
      return literal_integer(node).has_value();
    case Syntax::Name: {
      const Symbol& symbol = symbols_.intern(tree_.text(node));
      return !symbol.local && symbol.type_param >= 0;
    }
    case Syntax::Infix:
      for (std::size_t i = 0; i < node.count; ++i) {
        const Node& part = *node.child(i);
        const std::string_view text = tree_.text(part);
        const bool is_fine = part.kind == Syntax::Symbol ? text == "+" || text == "-" || text == "*"
                                                         : is_dimension(part);
        if (!is_fine) return false;
      }
      return true;
    default:
      return false;
  }
}

// `extent`: what a negative literal counts from.
Resolver::Bound Resolver::slice_bound(const Node& node, const Bound& extent) {
  const std::optional<std::int64_t> number = literal_integer(node);
  if (number && *number >= 0) return {Dim(*number), nullptr};
  if (number && extent.dim) return {*extent.dim + Dim(*number), nullptr};
  if (number) {
    return {std::nullopt,
            operator_call("add", {extent.value, lang::make_literal(*number, span(node))}, {},
                          span(node))};
  }
  if (is_dimension(node)) return {dim(inner(node)), nullptr};
  return {std::nullopt, operator_call("as_index", {expr(node)}, {}, span(node))};
}

lang::Expr Resolver::bound_value(const Bound& bound, Span where) {
  if (!bound.dim) return bound.value;
  return bound.dim->is_constant() ? lang::make_literal(bound.dim->constant(), where)
                                  : lang::make_dim_term(*bound.dim, where);
}

namespace {

bool is_atom(const lang::Expr& expr) {
  return expr->kind == lang::ExprKind::Var || expr->kind == lang::ExprKind::GlobalVar ||
         expr->kind == lang::ExprKind::Literal || expr->kind == lang::ExprKind::Constant ||
         expr->kind == lang::ExprKind::DimTerm;
}

}  // namespace

// The loops of `x[a:b, i, :]`, and the values that are needed inside them, computed before.
struct Resolver::SliceLoops {
  std::vector<lang::IndexBinder> binders;
  std::vector<std::pair<lang::VariableRef, Expr>> lets;

  Expr name(Expr value) {
    if (is_atom(value)) return value;
    const Span at = value->span;
    lang::VariableRef variable = lang::make_variable("v", nullptr, at);
    lets.emplace_back(variable, std::move(value));
    return lang::make_var(std::move(variable), at);
  }
  Expr around(Expr body, Span where) {
    if (!binders.empty())
      body = lang::make_comprehension(std::move(binders), std::move(body), where);
    for (; !lets.empty(); lets.pop_back())
      body = lang::make_let(std::move(lets.back().first), std::move(lets.back().second),
                            std::move(body), where);
    return body;
  }
};

// The index along `axis`, from a loop that is added for it.
lang::Expr Resolver::slice_loop(const Node& part, const Expr& tensor, std::size_t axis,
                                SliceLoops& loops) {
  const Span at = span(part);
  lang::VariableRef variable = lang::make_variable("a", lang::scalar_type(DType::Int64), at);
  Expr place = lang::make_var(variable, at);
  if (is_literal_slice(part)) {  // cut already: all of it
    loops.binders.push_back({std::move(variable), nullptr});
    return place;
  }
  const auto* known = lang::as<lang::TensorType>(tensor->type);
  Bound whole;
  if (known && known->shape.has_rank() && axis < known->shape.rank() &&
      !known->shape[axis].is_any()) {
    whole.dim = known->shape[axis];
  } else {
    const lang::AttrValue number(static_cast<std::int64_t>(axis));
    whole.value = operator_call("dim_of", {tensor}, {{"axis", number}}, at);
  }
  const Node& from = *part.child(0);
  const Node& to = *part.child(1);
  Bound begin = from.kind == Syntax::Empty ? Bound{Dim(0), nullptr} : slice_bound(from, whole);
  const Bound end = to.kind == Syntax::Empty ? whole : slice_bound(to, whole);
  if (begin.value) begin.value = loops.name(std::move(begin.value));
  const bool from_start = begin.dim && begin.dim->is_constant(0);
  Expr extent;
  if (begin.dim && end.dim) {
    extent = bound_value({*end.dim - *begin.dim, nullptr}, at);
  } else {
    extent = bound_value(end, at);
    if (!from_start)
      extent = operator_call("subtract", {std::move(extent), bound_value(begin, at)}, {}, at);
    extent = loops.name(std::move(extent));
  }
  if (!from_start) place = operator_call("add", {std::move(place), bound_value(begin, at)}, {}, at);
  loops.binders.push_back({std::move(variable), std::move(extent)});
  return place;
}

// The rest of `x[...]` after its literal slices: `x[:, i]` is `for a { x[a, i] }`; leading indices
// need no loop.
lang::Expr Resolver::between_slices(const Node& node, std::span<const Node* const> parts,
                                    Expr tensor) {
  std::size_t last = parts.size();
  while (last > 0 && is_literal_slice(*parts[last - 1])) --last;
  if (last == 0) return tensor;
  const Span where = span(node);
  const auto front = parts.first(last);
  const bool has_loop = std::any_of(front.begin(), front.end(),
                                    [](const Node* part) { return part->kind == Syntax::Slice; });
  SliceLoops loops;
  if (has_loop) tensor = loops.name(std::move(tensor));
  std::vector<Expr> indices;
  for (std::size_t axis = 0; axis < last; ++axis) {
    const Node& part = *front[axis];
    if (part.kind == Syntax::Slice) {
      indices.push_back(slice_loop(part, tensor, axis, loops));
    } else {
      Expr value = expr(part);
      indices.push_back(has_loop ? loops.name(std::move(value)) : std::move(value));
    }
  }
  return loops.around(index_into(node, std::move(tensor), std::move(indices), false), where);
}

lang::Expr Resolver::indexed(const Node& node, std::span<const Node* const> parts, Expr tensor) {
  return between_slices(node, parts, literal_slices(node, parts, 0, std::move(tensor)));
}

// --- x[..., i] ---

namespace {

std::size_t count_slices(std::span<const Node* const> parts) {
  return static_cast<std::size_t>(std::count_if(
      parts.begin(), parts.end(), [](const Node* part) { return part->kind == Syntax::Slice; }));
}

}  // namespace

// What stands behind `...` is about the last axes: they come to the front, are indexed there, and
// what is left of them goes back. Then what stands before it, for which there must be axes too.
lang::Expr Resolver::around_ellipsis(const Node& node, std::span<const Node* const> parts,
                                     Expr tensor) {
  const auto place = std::find_if(parts.begin(), parts.end(),
                                  [](const Node* part) { return part->kind == Syntax::Ellipsis; });
  const auto before = parts.first(static_cast<std::size_t>(place - parts.begin()));
  const auto behind = parts.subspan(before.size() + 1);
  const auto again = std::find_if(behind.begin(), behind.end(),
                                  [](const Node* part) { return part->kind == Syntax::Ellipsis; });
  if (again != behind.end()) {
    report(
        lang::Diagnostic(Kind::SyntaxError, "`...` stands twice among the indices", span(**again))
            .label(span(**place), "the first one"));
    return nothing(node);
  }
  const auto count = static_cast<std::int64_t>(behind.size());
  const auto rotated = [&](Expr value, std::int64_t by, std::size_t others) {
    std::vector<lang::Attr> attrs = {{"count", lang::AttrValue(by)}};
    if (others > 0) attrs.push_back({"others", lang::AttrValue(static_cast<std::int64_t>(others))});
    return operator_call("rotate_axes", {std::move(value)}, std::move(attrs), span(node));
  };
  tensor = literal_slices(node, behind, -count, std::move(tensor));
  const bool are_cut = std::all_of(behind.begin(), behind.end(),
                                   [&](const Node* part) { return is_literal_slice(*part); });
  if (!are_cut || (!behind.empty() && !before.empty())) {
    tensor = between_slices(node, behind, rotated(std::move(tensor), count, before.size()));
    if (const std::size_t kept = count_slices(behind); kept > 0)
      tensor = rotated(std::move(tensor), -static_cast<std::int64_t>(kept), 0);
  }
  return indexed(node, before, std::move(tensor));
}

}  // namespace relay::parser
