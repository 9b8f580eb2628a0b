// Integers of a few bits: packed into words, and multiplied by bit planes.

#include <string>

#include "lang/attrs_struct.h"
#include "stdlib/ops/types.h"
#include "stdlib/ops/window.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

constexpr std::int64_t kMostBits = 8;

// How many bits there are, from an attribute. Throws BadAttribute.
std::int64_t bits_of(const TypeCall& call, const char* key) {
  const std::int64_t bits = call.attrs->get_int(key);
  if (bits < 1 || bits > kMostBits) {
    lang::fail(DiagnosticKind::BadAttribute,
               "`" + std::string(key) + "` must be from 1 to 8, found " + std::to_string(bits),
               call.span);
  }
  return bits;
}

// --- nn.bitpack ---

DType word_of(const AttrsRef& attrs) {
  const AttrValue* value = attrs->find("pack_type");
  return value->as_dtype() ? *value->as_dtype() : DType::UInt32;
}

std::int64_t width_of(DType word) { return static_cast<std::int64_t>(lang::size_of(word)) * 8; }

RuleOutcome bitpack_rule(TypeCall& call) {
  const std::int64_t bits = bits_of(call, "bits");
  const DType word = word_of(call.attrs);
  if (lang::is_float(word) || lang::is_signed_int(word) || word == DType::Bool) {
    lang::fail(DiagnosticKind::BadAttribute, "`pack_type` must be an unsigned integer", call.span);
  }
  const Type data = call.tensor(0);
  call.solver.require(as_tensor(data).dtype, PrimOperands::kInt);
  const Shape& shape = as_tensor(data).shape;
  const Shape known = result_shape(call, DTypeTerm(word));
  if (!shape.has_rank()) return RuleOutcome::Stuck;
  const auto rank = static_cast<std::int64_t>(shape.rank());
  const std::int64_t pack_axis = call.attrs->get_int("pack_axis");
  const std::int64_t bit_axis = call.attrs->get_int("bit_axis");
  if (pack_axis < 0 || pack_axis >= rank) check_axis(call, rank, shape);
  if (bit_axis < 0 || bit_axis > rank) {
    lang::fail(DiagnosticKind::AxisOutOfRange,
               "`bit_axis` must be from 0 to " + std::to_string(rank) + ", found " +
                   std::to_string(bit_axis),
               call.span);
  }
  std::vector<Dim> dims = shape.dims();
  Dim& packed = dims[static_cast<std::size_t>(pack_axis)];
  if (packed.is_constant() && packed.constant() % width_of(word) != 0) {
    call.fail(DiagnosticKind::ShapeMismatch,
              "axis " + std::to_string(pack_axis) + " of extent " + packed.to_string() +
                  " does not divide into words of " + std::to_string(width_of(word)) + " bits");
  }
  packed = Dim::floor_div(packed, Dim(width_of(word)));
  dims.insert(dims.begin() + bit_axis, Dim(bits));
  call.solver.unify(known, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

// Bit b of elements k * width, k * width + 1, ... from the most significant bit of word k on.
Expr bitpack(const DefinitionCall& call) {
  const auto& result = *lang::as<TensorType>(call.result);
  const DType word = result.dtype.known();
  const DType dtype = call.tensor(0).dtype.known();
  const std::int64_t width = width_of(word);
  const auto pack_axis = static_cast<std::size_t>(call.attrs->get_int("pack_axis"));
  const auto bit_axis = static_cast<std::ptrdiff_t>(call.attrs->get_int("bit_axis"));
  if (dims_of(call.args[0])[pack_axis].constant() % width != 0) {
    lang::fail(DiagnosticKind::ShapeMismatchAtRunTime,
               "an axis of extent " + dims_of(call.args[0])[pack_axis].to_string() +
                   " does not divide into words of " + std::to_string(width) + " bits",
               {});
  }
  return build::comprehension(result.shape.dims(), [&](const Indices& out) {
    Indices from = out;
    from.erase(from.begin() + bit_axis);
    const Expr first = build::mul(from[pack_axis], build::index_constant(width));
    return build::reduction(ReduceOp::Sum, {Dim(width)}, [&](const Indices& k) {
      from[pack_axis] = build::add(first, k[0]);
      const Expr moved =
          build::prim(Prim::Shr, {build::at(call.args[0], from),
                                  build::cast_to(dtype, out[static_cast<std::size_t>(bit_axis)])});
      const Expr bit = build::prim(Prim::And, {moved, build::constant_int(dtype, 1)});
      const Expr place = build::sub(build::index_constant(width - 1), k[0]);
      return build::prim(Prim::Shl, {build::cast_to(word, bit), build::cast_to(word, place)});
    });
  });
}

void add_bitpack() {
  OpDef def;
  def.name = "nn.bitpack";
  def.level = 2;
  def.doc =
      "The lowest bits of integers, each packed along an axis into words.\n"
      "A new axis holds one word for each bit. The first element is the most significant bit of a "
      "word.";
  def.example =
      "nn.bitpack([1, 0, 1, 0, 0, 0, 0, 3], pack_axis=0, bit_axis=1, bits=2, pack_type=\"uint8\")\n"
      "// expect: [[161,   1]]";
  def.inputs = {{"data", "integers"}};
  def.attrs = {
      optional_attr("bits", AttrKind::Int, 1, "how many bits of each integer: from 1 to 8"),
      optional_attr("pack_axis", AttrKind::Int, 1, "the axis that is packed, from 0"),
      optional_attr("bit_axis", AttrKind::Int, -1,
                    "where the axis of the bits is in the result, from 0; must be written"),
      nullable_attr("pack_type", AttrKind::DType, "the unsigned dtype of words; None: uint32"),
      optional_attr("name", AttrKind::String, "BitPack", "not used")};
  lang::set_attrs_struct(def.name, "BitPackAttrs");
  def.type_rule = bitpack_rule;
  def.definition = bitpack;
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- nn.bitserial_dense, nn.bitserial_conv2d ---

// The lowest bits of integers as values of `dtype`. Those of a unipolar weight stand for -1 and 1.
Expr lowest_bits(const Expr& data, std::int64_t bits, DType dtype, bool is_signed) {
  const DType from = tensor_type_of(data).dtype.known();
  const std::int64_t mask = (std::int64_t{1} << bits) - 1;
  return build::comprehension(dims_of(data), [&](const Indices& i) {
    const Expr low = build::prim(Prim::And, {build::at(data, i), build::constant_int(from, mask)});
    const Expr value = build::cast_to(dtype, low);
    if (!is_signed) return value;
    return build::sub(build::add(value, value), build::constant_int(dtype, mask));
  });
}

// What both have in common: the plain operator on the values that the bits stand for.
Expr bitserial(const DefinitionCall& call, const char* data_bits, const char* plain,
               std::vector<lang::Attr> attrs, std::size_t weight_rank) {
  if (dims_of(call.args[1]).size() != weight_rank) {
    lang::fail(DiagnosticKind::Unsupported,
               "not supported: a weight that is packed already; give its integers", {});
  }
  const DType dtype = lang::as<TensorType>(call.result)->dtype.known();
  attrs.push_back({"out_dtype", dtype, {}});
  const Expr data = lowest_bits(call.args[0], call.attrs->get_int(data_bits), dtype, false);
  const Expr weight = lowest_bits(call.args[1], call.attrs->get_int("weight_bits"), dtype,
                                  call.attrs->get_bool("unipolar"));
  return build::let("data", data, [&](const Expr& x) {
    return build::let("weight", weight, [&](const Expr& w) { return op(plain, {x, w}, attrs); });
  });
}

std::vector<AttrSpec> bitserial_attrs(const char* data_bits) {
  return {optional_attr(data_bits, AttrKind::Int, 1, "bits of the data: from 1 to 8"),
          optional_attr("weight_bits", AttrKind::Int, 1, "bits of the weight: from 1 to 8"),
          nullable_attr("pack_dtype", AttrKind::DType, "not used: nothing is packed on the way"),
          nullable_attr("out_dtype", AttrKind::DType, "dtype of the result; None: int16"),
          optional_attr("unipolar", AttrKind::Bool, true,
                        "bits of the weight stand for -1 and 1, not for 0 and 1")};
}

DTypeTerm bitserial_dtype(TypeCall& call, const char* data_bits) {
  bits_of(call, data_bits);
  bits_of(call, "weight_bits");
  for (const std::size_t i : {0, 1})
    call.solver.require(call.tensor_node(i).dtype, PrimOperands::kInt);
  const DTypeTerm dtype = attr_dtype(call.attrs, "out_dtype", DTypeTerm(DType::Int16));
  call.solver.require(dtype, PrimOperands::kInt);
  return dtype;
}

void add_bitserial_dense() {
  OpDef def;
  def.name = "nn.bitserial_dense";
  def.level = 1;
  def.doc =
      "A dense layer of integers of a few bits.\n"
      "Sums wrap in `out_dtype`. With `unipolar` a weight of b bits w stands for 2 * w - (2^b - "
      "1).";
  def.example =
      "nn.bitserial_dense([[3, 1]], [[1, 0], [1, 1]], units=2, data_bits=2)\n"
      "// expect: [[2, 4]]";
  def.inputs = {{"data", "(.., k)"}, {"weight", "(units, k)"}};
  def.attrs = bitserial_attrs("data_bits");
  def.attrs.insert(def.attrs.begin(), required_attr("units", AttrKind::Int, "how many results"));
  lang::set_attrs_struct(def.name, "BinaryDenseAttrs", {"units"});
  // Of the weight Relay looks at nothing here: it may be packed, and transposed.
  def.type_rule = [](TypeCall& call) {
    const Shape known = result_shape(call, bitserial_dtype(call, "data_bits"));
    const Shape& shape = call.tensor_node(0).shape;
    if (!shape.has_rank()) return RuleOutcome::Stuck;
    if (shape.rank() == 0) call.fail(DiagnosticKind::RankMismatch, "the data must not be a scalar");
    std::vector<Dim> dims = shape.dims();
    dims.back() = Dim(call.attrs->get_int("units"));
    call.solver.unify(known, Shape(std::move(dims)));
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    return bitserial(call, "data_bits", "nn.dense", {{"units", call.attrs->get_int("units"), {}}},
                     2);
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

RuleOutcome bitserial_conv_rule(TypeCall& call) {
  check_window(call, 2);
  for (const char* key : {"channels", "kernel_size"}) {
    if (!call.attrs->is_null(key)) continue;
    lang::fail(DiagnosticKind::MissingAttribute,
               "`nn.bitserial_conv2d` needs `" + std::string(key) + "`", call.span);
  }
  const AxisLayout layout = layout_of(call, "data_layout", "NC", "HW");
  layout_of(call, "kernel_layout", "OI", "HW");
  const Shape known = result_shape(call, bitserial_dtype(call, "activation_bits"));
  const Shape& shape = call.tensor_node(0).shape;
  if (!shape.has_rank()) return RuleOutcome::Stuck;
  if (shape.rank() != layout.rank) {
    call.fail(DiagnosticKind::RankMismatch,
              "the data must have rank " + std::to_string(layout.rank) + ", and `" +
                  to_string(shape) + "` has rank " + std::to_string(shape.rank()));
  }
  const Padding padding = padding_of(call.attrs, 2);
  const std::vector<std::int64_t> kernel = per_axis(call.attrs, "kernel_size", 2);
  const std::vector<std::int64_t> strides = per_axis(call.attrs, "strides", 2);
  std::vector<Dim> spatial;
  for (std::size_t i = 0; i < 2; ++i) {
    spatial.push_back(window_places(call, shape[layout.spatial[i]], kernel[i], padding.front[i],
                                    padding.back[i], strides[i], 1));
  }
  call.solver.unify(known, Shape(dims_in_layout(layout, lead_extent(layout, shape.dims(), 0),
                                                call.attrs->get_int("channels"), spatial)));
  return RuleOutcome::Solved;
}

void add_bitserial_conv2d() {
  OpDef def;
  def.name = "nn.bitserial_conv2d";
  def.level = 2;
  def.doc =
      "A convolution of integers of a few bits.\n"
      "Sums wrap in `out_dtype`. With `unipolar` a weight of b bits w stands for 2 * w - (2^b - "
      "1).";
  def.example =
      "nn.bitserial_conv2d([[[[3, 1]]]], [[[[1, 0]]]], channels=1, kernel_size=[1, 2], "
      "activation_bits=2)\n// expect: [[[[2]]]]";
  def.inputs = {{"data", "batch, channels and spatial axes as `data_layout` says"},
                {"weight", "outputs, inputs and spatial axes as `kernel_layout` says"}};
  def.attrs = {optional_attr("strides", AttrKind::IntOrIntList, AttrValue::ints({1, 1}),
                             "how far the window moves"),
               optional_attr("padding", AttrKind::IntOrIntList, AttrValue::ints({0, 0}),
                             "zeros around the data"),
               optional_attr("kernel_size", AttrKind::IntOrIntList, AttrValue::ints({3, 3}),
                             "extents of the kernel"),
               nullable_attr("channels", AttrKind::Int, "channels of the result; must be written"),
               optional_attr("data_layout", AttrKind::String, "NCHW", "which axis holds what"),
               optional_attr("kernel_layout", AttrKind::String, "OIHW", "the same of the weight")};
  const std::vector<AttrSpec> common = bitserial_attrs("activation_bits");
  def.attrs.insert(def.attrs.end(), common.begin(), common.end());
  lang::set_attrs_struct(def.name, "BinaryConv2DAttrs");
  def.type_rule = bitserial_conv_rule;
  def.definition = [](const DefinitionCall& call) {
    std::vector<lang::Attr> attrs;
    for (const char* key :
         {"strides", "padding", "kernel_size", "channels", "data_layout", "kernel_layout"})
      attrs.push_back({key, *call.attrs->find(key), {}});
    return bitserial(call, "activation_bits", "nn.conv2d", std::move(attrs), 4);
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_bit_operators() {
  add_bitpack();
  add_bitserial_dense();
  add_bitserial_conv2d();
}

}  // namespace relay::stdlib
