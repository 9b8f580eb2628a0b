// Pools: a window slides over the spatial axes and is reduced to its maximum or its mean.

#include <limits>

#include "lang/attrs_struct.h"
#include "stdlib/ops/accumulate.h"
#include "stdlib/ops/types.h"
#include "stdlib/ops/window.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

enum class PoolKind : std::uint8_t { Max, Mean };

AxisLayout data_layout(const AttrsRef& attrs, std::size_t count) {
  return known_layout(attrs->get_string("layout"), "NC", spatial_letters(count));
}
AxisLayout result_layout(const AttrsRef& attrs, std::size_t count) {
  const std::string& own = attrs->get_string("out_layout");
  return known_layout(own.empty() ? attrs->get_string("layout") : own, "NC",
                      spatial_letters(count));
}

void check_layouts(const TypeCall& call, std::size_t count) {
  layout_of(call, "layout", "NC", spatial_letters(count));
  if (!call.attrs->get_string("out_layout").empty())
    layout_of(call, "out_layout", "NC", spatial_letters(count));
}

bool ceil_mode_of(const AttrsRef& attrs) {
  return attrs->find("ceil_mode") && attrs->get_bool("ceil_mode");
}

// The lowest value of a dtype: what a maximum begins with.
Expr lowest(DType dtype) {
  if (lang::is_float(dtype))
    return build::constant(dtype, -std::numeric_limits<double>::infinity());
  if (!lang::is_signed_int(dtype)) return build::constant_int(dtype, 0);
  const int bits = static_cast<int>(lang::size_of(dtype)) * 8;
  return build::constant_int(dtype, -(std::int64_t{1} << (bits - 2)) * 2);
}

// Booleans have a maximum, and no mean.
void require_numbers(TypeCall& call, PoolKind kind) {
  if (kind == PoolKind::Mean)
    call.solver.require(call.tensor_node(0).dtype, PrimOperands::kNumeric);
}

// Result: the data's type with other spatial extents.
RuleOutcome spatial_rule(
    TypeCall& call, std::size_t count,
    const std::function<Dim(std::size_t spatial_axis, const Dim& extent)>& places) {
  check_layouts(call, count);
  const Type data = call.tensor(0);
  const AxisLayout in = data_layout(call.attrs, count);
  const Shape from = ranked(call, 0, in.rank);
  const Shape known = result_shape(call, as_tensor(data).dtype);
  std::vector<Dim> spatial;
  for (std::size_t i = 0; i < count; ++i) spatial.push_back(places(i, from[in.spatial[i]]));
  call.solver.unify(
      known, Shape(dims_in_layout(result_layout(call.attrs, count), lead_extent(in, from.dims(), 0),
                                  lead_extent(in, from.dims(), 1), spatial)));
  return RuleOutcome::Solved;
}

// --- The window of a pool ---

struct Window {
  std::size_t count;
  std::vector<std::int64_t> size, stride, dilation;
  Padding padding;
  AxisLayout in, out;
};

Window window_of(const AttrsRef& attrs, std::size_t count) {
  return {count,
          per_axis(attrs, "pool_size", count),
          per_axis(attrs, "strides", count),
          per_axis(attrs, "dilation", count),
          padding_of(attrs, count),
          data_layout(attrs, count),
          result_layout(attrs, count)};
}

// The shape of what a pool of data of shape `from`, whose rank is known, gives.
Shape pooled_shape(const TypeCall& call, const Window& window, const Shape& from) {
  std::vector<Dim> spatial;
  for (std::size_t i = 0; i < window.count; ++i) {
    spatial.push_back(window_places(
        call, from[window.in.spatial[i]], Dim(window.size[i]), window.padding.front[i],
        window.padding.back[i], window.stride[i], window.dilation[i], ceil_mode_of(call.attrs)));
  }
  return Shape(dims_in_layout(window.out, lead_extent(window.in, from.dims(), 0),
                              lead_extent(window.in, from.dims(), 1), spatial));
}

// The data with `value` around it, so that each window fits.
Expr surrounded(const Window& window, const AttrsRef& attrs, const Expr& data, const Expr& value) {
  Padding padding = window.padding;
  // A window that `ceil_mode` adds overhangs by less than one stride.
  for (std::size_t i = 0; ceil_mode_of(attrs) && i < window.count; ++i)
    padding.back[i] += window.stride[i] - 1;
  return padded_around(data, window.in, padding, value);
}

