#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stdlib/ops/families.h"

// What convolutions, pools and paddings share: layouts, the geometry of a window that slides over
// the spatial axes, and padding.
namespace relay::stdlib {

// Which axis holds what, by a string such as `NCHW`. `lead` are the two axes that are not spatial
// ("NC" of data, "OI" or "IO" of a kernel); `spatial` the letters of the others, in order ("HW").
// In a blocked layout such as `NCHW4c` a lead axis falls into blocks: `c` counts inside one.
struct AxisLayout {
  struct Lead {
    std::size_t axis = 0;
    std::int64_t block = 0;  // 0: not blocked
    std::size_t inner = 0;   // the axis inside a block, if it is blocked
  };
  std::string letters;
  std::size_t rank = 0;
  std::vector<Lead> lead;
  std::vector<std::size_t> spatial;
};
// `OI` and `NC` stand for each other, as in Relay. Throws BadAttribute for a layout that does not
// have exactly these letters.
AxisLayout layout_of(const TypeCall& call, std::string_view key, std::string_view lead,
                     std::string_view spatial);
// The same once the type rule has accepted it.
AxisLayout known_layout(const std::string& letters, std::string_view lead,
                        std::string_view spatial);
// The letters of one, two or three spatial axes: "W", "HW", "DHW".
std::string_view spatial_letters(std::size_t count);
// The indices of axes in the order of `layout`.
// The index, and the extent, of lead axis `which`, whether it is blocked or not.
Expr lead_index(const AxisLayout& layout, const Indices& indices, std::size_t which);
Dim lead_extent(const AxisLayout& layout, const std::vector<Dim>& dims, std::size_t which);
Indices in_layout(const AxisLayout& layout, const Expr& first, const Expr& second,
                  const Indices& spatial);
std::vector<Dim> dims_in_layout(const AxisLayout& layout, const Dim& first, const Dim& second,
                                const std::vector<Dim>& spatial);

// A list attribute with one value for each of `count` axes; a single value stands for all.
std::vector<std::int64_t> per_axis(const AttrsRef& attrs, std::string_view key, std::size_t count);
// Relay's padding: one value for all, one for each axis (both its ends), or all fronts followed by
// all backs. First: fronts; second: backs.
struct Padding {
  std::vector<std::int64_t> front;
  std::vector<std::int64_t> back;
  bool is_zero() const;
};
Padding padding_of(const AttrsRef& attrs, std::size_t count);
// Checks lengths and signs of the window attributes that are there. Throws BadAttribute.
void check_window(const TypeCall& call, std::size_t count);

// How many places a window of `kernel` elements, `dilation` apart, has on an axis: never negative.
// Throws ShapeMismatch where it is certain that there is none.
Dim window_places(const TypeCall& call, const Dim& extent, const Dim& kernel, std::int64_t front,
                  std::int64_t back, std::int64_t stride, std::int64_t dilation,
                  bool ceil_mode = false);

// `data` with `value` around its spatial axes, by `nn.pad`. Itself where nothing is to be added.
Expr padded_around(const Expr& data, const AxisLayout& layout, const Padding& padding,
                   const Expr& value);
// index * stride + tap * dilation, without the arithmetic that does nothing.
Expr window_index(const Expr& index, std::int64_t stride, const Expr& tap, std::int64_t dilation);
// The other way: the element of `places` (batch, channel and one place for each spatial axis, as
// `layout` says) whose window has its tap `taps` at `position`; 0 where there is no such place.
struct WindowSteps {
  std::vector<std::int64_t> stride;
  std::vector<std::int64_t> dilation;
  std::vector<std::int64_t> front;  // padding
};
Expr read_place(const Expr& places, const AxisLayout& layout, const Expr& batch,
                const Expr& channel, const Indices& position, const Indices& taps,
                const WindowSteps& steps);
// Folds body over 0 <= i < extents, int64 scalars; for gradients, whose extents may be `?`.
Expr reduce_over(ReduceOp op, const std::vector<Expr>& extents,
                 const std::function<Expr(const Indices&)>& body);
// The extent of lead axis `which` as an int64 scalar; its dims may be `?`.
Expr lead_extent_expr(const AxisLayout& layout, const Expr& tensor, std::size_t which);
// The extent as an int64 scalar.
Expr extent_expr(const Dim& dim);

}  // namespace relay::stdlib
