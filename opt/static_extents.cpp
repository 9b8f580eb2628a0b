#include "opt/static_extents.h"

#include "lang/any_dim.h"
#include "lang/extents.h"
#include "lang/op.h"
#include "lang/pointer_map.h"
#include "lang/static_form.h"
#include "lang/visit.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;
using lang::Type;

namespace {

// Extents are small tensors; larger ones are no extents.
constexpr std::int64_t kMostExtents = 64;

bool is_small(const Type& type) {
  const auto extents = constant_extents(type);
  const auto count = extents ? lang::product_of(*extents) : std::nullopt;
  return count && *count <= kMostExtents;
}

// What flows into a place where types have to agree that say `?` now: the result of a branch, data,
// an argument. Two values may have other extents there, so theirs stay open.
class OpenExtents {
 public:
  explicit OpenExtents(const Expr& fn) { look_into(fn); }
  bool has(const Expr& node) const { return nodes_.contains(node.get()); }

 private:
  // Whose type follows from its operands.
  static bool follows(const Expr& expr) {
    if (expr->kind == ExprKind::Tuple || expr->kind == ExprKind::Projection) return true;
    const lang::OpDef* op = operator_of(expr);
    return op && op->effect == lang::Effect::None;
  }

  void look_into_block(const Expr& block, bool is_joined) {
    const Expr* at = &block;
    for (; const auto* let = as<lang::Let>(*at); at = &let->body) {
      values_[let->variable.get()] = let->value;
      look_into(let->value);
    }
    if (is_joined) keep_open(*at);
    look_into(*at);
  }

  void look_into(const Expr& expr) {
    if (const auto* fn = as<lang::Function>(expr)) return look_into_block(fn->body, false);
    if (lang::is_leaf(expr) || follows(expr)) return;
    lang::for_each_child(expr, [&](const Expr& part) { look_into_block(part, true); });
  }

  void keep_open(const Expr& expr) {
    std::vector<Expr> work = {expr};
    while (!work.empty()) {
      const Expr next = std::move(work.back());
      work.pop_back();
      if (!next->type || !lang::has_any_dim(next->type)) continue;
      if (const auto* var = as<lang::Var>(next)) {
        if (const Expr* value = values_.find(var->variable.get())) work.push_back(*value);
      } else if (follows(next) && nodes_.insert(next.get())) {
        lang::for_each_child(next, [&](const Expr& part) { work.push_back(part); });
      }
    }
  }

  lang::PointerMap<lang::Variable, Expr> values_;
  lang::PointerSet<lang::ExprNode> nodes_;
};

class ExtentsFixer final : public lang::Rewriter {
 public:
  ExtentsFixer(const Expr& fn, const Evaluate& evaluate) : open_(fn), evaluate_(evaluate) {}
  bool has_fixed() const { return has_fixed_; }

 protected:
  Expr pre(const Expr& expr) override {
    if (expr->kind == ExprKind::Let) return block(expr);
    if (open_.has(expr)) return expr;
    if (const auto* var = as<lang::Var>(expr)) {
      const Expr* better = retyped_.find(var->variable.get());
      return better ? *better : Expr();
    }
    return nullptr;
  }

  Expr post(const Expr& expr) override {
    switch (expr->kind) {
      case ExprKind::Call:
        return call(expr);
      case ExprKind::Tuple: {
        std::vector<Type> fields;
        for (const Expr& field : lang::cast<lang::Tuple>(expr).fields)
          fields.push_back(field->type);
        return lang::with_type(expr, lang::tuple_type(std::move(fields)));
      }
      case ExprKind::Projection: {
        const auto& projection = lang::cast<lang::Projection>(expr);
        const auto& tuple = *as<lang::TupleType>(projection.tuple->type);
        return lang::with_type(expr, tuple.fields[projection.index]);
      }
      case ExprKind::If: {
        const auto& branch = lang::cast<lang::If>(expr);
        return lang::equal(branch.then_branch->type, branch.else_branch->type)
                   ? lang::with_type(expr, branch.then_branch->type)
                   : expr;
      }
      default:
        return expr;
    }
  }

