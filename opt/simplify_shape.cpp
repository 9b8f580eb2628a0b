#include <algorithm>
#include <array>

#include "lang/build.h"
#include "lang/op.h"
#include "lang/visit.h"
#include "opt/definitions.h"

// What only moves, repeats or collects elements: operators that do nothing, pairs that undo each
// other, and broadcasts that the next operator makes anyway. Nothing here changes a bit.

namespace relay::opt {

using lang::as;
using lang::Expr;
namespace build = lang::build;

namespace {

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr std::array<std::string_view, 5> kReshapes = {"reshape", "expand_dims", "squeeze",
                                                       "reshape_like", "batch_flatten"};
constexpr std::array<std::string_view, 2> kBroadcasts = {"broadcast_to", "broadcast_to_like"};
// Element by element, broadcasting both operands.
constexpr std::array<std::string_view, 12> kBinary = {
    "add",   "subtract",  "multiply", "divide",     "maximum", "minimum",
    "equal", "not_equal", "less",     "less_equal", "greater", "greater_equal"};
// Of the second operand only the shape counts.
constexpr std::array<std::string_view, 3> kLike = {"broadcast_to_like", "collapse_sum_like",
                                                   "reshape_like"};
constexpr std::array<std::string_view, 2> kFills = {"zeros_like", "ones_like"};
// The result has the shape of the operand.
constexpr std::array<std::string_view, 13> kUnary = {
    "negative", "exp",     "log",        "sqrt",           "sin", "cos", "tanh", "sigmoid",
    "abs",      "nn.relu", "nn.softmax", "nn.log_softmax", "cast"};

class Shapes {
 public:
  Shapes(const Expr& expr, const Rules& rules)
      : expr_(expr),
        call_(lang::cast<lang::Call>(expr)),
        name_(lang::cast<lang::Operator>(call_.callee).op->name),
        rules_(rules),
        definitions_(rules.definitions) {}

  Expr run() {
    const auto& args = call_.args;
    if (args.empty()) return nullptr;
    if (name_ == "cast" && same_type(expr_, args[0])) return args[0];
    if (name_ == "dim_of") return known_extent();
    if (lang::is_scalar(expr_->type) && is_one_of(name_, kFills))
      return build::constant(dtype_of(expr_), name_ == "ones_like" ? 1.0 : 0.0);
    if (!has_known_shape(expr_)) return nullptr;
    const bool is_like = is_one_of(name_, kLike);
    const bool moves = is_like || is_one_of(name_, kReshapes) || is_one_of(name_, kBroadcasts);
    if (moves && same_type(expr_, args[0])) return args[0];
    if (is_one_of(name_, kReshapes)) {
      if (Expr original = before_reshapes(args[0])) return original;
    }
    if (name_ == "reshape_like") {
      if (const auto* inner = reshaped(args[0]))
        return build::op("reshape_like", {inner->args[0], args[1]});
    }
    if (name_ == "transpose") {
      if (const auto* inner = definitions_.call_of(args[0], "transpose"))
        return composed_transpose(*inner);
    }
    if (is_one_of(name_, kBinary)) return without_broadcast(args[0], args[1]);
    if (name_ == "negative") {
      if (const auto* inner = broadcast(args[0]))
        return broadcast_again(*inner, build::op("negative", {inner->args[0]}));
    }
    if (name_ == "broadcast_to_like" && scalar(args[0])) return fill(args[1], args[0]);
    if (name_ == "collapse_sum_like") {
      if (Expr sum = simplified_collapse(expr_, rules_)) return sum;
      if (Expr sum = as_sum(args[0], args[1])) return sum;
    }
    if (is_like) return with_witness(1);
    if (is_one_of(name_, kFills)) return with_witness(0);
    return nullptr;
  }

 private:
  const lang::Call* broadcast(const Expr& atom) const {
    for (const auto name : kBroadcasts) {
      if (const auto* call = definitions_.call_of(atom, name)) return call;
    }
    return nullptr;
  }

  bool has_whole_shape(const Expr& operand) const {
    return as<lang::TensorType>(operand->type)->shape == as<lang::TensorType>(expr_->type)->shape;
  }

