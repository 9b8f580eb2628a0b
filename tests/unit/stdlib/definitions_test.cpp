// What definitions mean, by an evaluator that shares no code with loops/ and interp/. The table of
// cases (tests/oracle) tries each operator, and its derivative, in the real ones.

#include <cmath>

#include <catch2/catch.hpp>

#include "lang/build.h"
#include "lang/op.h"
#include "stdlib/register.h"
#include "tests/unit/stdlib/reference_eval.h"

namespace {

using namespace relay::lang;
using relay::stdlib_test::apply;
using relay::stdlib_test::array;
using relay::stdlib_test::Array;
using relay::stdlib_test::tuple_of;

using Extents = std::vector<std::int64_t>;
AttrValue ints(std::vector<std::int64_t> values) { return AttrValue::ints(values); }
Array f64(Extents shape, std::vector<double> data) {
  return array(DType::Float64, std::move(shape), std::move(data));
}
Array i32(Extents shape, std::vector<double> data) {
  return array(DType::Int32, std::move(shape), std::move(data));
}
Array mask(Extents shape, std::vector<double> data) {
  return array(DType::Bool, std::move(shape), std::move(data));
}

// Distinct numbers in (low, high), in no order.
Array spread(Extents shape, double low = 0.2, double high = 0.9) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  Array result = f64(std::move(shape), {});
  for (std::int64_t k = 0; k < count; ++k) {
    const double unit = std::fmod(0.137 + 0.6180339887 * static_cast<double>(k), 1.0);
    result.data.push_back(low + (high - low) * unit);
  }
  return result;
}

struct Case {
  std::string name;
  std::vector<Array> args;
  std::vector<Attr> attrs = {};
};

