// Between numbers and quantized values: qnn.quantize, qnn.dequantize, qnn.requantize, and the
// simulated ones.

#include "stdlib/ops/quantized.h"

#include <cmath>
#include <string>

#include "lang/attrs_struct.h"
#include "stdlib/ops/types.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

struct Range {
  std::int64_t low, high;
};
Range range_of(DType dtype) {
  const int bits = static_cast<int>(lang::size_of(dtype)) * 8;
  if (lang::is_signed_int(dtype))
    return {-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
  return {0, (std::int64_t{1} << bits) - 1};
}

Expr int_of(std::int64_t value) { return build::index_constant(value); }

Expr clamped_between(const Expr& value, const Expr& low, const Expr& high) {
  return build::prim(Prim::Min, {build::prim(Prim::Max, {value, low}), high});
}

}  // namespace

// --- Types ---

void require_scalar(TypeCall& call, std::size_t i, DType dtype) {
  const Type given = call.tensor(i);
  if (as_tensor(given).shape.has_rank() && as_tensor(given).shape.rank() != 0) {
    call.fail(DiagnosticKind::RankMismatch, "`" + call.op.inputs[i].name +
                                                "` must be a scalar, and `" +
                                                to_string(as_tensor(given).shape) + "` has rank " +
                                                std::to_string(as_tensor(given).shape.rank()));
  }
  call.solver.unify(given, lang::scalar_type(dtype));
}

bool require_per_channel(TypeCall& call, std::size_t i, DType dtype, const Dim& channels) {
  const Type given = call.tensor(i);
  call.solver.unify(as_tensor(given).dtype, DTypeTerm(dtype));
  const Shape& shape = as_tensor(given).shape;
  if (!shape.has_rank()) return false;
  if (shape.rank() == 0 || (shape.rank() == 1 && shape[0].is_constant(1))) return true;
  if (shape.rank() != 1) {
    call.fail(DiagnosticKind::RankMismatch,
              "`" + call.op.inputs[i].name + "` must be a scalar or a vector, and `" +
                  to_string(shape) + "` has rank " + std::to_string(shape.rank()));
  }
  if (shape[0].is_constant() && channels.is_constant() && !(shape[0] == channels)) {
    call.fail(DiagnosticKind::ShapeMismatch, "`" + call.op.inputs[i].name + "` has " +
                                                 shape[0].to_string() + " elements for " +
                                                 channels.to_string() + " channels");
  }
  call.solver.unify(shape[0], channels);
  return true;
}

void require_dtype(const TypeCall& call, const char* what, const DTypeTerm& dtype,
                   const std::vector<DType>& allowed) {
  if (!dtype.is_known()) return;
  std::string names;
  for (const DType one : allowed) {
    if (one == dtype.known()) return;
    names += (names.empty() ? "`" : ", `") + std::string(lang::name_of(one)) + "`";
  }
  call.fail(DiagnosticKind::DTypeMismatch, "`" + call.op.name + "` takes " + what + " of " + names +
                                               ", not of `" +
                                               std::string(lang::name_of(dtype.known())) + "`");
}

void require_scalar_parameters(TypeCall& call, std::size_t first) {
  for (std::size_t i = first; i < call.args.size(); ++i)
    require_scalar(call, i, (i - first) % 2 == 0 ? DType::Float32 : DType::Int32);
}

RuleOutcome channel_parameters_rule(TypeCall& call, const Shape& shape, std::size_t scale,
                                    const char* key, DType scale_dtype) {
  if (!shape.has_rank()) return RuleOutcome::Stuck;
  bool is_scalar = true;
  for (const std::size_t i : {scale, scale + 1}) {
    const Shape& given = call.tensor_node(i).shape;
    is_scalar = is_scalar && given.has_rank() && given.rank() == 0;
  }
  if (!is_scalar && shape.rank() > 0) check_axis(call, call.attrs->get_int(key), shape);
  const Dim channels = is_scalar || shape.rank() == 0
                           ? Dim(1)
                           : shape[position_of(call.attrs->get_int(key), shape.rank())];
  const bool has_scale = require_per_channel(call, scale, scale_dtype, channels);
  const bool has_zero = require_per_channel(call, scale + 1, DType::Int32, channels);
  return has_scale && has_zero ? RuleOutcome::Solved : RuleOutcome::Stuck;
}

