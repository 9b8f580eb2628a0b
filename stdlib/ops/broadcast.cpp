#include "stdlib/ops/families.h"
#include "stdlib/ops/formula.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

using Adjoints = std::pair<Expr, Expr>;

constexpr BinaryRow kArithmetic[] = {
    {"add", Prim::Add, 1, "The sum, with broadcasting; also `a + b`. Integers wrap.",
     "add([1.0, 2.0], 0.5)\n// expect: [1.5, 2.5]",
     [](const Expr&, const Expr&, const Expr&, const Expr& dout) {
       return Adjoints{dout, dout};
     }},
    {"subtract", Prim::Sub, 1, "The difference, with broadcasting; also `a - b`. Integers wrap.",
     "subtract([1.0, 2.0], 0.5)\n// expect: [0.5, 1.5]",
     [](const Expr&, const Expr&, const Expr&, const Expr& dout) {
       return Adjoints{dout, -dout};
     }},
    {"multiply", Prim::Mul, 1, "The product, with broadcasting; also `a * b`. Integers wrap.",
     "multiply([1.0, 2.0], [[2.0], [3.0]])\n// expect: [[2.0, 4.0], [3.0, 6.0]]",
     [](const Expr& a, const Expr& b, const Expr&, const Expr& dout) {
       return Adjoints{dout * b, dout * a};
     }},
    {"divide", Prim::Div, 1,
     "The quotient, with broadcasting; also `a / b`.\n"
     "Integers drop the fraction, and dividing one by 0 is an error; floats give infinity or NaN.",
     "divide([3.0, 1.0], 2.0)\n// expect: [1.5, 0.5]",
     [](const Expr&, const Expr& b, const Expr& out, const Expr& dout) {
       return Adjoints{dout / b, -(dout * out / b)};
     }},
    {"power", Prim::Pow, 4,
     "The left operand raised to the right one, with broadcasting.\n"
     "Floats: a negative base with a fractional exponent gives NaN. Integers wrap; a negative "
     "exponent "
     "gives 0, but 1 or -1 for those bases. The derivative by the exponent is 0 where the base is "
     "not positive.",
     "power([2.0, 3.0], 2.0)\n// expect: [4.0, 9.0]",
     [](const Expr& a, const Expr& b, const Expr& out, const Expr& dout) {
       const Expr positive = op("greater", {a, build::scalar_like(a, 0)});
       const Expr log_a = op("log", {op("where", {positive, a, build::scalar_like(a, 1)})});
       // Where the exponent is 0 so is the derivative, also at a base of 0.
       const Expr is_constant = op("equal", {b, build::scalar_like(b, 0)});
       const Expr exponent = op("where", {is_constant, build::scalar_like(b, 1), b});
       return Adjoints{dout * (b * op("power", {a, exponent - 1.0})), dout * (out * log_a)};
     }},
    {"maximum", Prim::Max, 4,
     "The larger operand, with broadcasting. NaN if either is NaN.\n"
     "Where both are equal the derivative goes to the left one.",
     "maximum([1.0, 5.0], 3.0)\n// expect: [3.0, 5.0]",
     [](const Expr& a, const Expr& b, const Expr&, const Expr& dout) {
       return Adjoints{only_where(op("greater_equal", {a, b}), dout),
                       only_where(op("less", {a, b}), dout)};
     }},
    {"minimum", Prim::Min, 4,
     "The smaller operand, with broadcasting. NaN if either is NaN.\n"
     "Where both are equal the derivative goes to the left one.",
     "minimum([1.0, 5.0], 3.0)\n// expect: [1.0, 3.0]",
     [](const Expr& a, const Expr& b, const Expr&, const Expr& dout) {
       return Adjoints{only_where(op("less_equal", {a, b}), dout),
                       only_where(op("greater", {a, b}), dout)};
     }},
    {"mod", Prim::Mod, 1,
     "The remainder of division towards zero, with broadcasting: it has the sign of the left "
     "operand.\n"
     "An integer by 0 is an error; a float by 0 gives NaN.",
     "mod([7, -7], 3)\n// expect: [1, -1]",
     [](const Expr& a, const Expr& b, const Expr&, const Expr& dout) {
       return Adjoints{dout, -(dout * op("trunc", {a / b}))};
     }},
    {"trunc_mod", Prim::Mod, 1,
     "The remainder of `trunc_divide`, with broadcasting: it has the sign of the left operand.\n"
     "An integer by 0 is an error; a float by 0 gives NaN. The same as `mod`.",
     "trunc_mod([7, -7], 3)\n// expect: [1, -1]",
     [](const Expr& a, const Expr& b, const Expr&, const Expr& dout) {
       return Adjoints{dout, -(dout * op("trunc", {a / b}))};
     }},
    {"floor_mod", Prim::FloorMod, 1,
     "The remainder of `floor_divide`, with broadcasting: it has the sign of the right operand.\n"
     "An integer by 0 is an error; a float by 0 gives NaN.",
     "floor_mod([7, -7], 3)\n// expect: [1, 2]",
     [](const Expr& a, const Expr& b, const Expr&, const Expr& dout) {
       return Adjoints{dout, -(dout * op("floor", {a / b}))};
     }},
    {"floor_divide", Prim::FloorDiv, 1,
     "The quotient rounded down, with broadcasting.\nDividing an integer by 0 is an error.",
     "floor_divide([7, -7], 2)\n// expect: [3, -4]", nullptr},
};