// Each operator that has a gradient, at points where it is smooth.
std::vector<Case> cases() {
  std::vector<Case> list;
  for (const char* name :
       {"negative", "abs",     "exp",   "log",   "log2", "log10",   "sqrt",          "rsqrt",
        "tanh",     "sigmoid", "sin",   "cos",   "tan",  "asin",    "acos",          "atan",
        "sinh",     "cosh",    "asinh", "atanh", "erf",  "nn.relu", "nn.leaky_relu", "copy"}) {
    list.push_back({name, {spread({2, 3})}});
  }
  list.push_back({"nn.leaky_relu", {spread({4}, -1, -0.1)}, {{"alpha", 0.1}}});
  list.push_back({"acosh", {spread({3}, 1.5, 3)}});
  list.push_back({"clip", {spread({6}, -1, 1)}, {{"a_min", -0.5}, {"a_max", 0.5}}});
  list.push_back({"cast", {spread({3})}, {{"dtype", "float64"}}});
  list.push_back({"cast_like", {spread({3}), spread({2})}});
  for (const char* name :
       {"add", "subtract", "multiply", "divide", "power", "maximum", "minimum"}) {
    list.push_back({name, {spread({2, 3}), spread({3}, 0.35, 1.45)}});
    list.push_back({name, {spread({}), spread({2, 1}, 0.25, 1.65)}});
  }
  for (const char* name : {"mod", "floor_mod"})
    list.push_back({name, {f64({2}, {2.3, -1.2}), f64({1}, {0.5})}});
  list.push_back({"where", {mask({2, 1}, {1, 0}), spread({3}), spread({2, 3})}});
  for (const char* name : {"sum", "prod", "max", "min", "mean", "logsumexp"}) {
    list.push_back({name, {spread({2, 3})}});
    list.push_back({name, {spread({2, 3, 2})}, {{"axis", ints({0, -1})}}});
    list.push_back({name, {spread({2, 3, 2})}, {{"axis", 1}, {"keepdims", true}}});
    list.push_back({name, {spread({2, 3, 2})}, {{"axis", 1}, {"exclude", true}}});
  }
  list.push_back({"prod", {f64({2, 3}, {0, 2, 3, 0, 0, 5})}, {{"axis", 1}}});
  list.push_back({"variance", {spread({2, 3}), spread({2, 1})}, {{"axis", 1}}});
  list.push_back({"variance",
                  {spread({2, 3}), spread({2, 1})},
                  {{"axis", 1}, {"unbiased", true}, {"keepdims", true}}});
  list.push_back({"reshape", {spread({2, 3, 4})}, {{"newshape", ints({4, -1})}}});
  list.push_back({"reshape", {spread({1, 6, 2})}, {{"newshape", ints({3, 2, 1, 2})}}});
  list.push_back({"reshape_like", {spread({2, 3}), spread({3, 2})}});
  list.push_back({"nn.batch_flatten", {spread({2, 3, 2})}});
  list.push_back({"transpose", {spread({2, 3})}});
  list.push_back({"transpose", {spread({2, 3, 4})}, {{"axes", ints({1, 2, 0})}}});
  list.push_back({"squeeze", {spread({1, 3, 1})}, {{"axis", ints({0})}}});
  list.push_back({"expand_dims", {spread({3})}, {{"axis", 1}, {"num_newaxis", 2}}});
  list.push_back({"broadcast_to", {spread({3, 1})}, {{"shape", ints({2, 3, 2})}}});
  list.push_back({"broadcast_to_like", {spread({3, 1}), spread({2, 3, 2})}});
  list.push_back({"collapse_sum_like", {spread({2, 3, 2}), spread({3, 1})}});
  list.push_back({"concatenate",
                  {tuple_of({spread({2, 1}), spread({2, 0}), spread({2, 3})})},
                  {{"axis", -1}}});
  list.push_back({"stack", {tuple_of({spread({2}), spread({2}, 1, 2)})}, {{"axis", -1}}});
  list.push_back({"split", {spread({2, 6})}, {{"indices_or_sections", ints({1, 4})}, {"axis", 1}}});
  list.push_back({"reverse", {spread({2, 3})}, {{"axis", 1}}});
  list.push_back({"repeat", {spread({2, 3})}, {{"repeats", 2}, {"axis", 0}}});
  list.push_back({"repeat", {spread({2, 3})}, {{"repeats", 2}}});
  list.push_back({"tile", {spread({2, 3})}, {{"reps", ints({2, 1, 2})}}});
  list.push_back({"take", {spread({4, 2}), i32({3}, {1, 9, 1})}, {{"axis", 0}}});
  list.push_back(
      {"take", {spread({2, 4}), i32({2, 2}, {-1, 0, 5, 1})}, {{"axis", 1}, {"mode", "wrap"}}});
  list.push_back({"take", {spread({2, 4}), i32({3}, {7, 0, 7})}});
  list.push_back({"take", {spread({5}), i32({}, {2})}, {{"axis", 0}, {"mode", "fast"}}});
  list.push_back(
      {"take", {spread({2, 3, 2}), i32({2, 2}, {0, 2, 1, 1})}, {{"axis", 1}, {"batch_dims", 1}}});
  list.push_back(
      {"one_hot", {i32({2}, {1, 0}), spread({}), spread({}, 2, 3)}, {{"depth", 3}, {"axis", 0}}});
  list.push_back({"strided_slice",
                  {spread({5, 3})},
                  {{"begin", ints({1, -1})}, {"end", ints({-1, -4})}, {"strides", ints({2, -1})}}});
  const auto pads = [](std::vector<std::vector<std::int64_t>> widths) {
    AttrValue::List list;
    for (auto& pair : widths) list.push_back(ints(std::move(pair)));
    return AttrValue(std::move(list));
  };
  for (const char* mode : {"constant", "edge", "reflect"}) {
    list.push_back({"nn.pad",
                    {spread({2, 3}), spread({}, 2, 3)},
                    {{"pad_width", pads({{1, 0}, {1, 2}})}, {"pad_mode", mode}}});
  }
  for (const char* mode : {"SYMMETRIC", "REFLECT"}) {
    list.push_back({"nn.mirror_pad",
                    {spread({2, 3})},
                    {{"pad_width", pads({{0, 1}, {2, 1}})}, {"mode", mode}}});
  }
  list.push_back(
      {"nn.pad", {spread({4, 3}), spread({}, 2, 3)}, {{"pad_width", pads({{-1, -1}, {-1, 2}})}}});
  list.push_back({"nn.dilate", {spread({2, 3})}, {{"strides", ints({1, 2})}}});
  list.push_back({"nn.max_pool1d", {spread({1, 2, 5})}, {{"pool_size", 2}, {"padding", 1}}});
  list.push_back({"nn.avg_pool1d", {spread({1, 2, 5})}, {{"pool_size", 3}, {"dilation", 2}}});
  for (const char* name : {"nn.max_pool2d", "nn.avg_pool2d"}) {
    list.push_back({name,
                    {spread({1, 2, 5, 4})},
                    {{"pool_size", ints({2, 3})}, {"strides", 2}, {"padding", 1}}});
    list.push_back({name,
                    {spread({1, 5, 4, 2})},
                    {{"pool_size", 2}, {"strides", 2}, {"ceil_mode", true}, {"layout", "NHWC"}}});
  }
  list.push_back({"nn.max_pool3d", {spread({1, 1, 3, 2, 3})}, {{"pool_size", 2}}});
  list.push_back({"nn.avg_pool3d", {spread({1, 1, 3, 2, 3})}, {{"pool_size", 2}}});
  list.push_back({"nn.adaptive_max_pool1d", {spread({1, 2, 5})}, {{"output_size", 3}}});
  list.push_back({"nn.adaptive_max_pool2d", {spread({1, 2, 4, 5})}, {{"output_size", 2}}});
  list.push_back({"nn.adaptive_max_pool3d", {spread({1, 1, 2, 3, 2})}, {{"output_size", 1}}});
  list.push_back({"nn.conv1d",
                  {spread({2, 2, 5}), spread({4, 1, 3}, -1, 1)},
                  {{"groups", 2}, {"padding", ints({1, 0})}, {"strides", 2}}});
  list.push_back({"nn.conv2d",
                  {spread({1, 2, 4, 5}), spread({3, 2, 2, 3}, -1, 1)},
                  {{"padding", 1}, {"strides", ints({2, 1})}, {"dilation", ints({1, 2})}}});
  list.push_back({"nn.conv2d",
                  {spread({1, 4, 3, 2}), spread({2, 2, 2, 3}, -1, 1)},
                  {{"data_layout", "NHWC"}, {"kernel_layout", "HWIO"}}});
  list.push_back({"nn.conv3d", {spread({1, 1, 2, 3, 3}), spread({2, 1, 2, 2, 2}, -1, 1)}});
  list.push_back({"nn.dense", {spread({2, 3}), spread({4, 3}, -1, 1)}});
  list.push_back({"nn.dense", {spread({3}), spread({4, 3}, -1, 1)}});
  list.push_back({"nn.dense", {spread({2, 2, 3}), spread({4, 3}, -1, 1)}});
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      const std::vector<Attr> attrs = {{"transpose_a", a}, {"transpose_b", b}};
      const Extents left = a ? Extents{2, 3, 4} : Extents{2, 4, 3};
      const Array right = b ? spread({5, 3}, -1, 1) : spread({3, 5}, -1, 1);
      list.push_back({"nn.matmul", {spread(left), right}, attrs});
      const Array one = b ? spread({1, 5, 3}, -1, 1) : spread({1, 3, 5}, -1, 1);
      list.push_back({"nn.batch_matmul", {spread(left), one}, attrs});
    }
  }
  list.push_back({"matmul", {spread({2, 3}), spread({3, 2}, -1, 1)}});
  list.push_back({"matmul", {spread({2, 2, 3}), spread({3, 2}, -1, 1)}});
  list.push_back({"matmul", {spread({2, 2, 3}), spread({2, 3, 2}, -1, 1)}});
  list.push_back({"nn.bias_add", {spread({2, 3, 2}), spread({3})}});
  list.push_back({"nn.softmax", {spread({2, 3})}});
  list.push_back({"nn.log_softmax", {spread({2, 3})}, {{"axis", 0}}});
  list.push_back({"nn.cross_entropy", {spread({2, 3}), spread({2, 3})}});
  list.push_back({"nn.cross_entropy_with_logits", {spread({2, 3}, -2, 0), spread({2, 3})}});
  list.push_back({"sort", {spread({2, 5})}});
  list.push_back({"sort", {spread({4, 2})}, {{"axis", 0}, {"is_ascend", false}}});
  list.push_back({"topk", {spread({2, 5})}, {{"k", 3}}});
  list.push_back({"topk", {spread({4, 2})}, {{"k", 2}, {"axis", 0}, {"ret_type", "values"}}});
  for (const bool exclusive : {false, true}) {
    for (const char* name : {"cumsum", "cumprod"}) {
      list.push_back({name, {spread({2, 5})}, {{"axis", 1}, {"exclusive", exclusive}}});
      list.push_back({name, {spread({2, 20})}, {{"exclusive", exclusive}}});
      list.push_back({name, {f64({5}, {2, 0, 3, 0, 4})}, {{"axis", 0}, {"exclusive", exclusive}}});
    }
    list.push_back({"linear_recurrence",
                    {spread({5, 2}), spread({5, 2}, -1, 1)},
                    {{"axis", 0}, {"reverse", exclusive}}});
  }
  list.push_back({"gather", {spread({3, 2}), i32({2, 2}, {2, 0, -1, 0})}, {{"axis", 0}}});
  list.push_back(
      {"gather_nd", {spread({3, 2, 2}), i32({2, 2}, {2, 2, -1, -2})}, {{"index_rank", 2}}});
  list.push_back({"gather_nd",
                  {spread({2, 3, 2}), i32({1, 2, 4}, {2, 2, 0, 1, 1, 1, 1, 1})},
                  {{"batch_dims", 1}}});
  list.push_back(
      {"adv_index", {tuple_of({spread({3, 2, 4}), i32({2, 1}, {2, -1}), i32({3}, {0, 1, 1})})}});
  list.push_back({"sequence_mask", {spread({3, 2}), i32({2}, {1, 5})}, {{"mask_value", 7.0}}});
  list.push_back({"reverse_sequence", {spread({2, 4}), i32({2}, {3, 9})}});
  list.push_back({"slice_like", {spread({4, 3}), spread({2, 2})}});
  list.push_back({"slice_like", {spread({4, 3}), spread({5, 2})}, {{"axes", ints({-1})}}});
  list.push_back({"sliding_window",
                  {spread({2, 7, 5})},
                  {{"axis", 1}, {"window_shape", ints({3, 2})}, {"strides", ints({2, 1})}}});
  for (const char* indexing : {"ij", "xy"}) {
    list.push_back(
        {"meshgrid", {tuple_of({spread({2}), spread({3}), spread({})})}, {{"indexing", indexing}}});
  }
  list.push_back({"trilu", {spread({2, 3, 4}), i32({}, {1})}});
  list.push_back({"trilu", {spread({3, 3}), i32({}, {-1})}, {{"upper", false}}});
  list.push_back({"strided_set",
                  {spread({5, 3}), spread({2, 3}), i32({1}, {-1}), i32({1}, {0}), i32({1}, {-2})}});
  list.push_back({"strided_get",
                  {spread({5, 3}), spread({2, 3}), i32({1}, {1}), i32({1}, {9}), i32({1}, {3})}});
  list.push_back({"matrix_set_diag", {spread({3, 3}), spread({3})}});
  list.push_back({"matrix_set_diag",
                  {spread({2, 3, 4}), spread({2, 4, 3})},
                  {{"k1", -1}, {"k2", 2}, {"super_diag_right_align", false}}});
  list.push_back({"contrib_reverse_reshape", {spread({2, 3, 4})}, {{"newshape", ints({-1, 0})}}});
  list.push_back({"collapse_sum_to_shape", {spread({2, 3, 2})}, {{"shape", ints({3, 1})}}});
  list.push_back({"nn.dropout", {spread({2, 3}), tuple_of({})}});
  for (const char* mode : {"update", "add", "mul", "mean", "min", "max"}) {
    list.push_back({"scatter_elements",
                    {spread({3, 2}), i32({3, 2}, {2, 0, 2, 0, -1, 1}), spread({3, 2}, 0.25, 1)},
                    {{"axis", 0}, {"reduction", mode}}});
    list.push_back({"scatter_nd",
                    {spread({3, 2}), i32({1, 4}, {2, 0, 2, 2}), spread({4, 2}, 0.25, 1)},
                    {{"mode", mode}}});
  }
  list.push_back(
      {"scatter_elements", {spread({3, 2}), i32({1, 2}, {2, 0}), spread({3, 2}, 0.25, 1)}});
  list.push_back({"scatter_nd",
                  {f64({3}, {2, 0, 3}), i32({1, 4}, {0, 0, 1, 2}), f64({4}, {0, 5, 7, 0})},
                  {{"mode", "mul"}}});
  list.push_back({"full", {spread({})}, {{"shape", ints({2, 2})}}});
  list.push_back({"full_like", {spread({2}), spread({})}});
  list.push_back({"image.dilation2d",
                  {spread({1, 2, 4, 5}), spread({2, 2, 3}, -1, 1)},
                  {{"strides", ints({1, 2})}, {"padding", 1}}});
  list.push_back({"vision.roi_pool",
                  {spread({2, 1, 4, 3}), f64({2, 5}, {0.5, 0.2, 0.3, 2.2, 3.1, 1.5, 1, 0, 2, 9})},
                  {{"pooled_size", ints({2, 2})}, {"spatial_scale", 1.0}}});
  return list;
}