  // The element, if all are equal and the tensor is no scalar.
  Expr filled_with(const Expr& atom) const {
    if (lang::is_scalar(atom->type) || as<lang::Constant>(atom)) return nullptr;
    return definitions_.element(atom);
  }

  Expr broadcast_again(const lang::Call& broadcast, Expr value) const {
    std::vector<Expr> args = broadcast.args;
    args[0] = std::move(value);
    return lang::make_call(broadcast.callee, std::move(args), broadcast.attrs, expr_->span,
                           expr_->type);
  }

  // a * b where one of them was broadcast, and the other makes the whole shape anyway.
  Expr without_broadcast(const Expr& a, const Expr& b) const {
    if (const Expr value = filled_with(a); value && has_whole_shape(b))
      return build::op(name_, {value, b});
    if (const Expr value = filled_with(b); value && has_whole_shape(a))
      return build::op(name_, {a, value});
    const auto* left = broadcast(a);
    const auto* right = left ? nullptr : broadcast(b);
    if (!left && !right) return nullptr;
    const Expr& other = left ? b : a;
    const Expr& small = left ? left->args[0] : right->args[0];
    if (!has_known_shape(small)) return nullptr;
    const auto both = [&] {
      return left ? build::op(name_, {small, other}) : build::op(name_, {other, small});
    };
    if (has_whole_shape(other)) {
      const Expr result = both();
      return same_type(result, expr_) ? result : Expr();
    }
    const bool are_scalars = lang::is_scalar(small->type) && lang::is_scalar(other->type);
    return are_scalars ? broadcast_again(left ? *left : *right, both()) : Expr();
  }

  // What the type says.
  Expr known_extent() const {
    const lang::Dim* dim = dim_read(call_.args[0]->type, *call_.attrs);
    return dim && dim->is_constant() ? build::index_constant(dim->constant()) : Expr();
  }

  // The value before reshapes that end in its own shape.
  Expr before_reshapes(Expr atom) const {
    for (;;) {
      const lang::Call* inner = reshaped(atom);
      if (!inner) return nullptr;
      atom = inner->args[0];
      if (same_type(atom, expr_)) return atom;
    }
  }

  const lang::Call* reshaped(const Expr& atom) const {
    for (const auto name : kReshapes) {
      if (const auto* call = definitions_.call_of(atom, name)) return call;
    }
    return nullptr;
  }

  Expr fill(const Expr& like, const Expr& value) const {
    if (dtype_of(like) == dtype_of(value)) {
      if (definitions_.is_number(value, 0)) return build::op("zeros_like", {like});
      if (definitions_.is_number(value, 1)) return build::op("ones_like", {like});
    }
    const Expr filled = build::op("full_like", {like, value});
    return same_type(filled, expr_) ? filled : Expr();
  }

  // The sum over the axes that are not there, or have the extent 1, in the smaller shape.
  Expr as_sum(const Expr& value, const Expr& like) const {
    const auto& from = as<lang::TensorType>(value->type)->shape;
    const auto& to = as<lang::TensorType>(like->type)->shape;
    if (!has_known_shape(value) || !has_known_shape(like)) return nullptr;
    const std::size_t missing = from.rank() - to.rank();
    std::vector<std::int64_t> axes, leading;
    for (std::size_t axis = 0; axis < from.rank(); ++axis) {
      const auto number = static_cast<std::int64_t>(axis);
      if (axis < missing) {
        leading.push_back(number);
      } else if (from[axis] == to[axis - missing]) {
        continue;
      } else if (!(to[axis - missing] == lang::Dim(1))) {
        return nullptr;
      }
      axes.push_back(number);
    }
    if (to.rank() == 0) return build::op("sum", {value});
    const auto summed = lang::AttrValue::ints(axes);
    if (axes.size() == leading.size()) return build::op("sum", {value}, {{"axis", summed}});
    const Expr sum = build::op("sum", {value}, {{"axis", summed}, {"keepdims", true}});
    if (leading.empty()) return sum;
    return build::op("squeeze", {sum}, {{"axis", lang::AttrValue::ints(leading)}});
  }

