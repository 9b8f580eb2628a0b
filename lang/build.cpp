#include "lang/build.h"

#include "lang/binders.h"
#include "lang/diagnostic.h"

namespace relay::lang::build {
namespace {

const Type& type_of(const Expr& expr) {
  RELAY_CHECK(expr && expr->type, "a helper of lang/build.h got an expression without a type");
  return expr->type;
}

// The expression, which must have got a type from its parts.
Expr typed(Expr expr) {
  RELAY_CHECK(expr->type,
              "the parts of a " + std::string(name_of(expr->kind)) + " do not fit together");
  return expr;
}

// The value of an int64 constant; null if `expr` is none.
const std::int64_t* as_index(const Expr& expr) {
  const auto* constant = as<Constant>(expr);
  if (!constant || constant->value->rank() != 0 || constant->value->dtype() != DType::Int64)
    return nullptr;
  return constant->value->data_as<std::int64_t>();
}

// i, j, k, l, m, n, then i1, ...
std::string index_name(std::size_t position) {
  static constexpr std::string_view kNames = "ijklmn";
  std::string name(1, kNames[position % kNames.size()]);
  if (position >= kNames.size()) name += std::to_string(position / kNames.size());
  return name;
}

std::vector<IndexBinder> make_binders(const std::vector<Dim>& dims) {
  std::vector<IndexBinder> binders;
  for (const Dim& dim : dims) {
    VariableRef variable = make_variable(index_name(binders.size()), scalar_type(DType::Int64));
    binders.push_back({std::move(variable),
                       dim.is_constant() ? index_constant(dim.constant()) : make_dim_term(dim)});
  }
  return binders;
}

Expr index_tensor(const Expr& tensor, const Indices& indices, bool in_bounds) {
  type_of(tensor);
  if (indices.empty()) return tensor;
  return typed(make_index(tensor, indices, in_bounds));
}

}  // namespace

Expr constant(DType dtype, double value) {
  return make_constant(Tensor::scalar(dtype, bits_from_double(dtype, value)));
}

Expr constant_int(DType dtype, std::int64_t value) {
  return make_constant(Tensor::scalar(dtype, bits_from_int(dtype, value)));
}

Expr index_constant(std::int64_t value) { return constant_int(DType::Int64, value); }

Expr prim(Prim prim, std::vector<Expr> args) {
  for (const Expr& arg : args) type_of(arg);
  RELAY_CHECK(prim != Prim::Cast, "use cast_to");
  return typed(make_primitive(prim, std::move(args)));
}

Expr cast_to(DType dtype, Expr scalar) {
  if (equal(type_of(scalar), scalar_type(dtype))) return scalar;
  return make_primitive(Prim::Cast, {std::move(scalar)}, {}, scalar_type(dtype));
}

Expr select(Expr condition, Expr a, Expr b) {
  return prim(Prim::Select, {std::move(condition), std::move(a), std::move(b)});
}

Expr add(Expr a, Expr b) {
  const std::int64_t* x = as_index(a);
  const std::int64_t* y = as_index(b);
  std::int64_t sum;
  if (x && y && !__builtin_add_overflow(*x, *y, &sum)) return index_constant(sum);
  if (x && *x == 0) return b;
  if (y && *y == 0) return a;
  return prim(Prim::Add, {std::move(a), std::move(b)});
}

Expr sub(Expr a, Expr b) {
  const std::int64_t* x = as_index(a);
  const std::int64_t* y = as_index(b);
  std::int64_t difference;
  if (x && y && !__builtin_sub_overflow(*x, *y, &difference)) return index_constant(difference);
  if (y && *y == 0) return a;
  return prim(Prim::Sub, {std::move(a), std::move(b)});
}

Expr mul(Expr a, Expr b) {
  const std::int64_t* x = as_index(a);
  const std::int64_t* y = as_index(b);
  std::int64_t product;
  if (x && y && !__builtin_mul_overflow(*x, *y, &product)) return index_constant(product);
  if (x && *x == 1) return b;
  if (y && *y == 1) return a;
  return prim(Prim::Mul, {std::move(a), std::move(b)});
}

Expr div(Expr a, Expr b) { return prim(Prim::Div, {std::move(a), std::move(b)}); }

Expr comprehension(const std::vector<Dim>& dims, const std::function<Expr(const Indices&)>& body) {
  if (dims.empty()) return body({});
  std::vector<IndexBinder> binders = make_binders(dims);
  Expr element = body(uses_of(binders));
  type_of(element);
  return typed(make_comprehension(std::move(binders), std::move(element)));
}

Expr reduction(ReduceOp op, const std::vector<Dim>& dims,
               const std::function<Expr(const Indices&)>& body) {
  std::vector<IndexBinder> binders = make_binders(dims);
  Expr element = body(uses_of(binders));
  type_of(element);
  const bool gives_index = op == ReduceOp::ArgMax || op == ReduceOp::ArgMin;
  if (binders.empty()) return gives_index ? index_constant(0) : element;
  return typed(make_reduction(op, std::move(binders), std::move(element)));
}

Expr scatter(ReduceOp op, Expr init, const std::vector<Dim>& dims,
             const std::function<std::pair<Indices, Expr>(const Indices&)>& body) {
  std::vector<IndexBinder> binders = make_binders(dims);
  auto [indices, value] = body(uses_of(binders));
  type_of(value);
  return typed(make_scatter_reduce(op, std::move(init), std::move(binders), std::move(indices),
                                   std::move(value)));
}

Expr at(const Expr& tensor, const Indices& indices) { return index_tensor(tensor, indices, true); }

Expr checked_at(const Expr& tensor, const Indices& indices) {
  return index_tensor(tensor, indices, false);
}

Expr let(std::string_view name, Expr value, const std::function<Expr(const Expr&)>& body) {
  if (is_atom(value)) return body(value);
  VariableRef variable = make_variable(std::string(name), type_of(value));
  Expr use = make_var(variable);
  return typed(make_let(std::move(variable), std::move(value), body(use)));
}

Expr op(std::string_view name, std::vector<Expr> args, std::vector<Attr> attrs) {
  const OpDef& def = OpRegistry::instance().get(name);
  std::vector<Type> types;
  for (const Expr& arg : args) types.push_back(type_of(arg));
  AttrsRef complete = complete_attrs(def, make_attrs(std::move(attrs)), {});
  Type result = ground_result_type(def, types, complete);
  Expr callee = make_operator(&def, {}, function_type(std::move(types), result));
  return make_call(std::move(callee), std::move(args), std::move(complete), {}, std::move(result));
}

Expr call(Expr function, std::vector<Expr> args) {
  type_of(function);
  return typed(make_call(std::move(function), std::move(args)));
}

Expr tuple(std::vector<Expr> fields) {
  for (const Expr& field : fields) type_of(field);
  return make_tuple(std::move(fields));
}

// The field itself when the tuple is written out.
Expr project(const Expr& tuple, std::uint32_t index) {
  if (const auto* node = as<Tuple>(tuple); node && index < node->fields.size())
    return node->fields[index];
  type_of(tuple);
  return typed(make_projection(tuple, index));
}

Expr if_(Expr condition, Expr then_branch, Expr else_branch) {
  RELAY_CHECK(equal(type_of(condition), scalar_type(DType::Bool)),
              "the condition of an if must be a bool");
  RELAY_CHECK(equal(type_of(then_branch), type_of(else_branch)),
              "the branches of an if have different types");
  return make_if(std::move(condition), std::move(then_branch), std::move(else_branch));
}

Expr function(std::vector<VariableRef> params, Expr body) {
  Type result = type_of(body);
  return typed(make_function(std::move(params), std::move(result), std::move(body)));
}

bool is_atom(const Expr& expr) {
  switch (expr->kind) {
    case ExprKind::Var:
    case ExprKind::Constant:
    case ExprKind::GlobalVar:
    case ExprKind::Operator:
    case ExprKind::ConstructorRef:
    case ExprKind::DimTerm:
      return true;
    default:
      return false;
  }
}

}  // namespace relay::lang::build
