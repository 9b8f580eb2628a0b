#include "lang/lowerable.h"

#include <algorithm>
#include <unordered_map>

#include "lang/binders.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::lang {

namespace {

bool is_tensor_data(const Type& type) {
  if (const auto* tuple = as<TupleType>(type)) {
    return !tuple->fields.empty() &&
           std::all_of(tuple->fields.begin(), tuple->fields.end(), is_tensor_data);
  }
  const auto* tensor = as<TensorType>(type);
  return tensor && tensor->shape.has_rank() && tensor->dtype.is_known();
}

bool is_defined_operator_call(const Call& call) {
  const auto* op = as<Operator>(call.callee);
  if (!op || op->op->effect != Effect::None) return false;
  return op->op->definition || !op->op->static_form.empty() ||
         op->op->primitive != TensorPrimitive::None;
}

}  // namespace

// What stands inside index notation that is lowered as a whole.
class LowerableParts::Bodies {
 public:
  enum class Of : std::uint8_t { Scalars, Tensors };
  enum class Globals : std::uint8_t { AreRead, AreStillThere };
  explicit Bodies(Of of, Globals globals = Globals::AreRead) : of_(of), globals_(globals) {}

  // The binders of a nest that is lowered: extents are known before it runs.
  bool enter(const std::vector<IndexBinder>& binders) {
    for (const IndexBinder& binder : binders) {
      if (!binder.extent || !is_plain_extent(binder.extent)) return false;
    }
    take_in(binders);
    return true;
  }
  void take_in(const std::vector<IndexBinder>& binders) {
    for (const IndexBinder& binder : binders) inside_.emplace(binder.variable.get(), nullptr);
  }

  bool are_bodies(const std::vector<Expr>& exprs) {
    return std::all_of(exprs.begin(), exprs.end(),
                       [this](const Expr& expr) { return is_body(expr); });
  }

  bool enter(const Let& let) {
    if (!is_part(let.value)) return false;
    inside_.emplace(let.variable.get(), let.value);
    return true;
  }

  // Scalar code.
  bool is_body(const Expr& expr) { return is_scalar(expr->type) && is_part(expr); }

  // The same, or a tensor that is made for each point, or a tuple of such. Code is a graph: what
  // has been found to be a part, or none, is that wherever else it is used.
  bool is_part(const Expr& expr) {
    if (expr->kind == ExprKind::Var) return is_new_part(expr);
    if (const auto known = parts_.find(expr.get()); known != parts_.end()) return known->second;
    const bool result = is_new_part(expr);
    parts_.emplace(expr.get(), result);
    return result;
  }

  bool are_parts(const std::vector<Expr>& exprs) {
    return std::all_of(exprs.begin(), exprs.end(),
                       [this](const Expr& expr) { return is_part(expr); });
  }

 private:
  bool is_new_part(const Expr& expr) {
    if (of_ == Of::Scalars && !is_scalar(expr->type)) return false;
    switch (expr->kind) {
      case ExprKind::Var:
      case ExprKind::Constant:
        return is_tensor_data(expr->type);
      case ExprKind::GlobalVar:
        return globals_ == Globals::AreStillThere && is_tensor_data(expr->type);
      case ExprKind::DimTerm:
        return true;
      case ExprKind::Tuple:
        return are_parts(cast<Tuple>(expr).fields);
      case ExprKind::Projection:
        return is_part(cast<Projection>(expr).tuple);
      case ExprKind::Primitive:
        return are_bodies(cast<Primitive>(expr).args);
      case ExprKind::Index: {
        const auto& index = cast<Index>(expr);
        return is_tensor_data(expr->type) && are_bodies(index.indices) &&
               (index.tensor->kind == ExprKind::Var || is_part(index.tensor));
      }
      case ExprKind::Call: {
        const auto& call = cast<Call>(expr);
        if (!is_tensor_data(expr->type) || !is_defined_operator_call(call)) return false;
        const bool is_of_scalars = is_scalar(expr->type) && are_scalars(call.args);
        return (is_of_scalars || nests(call)) && are_parts(call.args);
      }
      case ExprKind::Let:
        return enter(cast<Let>(expr)) && is_part(cast<Let>(expr).body);
      case ExprKind::If: {
        const auto& branch = cast<If>(expr);
        return is_tensor_data(expr->type) && is_body(branch.condition) &&
               is_part(branch.then_branch) && is_part(branch.else_branch);
      }
      case ExprKind::Reduction: {
        const auto& reduction = cast<Reduction>(expr);
        return enter(reduction.binders) &&
               (reduction.op == ReduceOp::Dot ? is_part(reduction.body) : is_body(reduction.body));
      }
      case ExprKind::Comprehension: {
        // Only elements that are read are computed: what fails in the others would not be seen.
        const auto& node = cast<Comprehension>(expr);
        return enter(node.binders) && is_part(node.body) && !may_fail_(node.body);
      }
      default:
        return false;
    }
  }

