#include "stdlib/ops/elementwise.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "stdlib/ops/formula.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

OpDef elementwise(const char* name, int level, const char* doc, const char* example,
                  PrimOperands operands) {
  OpDef def;
  def.name = name;
  def.level = level;
  def.doc = doc;
  def.example = example;
  def.inputs = {{"data", "the operand"}};
  def.type_rule = [operands](TypeCall& call) {
    const Type data = call.tensor(0);
    call.solver.require(static_cast<const TensorType&>(*data).dtype, operands);
    call.returns(data);
    return RuleOutcome::Solved;
  };
  return def;
}

lang::OpDefinition each(std::function<Expr(const Expr& x, const DefinitionCall&)> f) {
  return [f = std::move(f)](const DefinitionCall& call) {
    return build::comprehension(dims_of(call.args[0]), [&](const Indices& i) {
      return f(build::at(call.args[0], i), call);
    });
  };
}

namespace {

constexpr double kLn2 = 0.69314718055994530942;
constexpr double kLn10 = 2.30258509299404568402;

constexpr UnaryRow kNumeric[] = {
    {"negative", Prim::Neg, 3,
     "The negated value. Integers wrap: the least one is its own negative.",
     "negative([1.0, -2.0])\n// expect: [-1.0, 2.0]",
     [](const Expr&, const Expr&, const Expr& dout) { return -dout; }},
    {"abs", Prim::Abs, 3, "The absolute value. Its derivative at 0 is taken to be 0.",
     "abs([-1.5, 2.0])\n// expect: [1.5, 2.0]",
     [](const Expr& x, const Expr&, const Expr& dout) { return dout * op("sign", {x}); }},
    {"sign", Prim::Sign, 3, "-1, 0 or 1 by the sign of x.\nNaN gives NaN; -0.0 gives -0.0.",
     "sign([-3.0, 0.0, 0.5])\n// expect: [-1.0, 0.0, 1.0]", nullptr},
    {"floor", Prim::Floor, 3, "The largest integer that is not above x. Integers stay as they are.",
     "floor([1.5, -1.5])\n// expect: [1.0, -2.0]", nullptr},
    {"ceil", Prim::Ceil, 3, "The smallest integer that is not below x. Integers stay as they are.",
     "ceil([1.25, -1.5])\n// expect: [2.0, -1.0]", nullptr},
    {"trunc", Prim::Trunc, 3, "x without its fraction. Integers stay as they are.",
     "trunc([1.5, -1.5])\n// expect: [1.0, -1.0]", nullptr},
    {"round", Prim::Round, 3,
     "The nearest integer, halves to the even one. Integers stay as they are.",
     "round([0.5, 1.5, 2.25])\n// expect: [0.0, 2.0, 2.0]", nullptr},
    {"isnan", Prim::IsNan, 3, "True where the value is not a number.",
     "isnan([0.0, 1.0])\n// expect: [False, False]", nullptr},
    {"isfinite", Prim::IsFinite, 3, "True where the value is neither infinite nor NaN.",
     "isfinite([1.0, 2.0])\n// expect: [True, True]", nullptr},
    {"isinf", Prim::IsInf, 3, "True where the value is plus or minus infinity.",
     "isinf([1.0, 2.0])\n// expect: [False, False]", nullptr},
};

constexpr UnaryRow kFloat[] = {
    {"exp", Prim::Exp, 1, "e to the power x.", "exp(0.0)\n// expect: 1.0",
     [](const Expr&, const Expr& out, const Expr& dout) { return dout * out; }},
    {"log", Prim::Log, 1, "The natural logarithm. Zero gives -infinity, negative numbers NaN.",
     "log(1.0)\n// expect: 0.0",
     [](const Expr& x, const Expr&, const Expr& dout) { return dout / x; }},
    {"log2", Prim::Log2, 1, "The logarithm to base 2. Zero gives -infinity, negative numbers NaN.",
     "log2([1.0, 8.0])\n// expect: [0.0, 3.0]",
     [](const Expr& x, const Expr&, const Expr& dout) { return dout / (kLn2 * x); }},
    {"log10", Prim::Log10, 1,
     "The logarithm to base 10. Zero gives -infinity, negative numbers NaN.",
     "log10(1.0)\n// expect: 0.0",
     [](const Expr& x, const Expr&, const Expr& dout) { return dout / (kLn10 * x); }},
    {"expm1", Prim::Expm1, 0, "e to the power x, less 1; exact to the last places also near 0.",
     "expm1(0.0)\n// expect: 0.0",
     [](const Expr&, const Expr& out, const Expr& dout) { return dout * (1.0 + out); }},
    {"log1p", Prim::Log1p, 0,
     "The natural logarithm of 1 + x; exact to the last places also near 0.\n"
     "-1 gives -infinity, what is below NaN.",
     "log1p(0.0)\n// expect: 0.0",
     [](const Expr& x, const Expr&, const Expr& dout) { return dout / (1.0 + x); }},
    {"sqrt", Prim::Sqrt, 1, "The square root. Negative numbers give NaN.",
     "sqrt([4.0, 9.0])\n// expect: [2.0, 3.0]",
     [](const Expr&, const Expr& out, const Expr& dout) { return dout / (2.0 * out); }},
    {"rsqrt", Prim::Rsqrt, 1,
     "One over the square root. Zero gives infinity, negative numbers NaN.",
     "rsqrt(4.0)\n// expect: 0.5",
     [](const Expr& x, const Expr& out, const Expr& dout) { return -0.5 * (dout * out / x); }},
    {"tanh", Prim::Tanh, 1, "The hyperbolic tangent.", "tanh(0.0)\n// expect: 0.0",
     [](const Expr&, const Expr& out, const Expr& dout) { return dout * (1.0 - out * out); }},
    {"sigmoid", Prim::Sigmoid, 1, "The logistic function 1 / (1 + exp(-x)).",
     "sigmoid(0.0)\n// expect: 0.5",
     [](const Expr&, const Expr& out, const Expr& dout) { return dout * (out * (1.0 - out)); }},
    {"sin", Prim::Sin, 1, "The sine of an angle in radians. Infinity gives NaN.",
     "sin(0.0)\n// expect: 0.0",
     [](const Expr& x, const Expr&, const Expr& dout) { return dout * op("cos", {x}); }},
    {"cos", Prim::Cos, 1, "The cosine of an angle in radians. Infinity gives NaN.",
     "cos(0.0)\n// expect: 1.0",
     [](const Expr& x, const Expr&, const Expr& dout) { return -(dout * op("sin", {x})); }},
    {"tan", Prim::Tan, 1, "The tangent of an angle in radians. Infinity gives NaN.",
     "tan(0.0)\n// expect: 0.0",
     [](const Expr&, const Expr& out, const Expr& dout) { return dout * (1.0 + out * out); }},
    {"asin", Prim::Asin, 1, "The inverse sine, from -pi/2 to pi/2. Outside -1..1 it is NaN.",
     "asin(0.0)\n// expect: 0.0",
     [](const Expr& x, const Expr&, const Expr& dout) { return dout / op("sqrt", {1.0 - x * x}); }},
    {"acos", Prim::Acos, 1, "The inverse cosine, from 0 to pi. Outside -1..1 it is NaN.",
     "acos(1.0)\n// expect: 0.0",
     [](const Expr& x, const Expr&, const Expr& dout) {
       return -(dout / op("sqrt", {1.0 - x * x}));
     }},
    {"atan", Prim::Atan, 1, "The inverse tangent, from -pi/2 to pi/2.", "atan(0.0)\n// expect: 0.0",
     [](const Expr& x, const Expr&, const Expr& dout) { return dout / (1.0 + x * x); }},
    {"sinh", Prim::Sinh, 1, "The hyperbolic sine.", "sinh(0.0)\n// expect: 0.0",
     [](const Expr& x, const Expr&, const Expr& dout) { return dout * op("cosh", {x}); }},
    {"cosh", Prim::Cosh, 1, "The hyperbolic cosine.", "cosh(0.0)\n// expect: 1.0",
     [](const Expr& x, const Expr&, const Expr& dout) { return dout * op("sinh", {x}); }},
    {"asinh", Prim::Asinh, 1, "The inverse hyperbolic sine.", "asinh(0.0)\n// expect: 0.0",
     [](const Expr& x, const Expr&, const Expr& dout) { return dout / op("sqrt", {1.0 + x * x}); }},
    {"acosh", Prim::Acosh, 1, "The inverse hyperbolic cosine. Below 1 it is NaN.",
     "acosh(1.0)\n// expect: 0.0",
     [](const Expr& x, const Expr&, const Expr& dout) { return dout / op("sqrt", {x * x - 1.0}); }},
    {"atanh", Prim::Atanh, 1, "The inverse hyperbolic tangent. Outside -1..1 it is NaN.",
     "atanh(0.0)\n// expect: 0.0",
     [](const Expr& x, const Expr&, const Expr& dout) { return dout / (1.0 - x * x); }},
    {"erf", Prim::Erf, 1, "The Gauss error function.", "erf(0.0)\n// expect: 0.0",
     [](const Expr& x, const Expr&, const Expr& dout) {
       return dout * (2 * std::numbers::inv_sqrtpi * op("exp", {-(x * x)}));
     }},
};

void add_square() {
  OpDef def = elementwise("square", 0, "x times x. Integers wrap.",
                          "square([3.0, -2.0])\n// expect: [9.0, 4.0]", PrimOperands::kNumeric);
  def.definition = each([](const Expr& x, const DefinitionCall&) { return build::mul(x, x); });
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {call.dout * (2.0 * call.args[0])};
  };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_relu() {
  OpDef def =
      elementwise("nn.relu", 1, "The larger of x and 0. Its derivative at 0 is 0.\nNaN stays NaN.",
                  "nn.relu([-1.0, 2.0])\n// expect: [0.0, 2.0]", PrimOperands::kNumeric);
  def.definition = each([](const Expr& x, const DefinitionCall& call) {
    return build::prim(Prim::Max, {x, build::constant(call.tensor(0).dtype.known(), 0)});
  });
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const Expr& x = call.args[0];
    return {only_where(op("greater", {x, build::scalar_like(x, 0)}), call.dout)};
  };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_leaky_relu() {
  OpDef def = elementwise("nn.leaky_relu", 3, "x where it is positive, else `alpha` times x.",
                          "nn.leaky_relu([-4.0, 2.0], alpha=0.25)\n// expect: [-1.0, 2.0]",
                          PrimOperands::kFloat);
  def.attrs = {optional_attr("alpha", AttrKind::Float, 0.25, "the slope for negative x")};
  def.definition = each([](const Expr& x, const DefinitionCall& call) {
    const DType dtype = call.tensor(0).dtype.known();
    const Expr positive = build::prim(Prim::Gt, {x, build::constant(dtype, 0)});
    return build::select(positive, x,
                         build::mul(build::constant(dtype, call.attrs->get_float("alpha")), x));
  });
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const Expr& x = call.args[0];
    const Expr positive = op("greater", {x, build::scalar_like(x, 0)});
    return {op("where", {positive, call.dout, call.attrs->get_float("alpha") * call.dout})};
  };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_copy() {
  OpDef def = elementwise("copy", 3, "The tensor itself, as a new one.",
                          "copy([1.0, 2.0])\n// expect: [1.0, 2.0]", PrimOperands::kAnyDType);
  def.definition = each([](const Expr& x, const DefinitionCall&) { return x; });
  def.gradient = [](const GradientCall& call) { return std::vector<Expr>{call.dout}; };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_stop_gradient() {
  OpDef def =
      elementwise("stop_gradient", 0, "The tensor itself, seen as a constant by derivatives.",
                  "stop_gradient([1.0, 2.0])\n// expect: [1.0, 2.0]", PrimOperands::kAnyDType);
  def.definition = each([](const Expr& x, const DefinitionCall&) { return x; });
  def.differentiable = false;
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

// A bound of clip as an element of `dtype`: for integers, moved inward to an integer of its range.
Expr bound(DType dtype, double value, bool is_lower) {
  if (!lang::is_int(dtype)) return build::constant(dtype, value);
  const int bits = lang::bits_of(dtype);
  const bool is_signed = lang::is_signed_int(dtype);
  const double least = is_signed ? -std::ldexp(1.0, bits - 1) : 0.0;
  const double beyond = std::ldexp(1.0, is_signed ? bits - 1 : bits);
  const double inner = is_lower ? std::ceil(value) : std::floor(value);
  if (inner <= least) {
    return build::constant_int(
        dtype, is_signed ? std::numeric_limits<std::int64_t>::min() >> (64 - bits) : 0);
  }
  if (inner < beyond) return build::constant(dtype, inner);
  if (!is_signed) return build::constant_int(dtype, -1);  // all bits set
  return build::constant_int(dtype, std::numeric_limits<std::int64_t>::max() >> (64 - bits));
}

void add_clip() {
  OpDef def =
      elementwise("clip", 3,
                  "The value limited to the closed range from `a_min` to `a_max`.\n"
                  "NaN stays NaN. The derivative is 1 inside the range and on its ends, else 0.",
                  "clip([-1.0, 0.5, 7.0], a_min=0.0, a_max=1.0)\n// expect: [0.0, 0.5, 1.0]",
                  PrimOperands::kNumeric);
  def.attrs = {required_attr("a_min", AttrKind::Float, "the lower end"),
               required_attr("a_max", AttrKind::Float, "the upper end")};
  def.definition = each([](const Expr& x, const DefinitionCall& call) {
    const DType dtype = call.tensor(0).dtype.known();
    const Expr low = bound(dtype, call.attrs->get_float("a_min"), true);
    const Expr high = bound(dtype, call.attrs->get_float("a_max"), false);
    return build::prim(Prim::Min, {build::prim(Prim::Max, {x, low}), high});
  });
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const Expr& x = call.args[0];
    const Expr low = build::scalar_like(x, call.attrs->get_float("a_min"));
    const Expr high = build::scalar_like(x, call.attrs->get_float("a_max"));
    const Expr inside =
        op("logical_and", {op("greater_equal", {x, low}), op("less_equal", {x, high})});
    return {only_where(inside, call.dout)};
  };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

// Converts args[0] elementwise to the dtype of the result.
Expr convert(const DefinitionCall& call) {
  const auto& result = *lang::as<TensorType>(call.result);
  return build::comprehension(result.shape.dims(), [&](const Indices& i) {
    return build::cast_to(result.dtype.known(), build::at(call.args[0], i));
  });
}

Expr convert_back(const GradientCall& call) {
  const Expr& x = call.args[0];
  if (!is_float_tensor(x) || !is_float_tensor(call.dout)) return nullptr;
  const DType dtype = tensor_type_of(x).dtype.known();
  if (tensor_type_of(call.dout).dtype == DTypeTerm(dtype)) return call.dout;
  return op("cast", {call.dout}, {{"dtype", dtype}});
}

void add_cast() {
  OpDef def = elementwise("cast", 3,
                          "The values converted to `dtype`.\n"
                          "A float becomes an integer by dropping its fraction; a bool is 0 or 1; "
                          "anything but 0 becomes True.",
                          "cast([1.75, -1.75], dtype=\"int32\")\n// expect: [1, -1]",
                          PrimOperands::kAnyDType);
  def.attrs = {required_attr("dtype", AttrKind::DType, "the dtype of the result")};
  def.type_rule = [](TypeCall& call) {
    call.returns(lang::tensor_type(call.tensor_node(0).shape, call.attrs->get_dtype("dtype")));
    return RuleOutcome::Solved;
  };
  def.elementwise = Prim::Cast;
  def.definition = convert;
  def.gradient = [](const GradientCall& call) { return std::vector<Expr>{convert_back(call)}; };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

// What is known of the dtype of either side tells the other: a float is its own, and only float32
// can come of anything else.
RuleOutcome as_float_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const DTypeTerm own = static_cast<const TensorType&>(*data).dtype;
  const Shape& shape = static_cast<const TensorType&>(*data).shape;
  if (own.is_known()) {
    const DTypeTerm dtype = lang::is_float(own.known()) ? own : DTypeTerm(DType::Float32);
    call.returns(lang::tensor_type(shape, dtype));
    return RuleOutcome::Solved;
  }
  call.returns(lang::tensor_type(shape, call.solver.fresh_dtype()));
  const DTypeTerm result = static_cast<const TensorType&>(*call.solver.resolve(call.result)).dtype;
  call.solver.require(result, PrimOperands::kFloat);
  const bool is_same = result == own;
  if (!is_same && (!result.is_known() || result.known() == DType::Float32))
    return RuleOutcome::Stuck;
  call.solver.unify(own, result);
  return RuleOutcome::Solved;
}

// The values as they are, or cast to the dtype of the result.
Expr cast_to_result(const DefinitionCall& call) {
  const DType dtype = static_cast<const TensorType&>(*call.result).dtype.known();
  if (tensor_type_of(call.args[0]).dtype.known() == dtype) return call.args[0];
  return op("cast", {call.args[0]}, {{"dtype", dtype}});
}

void add_as_float() {
  OpDef def =
      elementwise("as_float", 0,
                  "The values as floats: floats as they are, integers and bools as float32.\n"
                  "In the light notation it stands around the operands of `mean` and "
                  "`variance`.",
                  "as_float([1, 2])\n// expect: [1.0, 2.0]", PrimOperands::kAnyDType);
  def.type_rule = as_float_rule;
  def.usual = [](TypeCall& call, bool) {
    const DTypeTerm own = call.tensor_node(0).dtype;
    if (own.is_known()) return false;
    call.solver.require(own, PrimOperands::kFloat);
    call.solver.unify(call.result, call.args[0]);
    return true;
  };
  def.expansion = cast_to_result;
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_as_index() {
  OpDef def = elementwise("as_index", 0,
                          "An integer as an index, an int64.\n"
                          "In the light notation it stands around the bounds of slices that are "
                          "computed.",
                          "as_index(3)\n// expect: 3i64", PrimOperands::kInt);
  def.type_rule = [](TypeCall& call) {
    const auto& own = call.tensor_node(0);
    try {
      call.solver.unify(own.shape, lang::Shape());
      call.solver.require(own.dtype, PrimOperands::kInt);
    } catch (const lang::Failure& failure) {
      call.fail(failure.diagnostics.front().kind, "a bound of a slice must be an integer scalar");
    }
    call.returns(lang::scalar_type(DType::Int64));
    return RuleOutcome::Solved;
  };
  def.expansion = cast_to_result;
  def.differentiable = false;
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_cast_like() {
  OpDef def;
  def.name = "cast_like";
  def.level = 3;
  def.doc = "The values of the first input converted to the dtype of the second.";
  def.example = "cast_like([1, 2], 0.5)\n// expect: [1.0, 2.0]";
  def.inputs = {{"data", "the values"}, {"dtype_like", "a tensor of the wanted dtype"}};
  def.type_rule = [](TypeCall& call) {
    const Shape shape = call.tensor_node(0).shape;
    call.returns(lang::tensor_type(shape, call.tensor_node(1).dtype));
    return RuleOutcome::Solved;
  };
  def.definition = convert;
  def.gradient = [](const GradientCall& call) {
    return std::vector<Expr>{convert_back(call), nullptr};
  };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_elementwise_operators() {
  for (const UnaryRow& row : kNumeric) add_unary(row);
  for (const UnaryRow& row : kFloat) add_unary(row);
  add_unary({"logical_not", Prim::Not, 4, "True where the operand is False.",
             "logical_not([True, False])\n// expect: [False, True]", nullptr},
            PrimOperands::kBool);
  add_unary({"bitwise_not", Prim::Not, 4, "Each bit of an integer flipped.",
             "bitwise_not([0, 5])\n// expect: [-1, -6]", nullptr});
  add_square();
  add_relu();
  add_leaky_relu();
  add_copy();
  add_stop_gradient();
  add_clip();
  add_cast();
  add_as_float();
  add_as_index();
  add_cast_like();
}

}  // namespace relay::stdlib
