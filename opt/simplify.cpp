#include <cmath>
#include <optional>
#include <unordered_map>

#include "lang/alpha_equal.h"
#include "lang/build.h"
#include "lang/op.h"
#include "lang/visit.h"
#include "opt/passes.h"

// Exact in IEEE arithmetic, with two stated exceptions: `x + 0` and `x - (-y)`-like rewrites may
// change the sign of a zero, and `c*x + x` becomes `(c+1)*x` for small whole c (exact for c up to
// 2, one rounding less for larger ones).

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;
namespace build = lang::build;

namespace {

class Simplifier final : public lang::Rewriter {
 public:
  Expr block(const Expr& expr) {
    lang::Block opened = lang::open_block(expr);
    bool changed = false;
    std::vector<lang::Binding> kept;
    for (auto& binding : opened.bindings) {
      Expr value = renamed(binding.value);
      value = step(value, kept, changed);
      changed = changed || !(value == binding.value);
      const auto* constant = as<lang::Constant>(value);
      const bool is_tensor_constant = constant && constant->value->rank() > 0;
      if (build::is_atom(value) && value->kind != ExprKind::Operator && !is_tensor_constant) {
        names_[binding.variable.get()] = value;
        changed = true;
        continue;
      }
      definitions_[binding.variable.get()] = value;
      kept.push_back({binding.variable, std::move(value), binding.span});
    }
    Expr result = step(renamed(opened.result), kept, changed);
    changed = changed || !(result == opened.result);
    return changed ? lang::close_block({std::move(kept), std::move(result)}) : expr;
  }

 protected:
  Expr pre(const Expr& expr) override {
    if (expr->kind == ExprKind::Let) return block(expr);
    if (const auto* fn = as<lang::Function>(expr); fn && fn->attrs && fn->attrs->find("Primitive"))
      return expr;
    return nullptr;
  }

 private:
  Expr renamed(const Expr& expr) { return names_.empty() ? expr : lang::substitute(expr, names_); }

  // Simplifies one value; intermediate results of compound replacements get bindings of their own.
  Expr step(const Expr& value, std::vector<lang::Binding>& bindings, bool& changed) {
    Expr inner = rewrite(value);
    Expr better = simplified(inner);
    if (!better) return inner;
    changed = true;
    return with_atoms(better, bindings);
  }

  // Gives names to compound operands of a replacement.
  Expr with_atoms(const Expr& expr, std::vector<lang::Binding>& bindings) {
    const auto* call = as<lang::Call>(expr);
    if (!call) return expr;
    std::vector<Expr> args;
    for (const Expr& arg : call->args) {
      if (build::is_atom(arg)) {
        args.push_back(arg);
        continue;
      }
      Expr value = with_atoms(arg, bindings);
      lang::VariableRef variable = lang::make_variable("v", value->type, value->span);
      definitions_[variable.get()] = value;
      bindings.push_back({variable, value, value->span});
      args.push_back(lang::make_var(variable));
    }
    return args == call->args ? expr
                              : lang::make_call(call->callee, std::move(args), call->attrs,
                                                expr->span, expr->type);
  }

  // What an atom stands for: its defining value, or itself.
  const Expr& definition(const Expr& atom) const {
    const auto* var = as<lang::Var>(atom);
    if (!var) return atom;
    const auto found = definitions_.find(var->variable.get());
    return found == definitions_.end() ? atom : found->second;
  }

  // The operands if `atom` is defined by a call of operator `name`.
  const lang::Call* call_of(const Expr& atom, std::string_view name) const {
    const auto* call = as<lang::Call>(definition(atom));
    const auto* op = call ? as<lang::Operator>(call->callee) : nullptr;
    return op && op->op->name == name ? call : nullptr;
  }

  // The number if `atom` is a rank-0 constant, or a full tensor of one.
  std::optional<double> number(const Expr& atom) const {
    const Expr& value = definition(atom);
    if (const auto* constant = as<lang::Constant>(value)) {
      if (constant->value->element_count() != 1) return std::nullopt;
      return constant->value->number_at(0);
    }
    if (call_of(atom, "zeros") || call_of(atom, "zeros_like")) return 0.0;
    if (call_of(atom, "ones") || call_of(atom, "ones_like")) return 1.0;
    return std::nullopt;
  }
  bool is_number(const Expr& atom, double wanted) const {
    const auto found = number(atom);
    return found && *found == wanted;
  }

  static bool same_type(const Expr& a, const Expr& b) { return lang::equal(a->type, b->type); }
  static bool same_atom(const Expr& a, const Expr& b) {
    const auto* x = as<lang::Var>(a);
    const auto* y = as<lang::Var>(b);
    return x && y && x->variable == y->variable;
  }

  // A replacement, or null.
  Expr simplified(const Expr& expr) {
    switch (expr->kind) {
      case ExprKind::Call:
        return simplified_call(expr);
      case ExprKind::Projection: {
        const auto& projection = lang::cast<lang::Projection>(expr);
        const auto* tuple = as<lang::Tuple>(definition(projection.tuple));
        return tuple ? tuple->fields[projection.index] : Expr();
      }
      case ExprKind::If: {
        const auto& branch = lang::cast<lang::If>(expr);
        const auto* condition = as<lang::Constant>(branch.condition);
        if (!condition) return nullptr;
        const Expr& taken =
            condition->value->bits_at(0) != 0 ? branch.then_branch : branch.else_branch;
        return taken->kind == ExprKind::Let ? Expr() : taken;
      }
      default:
        return nullptr;
    }
  }

