// Operators that take an attribute which says extents as an input, and whose type follows from that
// of their static form: `dyn.repeat` of `repeat`.

#include "stdlib/ops/dynamic_extents.h"

#include <algorithm>
#include <optional>
#include <string>

#include "stdlib/ops/families.h"

namespace relay::stdlib {

namespace {

struct ExtentsRow {
  const char* of;    // the static form
  const char* attr;  // which becomes the last input
  const char* doc;   // of the operator
  const char* input_doc;
  const char* example;
};

constexpr const char* kVector = "the extents, a vector of integers";

constexpr ExtentsRow kRows[] = {
    {"repeat", "repeats",
     "Each slice along an axis several times in a row, how often being a value.",
     "how often, a scalar", "dyn.repeat([1, 2], 2, axis=0)\n// expect: [1, 1, 2, 2]"},
    {"random.threefry_generate", "out_shape",
     "Random 64-bit words in a shape that is a value: a tuple of the next key and the words.",
     kVector,
     "dyn.random.threefry_generate(random.key(1), [1]).1\n// expect: [17177944308465414780]"},
    {"random.uniform", "out_shape",
     "Evenly spread random numbers in a shape that is a value: a tuple of the next key and the "
     "numbers.",
     kVector,
     "dyn.random.uniform(random.key(1), 0.0, 1.0, [2]).1\n// expect: [0.93121815, 0.20236897]"},
    {"random.normal", "out_shape",
     "Normally distributed random numbers in a shape that is a value: a tuple of the next key and "
     "the numbers.",
     kVector,
     "dyn.random.normal(random.key(1), 0.0, 1.0, [2]).1\n// expect: [-0.9542625,  0.6290353]"},
    {"random.randint", "out_shape",
     "Random integers in a shape that is a value: a tuple of the next key and the integers.",
     kVector, "dyn.random.randint(random.key(1), 0, 6, [5]).1\n// expect: [5, 1, 5, 1, 5]"},
    {"random.bernoulli", "out_shape",
     "Random truth values in a shape that is a value: a tuple of the next key and the values.",
     kVector,
     "dyn.random.bernoulli(random.key(1), 0.5, [4]).1\n// expect: [False, True, False, True]"},
    {"random.multinomial", "num_samples",
     "Draws categories by their probabilities, how many being a value: a tuple of the next key and "
     "the categories.",
     "how many to draw of each row, a scalar",
     "dyn.random.multinomial(random.key(1), [0.0, 1.0, 0.0], 4).1\n// expect: [1, 1, 1, 1]"},
    {"random.categorical", "num_samples",
     "Draws categories by their logits, how many being a value: a tuple of the next key and the "
     "categories.",
     "how many to draw of each row, a scalar",
     "dyn.random.categorical(random.key(1), [0.0, 100.0], 2).1\n// expect: [1, 1]"},
    {"random.split", "n", "Independent keys from one, how many being a value.",
     "how many, a scalar",
     "dyn.random.split(random.key(7), 2)[:, 0]\n"
     "// expect: [4433924224712620223, 11266172043599085656]"},
    {"random.permutation", "n",
     "The integers below a value in random order: a tuple of the next key and the integers.",
     "how many, a scalar",
     "dyn.random.permutation(random.key(1), 5).1\n// expect: [1, 3, 4, 0, 2]"},
    {"image.resize1d", "size", "Rows of numbers resized to an extent that is a value.",
     "the extent, a vector of one integer",
     "dyn.image.resize1d([[[1.0, 3.0]]], [4])\n// expect: [[[1.0, 1.5, 2.5, 3.0]]]"},
    {"image.resize3d", "size", "A volume resized to extents that are a value.",
     "depth, height and width, a vector of integers",
     "dyn.image.resize3d([[[[[1.0, 3.0]]]]], [1, 1, 4])\n"
     "// expect: [[[[[1.0, 1.5, 2.5, 3.0]]]]]"},
    {"image.affine_grid", "target_shape",
     "The points that affine maps send a regular grid to, whose extents are a value.",
     "height and width, a vector of integers",
     "dyn.image.affine_grid([[[1.0, 0.0, 0.0], [0.0, 2.0, 0.5]]], [1, 2])\n"
     "// expect: [[[[-1.0,  1.0]], [[-1.5, -1.5]]]]"},
    {"image.crop_and_resize", "crop_size",
     "Boxes of images, each resized to a size that is a value.",
     "height and width, a vector of integers",
     "dyn.image.crop_and_resize([[[[1.0, 3.0]]]], [[0.0, 0.0, 1.0, 1.0]], [0], [1, 3])\n"
     "// expect: [[[[1.0, 2.0, 3.0]]]]"},
    {"nn.adaptive_avg_pool1d", "output_size",
     "The means of windows that divide the data evenly, how many being a value.",
     "spatial extents, a vector of integers",
     "dyn.nn.adaptive_avg_pool1d([[[1.0, 3.0, 2.0]]], [2])\n// expect: [[[2.0, 2.5]]]"},
    {"nn.adaptive_avg_pool2d", "output_size",
     "The means of windows that divide the data evenly, how many being a value.",
     "spatial extents, a vector of integers",
     "dyn.nn.adaptive_avg_pool2d([[[[1.0, 3.0]]]], [1, 1])\n// expect: [[[[2.0]]]]"},
    {"nn.adaptive_avg_pool3d", "output_size",
     "The means of windows that divide the data evenly, how many being a value.",
     "spatial extents, a vector of integers",
     "dyn.nn.adaptive_avg_pool3d([[[[[1.0, 3.0]]]]], [1, 1, 1])\n// expect: [[[[[2.0]]]]]"},
    {"nn.adaptive_max_pool1d", "output_size",
     "The largest elements of windows that divide the data evenly, how many being a value.",
     "spatial extents, a vector of integers",
     "dyn.nn.adaptive_max_pool1d([[[1.0, 3.0, 2.0]]], [2])\n// expect: [[[3.0, 3.0]]]"},
    {"nn.adaptive_max_pool2d", "output_size",
     "The largest elements of windows that divide the data evenly, how many being a value.",
     "spatial extents, a vector of integers",
     "dyn.nn.adaptive_max_pool2d([[[[1.0, 3.0]]]], [1, 1])\n// expect: [[[[3.0]]]]"},
    {"nn.adaptive_max_pool3d", "output_size",
     "The largest elements of windows that divide the data evenly, how many being a value.",
     "spatial extents, a vector of integers",
     "dyn.nn.adaptive_max_pool3d([[[[[1.0, 3.0]]]]], [1, 1, 1])\n// expect: [[[[[3.0]]]]]"},
    {"vision.roi_pool", "pooled_size",
     "Regions of feature maps brought to one size that is a value.",
     "height and width, a vector of integers",
     "dyn.vision.roi_pool([[[[1.0, 3.0, 2.0]]]], [[0.0, 0.0, 0.0, 2.0, 0.0]], [1, 3], "
     "spatial_scale=1.0)\n// expect: [[[[1.0, 3.0, 2.0]]]]"},
};

const AttrSpec& spec_of(const OpDef& op, const std::string& key) {
  const auto found = std::find_if(op.attrs.begin(), op.attrs.end(),
                                  [&](const AttrSpec& spec) { return spec.name == key; });
  RELAY_CHECK(found != op.attrs.end(), "the static form has the attribute");
  return *found;
}

// An attribute of that kind which says `extent` wherever the last argument has an element; nothing
// while its length is not known.
std::optional<AttrValue> sample(TypeCall& call, AttrKind kind, std::int64_t extent) {
  const std::size_t last = call.args.size() - 1;
  call.solver.require(call.tensor_node(last).dtype, PrimOperands::kInt);
  if (kind == AttrKind::Int) {
    call.solver.unify(call.tensor_node(last).shape, Shape());
    return AttrValue(extent);
  }
  const Shape& known = call.tensor_node(last).shape;
  if (kind == AttrKind::IntOrIntList && known.has_rank() && known.rank() == 0)
    return AttrValue(extent);
  const Dim length = with_rank(call, known, 1)[0];
  if (length.is_constant()) {
    const auto count = static_cast<std::size_t>(length.constant());
    return AttrValue::ints(std::vector<std::int64_t>(count, extent));
  }
  if (state_of(length) == DimState::Flexible) return std::nullopt;
  call.fail(DiagnosticKind::AmbiguousType, "the rank of the result is the number of values in `" +
                                               call.op.inputs[last].name +
                                               "`, which has to be known before the program runs");
}

// What two types have in common: `?` where their extents differ.
Type common(const Type& a, const Type& b) {
  if (const auto* tuple = lang::as<lang::TupleType>(a)) {
    std::vector<Type> fields;
    for (std::size_t i = 0; i < tuple->fields.size(); ++i)
      fields.push_back(common(tuple->fields[i], lang::as<lang::TupleType>(b)->fields[i]));
    return lang::tuple_type(std::move(fields));
  }
  const auto& left = static_cast<const TensorType&>(*a);
  const auto& right = static_cast<const TensorType&>(*b);
  std::vector<Dim> dims = left.shape.dims();
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (!(dims[axis] == right.shape[axis])) dims[axis] = Dim::any();
  }
  return lang::tensor_type(Shape(std::move(dims)), left.dtype);
}

// The type of the static form, but for the extents that depend on the value: those that are not the
// same when the attribute says 1 and when it says 2.
RuleOutcome extents_rule(TypeCall& call, const OpDef& of, const std::string& key) {
  std::vector<Type> types;
  for (const std::int64_t extent : {1, 2}) {
    const std::optional<AttrValue> value = sample(call, spec_of(of, key).kind, extent);
    if (!value) return RuleOutcome::Stuck;
    std::vector<lang::Attr> attrs = call.attrs->list;
    std::erase_if(attrs, [&](const lang::Attr& attr) { return attr.key == key; });
    attrs.push_back({key, *value, {}});
    TypeCall fixed{call.solver,
                   of,
                   {call.args.begin(), call.args.end() - 1},
                   lang::complete_attrs(of, lang::make_attrs(std::move(attrs)), call.span),
                   nullptr,
                   {},
                   call.span};
    for (std::size_t i = 0; i + 1 < call.arg_spans.size(); ++i)
      fixed.arg_spans.push_back(call.arg_spans[i]);
    if (of.type_rule(fixed) == RuleOutcome::Stuck) return RuleOutcome::Stuck;
    types.push_back(call.solver.resolve(fixed.result));
  }
  call.returns(common(types[0], types[1]));
  return RuleOutcome::Solved;
}

}  // namespace

void add_dynamic_extents() {
  for (const ExtentsRow& row : kRows) {
    const OpDef& of = lang::OpRegistry::instance().get(row.of);
    OpDef def;
    def.name = std::string("dyn.") + row.of;
    def.level = 0;
    def.doc = row.doc;
    def.example = row.example;
    def.inputs = of.inputs;
    def.inputs.push_back({row.attr, row.input_doc, false, row.attr});
    for (const AttrSpec& attr : of.attrs) {
      def.attrs.push_back(attr.name == row.attr
                              ? nullable_attr(row.attr, AttrKind::Any, "the input stands for it")
                              : attr);
    }
    def.type_rule = [&of, key = std::string(row.attr)](TypeCall& call) {
      return extents_rule(call, of, key);
    };
    def.static_form = row.of;
    def.differentiable = of.differentiable;
    lang::OpRegistry::instance().add(std::move(def));
  }
}

}  // namespace relay::stdlib
