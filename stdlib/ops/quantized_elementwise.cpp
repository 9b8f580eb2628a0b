// Arithmetic and functions of quantized tensors, element by element or along an axis.

#include <string>

#include "lang/attrs_struct.h"
#include "stdlib/ops/formula.h"
#include "stdlib/ops/quantized.h"
#include "stdlib/ops/tuples.h"
#include "stdlib/ops/types.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

RuleOutcome both(RuleOutcome a, RuleOutcome b) { return a == RuleOutcome::Solved ? b : a; }

// --- qnn.add, qnn.subtract, qnn.mul ---

RuleOutcome binary_rule(TypeCall& call) {
  // Before anything can fail: numbers that are written take the dtype of what they meet first.
  for (const std::size_t i : {2, 4})
    call.solver.unify(call.tensor_node(i).dtype, DTypeTerm(DType::Float32));
  for (const std::size_t i : {3, 5})
    call.solver.unify(call.tensor_node(i).dtype, DTypeTerm(DType::Int32));
  require_scalar(call, 6, DType::Float32);
  require_scalar(call, 7, DType::Int32);
  const Type lhs = call.tensor(0);
  const Type rhs = call.tensor(1);
  const DTypeTerm& dtype = as_tensor(lhs).dtype;
  call.solver.unify(dtype, as_tensor(rhs).dtype);
  call.solver.require(dtype, PrimOperands::kInt);
  require_dtype(call, "operands", dtype,
                {DType::Int8, DType::UInt8, DType::Int16, DType::UInt16, DType::Int32});
  const RuleOutcome shape =
      solve_broadcast(call, {as_tensor(lhs).shape, as_tensor(rhs).shape}, dtype);
  const RuleOutcome left = channel_parameters_rule(call, call.tensor_node(0).shape, 2, "lhs_axis");
  const RuleOutcome right = channel_parameters_rule(call, call.tensor_node(1).shape, 4, "rhs_axis");
  return both(shape, both(left, right));
}

Quantization output_of(const DefinitionCall& call, std::size_t scale) {
  return {call.args[scale], call.args[scale + 1]};
}

// Both operands in the quantization of the result; `combine` gives the result of two such values
// and its zero point.
Expr combined(const DefinitionCall& call,
              const std::function<Expr(const Expr&, const Expr&, const Expr&)>& combine) {
  const auto& result = *lang::as<TensorType>(call.result);
  const Quantization out = output_of(call, 6);
  const Expr lhs =
      requantized(call.args[0], output_of(call, 2), out, call.attrs->get_int("lhs_axis"));
  const Expr rhs =
      requantized(call.args[1], output_of(call, 4), out, call.attrs->get_int("rhs_axis"));
  return build::let("lhs", lhs, [&](const Expr& a) {
    return build::let("rhs", rhs, [&](const Expr& b) {
      return build::comprehension(result.shape.dims(), [&](const Indices& i) {
        const auto wide = [](const Expr& value) { return build::cast_to(DType::Int64, value); };
        return saturated(
            combine(wide(read_broadcast(a, i)), wide(read_broadcast(b, i)), wide(call.args[7])),
            result.dtype.known());
      });
    });
  });
}

// How far from the end the channel axis of an operand is; nothing where its scale and zero point
// are those of all.
std::optional<std::size_t> channels_from_end(const DefinitionCall& call, std::size_t operand,
                                             const char* key) {
  const std::size_t rank = dims_of(call.args[operand]).size();
  bool per_channel = false;
  for (const std::size_t i : {2 + 2 * operand, 3 + 2 * operand}) {
    const std::vector<Dim>& dims = dims_of(call.args[i]);
    per_channel = per_channel || (!dims.empty() && !dims[0].is_constant(1));
  }
  if (!per_channel) return std::nullopt;
  return rank - channel_axis(call.attrs, key, rank);
}

