// Where a value with `?` meets a type that knows the extent. Each `?` opens to a fresh unknown
// there: what is found for it is checked when the program runs, and what stays open is a `?` again.

#include <algorithm>

#include "lang/stop.h"
#include "typecheck/inference.h"

namespace relay::typecheck {

using namespace lang;

// Of two types that agree, the one with fewer `?`; or, for `widen`, with more.
Type merge_dims(const Type& a, const Type& b, bool widen) {
  const auto* left = as<TensorType>(a);
  const auto* right = as<TensorType>(b);
  if (left && right && left->shape.has_rank() && right->shape.has_rank() &&
      left->shape.rank() == right->shape.rank()) {
    std::vector<Dim> dims;
    for (std::size_t i = 0; i < left->shape.rank(); ++i) {
      dims.push_back(left->shape[i].is_any() != widen ? right->shape[i] : left->shape[i]);
    }
    return tensor_type(Shape(std::move(dims)), left->dtype);
  }
  const auto* tuple = as<TupleType>(a);
  const auto* other = as<TupleType>(b);
  if (tuple && other && tuple->fields.size() == other->fields.size()) {
    std::vector<Type> fields;
    for (std::size_t i = 0; i < tuple->fields.size(); ++i) {
      fields.push_back(merge_dims(tuple->fields[i], other->fields[i], widen));
    }
    return tuple_type(std::move(fields));
  }
  // What data holds has entered without a check, so it is never known better than it says.
  const auto* adt = as<AdtType>(a);
  const auto* other_adt = as<AdtType>(b);
  if (widen && adt && other_adt && adt->def == other_adt->def) {
    std::vector<Type> args;
    for (std::size_t i = 0; i < adt->args.size(); ++i)
      args.push_back(merge_dims(adt->args[i], other_adt->args[i], widen));
    return adt_type(adt->def, std::move(args));
  }
  const auto* dim = as<DimensionType>(a);
  return widen && dim && as<DimensionType>(b) && !dim->dim.is_any() ? b : a;
}

namespace {

bool join_lists(const std::vector<Type>& a, const std::vector<Type>& b, std::vector<Type>& both) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) both.push_back(joined_extents(a[i], b[i]));
  return std::none_of(both.begin(), both.end(), [](const Type& type) { return !type; });
}

}  // namespace

Type joined_extents(const Type& a, const Type& b) {
  if (equal(a, b)) return a;
  std::vector<Type> parts;
  const auto* tuple = as<TupleType>(a);
  const auto* other_tuple = as<TupleType>(b);
  if (tuple && other_tuple)
    return join_lists(tuple->fields, other_tuple->fields, parts) ? tuple_type(parts) : nullptr;
  const auto* adt = as<AdtType>(a);
  const auto* other_adt = as<AdtType>(b);
  if (adt && other_adt && adt->def == other_adt->def)
    return join_lists(adt->args, other_adt->args, parts) ? adt_type(adt->def, parts) : nullptr;
  const auto* tensor = as<TensorType>(a);
  const auto* other = as<TensorType>(b);
  if (!tensor || !other || !(tensor->dtype == other->dtype) || !tensor->shape.has_rank() ||
      !other->shape.has_rank() || tensor->shape.rank() != other->shape.rank())
    return nullptr;
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < tensor->shape.rank(); ++i) {
    const bool is_same = tensor->shape[i] == other->shape[i];
    dims.push_back(is_same ? tensor->shape[i] : Dim::any());
  }
  return tensor_type(Shape(std::move(dims)), tensor->dtype);
}

bool mentions_any_dim(const Type& type) {
  if (const auto* tuple = as<TupleType>(type))
    return std::any_of(tuple->fields.begin(), tuple->fields.end(), mentions_any_dim);
  if (const auto* adt = as<AdtType>(type))
    return std::any_of(adt->args.begin(), adt->args.end(), mentions_any_dim);
  if (const auto* dim = as<DimensionType>(type)) return dim->dim.is_any();
  return has_any_dim(type);
}

Type Inference::enter(const Type& found, const Type& expected, Span span, std::size_t operand) {
  if (!widening_ || !widening_->is_marking()) return found;
  return widening_->entered(found, expected, span, operand, solver_);
}

Type Inference::enter_annotation(const ExprNode* site, const Type& annotation, Span span,
                                 const std::string& because) {
  if (!widening_ || !widening_->is_marking()) return annotation;
  const TypeKind kind = solver_.head(annotation)->kind;
  if (kind != TypeKind::Tensor && kind != TypeKind::Tuple) return annotation;
  coercions_[{site, 0}] = {annotation, because};
  return enter(annotation, nullptr, span, 0);
}