double inner(const Array& a, const Array& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.fields.size(); ++k) sum += inner(a.fields[k], b.fields[k]);
  for (std::size_t k = 0; k < a.data.size(); ++k) sum += a.data[k] * b.data[k];
  return sum;
}

Array weights_like(const Array& value) {
  if (!value.is_tuple) return spread(value.shape, -1, 1.5);
  std::vector<Array> fields;
  for (const Array& field : value.fields) fields.push_back(weights_like(field));
  return tuple_of(std::move(fields));
}

std::vector<double*> leaves(Array& value) {
  std::vector<double*> result;
  for (Array& field : value.fields) {
    if (!field.is_tuple && !is_float(field.dtype)) continue;
    for (double* leaf : leaves(field)) result.push_back(leaf);
  }
  for (double& element : value.data) result.push_back(&element);
  return result;
}

enum class Dims { Constant, Symbolic, Any };

// A type for `value`; equal extents above 1 share a symbolic dim.
Type typed(const Array& value, Dims mode, std::map<std::int64_t, TypeVarRef>& vars) {
  if (value.is_tuple) {
    std::vector<Type> fields;
    for (const Array& field : value.fields) fields.push_back(typed(field, mode, vars));
    return tuple_type(std::move(fields));
  }
  std::vector<Dim> dims;
  for (const std::int64_t extent : value.shape) {
    if (mode == Dims::Constant || extent <= 1) {
      dims.emplace_back(extent);
    } else if (mode == Dims::Any) {
      dims.push_back(Dim::any());
    } else {
      TypeVarRef& var = vars[extent];
      if (!var) var = TypeVar::rigid(VarKind::Dim, "n" + std::to_string(extent));
      dims.push_back(Dim::variable(var));
    }
  }
  return tensor_type(Shape(std::move(dims)), value.dtype);
}

