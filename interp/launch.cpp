#include "interp/launch.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include "interp/deal.h"
#include "interp/order.h"
#include "interp/out_of_range.h"
#include "interp/range_runner.h"
#include "interp/window_band.h"
#include "interp/worker_pool.h"
#include "lang/op.h"
#include "lang/stop.h"
#include "lang/wrapped_memory.h"
#include "loops/bands.h"
#include "loops/stages.h"

namespace relay::interp {

using lang::DiagnosticKind;
using lang::TensorRef;
using loops::KernelError;
using loops::Launch;

namespace {

// A band of launches goes over its rows in parts where all of them are more than the cache of a
// core holds.
constexpr std::int64_t kCacheBytes = 1 << 20;

// Handing work to a thread pays from this many scalar operations per thread on: some microseconds.
constexpr std::int64_t worth_a_thread(bool is_native) { return is_native ? 200'000 : 50'000; }

// So many rows at once are dealt to a thread.
constexpr std::int64_t kDealtRows = 32;

// A band with products is split by rows from so many for each thread on.
constexpr std::int64_t kRowsOfThread = 64;

// Points [begin, end) of the outermost domain axis.
struct Range {
  std::int64_t begin;
  std::int64_t end;
};

std::vector<Range> split(Range whole, std::int64_t parts) {
  const std::int64_t count = whole.end - whole.begin;
  parts = std::clamp<std::int64_t>(parts, 1, std::max<std::int64_t>(count, 1));
  std::vector<Range> ranges;
  const std::int64_t each = count / parts;
  const std::int64_t more = count % parts;
  std::int64_t begin = whole.begin;
  for (std::int64_t i = 0; i < parts; ++i) {
    const std::int64_t end = begin + each + (i < more ? 1 : 0);
    ranges.push_back({begin, end});
    begin = end;
  }
  return ranges;
}

std::int64_t outer_extent(const Launch& launch) {
  if (launch.kernel.domain_rank == 0) return 1;
  const loops::Size& size = launch.kernel.extents[0];
  return size.is_literal ? size.value : launch.sizes[static_cast<std::size_t>(size.value)];
}

[[noreturn]] void fail(const Launch& launch, const KernelError& error) {
  if (error.site == loops::kStoppedSite) lang::fail_stopped();
  if (error.site == loops::kDivisionByZeroSite)
    lang::fail(DiagnosticKind::DivisionByZero, "division of an integer by zero");
  const auto& sites = launch.kernel.sites;
  const auto number = static_cast<std::size_t>(error.site);
  const loops::Site site = number < sites.size() ? sites[number] : loops::Site{};
  if (site.axis >= 0)
    throw lang::Failure(index_out_of_range(error.index, static_cast<std::size_t>(site.axis),
                                           site.shape, site.span));
  lang::fail(DiagnosticKind::IndexOutOfRange,
             site.reader ? fmt::format("`{}` reads element {} on an axis of extent {}",
                                       site.reader->name, error.index, error.extent)
                         : fmt::format("index {} is out of range for an axis of extent {}",
                                       error.index, error.extent),
             site.span);
}

class Launcher {
 public:
  Launcher(const Launch& launch, loops::KernelFunction native, void* const* buffers)
      : launch_(launch), runner_(launch, native), buffers_(buffers) {}

  int run_range(const Range& range, KernelError& error) const {
    return runner_.run(buffers_, range.begin, range.end, error);
  }

  void run(int threads) {
    if (launch_.is_scheduled && !launch_.is_parallel) threads = 1;
    // Long kernels run in slices, so that a request to stop is noticed; one that combines does so
    // point by point, in order.
    const bool may_split = launch_.kernel.store == loops::StoreKind::Assign;
    const std::int64_t cost = std::max(launch_.cost, launch_.cost_of_rows);
    const std::int64_t slices = cost / loops::kSliceCost + 1;
    const std::int64_t worth = worth_a_thread(runner_.is_native());
    if (cost < 2 * worth || (slices == 1 && (!may_split || threads == 1))) {
      run_at_once();
      return;
    }
    for (const Range& slice : split({0, outer_extent(launch_)}, slices)) {
      lang::poll();
      const std::int64_t useful = std::max<std::int64_t>(cost / slices / worth, 1);
      run_slice(slice, may_split ? std::min<std::int64_t>(threads, useful) : 1);
    }
  }

 private:
  // As most kernels are: in one piece, on this thread.
  void run_at_once() const {
    lang::poll();
    KernelError error;
    if (run_range({0, outer_extent(launch_)}, error) != 0) fail(launch_, error);
  }

