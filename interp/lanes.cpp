#include "interp/lanes.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "interp/lanes_plan.h"
#include "loops/reduction_tree.h"

namespace relay::interp {

using loops::KernelError;
using loops::kReductionBlock;
using loops::kReductionLanes;
using loops::ValueId;

namespace lanes {
namespace {

// Memory of one run. Kept by the thread: kernels are launched one after the other.
class Arena {
 public:
  std::byte* reserve(std::size_t bytes) {
    if (bytes > size_) {
      release();
      size_ = std::max<std::size_t>(bytes, 64 * 1024);
      data_ = static_cast<std::byte*>(::operator new (size_, std::align_val_t{64}));
    }
    return data_;
  }
  ~Arena() { release(); }

 private:
  void release() {
    if (data_) ::operator delete (data_, std::align_val_t{64});
    data_ = nullptr;
  }
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

class Runner {
 public:
  Runner(const Plan& plan, void* const* buffers, KernelError* error)
      : plan_(plan), buffers_(buffers), error_(error) {
    thread_local Arena arena;
    const std::size_t values = plan.varying.size();
    const std::size_t axes = static_cast<std::size_t>(plan.axis_count);
    const std::size_t tables = plan.tables.size();
    const std::size_t words = values + axes + 2 * tables + plan.nests.size();
    const auto storage = static_cast<std::size_t>(plan.arena_bytes);
    arena_ = arena.reserve(storage + 8 * words);
    data_ = reinterpret_cast<std::byte**>(arena_ + storage);
    axis_ = reinterpret_cast<std::int64_t*>(data_ + values);
    table_first_ = axis_ + axes;
    table_count_ = table_first_ + tables;
    element_ = table_count_ + tables;
    std::fill_n(table_first_, 2 * tables, 0);  // and the counts
    std::fill_n(axis_, axes, 0);
    for (const auto& constant : plan.constants) {
      data_[constant.value] = arena_ + constant.storage;
      std::memcpy(data_[constant.value], &constant.bits, 8);
    }
    for (const auto& input : plan.scalar_inputs)
      data_[input.value] = static_cast<std::byte*>(buffers[input.buffer]);
    for (const auto& index : plan.loop_indices)
      data_[index.value] = reinterpret_cast<std::byte*>(axis_ + index.axis);
  }

  bool run(std::int64_t begin, std::int64_t end) {
    const Nest& body = plan_.nests[0];
    if (body.axes.empty()) {
      begin = 0;
      end = 1;
    } else {
      for (std::size_t i = 1; i < body.extents.size(); ++i) {
        if (body.extents[i] <= 0) return true;
      }
    }
    if (begin >= end) return true;
    begin_ = begin;
    if (steps(body.levels[0])) return walk(body, 0, begin, end) || replay();
    stop_before(body, 0);
    return replay();
  }

 private:
  // --- Loops ---

  // Axes depth.. of a nest; `begin` and `end` are those of its axis 0.
  bool walk(const Nest& nest, std::size_t depth, std::int64_t begin, std::int64_t end) {
    if (depth == nest.first_lane) {
      if (!nest.owns_lanes) return chunk(nest, first_, count_);
      const bool is_split = depth == 0 && !nest.axes.empty();
      const std::int64_t inner = is_split ? nest.lane_points / nest.extents[0] : 0;
      return is_split ? chunks(nest, begin * inner, end * inner)
                      : chunks(nest, 0, nest.lane_points);
    }
    const std::int64_t first = depth == 0 ? begin : 0;
    const std::int64_t last = depth == 0 ? end : nest.extents[depth];
    std::int64_t& index = axis_[nest.axes[depth]];
    const auto& level = nest.levels[depth + 1];
    const bool has_lanes_next = nest.owns_lanes || depth + 1 < nest.first_lane;
    for (index = first; index < last; ++index) {
      if (must_stop()) return false;
      // Without lanes the innermost level is run with the point.
      if (has_lanes_next && !is_replay_ && !steps(level)) {
        if (is_body(nest)) stop_before(nest, depth + 1);
        return false;
      }
      if (!walk(nest, depth + 1, begin, end)) return false;
    }
    return true;
  }

