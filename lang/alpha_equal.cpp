#include "lang/alpha_equal.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "lang/hash.h"
#include "lang/module.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::lang {
namespace {

// An attribute of an operator that is not written has its default.
bool same_attrs(const Call& a, const Call& b) {
  if (equal(a.attrs, b.attrs)) return true;
  const auto* op = as<Operator>(a.callee);
  const auto* other = as<Operator>(b.callee);
  if (!op || !other || op->op != other->op) return false;
  try {
    return equal(complete_attrs(*op->op, a.attrs, {}), complete_attrs(*op->op, b.attrs, {}));
  } catch (const Failure&) {
    return false;
  }
}

// A one-to-one map between the nodes (or variables) of two sides.
template <class T>
class Pairing {
 public:
  const T* right_of(const T* left) const { return find(right_, left); }
  const T* left_of(const T* right) const { return find(left_, right); }
  void set(const T* left, const T* right) {
    right_[left] = right;
    left_[right] = left;
  }
  void restore(const T* left, const T* old_right, const T* right, const T* old_left) {
    put(right_, left, old_right);
    put(left_, right, old_left);
  }

 private:
  using Map = std::unordered_map<const T*, const T*>;
  static const T* find(const Map& map, const T* key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : found->second;
  }
  static void put(Map& map, const T* key, const T* value) {
    if (value) {
      map[key] = value;
    } else {
      map.erase(key);
    }
  }
  Map right_;
  Map left_;
};

// Nodes whose sharing does not count.
bool is_exempt(const Expr& expr) {
  const auto* tuple = as<Tuple>(expr);
  return is_leaf(expr) || (tuple && tuple->fields.empty());
}

// Walks both sides at once with a stack of its own. A binder pairs its variables before its parts
// are compared and takes the pairs back afterwards, so code that occurs twice with the same
// variables equals code that occurs twice with different ones.
class Comparison {
 public:
  explicit Comparison(bool map_free) : map_free_(map_free) {}

  bool run(const Expr& a, const Expr& b) {
    tasks_.push_back({a, b, {}});
    while (!tasks_.empty()) {
      const Task task = std::move(tasks_.back());
      tasks_.pop_back();
      if (!task.a) {
        variables_.restore(task.scope.left, task.scope.old_right, task.scope.right,
                           task.scope.old_left);
      } else if (!compare(task.a, task.b)) {
        return false;
      }
    }
    return true;
  }

 private:
  struct Restore {
    const Variable* left = nullptr;
    const Variable* old_right = nullptr;
    const Variable* right = nullptr;
    const Variable* old_left = nullptr;
  };
  struct Task {
    Expr a;  // null: the scope of a pair of variables ends
    Expr b;
    Restore scope;
  };

  bool compare(const Expr& a, const Expr& b) {
    if (a->kind != b->kind) return false;
    if (is_exempt(a) != is_exempt(b)) return false;
    if (!is_exempt(a)) {
      const ExprNode* known_b = nodes_.right_of(a.get());
      const ExprNode* known_a = nodes_.left_of(b.get());
      if (known_b || known_a) return known_b == b.get() && known_a == a.get();
      nodes_.set(a.get(), b.get());
    }
    return compare_own(a, b) && compare_children(a, b);
  }

  bool compare_children(const Expr& a, const Expr& b) {
    std::vector<Expr> left, right;
    for_each_child(a, [&](const Expr& child) { left.push_back(child); });
    for_each_child(b, [&](const Expr& child) { right.push_back(child); });
    if (left.size() != right.size()) return false;
    for (std::size_t i = left.size(); i-- > 0;) tasks_.push_back({left[i], right[i], {}});
    return true;
  }

  void bind(const VariableRef& a, const VariableRef& b) {
    const Restore scope{a.get(), variables_.right_of(a.get()), b.get(),
                        variables_.left_of(b.get())};
    tasks_.push_back({nullptr, nullptr, scope});
    variables_.set(a.get(), b.get());
  }

