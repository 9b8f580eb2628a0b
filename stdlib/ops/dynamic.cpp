#include <algorithm>
#include <cmath>

#include "stdlib/ops/families.h"
#include "stdlib/ops/formula.h"

// Operators whose extents are values: an attribute of the operator they are named after is an
// input, and lowering puts that operator in their place once the value is known.
namespace relay::stdlib {

namespace build = lang::build;

namespace {

// --- range_of, arange ---

std::int64_t range_extent(double start, double stop, double step) {
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil((stop - start) / step)));
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
    if (step == 0) call.fail(DiagnosticKind::BadAttribute, "`step` must not be 0");
    call.returns(
        lang::tensor_type(Shape({Dim(range_extent(number("start"), number("stop"), step))}),
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

void add_arange() {
  OpDef def;
  def.name = "arange";
  def.level = 3;
  def.doc =
      "The numbers `start`, `start + step`, ... before `stop`.\n"
      "How many there are is known before the program runs where all three are written as numbers.";
  def.example = "arange(0, 6, 2)\n// expect: [0, 2, 4]";
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
    const Dim extent = start && stop && step ? Dim(range_extent(*start, *stop, *step)) : Dim::any();
    call.returns(lang::tensor_type(Shape({extent}),
                                   attr_dtype(call.attrs, "dtype", call.tensor_node(0).dtype)));
    return RuleOutcome::Solved;
  };
  def.static_form = "range_of";
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_dynamic_operators() {
  add_range_of();
  add_arange();
}

}  // namespace relay::stdlib
