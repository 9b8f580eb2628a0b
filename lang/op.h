#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lang/attrs.h"
#include "lang/diagnostic.h"
#include "lang/expr.h"
#include "lang/type.h"

// The operator record: everything the system knows about one operator, in one place. stdlib/ops
// fills records in; type inference, evaluation, differentiation, fusion and documentation only read
// them.
namespace relay::lang {

enum class AttrKind : std::uint8_t {
  Bool,
  Int,
  Float,
  String,
  DType,
  IntList,
  IntOrIntList,
  FloatList,
  Any
};

struct AttrSpec {
  std::string name;
  AttrKind kind;
  std::optional<AttrValue> default_value;  // none: must be written
  std::string doc;
  bool nullable = false;  // `None` is allowed
};

struct InputSpec {
  std::string name;
  std::string doc;
  bool is_optional = false;  // one that is not given is `()`
  std::string attr = {};     // an attribute of OpDef::static_form, which has this input's value
};

// --- Type rules ---

// What a type rule may ask of whoever runs it: inference (types with unknowns) or the ground
// checker (concrete types). Types returned have their unknowns replaced by what is known so far.
class TypeSolver {
 public:
  virtual ~TypeSolver() = default;
  virtual Type resolve(const Type& type) = 0;
  // Make two things equal or throw Failure with the kind of mismatch. `?` dims match anything.
  virtual void unify(const Type& a, const Type& b) = 0;
  virtual void unify(const Shape& a, const Shape& b) = 0;
  virtual void unify(const DTypeTerm& a, const DTypeTerm& b) = 0;
  virtual void unify(const Dim& a, const Dim& b) = 0;
  virtual Type fresh_type() = 0;
  virtual Shape fresh_shape() = 0;
  virtual Dim fresh_dim() = 0;
  virtual DTypeTerm fresh_dtype() = 0;
  // Says that `dtype` must be accepted by `operands`; checked at once when known, else kept as a
  // constraint.
  virtual void require(const DTypeTerm& dtype, PrimOperands operands) = 0;
  // Says that numbers without a suffix which have this dtype are floats, where nothing says that
  // they are not.
  virtual void prefer_float(const DTypeTerm& dtype) = 0;
};

enum class RuleOutcome : std::uint8_t {
  Solved,  // result is determined; nothing more to check
  Stuck,   // not enough is known yet: run again later (what has been unified so far stays)
};

// One application of an operator, as its type rule sees it.
struct TypeCall {
  TypeSolver& solver;
  const OpDef& op;
  std::vector<Type> args;       // resolved before each run
  AttrsRef attrs;               // complete
  Type result;                  // what is known about the result; null: nothing yet
  std::vector<Span> arg_spans;  // may be empty
  Span span;
  const Call* call = nullptr;  // where the arguments themselves are at hand

