#include "loops/recognise_window.h"

#include <algorithm>

namespace relay::loops {

std::int64_t stride_of(const IndexExpr& address, std::size_t loop, const IndexSpace& space) {
  for (const IndexTerm& term : address.terms) {
    const IndexSpace::Atom& atom = space.atom(term.atom);
    if (atom.kind == IndexSpace::Atom::Kind::Axis && static_cast<std::size_t>(atom.id) == loop)
      return term.coefficient;
  }
  return 0;
}

namespace {

constexpr int kNone = -1;
constexpr std::size_t kMostAxes = 3;

// What a loop is to the result, the operand that is slid over, and the kernel.
enum class Role : std::uint8_t {
  One,     // of extent 1
  Place,   // result and operand: a place, or the batch
  Output,  // result and kernel
  Folded,  // operand and kernel: a tap, or the channels
  Group,   // all three
};

// An axis of the operand, by the loops that walk it.
struct Walk {
  int place = kNone, folded = kNone, group = kNone;
  std::int64_t place_step = 0, folded_step = 0, group_step = 0;
  std::int64_t constant = 0;
  const ViewAxis* axis = nullptr;

  // Each element once, from the first on: a batch or channels, no window.
  bool is_plain() const {
    return !axis->is_masked && axis->divisor == 1 && constant >= 0 &&
           (place == kNone || place_step > 0) && (folded == kNone || folded_step > 0);
  }
};

class Matcher {
 public:
  Matcher(const WindowNest& nest, const OperandView& slid, const IndexExpr& kernel,
          bool is_spread = false)
      : nest_(nest), slid_(slid), kernel_(kernel), is_spread_(is_spread) {}

  // Strides are those of the roles: `in` and `out` are exchanged, or moved on, by `run`.
  std::optional<Window> run() {
    if (!assign_roles() || !read_walks() || !choose_lead()) return std::nullopt;
    if (spatial_.empty() || spatial_.size() > kMostAxes) return std::nullopt;
    const bool is_adjoint = std::any_of(spatial_.begin(), spatial_.end(), [](const Walk& walk) {
      return walk.axis->divisor != 1 || walk.folded_step < 0 || walk.place_step < 0;
    });
    if (!is_adjoint) return forward_or_kernel_adjoint();
    if (is_spread_) return std::nullopt;
    const bool slides_back = std::any_of(spatial_.begin(), spatial_.end(),
                                         [](const Walk& walk) { return walk.place_step < 0; });
    return slides_back ? spread_kernel_adjoint() : input_adjoint();
  }

  std::int64_t slid_offset() const { return offset_; }
  // Is the operand that is slid over the right one?
  bool is_slid_second() const { return is_slid_second_; }

 private:
  std::int64_t extent(int loop) const {
    return loop == kNone ? 1 : nest_.loops[static_cast<std::size_t>(loop)].extent;
  }
  std::int64_t in_result(int loop) const {
    return loop == kNone ? 0 : nest_.loops[static_cast<std::size_t>(loop)].stride;
  }
  std::int64_t in_kernel(int loop) const {
    return loop == kNone ? 0 : stride_of(kernel_, static_cast<std::size_t>(loop), nest_.space);
  }

  bool assign_roles() {
    for (std::size_t i = 0; i < nest_.loops.size(); ++i) {
      const WindowLoop& loop = nest_.loops[i];
      const bool in_kernel = stride_of(kernel_, i, nest_.space) != 0;
      const bool in_slid = std::any_of(
          slid_.axes.begin(), slid_.axes.end(),
          [&](const ViewAxis& axis) { return stride_of(axis.index, i, nest_.space) != 0; });
      Role role = Role::One;
      if (loop.extent != 1) {
        if (!in_kernel && !in_slid) return false;
        if (!loop.is_output && !(in_kernel && in_slid)) return false;
        role = !loop.is_output ? Role::Folded
               : !in_kernel    ? Role::Place
               : in_slid       ? Role::Group
                               : Role::Output;
      }
      roles_.push_back(role);
      int* const only = role == Role::Output ? &output_ : role == Role::Group ? &group_ : nullptr;
      if (only && *only != kNone) return false;
      if (only) *only = static_cast<int>(i);
    }
    return true;
  }

  bool read_walks() {
    std::vector<int> uses(roles_.size(), 0);
    for (const ViewAxis& axis : slid_.axes) {
      if (!is_affine(axis.index, nest_.space)) return false;
      Walk walk;
      walk.axis = &axis;
      walk.constant = axis.index.constant;
      for (const IndexTerm& term : axis.index.terms) {
        const auto loop = nest_.space.atom(term.atom).id;
        const Role role = roles_[static_cast<std::size_t>(loop)];
        // A loop that walks two axes is a diagonal.
        if (++uses[static_cast<std::size_t>(loop)] > 1) return false;
        int& which = role == Role::Place    ? walk.place
                     : role == Role::Folded ? walk.folded
                                            : walk.group;
        if (which != kNone) return false;
        which = loop;
        (role == Role::Place    ? walk.place_step
         : role == Role::Folded ? walk.folded_step
                                : walk.group_step) = term.coefficient;
      }
      walks_.push_back(walk);
    }
    return true;
  }