  bool chunks(const Nest& nest, std::int64_t begin, std::int64_t end) {
    const std::int64_t outer_count = count_;
    const std::int64_t outer_first = first_;
    const std::int64_t size = is_replay_ ? 1 : nest.chunk;
    bool good = true;
    for (std::int64_t first = begin; good && first < end; first += size) {
      good = !must_stop() && chunk(nest, first, std::min(size, end - first));
    }
    count_ = outer_count;
    first_ = outer_first;
    return good;
  }

  bool must_stop() {
    if (!error_ || error_->stop->load(std::memory_order_relaxed) == lang::Stop::None) return false;
    is_stopped_ = true;
    fail(loops::kStoppedSite, 0, 0);
    return true;
  }

  bool chunk(const Nest& nest, std::int64_t first, std::int64_t count) {
    first_ = first;
    count_ = count;
    const bool has_own_level = nest.owns_lanes || nest.first_lane > 0;
    const bool good =
        is_replay_ ? steps_in_order(nest) : !has_own_level || steps(nest.levels.back());
    if (!good) {
      if (is_body(nest)) {
        failed_first_ = first;
        failed_count_ = count;
      }
      return false;
    }
    return point(nest);
  }

  // --- Errors ---
  // Steps run ahead of their place: for many lanes, and before loops that they do not depend on. So
  // when one fails, the points in question are gone through again, one at a time and in the
  // kernel's order, to find the error that comes first.

  bool is_body(const Nest& nest) const { return &nest == plan_.nests.data(); }

  // Something failed before the loops from `depth` on: their first point is the one to look at.
  void stop_before(const Nest& nest, std::size_t depth) {
    for (std::size_t i = depth; i < nest.first_lane; ++i) axis_[nest.axes[i]] = i == 0 ? begin_ : 0;
    const bool is_split = nest.owns_lanes && nest.first_lane == 0 && !nest.axes.empty();
    failed_first_ = is_split ? begin_ * (nest.lane_points / nest.extents[0]) : 0;
    failed_count_ = 1;
  }

  bool replay() {
    if (is_stopped_) return false;
    is_replay_ = true;
    for (std::int64_t i = 0; i < failed_count_; ++i) {
      first_ = failed_first_ + i;
      count_ = 1;
      if (!steps_in_order(plan_.nests[0])) break;
    }
    return false;
  }

  bool steps_in_order(const Nest& nest) {
    for (const Nest::Position& at : nest.in_order) {
      if (!run_step(nest.levels[at.level][at.step])) return false;
    }
    return true;
  }

  // The value of a nest at the current indices is known: use it.
  bool point(const Nest& nest) {
    if (is_body(nest)) {
      for (const Store& each : plan_.stores) store(each);
    } else {
      fold(nest);
    }
    return true;
  }

  // --- Steps ---

  bool steps(const std::vector<Step>& list) {
    for (const Step& step : list) {
      if (!run_step(step)) return false;
    }
    return true;
  }

  bool run_step(const Step& step) {
    switch (step.action) {
      case Action::Primitive: {
        std::byte*& out = data_[step.out];
        out = step.to_output ? output_at() : arena_ + step.storage;
        const bool good = step.function(out, data_[step.args[0]], data_[step.args[1]],
                                        data_[step.args[2]], step.varying ? count_ : 1);
        if (!good) fail(loops::kDivisionByZeroSite, 0, 0);
        return good;
      }
      case Action::Load:
        if (step.masks.is_empty()) {
          load(step);
        } else {
          masked_load(step);
        }
        return true;
      case Action::Range: {
        std::byte* const out = data_[step.out] = arena_ + step.storage;
        lane_in_range(reinterpret_cast<std::uint8_t*>(out),
                      reinterpret_cast<const std::int64_t*>(data_[step.args[0]]), step.extent,
                      step.varying ? count_ : 1);
        return true;
      }
      case Action::Axis:
        data_[step.out] = reinterpret_cast<std::byte*>(table(step.table));
        return true;
      case Action::Check:
        return check(step);
      case Action::Reduce:
        return reduce(step);
    }
    return true;
  }

  void fail(std::int32_t site, std::int64_t index, std::int64_t extent) {
    if (error_) *error_ = {site, index, extent};
  }