 private:
  Expr block(const Expr& expr) {
    lang::Block opened = lang::open_block(expr);
    bool changed = false;
    std::vector<lang::Binding> made;
    for (lang::Binding& binding : opened.bindings) {
      Expr value = rewrite(binding.value);
      changed = changed || !(value == binding.value);
      lang::VariableRef variable = binding.variable;
      if (value->kind != ExprKind::Function && !lang::equal(value->type, variable->type)) {
        variable = lang::make_variable(variable->name, value->type, variable->span);
        retyped_[binding.variable.get()] = lang::make_var(variable);
      }
      if (const Expr constant = constant_of(value)) constants_[variable.get()] = constant;
      made.push_back({std::move(variable), std::move(value), binding.span});
    }
    Expr result = rewrite(opened.result);
    changed = changed || !(result == opened.result);
    return changed ? lang::close_block({std::move(made), std::move(result)}) : expr;
  }

  Expr call(const Expr& expr) {
    const lang::OpDef* op = operator_of(expr);
    if (!op) return expr;
    if (Expr fixed = static_form(expr, *op)) return fixed;
    if (!lang::has_any_dim(expr->type)) return expr;
    return typed(expr);
  }

  // With the type that follows from its arguments.
  static Expr typed(const Expr& expr) {
    const auto& node = lang::cast<lang::Call>(expr);
    const Expr made = called_again(expr, node.args, node.attrs);
    return lang::equal(made->type, expr->type) ? expr : made;
  }

  // Null where it has none, or a value is not known.
  Expr static_form(const Expr& expr, const lang::OpDef& op) {
    if (op.static_form.empty() || op.unlisted_static_form) return nullptr;
    const auto& node = lang::cast<lang::Call>(expr);
    std::vector<Expr> args = node.args;
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (op.inputs[i].attr.empty()) continue;
      args[i] = known(args[i]);
      if (!args[i]) return nullptr;
    }
    const Expr with_constants = with_operands(expr, std::move(args));
    const Expr untyped = lang::static_call(lang::cast<lang::Call>(with_constants));
    has_fixed_ = true;
    return typed(untyped);
  }

  // The constant that an atom stands for; null where there is none.
  Expr known(const Expr& atom) const {
    if (atom->kind == ExprKind::Constant) return atom;
    const auto* var = as<lang::Var>(atom);
    const Expr* constant = var ? constants_.find(var->variable.get()) : nullptr;
    if (constant) return *constant;
    const auto* tuple = as<lang::Tuple>(atom);
    if (!tuple) return nullptr;
    std::vector<Expr> fields;
    for (const Expr& field : tuple->fields) {
      fields.push_back(known(field));
      if (!fields.back()) return nullptr;
    }
    return lang::make_tuple(std::move(fields), {}, atom->type);
  }

  // The same for the value of a binding: constants, tuples of them, and what small tensors give.
  Expr constant_of(const Expr& value) const {
    if (Expr constant = known(value)) return constant;
    if (const auto* projection = as<lang::Projection>(value)) {
      const Expr tuple = known(projection->tuple);
      const auto* fields = as<lang::Tuple>(tuple);
      return fields ? fields->fields[projection->index] : Expr();
    }
    const lang::OpDef* op = operator_of(value);
    if (!op || op->effect != lang::Effect::None || !is_small(value->type)) return nullptr;
    const auto* call = as<lang::Call>(value);
    if (known::shape_of.is(*op)) return shape_of(*call, value->type);
    std::vector<Expr> args;
    for (const Expr& arg : call->args) {
      args.push_back(known(arg));
      if (!args.back()) return nullptr;
    }
    return evaluate_(lang::make_call(call->callee, std::move(args), call->attrs, value->span,
                                     value->type, call->algebra));
  }

  static Expr shape_of(const lang::Call& call, const Type& type) {
    const auto extents = constant_extents(call.args[0]->type);
    if (!extents) return nullptr;
    const lang::DType dtype = as<lang::TensorType>(type)->dtype.known();
    const auto rank = static_cast<std::int64_t>(extents->size());
    const lang::TensorRef value = lang::Tensor::make(dtype, {rank});
    for (std::int64_t i = 0; i < rank; ++i)
      value->set_bits(i, lang::bits_from_int(dtype, (*extents)[static_cast<std::size_t>(i)]));
    return lang::make_constant(value);
  }

  const OpenExtents open_;
  const Evaluate& evaluate_;
  bool has_fixed_ = false;
  lang::PointerMap<lang::Variable, Expr> retyped_;
  lang::PointerMap<lang::Variable, Expr> constants_;
};

}  // namespace

Expr with_static_extents(const Expr& fn, const Evaluate& evaluate) {
  const Expr made = unless_refused([&] {
    ExtentsFixer fixer(fn, evaluate);
    const Expr fixed = fixer.rewrite(fn);
    return fixer.has_fixed() ? fixed : Expr();
  });
  return made ? made : fn;
}

}  // namespace relay::opt
