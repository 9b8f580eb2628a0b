#include "ad/shortcut.h"

#include <algorithm>
#include <optional>
#include <set>

#include "ad/forward_block.h"
#include "ad/no_program.h"
#include "ad/pairs.h"
#include "index/flatten.h"
#include "lang/alpha_equal.h"
#include "lang/any_dim.h"
#include "lang/build.h"
#include "lang/visit.h"

namespace relay::ad {

using index::flatten;
using lang::as;
using lang::Expr;
using lang::ExprKind;
using lang::Type;
using lang::VariableRef;

namespace {

// The type with a constant for each extent that is not known: multiples of 12, which most layouts
// divide; a `?` by its place from the right, so that such shapes broadcast.
class Sample {
 public:
  Type of(const Type& type) {
    if (const auto* tuple = as<lang::TupleType>(type)) {
      std::vector<Type> fields;
      for (const Type& field : tuple->fields) fields.push_back(of(field));
      return lang::tuple_type(std::move(fields));
    }
    const auto* tensor = as<lang::TensorType>(type);
    if (!tensor || !tensor->shape.has_rank()) return type;
    std::vector<lang::Dim> dims;
    const auto rank = static_cast<std::int64_t>(tensor->shape.rank());
    for (std::int64_t axis = 0; axis < rank; ++axis) {
      const lang::Dim& dim = tensor->shape[static_cast<std::size_t>(axis)];
      dims.push_back(dim.is_any() ? lang::Dim(12 * (rank - axis)) : substituted(dim));
    }
    return lang::tensor_type(lang::Shape(std::move(dims)), tensor->dtype);
  }

 private:
  lang::Dim substituted(const lang::Dim& dim) {
    return dim.substitute([&](const lang::TypeVarRef& variable) -> std::optional<lang::Dim> {
      const auto next = static_cast<std::int64_t>(values_.size());
      return lang::Dim(values_.try_emplace(variable.get(), 12 * (next + 5)).first->second);
    });
  }
  std::map<const lang::TypeVar*, std::int64_t> values_;
};

// The bindings that the result needs.
Expr without_dead_code(std::vector<lang::Binding> bindings, const Expr& result) {
  std::set<const lang::Variable*> needed;
  const auto need = [&](const Expr& expr) {
    for (const VariableRef& variable : lang::free_variables(expr)) needed.insert(variable.get());
  };
  need(result);
  std::vector<lang::Binding> kept;
  for (auto it = bindings.rbegin(); it != bindings.rend(); ++it) {
    if (!needed.count(it->variable.get())) continue;
    need(it->value);
    kept.push_back(std::move(*it));
  }
  std::reverse(kept.begin(), kept.end());
  return lang::close_block({std::move(kept), result});
}

// One application at sample extents.
class Application {
 public:
  Application(const lang::Call& call, const lang::OpDef& op) : op_(op), attrs_(call.attrs) {
    Sample sample;
    std::vector<Type> types;
    for (const Expr& arg : call.args) {
      types.push_back(sample.of(arg->type));
      args_.push_back(lang::make_var(lang::make_variable("x", types.back())));
      tangents_.push_back(lang::make_var(lang::make_variable("dx", types.back())));
    }
    result_ = lang::ground_result_type(op, types, attrs_);
    block_ = defined(args_);
  }

  bool is_diagonal(const Activity& active) const {
    if (!block_.bindings.empty()) return false;
    for (std::size_t i = 0; i < args_.size(); ++i) {
      if (active[i] && !(lang::equal(args_[i]->type, result_) && reads_its_place(args_[i])))
        return false;
    }
    return true;
  }