// The adjoints of the arguments when the result's is `dout`; nothing where types do not determine
// it.
std::vector<Array> gradient_of(const Case& c, const Array& out, const Array& dout, Dims mode) {
  const OpDef& op = OpRegistry::instance().get(c.name);
  const AttrsRef attrs = complete_attrs(op, make_attrs(c.attrs), {});
  Evaluator evaluator;
  std::map<std::int64_t, TypeVarRef> vars;
  GradientCall call;
  std::vector<Type> types;
  for (const Array& arg : c.args) {
    types.push_back(typed(arg, mode, vars));
    const VariableRef variable = make_variable("x", types.back());
    evaluator.bind(variable, arg);
    call.args.push_back(make_var(variable));
  }
  for (const auto& [extent, var] : vars) evaluator.bind_dim(var, extent);
  const Type result = ground_result_type(op, types, attrs);
  const auto bound = [&](const char* name, const Array& value) {
    const VariableRef variable = make_variable(name, result);
    evaluator.bind(variable, value);
    return make_var(variable);
  };
  call.attrs = attrs;
  call.out = bound("out", out);
  call.dout = bound("dout", dout);
  std::vector<Array> adjoints;
  const std::vector<Expr> exprs = op.gradient(call);
  REQUIRE(exprs.size() == c.args.size());
  for (const Expr& expr : exprs) adjoints.push_back(expr ? evaluator.eval(expr) : Array());
  return adjoints;
}

