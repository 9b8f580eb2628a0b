// Normalisation, and the small operators of neural networks. Each is defined by other operators, so
// its derivative follows from theirs.

#include <string>

#include "lang/attrs_struct.h"
#include "lang/call_form.h"
#include "stdlib/ops/accumulate.h"
#include "stdlib/ops/attr_range.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/formula.h"
#include "stdlib/ops/types.h"
#include "stdlib/ops/window.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

// The first argument, a float tensor whose shape and dtype the result has. `per_channel`: how many
// of the following arguments are vectors along attribute `axis`.
RuleOutcome channelwise_rule(
    TypeCall& call, std::size_t per_channel,
    const std::function<Type(const Type& data, const Type& vector)>& result) {
  const Type data = call.tensor(0);
  call.solver.require(as_tensor(data).dtype, PrimOperands::kFloat);
  const Dim length = call.solver.fresh_dim();
  const Type vector = lang::tensor_type(Shape{length}, as_tensor(data).dtype);
  for (std::size_t i = 1; i <= per_channel; ++i) {
    const Type given = call.tensor(i);
    const Shape& shape = as_tensor(given).shape;
    if (shape.has_rank() && shape.rank() != 1) {
      call.fail(DiagnosticKind::RankMismatch, "`" + call.op.inputs[i].name +
                                                  "` must be a vector, and `" + to_string(shape) +
                                                  "` has rank " + std::to_string(shape.rank()));
    }
    call.solver.unify(given, vector);
  }
  call.returns(result(data, call.solver.resolve(vector)));
  const Shape& shape = as_tensor(data).shape;
  if (!shape.has_rank()) return RuleOutcome::Stuck;
  check_axis(call, call.attrs->get_int("axis"), shape);
  const Dim& extent = shape[position_of(call.attrs->get_int("axis"), shape.rank())];
  const Type known = call.solver.resolve(vector);
  const Dim& given = as_tensor(known).shape[0];
  if (extent.is_constant() && given.is_constant() && !(extent == given)) {
    call.fail(DiagnosticKind::ShapeMismatch,
              "vectors of length " + given.to_string() + " do not fit axis " +
                  std::to_string(call.attrs->get_int("axis")) + " of `" + to_string(shape) + "`");
  }
  call.solver.unify(extent, length);
  return RuleOutcome::Solved;
}

Type same_as_data(const Type& data, const Type&) { return data; }

std::size_t axis_of(const DefinitionCall& call) {
  return position_of(call.attrs->get_int("axis"), dims_of(call.args[0]).size());
}

// A vector as a tensor that broadcasts along `axis` of data of rank `rank`.
Expr along(const Expr& vector, std::size_t axis, std::size_t rank) {
  const auto after = static_cast<std::int64_t>(rank - axis - 1);
  if (after == 0) return vector;
  return op("expand_dims", {vector}, {{"axis", 1}, {"num_newaxis", after}});
}

AttrValue list_of(const std::vector<std::size_t>& axes) {
  std::vector<std::int64_t> values(axes.begin(), axes.end());
  return AttrValue::ints(values);
}

// (x - mean) / sqrt(variance + epsilon) over `axes`, step by step with names.
Expr standardised_in(const Expr& x, const std::vector<std::size_t>& axes, double epsilon,
                     const std::function<Expr(const Expr&)>& body) {
  const AttrValue list = list_of(axes);
  return build::let(
      "mean", op("mean", {x}, {{"axis", list}, {"keepdims", true}}), [&](const Expr& mean) {
        return build::let("centred", x - mean, [&](const Expr& centred) {
          const Expr squares =
              op("mean", {centred * centred}, {{"axis", list}, {"keepdims", true}});
          return build::let("variance", squares, [&](const Expr& variance) {
            return build::let("scale", op("rsqrt", {epsilon + variance}), [&](const Expr& scale) {
              return build::let("standardised", centred * scale, body);
            });
          });
        });
      });
}

// The same, computed in the accumulator of its dtype: squares of half floats overflow early.
Expr standardised(const Expr& x, const std::vector<std::size_t>& axes, double epsilon,
                  const std::function<Expr(const Expr&)>& body) {
  return build::let("wide", widened(x), [&](const Expr& wide) {
    return standardised_in(wide, axes, epsilon, [&](const Expr& value) {
      return body(as_dtype(value, tensor_type_of(x).dtype.known()));
    });
  });
}

