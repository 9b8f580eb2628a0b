#include "lang/type.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <unordered_set>

#include "lang/diagnostic.h"
#include "lang/hash.h"

namespace relay::lang {
namespace {

// Calls visit(variable) for each occurrence, in order, except for what an enclosing `fn [A]` binds.
class VariableWalk {
 public:
  explicit VariableWalk(std::function<void(const TypeVarRef&)> visit) : visit_(std::move(visit)) {}

  void walk(const Type& type) {
    if (!type) return;
    switch (type->kind) {
      case TypeKind::Tensor: {
        const auto& tensor = static_cast<const TensorType&>(*type);
        if (!tensor.shape.has_rank()) occurrence(tensor.shape.var());
        for (const Dim& dim : tensor.shape.dims()) {
          dim.for_each_variable([this](const TypeVarRef& var) { occurrence(var); });
        }
        if (!tensor.dtype.is_known()) occurrence(tensor.dtype.var());
        break;
      }
      case TypeKind::Tuple:
        for (const Type& field : static_cast<const TupleType&>(*type).fields) walk(field);
        break;
      case TypeKind::Function: {
        const auto& function = static_cast<const FunctionType&>(*type);
        for (const TypeVarRef& var : function.quantified) bound_.insert(var.get());
        for (const Type& param : function.params) walk(param);
        walk(function.result);
        for (const TypeVarRef& var : function.quantified) bound_.erase(var.get());
        break;
      }
      case TypeKind::Adt:
        for (const Type& arg : static_cast<const AdtType&>(*type).args) walk(arg);
        break;
      case TypeKind::Reference:
        walk(static_cast<const ReferenceType&>(*type).content);
        break;
      case TypeKind::Var:
        occurrence(static_cast<const VarType&>(*type).var);
        break;
      case TypeKind::Dimension:
        static_cast<const DimensionType&>(*type).dim.for_each_variable(
            [this](const TypeVarRef& var) { occurrence(var); });
        break;
      case TypeKind::Incomplete:
        break;
    }
  }