// The product of the values is a value in the product of the scales, with zero point 0.
Expr multiply_definition(const DefinitionCall& call) {
  const auto& result = *lang::as<TensorType>(call.result);
  const auto left = channels_from_end(call, 0, "lhs_axis");
  const auto right = channels_from_end(call, 1, "rhs_axis");
  if (left && right && *left != *right) {
    lang::fail(DiagnosticKind::Unsupported,
               "not supported: `qnn.mul` of operands with channels on different axes", {});
  }
  const std::size_t from_end = left.value_or(right.value_or(1));
  const auto shifted = [&](std::size_t operand, const char* key) {
    const std::size_t rank = dims_of(call.args[operand]).size();
    return without_zero_point(call.args[operand], call.args[3 + 2 * operand],
                              channel_axis(call.attrs, key, rank));
  };
  return build::let("lhs", shifted(0, "lhs_axis"), [&](const Expr& a) {
    return build::let("rhs", shifted(1, "rhs_axis"), [&](const Expr& b) {
      return build::let("product", a * b, [&](const Expr& product) {
        return build::let("scale", call.args[2] * call.args[4], [&](const Expr& scale) {
          return op(
              "qnn.requantize",
              {product, scale, build::constant_int(DType::Int32, 0), call.args[6], call.args[7]},
              {{"axis", -static_cast<std::int64_t>(from_end)},
               {"out_dtype", result.dtype.known()}});
        });
      });
    });
  });
}