// Where tap `taps` of the window at `out` reads.
Indices tap_of(const Window& window, const Indices& out, const Indices& taps) {
  Indices spatial;
  for (std::size_t i = 0; i < window.count; ++i) {
    spatial.push_back(
        window_index(out[window.out.spatial[i]], window.stride[i], taps[i], window.dilation[i]));
  }
  return in_layout(window.in, lead_index(window.out, out, 0), lead_index(window.out, out, 1),
                   spatial);
}

// How many taps of the window at `out` count, as an int64 scalar.
Expr counted_taps(const Window& window, const AttrsRef& attrs, const Expr& data,
                  const Indices& out) {
  const bool with_padding = attrs->get_bool("count_include_pad");
  if ((with_padding || window.padding.is_zero()) && !ceil_mode_of(attrs)) {
    return build::index_constant(product(to_dims(window.size)).constant());
  }
  Expr total;
  for (std::size_t i = 0; i < window.count; ++i) {
    const std::int64_t front = window.padding.front[i];
    const Expr step = build::index_constant(window.dilation[i]);
    const Expr start =
        build::sub(build::mul(out[window.out.spatial[i]], build::index_constant(window.stride[i])),
                   build::index_constant(front));
    const Expr extent = extent_of(data, window.in.spatial[i]);
    const Expr low = build::index_constant(with_padding ? -front : 0);
    const Expr high =
        with_padding ? build::add(extent, build::index_constant(window.padding.back[i])) : extent;
    // The first and the last tap t with low <= start + t * dilation < high.
    const Expr first = build::prim(
        Prim::FloorDiv,
        {build::add(build::sub(low, start), build::index_constant(window.dilation[i] - 1)), step});
    const Expr last = build::prim(
        Prim::FloorDiv, {build::sub(build::sub(high, build::index_constant(1)), start), step});
    const Expr begin = build::prim(Prim::Max, {first, build::index_constant(0)});
    const Expr end = build::prim(Prim::Min, {last, build::index_constant(window.size[i] - 1)});
    const Expr taps = build::add(build::sub(end, begin), build::index_constant(1));
    const Expr some = build::prim(Prim::Max, {taps, build::index_constant(0)});
    total = total ? build::mul(total, some) : some;
  }
  return build::prim(Prim::Max, {total, build::index_constant(1)});
}

// --- nn.max_pool1d, nn.max_pool2d, nn.max_pool3d ---

Expr max_pool(const DefinitionCall& call, std::size_t count) {
  const Window window = window_of(call.attrs, count);
  const DType dtype = call.tensor(0).dtype.known();
  return build::let("padded", surrounded(window, call.attrs, call.args[0], lowest(dtype)),
                    [&](const Expr& padded) {
                      return build::comprehension(
                          lang::as<TensorType>(call.result)->shape.dims(), [&](const Indices& out) {
                            return build::reduction(
                                ReduceOp::Max, to_dims(window.size), [&](const Indices& taps) {
                                  return build::at(padded, tap_of(window, out, taps));
                                });
                          });
                    });
}

// Number `tap` of all taps as one for each axis; `lengths`: how many there are along each.
Indices unravelled(Expr tap, const std::vector<Expr>& lengths) {
  Indices taps(lengths.size());
  for (std::size_t i = lengths.size(); i-- > 0;) {
    taps[i] = i == 0 ? tap : build::prim(Prim::FloorMod, {tap, lengths[i]});
    if (i > 0) tap = build::prim(Prim::FloorDiv, {tap, lengths[i]});
  }
  return taps;
}

Indices unravelled(const Window& window, const Expr& tap) {
  std::vector<Expr> lengths;
  for (const std::int64_t size : window.size) lengths.push_back(build::index_constant(size));
  return unravelled(tap, lengths);
}