void check_gradient(const Case& c, Dims mode) {
  const Array out = apply(c.name, c.args, c.attrs);
  const Array dout = weights_like(out);
  std::vector<Array> adjoints = gradient_of(c, out, dout, mode);
  for (std::size_t k = 0; k < c.args.size(); ++k) {
    CAPTURE(k);
    std::vector<Array> args = c.args;
    const std::vector<double*> inputs = leaves(args[k]);
    const bool is_integer = !args[k].is_tuple && !is_float(args[k].dtype);
    std::vector<double*> found = leaves(adjoints[k]);
    if (is_integer) {
      CHECK(found.empty());
      continue;
    }
    if (!found.empty()) REQUIRE(found.size() == inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      constexpr double kStep = 1e-5;
      const double at = *inputs[i];
      *inputs[i] = at + kStep;
      const double above = inner(apply(c.name, args, c.attrs), dout);
      *inputs[i] = at - kStep;
      const double below = inner(apply(c.name, args, c.attrs), dout);
      *inputs[i] = at;
      const double expected = (above - below) / (2 * kStep);
      CHECK((found.empty() ? 0 : *found[i]) == Approx(expected).epsilon(1e-5).margin(1e-7));
    }
  }
}

std::vector<double> data(const Array& value) { return value.data; }
using Numbers = std::vector<double>;

}  // namespace

