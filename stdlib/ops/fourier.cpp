#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "lang/attrs_struct.h"
#include "stdlib/ops/accumulate.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/formula.h"
#include "stdlib/ops/types.h"

// The discrete Fourier transform, in stages of mixed radix.
namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

// A complex tensor.
struct Complex {
  Expr re;
  Expr im;
};
using ComplexBody = std::function<Expr(const Complex&)>;

Expr let_complex(const Expr& re, const Expr& im, const ComplexBody& body) {
  return build::let("re", re, [&](const Expr& named_re) {
    return build::let("im", im, [&](const Expr& named_im) { return body({named_re, named_im}); });
  });
}

// Fours, then the primes that are left: their sum is what an element costs.
std::vector<std::int64_t> radices_of(std::int64_t n) {
  std::vector<std::int64_t> radices;
  while (n % 4 == 0) {
    radices.push_back(4);
    n /= 4;
  }
  for (std::int64_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) radices.push_back(p);
  }
  if (n > 1) radices.push_back(n);
  return radices;
}

// --- Stages ---

// After a stage, [batch.., q, k] is element k of the transform of length `length` of the elements
// q, q + count, q + 2 count, ... of the last axis, where count * length is its extent.
class Stages {
 public:
  Stages(std::vector<Dim> batch, std::int64_t extent, DType dtype)
      : batch_(std::move(batch)), extent_(extent), dtype_(dtype) {}

  // The n-th roots of unity that the stages read: computed in float64, whatever the dtype, and 0
  // where they are.
  Expr with_roots(bool inverse, const std::function<Expr()>& body) {
    const auto table = [&](Prim prim, std::int64_t first_zero) {
      return build::comprehension({Dim(extent_)}, [&](const Indices& t) {
        const double turn = 2 * std::numbers::pi / static_cast<double>(extent_);
        const Expr angle =
            build::mul(build::cast_to(DType::Float64, t[0]), build::constant(DType::Float64, turn));
        const Expr value = build::prim(prim, {angle});
        const bool mirrored = prim == Prim::Sin && !inverse;
        const Expr turned = mirrored ? build::prim(Prim::Neg, {value}) : value;
        // Quarters of a turn since the last zero or half a turn later, times n.
        const Expr quarters = build::prim(
            Prim::FloorMod,
            {build::mul(t[0], build::index_constant(4)), build::index_constant(2 * extent_)});
        const Expr is_zero = build::prim(Prim::Eq, {quarters, build::index_constant(first_zero)});
        return build::cast_to(dtype_,
                              build::select(is_zero, build::constant(DType::Float64, 0), turned));
      });
    };
    return let_complex(table(Prim::Cos, extent_), table(Prim::Sin, 0), [&](const Complex& roots) {
      roots_ = roots;
      return body();
    });
  }

  Expr run(const Complex& x, std::int64_t length, const std::vector<std::int64_t>& radices,
           std::size_t next, const ComplexBody& body) {
    if (next == radices.size()) return body(x);
    const std::int64_t radix = radices[next];
    return let_complex(
        stage(x, length, radix, true), stage(x, length, radix, false),
        [&](const Complex& y) { return run(y, length * radix, radices, next + 1, body); });
  }

 private:
  // Joins `radix` transforms of length `length` to one.
  Expr stage(const Complex& x, std::int64_t length, std::int64_t radix, bool real) const {
    const std::int64_t joined = length * radix;
    const std::int64_t count = extent_ / joined;
    std::vector<Dim> dims = batch_;
    dims.emplace_back(count);
    dims.emplace_back(joined);
    return build::comprehension(dims, [&](const Indices& out) {
      const Expr& q = out[out.size() - 2];
      const Expr& k = out.back();
      const Expr element =
          length == joined ? k : build::prim(Prim::FloorMod, {k, build::index_constant(length)});
      return build::reduction(ReduceOp::Sum, {Dim(radix)}, [&](const Indices& j) {
        Indices place(out.begin(), out.end() - 2);
        place.push_back(build::add(q, build::mul(j[0], build::index_constant(count))));
        place.push_back(element);
        const Expr turns = build::mul(build::mul(j[0], k), build::index_constant(count));
        const Expr turn = build::prim(Prim::FloorMod, {turns, build::index_constant(extent_)});
        const Expr root_re = build::at(roots_.re, {turn});
        const Expr root_im = build::at(roots_.im, {turn});
        const Expr re = build::at(x.re, place);
        const Expr im = build::at(x.im, place);
        return real ? build::sub(build::mul(re, root_re), build::mul(im, root_im))
                    : build::add(build::mul(re, root_im), build::mul(im, root_re));
      });
    });
  }

  std::vector<Dim> batch_;
  std::int64_t extent_;
  DType dtype_;
  Complex roots_;
};

// --- dft ---