  // Finds batch and channels; the rest is spatial.
  bool choose_lead() {
    offset_ = slid_.offset;
    const auto lead = [&](Walk& walk) {
      offset_ += walk.constant * walk.axis->stride;
      if (walk.folded != kNone) {
        channel_ = walk.folded;
        channel_stride_ = walk.folded_step * walk.axis->stride;
      }
      if (walk.group != kNone) group_stride_ = walk.group_step * walk.axis->stride;
      if (walk.place != kNone) {
        batch_ = walk.place;
        batch_stride_ = walk.place_step * walk.axis->stride;
      }
      walk.axis = nullptr;
    };
    for (Walk& walk : walks_) {
      if (walk.group == kNone) continue;
      const bool is_crowded = walk.place != kNone && walk.folded != kNone;
      if (is_crowded || !walk.is_plain() || walk.group_step < 0) return false;
      lead(walk);
    }
    for (Walk& walk : walks_) {
      if (!walk.axis || channel_ != kNone || walk.folded == kNone || walk.place != kNone) continue;
      if (walk.is_plain()) lead(walk);
    }
    for (Walk& walk : walks_) {
      if (!walk.axis || batch_ != kNone || walk.place == kNone || walk.folded != kNone) continue;
      if (walk.is_plain()) lead(walk);
    }
    for (Walk& walk : walks_) {
      if (!walk.axis) continue;
      const bool is_still = walk.place == kNone && walk.folded == kNone;
      if (is_still && walk.is_plain()) {
        lead(walk);
      } else {
        spatial_.push_back(walk);
      }
    }
    return true;
  }

  Window window(Window::Result result) const {
    Window window{};
    window.result = result;
    window.dtype = nest_.dtype;
    window.groups = extent(group_);
    return window;
  }