  Expr simplified_call(const Expr& expr) {
    const auto& call = lang::cast<lang::Call>(expr);
    const auto* op = as<lang::Operator>(call.callee);
    if (!op) return nullptr;
    const std::string& name = op->op->name;
    const auto& args = call.args;
    if (name == "add") return simplified_add(expr, args[0], args[1]);
    if (name == "subtract") {
      if (is_number(args[1], 0) && same_type(expr, args[0])) return args[0];
      if (const auto* inner = call_of(args[1], "negative"))
        return build::op("add", {args[0], inner->args[0]});
      if (is_number(args[0], 0) && same_type(expr, args[1]))
        return build::op("negative", {args[1]});
    }
    if (name == "multiply") return simplified_multiply(expr, args[0], args[1]);
    if (name == "divide" && is_number(args[1], 1) && same_type(expr, args[0])) return args[0];
    if (name == "negative") {
      if (const auto* inner = call_of(args[0], "negative")) return inner->args[0];
      if (const auto value = scalar_constant(args[0]))
        return build::constant(dtype_of(args[0]), -*value);
    }
    if (name == "cast" && same_type(expr, args[0])) return args[0];
    if ((name == "reshape" || name == "broadcast_to" || name == "collapse_sum_like" ||
         name == "broadcast_to_like" || name == "reshape_like" || name == "squeeze") &&
        same_type(expr, args[0]) && is_static(expr)) {
      return args[0];
    }
    if (name == "transpose") {
      if (const auto* inner = call_of(args[0], "transpose"))
        return composed_transpose(expr, call, *inner);
    }
    if (lang::is_scalar(expr->type) && (name == "zeros_like" || name == "ones_like")) {
      return build::constant(dtype_of(expr), name == "ones_like" ? 1.0 : 0.0);
    }
    return nullptr;
  }

  static bool is_static(const Expr& expr) {
    const auto* tensor = as<lang::TensorType>(expr->type);
    if (!tensor || !tensor->shape.has_rank()) return false;
    for (const auto& dim : tensor->shape.dims()) {
      if (dim.is_any()) return false;
    }
    return true;
  }

  static lang::DType dtype_of(const Expr& expr) {
    return as<lang::TensorType>(expr->type)->dtype.known();
  }
  std::optional<double> scalar_constant(const Expr& atom) const {
    return lang::is_scalar(atom->type) && as<lang::Constant>(atom) ? number(atom) : std::nullopt;
  }

  Expr simplified_add(const Expr& expr, const Expr& a, const Expr& b) {
    if (is_number(b, 0) && same_type(expr, a)) return a;
    if (is_number(a, 0) && same_type(expr, b)) return b;
    if (const auto* inner = call_of(b, "negative"))
      return build::op("subtract", {a, inner->args[0]});
    if (const auto* inner = call_of(a, "negative"); inner && !as<lang::Constant>(b)) {
      return build::op("subtract", {b, inner->args[0]});
    }
    if (same_atom(a, b) && as<lang::TensorType>(a->type))
      return build::op("multiply", {build::scalar_like(a, 2), a});
    for (const auto& [product, single] : {std::pair{a, b}, {b, a}}) {
      const auto* inner = call_of(product, "multiply");
      if (!inner || !same_atom(inner->args[1], single)) continue;
      const auto factor = scalar_constant(inner->args[0]);
      constexpr double kSmall = 64;
      if (factor && *factor == std::floor(*factor) && std::abs(*factor) < kSmall) {
        return build::op("multiply", {build::scalar_like(single, *factor + 1), single});
      }
    }
    return nullptr;
  }

  Expr simplified_multiply(const Expr& expr, const Expr& a, const Expr& b) {
    if (is_number(b, 1) && same_type(expr, a)) return a;
    if (is_number(a, 1) && same_type(expr, b)) return b;
    const auto left = scalar_constant(a);
    const auto right = scalar_constant(b);
    // Constants stand on the left.
    if (right && !left) return build::op("multiply", {b, a});
    if (left && *left == -1) return same_type(expr, b) ? build::op("negative", {b}) : Expr();
    // c * (d * x), where the product of the constants is exact: powers of two, small whole numbers.
    if (left && is_whole(*left)) {
      if (const auto* inner = call_of(b, "multiply")) {
        const auto factor = scalar_constant(inner->args[0]);
        if (factor && is_whole(*factor)) {
          return build::op("multiply", {build::scalar_like(a, *left * *factor), inner->args[1]});
        }
      }
    }
    if (const auto* inner = call_of(a, "negative"); inner && !left) {
      const auto* other = call_of(b, "negative");
      if (other) return build::op("multiply", {inner->args[0], other->args[0]});
    }
    return nullptr;
  }

  static bool is_whole(double value) {
    constexpr double kSmall = 1024;
    return value == std::floor(value) && std::abs(value) < kSmall;
  }

  Expr composed_transpose(const Expr& expr, const lang::Call& outer, const lang::Call& inner) {
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
    const auto first = axes_of(inner), second = axes_of(outer);
    for (std::size_t i = 0; i < second.size(); ++i) {
      if (first[static_cast<std::size_t>(second[i])] != static_cast<std::int64_t>(i))
        return nullptr;
    }
    return same_type(expr, inner.args[0]) ? inner.args[0] : Expr();
  }

  std::unordered_map<const lang::Variable*, Expr> definitions_;
  lang::Substitution names_;
};

}  // namespace

Expr simplify(const Expr& expr) { return Simplifier().block(expr); }

}  // namespace relay::opt