// --- Definitions ---

Expr channel_value(const Expr& parameter, const Indices& i, std::size_t axis) {
  const std::vector<Dim>& dims = dims_of(parameter);
  if (dims.empty()) return parameter;
  return build::at(parameter, {dims[0].is_constant(1) ? int_of(0) : i[axis]});
}

std::size_t channel_axis(const AttrsRef& attrs, const char* key, std::size_t rank) {
  return rank == 0 ? 0 : position_of(attrs->get_int(key), rank);
}

Expr without_zero_point(const Expr& data, const Expr& zero_point, std::size_t axis) {
  return build::comprehension(dims_of(data), [&](const Indices& i) {
    return build::sub(build::cast_to(DType::Int32, build::at(data, i)),
                      build::cast_to(DType::Int32, channel_value(zero_point, i, axis)));
  });
}

Expr saturated(const Expr& scalar, DType dtype) {
  const DType from = tensor_type_of(scalar).dtype.known();
  const Range range = range_of(dtype);
  if (!lang::is_float(from)) {
    const Expr wide = build::cast_to(DType::Int64, scalar);
    return build::cast_to(dtype, clamped_between(wide, int_of(range.low), int_of(range.high)));
  }
  // The largest int32 is no float32: the bounds of floats are powers of two at least as far out,
  // and the bounds of the dtype follow in integers. A comparison with NaN is false.
  const Expr high = build::constant(from, static_cast<double>(range.high));
  const Expr low = build::constant(from, static_cast<double>(range.low));
  const Expr below = build::select(build::prim(Prim::Lt, {scalar, high}), scalar, high);
  const Expr inside = build::prim(Prim::Max, {below, low});
  return saturated(build::cast_to(DType::Int64, inside), dtype);
}

namespace {

// The factor as a number in [0.5, 1) and a power of two, by comparisons with powers of two; each
// step is exact.
struct Normalised {
  Expr fraction;  // float64
  Expr exponent;  // int64
};

Normalised normalised(const Expr& factor) {
  Expr fraction = factor;
  Expr exponent = int_of(0);
  const auto step = [&](const Expr& applies, int power) {
    const Expr shift = build::constant(DType::Float64, std::ldexp(1.0, -power));
    fraction = build::select(applies, build::mul(fraction, shift), fraction);
    exponent = build::select(applies, build::add(exponent, int_of(power)), exponent);
  };
  const auto limit = [](int power) {
    return build::constant(DType::Float64, std::ldexp(1.0, power));
  };
  for (int power = 512; power >= 1; power /= 2)
    step(build::prim(Prim::Ge, {fraction, limit(power)}), power);
  step(build::prim(Prim::Ge, {fraction, limit(0)}), 1);
  for (int power = 512; power >= 1; power /= 2)
    step(build::prim(Prim::Lt, {fraction, limit(-power)}), -power);
  return {fraction, exponent};
}

}  // namespace

FixedPoint fixed_point(const Expr& factor) {
  const Normalised parts = normalised(build::prim(Prim::Abs, {factor}));
  const Expr digits = build::mul(parts.fraction, build::constant(DType::Float64, 0x1p31));
  const Expr half = build::constant(DType::Float64, 0.5);
  const Expr rounded =
      build::cast_to(DType::Int64, build::prim(Prim::Floor, {build::add(digits, half)}));
  const Expr carries = build::prim(Prim::Eq, {rounded, int_of(std::int64_t{1} << 31)});
  const Expr significand = build::select(carries, int_of(std::int64_t{1} << 30), rounded);
  const Expr is_negative = build::prim(Prim::Lt, {factor, build::constant(DType::Float64, 0)});
  return {build::select(is_negative, build::prim(Prim::Neg, {significand}), significand),
          build::select(carries, build::add(parts.exponent, int_of(1)), parts.exponent)};
}