Expr dft_definition(const DefinitionCall& call) {
  const std::vector<Dim>& dims = dims_of(call.args[0]);
  const DType dtype = call.tensor(0).dtype.known();
  const DType wide = accumulator_of(dtype);
  const std::int64_t extent = dims.back().constant();
  const bool inverse = call.attrs->get_bool("inverse");
  if (extent < 2 || product(dims).is_constant(0)) return build::tuple({call.args[0], call.args[1]});
  const std::vector<Dim> batch(dims.begin(), dims.end() - 1);
  // At first each element is a transform of length 1.
  std::vector<Dim> split = dims;
  split.emplace_back(1);
  const auto first = [&](const Expr& part) {
    return build::comprehension(split, [&](const Indices& i) {
      return build::cast_to(wide, build::at(part, Indices(i.begin(), i.end() - 1)));
    });
  };
  // At last there is one transform.
  const auto last = [&](const Expr& part) {
    return build::comprehension(dims, [&](const Indices& i) {
      Indices place(i.begin(), i.end() - 1);
      place.push_back(build::index_constant(0));
      place.push_back(i.back());
      const Expr value = build::at(part, place);
      const Expr scaled =
          inverse ? build::mul(value, build::constant(wide, 1 / static_cast<double>(extent)))
                  : value;
      return build::cast_to(dtype, scaled);
    });
  };
  Stages stages(batch, extent, wide);
  return stages.with_roots(inverse, [&] {
    return let_complex(first(call.args[0]), first(call.args[1]), [&](const Complex& x) {
      return stages.run(x, 1, radices_of(extent), 0, [&](const Complex& y) {
        return let_complex(last(y.re), last(y.im), [](const Complex& result) {
          return build::tuple({result.re, result.im});
        });
      });
    });
  });
}