  // What a node says itself, without its children; pairs the variables it binds.
  bool compare_own(const Expr& a, const Expr& b) {
    switch (a->kind) {
      case ExprKind::Var:
        return same_variable(cast<Var>(a).variable, cast<Var>(b).variable);
      case ExprKind::GlobalVar:
        return cast<GlobalVar>(a).name == cast<GlobalVar>(b).name;
      case ExprKind::Constant:
        return bit_equal(*cast<Constant>(a).value, *cast<Constant>(b).value);
      case ExprKind::Literal: {
        const auto& x = cast<Literal>(a);
        const auto& y = cast<Literal>(b);
        if (x.elements || y.elements)
          return x.elements && y.elements && bit_equal(*x.elements, *y.elements);
        return x.is_float == y.is_float && x.integer == y.integer && x.real == y.real;
      }
      case ExprKind::Projection:
        return cast<Projection>(a).index == cast<Projection>(b).index;
      case ExprKind::Let:
        bind(cast<Let>(a).variable, cast<Let>(b).variable);
        return true;
      case ExprKind::Function:
        return compare_functions(cast<Function>(a), cast<Function>(b));
      case ExprKind::Call:
        return same_attrs(cast<Call>(a), cast<Call>(b));
      case ExprKind::Match:
        return compare_matches(cast<Match>(a), cast<Match>(b));
      case ExprKind::Operator:
        return cast<Operator>(a).op == cast<Operator>(b).op;
      case ExprKind::ConstructorRef:
        return cast<ConstructorRef>(a).constructor == cast<ConstructorRef>(b).constructor;
      case ExprKind::Comprehension:
        return bind_all(cast<Comprehension>(a).binders, cast<Comprehension>(b).binders);
      case ExprKind::Reduction:
        return cast<Reduction>(a).op == cast<Reduction>(b).op &&
               bind_all(cast<Reduction>(a).binders, cast<Reduction>(b).binders);
      case ExprKind::Index:
        return cast<Index>(a).in_bounds == cast<Index>(b).in_bounds;
      case ExprKind::ScatterReduce: {
        const auto& x = cast<ScatterReduce>(a);
        const auto& y = cast<ScatterReduce>(b);
        return x.op == y.op && x.indices.size() == y.indices.size() &&
               bind_all(x.binders, y.binders);
      }
      case ExprKind::Primitive:
        return cast<Primitive>(a).prim == cast<Primitive>(b).prim &&
               (cast<Primitive>(a).prim != Prim::Cast || same_type(a->type, b->type));
      case ExprKind::DimTerm:
        return same_type(dim_as_type(a), dim_as_type(b));
      case ExprKind::Differentiate:
        return cast<Differentiate>(a).mode == cast<Differentiate>(b).mode;
      case ExprKind::Tuple:
      case ExprKind::If:
      case ExprKind::RefCreate:
      case ExprKind::RefRead:
      case ExprKind::RefWrite:
        return true;
    }
    return false;
  }

  bool same_variable(const VariableRef& a, const VariableRef& b) {
    const Variable* known_b = variables_.right_of(a.get());
    const Variable* known_a = variables_.left_of(b.get());
    if (known_b || known_a) return known_b == b.get() && known_a == a.get();
    if (!(a == b) && (!map_free_ || !same_type(a->type, b->type))) return false;
    if (map_free_) variables_.set(a.get(), b.get());
    return true;
  }

  bool compare_functions(const Function& a, const Function& b) {
    if (a.params.size() != b.params.size() || a.type_params.size() != b.type_params.size())
      return false;
    if (!equal(a.attrs, b.attrs)) return false;
    for (std::size_t i = 0; i < a.type_params.size(); ++i) {
      if (a.type_params[i]->kind != b.type_params[i]->kind) return false;
      pair_types(a.type_params[i], b.type_params[i]);
    }
    for (std::size_t i = 0; i < a.params.size(); ++i) {
      if (!same_type(a.params[i]->type, b.params[i]->type)) return false;
      if (!equal(a.params[i]->attrs, b.params[i]->attrs)) return false;
      bind(a.params[i], b.params[i]);
    }
    return !a.result || !b.result || same_type(a.result, b.result);
  }