  bool check(const Step& step) {
    const auto* index = reinterpret_cast<const std::int64_t*>(data_[step.args[0]]);
    const std::int64_t count = plan_.varying[step.args[0]] ? count_ : 1;
    data_[step.out] = data_[step.args[0]];
    if (lanes_in_range(index, step.extent, count)) return true;
    if (!step.masks.is_empty() && !fails_where_it_counts(step, index, count)) return true;
    fail(step.site, index[0], step.extent);
    return false;
  }

  bool fails_where_it_counts(const Step& step, const std::int64_t* index, std::int64_t count) {
    const auto [where, mask] = counted(step.masks);
    if (where != Where::Somewhere) return where == Where::Everywhere;
    for (std::int64_t i = 0; i < count_; ++i) {
      if (mask[i] != 0 && !lanes_in_range(index + (count == 1 ? 0 : i), step.extent, 1))
        return true;
    }
    return false;
  }

  // --- Masks ---

  enum class Where : std::uint8_t { Nowhere, Somewhere, Everywhere };

  // In which lanes all masks are true; by lane for Somewhere.
  std::pair<Where, const std::uint8_t*> counted(const Masks& masks) {
    for (const ValueId each : masks.uniform) {
      if (*data_[each] == std::byte{0}) return {Where::Nowhere, nullptr};
    }
    if (masks.varying.empty()) return {Where::Everywhere, nullptr};
    const auto bytes = static_cast<std::size_t>(count_);
    const auto* mask = reinterpret_cast<const std::uint8_t*>(data_[masks.varying[0]]);
    if (masks.varying.size() > 1) {
      auto* all = reinterpret_cast<std::uint8_t*>(arena_ + masks.scratch);
      std::memcpy(all, mask, bytes);
      for (std::size_t i = 1; i < masks.varying.size(); ++i)
        lane_and(all, reinterpret_cast<const std::uint8_t*>(data_[masks.varying[i]]), count_);
      mask = all;
    }
    return {std::memchr(mask, 0, bytes) ? Where::Somewhere : Where::Everywhere, mask};
  }

  void masked_load(const Step& step) {
    const Place& place = step.place;
    const std::int64_t size = step.element_size;
    const std::int64_t count = step.varying ? count_ : 1;
    std::byte* const out = arena_ + step.storage;
    const auto [where, mask] = counted(step.masks);
    const bool is_one = place.mode == Place::Mode::Uniform;
    if (where == Where::Everywhere && !(is_one && step.varying)) {
      load(step);
      return;
    }
    data_[step.out] = out;
    if (where == Where::Nowhere) {
      std::memset(out, 0, static_cast<std::size_t>(count * size));
      return;
    }
    const bool is_linear = place.mode == Place::Mode::Linear;
    const std::int64_t stride = is_linear ? place.lane_stride : 0;
    const std::byte* const from =
        static_cast<std::byte*>(buffers_[step.buffer]) + (base_of(place) + first_ * stride) * size;
    if (where == Where::Everywhere) {
      step.copy(out, 1, from, 0, count);
    } else {
      step.masked(out, from, is_one || is_linear ? nullptr : offsets(place), stride, mask, count);
    }
  }

  // --- Addresses ---

  // Elements from the buffer's start to lane 0, as far as loops and uniform indices say.
  std::int64_t base_of(const Place& place) const {
    std::int64_t offset = place.offset;
    for (const AxisTerm& term : place.outer) offset += axis_[term.axis] * term.stride;
    for (const ValueTerm& term : place.uniform_terms) {
      offset += *reinterpret_cast<const std::int64_t*>(data_[term.value]) * term.stride;
    }
    return offset;
  }