  // Argument `i` as a tensor type; makes an unknown one into a tensor type of unknown shape and
  // dtype. Throws TypeMismatch if it is something else.
  Type tensor(std::size_t i);
  const TensorType& tensor_node(std::size_t i);
  // The value of argument `i` where it is written as a number.
  std::optional<double> number(std::size_t i) const;
  void returns(const Type& type) {
    if (result) {
      solver.unify(result, type);
    } else {
      result = type;
    }
  }
  // Throws a diagnostic whose labels show each argument's type.
  [[noreturn]] void fail(DiagnosticKind kind, std::string message) const;
};
using TypeRule = std::function<RuleOutcome(TypeCall&)>;
// What is usual where a rule is stuck for good, such as a matrix as the data of `nn.dense`. Serves
// to show a generic function's type at its usual ranks; it restricts no use. Settles by unifying,
// and returns whether there was something to settle. `follows`: another operator of the function
// has settled something, so that this one is part of a layer.
using UsualRule = std::function<bool(TypeCall&, bool follows)>;

// --- Definitions ---

// One application as the definition sees it: arguments are typed variables (or, for tuple inputs,
// typed variables of tuple type) whose tensor types have constant dims; where differentiation asks
// (`definition_at`), symbolic ones too.
struct DefinitionCall {
  std::vector<Expr> args;
  AttrsRef attrs;
  Type result;
  const TensorType& tensor(std::size_t i) const;  // type of args[i]
};
// An expression of the core over index notation and primitives, fully typed: a let block of
// single-stage comprehensions. May call other operators.
using OpDefinition = std::function<Expr(const DefinitionCall&)>;

// --- Derivatives ---

// One application as its gradient override sees it: all expressions are atoms (variables,
// constants).
struct GradientCall {
  std::vector<Expr> args;
  AttrsRef attrs;
  Expr out;   // the primal result
  Expr dout;  // its adjoint, of the same type
};
// The adjoint of each argument; a null Expr is a symbolic zero. Not yet summed over broadcast axes:
// use build::sum_to where an argument was broadcast. A tuple argument's adjoint is a tuple.
using OpGradient = std::function<std::vector<Expr>(const GradientCall&)>;

// One application as its tangent override sees it: all expressions are atoms.
struct TangentCall {
  std::vector<Expr> args;
  AttrsRef attrs;
  Expr out;                    // the primal result
  std::vector<Expr> tangents;  // of the arguments; null: a symbolic zero
};
// The tangent of the result; null: a symbolic zero.
using OpTangent = std::function<Expr(const TangentCall&)>;

// Functions of whole tensors that index notation does not express: the core's closed list.
enum class TensorPrimitive : std::uint8_t {
  None,
  Order,  // of each row (the last axis): int64 positions, stable, from small to large, NaN last
  Reinterpret,  // the same bits as elements of the call's dtype, which is as wide
  Copy,         // the same elements in memory of their own, always
};

// As words of a listing: "an order", "the bits", "a copy".
std::string_view words_for(TensorPrimitive primitive);

// What an operator does besides computing; the evaluator (interp/effects) performs it.
enum class Effect : std::uint8_t {
  None,
  Print,
  Assert,
  Load,
  Save,
  Plot,
  CheckShape,
  CheckDims,
  Pullback,       // of a function value: ad/closures
  Tangent,        // the same: ad/function_tangent
  AddTangents,    // of function values
  CheckGradient,  // against differences: ad/check_gradient
  WalkCell,       // of a reference: ad/adjoint_cells.h
  BeginWalk,
  EndWalk,
  BeginReplay,  // of what was computed before: ad/replay.h
  EndReplay,
  Time  // how often references have been made or written
};

struct OpDef {
  std::string name;     // dotted names allowed
  std::string doc;      // first line is a summary
  std::string example;  // light notation with `// expect:` lines; run by the tests
  std::vector<InputSpec> inputs;
  std::vector<AttrSpec> attrs = {};
  int level = 1;         // Relay's support level; 0 for ours alone
  bool is_step = false;  // a part of other operators, which `:ops` does not list
  TypeRule type_rule = {};
  UsualRule usual = {};
  OpDefinition definition = {};  // empty for effects, primitives and the two below
  // The definition is index notation, of primitives and such operators, that never fails but by
  // dividing integers: it may stand inside index notation, for tensors that are made there.
  bool nests = false;
  // What it does to each element, where that is one primitive of its operands and nothing else.
  std::optional<Prim> elementwise = {};
  // The extents of the result are values of inputs (InputSpec::attr). Lowering looks at the values
  // and puts this operator in the place of the call, with the attributes that are called alike.
  std::string static_form = {};
  const OpDef* unlisted_static_form = nullptr;  // the same, where it is in no registry
  // The extents of the result have to be computed first: the operators that do it, in terms of this
  // call's arguments (any dims).
  OpDefinition expansion = {};
  TensorPrimitive primitive = TensorPrimitive::None;
  OpGradient gradient = {};    // override; empty: derived from the definition
  OpTangent tangent = {};      // the same, forward mode
  bool differentiable = true;  // false: all adjoints are zero (comparisons, argmax, shape-only)
  Effect effect = Effect::None;
};

// An arithmetic step: what is done to each element, and to what.
struct ArithmeticStep {
  Prim prim;
  const std::vector<Expr>& args;  // of the expression, which must live as long
};
// Of a primitive, or of a call of an operator that is one (OpDef::elementwise).
std::optional<ArithmeticStep> arithmetic_step(const Expr& expr);

// What the record's `definition`, `gradient` and `tangent` give; nothing where they read an extent
// that is symbolic in the types of this call. The steps of the definition have this algebra.
std::optional<Expr> definition_at(const OpDef& op, const DefinitionCall& call, Algebra algebra);
std::optional<std::vector<Expr>> gradient_at(const OpDef& op, const GradientCall& call);
std::optional<Expr> tangent_at(const OpDef& op, const TangentCall& call);

// The static form of an operator that has one.
const OpDef& static_form_of(const OpDef& op);

// The process-wide table. stdlib::register_operators fills it once; read-only afterwards.
class OpRegistry {
 public:
  static OpRegistry& instance();
  void add(OpDef op);  // RELAY_CHECK: name not taken, doc and example not empty
  // Another spelling of an operator that has been added. Programs are printed with its own name.
  void alias(std::string_view spelling, std::string_view name);
  const OpDef* find(std::string_view name) const;
  const OpDef& get(std::string_view name) const;  // RELAY_CHECK
  const std::vector<const OpDef*>& all() const;   // sorted by name
};

// `value` as an attribute of that kind: an integer where a float is wanted becomes a float, a
// string that names a dtype becomes the dtype. Nothing when it does not fit; `None` fits nothing.
std::optional<AttrValue> coerce_attr(AttrKind kind, const AttrValue& value);

// Checks `given` against the record and returns all attributes in the record's order, defaults
// filled in. Throws Failure (UnknownAttribute with did-you-mean, MissingAttribute, BadAttribute) at
// `span`.
AttrsRef complete_attrs(const OpDef& op, const AttrsRef& given, Span span);

// The result type of a call whose argument types are ground. Throws Failure.
Type ground_result_type(const OpDef& op, const std::vector<Type>& args, const AttrsRef& attrs,
                        Span span = {}, const std::vector<Span>& arg_spans = {});

// Closest names within a small edit distance, best first; for "did you mean".
std::vector<std::string> closest_names(std::string_view name,
                                       const std::vector<std::string>& candidates);

}  // namespace relay::lang