  void run_slice(const Range& slice, std::int64_t parts) const {
    const bool deals = launch_.deals_rows && parts > 1;
    const std::int64_t dealt =
        deals ? std::max((slice.end - slice.begin + kDealtRows - 1) / kDealtRows, parts) : parts;
    const std::vector<Range> ranges = split(slice, dealt);
    std::vector<KernelError> errors(ranges.size());
    std::vector<int> failed(ranges.size(), 0);
    const auto part = [&](int number) {
      for (auto i = static_cast<std::size_t>(number); i < ranges.size();
           i += static_cast<std::size_t>(parts)) {
        failed[i] = run_range(ranges[i], errors[i]);
        if (failed[i] != 0) return;
      }
    };
    if (parts == 1) {
      part(0);
    } else {
      WorkerPool::instance().run(static_cast<int>(parts), part, WorkerPool::Of::Same);
    }
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      if (failed[i] != 0) fail(launch_, errors[i]);
    }
  }

  const Launch& launch_;
  RangeRunner runner_;
  void* const* buffers_;
};

void run_whole(const Launch::Whole& step, const lang::Tensor& input, const lang::Tensor& output,
               int threads) {
  if (step.primitive == lang::TensorPrimitive::Order) {
    order_rows(step, input, output.data_as<std::int64_t>(), threads);
  } else {
    const auto count = static_cast<std::size_t>(step.rows * step.extent);
    std::memcpy(output.data(), input.data(), count * lang::size_of(step.dtype));
  }
}

loops::LibraryOperand operand_of(const lang::Tensor& tensor, std::int64_t offset) {
  const auto size = static_cast<std::int64_t>(lang::size_of(tensor.dtype()));
  return {tensor.data() + offset * size, tensor.content()};
}

// Runs the parts that a library has made of its work. An interrupt is noticed between them; what a
// part throws is thrown by end().
class LibraryParts {
 public:
  explicit LibraryParts(int threads) : threads_(threads) {}

  loops::LibraryKernel::Parallel parallel() {
    return [this](int parts, const std::function<void(int)>& part) { run(parts, part); };
  }

  void end() const {
    if (failure_) std::rethrow_exception(failure_);
    if (stops_) lang::fail_stopped();
  }

 private:
  void run(int parts, const std::function<void(int)>& part) {
    if (stops_) return;
    std::atomic<int> next = 0;
    const auto work = [&](int) {
      for (int i = next++; i < parts && !stops_; i = next++) {
        run_part(part, i);
        if (lang::is_stopping()) stops_ = true;
      }
    };
    const int workers = std::min(parts, threads_);
    if (workers == 1) {
      work(0);
    } else {
      WorkerPool::instance().run(workers, std::cref(work));
    }
  }

  void run_part(const std::function<void(int)>& part, int i) {
    try {
      part(i);
    } catch (...) {
      const std::lock_guard lock(failing_);
      failure_ = std::current_exception();
      stops_ = true;
    }
  }

  int threads_;
  std::atomic<bool> stops_ = false;
  std::mutex failing_;
  std::exception_ptr failure_;
};

void run_library(const Launch::Library& step, const lang::Tensor& left, const lang::Tensor& right,
                 const lang::Tensor& result, int threads) {
  LibraryParts parts(threads);
  step.kernel->run(operand_of(left, step.left_offset), operand_of(right, step.right_offset),
                   result.data(), parts.parallel());
  parts.end();
}

TensorRef make_tensor(const loops::LoweredGroup& group, std::size_t made,
                      std::span<const TensorRef> args, std::vector<bool>& is_done) {
  const loops::MadeTensor& tensor = group.made[made];
  for (const loops::Reuse& reuse : group.reuse) {
    if (reuse.made != made || !is_free(*args[reuse.arg])) continue;
    if (reuse.copy) is_done[*reuse.copy] = true;
    const TensorRef& arg = args[reuse.arg];
    arg->forget_content();
    if (arg->shape() == tensor.shape) return arg;
    return lang::Tensor::view(*arg, tensor.shape, loops::row_major(tensor.shape), 0);
  }
  std::vector<std::int64_t> shape = tensor.shape;
  if (tensor.window > 0) shape.front() = tensor.window;
  return lang::Tensor::make(tensor.dtype, std::move(shape));
}

// What running a group needs beside its tensors. A loop begins a group in each step: the thread
// keeps the memory.
struct RunMemory {
  std::vector<bool> is_done;                  // by launch; empty: none is
  std::vector<void*> pointers;                // of the launches at hand
  std::vector<loops::KernelFunction> native;  // by launch of the band at hand
};

thread_local RunMemory run_memory;

// What runs the launches of a group.
class GroupRunner {
 public:
  GroupRunner(const loops::LoweredGroup& group, const std::vector<TensorRef>& buffers,
              RunMemory& memory, const KernelRunner& runner, int threads)
      : group_(group),
        buffers_(buffers),
        is_done_(memory.is_done),
        runner_(runner),
        threads_(threads),
        pointers_(memory.pointers),
        native_(memory.native) {}