 private:
  void occurrence(const TypeVarRef& var) {
    if (!bound_.contains(var.get())) visit_(var);
  }
  std::function<void(const TypeVarRef&)> visit_;
  std::unordered_set<const TypeVar*> bound_;
};

bool all_ground(const std::vector<Type>& types) {
  return std::all_of(types.begin(), types.end(), is_ground);
}

bool is_ground_dim(const Dim& dim) {
  bool ground = true;
  dim.for_each_variable([&ground](const TypeVarRef& var) { ground = ground && !var->flexible; });
  return ground;
}

bool is_ground_tensor(const TensorType& tensor) {
  return tensor.dtype.is_known() && tensor.shape.has_rank() &&
         std::all_of(tensor.shape.dims().begin(), tensor.shape.dims().end(), is_ground_dim);
}

std::vector<Type> substitute_all(const std::vector<Type>& types,
                                 const TypeSubstitution& substitution) {
  std::vector<Type> result;
  result.reserve(types.size());
  for (const Type& type : types) result.push_back(substitute(type, substitution));
  return result;
}

bool is_replaced(const TypeVar* var, const TypeSubstitution& substitution) {
  switch (var->kind) {
    case VarKind::Type:
      return substitution.types.contains(var);
    case VarKind::Shape:
      return substitution.shapes.contains(var);
    case VarKind::DType:
      return substitution.dtypes.contains(var);
    case VarKind::Dim:
      return substitution.dims.contains(var);
  }
  return false;
}

Type substitute_function(const Type& type, const TypeSubstitution& substitution) {
  const auto& function = static_cast<const FunctionType&>(*type);
  std::vector<Type> params = substitute_all(function.params, substitution);
  Type result = substitute(function.result, substitution);
  std::vector<TypeVarRef> quantified;
  for (const TypeVarRef& var : function.quantified) {
    if (!is_replaced(var.get(), substitution)) quantified.push_back(var);
  }
  if (params == function.params && result == function.result &&
      quantified.size() == function.quantified.size()) {
    return type;
  }
  return function_type(std::move(params), std::move(result), std::move(quantified));
}

bool all_equal(const std::vector<Type>& a, const std::vector<Type>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(),
                    [](const Type& x, const Type& y) { return equal(x, y); });
}

// Adds "var becomes replacement", which is of the same kind.
void map_variable(TypeSubstitution& substitution, const TypeVarRef& var,
                  const TypeVarRef& replacement) {
  switch (var->kind) {
    case VarKind::Type:
      substitution.types.emplace(var.get(), var_type(replacement));
      break;
    case VarKind::Shape:
      substitution.shapes.emplace(var.get(), Shape(replacement));
      break;
    case VarKind::DType:
      substitution.dtypes.emplace(var.get(), DTypeTerm(replacement));
      break;
    case VarKind::Dim:
      substitution.dims.emplace(var.get(), Dim::variable(replacement));
      break;
  }
}

bool equal_functions(const FunctionType& a, const FunctionType& b) {
  if (a.quantified.size() != b.quantified.size()) return false;
  if (a.quantified.empty()) return all_equal(a.params, b.params) && equal(a.result, b.result);
  TypeSubstitution renaming;
  for (std::size_t i = 0; i < a.quantified.size(); ++i) {
    if (a.quantified[i]->kind != b.quantified[i]->kind) return false;
    map_variable(renaming, b.quantified[i], a.quantified[i]);
  }
  return all_equal(a.params, substitute_all(b.params, renaming)) &&
         equal(a.result, substitute(b.result, renaming));
}

std::size_t hash_dim(const Dim& dim) {
  if (dim.is_any()) return 0x3f;
  std::size_t seed = std::hash<std::int64_t>()(dim.constant_part());
  for (const Dim::Term& term : dim.terms()) {
    seed = combine_hashes(seed, std::hash<std::int64_t>()(term.coefficient));
    for (const Dim::AtomRef& atom : term.atoms) {
      seed =
          combine_hashes(seed, atom->variable ? atom->variable->id
                                              : combine_hashes(hash_dim(atom->division->first),
                                                               hash_dim(atom->division->second)));
    }
  }
  return seed;
}

std::size_t hash_all(std::size_t seed, const std::vector<Type>& types) {
  for (const Type& type : types) seed = combine_hashes(seed, hash(type));
  return seed;
}

std::size_t hash_tensor(std::size_t seed, const TensorType& tensor) {
  seed =
      combine_hashes(seed, tensor.dtype.is_known() ? static_cast<std::size_t>(tensor.dtype.known())
                                                   : tensor.dtype.var()->id);
  if (!tensor.shape.has_rank()) return combine_hashes(seed, tensor.shape.var()->id);
  for (const Dim& dim : tensor.shape.dims()) seed = combine_hashes(seed, hash_dim(dim));
  return seed;
}

}  // namespace

TypeFacts facts_of(const Dim& dim) {
  TypeFacts facts;
  if (dim.is_constant()) return facts;
  dim.for_each_variable([&](const TypeVarRef& var) { facts.has_unknowns |= var->flexible; });
  return facts;
}

TypeFacts facts_of(const Shape& shape, const DTypeTerm& dtype) {
  TypeFacts facts;
  if (!dtype.is_known()) facts.has_unknowns |= dtype.var()->flexible;
  if (!shape.has_rank()) facts.has_unknowns |= shape.var()->flexible;
  for (const Dim& dim : shape.dims()) facts.has_unknowns |= facts_of(dim).has_unknowns;
  return facts;
}

TypeFacts join(TypeFacts facts, const Type& part) {
  if (!part) return facts;
  std::uint32_t room = std::numeric_limits<std::uint32_t>::max() - facts.size;
  return {facts.has_unknowns || part->has_unknowns, facts.size + std::min(part->size, room),
          std::max(facts.depth, part->depth + 1)};
}

TypeFacts facts_of(const std::vector<Type>& parts) {
  TypeFacts facts;
  for (const Type& part : parts) facts = join(facts, part);
  return facts;
}

// Scalars are everywhere: each dtype's is one node.
Type tensor_type(Shape shape, DTypeTerm dtype) {
  if (dtype.is_known() && shape.has_rank() && shape.rank() == 0) return scalar_type(dtype.known());
  return Type(new TensorType(std::move(shape), std::move(dtype)));
}

Type scalar_type(DType dtype) {
  static const std::vector<Type> scalars = [] {
    std::vector<Type> types;
    for (int i = 0; i < kDTypeCount; ++i)
      types.push_back(Type(new TensorType(Shape(), static_cast<DType>(i))));
    return types;
  }();
  return scalars[static_cast<std::size_t>(dtype)];
}