  // A tensor of the same type that is there already, in the place of one that would be computed
  // only for its shape.
  Expr with_witness(std::size_t place) const {
    if (!has_known_shape(call_.args[place])) return nullptr;
    Expr witness = call_.args[place];
    for (;;) {
      const Expr& value = definitions_.of(witness);
      if (value->kind == lang::ExprKind::Comprehension) {
        if (Expr read = read_of_type(value, witness)) witness = std::move(read);
        break;
      }
      const auto* inner = as<lang::Call>(value);
      const auto* op = inner ? as<lang::Operator>(inner->callee) : nullptr;
      if (!op || !(is_one_of(op->op->name, kUnary) || is_one_of(op->op->name, kBinary))) break;
      const auto same = std::find_if(inner->args.begin(), inner->args.end(), [&](const Expr& arg) {
        return as<lang::Var>(arg) && same_type(arg, witness);
      });
      if (same == inner->args.end()) break;
      witness = *same;
    }
    if (witness == call_.args[place]) return nullptr;
    std::vector<Expr> args = call_.args;
    args[place] = witness;
    return lang::make_call(call_.callee, std::move(args), call_.attrs, expr_->span, expr_->type);
  }

  // A tensor that the loop reads, and that is of the type of what it makes; null if there is none.
  static Expr read_of_type(const Expr& loop, const Expr& made) {
    for (const auto& variable : lang::free_variables(loop)) {
      Expr read = lang::make_var(variable);
      if (same_type(read, made)) return read;
    }
    return nullptr;
  }

  Expr composed_transpose(const lang::Call& inner) const {
    const auto axes_of = [](const lang::Call& call) {
      const auto rank = static_cast<std::int64_t>(as<lang::TensorType>(call.type)->shape.rank());
      std::vector<std::int64_t> axes;
      if (call.attrs->is_null("axes")) {
        for (std::int64_t i = rank; i-- > 0;) axes.push_back(i);
      } else {
        for (std::int64_t axis : call.attrs->get_ints("axes"))
          axes.push_back(axis < 0 ? axis + rank : axis);
      }
      return axes;
    };
    const auto first = axes_of(inner), second = axes_of(call_);
    for (std::size_t i = 0; i < second.size(); ++i) {
      if (first[static_cast<std::size_t>(second[i])] != static_cast<std::int64_t>(i))
        return nullptr;
    }
    return same_type(expr_, inner.args[0]) ? inner.args[0] : Expr();
  }

  const Expr& expr_;
  const lang::Call& call_;
  const std::string& name_;
  const Rules& rules_;
  const Definitions& definitions_;
};

// The extent that an atom stands for, where its type or its value says it.
std::optional<lang::Dim> extent_of(const Expr& atom, const Definitions& definitions) {
  if (const auto number = integer(definitions.of(atom))) return lang::Dim(*number);
  const auto* call = definitions.call_of(atom, "dim_of");
  if (!call || !has_known_shape(call->args[0])) return std::nullopt;
  const lang::Dim* dim = dim_read(call->args[0]->type, *call->attrs);
  return dim ? std::optional(*dim) : std::nullopt;
}

}  // namespace

// What is added to zeros are no negative zeros any more.
Expr simplified_scatter(const Expr& expr, const Rules& rules) {
  const auto& node = lang::cast<lang::ScatterReduce>(expr);
  const Definitions& definitions = rules.definitions;
  if (lang::is_float(dtype_of(expr)) && !rules.may_regroup(expr)) return nullptr;
  if (node.op != lang::ReduceOp::Sum || !definitions.is_number(node.init, 0) ||
      !has_known_shape(expr) || node.indices.size() != node.binders.size())
    return nullptr;
  const auto& shape = as<lang::TensorType>(expr->type)->shape;
  for (std::size_t i = 0; i < node.binders.size(); ++i) {
    const auto* var = as<lang::Var>(node.indices[i]);
    const auto extent = extent_of(node.binders[i].extent, definitions);
    if (!var || !(var->variable == node.binders[i].variable) || !extent || !(*extent == shape[i]))
      return nullptr;
  }
  return lang::make_comprehension(node.binders, node.value, {}, expr->type);
}

Expr simplified_shape(const Expr& expr, const Rules& rules) { return Shapes(expr, rules).run(); }

}  // namespace relay::opt
