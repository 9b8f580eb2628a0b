#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "lang/expr.h"
#include "lang/op.h"

// Terse helpers to write typed core expressions in C++. All arguments must be typed with ground
// types; results are typed. Used by operator definitions, gradient overrides and passes.
namespace relay::lang::build {

// --- scalars and primitives (operands rank 0) ---
Expr constant(DType dtype, double value);  // rank-0 constant
Expr constant_int(DType dtype, std::int64_t value);
Expr index_constant(std::int64_t value);  // int64
Expr prim(Prim prim, std::vector<Expr> args);
Expr cast_to(DType dtype, Expr scalar);  // itself if it already has that dtype
Expr select(Expr condition, Expr a, Expr b);
// Arithmetic on scalars as primitives; DType of a must equal b's. `+`, `-`, `*` fold int64
// constants.
Expr add(Expr a, Expr b);
Expr sub(Expr a, Expr b);
Expr mul(Expr a, Expr b);
Expr div(Expr a, Expr b);

// --- index notation ---
using Indices = std::vector<Expr>;  // int64 scalars
// for i0 < dims[0], ... { body(i) }; with no dims just body({}).
Expr comprehension(const std::vector<Dim>& dims, const std::function<Expr(const Indices&)>& body);
Expr reduction(ReduceOp op, const std::vector<Dim>& dims,
               const std::function<Expr(const Indices&)>& body);
// scatter into a copy of init
Expr scatter(ReduceOp op, Expr init, const std::vector<Dim>& dims,
             const std::function<std::pair<Indices, Expr>(const Indices&)>& body);
// tensor[indices], in bounds by construction; the tensor itself when there are no indices.
Expr at(const Expr& tensor, const Indices& indices);
Expr checked_at(const Expr& tensor, const Indices& indices);  // bounds-checked at run time
// Binds `value` to a fresh variable around `body(var)` unless it is already an atom.
Expr let(std::string_view name, Expr value, const std::function<Expr(const Expr&)>& body);

// --- operators and functions ---
// A call of a registered operator; attributes are completed, the type is computed.
Expr op(std::string_view name, std::vector<Expr> args, std::vector<Attr> attrs = {});
Expr call(Expr function, std::vector<Expr> args);  // a typed function value or global
Expr tuple(std::vector<Expr> fields);
Expr project(const Expr& tuple, std::uint32_t index);
Expr if_(Expr condition, Expr then_branch, Expr else_branch);
Expr function(std::vector<VariableRef> params, Expr body);
bool is_atom(const Expr& expr);  // Var, Constant, GlobalVar, Operator, ConstructorRef, DimTerm

// --- for gradients ---
Expr zeros_of(const Type& type);  // float tensor: zeros of that shape; int/bool: zeros; tuple:
                                  // tuple; dims may be symbolic
Expr zeros_like(const Expr& value);
Expr ones_like(const Expr& value);
// A rank-0 constant of the dtype of `like` (operators broadcast it).
Expr scalar_like(const Expr& like, double value);
// Sums `adjoint` over the axes that broadcasting `target` up to adjoint's shape stretched; itself
// when the types already agree.
Expr sum_to(Expr adjoint, const Expr& target);

}  // namespace relay::lang::build