// Times gamma, plus beta, as `scale` and `center` say.
Expr affine(const DefinitionCall& call, const Expr& x, const Expr& gamma, const Expr& beta) {
  Expr result = x;
  if (call.attrs->get_bool("scale")) result = result * gamma;
  if (call.attrs->get_bool("center")) result = result + beta;
  return result;
}

std::vector<AttrSpec> norm_attrs(std::int64_t axis) {
  return {optional_attr("axis", AttrKind::Int, axis, "the axis of the channels"),
          optional_attr("epsilon", AttrKind::Float, 1e-5, "what is added to the variance"),
          optional_attr("center", AttrKind::Bool, true, "add beta"),
          optional_attr("scale", AttrKind::Bool, true, "multiply by gamma")};
}

const std::vector<InputSpec> kNormInputs = {{"data", "the values"},
                                            {"gamma", "a factor for each channel"},
                                            {"beta", "a summand for each channel"}};

// --- batch_norm: with the moving mean and variance ---

void add_batch_norm() {
  OpDef def;
  def.name = "nn.batch_norm";
  def.level = 1;
  def.doc =
      "The data less the moving mean, over the root of the moving variance, as in inference.\n"
      "The result is a tuple: the data so normalised, the mean and the variance.";
  def.example =
      "nn.batch_norm([[1.0, 2.0]], [1.0, 1.0], [0.0, 5.0], [1.0, 2.0], [1.0, 4.0], epsilon=0f).0\n"
      "// expect: [[0.0, 5.0]]";
  def.inputs = kNormInputs;
  def.inputs.push_back({"moving_mean", "the mean of each channel"});
  def.inputs.push_back({"moving_var", "the variance of each channel"});
  def.attrs = norm_attrs(1);
  def.type_rule = [](TypeCall& call) {
    return channelwise_rule(call, 4, [](const Type& data, const Type& vector) {
      return lang::tuple_type({data, vector, vector});
    });
  };
  def.definition = [](const DefinitionCall& call) {
    const std::size_t rank = dims_of(call.args[0]).size();
    const std::size_t axis = axis_of(call);
    const double epsilon = call.attrs->get_float("epsilon");
    const auto spread = [&](const Expr& vector) { return along(vector, axis, rank); };
    return build::let("scale", op("rsqrt", {epsilon + call.args[4]}), [&](const Expr& scale) {
      const Expr centred = call.args[0] - spread(call.args[3]);
      const Expr result =
          affine(call, centred * spread(scale), spread(call.args[1]), spread(call.args[2]));
      return build::let("normalised", result, [&](const Expr& normalised) {
        return build::tuple({normalised, call.args[3], call.args[4]});
      });
    });
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- layer, instance and group norm: with the data's own mean and variance ---

void add_layer_norm() {
  OpDef def;
  def.name = "nn.layer_norm";
  def.level = 1;
  def.doc =
      "Each vector along the axis less its mean, over its standard deviation; times gamma, plus "
      "beta.";
  def.example =
      "nn.layer_norm([[1.0, 3.0]], [1.0, 1.0], [0.0, 10.0], epsilon=0f)\n// expect: [[-1.0, 11.0]]";
  def.inputs = kNormInputs;
  def.attrs = norm_attrs(-1);
  def.type_rule = [](TypeCall& call) { return channelwise_rule(call, 2, same_as_data); };
  def.definition = [](const DefinitionCall& call) {
    const std::size_t rank = dims_of(call.args[0]).size();
    const std::size_t axis = axis_of(call);
    return standardised(call.args[0], {axis}, call.attrs->get_float("epsilon"), [&](const Expr& x) {
      return affine(call, x, along(call.args[1], axis, rank), along(call.args[2], axis, rank));
    });
  };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_instance_norm() {
  OpDef def;
  def.name = "nn.instance_norm";
  def.level = 1;
  def.doc =
      "Each channel of each sample less its mean, over its standard deviation; times gamma, plus "
      "beta.";
  def.example =
      "nn.instance_norm([[[1.0, 3.0]]], [2.0], [0.0], epsilon=0f)\n// expect: [[[-2.0,  2.0]]]";
  def.inputs = kNormInputs;
  def.attrs = norm_attrs(1);
  def.type_rule = [](TypeCall& call) { return channelwise_rule(call, 2, same_as_data); };
  def.definition = [](const DefinitionCall& call) {
    const std::size_t rank = dims_of(call.args[0]).size();
    const std::size_t axis = axis_of(call);
    std::vector<std::size_t> axes;
    for (std::size_t i = 1; i < rank; ++i) {
      if (i != axis) axes.push_back(i);
    }
    return standardised(call.args[0], axes, call.attrs->get_float("epsilon"), [&](const Expr& x) {
      return affine(call, x, along(call.args[1], axis, rank), along(call.args[2], axis, rank));
    });
  };
  lang::OpRegistry::instance().add(std::move(def));
}

void add_group_norm() {
  OpDef def;
  def.name = "nn.group_norm";
  def.level = 1;
  def.doc =
      "The channels of each sample in groups; each group less its mean, over its standard "
      "deviation;\n"
      "times gamma, plus beta.";
  def.example =
      "nn.group_norm([[[1.0, 3.0]]], [1.0], [0.0], num_groups=1, epsilon=0f)\n"
      "// expect: [[[-1.0,  1.0]]]";
  def.inputs = kNormInputs;
  def.attrs = norm_attrs(1);
  def.attrs.insert(def.attrs.begin(), optional_attr("num_groups", AttrKind::Int, 0,
                                                    "how many groups the channels fall into"));
  def.type_rule = [](TypeCall& call) {
    const std::int64_t groups = call.attrs->get_int("num_groups");
    if (groups < 1)
      lang::fail(DiagnosticKind::BadAttribute, "`num_groups` must be at least 1", call.span);
    const Type data = call.tensor(0);
    const Shape& shape = as_tensor(data).shape;
    if (shape.has_rank()) {
      check_axis(call, call.attrs->get_int("axis"), shape);
      const Dim& channels = shape[position_of(call.attrs->get_int("axis"), shape.rank())];
      if (channels.is_constant() && channels.constant() % groups != 0) {
        call.fail(DiagnosticKind::ShapeMismatch, channels.to_string() +
                                                     " channels do not divide into " +
                                                     std::to_string(groups) + " groups");
      }
    }
    return channelwise_rule(call, 2, same_as_data);
  };
  def.definition = [](const DefinitionCall& call) {
    const std::size_t rank = dims_of(call.args[0]).size();
    const std::size_t axis = axis_of(call);
    // (.., channels, ..) as (.., groups, channels of a group, ..).
    std::vector<std::int64_t> codes(axis, 0);
    codes.insert(codes.end(), {-4, call.attrs->get_int("num_groups"), -1, -2});
    std::vector<std::size_t> axes;
    for (std::size_t i = 1; i <= rank; ++i) {
      if (i != axis) axes.push_back(i);
    }
    const Expr grouped = op("reshape", {call.args[0]}, {{"newshape", AttrValue::ints(codes)}});
    return build::let("grouped", grouped, [&](const Expr& x) {
      return standardised(x, axes, call.attrs->get_float("epsilon"), [&](const Expr& value) {
        return build::let("flat", op("reshape_like", {value, call.args[0]}), [&](const Expr& flat) {
          return affine(call, flat, along(call.args[1], axis, rank),
                        along(call.args[2], axis, rank));
        });
      });
    });
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- Over lengths and neighbours ---

void add_l2_normalize() {
  OpDef def;
  def.name = "nn.l2_normalize";
  def.level = 2;
  def.doc =
      "The data over its Euclidean length along the axes; of lengths below sqrt(eps) over that.";
  def.example = "nn.l2_normalize([[3.0, 4.0]], eps=1e-6f, axis=[1])\n// expect: [[0.6, 0.8]]";
  def.inputs = {{"data", "the values"}};
  def.attrs = {required_attr("eps", AttrKind::Float, "the least sum of squares"),
               required_attr("axis", AttrKind::IntOrIntList, "the axes of a vector")};
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    call.solver.require(as_tensor(data).dtype, PrimOperands::kFloat);
    call.returns(data);
    if (!as_tensor(data).shape.has_rank()) return RuleOutcome::Stuck;
    for (const std::int64_t axis : call.attrs->get_ints("axis"))
      check_axis(call, axis, as_tensor(data).shape);
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    return build::let("wide", widened(call.args[0]), [&](const Expr& x) {
      const Expr squares =
          op("sum", {x * x},
             {{"axis", AttrValue::ints(call.attrs->get_ints("axis"))}, {"keepdims", true}});
      return build::let("squares", squares, [&](const Expr& sum) {
        const Expr least = build::scalar_like(sum, call.attrs->get_float("eps"));
        const Expr result = x / op("sqrt", {op("maximum", {sum, least})});
        return as_dtype(result, call.tensor(0).dtype.known());
      });
    });
  };
  lang::set_attr_default(def.name, "eps", 1e-12);
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

// x / (bias + alpha / size * sum of squares of the neighbours)^beta.
Expr lrn(const DefinitionCall& call) {
  const std::size_t axis = axis_of(call);
  const std::int64_t size = call.attrs->get_int("size");
  std::vector<AttrValue> widths(dims_of(call.args[0]).size(), AttrValue::ints({0, 0}));
  widths[axis] = AttrValue::ints({size / 2, size / 2});
  return build::let("wide", widened(call.args[0]), [&](const Expr& x) {
    const Expr padded = op("nn.pad", {x * x, build::scalar_like(x, 0)},
                           {{"pad_width", AttrValue(AttrValue::List(widths))}});
    return build::let("squares", padded, [&](const Expr& squares) {
      const Expr sums = build::comprehension(dims_of(x), [&](const Indices& i) {
        return build::reduction(ReduceOp::Sum, {Dim(size)}, [&](const Indices& k) {
          Indices at = i;
          at[axis] = build::add(i[axis], k[0]);
          return build::at(squares, at);
        });
      });
      return build::let("sums", sums, [&](const Expr& sum) {
        const double weight = call.attrs->get_float("alpha") / static_cast<double>(size);
        const Expr base = call.attrs->get_float("bias") + weight * sum;
        const Expr power =
            op("power", {base, build::scalar_like(x, call.attrs->get_float("beta"))});
        return as_dtype(x / power, call.tensor(0).dtype.known());
      });
    });
  });
}

void add_lrn() {
  OpDef def;
  def.name = "nn.lrn";
  def.level = 2;
  def.doc =
      "Local response normalisation: the data over a power of the squares of its neighbours along "
      "the axis.";
  def.example =
      "nn.lrn([[1.0, 2.0]], size=3, bias=1.0, alpha=3.0, beta=1.0)\n"
      "// expect: [[0.16666667, 0.33333334]]";
  def.inputs = {{"data", "the values"}};
  def.attrs = {optional_attr("size", AttrKind::Int, 5, "how many neighbours"),
               optional_attr("axis", AttrKind::Int, 1, "the axis along which they stand"),
               optional_attr("bias", AttrKind::Float, 2.0, "what is added"),
               optional_attr("alpha", AttrKind::Float, 0.0001, "the weight of the squares"),
               optional_attr("beta", AttrKind::Float, 0.75, "the power")};
  lang::set_attrs_struct(def.name, "LRNAttrs");
  def.type_rule = [](TypeCall& call) {
    count_attr(call, "size", 1);
    const Type data = call.tensor(0);
    call.solver.require(as_tensor(data).dtype, PrimOperands::kFloat);
    call.returns(data);
    if (!as_tensor(data).shape.has_rank()) return RuleOutcome::Stuck;
    check_axis(call, call.attrs->get_int("axis"), as_tensor(data).shape);
    return RuleOutcome::Solved;
  };
  def.definition = lrn;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- dropout, prelu ---

// A mask of the shape and dtype of `data`: each element is 0 with probability `rate`, else
// 1 / (1 - rate).
Expr dropout_mask(const Expr& data, const Expr& key, double rate) {
  const DType dtype = tensor_type_of(data).dtype.known();
  const Expr drawn =
      op("random.uniform",
         {key, build::constant(DType::Float32, 0), build::constant(DType::Float32, 1)},
         {{"out_shape", AttrValue::ints(extents_of(dims_of(data)))}});
  return build::let("drawn", drawn, [&](const Expr& pair) {
    return build::let("uniform", build::project(pair, 1), [&](const Expr& uniform) {
      return build::comprehension(dims_of(data), [&](const Indices& i) {
        const Expr stays =
            build::prim(Prim::Ge, {build::at(uniform, i), build::constant(DType::Float32, rate)});
        return build::select(stays, build::constant(dtype, 1 / (1 - rate)),
                             build::constant(dtype, 0));
      });
    });
  });
}

void add_dropout() {
  OpDef def;
  def.name = "nn.dropout";
  def.level = 1;
  def.doc =
      "The data times a mask that is 0 for a share of `rate` of the elements and 1 / (1 - rate) "
      "for "
      "the others, and the mask.\n"
      "The random numbers come from the key, which must not be used again. Without one, as in "
      "Relay's programs, nothing is dropped and the mask is ones: what dropout is in inference.";
  def.example =
      "nn.dropout([1.0, 2.0]).0\n// expect: [1.0, 2.0]\n"
      "nn.dropout([1.0, 2.0, 3.0, 4.0], random.key(1)).0\n// expect: [2.0, 0.0, 6.0, 0.0]";
  def.inputs = {{"data", "the values"}, {"key", "a key (`random.key`): ten uint64", true}};
  def.attrs = {optional_attr("rate", AttrKind::Float, 0.5,
                             "the share to drop: at least 0 and less than 1 with a key")};
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    call.solver.require(as_tensor(data).dtype, PrimOperands::kFloat);
    call.returns(lang::tuple_type({data, data}));
    if (lang::as<lang::VarType>(call.args[1])) return RuleOutcome::Stuck;
    if (lang::as<lang::TupleType>(call.args[1])) {
      call.solver.unify(call.args[1], lang::unit_type());
      return RuleOutcome::Solved;
    }
    call.solver.unify(call.args[1], lang::tensor_type({Dim(10)}, DType::UInt64));
    const double rate = call.attrs->get_float("rate");
    if (!(rate >= 0 && rate < 1)) {
      lang::fail(DiagnosticKind::BadAttribute, "`rate` must be at least 0 and less than 1",
                 call.span);
    }
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    const Expr& data = call.args[0];
    const bool drops = lang::as<TensorType>(call.args[1]->type) != nullptr;
    const Expr values = drops ? dropout_mask(data, call.args[1], call.attrs->get_float("rate"))
                              : op("ones_like", {data});
    return build::let("mask", values, [&](const Expr& mask) {
      return build::let("result", drops ? data * mask : data, [&](const Expr& result) {
        return build::tuple({result, mask});
      });
    });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {build::project(call.dout, 0) * build::project(call.out, 1), nullptr};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

void add_prelu() {
  OpDef def;
  def.name = "nn.prelu";
  def.level = 3;
  def.doc = "x where it is positive, else x times the slope of its channel.";
  def.example = "nn.prelu([[1.0, -2.0]], [0.5, 0.25])\n// expect: [[ 1.0, -0.5]]";
  def.inputs = {{"data", "the values"}, {"alpha", "a slope for each channel"}};
  def.attrs = {optional_attr("axis", AttrKind::Int, 1, "the axis of the channels")};
  lang::set_attrs_struct(def.name, "PReluAttrs");
  def.type_rule = [](TypeCall& call) { return channelwise_rule(call, 1, same_as_data); };
  def.definition = [](const DefinitionCall& call) {
    const Expr& x = call.args[0];
    const Expr slopes = along(call.args[1], axis_of(call), dims_of(x).size());
    return op("where", {op("greater", {x, build::scalar_like(x, 0)}), x, x * slopes});
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- nll_loss ---

RuleOutcome nll_rule(TypeCall& call) {
  const std::string& reduction = call.attrs->get_string("reduction");
  if (reduction != "mean" && reduction != "sum" && reduction != "none") {
    lang::fail(DiagnosticKind::BadAttribute,
               "`reduction` is `mean`, `sum` or `none`, not `" + reduction + "`", call.span);
  }
  const Type predictions = call.tensor(0);
  const Type targets = call.tensor(1);
  const Type weights = call.tensor(2);
  const DTypeTerm& dtype = as_tensor(predictions).dtype;
  call.solver.require(dtype, PrimOperands::kFloat);
  call.solver.require(as_tensor(targets).dtype, PrimOperands::kInt);
  const Shape& shape = as_tensor(predictions).shape;
  const Dim classes = call.solver.fresh_dim();
  call.solver.unify(weights, lang::tensor_type(Shape{classes}, dtype));
  if (reduction != "none") call.returns(lang::tensor_type(Shape(), dtype));
  if (!shape.has_rank()) return RuleOutcome::Stuck;
  if (shape.rank() < 2) {
    call.fail(DiagnosticKind::RankMismatch,
              "`nn.nll_loss` takes predictions of rank 2 or more, and `" + to_string(shape) +
                  "` has rank " + std::to_string(shape.rank()));
  }
  call.solver.unify(shape[1], classes);
  std::vector<Dim> places = shape.dims();
  places.erase(places.begin() + 1);
  call.solver.unify(as_tensor(targets).shape, Shape(places));
  if (reduction == "none") call.returns(lang::tensor_type(Shape(places), dtype));
  return RuleOutcome::Solved;
}

Expr nll_loss(const DefinitionCall& call) {
  const Expr& predictions = call.args[0];
  const Expr& targets = call.args[1];
  const Expr& weights = call.args[2];
  const DType dtype = call.tensor(0).dtype.known();
  const DType index = call.tensor(1).dtype.known();
  const Expr ignored = build::constant_int(index, call.attrs->get_int("ignore_index"));
  const Expr zero = build::constant(accumulator_of(dtype), 0);
  const auto is_counted = [&](const Indices& i) {
    return build::prim(Prim::Ne, {build::at(targets, i), ignored});
  };
  const auto class_at = [&](const Indices& i) {
    return build::select(is_counted(i), build::cast_to(DType::Int64, build::at(targets, i)),
                         build::index_constant(0));
  };
  const Expr weight = build::comprehension(dims_of(targets), [&](const Indices& i) {
    const Expr own = widened_scalar(build::checked_at(weights, {class_at(i)}));
    return build::select(is_counted(i), own, zero);
  });
  return build::let("weight", weight, [&](const Expr& counted) {
    const Expr losses = build::comprehension(dims_of(targets), [&](const Indices& i) {
      Indices place = i;
      place.insert(place.begin() + 1, class_at(i));
      const Expr prediction = widened_scalar(build::checked_at(predictions, place));
      return build::mul(build::prim(Prim::Neg, {build::at(counted, i)}), prediction);
    });
    const std::string& reduction = call.attrs->get_string("reduction");
    return build::let("losses", losses, [&](const Expr& each) {
      if (reduction == "none") return as_dtype(each, dtype);
      const Expr total = op("sum", {each});
      return as_dtype(reduction == "sum" ? total : total / op("sum", {counted}), dtype);
    });
  });
}

void add_nll_loss() {
  OpDef def;
  def.name = "nn.nll_loss";
  def.level = 10;
  def.doc =
      "The negative logarithmic likelihood: minus the prediction of the target class, times its "
      "weight.\n"
      "`mean` divides by the sum of the weights. Targets equal to `ignore_index` count as nothing.";
  def.example =
      "nn.nll_loss([[-1.0, -2.0], [-3.0, -4.0]], [1, 0], [1.0, 1.0], ignore_index=-1)\n// expect: "
      "2.5";
  def.inputs = {{"predictions", "(N, classes, ..): logarithms of probabilities"},
                {"targets", "(N, ..): the class, an integer"},
                {"weights", "a weight for each class"}};
  def.attrs = {optional_attr("reduction", AttrKind::String, "mean", "`mean`, `sum` or `none`"),
               required_attr("ignore_index", AttrKind::Int, "a target that counts as nothing")};
  lang::set_attrs_struct(def.name, "NLLLossAttrs");
  def.type_rule = nll_rule;
  def.definition = nll_loss;
  lang::set_attr_default(def.name, "ignore_index", -100);
  lang::OpRegistry::instance().add(std::move(def));
}

// --- Relay's names for faster, less exact functions; ours are exact ---

void add_fast(const char* name, const char* exact, const char* example) {
  const OpDef& known = lang::OpRegistry::instance().get(exact);
  OpDef def = known;
  def.name = name;
  lang::set_attrs_struct(name, lang::attrs_struct_of(known));
  def.doc = "The same as `" + std::string(exact) + "`: a name for what Relay approximates.";
  def.example = example;
  def.definition = [exact](const DefinitionCall& call) {
    return op(exact, call.args, call.attrs ? call.attrs->list : std::vector<lang::Attr>{});
  };
  def.gradient = {};
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_norm_operators() {
  add_batch_norm();
  add_layer_norm();
  add_instance_norm();
  add_group_norm();
  add_l2_normalize();
  add_lrn();
  add_dropout();
  add_prelu();
  add_nll_loss();
  add_fast("fast_exp", "exp", "fast_exp(0.0)\n// expect: 1.0");
  add_fast("fast_tanh", "tanh", "fast_tanh(0.0)\n// expect: 0.0");
  add_fast("fast_erf", "erf", "fast_erf(0.0)\n// expect: 0.0");
  add_fast("nn.fast_softmax", "nn.softmax", "nn.fast_softmax([1.0, 1.0])\n// expect: [0.5, 0.5]");
}

}  // namespace relay::stdlib