Type tuple_type(std::vector<Type> fields) { return Type(new TupleType(std::move(fields))); }

Type unit_type() {
  static const Type unit = tuple_type({});
  return unit;
}

Type function_type(std::vector<Type> params, Type result, std::vector<TypeVarRef> quantified) {
  return Type(new FunctionType(std::move(params), std::move(result), std::move(quantified)));
}

Type adt_type(const TypeDef* def, std::vector<Type> args) {
  RELAY_CHECK(def, "a data type needs its definition");
  return Type(new AdtType(def, std::move(args)));
}

Type reference_type(Type content) { return Type(new ReferenceType(std::move(content))); }

Type var_type(TypeVarRef var) {
  RELAY_CHECK(var && var->kind == VarKind::Type, "a type needs a variable of kind Type");
  return Type(new VarType(std::move(var)));
}

Type dimension_type(Dim dim) { return Type(new DimensionType(std::move(dim))); }

Type incomplete_type() {
  static const Type incomplete(new IncompleteType);
  return incomplete;
}

bool is_scalar(const Type& type) {
  const auto* tensor = as<TensorType>(type);
  return tensor && tensor->dtype.is_known() && tensor->shape.has_rank() &&
         tensor->shape.rank() == 0;
}

bool is_integer_scalar(const Type& type) {
  return is_scalar(type) && is_int(as<TensorType>(type)->dtype.known());
}

bool is_ground(const Type& type) {
  if (!type) return false;
  switch (type->kind) {
    case TypeKind::Tensor:
      return is_ground_tensor(static_cast<const TensorType&>(*type));
    case TypeKind::Tuple:
      return all_ground(static_cast<const TupleType&>(*type).fields);
    case TypeKind::Function: {
      const auto& function = static_cast<const FunctionType&>(*type);
      return all_ground(function.params) && is_ground(function.result);
    }
    case TypeKind::Adt:
      return all_ground(static_cast<const AdtType&>(*type).args);
    case TypeKind::Reference:
      return is_ground(static_cast<const ReferenceType&>(*type).content);
    case TypeKind::Dimension:
      return is_ground_dim(static_cast<const DimensionType&>(*type).dim);
    case TypeKind::Var:
    case TypeKind::Incomplete:
      return false;
  }
  return false;
}

void bind_argument(TypeSubstitution& substitution, const TypeVar& var, const Type& value) {
  if (var.kind == VarKind::Dim) {
    RELAY_CHECK(value && value->kind == TypeKind::Dimension, "a dimension is expected");
    substitution.dims.emplace(&var, static_cast<const DimensionType&>(*value).dim);
  } else {
    RELAY_CHECK(var.kind == VarKind::Type, "a data type takes types and dimensions");
    substitution.types.emplace(&var, value);
  }
}

Dim substitute(const Dim& dim, const TypeSubstitution& substitution) {
  if (substitution.dims.empty()) return dim;
  return dim.substitute([&substitution](const TypeVarRef& var) -> std::optional<Dim> {
    const auto found = substitution.dims.find(var.get());
    if (found == substitution.dims.end()) return std::nullopt;
    return found->second;
  });
}

Shape substitute(const Shape& shape, const TypeSubstitution& substitution) {
  if (!shape.has_rank()) {
    const auto found = substitution.shapes.find(shape.var().get());
    return found == substitution.shapes.end() ? shape : found->second;
  }
  if (substitution.dims.empty()) return shape;
  std::vector<Dim> dims;
  dims.reserve(shape.rank());
  for (const Dim& dim : shape.dims()) dims.push_back(substitute(dim, substitution));
  return Shape(std::move(dims));
}

