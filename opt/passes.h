#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/expr.h"
#include "lang/module.h"

// The named IR -> IR passes. All take and return typed expressions with ground types, and give back
// the same pointer when nothing changed.
namespace relay::opt {

// A-normal form: every compound sub-expression is bound by a `let` in the innermost scope that
// holds all its uses, in evaluation order (arguments before callee); operands are atoms. Scopes:
// function bodies, branches, clauses, comprehension/reduction/scatter bodies. (Bodies of index
// notation stay trees of primitives and indexing, without lets where they are lowerable.) Replaces
// DimTerms of symbolic dims by `dim_of(x, axis=k)` of a parameter. What does not depend on the
// indices around it leaves index notation, behind a test of their extents where it may fail.
//
// Here and below, `program` says of the functions that are called whether they are pure; without
// one, they may do anything.
lang::Expr to_anf(const lang::Expr& expr, lang::Program* program = nullptr);

// Puts the expansions of operators that have one (lang::OpDef::expansion) in their place.
lang::Expr expand_operators(const lang::Expr& expr);

// What a scalar primitive gives for operands of dtype `operand` (of the last one for Select) as a
// `result`: the function that runs. Words as in lang::Value::bits; nothing where running it is an
// error.
using EvaluatePrimitive = std::function<std::optional<std::uint64_t>(
    lang::Prim, lang::DType operand, lang::DType result, const std::uint64_t* args)>;
struct SimplifyOptions {
  EvaluatePrimitive evaluate;
  // Treats every step as lang::Algebra::Real.
  bool fast_math = false;
  // Is told the name of each rule that is applied (opt/simplify_arithmetic.cpp has the table).
  std::function<void(std::string_view)> watch = {};
};
// Algebra that a person would do: neutral elements, double negation, casts to the same dtype, sums
// of equal terms, primitives of constants, `if` of a constant, projection of a tuple, transpose of
// transpose, sum_to over nothing, stacked *_like. Keeps every bit of what is lang::Algebra::Bits (a
// NaN may become any other); what is lang::Algebra::Real is also regrouped.
lang::Expr simplify(const lang::Expr& expr, const SimplifyOptions& options);
// The names of its rules of arithmetic.
std::vector<std::string_view> arithmetic_rules();

// Takes matches on known constructions, takes apart what has only one form (`match p { P(w, b) =>
// ... }` reads fields), and joins a match with the branch that made its scrutinee, or the tuple
// with it. The result need not be in A-normal form.
lang::Expr resolve_branches(const lang::Expr& expr, lang::Program* program = nullptr);

// Data that a branch makes and nothing but matches takes apart become their fields, where what
// stands for a field that a branch does not make is no work: scalars and small tensors. Each match
// chooses once more, as the branch did. Linear in `expr`; the result need not be in A-normal form.
lang::Expr replace_data_by_fields(const lang::Expr& expr, lang::Program* program = nullptr);

// Drops bindings without effect that nobody uses.
lang::Expr eliminate_dead_code(const lang::Expr& expr, lang::Program* program = nullptr);
// What a pass has made of `before`, in A-normal form and without what nobody uses any more;
// `before` where that is what it gave back.
lang::Expr cleaned(const lang::Expr& made, const lang::Expr& before, lang::Program* program);
// Only bindings of functions that nothing uses, as inlining leaves them.
lang::Expr eliminate_unused_functions(const lang::Expr& expr);
// Merges equal pure bindings of a scope and of the scopes that enclose it.
lang::Expr eliminate_common_subexpressions(const lang::Expr& expr,
                                           lang::Program* program = nullptr);
// Inlines calls of known non-recursive functions: function literals that are called once or are
// small, and globals whose specialised body (from `program`) is a straight-line block of at most
// `max_bindings` (taking apart what has only one form is straight-line too), or which have the
// attribute `Inline=1` and do not call themselves; inside of index notation also those of some
// hundred nodes, with branches, that a kernel can hold. What has grown too large by inlining what
// it calls stays a call, so that the result is linear in the calls of `expr`. Functions with a
// gradient of their own stay calls where code is yet to be differentiated.
enum class CustomGradients : std::uint8_t { Inline, Keep };
lang::Expr inline_calls(const lang::Expr& expr, lang::Program& program, int max_bindings = 24,
                        CustomGradients custom = CustomGradients::Inline);
// Evaluates calls of operators whose arguments are constants. `evaluate` gives the constant of a
// closed call, or null where it has none.
using Evaluate = std::function<lang::Expr(const lang::Expr& call)>;
lang::Expr fold_constants(const lang::Expr& expr, const Evaluate& evaluate);
// The same for function literals and what is marked: other passes make their calls known.
lang::Expr inline_literals(const lang::Expr& expr, lang::Program& program, int max_bindings = 24,
                           CustomGradients custom = CustomGradients::Inline);
// Undoes fuse_operators.
lang::Expr inline_groups(const lang::Expr& expr);
// Groups connected operator calls and lowerable index notation of a block into `fn (...,
// Primitive=1) {...}` calls where at least one tensor of rank > 0 is involved. Relay's
// post-dominator rule, widened to reductions with elementwise producers and epilogues. Scalar-only
// code stays as it is.
// `most`: of the operators in one group; 0: any number.
lang::Expr fuse_operators(const lang::Expr& expr, std::size_t most = 0);

}  // namespace relay::opt
