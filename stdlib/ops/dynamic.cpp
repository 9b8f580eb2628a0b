#include <algorithm>
#include <cmath>

#include "lang/attrs_struct.h"
#include "lang/call_form.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/formula.h"
#include "stdlib/ops/types.h"
#include "stdlib/ops/window.h"

// Operators whose extents are values: an attribute of the operator they are named after is an
// input, and lowering puts that operator in their place once the value is known.
namespace relay::stdlib {

namespace build = lang::build;

namespace {

// --- range_of, arange ---

std::int64_t range_extent(const TypeCall& call, double start, double stop, double step) {
  if (step == 0) call.fail(DiagnosticKind::BadAttribute, "`step` must not be 0");
  constexpr double kMost = 1e15;  // more than any memory holds
  const double count = std::ceil((stop - start) / step);
  if (!(count <= kMost)) {
    call.fail(DiagnosticKind::BadAttribute,
              "there is no end of numbers from `start` to `stop` in steps of `step`");
  }
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(count));
}

void add_range_of() {
  OpDef def;
  def.name = "range_of";
  def.level = 0;
  def.doc = "The numbers `start`, `start + step`, ... before `stop`, where these are attributes.";
  def.example = "range_of(start=1, stop=6, step=2)\n// expect: [1, 3, 5]";
  def.attrs = {required_attr("start", AttrKind::Any, "the first number"),
               required_attr("stop", AttrKind::Any, "where to end; not part of the range"),
               required_attr("step", AttrKind::Any, "from one number to the next"),
               optional_attr("dtype", AttrKind::DType, DType::Int32, "dtype of the result")};
  def.type_rule = [](TypeCall& call) {
    const auto number = [&](const char* key) {
      const auto value = lang::coerce_attr(AttrKind::Float, *call.attrs->find(key));
      if (!value)
        call.fail(DiagnosticKind::BadAttribute, std::string("`") + key + "` must be a number");
      return *value->as_float();
    };
    const double step = number("step");
    call.returns(
        lang::tensor_type(Shape({Dim(range_extent(call, number("start"), number("stop"), step))}),
                          call.attrs->get_dtype("dtype")));
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    const auto& result = *lang::as<TensorType>(call.result);
    const DType dtype = result.dtype.known();
    const auto constant = [&](const char* key) {
      const AttrValue& value = *call.attrs->find(key);
      return value.as_int() ? build::constant_int(dtype, *value.as_int())
                            : build::constant(dtype, *value.as_float());
    };
    return build::comprehension(result.shape.dims(), [&](const Indices& i) {
      return build::add(constant("start"),
                        build::mul(build::cast_to(dtype, i[0]), constant("step")));
    });
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

// How many steps lead to each number of a range. How many numbers there are changes by jumps.
Expr steps_in(const Expr& out, const std::vector<Expr>& args) {
  const DType dtype = as_tensor(out->type).dtype.known();
  const Expr way = out - build::cast_to(dtype, args[0]);
  return build::op("round", {way / build::cast_to(dtype, args[2])});
}

void add_arange() {
  OpDef def;
  def.name = "arange";
  def.level = 3;
  def.doc =
      "The numbers `start`, `start + step`, ... before `stop`.\n"
      "How many there are is known before the program runs where all three are written as numbers.";
  def.example = "arange(0, 6, 2)\n// expect: [0, 2, 4]\narange(3)\n// expect: [0, 1, 2]";
  def.inputs = {{"start", "the first number", false, "start"},
                {"stop", "where to end; not part of the range", false, "stop"},
                {"step", "from one number to the next", false, "step"}};
  def.attrs = {
      nullable_attr("start", AttrKind::Any, "Relay's texts repeat the input here; unused"),
      nullable_attr("stop", AttrKind::Any, "the same"),
      nullable_attr("step", AttrKind::Any, "the same"),
      nullable_attr("dtype", AttrKind::DType, "dtype of the result; None: that of the inputs")};
  def.type_rule = [](TypeCall& call) {
    for (std::size_t i = 0; i < 3; ++i) {
      call.solver.unify(call.tensor_node(i).shape, Shape());
      call.solver.unify(call.tensor_node(i).dtype, call.tensor_node(0).dtype);
    }
    call.solver.require(call.tensor_node(0).dtype, PrimOperands::kNumeric);
    const auto start = call.number(0);
    const auto stop = call.number(1);
    const auto step = call.number(2);
    if (step && *step == 0) call.fail(DiagnosticKind::BadAttribute, "`step` must not be 0");
    const Dim extent =
        start && stop && step ? Dim(range_extent(call, *start, *stop, *step)) : Dim::any();
    call.returns(lang::tensor_type(Shape({extent}),
                                   attr_dtype(call.attrs, "dtype", call.tensor_node(0).dtype)));
    return RuleOutcome::Solved;
  };
  def.static_form = "range_of";
  def.gradient = [](const lang::GradientCall& call) -> std::vector<Expr> {
    const Expr steps = call.dout * steps_in(call.out, call.args);
    return {filled_gradient(call.args[0], call.dout), nullptr,
            filled_gradient(call.args[2], steps)};
  };
  def.tangent = [](const lang::TangentCall& call) -> Expr {
    const DType dtype = as_tensor(call.out->type).dtype.known();
    const auto along = [&](std::size_t input, const Expr& factor) {
      return factor * build::cast_to(dtype, call.tangents[input]);
    };
    const Expr start = call.tangents[0] ? along(0, build::op("ones_like", {call.out})) : Expr();
    const Expr step = call.tangents[2] ? along(2, steps_in(call.out, call.args)) : Expr();
    return start && step ? start + step : start ? start : step;
  };
  lang::set_input_forms(def.name, {{.default_value = 0}, {}, {.default_value = 1}});
  lang::OpRegistry::instance().add(std::move(def));
}

// --- dyn.*: an attribute of the static operator is an input ---

// Derived: that of the static form, at the values.
enum class Derivative : bool { Zero, Derived };

struct DynamicRow {
  const char* name;
  const char* of;  // the static form
  int level;
  const char* doc;
  const char* example;
  std::vector<InputSpec> inputs;
  lang::TypeRule rule;
  Derivative derivative;
};

void add_dynamic(DynamicRow row) {
  const OpDef& of = lang::OpRegistry::instance().get(row.of);
  OpDef def;
  def.name = row.name;
  def.level = row.level;
  def.doc = row.doc;
  def.example = row.example;
  def.inputs = std::move(row.inputs);
  for (const AttrSpec& attr : of.attrs) {
    const bool is_input =
        std::any_of(def.inputs.begin(), def.inputs.end(),
                    [&](const InputSpec& input) { return input.attr == attr.name; });
    def.attrs.push_back(
        is_input ? nullable_attr(attr.name.c_str(), AttrKind::Any,
                                 "the input stands for it; Relay's texts write an empty one here")
                 : attr);
  }
  lang::set_attrs_struct(def.name, lang::attrs_struct_of(of));
  def.type_rule = std::move(row.rule);
  def.static_form = row.of;
  def.differentiable = row.derivative == Derivative::Derived;
  lang::OpRegistry::instance().add(std::move(def));
}

Shape unknown_extents(std::size_t rank) { return Shape(std::vector<Dim>(rank, Dim::any())); }

// How many values input `i` holds, a vector of numbers; nothing while that is not known.
std::optional<std::size_t> length_of(TypeCall& call, std::size_t i) {
  call.solver.require(call.tensor_node(i).dtype, PrimOperands::kNumeric);
  const Shape shape = with_rank(call, call.tensor_node(i).shape, 1);
  const Dim& length = shape[0];
  if (length.is_constant()) return static_cast<std::size_t>(length.constant());
  if (state_of(length) == DimState::Flexible) return std::nullopt;
  call.fail(DiagnosticKind::AmbiguousType, "the rank of the result is the number of values in `" +
                                               call.op.inputs[i].name +
                                               "`, which has to be known before the program runs");
}

// The result has as many axes as input `i` has values; its dtype is `dtype`.
RuleOutcome shaped_by(TypeCall& call, std::size_t i, const DTypeTerm& dtype) {
  const auto length = length_of(call, i);
  if (!length) return RuleOutcome::Stuck;
  call.returns(lang::tensor_type(unknown_extents(*length), dtype));
  return RuleOutcome::Solved;
}

void add_dynamic_fills() {
  for (const char* value : {"zeros", "ones"}) {
    const std::string example = std::string("dyn.") + value +
                                "([1, 2], dtype=\"int32\")\n// expect: " +
                                (value == std::string("zeros") ? "[[0, 0]]" : "[[1, 1]]");
    const std::string doc = std::string("A tensor of ") + value + " whose shape is a value.";
    add_dynamic({("dyn." + std::string(value)).c_str(),
                 value,
                 3,
                 doc.c_str(),
                 example.c_str(),
                 {{"shape", "the extents, a vector of integers", false, "shape"}},
                 [](TypeCall& call) {
                   return shaped_by(call, 0, attr_dtype(call.attrs, "dtype", DType::Float32));
                 },
                 Derivative::Zero});
  }
  add_dynamic(
      {"dyn.full",
       "full",
       3,
       "A tensor filled with one value, whose shape is a value.",
       "dyn.full(7, [3])\n// expect: [7, 7, 7]",
       {{"fill_value", "a scalar"}, {"shape", "the extents, a vector of integers", false, "shape"}},
       [](TypeCall& call) {
         call.solver.unify(call.tensor_node(0).shape, Shape());
         return shaped_by(call, 1, attr_dtype(call.attrs, "dtype", call.tensor_node(0).dtype));
       },
       Derivative::Derived});
  add_dynamic({"dyn.one_hot",
               "one_hot",
               10,
               "A new axis, whose extent is a value, that holds `on_value` at the index.",
               "dyn.one_hot([0, 2], 1, 0, 3)\n// expect: [[1, 0, 0], [0, 0, 1]]",
               {{"indices", "integers"},
                {"on_value", "a scalar"},
                {"off_value", "a scalar"},
                {"depth", "extent of the new axis, a scalar", false, "depth"}},
               [](TypeCall& call) {
                 for (const std::size_t i : {1, 2})
                   call.solver.unify(call.tensor_node(i).shape, Shape());
                 const Shape indices = call.tensor_node(0).shape;
                 if (!indices.has_rank()) return RuleOutcome::Stuck;
                 std::vector<Dim> dims = indices.dims();
                 dims.push_back(Dim::any());
                 check_axis(call, call.attrs->get_int("axis"), Shape(dims));
                 const std::size_t axis = position_of(call.attrs->get_int("axis"), dims.size());
                 std::rotate(dims.begin() + static_cast<std::ptrdiff_t>(axis), dims.end() - 1,
                             dims.end());
                 call.returns(lang::tensor_type(
                     Shape(dims), attr_dtype(call.attrs, "dtype", call.tensor_node(1).dtype)));
                 return RuleOutcome::Solved;
               },
               Derivative::Derived});
}

void add_dynamic_shapes() {
  add_dynamic(
      {"dyn.reshape",
       "reshape",
       3,
       "The elements in a shape that is a value.",
       "dyn.reshape([1, 2, 3, 4], [2, -1])\n// expect: [[1, 2], [3, 4]]",
       {{"data", "the elements"},
        {"newshape", "as the attribute of `reshape`, a vector of integers", false, "newshape"}},
       [](TypeCall& call) { return shaped_by(call, 1, call.tensor_node(0).dtype); },
       Derivative::Derived});
  add_dynamic({"dyn.broadcast_to",
               "broadcast_to",
               4,
               "The data stretched to a shape that is a value.",
               "dyn.broadcast_to([1, 2], [2, 2])\n// expect: [[1, 2], [1, 2]]",
               {{"data", "what is stretched"},
                {"shape", "the extents, a vector of integers", false, "shape"}},
               [](TypeCall& call) { return shaped_by(call, 1, call.tensor_node(0).dtype); },
               Derivative::Derived});
  add_dynamic({"dyn.squeeze",
               "squeeze",
               3,
               "The data without some axes of extent 1, which are a value.",
               "dyn.squeeze([[1, 2]], [0])\n// expect: [1, 2]",
               {{"data", "the tensor"}, {"axes", "the axes, a vector of integers", false, "axis"}},
               [](TypeCall& call) {
                 const auto count = length_of(call, 1);
                 const Shape shape = call.tensor_node(0).shape;
                 if (!count || !shape.has_rank()) return RuleOutcome::Stuck;
                 if (*count > shape.rank()) {
                   call.fail(DiagnosticKind::RankMismatch,
                             "there are " + std::to_string(*count) + " axes to drop and only " +
                                 std::to_string(shape.rank()) + " in the data");
                 }
                 call.returns(lang::tensor_type(unknown_extents(shape.rank() - *count),
                                                call.tensor_node(0).dtype));
                 return RuleOutcome::Solved;
               },
               Derivative::Derived});
  add_dynamic(
      {"dyn.expand_dims",
       "expand_dims",
       3,
       "The data with new axes of extent 1 at a place that is a value.",
       "dyn.expand_dims([1, 2], 0)\n// expect: [[1, 2]]",
       {{"data", "the tensor"}, {"axis", "where the new axes begin, a scalar", false, "axis"}},
       [](TypeCall& call) {
         call.solver.require(call.tensor_node(1).dtype, PrimOperands::kInt);
         const Shape shape = call.tensor_node(0).shape;
         if (!shape.has_rank()) return RuleOutcome::Stuck;
         const std::size_t more = new_axes(call);
         call.returns(
             lang::tensor_type(unknown_extents(shape.rank() + more), call.tensor_node(0).dtype));
         return RuleOutcome::Solved;
       },
       Derivative::Derived});
  lang::set_attrs_struct("dyn.expand_dims", "DynExpandDimsAttrs");
}

void add_dynamic_tile() {
  add_dynamic({"dyn.tile",
               "tile",
               3,
               "Copies of the data side by side, how many being a value.",
               "dyn.tile([1, 2], [2])\n// expect: [1, 2, 1, 2]",
               {{"data", "what is copied"},
                {"reps", "how often along each axis, a vector of integers", false, "reps"}},
               [](TypeCall& call) {
                 const auto count = length_of(call, 1);
                 const Shape shape = call.tensor_node(0).shape;
                 if (!count || !shape.has_rank()) return RuleOutcome::Stuck;
                 call.returns(lang::tensor_type(unknown_extents(std::max(shape.rank(), *count)),
                                                call.tensor_node(0).dtype));
                 return RuleOutcome::Solved;
               },
               Derivative::Derived});
}

void add_dynamic_slice() {
  add_dynamic({"dyn.strided_slice",
               "strided_slice",
               4,
               "A part of each axis, whose bounds and steps are values.",
               "dyn.strided_slice([1, 2, 3, 4], [1], [3], [1])\n// expect: [2, 3]",
               {{"data", "what is cut"},
                {"begin", "where each axis begins, a vector of integers", false, "begin"},
                {"end", "where it ends", false, "end"},
                {"strides", "its steps", false, "strides"}},
               [](TypeCall& call) {
                 const Shape shape = call.tensor_node(0).shape;
                 bool is_known = shape.has_rank();
                 for (const std::size_t i : {1, 2, 3}) {
                   const auto length = length_of(call, i);
                   is_known = is_known && length;
                   if (!is_known || *length <= shape.rank()) continue;
                   call.fail(DiagnosticKind::RankMismatch,
                             "`" + call.op.inputs[i].name + "` has " + std::to_string(*length) +
                                 " values for " + std::to_string(shape.rank()) + " axes");
                 }
                 if (!is_known) return RuleOutcome::Stuck;
                 // An axis that is not sliced keeps its extent.
                 std::vector<Dim> dims = shape.dims();
                 const bool has_axes = !call.attrs->is_null("axes");
                 if (has_axes) {
                   for (const std::int64_t axis : call.attrs->get_ints("axes")) {
                     check_axis(call, axis, shape);
                     dims[position_of(axis, dims.size())] = Dim::any();
                   }
                 } else {
                   std::fill_n(dims.begin(), *length_of(call, 1), Dim::any());
                 }
                 call.returns(lang::tensor_type(Shape(std::move(dims)), call.tensor_node(0).dtype));
                 return RuleOutcome::Solved;
               },
               Derivative::Derived});
}

void add_dynamic_pad() {
  add_dynamic({"dyn.nn.pad",
               "nn.pad",
               2,
               "The data with elements around it, how many being a value.",
               "dyn.nn.pad([1, 2], [[1, 0]], 0)\n// expect: [0, 1, 2]",
               {{"data", "the tensor"},
                {"pad_width", "before and after each axis, of shape (rank, 2)", false, "pad_width"},
                {"pad_val", "the value of the new elements, a scalar"}},
               [](TypeCall& call) {
                 const Shape shape = call.tensor_node(0).shape;
                 const Shape widths = with_rank(call, call.tensor_node(1).shape, 2);
                 call.solver.unify(widths[1], Dim(2));
                 call.solver.unify(call.tensor_node(2).shape, Shape());
                 if (!shape.has_rank()) return RuleOutcome::Stuck;
                 call.solver.unify(widths[0], Dim(static_cast<std::int64_t>(shape.rank())));
                 call.returns(
                     lang::tensor_type(unknown_extents(shape.rank()), call.tensor_node(0).dtype));
                 return RuleOutcome::Solved;
               },
               Derivative::Derived});
  add_dynamic(
      {"dyn.nn.mirror_pad",
       "nn.mirror_pad",
       0,
       "The data continued at its ends by its mirror image, how far being a value.",
       "dyn.nn.mirror_pad([1, 2, 3], [[2, 1]])\n// expect: [2, 1, 1, 2, 3, 3]",
       {{"data", "the tensor"},
        {"pad_width", "before and after each axis, of shape (rank, 2)", false, "pad_width"}},
       [](TypeCall& call) {
         const Shape shape = call.tensor_node(0).shape;
         const Shape widths = with_rank(call, call.tensor_node(1).shape, 2);
         call.solver.unify(widths[1], Dim(2));
         if (!shape.has_rank()) return RuleOutcome::Stuck;
         call.solver.unify(widths[0], Dim(static_cast<std::int64_t>(shape.rank())));
         call.returns(lang::tensor_type(unknown_extents(shape.rank()), call.tensor_node(0).dtype));
         return RuleOutcome::Solved;
       },
       Derivative::Derived});
}

// --- dyn.topk ---

void add_dynamic_topk() {
  add_dynamic(
      {"dyn.topk",
       "topk",
       6,
       "The largest (or smallest) values along an axis and their positions, how many being a "
       "value.",
       "dyn.topk([3, 1, 2], 2, ret_type=\"values\")\n// expect: [3, 2]",
       {{"data", "the values"}, {"k", "how many, a scalar or a vector of one", false, "k"}},
       [](TypeCall& call) {
         call.solver.require(call.tensor_node(1).dtype, PrimOperands::kNumeric);
         const Shape count = call.tensor_node(1).shape;
         if (count.has_rank() && count.rank() > 1) {
           call.fail(
               DiagnosticKind::RankMismatch,
               "`k` is a scalar or a vector of one, not of rank " + std::to_string(count.rank()));
         }
         const Shape shape = call.tensor_node(0).shape;
         if (!shape.has_rank()) return RuleOutcome::Stuck;
         check_axis(call, call.attrs->get_int("axis"), shape);
         std::vector<Dim> dims = shape.dims();
         dims[position_of(call.attrs->get_int("axis"), dims.size())] = Dim::any();
         const Type values = lang::tensor_type(Shape(dims), call.tensor_node(0).dtype);
         const Type indices = lang::tensor_type(
             Shape(dims), attr_dtype(call.attrs, "dtype", DTypeTerm(DType::Int32)));
         const std::string& kind = call.attrs->get_string("ret_type");
         call.returns(kind == "both"     ? lang::tuple_type({values, indices})
                      : kind == "values" ? values
                                         : indices);
         return RuleOutcome::Solved;
       },
       Derivative::Derived});
}

// --- dyn.sparse_to_dense ---

void add_dynamic_dense() {
  add_dynamic({"dyn.sparse_to_dense",
               "sparse_to_dense",
               3,
               "A tensor whose shape is a value, of one value but for some places.",
               "dyn.sparse_to_dense([0, 2], [7, 8], 0, [4])\n// expect: [7, 0, 8, 0]",
               {{"sparse_indices", "the places: a scalar, a vector, or a row for each place"},
                {"sparse_values", "what stands there"},
                {"default_value", "what stands elsewhere, a scalar"},
                {"output_shape", "the extents, a vector of integers", false, "output_shape"}},
               [](TypeCall& call) {
                 call.solver.require(call.tensor_node(0).dtype, PrimOperands::kInt);
                 call.solver.unify(call.tensor_node(2).shape, Shape());
                 return shaped_by(call, 3, call.tensor_node(1).dtype);
               },
               Derivative::Derived});
}

// --- Images ---

// The spatial axes of a layout such as `NCHW` get unknown extents.
Shape with_unknown_space(TypeCall& call, std::size_t count, const Shape& data) {
  const AxisLayout layout = layout_of(call, "layout", "NC", spatial_letters(count));
  std::vector<Dim> dims = with_rank(call, data, layout.rank).dims();
  for (const std::size_t axis : layout.spatial) dims[axis] = Dim::any();
  return Shape(std::move(dims));
}

void add_dynamic_images() {
  add_dynamic({"dyn.image.resize2d",
               "image.resize2d",
               5,
               "An image resized to a size that is a value.",
               "dyn.image.resize2d([[[[1.0, 3.0]]]], [1, 4], [0.0, 0.0, 1.0, 1.0])\n"
               "// expect: [[[[1.0, 1.5, 2.5, 3.0]]]]",
               {{"data", "batch, channels and spatial axes as `layout` says"},
                {"size", "height and width of the result", false, "size"},
                {"roi", "for `tf_crop_and_resize`: all starts and then all ends", false, "roi"}},
               [](TypeCall& call) {
                 length_of(call, 1);
                 length_of(call, 2);
                 const TensorType& data = call.tensor_node(0);
                 call.returns(lang::tensor_type(with_unknown_space(call, 2, data.shape),
                                                attr_dtype(call.attrs, "out_dtype", data.dtype)));
                 return RuleOutcome::Solved;
               },
               Derivative::Derived});
  for (const std::size_t count : {2, 3}) {
    std::vector<InputSpec> inputs = {{"data", "batch, channels and spatial axes as `layout` says"}};
    if (count == 3) inputs.push_back({"scale_d", "factor of depth, a scalar", false, "scale_d"});
    inputs.push_back({"scale_h", "factor of height, a scalar", false, "scale_h"});
    inputs.push_back({"scale_w", "factor of width, a scalar", false, "scale_w"});
    add_dynamic({count == 2 ? "dyn.nn.upsampling" : "dyn.nn.upsampling3d",
                 count == 2 ? "nn.upsampling" : "nn.upsampling3d", 2,
                 "The data enlarged along its spatial axes by factors that are values.",
                 count == 2 ? "dyn.nn.upsampling([[[[1.0, 3.0]]]], 1.0, 2.0)\n"
                              "// expect: [[[[1.0, 1.0, 3.0, 3.0]]]]"
                            : "dyn.nn.upsampling3d([[[[[1.0, 3.0]]]]], 1.0, 1.0, 2.0, "
                              "coordinate_transformation_mode=\"asymmetric\")\n"
                              "// expect: [[[[[1.0, 1.0, 3.0, 3.0]]]]]",
                 std::move(inputs),
                 [count](TypeCall& call) {
                   for (std::size_t i = 1; i <= count; ++i)
                     call.solver.unify(call.tensor_node(i).shape, Shape());
                   const TensorType& data = call.tensor_node(0);
                   call.returns(
                       lang::tensor_type(with_unknown_space(call, count, data.shape), data.dtype));
                   return RuleOutcome::Solved;
                 },
                 Derivative::Derived});
  }
}

}  // namespace

void add_dynamic_operators() {
  add_range_of();
  add_arange();
  add_dynamic_fills();
  add_dynamic_shapes();
  add_dynamic_tile();
  add_dynamic_slice();
  add_dynamic_pad();
  add_dynamic_topk();
  add_dynamic_dense();
  add_dynamic_images();
}

}  // namespace relay::stdlib
