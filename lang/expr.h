#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/attrs.h"
#include "lang/dim.h"
#include "lang/primitive.h"
#include "lang/ref.h"
#include "lang/source.h"
#include "lang/tensor.h"
#include "lang/type.h"

// The core: one typed, immutable expression language for every stage. An expression is a graph:
// a node used in two places is one node, evaluated once in the innermost scope that holds all uses.
// `type` is null before inference and is ground in specialised code. Nodes are made only through
// the make_ functions, which check what can be checked locally (RELAY_CHECK).
namespace relay::lang {

struct OpDef;        // lang/op.h
struct Constructor;  // lang/module.h

enum class ExprKind : std::uint8_t {
#define RELAY_EXPR(name) name,
#include "lang/expr_kinds.def"
#undef RELAY_EXPR
};
std::string_view name_of(ExprKind kind);

class ExprNode;
using Expr = Ref<const ExprNode>;

class ExprNode : public Counted {
 public:
  const ExprKind kind;
  const Span span;
  const Type type;

 protected:
  ExprNode(ExprKind kind, Span span, Type type) : kind(kind), span(span), type(std::move(type)) {}
};

// Downcast: null when `expr` is null or of another kind.
template <class T>
const T* as(const Expr& expr) {
  return expr && expr->kind == T::kKind ? static_cast<const T*>(expr.get()) : nullptr;
}
// Downcast of a node whose kind is known.
template <class T>
const T& cast(const Expr& expr) {
  return static_cast<const T&>(*expr);
}

// A local variable: what a `let`, a parameter, a pattern or an index binder introduces. Identity is
// the object; the name is only for people. `type` is the annotation before inference (null: none)
// and the inferred type after it.
struct Variable final : Counted {
  Variable(std::string name, Type type, Span span, AttrsRef attrs)
      : name(std::move(name)), type(std::move(type)), span(span), attrs(std::move(attrs)) {}
  const std::string name;
  const Type type;
  const Span span;
  const AttrsRef attrs;  // of a parameter: `%x {virtual_device=...}`
};
using VariableRef = Ref<const Variable>;
VariableRef make_variable(std::string name, Type type = nullptr, Span span = {},
                          AttrsRef attrs = nullptr);

struct Var final : ExprNode {  // a use of a local variable
  static constexpr ExprKind kKind = ExprKind::Var;
  Var(VariableRef variable, Span span, Type type)
      : ExprNode(kKind, span, std::move(type)), variable(std::move(variable)) {}
  VariableRef variable;
};
struct GlobalVar final : ExprNode {  // a global function or top-level binding, by name
  static constexpr ExprKind kKind = ExprKind::GlobalVar;
  GlobalVar(std::string name, Span span, Type type)
      : ExprNode(kKind, span, std::move(type)), name(std::move(name)) {}
  std::string name;  // without `@`
};
struct Constant final : ExprNode {  // a tensor
  static constexpr ExprKind kKind = ExprKind::Constant;
  Constant(TensorRef value, Span span, Type type)
      : ExprNode(kKind, span, std::move(type)), value(std::move(value)) {}
  TensorRef value;
};
// An undecorated number of the light notation (`2`, `1.5`), or a tensor of them (`[[1, 2], [3,
// 4]]`): its dtype comes from the context. Inference replaces it by a Constant.
struct Literal final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Literal;
  Literal(bool is_float, std::int64_t integer, double real, TensorRef elements, Span span,
          Type type)
      : ExprNode(kKind, span, std::move(type)),
        is_float(is_float),
        integer(integer),
        real(real),
        elements(std::move(elements)) {}
  bool is_float;         // of a tensor: is any element?
  std::int64_t integer;  // of a number when !is_float
  double real;           // of a number when is_float
  TensorRef elements;    // of a tensor: int64, or float64 when is_float; null for a number
};
struct Tuple final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Tuple;
  Tuple(std::vector<Expr> fields, Span span, Type type)
      : ExprNode(kKind, span, std::move(type)), fields(std::move(fields)) {}
  std::vector<Expr> fields;
};
struct Projection final : ExprNode {  // tuple.index
  static constexpr ExprKind kKind = ExprKind::Projection;
  Projection(Expr tuple, std::uint32_t index, Span span, Type type)
      : ExprNode(kKind, span, std::move(type)), tuple(std::move(tuple)), index(index) {}
  Expr tuple;
  std::uint32_t index;
};
// let variable = value; body. Recursive exactly when `value` is a Function that mentions
// `variable`.
struct Let final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Let;
  Let(VariableRef variable, Expr value, Expr body, Span span, Type type)
      : ExprNode(kKind, span, std::move(type)),
        variable(std::move(variable)),
        value(std::move(value)),
        body(std::move(body)) {}
  VariableRef variable;
  Expr value;
  Expr body;
};
struct If final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::If;
  If(Expr condition, Expr then_branch, Expr else_branch, Span span, Type type)
      : ExprNode(kKind, span, std::move(type)),
        condition(std::move(condition)),
        then_branch(std::move(then_branch)),
        else_branch(std::move(else_branch)) {}
  Expr condition;  // rank-0 bool
  Expr then_branch;
  Expr else_branch;
};
struct Function final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Function;
  Function(std::vector<VariableRef> params, Type result, Expr body,
           std::vector<TypeVarRef> type_params, AttrsRef attrs, Span span, Type type)
      : ExprNode(kKind, span, std::move(type)),
        params(std::move(params)),
        result(std::move(result)),
        body(std::move(body)),
        type_params(std::move(type_params)),
        attrs(std::move(attrs)) {}
  std::vector<VariableRef> params;
  Type result;  // annotation, or null
  Expr body;
  std::vector<TypeVarRef> type_params;  // `[A, n]`: types and dims
  AttrsRef attrs;                       // `Primitive=1` marks a group that runs as one kernel
};
// Which rewrites a step of arithmetic allows.
enum class Algebra : std::uint8_t {
  Bits,  // those that keep every bit of its result (a NaN may become any other)
  Real,  // also those that hold of real numbers: it may be regrouped, as code that differentiation
         // made and whose order nobody wrote
};
// While one of these lives, what this thread makes has this algebra unless it is told another; the
// innermost decides. Without one it is Bits.
class AlgebraScope {
 public:
  explicit AlgebraScope(Algebra algebra);
  ~AlgebraScope();
  AlgebraScope(const AlgebraScope&) = delete;
  AlgebraScope& operator=(const AlgebraScope&) = delete;
  static Algebra current();