// `found` with an unknown for each `?` where `expected` knows more, or may still.
Type Inference::open_extents(const Type& found, const Type& expected) {
  const auto* tensor = as<TensorType>(found);
  const auto* wanted = as<TensorType>(expected);
  if (tensor && wanted) {
    if (!tensor->shape.has_rank() || !wanted->shape.has_rank() ||
        tensor->shape.rank() != wanted->shape.rank()) {
      return found;
    }
    std::vector<Dim> dims = tensor->shape.dims();
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      if (!dims[axis].is_any() || wanted->shape[axis].is_any()) continue;
      opened_.push_back(solver_.fresh(VarKind::Dim));
      dims[axis] = Dim::variable(opened_.back());
    }
    return tensor_type(Shape(std::move(dims)), tensor->dtype);
  }
  const auto* tuple = as<TupleType>(found);
  const auto* other = as<TupleType>(expected);
  if (!tuple || !other || tuple->fields.size() != other->fields.size()) return found;
  std::vector<Type> fields;
  for (std::size_t i = 0; i < tuple->fields.size(); ++i)
    fields.push_back(open_extents(tuple->fields[i], other->fields[i]));
  return tuple_type(std::move(fields));
}

Type Inference::coerce(const ExprNode* site, std::size_t index, const Type& found,
                       const Type& expected, const std::string& because) {
  TypeKind kind = solver_.head(found)->kind;
  if (kind != TypeKind::Tensor && kind != TypeKind::Tuple) return found;
  Type known = solver_.resolve(found);
  if (!has_any_dim(known)) return found;
  std::size_t first = opened_.size();
  Type opened = open_extents(known, solver_.resolve(expected));
  if (opened_.size() == first) return found;
  coercions_[{site, index}] = {opened, because};
  return opened;
}

const Coercion* Inference::coercion(const ExprNode* site, std::size_t index) const {
  if (coercions_.empty()) return nullptr;
  auto found = coercions_.find({site, index});
  return found == coercions_.end() ? nullptr : &found->second;
}

namespace {

// The parts of an expression that have its type.
template <class Visit>
void visit_tails(const Expr& expr, const Visit& visit) {
  const ExprNode* node = tail_of(expr);
  if (const auto* branches = node->kind == ExprKind::If ? static_cast<const If*>(node) : nullptr) {
    visit_tails(branches->then_branch, visit);
    visit_tails(branches->else_branch, visit);
  } else if (node->kind == ExprKind::Match) {
    for (const Clause& clause : static_cast<const Match*>(node)->clauses)
      visit_tails(clause.body, visit);
  } else {
    visit(node);
  }
}

}  // namespace

// Data is made of parts, the first of which would say what the others must be: where the type of
// the whole is written with a `?`, that goes for all of them. It is looked at where a constructor
// is called.
void Inference::hint(const Expr& expr, const Type& expected) {
  const TypeKind kind = solver_.head(expected)->kind;
  if (kind != TypeKind::Adt && kind != TypeKind::Tuple) return;
  const Type known = solver_.resolve(expected);
  if (!mentions_any_dim(known)) return;
  visit_tails(expr, [&](const ExprNode* node) {
    if (node->kind == ExprKind::Call) {
      const auto* call = static_cast<const Call*>(node);
      if (call->callee->kind == ExprKind::ConstructorRef) hints_[call] = known;
    } else if (const auto* tuple = as<TupleType>(known); tuple && node->kind == ExprKind::Tuple) {
      const auto& fields = static_cast<const Tuple*>(node)->fields;
      for (std::size_t i = 0; i < std::min(fields.size(), tuple->fields.size()); ++i)
        hint(fields[i], tuple->fields[i]);
    }
  });
}

// What does not fit is found where the whole meets what it is for.
void Inference::take_hint(const Call& call, const Type& constructor) {
  const Type* expected = hints_.find(&call);
  const auto* function = as<FunctionType>(constructor);
  if (!expected || !function) return;
  const auto* wanted = as<AdtType>(*expected);
  const auto* made = as<AdtType>(function->result);
  if (!wanted || !made || wanted->def != made->def) return;
  for (std::size_t i = 0; i < made->args.size(); ++i) {
    if (mentions_any_dim(wanted->args[i])) solver_.unify(made->args[i], wanted->args[i]);
  }
  if (solver_.has_woken()) relations_.drain();
}

bool Inference::settle_opened() {
  bool settled = false;
  for (const TypeVarRef& var : opened_) {
    Dim known = solver_.resolve(Dim::variable(var));
    TypeVarRef open = known.is_any() ? nullptr : known.as_variable();
    if (!open || !solver_.find(*open)) continue;
    solver_.settle(*open, Dim::any());
    settled = true;
  }
  return settled;
}

}  // namespace relay::typecheck