  // Offsets of the current lanes; computed anew only when the lanes have moved on.
  std::int64_t* table(std::int32_t number) {
    const OffsetTable& table = plan_.tables[static_cast<std::size_t>(number)];
    auto* out = reinterpret_cast<std::int64_t*>(arena_ + table.storage);
    if (table_first_[number] == first_ && table_count_[number] >= count_) return out;
    table_first_[number] = first_;
    table_count_[number] = count_;
    const Nest& nest = plan_.nests[table.nest];
    const std::size_t rank = table.strides.size();
    const std::int64_t* extents = nest.extents.data() + nest.first_lane;
    const std::int64_t row = extents[rank - 1];
    const std::int64_t step = table.strides[rank - 1];
    std::int64_t at = first_ % row;
    for (std::int64_t done = 0; done < count_;) {
      std::int64_t base = 0;
      std::int64_t rest = (first_ + done) / row;
      for (std::size_t i = rank - 1; i-- > 0;) {
        base += rest % extents[i] * table.strides[i];
        rest /= extents[i];
      }
      const std::int64_t length = std::min(row - at, count_ - done);
      lane_iota(out + done, base + at * step, step, length);
      done += length;
      at = 0;
    }
    return out;
  }

  // Offsets of lanes relative to base_of().
  const std::int64_t* offsets(const Place& place) {
    if (place.lane_terms.empty()) return table(place.table);
    auto* out = reinterpret_cast<std::int64_t*>(arena_ + place.scratch);
    if (place.table >= 0) {
      std::copy_n(table(place.table), count_, out);
    } else {
      std::fill_n(out, count_, 0);
    }
    for (const ValueTerm& term : place.lane_terms) {
      lane_add_scaled(out, reinterpret_cast<const std::int64_t*>(data_[term.value]), term.stride,
                      count_);
    }
    return out;
  }

  void load(const Step& step) {
    const Place& place = step.place;
    const std::int64_t size = step.element_size;
    std::byte* from = static_cast<std::byte*>(buffers_[step.buffer]) + base_of(place) * size;
    std::byte*& out = data_[step.out];
    switch (place.mode) {
      case Place::Mode::Uniform:
        out = from;
        return;
      case Place::Mode::Linear:
        from += first_ * place.lane_stride * size;
        if (place.lane_stride == 1) {
          out = from;
          return;
        }
        out = arena_ + step.storage;
        step.copy(out, 1, from, place.lane_stride, count_);
        return;
      case Place::Mode::Offsets:
        out = arena_ + step.storage;
        step.gather(out, from, offsets(place), count_);
        return;
    }
  }

  std::byte* output_at() const {
    const Store& store = plan_.stores[0];
    auto* out = static_cast<std::byte*>(buffers_[store.output]);
    return out + (base_of(store.destination) + first_) * store.element_size;
  }

  void store(const Store& plan) {
    const Place& place = plan.destination;
    const std::int64_t stride = plan_.varying[plan.value] ? 1 : 0;
    const std::byte* value = data_[plan.value];
    const std::int64_t size = plan.element_size;
    std::byte* out = static_cast<std::byte*>(buffers_[plan.output]) + base_of(place) * size;
    if (plan_.combine) {
      constexpr std::int64_t kHere = 0;
      const bool moves = place.mode != Place::Mode::Uniform;
      if (moves) {
        plan_.combine(out, offsets(place), value, stride, count_);
      } else {
        for (std::int64_t i = 0; i < count_; ++i)
          plan_.combine(out, &kHere, value + i * stride * size, 0, 1);
      }
      return;
    }
    switch (place.mode) {
      case Place::Mode::Uniform:
        plan.copy(out, 1, value, 1, 1);
        return;
      case Place::Mode::Linear:
        out += first_ * place.lane_stride * size;
        if (out != value) plan.copy(out, place.lane_stride, value, stride, count_);
        return;
      case Place::Mode::Offsets:
        plan.scatter(out, offsets(place), value, stride, count_);
        return;
    }
  }

  // --- Reductions ---

  bool reduce(const Step& step) {
    const Nest& nest = plan_.nests[step.nest];
    const FoldPlan& plan = nest.fold;
    const std::int64_t lanes = plan.varying ? count_ : 1;
    start_partials(plan, lanes);
    element_[step.nest] = 0;
    if (plan.count > 0) {
      if (!is_replay_ && !steps(nest.levels[0])) return false;
      if (!walk(nest, 0, 0, nest.extents.empty() ? 1 : nest.extents[0])) return false;
    }
    combine_rows(plan, lanes);
    if (plan.levels > 0) combine_blocks(plan, lanes);
    data_[step.out] = arena_ + (plan.is_arg ? plan.indices : plan.partials);
    return true;
  }