// The adjoint of each window goes to its first largest element.
Expr max_pool_adjoint(const AttrsRef& attrs, std::size_t count, const Expr& data,
                      const Expr& dout) {
  const Window window = window_of(attrs, count);
  const DType dtype = tensor_type_of(data).dtype.known();
  const Dim all = product(to_dims(window.size));
  return build::let(
      "padded", surrounded(window, attrs, data, lowest(dtype)), [&](const Expr& padded) {
        const Expr largest = generate_like(dout, [&](const Indices& out) {
          return build::reduction(ReduceOp::ArgMax, {all}, [&](const Indices& tap) {
            return build::at(padded, tap_of(window, out, unravelled(window, tap[0])));
          });
        });
        return build::let("largest", largest, [&](const Expr& chosen) {
          // A window may lie in the padding altogether: what falls there is left out.
          const Expr everywhere = scatter_into(padded, dout, [&](const Indices& out) {
            return tap_of(window, out, unravelled(window, build::at(chosen, out)));
          });
          return build::let("everywhere", everywhere, [&](const Expr& all_adjoints) {
            return generate_like(data, [&](const Indices& at) {
              Indices place = at;
              for (std::size_t i = 0; i < count; ++i) {
                const std::size_t axis = window.in.spatial[i];
                place[axis] =
                    build::add(place[axis], build::index_constant(window.padding.front[i]));
              }
              return build::at(all_adjoints, place);
            });
          });
        });
      });
}

// --- nn.avg_pool1d, nn.avg_pool2d, nn.avg_pool3d ---

Expr mean_pool(const DefinitionCall& call, std::size_t count) {
  const Window window = window_of(call.attrs, count);
  const DType dtype = call.tensor(0).dtype.known();
  return build::let(
      "padded", surrounded(window, call.attrs, call.args[0], build::constant(dtype, 0)),
      [&](const Expr& padded) {
        return build::comprehension(
            lang::as<TensorType>(call.result)->shape.dims(), [&](const Indices& out) {
              const Expr sum =
                  build::reduction(ReduceOp::Sum, to_dims(window.size), [&](const Indices& taps) {
                    return widened_scalar(build::at(padded, tap_of(window, out, taps)));
                  });
              const Expr taps = counted_taps(window, call.attrs, call.args[0], out);
              return build::cast_to(dtype,
                                    build::div(sum, build::cast_to(accumulator_of(dtype), taps)));
            });
      });
}

// The adjoint of each window, over its count, goes to all of its elements.
Expr mean_pool_adjoint(const AttrsRef& attrs, std::size_t count, const Expr& data,
                       const Expr& dout) {
  const Window window = window_of(attrs, count);
  const DType dtype = tensor_type_of(data).dtype.known();
  const Expr share = generate_like(dout, [&](const Indices& out) {
    const Expr taps = counted_taps(window, attrs, data, out);
    return build::div(widened_scalar(build::at(dout, out)),
                      build::cast_to(accumulator_of(dtype), taps));
  });
  const WindowSteps steps{window.stride, window.dilation, window.padding.front};
  return build::let("share", share, [&](const Expr& shares) {
    return generate_like(data, [&](const Indices& in) {
      Indices position;
      for (const std::size_t axis : window.in.spatial) position.push_back(in[axis]);
      const Expr sum =
          build::reduction(ReduceOp::Sum, to_dims(window.size), [&](const Indices& taps) {
            return read_place(shares, window.out, lead_index(window.in, in, 0),
                              lead_index(window.in, in, 1), position, taps, steps);
          });
      return build::cast_to(dtype, sum);
    });
  });
}

// --- Records ---

std::vector<AttrSpec> pool_attrs(std::size_t count, bool counts_padding) {
  const std::vector<std::int64_t> ones(count, 1);
  const std::string layout = "NC" + std::string(spatial_letters(count));
  std::vector<AttrSpec> attrs = {
      required_attr("pool_size", AttrKind::IntOrIntList, "extents of the window"),
      optional_attr("strides", AttrKind::IntOrIntList, AttrValue::ints(ones),
                    "how far the window moves"),
      optional_attr("dilation", AttrKind::IntOrIntList, AttrValue::ints(ones),
                    "how far the elements of the window are apart"),
      optional_attr("padding", AttrKind::IntOrIntList,
                    AttrValue::ints(std::vector<std::int64_t>(count, 0)),
                    "elements around the data: one for all, one for each axis, or all fronts and "
                    "then all backs"),
      optional_attr("layout", AttrKind::String, layout, "which axis holds what"),
      optional_attr("out_layout", AttrKind::String, "", "the same of the result, if it differs"),
      optional_attr("ceil_mode", AttrKind::Bool, false,
                    "also take windows that overhang at the end")};
  if (counts_padding) {
    attrs.push_back(optional_attr("count_include_pad", AttrKind::Bool, false,
                                  "padding counts as elements of the mean"));
  }
  return attrs;
}

