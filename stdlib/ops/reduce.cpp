#include <algorithm>

#include "lang/attrs_struct.h"
#include "lang/call_form.h"
#include "stdlib/ops/accumulate.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/formula.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

std::vector<AttrSpec> reduction_attrs() {
  return {
      nullable_attr("axis", AttrKind::IntOrIntList, "the axes to reduce; None, or none: all"),
      optional_attr("keepdims", AttrKind::Bool, false, "leave reduced axes in place with extent 1"),
      optional_attr("exclude", AttrKind::Bool, false, "reduce all axes but those in `axis`")};
}

// The result: `shape` without the reduced axes.
RuleOutcome reduce_shape(TypeCall& call, const Shape& shape, const DTypeTerm& dtype) {
  const Shape known = result_shape(call, dtype);
  const bool keepdims = call.attrs->get_bool("keepdims");
  if (!shape.has_rank()) {
    const bool names_axes = !call.attrs->is_null("axis") && !call.attrs->get_ints("axis").empty();
    if (names_axes || keepdims) return RuleOutcome::Stuck;
    call.solver.unify(known, Shape());
    return RuleOutcome::Solved;
  }
  if (!call.attrs->is_null("axis")) {
    for (const std::int64_t axis : call.attrs->get_ints("axis")) check_axis(call, axis, shape);
  }
  const std::vector<bool> reduced = reduced_axes(call.attrs, shape.rank());
  std::vector<Dim> dims;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    if (!reduced[axis]) dims.push_back(shape[axis]);
    if (reduced[axis] && keepdims) dims.emplace_back(1);
  }
  call.solver.unify(known, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

std::vector<bool> axes_of(const DefinitionCall& call) {
  return reduced_axes(call.attrs, dims_of(call.args[0]).size());
}
std::vector<bool> axes_of(const GradientCall& call) {
  return reduced_axes(call.attrs, dims_of(call.args[0]).size());
}

// Gives each element of the operand its element of a value shaped like the result.
Expr spread_back(const GradientCall& call, const Expr& value) {
  return spread(value, call.args[0], axes_of(call), call.attrs->get_bool("keepdims"));
}

// Sums over the reduced axes of a tensor shaped like the operand.
Expr sum_again(const GradientCall& call, const Expr& value) {
  std::vector<lang::Attr> attrs;
  for (const char* key : {"axis", "keepdims", "exclude"})
    attrs.push_back({key, *call.attrs->find(key)});
  return op("sum", {value}, std::move(attrs));
}

struct ReductionRow {
  const char* name;
  ReduceOp fold;
  PrimOperands operands;
  const char* doc;
  const char* example;
  Expr (*gradient)(const GradientCall&);  // null: zero
};

// The share of each element that equals the extreme one.
Expr extreme_gradient(const GradientCall& call) {
  const Expr& x = call.args[0];
  const Expr is_extreme = op("equal", {x, spread_back(call, call.out)});
  const Expr mask = op("cast", {is_extreme}, {{"dtype", tensor_type_of(x).dtype.known()}});
  return mask * spread_back(call, call.dout / sum_again(call, mask));
}

// The product of the other elements: of those along the last axis, times that of the other products
// along the axis before it, and so on. Nothing is divided.
Expr product_gradient(const GradientCall& call) {
  const std::vector<bool> reduced = axes_of(call);
  Expr adjoint = spread_back(call, call.dout);
  Expr products = call.args[0];
  for (std::size_t i = reduced.size(); i-- > 0;) {
    if (!reduced[i]) continue;
    const AttrValue axis = static_cast<std::int64_t>(i);
    adjoint = adjoint * op("product_of_others", {products}, {{"axis", axis}});
    products = op("prod", {products}, {{"axis", axis}, {"keepdims", true}});
  }
  return adjoint;
}

constexpr ReductionRow kReductions[] = {
    {"sum", ReduceOp::Sum, PrimOperands::kAnyDType,
     "The sum along axes; 0 of nothing. Integers wrap. Of bools it is `any`: cast them to count.",
     "sum([[1.0, 2.0], [3.0, 4.0]], axis=1)\n// expect: [3.0, 7.0]",
     [](const GradientCall& call) { return spread_back(call, call.dout); }},
    {"prod", ReduceOp::Prod, PrimOperands::kAnyDType,
     "The product along axes; 1 of nothing. Integers wrap. Of bools it is `all`.\n"
     "Derivatives of any order are right also where elements are 0.",
     "prod([2.0, 3.0, 4.0])\n// expect: 24.0", product_gradient},
    {"max", ReduceOp::Max, PrimOperands::kAnyDType,
     "The largest value along axes. NaN wins; of nothing it is an error. Of bools it is `any`.\n"
     "Elements that share the first place share the derivative.",
     "max([[1.0, 2.0], [4.0, 3.0]], axis=0)\n// expect: [4.0, 3.0]", extreme_gradient},
    {"min", ReduceOp::Min, PrimOperands::kAnyDType,
     "The smallest value along axes. NaN wins; of nothing it is an error. Of bools it is `all`.\n"
     "Elements that share the first place share the derivative.",
     "min([[1.0, 2.0], [4.0, 3.0]], axis=0)\n// expect: [1.0, 2.0]", extreme_gradient},
    {"all", ReduceOp::All, PrimOperands::kBool,
     "True if all values along axes are, and of nothing.",
     "all([[True, True], [True, False]], axis=1)\n// expect: [True, False]", nullptr},
    {"any", ReduceOp::Any, PrimOperands::kBool,
     "True if some value along axes is; False of nothing.",
     "any([[False, False], [True, False]], axis=1)\n// expect: [False, True]", nullptr},
};

OpDef reduction(const char* name, int level, const char* doc, const char* example,
                PrimOperands operands) {
  OpDef def;
  def.name = name;
  def.level = level;
  def.doc = doc;
  def.example = example;
  def.inputs = {{"data", "the values"}};
  def.attrs = reduction_attrs();
  lang::set_attrs_struct(def.name, "ReduceAttrs");
  def.type_rule = [operands](TypeCall& call) {
    const Type data = call.tensor(0);
    const auto& tensor = static_cast<const TensorType&>(*data);
    call.solver.require(tensor.dtype, operands);
    return reduce_shape(call, tensor.shape, tensor.dtype);
  };
  return def;
}

// What folds values of that dtype as `fold` says. Of two bools the larger, and the sum, is True if
// either is, and the product if both are.
ReduceOp fold_for(ReduceOp fold, DType dtype) {
  if (dtype != DType::Bool) return fold;
  switch (fold) {
    case ReduceOp::Sum:
    case ReduceOp::Max:
      return ReduceOp::Any;
    case ReduceOp::Prod:
    case ReduceOp::Min:
      return ReduceOp::All;
    default:
      return fold;
  }
}

void add_fold(const ReductionRow& row) {
  OpDef def = reduction(row.name, 4, row.doc, row.example, row.operands);
  def.definition = [fold = row.fold](const DefinitionCall& call) {
    const ReduceOp known = fold_for(fold, call.tensor(0).dtype.known());
    return reduce_axes(known, call.args[0], axes_of(call), call.attrs->get_bool("keepdims"));
  };
  def.differentiable = row.gradient != nullptr;
  if (row.gradient) {
    def.gradient = [gradient = row.gradient](const GradientCall& call) {
      return std::vector<Expr>{gradient(call)};
    };
  }
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

Dim reduced_count(const Expr& data, const std::vector<bool>& reduced) {
  Dim count = 1;
  for (std::size_t axis = 0; axis < reduced.size(); ++axis) {
    if (reduced[axis]) count = count * dims_of(data)[axis];
  }
  return count;
}

// Each element of `total` divided by `count`, as an element of `dtype`. Floats are divided by an
// extent, and not by a number, so that a kernel serves all of them; integers by a number that is
// not 0, so that it cannot fail.
Expr divide_each(const Expr& total, const Dim& count, DType dtype) {
  const DType wide = tensor_type_of(total).dtype.known();
  const Expr divisor = lang::is_float(wide)
                           ? build::cast_to(wide, lang::make_dim_term(count))
                           : build::constant(wide, static_cast<double>(count.constant()));
  return build::comprehension(dims_of(total), [&](const Indices& i) {
    return build::cast_to(dtype, build::div(build::at(total, i), divisor));
  });
}

void add_mean() {
  OpDef def = reduction(
      "mean", 4,
      "The average along axes; NaN of nothing.\n"
      "In the light notation integers and bools count as float32. In strict text the mean of "
      "integers is an integer: they divide with truncation, and by zero of nothing; of bools it is "
      "`any`.\n"
      "Half floats are summed and divided in float32, integers of fewer than 64 bits in int64.",
      "mean([[1.0, 2.0], [3.0, 6.0]], axis=1)\n// expect: [1.5, 4.5]", PrimOperands::kAnyDType);
  def.definition = [](const DefinitionCall& call) {
    const std::vector<bool> reduced = axes_of(call);
    if (call.tensor(0).dtype.known() == DType::Bool) {
      return reduce_axes(ReduceOp::Any, call.args[0], reduced, call.attrs->get_bool("keepdims"));
    }
    const Expr sum = reduce_axes(ReduceOp::Sum, call.args[0], reduced,
                                 call.attrs->get_bool("keepdims"), widened_scalar);
    return build::let("total", sum, [&](const Expr& total) {
      return divide_each(total, reduced_count(call.args[0], reduced), call.tensor(0).dtype.known());
    });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {spread_back(call, over_count(call.dout, call.args[0], axes_of(call)))};
  };
  lang::set_input_forms(def.name, {{.as_float = true}});
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

RuleOutcome variance_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const Type mean = call.tensor(1);
  const auto& x = static_cast<const TensorType&>(*data);
  const auto& m = static_cast<const TensorType&>(*mean);
  call.solver.require(x.dtype, PrimOperands::kFloat);
  call.solver.unify(x.dtype, m.dtype);
  const RuleOutcome shape = reduce_shape(call, x.shape, x.dtype);
  const RuleOutcome fits = check_stretches(call, m.shape, x.shape);
  return shape == RuleOutcome::Solved ? fits : shape;
}

void add_variance() {
  OpDef def = reduction("variance", 4,
                        "The average squared distance from `mean` along axes, given the mean.\n"
                        "The mean must broadcast to the data: take it with keepdims=True.",
                        "variance([1.0, 3.0], [2.0])\n// expect: 1.0", PrimOperands::kFloat);
  def.inputs.push_back({"mean", "the mean, of a shape that broadcasts to the data's"});
  def.attrs.push_back(
      optional_attr("unbiased", AttrKind::Bool, false, "divide by one less than the count"));
  lang::set_attrs_struct(def.name, "VarianceAttrs");
  def.type_rule = variance_rule;
  def.definition = [](const DefinitionCall& call) {
    const Expr& x = call.args[0];
    const std::vector<bool> reduced = axes_of(call);
    const Dim count = reduced_count(x, reduced) - Dim(call.attrs->get_bool("unbiased") ? 1 : 0);
    const Expr squares = build::comprehension(dims_of(x), [&](const Indices& i) {
      const Expr distance = build::sub(widened_scalar(build::at(x, i)),
                                       widened_scalar(read_broadcast(call.args[1], i)));
      return build::mul(distance, distance);
    });
    return build::let("squares", squares, [&](const Expr& squared) {
      const Expr sum =
          reduce_axes(ReduceOp::Sum, squared, reduced, call.attrs->get_bool("keepdims"));
      return build::let("total", sum, [&](const Expr& total) {
        return divide_each(total, count, call.tensor(0).dtype.known());
      });
    });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const Expr& x = call.args[0];
    const Expr share =
        over_count(call.dout, x, axes_of(call), call.attrs->get_bool("unbiased") ? 1 : 0);
    const Expr dx = spread_back(call, share) * (2.0 * (x - call.args[1]));
    return {dx, sum_to(-dx, call.args[1])};
  };
  lang::set_input_forms(def.name, {{.as_float = true}, {.as_float = true}});
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_logsumexp() {
  OpDef def = reduction("logsumexp", 0,
                        "The logarithm of the sum of exponentials along axes, without overflow.\n"
                        "Of nothing it is an error.",
                        "logsumexp([0.0])\n// expect: 0.0", PrimOperands::kFloat);
  def.definition = [](const DefinitionCall& call) {
    const Expr& x = call.args[0];
    const std::vector<bool> reduced = axes_of(call);
    const DType dtype = call.tensor(0).dtype.known();
    return build::let(
        "largest", reduce_axes(ReduceOp::Max, x, reduced, true), [&](const Expr& largest) {
          // An infinite maximum must not be subtracted: inf - inf is NaN.
          const Expr shifts = build::comprehension(dims_of(largest), [&](const Indices& i) {
            const Expr m = build::at(largest, i);
            return build::select(build::prim(Prim::IsFinite, {m}), m, build::constant(dtype, 0));
          });
          return build::let("shift", shifts, [&](const Expr& shift) {
            const Expr powers = build::comprehension(dims_of(x), [&](const Indices& i) {
              return build::prim(Prim::Exp, {build::sub(widened_scalar(build::at(x, i)),
                                                        widened_scalar(read_broadcast(shift, i)))});
            });
            return build::let("powers", powers, [&](const Expr& power) {
              return build::let(
                  "total", reduce_axes(ReduceOp::Sum, power, reduced, true),
                  [&](const Expr& total) {
                    const std::vector<Dim>& dims = lang::as<TensorType>(call.result)->shape.dims();
                    return build::comprehension(dims, [&](const Indices& out) {
                      const Indices i =
                          reshape_indices(extents_of(dims_of(total)), extents_of(dims), out);
                      const Expr log = build::prim(Prim::Log, {build::at(total, i)});
                      return build::cast_to(dtype,
                                            build::add(log, widened_scalar(build::at(shift, i))));
                    });
                  });
            });
          });
        });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const Expr share = op("exp", {call.args[0] - spread_back(call, call.out)});
    return {share * spread_back(call, call.dout)};
  };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

// The row-major position among the reduced axes. For the last extreme element the data is read
// backwards.
Expr arg_definition(ReduceOp fold, const DefinitionCall& call) {
  const Expr& x = call.args[0];
  const std::vector<bool> reduced = axes_of(call);
  const bool last = call.attrs->get_bool("select_last_index");
  const bool keepdims = call.attrs->get_bool("keepdims");
  const bool is_bool = call.tensor(0).dtype.known() == DType::Bool;
  const auto ordered = [&](const Expr& value) {  // False before True
    return is_bool ? build::cast_to(DType::Int8, value) : value;
  };
  if (std::find(reduced.begin(), reduced.end(), true) == reduced.end()) {
    return build::comprehension(
        dims_of(x), [](const Indices&) { return build::constant_int(DType::Int32, 0); });
  }
  if (!last) {
    return build::let("position", reduce_axes(fold, x, reduced, keepdims, ordered),
                      [&](const Expr& position) {
                        return build::comprehension(dims_of(position), [&](const Indices& i) {
                          return build::cast_to(DType::Int32, build::at(position, i));
                        });
                      });
  }
  const Expr backwards = build::comprehension(dims_of(x), [&](const Indices& i) {
    Indices mirrored = i;
    for (std::size_t axis = 0; axis < i.size(); ++axis) {
      if (!reduced[axis]) continue;
      mirrored[axis] = build::sub(build::index_constant(dims_of(x)[axis].constant() - 1), i[axis]);
    }
    return build::at(x, mirrored);
  });
  const auto last_position = reduced_count(x, reduced).constant() - 1;
  return build::let("backwards", backwards, [&](const Expr& reversed) {
    return build::let("position", reduce_axes(fold, reversed, reduced, keepdims, ordered),
                      [&](const Expr& position) {
                        return build::comprehension(dims_of(position), [&](const Indices& i) {
                          return build::cast_to(DType::Int32,
                                                build::sub(build::index_constant(last_position),
                                                           build::at(position, i)));
                        });
                      });
  });
}

void add_arg_reduction(const char* name, ReduceOp fold, const char* doc, const char* example) {
  OpDef def = reduction(name, 4, doc, example, PrimOperands::kAnyDType);
  def.attrs.insert(def.attrs.begin() + 2,
                   optional_attr("select_last_index", AttrKind::Bool, false,
                                 "of equal elements take the last, not the first"));
  lang::set_attrs_struct(def.name, "ArgReduceAttrs");
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    const auto& tensor = static_cast<const TensorType&>(*data);
    return reduce_shape(call, tensor.shape, DType::Int32);
  };
  def.definition = [fold](const DefinitionCall& call) { return arg_definition(fold, call); };
  def.differentiable = false;
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_reduction_operators() {
  for (const ReductionRow& row : kReductions) add_fold(row);
  add_mean();
  add_variance();
  add_logsumexp();
  add_arg_reduction("argmax", ReduceOp::ArgMax,
                    "The int32 position of the largest value along axes.\n"
                    "Over several axes it counts row by row. NaN wins; of nothing it is an error.",
                    "argmax([[1.0, 5.0], [4.0, 3.0]], axis=1)\n// expect: [1, 0]");
  add_arg_reduction("argmin", ReduceOp::ArgMin,
                    "The int32 position of the smallest value along axes.\n"
                    "Over several axes it counts row by row. NaN wins; of nothing it is an error.",
                    "argmin([[1.0, 5.0], [4.0, 3.0]], axis=1)\n// expect: [0, 1]");
}

}  // namespace relay::stdlib