  void start_partials(const FoldPlan& plan, std::int64_t lanes) {
    // Uniform ones lie side by side.
    const std::int64_t rows = plan.varying ? plan.rows : 1;
    const std::int64_t count = plan.varying ? lanes : plan.rows;
    for (std::int64_t row = 0; row < rows; ++row) {
      plan.fill(arena_ + plan.partials + row * plan.row_bytes, 1, &plan.identity, 0, count);
      if (!plan.is_arg) continue;
      auto* indices =
          reinterpret_cast<std::int64_t*>(arena_ + plan.indices + row * plan.index_row_bytes);
      std::fill_n(indices, count, std::numeric_limits<std::int64_t>::max());
    }
  }

  void fold(const Nest& nest) {
    const FoldPlan& plan = nest.fold;
    std::int64_t& t = element_[&nest - plan_.nests.data()];
    const bool is_fused = plan.product_across || plan.multiply_add || plan.dot.across;
    const std::byte* value = is_fused ? nullptr : data_[nest.result];
    if (nest.owns_lanes) {
      t = linear_element(nest);
      if (plan.dot.across) {
        plan.dot.across(arena_ + plan.partials, waiting(plan, 0), data_[plan.factors[0]],
                        stride_of(plan.factors[0]), data_[plan.factors[1]],
                        stride_of(plan.factors[1]), t, count_);
        return;
      }
      if (plan.splat >= 0) {
        plan.fill(arena_ + plan.splat, 1, value, 0, count_);
        value = arena_ + plan.splat;
      }
      if (plan.product_across) {
        plan.product_across(arena_ + plan.partials, waiting(plan, 0), data_[plan.factors[0]],
                            data_[plan.factors[1]], t, count_);
        return;
      }
      if (plan.is_arg) {
        plan.arg.across(arena_ + plan.partials,
                        reinterpret_cast<std::int64_t*>(arena_ + plan.indices), value, t, count_);
      } else {
        plan.fold_across(arena_ + plan.partials, waiting(plan, 0), value, t, count_);
      }
      return;
    }
    const std::int64_t lanes = plan.varying ? count_ : 1;
    const std::int64_t row = t % kReductionLanes;
    std::byte* partials = arena_ + plan.partials + row * plan.row_bytes;
    if (plan.is_arg) {
      auto* indices =
          reinterpret_cast<std::int64_t*>(arena_ + plan.indices + row * plan.index_row_bytes);
      fold_arg(plan, partials, indices, value, t, lanes, nest.result);
    } else if (plan.dot.each_lane) {
      plan.dot.each_lane(partials, data_[plan.factors[0]], stride_of(plan.factors[0]),
                         data_[plan.factors[1]], stride_of(plan.factors[1]), lanes);
    } else if (plan.multiply_add) {
      plan.multiply_add(partials, data_[plan.factors[0]], data_[plan.factors[1]], nullptr, lanes);
    } else {
      plan.fold_rows(partials, partials, value, nullptr, lanes);
    }
    ++t;
    if (plan.levels > 0 && t % kReductionBlock == 0)
      close_block(plan, t / kReductionBlock - 1, lanes);
  }

  // By which the elements of a value follow one another.
  std::int64_t stride_of(ValueId id) const { return plan_.varying[id] ? 1 : 0; }

  // --- Blocks of a reduction (loops/reduction_tree.h) ---

  std::byte* waiting(const FoldPlan& plan, int level) {
    return plan.levels > 0 ? arena_ + plan.waiting + level * plan.row_bytes : nullptr;
  }

  // The elements of block number `block` have been folded.
  void close_block(const FoldPlan& plan, std::int64_t block, std::int64_t lanes) {
    combine_rows(plan, lanes);
    std::byte* const sum = arena_ + plan.partials;
    const int level = loops::waiting_level(block);
    for (int i = 0; i < level; ++i) plan.combine_pair(sum, waiting(plan, i), sum, nullptr, lanes);
    plan.fill(waiting(plan, level), 1, sum, 1, lanes);
    start_partials(plan, lanes);
  }