  // A loop of a kernel has one extent. That of `sum k < i` is another at each `i`, so each point of
  // the nest runs a kernel of its own.
  bool is_plain_extent(const Expr& extent) const {
    switch (extent->kind) {
      case ExprKind::Constant:
      case ExprKind::DimTerm:
        return true;
      case ExprKind::Var:
        return !inside_.contains(cast<Var>(extent).variable.get()) || is_known_inside(extent);
      default:
        return false;
    }
  }
  // Is this a number where its operands are?
  static bool is_folded(Prim prim, const std::vector<Expr>& args) {
    const auto* operand = as<TensorType>(args.back()->type);
    if (!operand || !(operand->dtype.known() == DType::Int64)) return prim == Prim::Cast;
    return !may_divide_by_zero(prim, args);
  }
  // Is what a body computes for an extent a number as soon as the extents of tensors are?
  bool is_known_inside(const Expr& value) const {
    const auto are_known = [this](const std::vector<Expr>& exprs) {
      return std::all_of(exprs.begin(), exprs.end(),
                         [this](const Expr& expr) { return is_known_inside(expr); });
    };
    switch (value->kind) {
      case ExprKind::Constant:
      case ExprKind::DimTerm:
        return true;
      case ExprKind::Var: {
        const auto found = inside_.find(cast<Var>(value).variable.get());
        return found != inside_.end() && found->second && is_known_inside(found->second);
      }
      case ExprKind::Primitive: {
        const auto& node = cast<Primitive>(value);
        return is_folded(node.prim, node.args) && are_known(node.args);
      }
      case ExprKind::Call: {
        const auto& call = cast<Call>(value);
        const auto* op = as<Operator>(call.callee);
        if (!op || op->op->name != "dim_of")
          return op && op->op->elementwise && is_folded(*op->op->elementwise, call.args) &&
                 are_known(call.args);
        const auto* var = as<Var>(call.args[0]);
        return var && !depends_on_index(var->variable);
      }
      default:
        return false;
    }
  }
  bool depends_on_index(const VariableRef& variable) const {
    const auto found = inside_.find(variable.get());
    if (found == inside_.end()) return false;
    if (!found->second) return true;
    const std::vector<VariableRef> used = free_variables(found->second);
    return std::any_of(used.begin(), used.end(),
                       [this](const VariableRef& each) { return depends_on_index(each); });
  }

  static bool are_scalars(const std::vector<Expr>& exprs) {
    return std::all_of(exprs.begin(), exprs.end(),
                       [](const Expr& expr) { return is_scalar(expr->type); });
  }
  // May its definition stand in a body?
  static bool nests(const Call& call) {
    const OpDef& op = *cast<Operator>(call.callee).op;
    if (!op.nests) return false;
    const auto* operand = call.args.empty() ? nullptr : as<TensorType>(call.args[0]->type);
    return !op.elementwise || !operand ||
           !divides_integers(*op.elementwise, operand->dtype.known());
  }