void add_dft() {
  OpDef def;
  def.name = "dft";
  def.level = 3;
  def.doc =
      "The discrete Fourier transform of a complex tensor along its last axis, as real and "
      "imaginary parts.\n"
      "With `inverse`, its inverse, which divides by the extent. The cost of an element is the sum "
      "of the prime factors of the extent; float16 and bfloat16 are computed in float32.";
  def.example =
      "dft([1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 0.0]).0\n// expect: [10.0, -2.0, -2.0, -2.0]";
  def.inputs = {{"re_data", "the real parts"}, {"im_data", "the imaginary parts"}};
  def.attrs = {optional_attr("inverse", AttrKind::Bool, false, "back again")};
  lang::set_attrs_struct(def.name, "DFTAttrs", {"inverse"});
  def.type_rule = [](TypeCall& call) {
    call.solver.unify(call.tensor(0), call.tensor(1));
    const Type data = call.tensor(0);
    call.solver.require(as_tensor(data).dtype, PrimOperands::kFloat);
    call.returns(lang::tuple_type({data, data}));
    if (!as_tensor(data).shape.has_rank()) return RuleOutcome::Stuck;
    if (as_tensor(data).shape.rank() == 0)
      call.fail(DiagnosticKind::RankMismatch, "a scalar has no axis to transform");
    return RuleOutcome::Solved;
  };
  def.definition = dft_definition;
  // The transposed of the transform is, but for a factor, its inverse.
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const bool inverse = call.attrs->get_bool("inverse");
    const Expr back = op("dft", {build::project(call.dout, 0), build::project(call.dout, 1)},
                         {{"inverse", !inverse}});
    std::vector<bool> transformed(dims_of(call.args[0]).size(), false);
    transformed.back() = true;
    const Expr count = count_of(call.args[0], transformed);
    const auto part = [&](std::uint32_t k) {
      const Expr adjoint = build::project(back, k);
      return inverse ? adjoint / count : adjoint * count;
    };
    return {part(0), part(1)};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- stft ---

struct Frames {
  std::int64_t length;
  std::int64_t hop;
};
Frames frames_of(const AttrsRef& attrs) {
  const std::int64_t length = attrs->get_int("n_fft");
  const std::int64_t hop = attrs->get_int("hop_length");
  return {length, hop < 0 ? std::max<std::int64_t>(1, length / 4) : hop};
}

RuleOutcome stft_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const Shape& shape = as_tensor(data).shape;
  const Frames frames = frames_of(call.attrs);
  if (frames.length < 1) call.fail(DiagnosticKind::BadAttribute, "`n_fft` must be positive");
  if (frames.hop < 1) call.fail(DiagnosticKind::BadAttribute, "`hop_length` must be positive");
  const std::int64_t window = call.attrs->get_int("win_length");
  if (window >= 0 && window != frames.length) {
    call.fail(DiagnosticKind::Unsupported, "not supported: a `win_length` of " +
                                               std::to_string(window) + " for an `n_fft` of " +
                                               std::to_string(frames.length));
  }
  call.solver.require(as_tensor(data).dtype, PrimOperands::kFloat);
  call.solver.require(call.tensor_node(1).dtype, PrimOperands::kNumeric);
  const Shape window_shape = with_rank(call, call.tensor_node(1).shape, 1);
  if (window_shape[0].is_constant() && !window_shape[0].is_constant(frames.length)) {
    call.fail(DiagnosticKind::ShapeMismatch, "a window of " + window_shape[0].to_string() +
                                                 " elements for frames of " +
                                                 std::to_string(frames.length));
  }
  call.solver.unify(window_shape[0], Dim(frames.length));
  const Shape known = result_shape(call, as_tensor(data).dtype);
  if (!is_settled(shape)) return RuleOutcome::Stuck;
  if (shape.rank() != 1 && shape.rank() != 2) {
    call.fail(DiagnosticKind::RankMismatch,
              "`stft` of `" + to_string(shape) + "`: the signal has one axis, or a batch and one");
  }
  const Dim& extent = shape[shape.rank() - 1];
  if (extent.is_constant() && extent.constant() < frames.length) {
    call.fail(DiagnosticKind::ShapeMismatch, "a frame of " + std::to_string(frames.length) +
                                                 " elements does not fit a signal of " +
                                                 extent.to_string());
  }
  std::vector<Dim> dims(shape.dims().begin(), shape.dims().end() - 1);
  dims.emplace_back(call.attrs->get_bool("onesided") ? frames.length / 2 + 1 : frames.length);
  dims.push_back(Dim::floor_div(extent - Dim(frames.length), Dim(frames.hop)) + Dim(1));
  dims.emplace_back(2);
  call.solver.unify(known, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

Expr stft_definition(const DefinitionCall& call) {
  const auto& result = *lang::as<TensorType>(call.result);
  const std::vector<Dim>& dims = result.shape.dims();
  const DType dtype = result.dtype.known();
  const DType wide = accumulator_of(dtype);
  const Frames frames = frames_of(call.attrs);
  const double scale =
      call.attrs->get_bool("normalized") ? 1 / std::sqrt(static_cast<double>(frames.length)) : 1;
  std::vector<Dim> frame_dims(dims.begin(), dims.end() - 3);
  frame_dims.push_back(dims[dims.size() - 2]);
  frame_dims.emplace_back(frames.length);
  const Expr cut = build::comprehension(frame_dims, [&](const Indices& i) {
    Indices place(i.begin(), i.end() - 2);
    place.push_back(
        build::add(build::mul(i[i.size() - 2], build::index_constant(frames.hop)), i.back()));
    const Expr weight = build::cast_to(wide, build::at(call.args[1], {i.back()}));
    return build::mul(build::cast_to(wide, build::at(call.args[0], place)), weight);
  });
  const Expr zeros =
      build::comprehension(frame_dims, [&](const Indices&) { return build::constant(wide, 0); });
  return let_complex(cut, zeros, [&](const Complex& x) {
    return build::let("spectrum", op("dft", {x.re, x.im}), [&](const Expr& spectrum) {
      return let_complex(
          build::project(spectrum, 0), build::project(spectrum, 1), [&](const Complex& y) {
            return build::comprehension(dims, [&](const Indices& out) {
              Indices place(out.begin(), out.end() - 3);
              place.push_back(out[out.size() - 2]);
              place.push_back(out[out.size() - 3]);
              const Expr is_real = build::prim(Prim::Eq, {out.back(), build::index_constant(0)});
              const Expr part =
                  build::select(is_real, build::at(y.re, place), build::at(y.im, place));
              return build::cast_to(dtype, build::mul(part, build::constant(wide, scale)));
            });
          });
    });
  });
}

void add_stft() {
  OpDef def;
  def.name = "stft";
  def.level = 3;
  def.doc =
      "The Fourier transforms of short frames of a signal, each weighted by a window.\n"
      "Frames of `n_fft` elements begin every `hop_length` elements; one that does not fit is left "
      "out, and nothing is padded. The result is ([batch,] frequencies, frames, 2), the last axis "
      "being real and imaginary part; with `onesided` the frequencies up to the half.";
  def.example =
      "stft([1.0, 2.0, 3.0, 4.0], [1.0, 1.0], n_fft=2, hop_length=2)\n"
      "// expect: [[[3.0, 0.0], [7.0, 0.0]], [[-1.0, 0.0], [-1.0, 0.0]]]";
  def.inputs = {{"data", "signals: (n) or (batch, n)"},
                {"window", "a weight for each element of a frame"}};
  def.attrs = {
      optional_attr("n_fft", AttrKind::Int, -1, "elements of a frame"),
      optional_attr("hop_length", AttrKind::Int, -1,
                    "from one frame to the next; -1: a quarter of a frame"),
      optional_attr("win_length", AttrKind::Int, -1, "elements of the window: `n_fft`, or -1"),
      optional_attr("normalized", AttrKind::Bool, false, "divide by the root of `n_fft`"),
      optional_attr("onesided", AttrKind::Bool, true, "only what a real signal does not repeat")};
  def.type_rule = stft_rule;
  def.definition = stft_definition;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_fourier_operators() {
  add_dft();
  add_stft();
}

}  // namespace relay::stdlib