Expr scaled(const Expr& value, const FixedPoint& factor, bool upward) {
  const Expr zero = int_of(0);
  const Expr one = int_of(1);
  // A shift to the left comes first. The bounds keep the product within 63 bits; what they cut off
  // is beyond int32 anyway.
  const Expr left = clamped_between(factor.exponent, zero, int_of(32));
  const Expr grows = build::prim(Prim::Gt, {factor.exponent, zero});
  const Expr bound =
      build::prim(Prim::Shr, {int_of(std::int64_t{1} << 32), build::select(grows, left, one)});
  const Expr small = clamped_between(value, build::sub(zero, bound), bound);
  const Expr product = build::mul(build::prim(Prim::Shl, {small, left}), factor.significand);
  const Expr right = build::sub(int_of(31), build::prim(Prim::Min, {factor.exponent, zero}));
  const Expr shift = build::prim(Prim::Min, {right, int_of(62)});
  const Expr half = build::prim(Prim::Shl, {one, build::sub(shift, one)});
  const Expr is_negative = build::prim(Prim::Lt, {product, zero});
  const Expr rounding = upward ? half : build::select(is_negative, build::sub(half, one), half);
  const Expr moved = build::prim(Prim::Shr, {build::add(product, rounding), shift});
  // Below 2^-31 nothing is left.
  return build::select(build::prim(Prim::Gt, {right, int_of(62)}), zero, moved);
}

Expr requantized(const Expr& data, const Quantization& from, const Quantization& to,
                 std::int64_t axis) {
  return op("qnn.requantize", {data, from.scale, from.zero_point, to.scale, to.zero_point},
            {{"axis", axis}, {"out_dtype", DType::Int32}});
}