  const Of of_;
  const Globals globals_;
  std::unordered_map<const Variable*, Expr> inside_;  // values of `let`s; null for indices
  std::unordered_map<const ExprNode*, bool> parts_;
  MayFail may_fail_;
};

LowerableParts::LowerableParts() : bodies_(std::make_unique<Bodies>(Bodies::Of::Tensors)) {}
LowerableParts::~LowerableParts() = default;
bool LowerableParts::enter(const std::vector<IndexBinder>& binders) {
  return bodies_->enter(binders);
}
bool LowerableParts::enter(const Let& let) { return bodies_->enter(let); }
bool LowerableParts::holds(const Expr& part) { return bodies_->is_part(part); }

namespace {

using Bodies = LowerableParts::Bodies;

bool is_index_notation(const Expr& expr, Bodies::Of of) {
  Bodies bodies(of);
  switch (expr->kind) {
    case ExprKind::Comprehension: {
      const auto& node = cast<Comprehension>(expr);
      if (!bodies.enter(node.binders) || !is_tensor_data(node.type)) return false;
      const auto* tuple = as<Tuple>(node.body);
      return tuple ? bodies.are_parts(tuple->fields) : bodies.is_part(node.body);
    }
    case ExprKind::Reduction:
      return bodies.is_body(expr);
    case ExprKind::ScatterReduce: {
      const auto& node = cast<ScatterReduce>(expr);
      return node.init->kind == ExprKind::Var && bodies.enter(node.binders) &&
             bodies.are_bodies(node.indices) && bodies.is_body(node.value);
    }
    default:
      return false;
  }
}

}  // namespace

bool is_lowerable(const Expr& expr) {
  if (expr->kind != ExprKind::Call) return is_index_notation(expr, Bodies::Of::Tensors);
  const auto& call = cast<Call>(expr);
  return is_defined_operator_call(call) && is_tensor_data(expr->type) &&
         std::all_of(call.args.begin(), call.args.end(),
                     [](const Expr& arg) { return is_tensor_data(arg->type); });
}

bool is_scalar_notation(const Expr& expr) { return is_index_notation(expr, Bodies::Of::Scalars); }

bool has_lowerable_bodies(const ScatterReduce& scatter) {
  Bodies bodies(Bodies::Of::Tensors, Bodies::Globals::AreStillThere);
  bodies.take_in(scatter.binders);
  return bodies.are_bodies(scatter.indices) && bodies.is_body(scatter.value);
}

bool divides_integers(Prim prim, DType operand) {
  const bool divides =
      prim == Prim::Div || prim == Prim::Mod || prim == Prim::FloorDiv || prim == Prim::FloorMod;
  return divides && is_int(operand);
}

bool may_divide_by_zero(Prim prim, const std::vector<Expr>& args) {
  const auto* operand = as<TensorType>(args.back()->type);
  if (!operand || !divides_integers(prim, operand->dtype.known())) return false;
  const auto* divisor = as<Constant>(args.back());
  return !divisor || divisor->value->rank() > 0 || divisor->value->bits_at(0) == 0;
}

bool is_cheap(Prim prim) {
  switch (prim) {
    case Prim::Add:
    case Prim::Sub:
    case Prim::Mul:
    case Prim::Min:
    case Prim::Max:
    case Prim::Neg:
    case Prim::Abs:
    case Prim::Eq:
    case Prim::Ne:
    case Prim::Lt:
    case Prim::Le:
    case Prim::Gt:
    case Prim::Ge:
    case Prim::And:
    case Prim::Or:
    case Prim::Xor:
    case Prim::Not:
    case Prim::Select:
    case Prim::Cast:
      return true;
    default:
      return false;
  }
}