 private:
  Algebra before_;
};
struct Call final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Call;
  Call(Expr callee, std::vector<Expr> args, AttrsRef attrs, Span span, Type type, Algebra algebra)
      : ExprNode(kKind, span, std::move(type)),
        algebra(algebra),
        callee(std::move(callee)),
        args(std::move(args)),
        attrs(std::move(attrs)) {}
  Algebra algebra;  // of an operator
  Expr callee;
  std::vector<Expr> args;
  AttrsRef attrs;
};

enum class PatternKind : std::uint8_t { Wildcard, Variable, Constructor, Tuple };
struct Pattern;
using PatternRef = Ref<const Pattern>;
struct Pattern final : Counted {
  PatternKind kind = PatternKind::Wildcard;
  Span span;
  VariableRef variable;                      // Variable
  const Constructor* constructor = nullptr;  // Constructor
  std::vector<PatternRef> fields;            // Constructor, Tuple
};
PatternRef wildcard_pattern(Span span = {});
PatternRef variable_pattern(VariableRef variable, Span span = {});
PatternRef constructor_pattern(const Constructor* constructor, std::vector<PatternRef> fields,
                               Span span = {});
PatternRef tuple_pattern(std::vector<PatternRef> fields, Span span = {});

struct Clause {
  PatternRef pattern;
  Expr body;
};
struct Match final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Match;
  Match(Expr scrutinee, std::vector<Clause> clauses, bool is_complete, Span span, Type type)
      : ExprNode(kKind, span, std::move(type)),
        scrutinee(std::move(scrutinee)),
        clauses(std::move(clauses)),
        is_complete(is_complete) {}
  Expr scrutinee;
  std::vector<Clause> clauses;
  bool is_complete;  // `match` must be exhaustive; `match?` fails at run time
};
struct RefCreate final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::RefCreate;
  RefCreate(Expr value, Span span, Type type)
      : ExprNode(kKind, span, std::move(type)), value(std::move(value)) {}
  Expr value;
};
struct RefRead final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::RefRead;
  RefRead(Expr ref, Span span, Type type)
      : ExprNode(kKind, span, std::move(type)), ref(std::move(ref)) {}
  Expr ref;
};
struct RefWrite final : ExprNode {  // value: unit
  static constexpr ExprKind kKind = ExprKind::RefWrite;
  RefWrite(Expr ref, Expr value, Span span, Type type)
      : ExprNode(kKind, span, std::move(type)), ref(std::move(ref)), value(std::move(value)) {}
  Expr ref;
  Expr value;
};
struct Operator final : ExprNode {  // an operator of the registry
  static constexpr ExprKind kKind = ExprKind::Operator;
  Operator(const OpDef* op, Span span, Type type)
      : ExprNode(kKind, span, std::move(type)), op(op) {}
  const OpDef* op;
};
struct ConstructorRef final
    : ExprNode {  // a constructor as function, or as value when it has no fields
  static constexpr ExprKind kKind = ExprKind::ConstructorRef;
  ConstructorRef(const Constructor* constructor, Span span, Type type)
      : ExprNode(kKind, span, std::move(type)), constructor(constructor) {}
  const Constructor* constructor;
};