constexpr BinaryRow kBits[] = {
    {"bitwise_and", Prim::And, 4, "The bits set in both integers, with broadcasting.",
     "bitwise_and(12, 10)\n// expect: 8", nullptr},
    {"bitwise_or", Prim::Or, 4, "The bits set in either integer, with broadcasting.",
     "bitwise_or(12, 10)\n// expect: 14", nullptr},
    {"bitwise_xor", Prim::Xor, 4, "The bits set in exactly one of the integers, with broadcasting.",
     "bitwise_xor(12, 10)\n// expect: 6", nullptr},
    {"left_shift", Prim::Shl, 4,
     "The left integer shifted left by the right one, with broadcasting.\n"
     "The count is taken modulo the number of bits.",
     "left_shift(3, 2)\n// expect: 12", nullptr},
    {"right_shift", Prim::Shr, 4,
     "The left integer shifted right by the right one, with broadcasting.\n"
     "Signed integers keep their sign. The count is taken modulo the number of bits.",
     "right_shift([12, -8], 2)\n// expect: [3, -2]", nullptr},
};

constexpr BinaryRow kLogical[] = {
    {"logical_and", Prim::And, 4,
     "True where both are, with broadcasting. Both operands are evaluated.",
     "logical_and([True, False], True)\n// expect: [True, False]", nullptr},
    {"logical_or", Prim::Or, 4,
     "True where either is, with broadcasting. Both operands are evaluated.",
     "logical_or([True, False], False)\n// expect: [True, False]", nullptr},
    {"logical_xor", Prim::Xor, 4, "True where exactly one is, with broadcasting.",
     "logical_xor([True, False], True)\n// expect: [False, True]", nullptr},
};

void add_where() {
  OpDef def;
  def.name = "where";
  def.level = 4;
  def.doc =
      "The element of `x` where the condition is True, else that of `y`, with broadcasting of all "
      "three.\n"
      "A number as condition counts as True where it is not 0.\n"
      "The side that is not chosen does not count, whatever it holds; but its derivative is "
      "computed, "
      "and where that is not finite so is the sum: choose the operand, not the result.";
  def.example = "where([True, False], [1.0, 2.0], 0.0)\n// expect: [1.0, 0.0]";
  def.inputs = {
      {"condition", "bools"}, {"x", "values where it is True"}, {"y", "values where it is False"}};
  def.type_rule = [](TypeCall& call) {
    const Type condition = call.tensor(0);
    const Type x = call.tensor(1);
    const Type y = call.tensor(2);
    const auto& c = static_cast<const TensorType&>(*condition);
    const auto& a = static_cast<const TensorType&>(*x);
    const auto& b = static_cast<const TensorType&>(*y);
    // Of numbers without a dtype each does.
    const bool is_literal = call.call && call.call->args[0]->kind == lang::ExprKind::Literal;
    if (!c.dtype.is_known() && !is_literal) call.solver.unify(c.dtype, DTypeTerm(DType::Bool));
    call.solver.unify(a.dtype, b.dtype);
    return solve_broadcast(call, {c.shape, a.shape, b.shape}, a.dtype);
  };
  def.definition = [](const DefinitionCall& call) {
    return build::comprehension(
        lang::as<TensorType>(call.result)->shape.dims(), [&](const Indices& i) {
          const DType dtype = call.tensor(0).dtype.known();
          Expr condition = read_broadcast(call.args[0], i);
          if (dtype != DType::Bool)
            condition = build::prim(Prim::Ne, {condition, build::constant(dtype, 0)});
          return build::select(condition, read_broadcast(call.args[1], i),
                               read_broadcast(call.args[2], i));
        });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const Expr& condition = call.args[0];
    const Expr zero = build::scalar_like(call.dout, 0);
    return {nullptr, sum_to(op("where", {condition, call.dout, zero}), call.args[1]),
            sum_to(op("where", {condition, zero, call.dout}), call.args[2])};
  };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

// The one quotient that is two primitives of floats: divided, then truncated.
void add_trunc_divide() {
  OpDef def;
  def.name = "trunc_divide";
  def.level = 1;
  def.doc =
      "The quotient rounded towards zero, with broadcasting.\nDividing an integer by 0 is an "
      "error.";
  def.example = "trunc_divide([7, -7], 2)\n// expect: [3, -3]";
  def.inputs = {{"lhs", "the left operand"}, {"rhs", "the right operand"}};
  def.type_rule = [](TypeCall& call) { return solve_binary(call, PrimOperands::kNumeric); };
  def.definition = [](const DefinitionCall& call) {
    const auto& result = *lang::as<TensorType>(call.result);
    const bool fractions = lang::is_float(result.dtype.known());
    return build::comprehension(result.shape.dims(), [&](const Indices& i) {
      const Expr quotient =
          build::div(read_broadcast(call.args[0], i), read_broadcast(call.args[1], i));
      return fractions ? build::prim(Prim::Trunc, {quotient}) : quotient;
    });
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_broadcast_operators() {
  add_trunc_divide();
  for (const BinaryRow& row : kArithmetic) add_binary(row);
  for (const BinaryRow& row : kBits) add_binary(row);
  for (const BinaryRow& row : kLogical) add_binary(row, PrimOperands::kBool);
  add_where();
}

}  // namespace relay::stdlib