  void run(const loops::Band& band) {
    native_.clear();  // each is asked for once
    for (std::size_t i = band.first; i < band.first + band.count; ++i) {
      const Launch& launch = group_.launches[i];
      native_.push_back(is_done(i) || launch.whole || launch.library ? nullptr : runner_(i));
    }
    if (!band.windows.empty()) {
      run_windows(group_, band, buffers_, native_, threads_, worth_of(band));
      return;
    }
    const std::int64_t bytes = band.rows * band.row_bytes;
    // Few rows for each thread: a product reads less of its matrices where it is split by itself.
    const bool has_few_rows =
        threads_ > 1 && has_library(band) && band.rows < threads_ * kRowsOfThread;
    if (band.count > 1 && !has_few_rows && band.row_bytes <= loops::kBandPartBytes &&
        (bytes > kCacheBytes || (threads_ > 1 && cost_of(band) >= 2 * worth_of(band)))) {
      run_together(band);
      return;
    }
    for (std::size_t i = band.first; i < band.first + band.count; ++i) {
      if (!is_done(i)) run_alone(i, native_[i - band.first]);
    }
  }

 private:
  bool is_done(std::size_t launch) const { return !is_done_.empty() && is_done_[launch]; }
  const lang::Tensor& buffer(const Launch& launch, std::size_t at) const {
    return *buffers_[static_cast<std::size_t>(launch.buffers[at])];
  }

  std::int64_t worth_of(const loops::Band& band) const {
    bool is_native = true;
    for (std::size_t i = 0; i < band.count; ++i)
      is_native = is_native && (is_done(band.first + i) ||
                                group_.launches[band.first + i].library || native_[i] != nullptr);
    return worth_a_thread(is_native);
  }

  std::int64_t cost_of(const loops::Band& band) const {
    std::int64_t cost = 0;
    for (std::size_t i = band.first; i < band.first + band.count; ++i)
      cost += group_.launches[i].cost;
    return cost;
  }

  void run_alone(std::size_t number, loops::KernelFunction native) {
    const Launch& launch = group_.launches[number];
    if (launch.whole) {
      run_whole(*launch.whole, buffer(launch, 0), buffer(launch, 1), threads_);
    } else if (launch.library) {
      run_library(*launch.library, buffer(launch, 0), buffer(launch, 1), buffer(launch, 2),
                  threads_);
    } else {
      pointers_.clear();
      add_pointers(launch);
      Launcher(launch, native, pointers_.data()).run(threads_);
    }
  }

  void add_pointers(const Launch& launch) {
    for (std::size_t i = 0; i < launch.buffers.size(); ++i)
      pointers_.push_back(buffer(launch, i).data());
  }

  // Computes some rows of a band; false where it has been told to stop.
  using RowStep = std::function<bool(Range rows)>;

  RowStep step_of(std::size_t number, loops::KernelFunction native, void* const* pointers,
                  std::int64_t rows) {
    const Launch& launch = group_.launches[number];
    if (launch.library) {
      const Launch::Library& step = *launch.library;
      const std::int64_t points = step.kernel->by_rows()->rows / rows;
      LibraryParts parts(threads_);
      auto run = step.kernel->begin_rows(operand_of(buffer(launch, 0), step.left_offset),
                                         operand_of(buffer(launch, 1), step.right_offset),
                                         buffer(launch, 2).data(), parts.parallel());
      parts.end();
      return [run = std::move(run), points](Range range) {
        run(range.begin * points, range.end * points);
        return true;
      };
    }
    const std::int64_t points = outer_extent(launch) / rows;
    return [launcher = Launcher(launch, native, pointers), points](Range range) {
      KernelError error;
      return launcher.run_range({range.begin * points, range.end * points}, error) == 0;
    };
  }

  bool has_library(const loops::Band& band) const {
    const auto begin = group_.launches.begin() + static_cast<std::ptrdiff_t>(band.first);
    return std::any_of(begin, begin + static_cast<std::ptrdiff_t>(band.count),
                       [](const Launch& launch) { return launch.library.has_value(); });
  }