  // Folds what is left into the results that wait.
  void combine_blocks(const FoldPlan& plan, std::int64_t lanes) {
    std::byte* const sum = arena_ + plan.partials;
    loops::for_each_waiting(plan.count / kReductionBlock, [&](int level) {
      plan.combine_pair(sum, waiting(plan, level), sum, nullptr, lanes);
    });
  }

  void fold_arg(const FoldPlan& plan, std::byte* partials, std::int64_t* indices,
                const std::byte* value, std::int64_t t, std::int64_t lanes, ValueId result) {
    if (!plan.varying || plan_.varying[result]) {
      plan.arg.each_lane(partials, indices, value, t, lanes);
      return;
    }
    for (std::int64_t i = 0; i < lanes; ++i)
      plan.arg.each_lane(partials + i * plan.element_size, indices + i, value, t, 1);
  }

  // The number of lane 0's element among all elements of a reduction whose trailing axes are lanes.
  std::int64_t linear_element(const Nest& nest) const {
    std::int64_t row = 0;
    for (std::size_t i = 0; i < nest.first_lane; ++i)
      row = row * nest.extents[i] + axis_[nest.axes[i]];
    return row * nest.lane_points + first_;
  }

  // Pairwise. Partial results that no element went to are the identity, which changes nothing.
  void combine_rows(const FoldPlan& plan, std::int64_t lanes) {
    const auto partial = [&](std::int64_t row) {
      return arena_ + plan.partials + row * plan.row_bytes;
    };
    const auto index = [&](std::int64_t row) {
      return reinterpret_cast<std::int64_t*>(arena_ + plan.indices + row * plan.index_row_bytes);
    };
    for (std::int64_t width = kReductionLanes / 2; width > 0; width /= 2) {
      if (!plan.varying) {  // side by side
        const std::int64_t pairs = std::min(width, plan.rows - width);
        if (pairs <= 0) continue;
        if (plan.is_arg) {
          plan.arg.combine(partial(0), index(0), partial(width), index(width), pairs);
        } else {
          plan.combine_pair(partial(0), partial(0), partial(width), nullptr, pairs);
        }
        continue;
      }
      for (std::int64_t row = 0; row < width && row + width < plan.rows; ++row) {
        if (plan.is_arg) {
          plan.arg.combine(partial(row), index(row), partial(row + width), index(row + width),
                           lanes);
        } else {
          plan.combine_pair(partial(row), partial(row), partial(row + width), nullptr, lanes);
        }
      }
    }
  }

  const Plan& plan_;
  void* const* buffers_;
  KernelError* error_;
  std::byte* arena_ = nullptr;
  std::byte** data_ = nullptr;           // by value: where its elements are
  std::int64_t* axis_ = nullptr;         // by axis: the index of a loop
  std::int64_t* table_first_ = nullptr;  // by table: for which lanes it was computed
  std::int64_t* table_count_ = nullptr;
  std::int64_t* element_ = nullptr;  // by nest: elements folded so far
  std::int64_t first_ = 0;  // the lanes are points first_ .. first_ + count_ - 1 of their nest
  std::int64_t count_ = 1;
  std::int64_t begin_ = 0;
  bool is_replay_ = false;
  bool is_stopped_ = false;
  std::int64_t failed_first_ = 0;
  std::int64_t failed_count_ = 0;
};

}  // namespace
}  // namespace lanes

struct LaneProgram::Impl {
  lanes::Plan plan;
};

LaneProgram::LaneProgram(const loops::Kernel& kernel, const std::int64_t* sizes)
    : impl_(new Impl{lanes::make_plan(kernel, sizes)}) {}
LaneProgram::~LaneProgram() = default;

int LaneProgram::run(void* const* buffers, std::int64_t begin, std::int64_t end,
                     KernelError* error) const {
  return lanes::Runner(impl_->plan, buffers, error).run(begin, end) ? 0 : 1;
}

int run_lanes(const loops::Kernel& kernel, void* const* buffers, const std::int64_t* sizes,
              std::int64_t begin, std::int64_t end, KernelError* error) {
  return LaneProgram(kernel, sizes).run(buffers, begin, end, error);
}

}  // namespace relay::interp
