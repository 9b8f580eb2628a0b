#include "lang/alpha_equal.h"
#include "lang/build.h"
#include "lang/function_fact.h"
#include "lang/op.h"
#include "lang/visit.h"
#include "opt/definitions.h"
#include "opt/passes.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;
namespace build = lang::build;

const Expr& Definitions::of(const Expr& atom) const {
  const auto* var = as<lang::Var>(atom);
  if (!var) return atom;
  const Expr* found = values_.find(var->variable.get());
  return found ? *found : atom;
}

const lang::OpDef* operator_of(const Expr& expr) {
  const auto* call = as<lang::Call>(expr);
  const auto* op = call ? as<lang::Operator>(call->callee) : nullptr;
  return op ? op->op : nullptr;
}

const lang::Call* call_of(const Expr& expr, const lang::NamedOp& op) {
  const lang::OpDef* called = operator_of(expr);
  return called && op.is(*called) ? as<lang::Call>(expr) : nullptr;
}

const lang::Variable* variable_of(const Expr& atom) {
  const auto* var = as<lang::Var>(atom);
  return var ? var->variable.get() : nullptr;
}

const lang::Dim* dim_read(const lang::Type& tensor, const lang::Attrs& attrs) {
  const auto* type = as<lang::TensorType>(tensor);
  if (!type || !type->shape.has_rank()) return nullptr;
  const std::size_t rank = type->shape.rank();
  const auto place = static_cast<std::size_t>(place_of_axis(attrs.get_int("axis"), rank));
  return place < rank ? &type->shape.dims()[place] : nullptr;
}

std::optional<std::vector<std::int64_t>> constant_extents(const lang::Type& type) {
  const auto* tensor = as<lang::TensorType>(type);
  if (!tensor || !tensor->shape.has_rank()) return std::nullopt;
  std::vector<std::int64_t> extents;
  for (const lang::Dim& dim : tensor->shape.dims()) {
    if (!dim.is_constant()) return std::nullopt;
    extents.push_back(dim.constant());
  }
  return extents;
}

const lang::Call* Definitions::call_of(const Expr& atom, const lang::NamedOp& op) const {
  return opt::call_of(of(atom), op);
}

Expr Definitions::element(const Expr& atom) const {
  const Expr& value = of(atom);
  if (const auto* constant = as<lang::Constant>(value)) {
    if (constant->value->element_count() != 1) return nullptr;
    if (constant->value->rank() == 0) return value;
    const lang::DType dtype = constant->value->dtype();
    return lang::make_constant(lang::Tensor::scalar(dtype, constant->value->bits_at(0)));
  }
  if (call_of(atom, known::zeros) || call_of(atom, known::zeros_like))
    return build::constant_int(dtype_of(atom), 0);
  if (const auto* call = call_of(atom, known::full_like))
    return scalar(call->args[1]) && dtype_of(call->args[1]) == dtype_of(atom) ? call->args[1]
                                                                              : Expr();
  if (call_of(atom, known::ones) || call_of(atom, known::ones_like))
    return build::constant_int(dtype_of(atom), 1);
  return nullptr;
}

std::optional<double> Definitions::number(const Expr& atom) const {
  const Expr found = element(atom);
  if (!found) return std::nullopt;
  return lang::cast<lang::Constant>(found).value->number_at(0);
}

bool Definitions::is_number(const Expr& atom, double wanted) const {
  const Expr found = element(atom);
  return found && lang::cast<lang::Constant>(found).value->bits_at(0) ==
                      lang::bits_from_double(dtype_of(found), wanted);
}

bool same_type(const Expr& a, const Expr& b) { return lang::equal(a->type, b->type); }

bool same_atom(const Expr& a, const Expr& b) {
  const auto* x = as<lang::Var>(a);
  const auto* y = as<lang::Var>(b);
  if (a->kind == ExprKind::Index && b->kind == ExprKind::Index) return lang::alpha_equal(a, b);
  return x && y && x->variable == y->variable;
}

lang::DType dtype_of(const Expr& tensor) {
  return as<lang::TensorType>(tensor->type)->dtype.known();
}