// --- Index notation. Index variables are int64 scalars running from 0 to their extent - 1. ---

// The binders of a comprehension, reduction or scatter. An extent is an integer scalar expression
// (usually a DimTerm or Constant) evaluated outside the binders; null before inference where it is
// to be inferred from bare uses `a[i]`.
struct IndexBinder {
  VariableRef variable;
  Expr extent;
};
// for i, j { body }: a tensor of shape (extents..., body's shape...); a tuple body gives a tuple.
struct Comprehension final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Comprehension;
  Comprehension(std::vector<IndexBinder> binders, Expr body, Span span, Type type)
      : ExprNode(kKind, span, std::move(type)),
        binders(std::move(binders)),
        body(std::move(body)) {}
  std::vector<IndexBinder> binders;
  Expr body;
};
// sum k, l { body }: folds over all index values, row-major, with the reduction tree of loops/. The
// body is a scalar; of Dot, a pair of scalars.
struct Reduction final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Reduction;
  Reduction(ReduceOp op, std::vector<IndexBinder> binders, Expr body, Span span, Type type)
      : ExprNode(kKind, span, std::move(type)),
        op(op),
        binders(std::move(binders)),
        body(std::move(body)) {}
  ReduceOp op;
  std::vector<IndexBinder> binders;
  Expr body;
};
// tensor[indices]: the leading axes indexed; the rest stays. Out of range is a run-time error
// unless `in_bounds` says it cannot happen (operator definitions, extents inferred from this very
// use).
struct Index final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Index;
  Index(Expr tensor, std::vector<Expr> indices, bool in_bounds, Span span, Type type)
      : ExprNode(kKind, span, std::move(type)),
        tensor(std::move(tensor)),
        indices(std::move(indices)),
        in_bounds(in_bounds) {}
  Expr tensor;
  std::vector<Expr> indices;
  bool in_bounds;
};
// A copy of `init` into which, for all values of the binders in row-major order, element [indices]
// is replaced by op(element, value), or by the value where `op` is Set. `op` is one of
// `is_scatter_op`. Scalar `value`.
struct ScatterReduce final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::ScatterReduce;
  ScatterReduce(ReduceOp op, Expr init, std::vector<IndexBinder> binders, std::vector<Expr> indices,
                Expr value, Span span, Type type, Algebra algebra)
      : ExprNode(kKind, span, std::move(type)),
        op(op),
        algebra(algebra),
        init(std::move(init)),
        binders(std::move(binders)),
        indices(std::move(indices)),
        value(std::move(value)) {}
  ReduceOp op;
  Algebra algebra;
  Expr init;
  std::vector<IndexBinder> binders;
  std::vector<Expr> indices;
  Expr value;
};
struct Primitive final : ExprNode {  // a scalar primitive applied to rank-0 operands
  static constexpr ExprKind kKind = ExprKind::Primitive;
  Primitive(Prim prim, std::vector<Expr> args, Span span, Type type, Algebra algebra)
      : ExprNode(kKind, span, std::move(type)),
        prim(prim),
        algebra(algebra),
        args(std::move(args)) {}
  Prim prim;
  Algebra algebra;
  std::vector<Expr> args;
};
struct DimTerm final : ExprNode {  // a dimension used as an int64 scalar
  static constexpr ExprKind kKind = ExprKind::DimTerm;
  DimTerm(Dim dim, Span span, Type type)
      : ExprNode(kKind, span, std::move(type)), dim(std::move(dim)) {}
  Dim dim;
};

