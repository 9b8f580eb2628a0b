// nn.correlation: how like the patches of two feature maps are, as in FlowNet.

#include "stdlib/ops/attr_range.h"
#include "stdlib/ops/image.h"
#include "stdlib/ops/sampling.h"
#include "stdlib/ops/types.h"
#include "stdlib/ops/window.h"

namespace relay::stdlib {

namespace build = lang::build;

namespace {

struct Patches {
  std::int64_t kernel, displacement, stride1, stride2;
  Padding padding;

  std::int64_t border() const { return displacement + (kernel - 1) / 2; }
  std::int64_t radius() const { return displacement / stride2; }
  std::int64_t side() const { return 2 * radius() + 1; }
};

Patches patches_of(const AttrsRef& attrs) {
  return {attrs->get_int("kernel_size"), attrs->get_int("max_displacement"),
          attrs->get_int("stride1"), attrs->get_int("stride2"), padding_of(attrs, 2)};
}

RuleOutcome correlation_rule(TypeCall& call) {
  const auto bad = [&](const std::string& message) {
    lang::fail(DiagnosticKind::BadAttribute, message, call.span);
  };
  check_one_of(call, "layout", {"NCHW"});
  const std::size_t widths = call.attrs->get_ints("padding").size();
  if (widths != 1 && widths != 2 && widths != 4) bad("`padding` must have 1, 2 or 4 values");
  for (const std::int64_t width : call.attrs->get_ints("padding")) {
    if (width < 0) bad("`padding` must not be negative");
    if (width > kLargestCount) bad("`padding` must be at most " + std::to_string(kLargestCount));
  }
  count_attr(call, "kernel_size", 1);
  count_attr(call, "max_displacement", 0);
  count_attr(call, "stride1", 1);
  count_attr(call, "stride2", 1);
  const Patches how = patches_of(call.attrs);
  if (how.kernel % 2 == 0) bad("`kernel_size` must be odd");
  const Type first = call.tensor(0);
  const Type second = call.tensor(1);
  call.solver.unify(first, second);
  call.solver.require(as_tensor(first).dtype, PrimOperands::kFloat);
  const Shape known = result_shape(call, as_tensor(first).dtype);
  const Shape from = with_rank(call, as_tensor(first).shape, 4);
  const auto places = [&](std::size_t axis) {
    const std::size_t i = axis - 2;
    const Dim room = from[axis] + Dim(how.padding.front[i] + how.padding.back[i]);
    const Dim free = room - Dim(2 * how.border());
    if (free.is_constant() && free.constant() < 1) {
      call.fail(DiagnosticKind::ShapeMismatch,
                "patches of extent " + std::to_string(how.kernel) + " displaced by " +
                    std::to_string(how.displacement) + " do not fit an axis of extent " +
                    from[axis].to_string() + " padded to " + room.to_string());
    }
    return Dim::floor_div(free + Dim(how.stride1 - 1), Dim(how.stride1));
  };
  call.solver.unify(known,
                    Shape({from[0], Dim(how.side()) * Dim(how.side()), places(2), places(3)}));
  return RuleOutcome::Solved;
}

Expr correlation(const DefinitionCall& call) {
  const Patches how = patches_of(call.attrs);
  const AxisLayout layout = known_layout("NCHW", "NC", "HW");
  const DType dtype = call.tensor(0).dtype.known();
  const DType sums = sampling_dtype(dtype);
  const bool multiplies = call.attrs->get_bool("is_multiply");
  const std::vector<Dim>& from = dims_of(call.args[0]);
  const Expr zero = build::constant(dtype, 0);
  const auto padded = [&](std::size_t input) {
    return padded_around(call.args[input], layout, how.padding, zero);
  };
  return build::let("padded1", padded(0), [&](const Expr& first) {
    return build::let("padded2", padded(1), [&](const Expr& second) {
      return build::comprehension(as_tensor(call.result).shape.dims(), [&](const Indices& out) {
        const auto start = [&](const Expr& i) {
          return Scalar(i) * static_cast<double>(how.stride1) +
                 static_cast<double>(how.displacement);
        };
        const auto moved = [&](const Scalar& by) {
          return (by - static_cast<double>(how.radius())) * static_cast<double>(how.stride2);
        };
        const Scalar sum = build::reduction(
            ReduceOp::Sum, {from[1], Dim(how.kernel), Dim(how.kernel)},
            [&](const Indices& k) -> Expr {
              const Scalar y = start(out[2]) + Scalar(k[1]);
              const Scalar x = start(out[3]) + Scalar(k[2]);
              const Scalar a = cast_scalar(sums, build::at(first, {out[0], k[0], y, x}));
              const Scalar b = cast_scalar(
                  sums, build::at(second, {out[0], k[0], y + moved(floor_div(out[1], how.side())),
                                           x + moved(floor_mod(out[1], how.side()))}));
              return multiplies ? a * b : abs_of(a - b);
            });
        const auto count = static_cast<double>(how.kernel * how.kernel * from[1].constant());
        return cast_scalar(dtype, sum / count).expr;
      });
    });
  });
}

}  // namespace

void add_correlation_operators() {
  OpDef def;
  def.name = "nn.correlation";
  def.level = 2;
  def.doc =
      "How like the patches of two feature maps are: for each place of the first, its patch "
      "against "
      "those of the\nsecond that lie within `max_displacement`, row by row, as channels of the "
      "result.\n"
      "The mean over channels and patch of the products, or of the absolute differences. Around "
      "the "
      "maps lie zeros.";
  def.example =
      "nn.correlation([[[[1.0, 2.0, 3.0]]]], [[[[1.0, 10.0, 100.0]]]], max_displacement=1, "
      "padding=[1, 1])[0, 3:6, 0, :]\n"
      "// expect: [[  0.0,   2.0,  30.0], [  1.0,  20.0, 300.0], [ 10.0, 200.0,   0.0]]";
  def.inputs = {{"data1", "batch, channels, height, width"}, {"data2", "the same"}};
  def.attrs = {
      optional_attr("kernel_size", AttrKind::Int, 1, "extent of a patch, odd"),
      optional_attr("max_displacement", AttrKind::Int, 1,
                    "how far a patch of the second map may lie from that of the first"),
      optional_attr("stride1", AttrKind::Int, 1, "steps of the patches of the first map"),
      optional_attr("stride2", AttrKind::Int, 1, "steps of those of the second around it"),
      optional_attr("padding", AttrKind::IntOrIntList, AttrValue::ints({0, 0}),
                    "zeros around the maps: one for all, one for each axis, or all fronts "
                    "and then all backs"),
      optional_attr("is_multiply", AttrKind::Bool, true, "products; else absolute differences"),
      optional_attr("layout", AttrKind::String, "NCHW", "NCHW")};
  def.type_rule = correlation_rule;
  def.definition = correlation;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace relay::stdlib