  // Is the tangent, with the active arguments alone, the operator of their tangents?
  bool is_linear(const Activity& active) const {
    NoProgram program;
    Pairs pairs(program);
    Tangents& tangents = pairs.tangents();
    if (!lang::equal(tangents.of(result_), result_)) return false;
    ForwardBlock forward(program, pairs);
    std::vector<Expr> args = args_;
    for (std::size_t i = 0; i < args_.size(); ++i) {
      if (!active[i]) continue;
      if (!lang::equal(tangents.of(args_[i]->type), args_[i]->type)) return false;
      args[i] = tangents_[i];
      forward.set_tangent(lang::cast<lang::Var>(args_[i]).variable, TangentValue(tangents_[i]));
    }
    Emitter code(tangents);
    const auto dual = forward.run(lang::close_block(block_), code);
    if (dual.tangent.is_zero()) return false;
    const Expr tangent = dual.tangent.value(result_, dual.value, code);
    const lang::Block expected = defined(args);
    return lang::alpha_equal(without_dead_code(code.take(), tangent), plain(expected));
  }

 private:
  lang::Block defined(const std::vector<Expr>& args) const {
    return flatten(op_.definition({args, attrs_, result_}));
  }
  // With a name for the result, as a derived block has one.
  static Expr plain(lang::Block block) {
    if (!lang::build::is_atom(block.result)) {
      const VariableRef variable = lang::make_variable("value", block.result->type);
      block.bindings.push_back({variable, block.result});
      block.result = lang::make_var(variable);
    }
    return without_dead_code(std::move(block.bindings), block.result);
  }

  // Are all reads of `arg` those of the element at the place of the result's?
  bool reads_its_place(const Expr& arg) const {
    const Expr& result = block_.result;
    const auto is_arg = [&](const Expr& expr) {
      const auto* var = as<lang::Var>(expr);
      return var && var->variable == lang::cast<lang::Var>(arg).variable;
    };
    if (is_arg(result)) return true;
    if (result->kind == ExprKind::Primitive) return lang::is_scalar(arg->type);
    const auto* comprehension = as<lang::Comprehension>(result);
    if (!comprehension || !lang::is_scalar(comprehension->body->type)) return false;
    bool holds = true;
    lang::visit_post_order(result, [&](const Expr& node) {
      if (const auto* index = as<lang::Index>(node); index && is_arg(index->tensor)) {
        bool is_at_place = index->indices.size() == comprehension->binders.size();
        for (std::size_t i = 0; is_at_place && i < index->indices.size(); ++i) {
          const auto* var = as<lang::Var>(index->indices[i]);
          is_at_place = var && var->variable == comprehension->binders[i].variable;
        }
        holds = holds && is_at_place;
        return;
      }
      lang::for_each_child(node, [&](const Expr& child) { holds = holds && !is_arg(child); });
    });
    return holds;
  }

  const lang::OpDef& op_;
  lang::AttrsRef attrs_;
  std::vector<Expr> args_;
  std::vector<Expr> tangents_;
  Type result_;
  lang::Block block_;
};

Shortcut find(const lang::Call& call, const lang::OpDef& op, const Activity& active) {
  const Application application(call, op);
  // Equal `?` may be different extents, and different extents have equal samples.
  bool has_result_type = true;
  for (std::size_t i = 0; i < active.size(); ++i) {
    const Type& type = call.args[i]->type;
    const bool is_sure = call.args.size() == 1 || !lang::has_any_dim(type);
    has_result_type = has_result_type && (!active[i] || (is_sure && lang::equal(type, call.type)));
  }
  if (op.gradient && has_result_type && application.is_diagonal(active)) return Shortcut::Diagonal;
  if (application.is_linear(active)) return Shortcut::Joint;
  if (std::count(active.begin(), active.end(), true) < 2) return Shortcut::None;
  for (std::size_t i = 0; i < active.size(); ++i) {
    Activity alone(active.size());
    alone[i] = true;
    if (active[i] && !application.is_linear(alone)) return Shortcut::None;
  }
  return Shortcut::Separate;
}

}  // namespace

Shortcut shortcut_of(const lang::Call& call, const lang::OpDef& op, const Activity& active) {
  if (!op.definition) return Shortcut::None;
  try {
    return find(call, op, active);
  } catch (const lang::Failure&) {
    return Shortcut::None;  // it has no meaning at the sample extents
  }
}

}  // namespace relay::ad