Type substitute(const Type& type, const TypeSubstitution& substitution) {
  if (!type || substitution.empty()) return type;
  switch (type->kind) {
    case TypeKind::Tensor: {
      const auto& tensor = static_cast<const TensorType&>(*type);
      Shape shape = substitute(tensor.shape, substitution);
      DTypeTerm dtype = tensor.dtype;
      if (!dtype.is_known()) {
        const auto found = substitution.dtypes.find(dtype.var().get());
        if (found != substitution.dtypes.end()) dtype = found->second;
      }
      if (shape == tensor.shape && dtype == tensor.dtype) return type;
      return tensor_type(std::move(shape), std::move(dtype));
    }
    case TypeKind::Tuple: {
      const auto& tuple = static_cast<const TupleType&>(*type);
      std::vector<Type> fields = substitute_all(tuple.fields, substitution);
      return fields == tuple.fields ? type : tuple_type(std::move(fields));
    }
    case TypeKind::Function:
      return substitute_function(type, substitution);
    case TypeKind::Adt: {
      const auto& adt = static_cast<const AdtType&>(*type);
      std::vector<Type> args = substitute_all(adt.args, substitution);
      return args == adt.args ? type : adt_type(adt.def, std::move(args));
    }
    case TypeKind::Reference: {
      const auto& reference = static_cast<const ReferenceType&>(*type);
      Type content = substitute(reference.content, substitution);
      return content == reference.content ? type : reference_type(std::move(content));
    }
    case TypeKind::Var: {
      const auto found = substitution.types.find(static_cast<const VarType&>(*type).var.get());
      return found == substitution.types.end() ? type : found->second;
    }
    case TypeKind::Dimension: {
      const Dim& old = static_cast<const DimensionType&>(*type).dim;
      Dim dim = substitute(old, substitution);
      return dim == old ? type : dimension_type(std::move(dim));
    }
    case TypeKind::Incomplete:
      return type;
  }
  return type;
}

std::vector<TypeVarRef> variables_of(const Type& type) {
  std::vector<TypeVarRef> variables;
  std::unordered_set<const TypeVar*> seen;
  VariableWalk([&](const TypeVarRef& var) {
    if (seen.insert(var.get()).second) variables.push_back(var);
  }).walk(type);
  return variables;
}

bool equal(const Type& a, const Type& b) {
  if (a == b) return true;
  if (!a || !b || a->kind != b->kind) return false;
  switch (a->kind) {
    case TypeKind::Tensor: {
      const auto& x = static_cast<const TensorType&>(*a);
      const auto& y = static_cast<const TensorType&>(*b);
      return x.dtype == y.dtype && x.shape == y.shape;
    }
    case TypeKind::Tuple:
      return all_equal(static_cast<const TupleType&>(*a).fields,
                       static_cast<const TupleType&>(*b).fields);
    case TypeKind::Function:
      return equal_functions(static_cast<const FunctionType&>(*a),
                             static_cast<const FunctionType&>(*b));
    case TypeKind::Adt: {
      const auto& x = static_cast<const AdtType&>(*a);
      const auto& y = static_cast<const AdtType&>(*b);
      return x.def == y.def && all_equal(x.args, y.args);
    }
    case TypeKind::Reference:
      return equal(static_cast<const ReferenceType&>(*a).content,
                   static_cast<const ReferenceType&>(*b).content);
    case TypeKind::Var:
      return static_cast<const VarType&>(*a).var == static_cast<const VarType&>(*b).var;
    case TypeKind::Dimension:
      return static_cast<const DimensionType&>(*a).dim == static_cast<const DimensionType&>(*b).dim;
    case TypeKind::Incomplete:
      return true;
  }
  return false;
}

std::size_t hash(const Type& type) {
  if (!type) return 0;
  const std::size_t seed = static_cast<std::size_t>(type->kind) + 1;
  switch (type->kind) {
    case TypeKind::Tensor:
      return hash_tensor(seed, static_cast<const TensorType&>(*type));
    case TypeKind::Tuple:
      return hash_all(seed, static_cast<const TupleType&>(*type).fields);
    case TypeKind::Function: {
      const auto& function = static_cast<const FunctionType&>(*type);
      // What a quantified variable is called must not show.
      if (!function.quantified.empty()) {
        return combine_hashes(combine_hashes(seed, function.params.size()),
                              function.quantified.size());
      }
      return combine_hashes(hash_all(seed, function.params), hash(function.result));
    }
    case TypeKind::Adt: {
      const auto& adt = static_cast<const AdtType&>(*type);
      return hash_all(combine_hashes(seed, std::hash<const TypeDef*>()(adt.def)), adt.args);
    }
    case TypeKind::Reference:
      return combine_hashes(seed, hash(static_cast<const ReferenceType&>(*type).content));
    case TypeKind::Var:
      return combine_hashes(seed, static_cast<const VarType&>(*type).var->id);
    case TypeKind::Dimension:
      return combine_hashes(seed, hash_dim(static_cast<const DimensionType&>(*type).dim));
    case TypeKind::Incomplete:
      return seed;
  }
  return seed;
}

}  // namespace relay::lang