  bool compare_matches(const Match& a, const Match& b) {
    if (a.is_complete != b.is_complete || a.clauses.size() != b.clauses.size()) return false;
    for (std::size_t i = 0; i < a.clauses.size(); ++i) {
      if (!compare_patterns(a.clauses[i].pattern, b.clauses[i].pattern)) return false;
    }
    return true;
  }

  bool compare_patterns(const PatternRef& a, const PatternRef& b) {
    if (a->kind != b->kind || a->constructor != b->constructor ||
        a->fields.size() != b->fields.size())
      return false;
    if (a->variable) bind(a->variable, b->variable);
    for (std::size_t i = 0; i < a->fields.size(); ++i) {
      if (!compare_patterns(a->fields[i], b->fields[i])) return false;
    }
    return true;
  }

  bool bind_all(const std::vector<IndexBinder>& a, const std::vector<IndexBinder>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!a[i].extent != !b[i].extent) return false;
      bind(a[i].variable, b[i].variable);
    }
    return true;
  }

  static Type dim_as_type(const Expr& expr) {
    return tensor_type(Shape{cast<DimTerm>(expr).dim}, DType::Int64);
  }

  void pair_types(const TypeVarRef& a, const TypeVarRef& b) {
    switch (b->kind) {
      case VarKind::Type:
        to_left_.types.insert_or_assign(b.get(), var_type(a));
        break;
      case VarKind::Shape:
        to_left_.shapes.insert_or_assign(b.get(), Shape(a));
        break;
      case VarKind::DType:
        to_left_.dtypes.insert_or_assign(b.get(), DTypeTerm(a));
        break;
      case VarKind::Dim:
        to_left_.dims.insert_or_assign(b.get(), Dim::variable(a));
        break;
    }
    paired_types_.set(a.get(), b.get());
  }

  bool same_type(const Type& a, const Type& b) {
    if (!a || !b) return !a && !b;
    if (map_free_) {
      const std::vector<TypeVarRef> left = variables_of(a);
      const std::vector<TypeVarRef> right = variables_of(b);
      if (left.size() != right.size()) return false;
      for (std::size_t i = 0; i < left.size(); ++i) {
        const bool is_new =
            !paired_types_.right_of(left[i].get()) && !paired_types_.left_of(right[i].get());
        if (is_new && left[i]->kind == right[i]->kind) pair_types(left[i], right[i]);
      }
    }
    return equal(a, substitute(b, to_left_));
  }

  bool map_free_;
  std::vector<Task> tasks_;
  Pairing<ExprNode> nodes_;
  Pairing<Variable> variables_;
  Pairing<TypeVar> paired_types_;
  TypeSubstitution to_left_;
};

// A bound variable is hashed by its place in its binder, which no renaming changes.
PointerMap<Variable, std::size_t> places_of_bound(const Expr& root) {
  PointerMap<Variable, std::size_t> places;
  visit_post_order(root, [&](const Expr& node) {
    std::size_t place = combine_hashes(static_cast<std::size_t>(node->kind), 1);
    for_each_binder(node,
                    [&](const VariableRef& variable) { places.insert(variable.get(), ++place); });
  });
  return places;
}

std::size_t hash_attrs(const AttrsRef& attrs) {
  std::size_t seed = 0;
  if (!attrs) return seed;
  for (const Attr& attr : attrs->list) {
    seed =
        combine_hashes(combine_hashes(seed, std::hash<std::string>()(attr.key)), attr.value.hash());
  }
  return seed;
}