void add_binary_operator(const char* name, const char* doc, const char* example,
                         const lang::OpDefinition& definition) {
  OpDef def;
  def.name = name;
  def.level = 11;
  def.doc = doc;
  def.example = example;
  const char* scale = "float32: a scalar, or one for each channel";
  const char* zero_point = "int32: a scalar, or one for each channel";
  def.inputs = {{"lhs", "the left operand, quantized"},
                {"rhs", "the right operand, quantized, of the same dtype"},
                {"lhs_scale", scale},
                {"lhs_zero_point", zero_point},
                {"rhs_scale", scale},
                {"rhs_zero_point", zero_point},
                {"output_scale", "a float32 scalar"},
                {"output_zero_point", "an int32 scalar"}};
  def.attrs = {optional_attr("lhs_axis", AttrKind::Int, -1, "the axis of the channels of `lhs`"),
               optional_attr("rhs_axis", AttrKind::Int, -1, "the axis of the channels of `rhs`")};
  lang::set_attrs_struct(def.name, "BroadcastAttrs");
  def.type_rule = binary_rule;
  def.definition = definition;
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_binary_operators() {
  add_binary_operator(
      "qnn.add",
      "The sum of quantized tensors with broadcasting.\n"
      "Both are requantized to the result's scale first; the sum becomes the nearest value of the "
      "dtype.",
      "qnn.add(cast([10, 200], dtype=\"uint8\"), cast([4, 200], dtype=\"uint8\"), 0.5, 0, 0.25, 0, "
      "0.5, 0)\n// expect: [12, 255]",
      [](const DefinitionCall& call) {
        return combined(call, [](const Expr& a, const Expr& b, const Expr& zero) {
          return build::sub(build::add(a, b), zero);
        });
      });
  add_binary_operator(
      "qnn.subtract",
      "The difference of quantized tensors with broadcasting.\n"
      "Both are requantized to the result's scale first; the difference becomes the nearest value "
      "of the dtype.",
      "qnn.subtract(cast([10, 4], dtype=\"uint8\"), cast([4, 10], dtype=\"uint8\"), 0.5, 0, 0.5, "
      "0, "
      "0.5, 0)\n// expect: [6, 0]",
      [](const DefinitionCall& call) {
        return combined(call, [](const Expr& a, const Expr& b, const Expr& zero) {
          return build::add(build::sub(a, b), zero);
        });
      });
  add_binary_operator("qnn.mul",
                      "The product of quantized tensors with broadcasting.\n"
                      "Values less their zero points are multiplied and requantized from the "
                      "product of the scales. "
                      "Where both operands have channels, these must be on the same axis.",
                      "qnn.mul(cast([10, 4], dtype=\"uint8\"), cast([4, 10], dtype=\"uint8\"), "
                      "0.5, 0, 0.5, 2, 1.0, "
                      "7)\n// expect: [12, 15]",
                      multiply_definition);
}

// --- qnn.concatenate ---

const std::vector<Type>* fields_of(TypeCall& call, std::size_t i, const char* what) {
  const auto* tuple = lang::as<lang::TupleType>(call.args[i]);
  if (tuple) return &tuple->fields;
  if (!lang::as<lang::VarType>(call.args[i])) {
    call.fail(DiagnosticKind::TypeMismatch,
              "`qnn.concatenate` takes a tuple of " + std::string(what));
  }
  return nullptr;
}

RuleOutcome quantized_concatenate_rule(TypeCall& call) {
  require_scalar(call, 3, DType::Float32);
  require_scalar(call, 4, DType::Int32);
  const auto* data = fields_of(call, 0, "tensors");
  const auto* scales = fields_of(call, 1, "scales");
  const auto* zero_points = fields_of(call, 2, "zero points");
  if (!data || !scales || !zero_points) return RuleOutcome::Stuck;
  if (data->size() != scales->size() || data->size() != zero_points->size()) {
    call.fail(DiagnosticKind::TypeMismatch,
              std::to_string(data->size()) + " tensors have " + std::to_string(scales->size()) +
                  " scales and " + std::to_string(zero_points->size()) + " zero points");
  }
  for (const Type& scale : *scales) call.solver.unify(scale, lang::scalar_type(DType::Float32));
  for (const Type& zero : *zero_points) call.solver.unify(zero, lang::scalar_type(DType::Int32));
  const RuleOutcome outcome = lang::OpRegistry::instance().get("concatenate").type_rule(call);
  const auto* result = lang::as<TensorType>(call.result);
  if (result) {
    require_dtype(call, "data", result->dtype,
                  {DType::Int8, DType::UInt8, DType::Int16, DType::UInt16, DType::Int32});
  }
  return outcome;
}

void add_quantized_concatenate() {
  OpDef def;
  def.name = "qnn.concatenate";
  def.level = 11;
  def.doc = "Joins quantized tensors along an axis, each requantized to the result's scale first.";
  def.example =
      "qnn.concatenate((cast([10], dtype=\"int8\"), cast([9], dtype=\"int8\")), (1.0, 0.5), (0, "
      "1), "
      "0.5, 0)\n// expect: [20, 8]";
  def.inputs = {{"data", "a tuple of quantized tensors"},
                {"input_scales", "a tuple of float32 scalars"},
                {"input_zero_points", "a tuple of int32 scalars"},
                {"output_scale", "a float32 scalar"},
                {"output_zero_point", "an int32 scalar"}};
  def.attrs = {optional_attr("axis", AttrKind::Int, 0, "the axis along which to join")};
  def.type_rule = quantized_concatenate_rule;
  def.definition = [](const DefinitionCall& call) {
    const std::size_t count = lang::as<lang::TupleType>(call.args[0]->type)->fields.size();
    const DType dtype = lang::as<TensorType>(call.result)->dtype.known();
    std::vector<Expr> parts;
    for (std::uint32_t k = 0; k < count; ++k) {
      parts.push_back(op("qnn.requantize",
                         {build::project(call.args[0], k), build::project(call.args[1], k),
                          build::project(call.args[2], k), call.args[3], call.args[4]},
                         {{"out_dtype", dtype}}));
    }
    return op("concatenate", {build::tuple(std::move(parts))},
              {{"axis", call.attrs->get_int("axis")}});
  };
  def.differentiable = false;
  add_tuple_operator(std::move(def), true);
}

// --- Functions of one tensor ---

OpDef unary(const char* name, const char* scale, const char* zero_point,
            std::vector<DType> dtypes) {
  OpDef def;
  def.name = name;
  def.level = 11;
  def.inputs = {{"data", "a quantized tensor"},
                {scale, "a float32 scalar"},
                {zero_point, "an int32 scalar"},
                {"output_scale", "a float32 scalar"},
                {"output_zero_point", "an int32 scalar"}};
  def.type_rule = [allowed = std::move(dtypes)](TypeCall& call) {
    require_scalar_parameters(call, 1);
    const Type data = call.tensor(0);
    call.solver.require(as_tensor(data).dtype, PrimOperands::kInt);
    require_dtype(call, "data", as_tensor(data).dtype, allowed);
    call.returns(data);
    return RuleOutcome::Solved;
  };
  def.differentiable = false;
  return def;
}

void add_function(const char* name, const char* function, const char* example) {
  OpDef def = unary(name, "scale", "zero_point", {DType::Int8, DType::UInt8});
  const bool is_hardswish = std::string(function) == "hardswish";
  def.doc = (is_hardswish ? std::string("x * min(max(x + 3, 0), 6) / 6")
                          : "`" + std::string(function) + "`") +
            " of a quantized tensor: dequantized, computed in float32, and quantized again.\n"
            "NaN becomes the largest value of the dtype.";
  def.example = example;
  def.definition = [function = std::string(function), is_hardswish](const DefinitionCall& call) {
    const DType dtype = call.tensor(0).dtype.known();
    const Expr data = op("qnn.dequantize", {call.args[0], call.args[1], call.args[2]},
                         {{"out_dtype", DType::Float32}});
    return build::let("data", data, [&](const Expr& x) {
      const Expr value = is_hardswish
                             ? x * op("clip", {3.0 + x}, {{"a_min", 0.0}, {"a_max", 6.0}}) /
                                   build::constant(DType::Float32, 6)
                             : op(function, {x});
      return build::let("value", value, [&](const Expr& y) {
        return op("qnn.quantize", {y, call.args[3], call.args[4]}, {{"out_dtype", dtype}});
      });
    });
  };
  lang::OpRegistry::instance().add(std::move(def));
}

void add_functions() {
  const auto add = [](const char* name, const char* function, const std::string& data,
                      const std::string& result) {
    const std::string example = std::string(name) + "(cast(" + data +
                                ", dtype=\"int8\"), 0.5, 0, 0.25, 0)\n// expect: " + result;
    add_function(name, function, example.c_str());
  };
  add("qnn.abs", "abs", "[-2, 3]", "[4, 6]");
  add("qnn.erf", "erf", "[-8, 0, 1]", "[-4,  0,  2]");
  add("qnn.exp", "exp", "[-8, 0, 2]", "[ 0,  4, 11]");
  add("qnn.hardswish", "hardswish", "[-6, 2, 6]", "[ 0,  3, 12]");
  add("qnn.log", "log", "[1, 2, 8]", "[-3,  0,  6]");
  add("qnn.rsqrt", "rsqrt", "[2, 8]", "[4, 2]");
  add("qnn.sigmoid", "sigmoid", "[-20, 0, 2]", "[0, 2, 3]");
  add("qnn.sqrt", "sqrt", "[2, 8]", "[4, 8]");
  add("qnn.tanh", "tanh", "[-8, 0, 1]", "[-4,  0,  2]");
}

// --- qnn.leaky_relu ---

void add_quantized_leaky_relu() {
  OpDef def =
      unary("qnn.leaky_relu", "input_scale", "input_zero_point", {DType::Int8, DType::UInt8});
  def.doc =
      "The data where they are at least their zero point, else times `alpha`.\n"
      "Requantized to the result's scale first; the factor is a fixed-point number.";
  def.example =
      "qnn.leaky_relu(cast([-8, 8], dtype=\"int8\"), 0.5, 0, 0.5, 0)\n// expect: [-2,  8]";
  def.attrs = {optional_attr("alpha", AttrKind::Float, 0.25, "the factor below the zero point")};
  def.definition = [](const DefinitionCall& call) {
    const double alpha = call.attrs->get_float("alpha");
    const Expr moved = requantized(call.args[0], output_of(call, 1), output_of(call, 3));
    return build::let("requantized", moved, [&](const Expr& data) {
      return build::comprehension(dims_of(data), [&](const Indices& i) {
        const auto times = [](const Expr& value, double factor) {
          return scaled(build::cast_to(DType::Int64, value),
                        fixed_point(build::constant(DType::Float64, factor)), true);
        };
        const Expr value = build::at(data, i);
        const Expr input = build::cast_to(DType::Int32, build::at(call.args[0], i));
        const Expr below = build::add(times(value, alpha), times(call.args[4], 1 - alpha));
        return saturated(build::select(build::prim(Prim::Lt, {input, call.args[2]}), below,
                                       build::cast_to(DType::Int64, value)),
                         call.tensor(0).dtype.known());
      });
    });
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- qnn.softmax ---

Expr index_word(std::int64_t value) { return build::index_constant(value); }

// exp(scale * x) for x <= 0 with 8 fractional bits, up to a factor that cancels: 2^-q times a
// straight line between powers of two. `unit` is 1 / scale, rounded.
Expr power_of(const Expr& x, const Expr& unit) {
  const auto shifted = [](const Expr& value, int by) {
    return build::prim(Prim::Shr, {value, index_word(by)});
  };
  // log2(e) is about 1 + 1/2 - 1/16.
  const Expr exponent = build::sub(build::add(x, shifted(x, 1)), shifted(x, 4));
  const Expr down = build::prim(Prim::Neg, {unit});
  const Expr whole = build::div(exponent, down);
  const Expr rest = build::sub(exponent, build::mul(whole, down));
  const Expr line = build::add(shifted(rest, 1), unit);
  const Expr wide = build::prim(Prim::Shl, {line, index_word(8)});
  return build::prim(Prim::Shr, {wide, build::prim(Prim::Min, {whole, index_word(62)})});
}

Expr quantized_softmax_definition(const DefinitionCall& call) {
  const Expr& data = call.args[0];
  const std::vector<Dim>& dims = dims_of(data);
  const std::int64_t axis = call.attrs->get_int("axis");
  const std::vector<lang::Attr> along = {{"axis", axis}, {"keepdims", true}};
  const Expr largest = op("max", {data}, along);
  return build::let("largest", largest, [&](const Expr& most) {
    const Expr powers = build::comprehension(dims, [&](const Indices& i) {
      const auto wide = [](const Expr& value) { return build::cast_to(DType::Int64, value); };
      const Expr inverse = build::div(build::constant(DType::Float32, 1), call.args[1]);
      const Expr unit = wide(saturated(build::prim(Prim::Round, {inverse}), DType::Int32));
      return power_of(build::sub(wide(build::at(data, i)), wide(read_broadcast(most, i))), unit);
    });
    return build::let("powers", powers, [&](const Expr& power) {
      return build::let("total", op("sum", {power}, along), [&](const Expr& total) {
        const Expr shares = build::comprehension(dims, [&](const Indices& i) {
          const Expr inverse =
              build::div(index_word(std::int64_t{1} << 30), read_broadcast(total, i));
          const Expr share = build::mul(inverse, build::at(power, i));
          return build::cast_to(DType::Int32, build::prim(Prim::Shr, {share, index_word(23)}));
        });
        return build::let("shares", shares, [&](const Expr& share) {
          return op("qnn.requantize",
                    {share, build::constant(DType::Float32, 1.0 / 128),
                     build::constant_int(DType::Int32, 0), call.args[3], call.args[4]},
                    {{"out_dtype", DType::Int8}});
        });
      });
    });
  });
}

void add_quantized_softmax() {
  OpDef def = unary("qnn.softmax", "scale", "zero_point", {DType::Int8});
  def.doc =
      "Softmax of an int8 tensor along an axis, in integers, with 7 bits of precision.\n"
      "After Algorithm 1 of \"I-ViT\" (arXiv 2207.01405). The scale must be less than 2.";
  def.example =
      "qnn.softmax(cast([10, 10], dtype=\"int8\"), 0.1, 0, 0.00390625, -128)\n// expect: [-2, -2]";
  def.attrs = {optional_attr("axis", AttrKind::Int, -1, "the axis")};
  def.type_rule = [rule = def.type_rule](TypeCall& call) {
    rule(call);
    const Shape& shape = call.tensor_node(0).shape;
    if (!shape.has_rank()) return RuleOutcome::Stuck;
    check_axis(call, call.attrs->get_int("axis"), shape);
    return RuleOutcome::Solved;
  };
  def.definition = quantized_softmax_definition;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- qnn.avg_pool2d ---

void add_avg_pool() {
  const OpDef& pool = lang::OpRegistry::instance().get("nn.avg_pool2d");
  OpDef def =
      unary("qnn.avg_pool2d", "input_scale", "input_zero_point", {DType::Int8, DType::UInt8});
  def.doc =
      "The mean of each window of a quantized tensor, requantized to the result's scale first.\n"
      "Division truncates. Padding that counts (`count_include_pad`) counts as 0, as in Relay, and "
      "not as the zero point.";
  def.example =
      "qnn.avg_pool2d(cast([[[[1, 3], [2, 6]]]], dtype=\"int8\"), 0.5, 0, 0.5, 0, pool_size=[2, "
      "2])\n// expect: [[[[3]]]]";
  def.attrs = pool.attrs;
  lang::set_attrs_struct(def.name, lang::attrs_struct_of(pool));
  def.type_rule = [](TypeCall& call) {
    require_scalar_parameters(call, 1);
    const Type data = call.tensor(0);
    call.solver.require(as_tensor(data).dtype, PrimOperands::kInt);
    require_dtype(call, "data", as_tensor(data).dtype, {DType::Int8, DType::UInt8});
    return lang::OpRegistry::instance().get("nn.avg_pool2d").type_rule(call);
  };
  def.definition = [](const DefinitionCall& call) {
    const Expr moved = requantized(call.args[0], output_of(call, 1), output_of(call, 3));
    return build::let("requantized", moved, [&](const Expr& data) {
      return build::let("means", op("nn.avg_pool2d", {data}, call.attrs->list),
                        [&](const Expr& means) {
                          return build::comprehension(dims_of(means), [&](const Indices& i) {
                            return saturated(build::at(means, i), call.tensor(0).dtype.known());
                          });
                        });
    });
  };
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_quantized_elementwise_operators() {
  add_binary_operators();
  add_quantized_concatenate();
  add_functions();
  add_quantized_leaky_relu();
  add_quantized_softmax();
  add_avg_pool();
}

}  // namespace relay::stdlib
