#include <algorithm>

#include "lang/build.h"
#include "lang/op.h"
#include "lang/op_traits.h"
#include "lang/visit.h"
#include "opt/definitions.h"

// What only moves, repeats or collects elements: operators that do nothing, pairs that undo each
// other, and broadcasts that the next operator makes anyway. Nothing here changes a bit.

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::OpTrait;
namespace build = lang::build;

namespace {

class Shapes {
 public:
  Shapes(const Expr& expr, const Rules& rules)
      : expr_(expr),
        call_(lang::cast<lang::Call>(expr)),
        op_(*lang::cast<lang::Operator>(call_.callee).op),
        rules_(rules),
        definitions_(rules.definitions) {}

  Expr run() {
    const auto& args = call_.args;
    if (args.empty()) return nullptr;
    if (known::cast.is(op_) && same_type(expr_, args[0])) return args[0];
    if (known::dim_of.is(op_)) return known_extent();
    if (lang::is_scalar(expr_->type) && lang::has_trait(op_, OpTrait::Fills))
      return build::constant(dtype_of(expr_), known::ones_like.is(op_) ? 1.0 : 0.0);
    if (!has_known_shape(expr_)) return nullptr;
    const bool is_like = lang::has_trait(op_, OpTrait::TakesShape);
    const bool moves = is_like || lang::has_trait(op_, OpTrait::Reshapes) ||
                       lang::has_trait(op_, OpTrait::Broadcasts);
    if (moves && same_type(expr_, args[0])) return args[0];
    if (lang::has_trait(op_, OpTrait::Reshapes)) {
      if (Expr original = before_reshapes(args[0])) return original;
    }
    if (known::reshape_like.is(op_)) {
      if (const auto* inner = reshaped(args[0]))
        return build::op("reshape_like", {inner->args[0], args[1]});
    }
    if (known::transpose.is(op_)) {
      if (const auto* inner = definitions_.call_of(args[0], known::transpose))
        return composed_transpose(*inner);
    }
    if (lang::has_trait(op_, OpTrait::Pairwise)) return without_broadcast(args[0], args[1]);
    if (known::negative.is(op_)) {
      if (const auto* inner = broadcast(args[0]))
        return broadcast_again(*inner, build::op("negative", {inner->args[0]}));
    }
    if (known::broadcast_to_like.is(op_) && scalar(args[0])) return fill(args[1], args[0]);
    if (known::collapse_sum_like.is(op_)) {
      if (Expr sum = simplified_collapse(expr_, rules_)) return sum;
      if (Expr sum = as_sum(args[0], args[1])) return sum;
    }
    if (is_like) return with_witness(1);
    if (lang::has_trait(op_, OpTrait::Fills)) return with_witness(0);
    return nullptr;
  }

 private:
  // The call that defines the atom, if its operator has the trait; else null.
  const lang::Call* call_with(OpTrait trait, const Expr& atom) const {
    const Expr& value = definitions_.of(atom);
    const lang::OpDef* op = operator_of(value);
    return op && lang::has_trait(*op, trait) ? as<lang::Call>(value) : nullptr;
  }

  const lang::Call* broadcast(const Expr& atom) const {
    return call_with(OpTrait::Broadcasts, atom);
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
      return build::op(op_.name, {value, b});
    if (const Expr value = filled_with(b); value && has_whole_shape(a))
      return build::op(op_.name, {a, value});
    const auto* left = broadcast(a);
    const auto* right = left ? nullptr : broadcast(b);
    if (!left && !right) return nullptr;
    const Expr& other = left ? b : a;
    const Expr& small = left ? left->args[0] : right->args[0];
    if (!has_known_shape(small)) return nullptr;
    const auto both = [&] {
      return left ? build::op(op_.name, {small, other}) : build::op(op_.name, {other, small});
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

  const lang::Call* reshaped(const Expr& atom) const { return call_with(OpTrait::Reshapes, atom); }

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
      const lang::OpDef* op = operator_of(value);
      if (!op ||
          !(lang::has_trait(*op, OpTrait::KeepsShape) || lang::has_trait(*op, OpTrait::Pairwise)))
        break;
      const std::vector<Expr>& operands = lang::cast<lang::Call>(value).args;
      const auto same = std::find_if(operands.begin(), operands.end(), [&](const Expr& arg) {
        return as<lang::Var>(arg) && same_type(arg, witness);
      });
      if (same == operands.end()) break;
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
      const std::size_t rank = as<lang::TensorType>(call.type)->shape.rank();
      std::vector<std::int64_t> axes;
      if (call.attrs->is_null("axes") || call.attrs->get_ints("axes").empty()) {
        for (std::size_t i = rank; i-- > 0;) axes.push_back(static_cast<std::int64_t>(i));
      } else {
        for (std::int64_t axis : call.attrs->get_ints("axes"))
          axes.push_back(place_of_axis(axis, rank));
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
  const lang::OpDef& op_;
  const Rules& rules_;
  const Definitions& definitions_;
};

// The extent that an atom stands for, where its type or its value says it.
std::optional<lang::Dim> extent_of(const Expr& atom, const Definitions& definitions) {
  if (const auto number = integer(definitions.of(atom))) return lang::Dim(*number);
  const auto* call = definitions.call_of(atom, known::dim_of);
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
