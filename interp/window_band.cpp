#include "interp/window_band.h"

#include <algorithm>
#include <cstddef>

#include "interp/deal.h"
#include "interp/range_runner.h"
#include "lang/stop.h"
#include "loops/windows.h"

namespace relay::interp {

using lang::TensorRef;
using loops::Launch;
using loops::PointRange;

namespace {

class WindowBand {
 public:
  WindowBand(const loops::LoweredGroup& group, const loops::Band& band,
             std::span<const TensorRef> buffers, std::span<const loops::KernelFunction> native)
      : group_(group), band_(band), buffers_(buffers) {
    for (std::size_t i = 0; i < band.count; ++i) runners_.emplace_back(launch(i), native[i]);
  }

  void run(std::int64_t threads) {
    const std::int64_t steps = (band_.rows + band_.step - 1) / band_.step;
    std::vector<Worker> workers;
    for (std::int64_t i = 0; i < std::clamp<std::int64_t>(threads, 1, steps); ++i)
      workers.push_back(make_worker(i == 0));
    deal(static_cast<int>(workers.size()), steps, [&](int number, std::int64_t i) {
      const std::int64_t begin = i * band_.step;
      return step(workers[static_cast<std::size_t>(number)],
                  {begin, std::min(begin + band_.step, band_.rows)});
    });
  }

 private:
  struct Worker {
    std::vector<TensorRef> windows;  // the memory of each
    std::vector<PointRange> points;  // by launch, of the step at hand
    std::vector<void*> pointers;     // of the launch at hand
  };

  const Launch& launch(std::size_t number) const { return group_.launches[band_.first + number]; }
  // The group's buffer that launch `number` stores to.
  std::int32_t stored(std::size_t number) const {
    return launch(number).buffers[static_cast<std::size_t>(launch(number).kernel.output)];
  }

  Worker make_worker(bool is_first) const {
    Worker worker;
    for (std::size_t i = 0; i < band_.windows.size(); ++i) {
      const TensorRef& own = buffers_[static_cast<std::size_t>(stored(i))];
      worker.windows.push_back(is_first ? own : lang::Tensor::make(own->dtype(), own->shape()));
    }
    return worker;
  }

  // False where it has been told to stop.
  bool step(Worker& worker, PointRange points) const {
    loops::find_points(band_, points, worker.points);
    for (std::size_t i = 0; i < band_.count; ++i) {
      const auto [begin, end] = worker.points[i];
      if (begin >= end) continue;
      find_pointers(worker, i);
      // A part is short enough for a request to stop to wait for it.
      const std::int64_t rows = i + 1 < band_.count ? band_.windows[i].rows : band_.rows;
      const std::int64_t cost = std::max<std::int64_t>(launch(i).cost / rows, 1);
      const std::int64_t most = std::max<std::int64_t>(loops::kSliceCost / cost, 1);
      for (std::int64_t at = begin; at < end; at += most) {
        if (lang::is_stopping()) return false;
        loops::KernelError error;
        const std::int64_t part = std::min(at + most, end);
        if (runners_[i].run(worker.pointers.data(), at, part, error) != 0) return false;
      }
    }
    return true;
  }

  // Windows begin with the first row of the step: their pointers are to where row 0 would be.
  void find_pointers(Worker& worker, std::size_t number) const {
    worker.pointers.clear();
    for (const std::int32_t buffer : launch(number).buffers) {
      worker.pointers.push_back(buffers_[static_cast<std::size_t>(buffer)]->data());
      for (std::size_t i = 0; i < band_.windows.size(); ++i) {
        if (stored(i) != buffer) continue;
        const lang::Tensor& window = *worker.windows[i];
        const std::int64_t bytes = worker.points[i].begin * band_.windows[i].row_elements *
                                   static_cast<std::int64_t>(lang::size_of(window.dtype()));
        worker.pointers.back() = reinterpret_cast<void*>(
            reinterpret_cast<std::intptr_t>(window.data()) - static_cast<std::intptr_t>(bytes));
      }
    }
  }

  const loops::LoweredGroup& group_;
  const loops::Band& band_;
  const std::span<const TensorRef> buffers_;
  std::vector<RangeRunner> runners_;
};

}  // namespace

void run_windows(const loops::LoweredGroup& group, const loops::Band& band,
                 std::span<const TensorRef> buffers, std::span<const loops::KernelFunction> native,
                 int threads, std::int64_t worth_a_thread) {
  std::int64_t cost = 0;
  for (std::size_t i = band.first; i < band.first + band.count; ++i) cost += group.launches[i].cost;
  const bool is_parallel = group.launches[band.first + band.count - 1].is_parallel;
  const std::int64_t useful =
      is_parallel ? std::min<std::int64_t>(cost / worth_a_thread, threads) : 1;
  WindowBand(group, band, buffers, native).run(useful);
}

}  // namespace relay::interp