std::size_t rank_of(const Expr& tensor) { return as<lang::TensorType>(tensor->type)->shape.rank(); }

std::int64_t place_of_axis(std::int64_t axis, std::size_t rank) {
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}

bool has_known_shape(const Expr& tensor) {
  const auto* type = as<lang::TensorType>(tensor->type);
  if (!type || !type->shape.has_rank()) return false;
  for (const auto& dim : type->shape.dims()) {
    if (dim.is_any()) return false;
  }
  return true;
}

namespace {

class Simplifier final : public lang::Rewriter {
 public:
  explicit Simplifier(const SimplifyOptions& options) : options_(options) {}

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
      definitions_.add(binding.variable, value);
      kept.push_back({binding.variable, std::move(value), binding.span});
    }
    Expr result = step(renamed(opened.result), kept, changed);
    changed = changed || !(result == opened.result);
    return changed ? lang::close_block({std::move(kept), std::move(result)}) : expr;
  }

 protected:
  Expr pre(const Expr& expr) override {
    if (expr->kind == ExprKind::Let) return block(expr);
    if (lang::is_unit(expr)) return expr;
    ranges_.note(expr);
    return nullptr;
  }

  Expr post(const Expr& expr) override {
    if (Expr read = simplified_read(expr, ranges_, definitions_)) return read;
    Expr better = simplified_index_notation(expr, rules_);
    return better ? better : expr;
  }

 private:
  Expr renamed(const Expr& expr) { return names_.empty() ? expr : lang::substitute(expr, names_); }

  // Simplifies one value; intermediate results of compound replacements get bindings of their own.
  Expr step(const Expr& value, std::vector<lang::Binding>& bindings, bool& changed) {
    Expr inner = rewrite(value);
    const lang::AlgebraScope scope(rules_.algebra(inner));
    Expr better = simplified(inner);
    if (!better) return inner;
    changed = true;
    // A rule often makes room for another. What is left after a few is left to the next round.
    constexpr int kMostRules = 4;
    for (int i = 1;; ++i) {
      better = with_atoms(better, bindings);
      Expr next = i < kMostRules ? simplified(better) : Expr();
      if (!next) return better;
      better = std::move(next);
    }
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
      definitions_.add(variable, value);
      bindings.push_back({variable, value, value->span});
      args.push_back(lang::make_var(variable));
    }
    return args == call->args ? expr
                              : lang::make_call(call->callee, std::move(args), call->attrs,
                                                expr->span, expr->type, call->algebra);
  }

  // A replacement, or null.
  Expr simplified(const Expr& expr) {
    switch (expr->kind) {
      case ExprKind::Call: {
        if (lang::cast<lang::Call>(expr).callee->kind != ExprKind::Operator) return nullptr;
        if (Expr better = simplified_arithmetic(expr, rules_)) return better;
        if (Expr better = simplified_sum(expr, rules_)) return better;
        return simplified_shape(expr, rules_);
      }
      case ExprKind::Primitive:
        return simplified_arithmetic(expr, rules_);
      case ExprKind::Projection: {
        const auto& projection = lang::cast<lang::Projection>(expr);
        const auto* tuple = as<lang::Tuple>(definitions_.of(projection.tuple));
        return tuple ? tuple->fields[projection.index] : Expr();
      }
      case ExprKind::ScatterReduce:
        return simplified_scatter(expr, rules_);
      case ExprKind::If: {
        const auto& branch = lang::cast<lang::If>(expr);
        const auto* condition = as<lang::Constant>(branch.condition);
        if (!condition) return nullptr;
        return condition->value->bits_at(0) != 0 ? branch.then_branch : branch.else_branch;
      }
      default:
        return nullptr;
    }
  }

  const SimplifyOptions& options_;
  Definitions definitions_;
  IndexRanges ranges_;
  const Rules rules_{definitions_, options_};
  lang::Substitution names_;
};

}  // namespace

Expr simplify(const Expr& expr, const SimplifyOptions& options) {
  return Simplifier(options).block(expr);
}

}  // namespace relay::opt
