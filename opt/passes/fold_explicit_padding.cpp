#include <array>
#include <cmath>
#include <limits>

#include "lang/build.h"
#include "opt/spatial.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
namespace build = lang::build;

namespace {

// What stands around the data where an operator pads it by itself.
enum class Around : std::uint8_t {
  Zero,
  ZeroPoint,  // the third argument
  Lowest,     // of the dtype: a maximum passes it over
  Nothing,    // a mean of the elements inside, unless `count_include_pad`: zeros
};

struct PaddedOperator {
  lang::NamedOp op;
  const char* layout;  // its attribute
  Around around;
};
const std::array<PaddedOperator, 10> kPaddedOperators = {
    {{lang::NamedOp("nn.conv1d"), "data_layout", Around::Zero},
     {lang::NamedOp("nn.conv2d"), "data_layout", Around::Zero},
     {lang::NamedOp("nn.conv3d"), "data_layout", Around::Zero},
     {lang::NamedOp("qnn.conv2d"), "data_layout", Around::ZeroPoint},
     {lang::NamedOp("nn.max_pool1d"), "layout", Around::Lowest},
     {lang::NamedOp("nn.max_pool2d"), "layout", Around::Lowest},
     {lang::NamedOp("nn.max_pool3d"), "layout", Around::Lowest},
     {lang::NamedOp("nn.avg_pool1d"), "layout", Around::Nothing},
     {lang::NamedOp("nn.avg_pool2d"), "layout", Around::Nothing},
     {lang::NamedOp("nn.avg_pool3d"), "layout", Around::Nothing}}};

// Relay writes the lowest number of float32 with six digits, and reads it back so.
bool is_lowest(double value, lang::DType dtype) {
  if (dtype == lang::DType::Float32) return value <= -3.40282e38;
  if (lang::is_float(dtype)) return value == -std::numeric_limits<double>::infinity();
  const int bits = static_cast<int>(lang::size_of(dtype)) * 8;
  return value == (lang::is_signed_int(dtype) ? -std::ldexp(1.0, bits - 1) : 0.0);
}

bool stands_around(const PaddedOperator& op, const lang::Call& call, const lang::Call& pad,
                   const Definitions& definitions) {
  const auto value = definitions.number(pad.args[1]);
  if (!value) return false;
  switch (op.around) {
    case Around::Zero:
    case Around::Nothing:
      return *value == 0;
    case Around::ZeroPoint:
      return definitions.number(call.args[2]) == value;
    case Around::Lowest:
      return is_lowest(*value, dtype_of(pad.args[0]));
  }
  return false;
}

// May a pool pad its data by this much itself? Each window of a maximum must have an element
// inside, and a mean must count what it pads.
bool may_pool(const PaddedOperator& op, const lang::Attrs& attrs, const Ends& before,
              const Ends& after) {
  if (op.around != Around::Lowest && op.around != Around::Nothing) return true;
  const std::size_t count = after.front.size();
  if (attrs.get_bool("ceil_mode")) return false;
  if (op.around == Around::Nothing)
    return attrs.get_bool("count_include_pad") ||
           (is_all(before.front, 0) && is_all(before.back, 0));
  const auto size = for_each_axis(attrs, "pool_size", count);
  if (!is_all(for_each_axis(attrs, "dilation", count), 1)) return false;
  for (std::size_t i = 0; i < count; ++i) {
    if (after.front[i] >= size[i] || after.back[i] >= size[i]) return false;
  }
  return true;
}

Expr with_padding(const PaddedOperator& op, const lang::Call& call, const lang::Call& pad,
                  const Definitions& definitions) {
  const auto axes = spatial_axes(call.attrs->get_string(op.layout));
  if (!axes || pad.attrs->get_string("pad_mode") != "constant" ||
      !stands_around(op, call, pad, definitions))
    return nullptr;
  const Ends widths = ends_of_pairs(*pad.attrs->find("pad_width"));
  for (const std::size_t axis : axes->others) {
    if (widths.front[axis] != 0 || widths.back[axis] != 0) return nullptr;
  }
  const Ends before = padding_ends(*call.attrs, axes->spatial.size());
  Ends after = before;
  for (std::size_t i = 0; i < axes->spatial.size(); ++i) {
    const std::int64_t front = widths.front[axes->spatial[i]];
    const std::int64_t back = widths.back[axes->spatial[i]];
    if (front < 0 || back < 0) return nullptr;
    after.front[i] += front;
    after.back[i] += back;
  }
  if (!may_pool(op, *call.attrs, before, after)) return nullptr;
  std::vector<Expr> args = call.args;
  args[0] = pad.args[0];
  std::vector<lang::Attr> changed = {{"padding", attr_of_ends(after)}};
  if (op.around == Around::Nothing) changed.push_back({"count_include_pad", true});
  return build::op(op.op.name(), std::move(args), with_attrs(call.attrs, std::move(changed)));
}

Expr fold_padding(const Expr& step, const Definitions& definitions) {
  for (const PaddedOperator& op : kPaddedOperators) {
    const auto* call = call_of(step, op.op);
    const auto* pad = call ? definitions.call_of(call->args[0], known::pad) : nullptr;
    if (pad) return with_padding(op, *call, *pad, definitions);
  }
  return nullptr;
}

}  // namespace

Pass fold_explicit_padding_pass() {
  Pass pass;
  pass.name = "FoldExplicitPadding";
  pass.doc = "lets convolutions and pools pad by themselves what `nn.pad` pads before them";
  pass.keeps = Keeps::Rounding;
  pass.level = 0;
  pass.example =
      R"(def f(x: Tensor[(1, 3, 8, 8), float32], w: Tensor[(4, 3, 3, 3), float32]) {
  nn.conv2d(nn.pad(x, 0.0, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]), w)
})";
  pass.run = replacing(fold_padding);
  return pass;
}

}  // namespace relay::opt