// grad(f), jvp(f), ...: a function value computed from the function `fn` (lang/derivative).
enum class DiffMode : std::uint8_t {
  Grad,
  ValueAndGrad,
  Vjp,
  Jvp,
  Linearize,
  Hvp,
  Hessian,
  Jacobian,
  Transpose,
  CheckGrad
};
struct Differentiate final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Differentiate;
  Differentiate(DiffMode mode, Expr fn, Span span, Type type)
      : ExprNode(kKind, span, std::move(type)), mode(mode), fn(std::move(fn)) {}
  DiffMode mode;
  Expr fn;
};

Expr make_var(VariableRef variable, Span span = {});  // type: the variable's
Expr make_global_var(std::string name, Span span = {}, Type type = nullptr);
Expr make_constant(TensorRef value, Span span = {});  // typed by the tensor
Expr make_literal(std::int64_t value, Span span = {});
Expr make_literal(double value, Span span = {});
Expr make_literal(TensorRef elements, Span span = {});  // int64 or float64, rank 1 or more
Expr make_tuple(std::vector<Expr> fields, Span span = {}, Type type = nullptr);
Expr make_projection(Expr tuple, std::uint32_t index, Span span = {}, Type type = nullptr);
Expr make_let(VariableRef variable, Expr value, Expr body, Span span = {}, Type type = nullptr);
Expr make_if(Expr condition, Expr then_branch, Expr else_branch, Span span = {},
             Type type = nullptr);
Expr make_function(std::vector<VariableRef> params, Type result, Expr body,
                   std::vector<TypeVarRef> type_params = {}, AttrsRef attrs = nullptr,
                   Span span = {}, Type type = nullptr);
Expr make_call(Expr callee, std::vector<Expr> args, AttrsRef attrs = nullptr, Span span = {},
               Type type = nullptr, Algebra algebra = AlgebraScope::current());
Expr make_match(Expr scrutinee, std::vector<Clause> clauses, bool is_complete, Span span = {},
                Type type = nullptr);
Expr make_ref_create(Expr value, Span span = {}, Type type = nullptr);
Expr make_ref_read(Expr ref, Span span = {}, Type type = nullptr);
Expr make_ref_write(Expr ref, Expr value, Span span = {}, Type type = nullptr);
Expr make_operator(const OpDef* op, Span span = {}, Type type = nullptr);
Expr make_constructor_ref(const Constructor* constructor, Span span = {}, Type type = nullptr);
Expr make_comprehension(std::vector<IndexBinder> binders, Expr body, Span span = {},
                        Type type = nullptr);
// Of a body of that type. Null for a dot of what is no pair, as a text may have it.
Type type_of_reduction(ReduceOp op, const Type& body);
Expr make_reduction(ReduceOp op, std::vector<IndexBinder> binders, Expr body, Span span = {},
                    Type type = nullptr);
Expr make_index(Expr tensor, std::vector<Expr> indices, bool in_bounds, Span span = {},
                Type type = nullptr);
Expr make_scatter_reduce(ReduceOp op, Expr init, std::vector<IndexBinder> binders,
                         std::vector<Expr> indices, Expr value, Span span = {}, Type type = nullptr,
                         Algebra algebra = AlgebraScope::current());
// `type` is needed only for Cast.
Expr make_primitive(Prim prim, std::vector<Expr> args, Span span = {}, Type type = nullptr,
                    Algebra algebra = AlgebraScope::current());
Expr make_dim_term(Dim dim, Span span = {});
Expr make_differentiate(DiffMode mode, Expr fn, Span span = {}, Type type = nullptr);

// The attribute of a function that names the global with its custom gradient:
//   fn (params..., adjoint of the result) -> the adjoint of the one parameter, or a tuple of them;
// or with the result in front of its adjoint.
inline constexpr std::string_view kGradientAttr = "gradient";
// The function with that attribute.
Expr with_gradient(const Expr& function, const std::string& gradient);
// The name of its gradient; null if it has none.
const std::string* gradient_of(const Function& function);

// Is it a scatter without binders, of which one element becomes another? Its parts are evaluated
// once, like operands.
bool is_one_point(const Expr& expr);

// Of a call, a primitive or a scatter; Bits for all others.
Algebra algebra_of(const Expr& expr);

// The same node with another type (returns `expr` itself when nothing changes).
Expr with_type(const Expr& expr, Type type);

// --- Let chains as blocks: how passes walk them without recursion. ---
struct Binding {
  VariableRef variable;
  Expr value;
  Span span = {};
};
struct Block {
  std::vector<Binding> bindings;
  Expr result;  // not a Let
};
Block open_block(const Expr& expr);    // peels the outermost let chain
Expr close_block(const Block& block);  // builds it again; typed if the result is

}  // namespace relay::lang