namespace {

// --- qnn.quantize, qnn.dequantize ---

const InputSpec kScale = {"input_scale", "float32: a scalar, or one for each channel"};
const InputSpec kZeroPoint = {"input_zero_point", "int32: a scalar, or one for each channel"};

AttrSpec axis_attr(const char* name = "axis") {
  return optional_attr(name, AttrKind::Int, -1, "the axis of the channels");
}

void check_out_dtype(const TypeCall& call, const std::vector<DType>& allowed) {
  require_dtype(call, "an `out_dtype`", call.attrs->get_dtype("out_dtype"), allowed);
}

void add_quantize() {
  OpDef def;
  def.name = "qnn.quantize";
  def.level = 11;
  def.doc =
      "round(data / scale) + zero point, as the nearest value that `out_dtype` has.\n"
      "Midpoints go to the even neighbour. NaN becomes the largest value.";
  def.example =
      "qnn.quantize([-1.0, 0.26, 9.0], 0.5, 10, out_dtype=\"uint8\")\n// expect: [8, 11, 28]";
  def.inputs = {{"data", "float32 values"},
                {"output_scale", kScale.doc},
                {"output_zero_point", kZeroPoint.doc}};
  def.attrs = {required_attr("out_dtype", AttrKind::DType, "an integer of at most 32 bits"),
               axis_attr()};
  def.type_rule = [](TypeCall& call) {
    check_out_dtype(call, {DType::Int8, DType::UInt8, DType::Int16, DType::UInt16, DType::Int32});
    const Type data = call.tensor(0);
    call.solver.unify(as_tensor(data).dtype, DTypeTerm(DType::Float32));
    const Shape& shape = as_tensor(data).shape;
    call.returns(lang::tensor_type(shape, call.attrs->get_dtype("out_dtype")));
    return channel_parameters_rule(call, shape, 1, "axis");
  };
  def.definition = [](const DefinitionCall& call) {
    const std::vector<Dim>& dims = dims_of(call.args[0]);
    const std::size_t axis = channel_axis(call.attrs, "axis", dims.size());
    return build::comprehension(dims, [&](const Indices& i) {
      const Expr steps =
          build::div(build::at(call.args[0], i), channel_value(call.args[1], i, axis));
      const Expr zero = build::cast_to(DType::Float32, channel_value(call.args[2], i, axis));
      return saturated(build::add(build::prim(Prim::Round, {steps}), zero),
                       call.attrs->get_dtype("out_dtype"));
    });
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

DType scale_dtype_for(DType dtype) {
  return dtype == DType::Float64 ? DType::Float64 : DType::Float32;
}

void add_dequantize() {
  OpDef def;
  def.name = "qnn.dequantize";
  def.level = 11;
  def.doc =
      "(data - zero point) * scale, computed in float32; for a float64 result, ours alone, in "
      "float64.\n"
      "What is beyond float16 becomes its largest or smallest finite value.";
  def.example =
      "qnn.dequantize([8, 11, 28], 0.5, 10, out_dtype=\"float32\")\n// expect: [-1.0,  0.5,  9.0]";
  def.inputs = {{"data", "integers of at most 32 bits"}, kScale, kZeroPoint};
  def.attrs = {required_attr("out_dtype", AttrKind::DType, "`float32`, `float16` or `float64`"),
               axis_attr()};
  def.type_rule = [](TypeCall& call) {
    check_out_dtype(call, {DType::Float16, DType::Float32, DType::Float64});
    const Type data = call.tensor(0);
    call.solver.require(as_tensor(data).dtype, PrimOperands::kInt);
    require_dtype(call, "data", as_tensor(data).dtype,
                  {DType::Int8, DType::UInt8, DType::Int16, DType::UInt16, DType::Int32});
    const Shape& shape = as_tensor(data).shape;
    call.returns(lang::tensor_type(shape, call.attrs->get_dtype("out_dtype")));
    return channel_parameters_rule(call, shape, 1, "axis",
                                   scale_dtype_for(call.attrs->get_dtype("out_dtype")));
  };
  def.definition = [](const DefinitionCall& call) {
    const std::vector<Dim>& dims = dims_of(call.args[0]);
    const std::size_t axis = channel_axis(call.attrs, "axis", dims.size());
    const DType dtype = call.attrs->get_dtype("out_dtype");
    return build::comprehension(dims, [&](const Indices& i) {
      const Expr shifted = build::sub(build::cast_to(DType::Int32, build::at(call.args[0], i)),
                                      channel_value(call.args[2], i, axis));
      const Expr value = build::mul(build::cast_to(scale_dtype_for(dtype), shifted),
                                    channel_value(call.args[1], i, axis));
      if (dtype != DType::Float16) return value;
      const auto bound = [](double number) { return build::constant(DType::Float32, number); };
      return build::cast_to(dtype, clamped_between(value, bound(-65504), bound(65504)));
    });
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- qnn.requantize ---

void check_word(const TypeCall& call, const char* key, std::initializer_list<const char*> allowed) {
  const std::string& word = call.attrs->get_string(key);
  std::string names;
  for (const char* one : allowed) {
    if (word == one) return;
    names += (names.empty() ? "`" : ", `") + std::string(one) + "`";
  }
  lang::fail(DiagnosticKind::BadAttribute,
             "`" + std::string(key) + "` is one of " + names + ", not `" + word + "`", call.span);
}

RuleOutcome requantize_rule(TypeCall& call) {
  check_word(call, "rounding", {"None", "UPWARD", "TONEAREST"});
  check_word(call, "compute_dtype", {"None", "int64", "float32", "float64"});
  if (call.attrs->is_null("out_dtype")) {
    lang::fail(DiagnosticKind::MissingAttribute,
               "`qnn.requantize` needs `out_dtype`: nothing else tells it", call.span);
  }
  check_out_dtype(call, {DType::Int8, DType::UInt8, DType::Int16, DType::UInt16, DType::Int32});
  const Type data = call.tensor(0);
  call.solver.require(as_tensor(data).dtype, PrimOperands::kInt);
  require_dtype(
      call, "data", as_tensor(data).dtype,
      {DType::Int8, DType::UInt8, DType::Int16, DType::UInt16, DType::Int32, DType::Int64});
  require_scalar_parameters(call, 3);
  const Shape& shape = as_tensor(data).shape;
  call.returns(lang::tensor_type(shape, call.attrs->get_dtype("out_dtype")));
  return channel_parameters_rule(call, shape, 1, "axis");
}

// The factors input scale / output scale, one for each channel, in float64.
Expr factors_of(const DefinitionCall& call) {
  return build::comprehension(dims_of(call.args[1]), [&](const Indices& i) {
    return build::div(build::cast_to(DType::Float64, build::at(call.args[1], i)),
                      build::cast_to(DType::Float64, call.args[3]));
  });
}

Expr requantize_in_integers(const DefinitionCall& call, bool upward) {
  const Expr& data = call.args[0];
  const std::size_t axis = channel_axis(call.attrs, "axis", dims_of(data).size());
  return build::let("factors", factors_of(call), [&](const Expr& factors) {
    const auto part = [&](bool exponent) {
      return build::comprehension(dims_of(factors), [&](const Indices& i) {
        const FixedPoint fixed = fixed_point(build::at(factors, i));
        return exponent ? fixed.exponent : fixed.significand;
      });
    };
    return build::let("significand", part(false), [&](const Expr& significand) {
      return build::let("exponent", part(true), [&](const Expr& exponent) {
        return build::comprehension(dims_of(data), [&](const Indices& i) {
          const Expr zero = channel_value(call.args[2], i, axis);
          const Expr shifted = build::sub(build::cast_to(DType::Int64, build::at(data, i)),
                                          build::cast_to(DType::Int64, zero));
          const Expr moved = scaled(
              shifted, {channel_value(significand, i, axis), channel_value(exponent, i, axis)},
              upward);
          return saturated(build::add(moved, build::cast_to(DType::Int64, call.args[4])),
                           call.attrs->get_dtype("out_dtype"));
        });
      });
    });
  });
}

// Midpoints away from 0, without the error that adding a half would make.
Expr rounded_away(const Expr& value, DType dtype) {
  const Expr whole = build::prim(Prim::Trunc, {value});
  const Expr rest = build::prim(Prim::Abs, {build::sub(value, whole)});
  const Expr moves = build::prim(Prim::Ge, {rest, build::constant(dtype, 0.5)});
  return build::select(moves, build::add(whole, build::prim(Prim::Sign, {value})), whole);
}

Expr requantize_in_floats(const DefinitionCall& call, DType dtype, bool upward) {
  const Expr& data = call.args[0];
  const std::size_t axis = channel_axis(call.attrs, "axis", dims_of(data).size());
  return build::let("factors", factors_of(call), [&](const Expr& factors) {
    return build::comprehension(dims_of(data), [&](const Indices& i) {
      const Expr zero = build::cast_to(dtype, channel_value(call.args[2], i, axis));
      const Expr shifted = build::sub(build::cast_to(dtype, build::at(data, i)), zero);
      const Expr moved =
          build::mul(build::cast_to(dtype, channel_value(factors, i, axis)), shifted);
      const Expr value = build::add(build::cast_to(dtype, call.args[4]), moved);
      const Expr half = build::constant(dtype, 0.5);
      const Expr rounded =
          upward ? build::prim(Prim::Floor, {build::add(value, half)}) : rounded_away(value, dtype);
      return saturated(rounded, call.attrs->get_dtype("out_dtype"));
    });
  });
}

void add_requantize() {
  OpDef def;
  def.name = "qnn.requantize";
  def.level = 11;
  def.doc =
      "Quantized values in another scale and zero point: round((data - zero point) * input scale / "
      "output scale) + output zero point, as the nearest value of `out_dtype`.\n"
      "In integers the factor is a fraction of 31 bits times a power of two, as on hardware; the "
      "result is exact to that fraction. Scales are positive.";
  def.example =
      "qnn.requantize([-128, 3, 5], 0.5, 0, 1.0, 10, out_dtype=\"int8\")\n"
      "// expect: [-54, 12, 13]";
  def.inputs = {{"data", "quantized values"},
                kScale,
                kZeroPoint,
                {"output_scale", "a float32 scalar"},
                {"output_zero_point", "an int32 scalar"}};
  def.attrs = {axis_attr(),
               optional_attr("rounding", AttrKind::String, "None",
                             "`UPWARD`: midpoints go up; `TONEAREST`: away from 0; None: `UPWARD`"),
               optional_attr("compute_dtype", AttrKind::String, "None",
                             "`int64`, `float32` or `float64`; None: `int64`"),
               nullable_attr("out_dtype", AttrKind::DType,
                             "an integer of at most 32 bits; must be written")};
  def.type_rule = requantize_rule;
  def.definition = [](const DefinitionCall& call) {
    const bool upward = call.attrs->get_string("rounding") != "TONEAREST";
    const std::string& compute = call.attrs->get_string("compute_dtype");
    if (compute == "float32") return requantize_in_floats(call, DType::Float32, upward);
    if (compute == "float64") return requantize_in_floats(call, DType::Float64, upward);
    return requantize_in_integers(call, upward);
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- qnn.simulated_quantize, qnn.simulated_dequantize ---

OpDef simulated(const char* name, const char* code, const char* scale, const char* zero_point) {
  OpDef def;
  def.name = name;
  def.level = 11;
  def.inputs = {{"data", "floats"},
                {code, "an int32 scalar that names a dtype: 0 none, 1 int8, 2 uint8, 3 int32"},
                {scale, "of the dtype of the data: a scalar, or one for each channel"},
                {zero_point, "int32: a scalar, or one for each channel"}};
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    call.solver.require(as_tensor(data).dtype, PrimOperands::kFloat);
    require_scalar(call, 1, DType::Int32);
    call.returns(data);
    const DTypeTerm dtype = call.tensor_node(0).dtype;
    call.solver.unify(dtype, call.tensor_node(2).dtype);
    if (!dtype.is_known()) return RuleOutcome::Stuck;
    return channel_parameters_rule(call, as_tensor(data).shape, 2, "axis", dtype.known());
  };
  return def;
}

Expr has_code(const DefinitionCall& call, int code) {
  return build::prim(Prim::Eq, {call.args[1], build::constant_int(DType::Int32, code)});
}

// Each element by `f`, of itself, its scale and its zero point in the dtype of the data; itself
// where the code is 0.
Expr simulate(const DefinitionCall& call,
              const std::function<Expr(const Expr&, const Expr&, const Expr&)>& f) {
  const Expr& data = call.args[0];
  const DType dtype = call.tensor(0).dtype.known();
  const std::size_t axis = channel_axis(call.attrs, "axis", dims_of(data).size());
  return build::comprehension(dims_of(data), [&](const Indices& i) {
    const Expr value = build::at(data, i);
    const Expr scale = build::cast_to(dtype, channel_value(call.args[2], i, axis));
    const Expr zero = build::cast_to(dtype, channel_value(call.args[3], i, axis));
    return build::select(has_code(call, 0), value, f(value, scale, zero));
  });
}

// The least or the largest value of the dtype that the code names.
Expr bound_of(const DefinitionCall& call, DType dtype, bool high) {
  const auto bound = [&](DType named) {
    const Range range = range_of(named);
    return build::constant(dtype, static_cast<double>(high ? range.high : range.low));
  };
  return build::select(has_code(call, 1), bound(DType::Int8),
                       build::select(has_code(call, 2), bound(DType::UInt8), bound(DType::Int32)));
}

void add_simulated() {
  OpDef quantize =
      simulated("qnn.simulated_quantize", "out_dtype", "output_scale", "output_zero_point");
  quantize.doc =
      "What `qnn.quantize` gives, as floats, with the dtype as a value.\n"
      "Code 0 gives the data as they are.";
  quantize.example =
      "qnn.simulated_quantize([-1.0, 0.26, 900.0], 2, 0.5, 10)\n// expect: [  8.0,  11.0, 255.0]";
  quantize.attrs = {axis_attr()};
  quantize.definition = [](const DefinitionCall& call) {
    return simulate(call, [&](const Expr& value, const Expr& scale, const Expr& zero) {
      const DType dtype = call.tensor(0).dtype.known();
      const Expr steps = build::prim(Prim::Round, {build::div(value, scale)});
      return clamped_between(build::add(steps, zero), bound_of(call, dtype, false),
                             bound_of(call, dtype, true));
    });
  };
  lang::OpRegistry::instance().add(std::move(quantize));

  OpDef dequantize =
      simulated("qnn.simulated_dequantize", "in_dtype", "input_scale", "input_zero_point");
  dequantize.doc =
      "What `qnn.dequantize` gives of quantized values that are floats, with the dtype as a "
      "value.\n"
      "Code 0 gives the data as they are.";
  dequantize.example = "qnn.simulated_dequantize([8.0, 11.0], 2, 0.5, 10)\n// expect: [-1.0,  0.5]";
  lang::set_attrs_struct(dequantize.name, "DequantizeAttrs");
  dequantize.attrs = {
      nullable_attr("out_dtype", AttrKind::DType, "not used: the dtype is that of the data"),
      axis_attr()};
  dequantize.definition = [](const DefinitionCall& call) {
    return simulate(call, [](const Expr& value, const Expr& scale, const Expr& zero) {
      return build::mul(build::sub(value, zero), scale);
    });
  };
  lang::OpRegistry::instance().add(std::move(dequantize));
}

}  // namespace

void add_quantizing_operators() {
  add_quantize();
  add_dequantize();
  add_requantize();
  add_simulated();
}

void add_quantized_operators() {
  add_quantizing_operators();
  add_quantized_elementwise_operators();
  add_quantized_product_operators();
}

}  // namespace relay::stdlib