bool MayFail::operator()(const Expr& expr) {
  switch (expr->kind) {
    case ExprKind::Var:
    case ExprKind::Constant:
    case ExprKind::DimTerm:
    case ExprKind::Operator:
      return false;
    default:
      break;
  }
  if (const auto found = known_.find(expr.get()); found != known_.end()) return found->second;
  const bool result = fresh(expr);
  known_.emplace(expr.get(), result);
  return result;
}

bool MayFail::fresh(const Expr& expr) {
  const auto any = [this](const std::vector<Expr>& exprs) {
    return std::any_of(exprs.begin(), exprs.end(),
                       [this](const Expr& each) { return (*this)(each); });
  };
  switch (expr->kind) {
    case ExprKind::Index: {
      const auto& index = cast<Index>(expr);
      return !index.in_bounds || any(index.indices);
    }
    case ExprKind::Primitive: {
      const auto& node = cast<Primitive>(expr);
      const auto* tensor = as<TensorType>(node.type);
      return (tensor && divides_integers(node.prim, tensor->dtype.known())) || any(node.args);
    }
    case ExprKind::Call: {
      const auto& call = cast<Call>(expr);
      const auto* op = as<Operator>(call.callee);
      const auto* tensor = as<TensorType>(expr->type);
      // Division operators on integers check their divisor; every other scalar operator is total.
      const bool may_divide =
          op && tensor && !is_float(tensor->dtype.known()) &&
          tensor->dtype.known() != DType::Bool && call.args.size() == 2 &&
          (!op->op->elementwise || divides_integers(*op->op->elementwise, tensor->dtype.known()));
      return may_divide || any(call.args);
    }
    case ExprKind::Tuple:
      return any(cast<Tuple>(expr).fields);
    case ExprKind::Projection:
      return (*this)(cast<Projection>(expr).tuple);
    case ExprKind::Let:
      return (*this)(cast<Let>(expr).value) || (*this)(cast<Let>(expr).body);
    case ExprKind::If:
      return (*this)(cast<If>(expr).condition) || (*this)(cast<If>(expr).then_branch) ||
             (*this)(cast<If>(expr).else_branch);
    case ExprKind::Reduction:
      return (*this)(cast<Reduction>(expr).body);
    case ExprKind::Comprehension:
      return (*this)(cast<Comprehension>(expr).body);
    default:
      return true;
  }
}

std::vector<VariableRef> shaping_variables(const Expr& expr) {
  std::vector<VariableRef> variables;
  const auto note = [&](const Expr& value) {
    if (const auto* var = as<Var>(value)) variables.push_back(var->variable);
  };
  visit_post_order(expr, [&](const Expr& node) {
    if (const auto* binders = binders_of(node)) {
      for (const IndexBinder& binder : *binders) note(binder.extent);
    }
    const auto* call = as<Call>(node);
    const auto* op = call ? as<Operator>(call->callee) : nullptr;
    if (!op || op->op->static_form.empty()) return;
    for (std::size_t i = 0; i < call->args.size(); ++i) {
      if (!op->op->inputs[i].attr.empty()) note(call->args[i]);
    }
  });
  return variables;
}

bool is_scalar_code(const Expr& root) {
  constexpr double kSmall = 64;
  std::unordered_map<const ExprNode*, double> sizes;  // of the trees
  bool is_all_scalar = true;
  visit_post_order(root, [&](const Expr& expr) {
    const bool is_leaf = expr->kind == ExprKind::Var || expr->kind == ExprKind::Constant;
    const bool is_inner = expr->kind == ExprKind::Primitive || expr->kind == ExprKind::Let;
    if (!is_inner && !(is_leaf && is_scalar(expr->type))) is_all_scalar = false;
    double size = 1;
    for_each_child(expr, [&](const Expr& child) { size += sizes[child.get()]; });
    sizes[expr.get()] = size;
  });
  return is_all_scalar && sizes[root.get()] <= 2 * static_cast<double>(sizes.size()) + kSmall;
}

}  // namespace relay::lang