  // The operand's own part of an axis; negative padding is a later beginning, and what no tap
  // reaches is cut off.
  bool place_input(WindowAxis& axis, const Walk& walk) {
    axis.in = walk.axis->extent;
    axis.in_stride = walk.axis->stride;
    axis.front = -walk.constant;
    // A result is written whole, with zeros where no window reaches.
    if (is_spread_) {
      const std::int64_t reach = (axis.kernel - 1) * axis.dilation + 1;
      axis.back = std::max<std::int64_t>((axis.out - 1) * axis.stride + reach - axis.in, 0);
      return walk.constant == 0 && (axis.in + axis.back - reach) / axis.stride + 1 == axis.out;
    }
    if (axis.front < 0) {
      offset_ -= axis.front * axis.in_stride;
      axis.in += axis.front;
      axis.front = 0;
    }
    const std::int64_t reach =
        (axis.out - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1 - axis.front;
    axis.in = std::min(axis.in, reach);
    axis.back = reach - axis.in;
    return axis.in >= 1;
  }

  std::optional<Window> forward_or_kernel_adjoint() {
    double places = 1;
    double taps = 1;
    for (const Walk& walk : spatial_) {
      if (walk.place_step < 0) return std::nullopt;
      places *= static_cast<double>(extent(walk.place));
      taps *= static_cast<double>(extent(walk.folded));
    }
    // The adjoint of the kernel has the same form, with the places being what is summed over.
    const bool is_forward = taps <= places;
    Window result = window(is_forward ? Window::Result::Out : Window::Result::Kernel);
    for (const Walk& walk : spatial_) {
      const int out = is_forward ? walk.place : walk.folded;
      const int tap = is_forward ? walk.folded : walk.place;
      WindowAxis axis{};
      axis.out = extent(out);
      axis.kernel = extent(tap);
      axis.stride = std::max<std::int64_t>(is_forward ? walk.place_step : walk.folded_step, 1);
      axis.dilation = std::max<std::int64_t>(is_forward ? walk.folded_step : walk.place_step, 1);
      axis.out_stride = is_forward ? in_result(out) : in_kernel(out);
      axis.kernel_stride = is_forward ? in_kernel(tap) : in_result(tap);
      if (!place_input(axis, walk)) return std::nullopt;
      result.axes.push_back(axis);
    }
    result.out_channels = extent(output_);
    if (is_forward) {
      result.batch = extent(batch_);
      result.in_channels = extent(channel_);
      result.in = {batch_stride_, group_stride_, channel_stride_};
      result.out = {in_result(batch_), in_result(group_), in_result(output_)};
      result.kernel = {in_kernel(group_), in_kernel(output_), in_kernel(channel_)};
    } else {
      result.batch = extent(channel_);
      result.in_channels = extent(batch_);
      result.in = {channel_stride_, group_stride_, batch_stride_};
      result.out = {in_kernel(channel_), in_kernel(group_), in_kernel(output_)};
      result.kernel = {in_result(group_), in_result(output_), in_result(batch_)};
    }
    return result;
  }

  // The operand is what a window put out, or its adjoint: element (in + front - tap * dilation) /
  // stride of an axis.
  std::optional<WindowAxis> spread(const Walk& walk, int in, std::int64_t in_step, int tap,
                                   std::int64_t tap_step) const {
    if ((in != kNone && in_step != 1) || tap_step > 0 || walk.constant < 0) return std::nullopt;
    WindowAxis axis{};
    axis.in = extent(in);
    axis.out = walk.axis->extent;
    axis.kernel = extent(tap);
    axis.stride = walk.axis->divisor;
    axis.dilation = std::max<std::int64_t>(-tap_step, 1);
    axis.front = walk.constant;
    const std::int64_t reach = (axis.kernel - 1) * axis.dilation + 1;
    axis.back =
        std::max<std::int64_t>((axis.out - 1) * axis.stride + reach - axis.in - axis.front, 0);
    const std::int64_t room = axis.in + axis.front + axis.back - reach;
    if (room < 0 || room / axis.stride + 1 != axis.out) return std::nullopt;
    axis.out_stride = walk.axis->stride;
    return axis;
  }

  // The adjoint of the kernel where a sum over the input looks for the place.
  std::optional<Window> spread_kernel_adjoint() {
    is_slid_second_ = true;
    Window result = window(Window::Result::Kernel);
    for (const Walk& walk : spatial_) {
      auto axis = spread(walk, walk.folded, walk.folded_step, walk.place, walk.place_step);
      if (!axis) return std::nullopt;
      axis->in_stride = in_kernel(walk.folded);
      axis->kernel_stride = in_result(walk.place);
      result.axes.push_back(*axis);
    }
    result.batch = extent(channel_);
    result.out_channels = extent(batch_);
    result.in_channels = extent(output_);
    result.out = {channel_stride_, group_stride_, batch_stride_};
    result.in = {in_kernel(channel_), in_kernel(group_), in_kernel(output_)};
    result.kernel = {in_result(group_), in_result(batch_), in_result(output_)};
    return result;
  }

  // The adjoint of the input.
  std::optional<Window> input_adjoint() {
    Window result = window(Window::Result::In);
    for (const Walk& walk : spatial_) {
      auto axis = spread(walk, walk.place, walk.place_step, walk.folded, walk.folded_step);
      if (!axis) return std::nullopt;
      axis->in_stride = in_result(walk.place);
      axis->kernel_stride = in_kernel(walk.folded);
      result.axes.push_back(*axis);
    }
    result.batch = extent(batch_);
    result.out_channels = extent(channel_);
    result.in_channels = extent(output_);
    result.out = {batch_stride_, group_stride_, channel_stride_};
    result.in = {in_result(batch_), in_result(group_), in_result(output_)};
    result.kernel = {in_kernel(group_), in_kernel(channel_), in_kernel(output_)};
    return result;
  }

  const WindowNest& nest_;
  const OperandView& slid_;
  const IndexExpr& kernel_;
  std::vector<Role> roles_;
  std::vector<Walk> walks_;
  std::vector<Walk> spatial_;
  int output_ = kNone, group_ = kNone, channel_ = kNone, batch_ = kNone;
  std::int64_t group_stride_ = 0, channel_stride_ = 0, batch_stride_ = 0;
  std::int64_t offset_ = 0;
  bool is_slid_second_ = false;
  bool is_spread_;
};

}  // namespace

std::optional<Recognised> recognise_window(const WindowNest& nest,
                                           std::span<const OperandView> left,
                                           std::span<const OperandView> right) {
  const auto match = [&](const OperandView& slid,
                         std::span<const OperandView> kernels) -> std::optional<Recognised> {
    for (const OperandView& kernel : kernels) {
      const auto address = address_of(kernel);
      if (!address || !is_affine(*address, nest.space)) continue;
      Matcher matcher(nest, slid, *address);
      auto form = matcher.run();
      if (!form) continue;
      Recognised found{std::move(*form), slid.terminal, kernel.terminal, matcher.slid_offset(),
                       address->constant};
      if (matcher.is_slid_second()) {
        std::swap(found.left, found.right);
        std::swap(found.left_offset, found.right_offset);
      }
      return found;
    }
    return std::nullopt;
  };
  for (const OperandView& slid : left) {
    if (auto found = match(slid, right)) return found;
  }
  for (const OperandView& slid : right) {
    if (auto found = match(slid, left)) return found;
  }
  return std::nullopt;
}

std::optional<Recognised> recognise_spread(const WindowNest& nest, const OperandView& target,
                                           const OperandView& out, const OperandView& kernel) {
  const auto from = address_of(out);
  const auto address = address_of(kernel);
  if (!from || !address || !is_affine(*address, nest.space)) return std::nullopt;
  Matcher matcher(nest, target, *address, true);
  auto form = matcher.run();
  if (!form || matcher.slid_offset() != 0) return std::nullopt;
  // Of what is spread and what it is multiplied with, the one with more places is `out`.
  const bool is_swapped = form->result == Window::Result::Kernel;
  form->result = Window::Result::In;
  Recognised found{std::move(*form), out.terminal, kernel.terminal, from->constant,
                   address->constant};
  if (is_swapped) {
    std::swap(found.left, found.right);
    std::swap(found.left_offset, found.right_offset);
  }
  return found;
}

}  // namespace relay::loops