lang::TypeRule pool_rule(std::size_t count) {
  return [count](TypeCall& call) {
    check_window(call, count);
    const std::vector<std::int64_t> size = per_axis(call.attrs, "pool_size", count);
    const std::vector<std::int64_t> stride = per_axis(call.attrs, "strides", count);
    const std::vector<std::int64_t> dilation = per_axis(call.attrs, "dilation", count);
    const Padding padding = padding_of(call.attrs, count);
    return spatial_rule(call, count, [&](std::size_t i, const Dim& extent) {
      return window_places(call, extent, Dim(size[i]), padding.front[i], padding.back[i], stride[i],
                           dilation[i], ceil_mode_of(call.attrs));
    });
  };
}

void add_max_pool(const char* name, std::size_t count, const char* example) {
  OpDef def;
  def.name = name;
  def.level = 2;
  def.doc =
      "The largest element of each window. Padding never wins; NaN does.\n"
      "The adjoint goes to the first largest element.";
  def.example = example;
  def.inputs = {{"data", "batch, channels and spatial axes as `layout` says"}};
  def.attrs = pool_attrs(count, false);
  def.type_rule = pool_rule(count);
  def.definition = [count](const DefinitionCall& call) { return max_pool(call, count); };
  def.gradient = [count](const GradientCall& call) -> std::vector<Expr> {
    return {max_pool_adjoint(call.attrs, count, call.args[0], call.dout)};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

void add_mean_pool(const char* name, std::size_t count, const char* example) {
  OpDef def;
  def.name = name;
  def.level = 2;
  def.doc =
      "The mean of each window, of the elements inside the data unless `count_include_pad`.\n"
      "Half floats are summed in float32, integers of fewer than 64 bits in int64; division "
      "truncates.";
  def.example = example;
  def.inputs = {{"data", "batch, channels and spatial axes as `layout` says"}};
  def.attrs = pool_attrs(count, true);
  def.type_rule = [count](TypeCall& call) {
    require_numbers(call, PoolKind::Mean);
    return pool_rule(count)(call);
  };
  def.definition = [count](const DefinitionCall& call) { return mean_pool(call, count); };
  def.gradient = [count](const GradientCall& call) -> std::vector<Expr> {
    return {mean_pool_adjoint(call.attrs, count, call.args[0], call.dout)};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// nn.max_pool2d_grad and nn.avg_pool2d_grad: the adjoints as operators of their own.
void add_pool_adjoint(const char* name, PoolKind kind, const char* example) {
  OpDef def;
  def.name = name;
  def.level = 2;
  def.doc = kind == PoolKind::Max ? "The adjoint of the data of `nn.max_pool2d`."
                                  : "The adjoint of the data of `nn.avg_pool2d`.";
  def.example = example;
  def.inputs = {{"out_grad", "the adjoint of the pool's result"}, {"data", "what was pooled"}};
  def.attrs = pool_attrs(2, kind == PoolKind::Mean);
  lang::set_attrs_struct(def.name, kind == PoolKind::Mean ? "AvgPool2DAttrs" : "MaxPool2DAttrs");
  def.type_rule = [](TypeCall& call) {
    check_window(call, 2);
    check_layouts(call, 2);
    const Type adjoint = call.tensor(0);
    const Type data = call.tensor(1);
    call.solver.unify(as_tensor(adjoint).dtype, as_tensor(data).dtype);
    call.solver.require(as_tensor(data).dtype, PrimOperands::kFloat);
    call.returns(data);
    const Window window = window_of(call.attrs, 2);
    const Shape places = ranked(call, 0, window.out.rank);
    const Shape from = ranked(call, 1, window.in.rank);
    call.solver.unify(places, pooled_shape(call, window, from));
    return RuleOutcome::Solved;
  };
  def.definition = [kind](const DefinitionCall& call) {
    return kind == PoolKind::Max ? max_pool_adjoint(call.attrs, 2, call.args[1], call.args[0])
                                 : mean_pool_adjoint(call.attrs, 2, call.args[1], call.args[0]);
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- Over the whole image ---

void add_global_pool(const char* name, PoolKind kind, const char* example) {
  OpDef def;
  def.name = name;
  def.level = 2;
  def.doc = kind == PoolKind::Max ? "The largest element of each image; spatial extents become 1."
                                  : "The mean of each image; spatial extents become 1.";
  def.example = example;
  def.inputs = {{"data", "batch, channels and two spatial axes"}};
  def.attrs = {
      optional_attr("layout", AttrKind::String, "NCHW", "which axis holds what"),
      optional_attr("out_layout", AttrKind::String, "", "the same of the result, if it differs")};
  lang::set_attrs_struct(def.name, "GlobalPool2DAttrs");
  def.type_rule = [kind](TypeCall& call) {
    require_numbers(call, kind);
    return spatial_rule(call, 2, [](std::size_t, const Dim&) { return Dim(1); });
  };
  def.definition = [kind](const DefinitionCall& call) {
    const AxisLayout in = data_layout(call.attrs, 2);
    const AxisLayout out = result_layout(call.attrs, 2);
    const auto axes = AttrValue::ints(
        {static_cast<std::int64_t>(in.spatial[0]), static_cast<std::int64_t>(in.spatial[1])});
    const Expr folded = op(kind == PoolKind::Max ? "max" : "mean", {call.args[0]},
                           {{"axis", axes}, {"keepdims", true}});
    if (in.letters == out.letters) return folded;
    return build::let("folded", folded, [&](const Expr& value) {
      const Expr zero = build::index_constant(0);
      return build::comprehension(
          lang::as<TensorType>(call.result)->shape.dims(), [&](const Indices& i) {
            return build::at(
                value, in_layout(in, lead_index(out, i, 0), lead_index(out, i, 1), {zero, zero}));
          });
    });
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- nn.adaptive_*: the window's extents follow from the result's ---

std::vector<std::int64_t> output_size_of(const AttrsRef& attrs, std::size_t count) {
  if (attrs->is_null("output_size") || attrs->get_ints("output_size").empty()) return {};
  return per_axis(attrs, "output_size", count);
}

// Window number `place` of `places` on an axis of `extent`: floor(place * extent / places) up to
// ceil((place + 1) * extent / places).
struct Reach {
  Expr begin;
  Expr end;
};
Reach reach_of(const Expr& place, const Expr& length, const Expr& count) {
  const Expr next = build::add(place, build::index_constant(1));
  const Expr past =
      build::add(build::mul(next, length), build::sub(count, build::index_constant(1)));
  return {build::prim(Prim::FloorDiv, {build::mul(place, length), count}),
          build::prim(Prim::FloorDiv, {past, count})};
}

// The windows of one result element: where tap `taps` reads, and whether it is inside.
class AdaptiveWindow {
 public:
  AdaptiveWindow(const AttrsRef& attrs, std::size_t count, const Expr& data,
                 const std::function<Expr(std::size_t axis)>& places)
      : in_(data_layout(attrs, count)), out_(result_layout(attrs, count)), data_(data) {
    for (std::size_t i = 0; i < count; ++i) {
      extents_.push_back(extent_of(data, in_.spatial[i]));
      places_.push_back(places(out_.spatial[i]));
      // No window has more taps.
      const Expr least = build::prim(Prim::FloorDiv, {extents_[i], places_[i]});
      longest_.push_back(build::add(least, build::index_constant(2)));
    }
  }

  const std::vector<Expr>& longest() const { return longest_; }

  struct Tap {
    Indices place;
    Expr inside;
  };
  Tap tap(const Indices& out, const Indices& taps) const {
    Tap result;
    Indices spatial;
    for (std::size_t i = 0; i < taps.size(); ++i) {
      const Reach reach = reach_of(out[out_.spatial[i]], extents_[i], places_[i]);
      const Expr at = build::add(reach.begin, taps[i]);
      const Expr fits = build::prim(Prim::Lt, {at, reach.end});
      result.inside = result.inside ? build::prim(Prim::And, {result.inside, fits}) : fits;
      spatial.push_back(
          build::prim(Prim::Min, {at, build::sub(reach.end, build::index_constant(1))}));
    }
    result.place = in_layout(in_, lead_index(out_, out, 0), lead_index(out_, out, 1), spatial);
    return result;
  }
  // How many taps are inside.
  Expr size(const Indices& out) const {
    Expr size;
    for (std::size_t i = 0; i < extents_.size(); ++i) {
      const Reach reach = reach_of(out[out_.spatial[i]], extents_[i], places_[i]);
      const Expr length = build::sub(reach.end, reach.begin);
      size = size ? build::mul(size, length) : length;
    }
    return size;
  }
  Expr read(const Indices& out, const Indices& taps, const Expr& outside) const {
    const Tap at = tap(out, taps);
    return build::select(at.inside, build::at(data_, at.place), outside);
  }

 private:
  AxisLayout in_;
  AxisLayout out_;
  Expr data_;
  std::vector<Expr> extents_;
  std::vector<Expr> places_;
  std::vector<Expr> longest_;
};

Expr adaptive_pool(const DefinitionCall& call, std::size_t count, PoolKind kind) {
  const std::vector<Dim>& result = lang::as<TensorType>(call.result)->shape.dims();
  const DType dtype = call.tensor(0).dtype.known();
  const AdaptiveWindow window(call.attrs, count, call.args[0],
                              [&](std::size_t axis) { return extent_expr(result[axis]); });
  const bool is_max = kind == PoolKind::Max;
  const Expr outside = is_max ? lowest(dtype) : build::constant(dtype, 0);
  return build::comprehension(result, [&](const Indices& out) {
    const Expr folded = reduce_over(is_max ? ReduceOp::Max : ReduceOp::Sum, window.longest(),
                                    [&](const Indices& taps) {
                                      const Expr element = window.read(out, taps, outside);
                                      return is_max ? element : widened_scalar(element);
                                    });
    if (is_max) return folded;
    const Expr taps = build::cast_to(accumulator_of(dtype), window.size(out));
    return build::cast_to(dtype, build::div(folded, taps));
  });
}

// The adjoint of each window goes to its first largest element.
Expr adaptive_max_adjoint(const GradientCall& call, std::size_t count) {
  const AdaptiveWindow window(call.attrs, count, call.args[0],
                              [&](std::size_t axis) { return extent_of(call.out, axis); });
  const Expr outside = lowest(tensor_type_of(call.args[0]).dtype.known());
  const Expr largest = generate_like(call.dout, [&](const Indices& out) {
    Expr all = window.longest()[0];
    for (std::size_t i = 1; i < count; ++i) all = build::mul(all, window.longest()[i]);
    return reduce_over(ReduceOp::ArgMax, {all}, [&](const Indices& tap) {
      return window.read(out, unravelled(tap[0], window.longest()), outside);
    });
  });
  return build::let("largest", largest, [&](const Expr& chosen) {
    return scatter_into(call.args[0], call.dout, [&](const Indices& out) {
      return window.tap(out, unravelled(build::at(chosen, out), window.longest())).place;
    });
  });
}

void add_adaptive_pool(const char* name, std::size_t count, PoolKind kind, const char* example) {
  OpDef def;
  def.name = name;
  def.level = 10;
  def.doc = std::string(kind == PoolKind::Max ? "The largest elements" : "The means") +
            " of windows that divide the data evenly into `output_size` parts along each axis.";
  def.example = example;
  def.inputs = {{"data", "batch, channels and spatial axes as `layout` says"}};
  def.attrs = {
      nullable_attr("output_size", AttrKind::IntOrIntList,
                    "spatial extents of the result; None, or none: those of the data"),
      optional_attr("layout", AttrKind::String, "NC" + std::string(spatial_letters(count)),
                    "which axis holds what"),
      optional_attr("out_layout", AttrKind::String, "", "the same of the result, if it differs")};
  lang::set_attrs_struct(def.name, "AdaptivePool" + std::to_string(count) + "DAttrs");
  def.type_rule = [count, kind](TypeCall& call) {
    require_numbers(call, kind);
    const std::vector<std::int64_t> size = output_size_of(call.attrs, count);
    if (!size.empty() && size.size() != count) {
      lang::fail(DiagnosticKind::BadAttribute,
                 "`output_size` has " + std::to_string(size.size()) + " values for " +
                     std::to_string(count) + " spatial axes",
                 call.span);
    }
    for (const std::int64_t extent : size) {
      if (extent < 1) {
        lang::fail(DiagnosticKind::BadAttribute,
                   "`output_size` must be positive, not " + std::to_string(extent), call.span);
      }
    }
    return spatial_rule(call, count, [&](std::size_t i, const Dim& extent) {
      return size.empty() ? extent : Dim(size[i]);
    });
  };
  def.definition = [count, kind](const DefinitionCall& call) {
    return adaptive_pool(call, count, kind);
  };
  if (kind == PoolKind::Max) {
    def.gradient = [count](const GradientCall& call) -> std::vector<Expr> {
      return {adaptive_max_adjoint(call, count)};
    };
  }
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_pooling_operators() {
  add_max_pool("nn.max_pool1d", 1,
               "nn.max_pool1d([[[1.0, 3.0, 2.0, 0.0]]], pool_size=2, strides=2)\n"
               "// expect: [[[3.0, 2.0]]]");
  add_max_pool("nn.max_pool2d", 2,
               "nn.max_pool2d([[[[1.0, 3.0], [2.0, 0.0]]]], pool_size=[2, 2])\n"
               "// expect: [[[[3.0]]]]");
  add_max_pool("nn.max_pool3d", 3,
               "nn.max_pool3d([[[[[1.0, 3.0], [2.0, 0.0]]]]], pool_size=[1, 2, 2])\n"
               "// expect: [[[[[3.0]]]]]");
  add_mean_pool("nn.avg_pool1d", 1,
                "nn.avg_pool1d([[[1.0, 3.0, 2.0, 0.0]]], pool_size=2, strides=2)\n"
                "// expect: [[[2.0, 1.0]]]");
  add_mean_pool("nn.avg_pool2d", 2,
                "nn.avg_pool2d([[[[1.0, 3.0], [2.0, 0.0]]]], pool_size=[2, 2])\n"
                "// expect: [[[[1.5]]]]");
  add_mean_pool("nn.avg_pool3d", 3,
                "nn.avg_pool3d([[[[[1.0, 3.0], [2.0, 0.0]]]]], pool_size=[1, 2, 2])\n"
                "// expect: [[[[[1.5]]]]]");
  add_pool_adjoint("nn.max_pool2d_grad", PoolKind::Max,
                   "nn.max_pool2d_grad([[[[5.0]]]], [[[[1.0, 3.0]]]], pool_size=[1, 2])\n"
                   "// expect: [[[[0.0, 5.0]]]]");
  add_pool_adjoint("nn.avg_pool2d_grad", PoolKind::Mean,
                   "nn.avg_pool2d_grad([[[[5.0]]]], [[[[1.0, 3.0]]]], pool_size=[1, 2])\n"
                   "// expect: [[[[2.5, 2.5]]]]");
  add_global_pool("nn.global_max_pool2d", PoolKind::Max,
                  "nn.global_max_pool2d([[[[1.0, 3.0], [2.0, 0.0]]]])\n// expect: [[[[3.0]]]]");
  add_global_pool("nn.global_avg_pool2d", PoolKind::Mean,
                  "nn.global_avg_pool2d([[[[1.0, 3.0], [2.0, 0.0]]]])\n// expect: [[[[1.5]]]]");
  add_adaptive_pool("nn.adaptive_max_pool1d", 1, PoolKind::Max,
                    "nn.adaptive_max_pool1d([[[1.0, 3.0, 2.0]]], output_size=2)\n"
                    "// expect: [[[3.0, 3.0]]]");
  add_adaptive_pool("nn.adaptive_max_pool2d", 2, PoolKind::Max,
                    "nn.adaptive_max_pool2d([[[[1.0, 3.0], [2.0, 0.0]]]], output_size=1)\n"
                    "// expect: [[[[3.0]]]]");
  add_adaptive_pool("nn.adaptive_max_pool3d", 3, PoolKind::Max,
                    "nn.adaptive_max_pool3d([[[[[1.0, 3.0], [2.0, 0.0]]]]], output_size=1)\n"
                    "// expect: [[[[[3.0]]]]]");
  add_adaptive_pool("nn.adaptive_avg_pool1d", 1, PoolKind::Mean,
                    "nn.adaptive_avg_pool1d([[[1.0, 3.0, 2.0]]], output_size=2)\n"
                    "// expect: [[[2.0, 2.5]]]");
  add_adaptive_pool("nn.adaptive_avg_pool2d", 2, PoolKind::Mean,
                    "nn.adaptive_avg_pool2d([[[[1.0, 3.0], [2.0, 0.0]]]], output_size=1)\n"
                    "// expect: [[[[1.5]]]]");
  add_adaptive_pool("nn.adaptive_avg_pool3d", 3, PoolKind::Mean,
                    "nn.adaptive_avg_pool3d([[[[[1.0, 3.0], [2.0, 0.0]]]]], output_size=1)\n"
                    "// expect: [[[[[1.5]]]]]");
}

}  // namespace relay::stdlib