  // Products are quickest where all parts but the last fill their tiles.
  std::vector<Range> split_evenly(const loops::Band& band, std::int64_t parts) const {
    std::int64_t each = (band.rows + parts - 1) / parts;
    if (!has_library(band) || each < loops::kLibraryRows) return split({0, band.rows}, parts);
    each = each / loops::kLibraryRows * loops::kLibraryRows;
    std::vector<Range> ranges;
    for (std::int64_t row = 0; row < band.rows; row += each)
      ranges.push_back({row, std::min(row + each, band.rows)});
    return ranges;
  }

  void run_together(const loops::Band& band) {
    pointers_.clear();
    std::vector<std::size_t> starts;
    for (std::size_t i = band.first; i < band.first + band.count; ++i) {
      starts.push_back(pointers_.size());
      add_pointers(group_.launches[i]);
    }
    std::vector<RowStep> steps;
    for (std::size_t i = 0; i < band.count; ++i) {
      const std::size_t number = band.first + i;
      if (!is_done(number))
        steps.push_back(step_of(number, native_[i], pointers_.data() + starts[i], band.rows));
    }
    // A part is also short enough for a request to stop to wait for it.
    const std::int64_t cost_of_row = std::max<std::int64_t>(cost_of(band) / band.rows, 1);
    const std::int64_t rows_each =
        std::clamp<std::int64_t>(loops::kBandPartBytes / band.row_bytes, 1,
                                 std::max<std::int64_t>(loops::kSliceCost / cost_of_row, 1));
    const std::int64_t useful = cost_of(band) / worth_of(band);
    const auto threads = static_cast<int>(std::clamp<std::int64_t>(useful, 1, threads_));
    const std::int64_t parts =
        std::max<std::int64_t>((band.rows + rows_each - 1) / rows_each, threads);
    const std::vector<Range> ranges = split_evenly(band, parts);
    deal(threads, static_cast<std::int64_t>(ranges.size()), [&](int, std::int64_t i) {
      return std::all_of(steps.begin(), steps.end(), [&](const RowStep& step) {
        return !lang::is_stopping() && step(ranges[static_cast<std::size_t>(i)]);
      });
    });
  }

  const loops::LoweredGroup& group_;
  const std::vector<TensorRef>& buffers_;
  const std::vector<bool>& is_done_;
  const KernelRunner& runner_;
  int threads_;
  std::vector<void*>& pointers_;
  std::vector<loops::KernelFunction>& native_;
};

// `buffers`: the arguments.
std::vector<TensorRef> run_all(const loops::LoweredGroup& group, std::vector<TensorRef> buffers,
                               const KernelRunner& runner, int threads) {
  const std::size_t arg_count = buffers.size();
  const std::size_t count = arg_count + group.literals.size() + group.made.size();
  buffers.reserve(count + group.results.size());
  run_memory.is_done.assign(group.reuse.empty() ? 0 : group.launches.size(), false);
  buffers.insert(buffers.end(), group.literals.begin(), group.literals.end());
  for (std::size_t i = 0; i < group.made.size(); ++i)
    buffers.push_back(make_tensor(group, i, {buffers.data(), arg_count}, run_memory.is_done));
  GroupRunner all(group, buffers, run_memory, runner, threads);
  for (const loops::Band& band : group.bands) all.run(band);
  for (const auto& leaf : group.results) {
    const TensorRef& from = buffers[static_cast<std::size_t>(leaf.buffer)];
    const bool is_whole =
        leaf.offset == 0 && from->shape() == leaf.shape && from->strides() == leaf.strides;
    buffers.push_back(is_whole ? from
                               : lang::Tensor::view(*from, leaf.shape, leaf.strides, leaf.offset));
  }
  // The results take the memory of the list.
  buffers.erase(buffers.begin(), buffers.begin() + static_cast<std::ptrdiff_t>(count));
  return buffers;
}

}  // namespace

bool is_free(const lang::Tensor& tensor) {
  constexpr std::uintptr_t kAlignment = 64;
  return tensor.is_unique() && tensor.owns_buffer_alone() && !lang::is_wrapped(tensor) &&
         reinterpret_cast<std::uintptr_t>(tensor.data()) % kAlignment == 0;
}

lang::Result<std::vector<TensorRef>> launch(const loops::LoweredGroup& group,
                                            std::vector<TensorRef> leaf_args,
                                            const KernelRunner& runner, int threads) {
  return lang::capture([&] { return run_all(group, std::move(leaf_args), runner, threads); });
}

}  // namespace relay::interp