TEST_CASE("values of definitions", "[stdlib][definition]") {
  relay::stdlib::register_operators();
  CHECK(data(apply("reshape", {i32({2, 3}, {1, 2, 3, 4, 5, 6})}, {{"newshape", ints({3, 2})}})) ==
        Numbers{1, 2, 3, 4, 5, 6});
  CHECK(data(apply("transpose", {i32({2, 3}, {1, 2, 3, 4, 5, 6})})) == Numbers{1, 4, 2, 5, 3, 6});
  CHECK(data(apply("concatenate", {tuple_of({i32({0}, {}), i32({2}, {1, 2}), i32({1}, {3})})})) ==
        Numbers{1, 2, 3});
  CHECK(data(apply("concatenate", {tuple_of({i32({0}, {}), i32({0}, {})})})).empty());
  CHECK(data(apply("stack", {tuple_of({i32({2}, {1, 2}), i32({2}, {3, 4})})}, {{"axis", 1}})) ==
        Numbers{1, 3, 2, 4});
  CHECK(data(apply("take", {i32({3}, {7, 8, 9}), i32({4}, {-1, 0, 2, 5})}, {{"axis", 0}})) ==
        Numbers{7, 7, 9, 9});
  CHECK(data(apply("take", {i32({3}, {7, 8, 9}), i32({2}, {-1, 4})},
                   {{"axis", 0}, {"mode", "wrap"}})) == Numbers{9, 8});
  CHECK(data(apply("take", {i32({2, 2}, {1, 2, 3, 4}), i32({2}, {3, 1})})) == Numbers{4, 2});
  CHECK_THROWS(apply("take", {i32({3}, {7, 8, 9}), i32({}, {3})}, {{"axis", 0}, {"mode", "fast"}}));
  CHECK(data(apply("one_hot", {i32({3}, {0, 2, 5}), i32({}, {1}), i32({}, {-1})},
                   {{"depth", 3}})) == Numbers{1, -1, -1, -1, -1, 1, -1, -1, -1});
  CHECK(data(apply("strided_slice", {i32({5}, {0, 1, 2, 3, 4})},
                   {{"begin", ints({-1})}, {"end", ints({-6})}, {"strides", ints({-2})}})) ==
        Numbers{4, 2, 0});
  CHECK(data(apply("repeat", {i32({2}, {1, 2})}, {{"repeats", 2}})) == Numbers{1, 1, 2, 2});
  CHECK(data(apply("tile", {i32({2}, {1, 2})}, {{"reps", ints({2, 1})}})) == Numbers{1, 2, 1, 2});
  CHECK(data(apply("reverse", {i32({2, 2}, {1, 2, 3, 4})})) == Numbers{4, 3, 2, 1});
  CHECK(data(apply("argmax", {i32({4}, {3, 9, 9, 1})})) == Numbers{1});
  CHECK(data(apply("argmax", {i32({4}, {3, 9, 9, 1})}, {{"select_last_index", true}})) ==
        Numbers{2});
  CHECK(data(apply("argmin", {i32({2, 2}, {3, 1, 0, 1})},
                   {{"axis", 1}, {"select_last_index", true}})) == Numbers{1, 0});
  CHECK(data(apply("argmax", {i32({2}, {3, 1})}, {{"axis", ints({})}})) == Numbers{0, 0});
  CHECK(data(apply("sum", {i32({2, 0}, {})}, {{"axis", 1}})) == Numbers{0, 0});
  CHECK(data(apply("mean", {f64({2, 2}, {1, 2, 3, 6})}, {{"axis", 0}})) == Numbers{2, 4});
  CHECK(data(apply("clip", {array(DType::UInt8, {3}, {0, 100, 255})},
                   {{"a_min", -5.0}, {"a_max", 127.5}})) == Numbers{0, 100, 127});
  CHECK(data(apply("logsumexp", {f64({2}, {-INFINITY, -INFINITY})})) == Numbers{-INFINITY});
  CHECK(data(apply("nn.softmax", {f64({2}, {1000, 1000})})) == Numbers{0.5, 0.5});
  CHECK(data(apply("nn.log_softmax", {f64({1, 1}, {1e300})})) == Numbers{0});
  CHECK(data(apply("collapse_sum_like", {i32({2, 2}, {1, 2, 3, 4}), i32({1}, {0})})) ==
        Numbers{10});
  CHECK(data(apply("dim_of", {i32({2, 3}, {1, 2, 3, 4, 5, 6})}, {{"axis", -1}})) == Numbers{3});
  CHECK(data(apply("shape_of", {i32({2, 3}, {1, 2, 3, 4, 5, 6})})) == Numbers{2, 3});
  CHECK(data(apply("where", {mask({2}, {1, 0}), i32({}, {7}), i32({2}, {1, 2})})) == Numbers{7, 2});
}