std::size_t hash_constant(const Tensor& tensor) {
  constexpr std::int64_t kMostElements = 64;
  std::size_t seed = static_cast<std::size_t>(tensor.dtype());
  for (const std::int64_t extent : tensor.shape())
    seed = combine_hashes(seed, static_cast<std::size_t>(extent));
  const std::int64_t count = std::min(tensor.element_count(), kMostElements);
  for (std::int64_t i = 0; i < count; ++i) seed = combine_hashes(seed, tensor.bits_at(i));
  return seed;
}

// What a node says itself. Types of the type language are left out: they may be renamed.
std::size_t hash_own(const Expr& expr) {
  switch (expr->kind) {
    case ExprKind::GlobalVar:
      return std::hash<std::string>()(cast<GlobalVar>(expr).name);
    case ExprKind::Constant:
      return hash_constant(*cast<Constant>(expr).value);
    case ExprKind::Literal: {
      const auto& literal = cast<Literal>(expr);
      if (literal.elements) return hash_constant(*literal.elements);
      return literal.is_float ? std::hash<double>()(literal.real)
                              : std::hash<std::int64_t>()(literal.integer);
    }
    case ExprKind::Projection:
      return cast<Projection>(expr).index;
    case ExprKind::Function:
      return combine_hashes(cast<Function>(expr).params.size(),
                            hash_attrs(cast<Function>(expr).attrs));
    case ExprKind::Call:
      return hash_attrs(cast<Call>(expr).attrs);
    case ExprKind::Match:
      return cast<Match>(expr).clauses.size();
    case ExprKind::Operator:
      return std::hash<const void*>()(cast<Operator>(expr).op);
    case ExprKind::ConstructorRef:
      return std::hash<const void*>()(cast<ConstructorRef>(expr).constructor);
    case ExprKind::Comprehension:
      return cast<Comprehension>(expr).binders.size();
    case ExprKind::Reduction:
      return combine_hashes(static_cast<std::size_t>(cast<Reduction>(expr).op),
                            cast<Reduction>(expr).binders.size());
    case ExprKind::Index:
      return cast<Index>(expr).in_bounds;
    case ExprKind::ScatterReduce:
      return static_cast<std::size_t>(cast<ScatterReduce>(expr).op);
    case ExprKind::Primitive:
      return static_cast<std::size_t>(cast<Primitive>(expr).prim);
    case ExprKind::DimTerm:
      return static_cast<std::size_t>(cast<DimTerm>(expr).dim.constant_part());
    case ExprKind::Differentiate:
      return static_cast<std::size_t>(cast<Differentiate>(expr).mode);
    default:
      return 0;
  }
}

}  // namespace

bool alpha_equal(const Expr& a, const Expr& b, bool map_free) {
  if (!a || !b) return !a && !b;
  return Comparison(map_free).run(a, b);
}

std::size_t structural_hash(const Expr& root) {
  const PointerMap<Variable, std::size_t> places = places_of_bound(root);
  const auto own = [&](const Expr& expr) {
    const std::size_t hash = combine_hashes(static_cast<std::size_t>(expr->kind), hash_own(expr));
    const auto* var = as<Var>(expr);
    if (!var) return hash;
    const std::size_t* bound = places.find(var->variable.get());
    return combine_hashes(hash, bound ? *bound : std::hash<const void*>()(var->variable.get()));
  };
  PointerMap<ExprNode, std::size_t> hashes;  // of what has children, but for the root
  std::size_t hash = 0;
  visit_post_order(root, [&](const Expr& expr) {
    if (is_leaf(expr) && !(expr == root)) return;
    hash = own(expr);
    for_each_child(expr, [&](const Expr& child) {
      hash = combine_hashes(hash, is_leaf(child) ? own(child) : *hashes.find(child.get()));
    });
    if (!(expr == root)) hashes[expr.get()] = hash;
  });
  return hash;
}

}  // namespace relay::lang
