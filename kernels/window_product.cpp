#include "kernels/window_product.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "kernels/padded_input.h"
#include "kernels/product.h"
#include "kernels/scratch.h"

namespace relay::kernels {

namespace {

using loops::LibraryKernel;
using loops::LibraryOperand;
using loops::Window;
using loops::WindowAxis;

// Groups of fewer channels fill no tile.
constexpr std::int64_t kFewestChannels = 6;
// Products of a part, and the elements that are copied by one.
constexpr double kPartOfWindow = 8'388'608;
constexpr std::int64_t kCopiedByPart = 65536;
constexpr std::int64_t kLongestWindowSum = 4096;  // in one go

// How far apart the products of a row of the kernel are, where all are as far.
std::optional<std::int64_t> step_of_kernel(const Window& form) {
  std::int64_t step = 0;
  std::int64_t apart = 0;
  const auto is_next = [&](std::int64_t extent, std::int64_t stride) {
    if (extent == 1) return true;
    if (step == 0) step = apart = stride;
    if (stride != apart) return false;
    apart *= extent;
    return true;
  };
  for (std::size_t i = form.axes.size(); i-- > 0;) {
    if (!is_next(form.axes[i].kernel, form.axes[i].kernel_stride)) return std::nullopt;
  }
  if (!is_next(form.in_channels, form.kernel.in)) return std::nullopt;
  return step;
}

bool places_lie_side_by_side(const Window& form) {
  std::int64_t apart = 1;
  for (std::size_t i = form.axes.size(); i-- > 0;) {
    if (form.axes[i].out != 1 && form.axes[i].out_stride != apart) return false;
    apart *= form.axes[i].out;
  }
  return true;
}

template <class T>
class WindowProduct final : public LibraryKernel {
 public:
  WindowProduct(const Window& form, const Tiles<T>& tiles)
      : form_(form),
        input_(form),
        steps_(input_.steps()),
        kernel_step_(step_of_kernel(form)),
        product_(tiles, form.out_channels, input_.places(), size(),
                 {kernel_step_ ? form.kernel.out : size(), kernel_step_ ? *kernel_step_ : 1}, {}) {
    choose_tile();
  }

  void run(const LibraryOperand& left, const LibraryOperand& right, void* result,
           const Parallel& parallel) const override {
    const auto* const in = static_cast<const T*>(left.data);
    const auto* kernel = static_cast<const T*>(right.data);
    auto* const out = static_cast<T*>(result);
    const Scratch rows(kernel_step_ ? 0 : to_size(form_.groups * form_.out_channels * size()));
    if (!kernel_step_) kernel = as_rows(kernel, reinterpret_cast<T*>(rows.data()));
    const Scratch copies(input_.size() * sizeof(T));
    auto* const padded = reinterpret_cast<T*>(copies.data());
    for (std::int64_t i = 0; i < form_.batch * form_.groups; ++i) {
      const std::int64_t image = i / form_.groups, group = i % form_.groups;
      const T* const from = in + image * form_.in.batch + group * form_.in.group;
      copy_input(from, padded, parallel);
      multiply(kernel + group * (kernel_step_ ? form_.kernel.group : form_.out_channels * size()),
               padded, out + image * form_.out.batch + group * form_.out.group, parallel);
    }
  }

 private:
  static std::size_t to_size(std::int64_t elements) {
    return static_cast<std::size_t>(elements) * sizeof(T);
  }
  std::int64_t size() const { return static_cast<std::int64_t>(steps_.size()); }

  void choose_tile() {
    const std::int64_t apart = product_.columns_apart();
    const auto work = [&] {
      return static_cast<double>(tile_rows_) * static_cast<double>(tile_columns_) *
             static_cast<double>(size());
    };
    tile_rows_ = form_.out_channels;
    tile_columns_ = input_.places();
    while (work() > kPartOfWindow) {
      if (tile_columns_ > std::max(apart, tile_rows_)) {
        tile_columns_ = (tile_columns_ / 2 + apart - 1) / apart * apart;
      } else if (tile_rows_ > 96) {
        tile_rows_ = (tile_rows_ + 1) / 2;
      } else {
        break;
      }
    }
  }

  // The kernel with its products side by side.
  const T* as_rows(const T* kernel, T* to) const {
    T* next = to;
    for (std::int64_t row = 0; row < form_.groups * form_.out_channels; ++row) {
      const T* const from = kernel + row / form_.out_channels * form_.kernel.group +
                            row % form_.out_channels * form_.kernel.out;
      for (std::int64_t k = 0; k < size(); ++k) {
        std::int64_t rest = k;
        std::int64_t offset = 0;
        for (std::size_t i = form_.axes.size(); i-- > 0;) {
          offset += rest % form_.axes[i].kernel * form_.axes[i].kernel_stride;
          rest /= form_.axes[i].kernel;
        }
        *next++ = from[offset + rest * form_.kernel.in];
      }
    }
    return to;
  }

  void copy_input(const T* from, T* padded, const Parallel& parallel) const {
    const std::int64_t each = std::max<std::int64_t>(kCopiedByPart / input_.plane(), 1);
    const auto copy = [&](int part) {
      const std::int64_t begin = part * each;
      input_.copy(from, begin, std::min(begin + each, form_.in_channels), padded);
    };
    parallel(static_cast<int>((form_.in_channels + each - 1) / each), std::cref(copy));
  }

  void multiply(const T* kernel, const T* padded, T* out, const Parallel& parallel) const {
    const std::int64_t columns = (input_.places() + tile_columns_ - 1) / tile_columns_;
    const std::int64_t rows = (form_.out_channels + tile_rows_ - 1) / tile_rows_;
    const auto compute = [&](int number) {
      ProductPart part{};
      part.row0 = number / columns * tile_rows_;
      part.row1 = std::min(part.row0 + tile_rows_, form_.out_channels);
      part.column0 = number % columns * tile_columns_;
      part.column1 = std::min(part.column0 + tile_columns_, input_.places());
      multiply_part(part, kernel, padded, out + part.row0 * form_.out.channel + part.column0);
    };
    parallel(static_cast<int>(columns * rows), std::cref(compute));
  }

  // Long sums in pieces, each of which is added as a whole.
  void multiply_part(ProductPart part, const T* kernel, const T* padded, T* out) const {
    const std::int64_t columns = part.column1 - part.column0;
    const bool is_long = size() > kLongestWindowSum;
    const std::size_t piece = is_long ? to_size((part.row1 - part.row0) * columns) : 0;
    const auto slack = static_cast<std::int64_t>(2 * kMostVectors * product_.tiles().lanes);
    const Scratch scratch(piece + to_size(kProductsAtOnce * (kColumnsAtOnce + slack) + slack));
    auto* const sums = reinterpret_cast<T*>(scratch.data());
    T* const panels = sums + piece / sizeof(T);
    for (std::int64_t k = 0; k < size(); k += kLongestWindowSum) {
      part.k0 = k;
      part.k1 = std::min(k + kLongestWindowSum, size());
      const bool is_first = k == 0;
      const typename Product<T>::Call call = {kernel, nullptr, is_first ? out : sums,
                                              is_first ? form_.out.channel : columns, false};
      product_.for_each_block(part, [&](const ProductPart& block) {
        gather(block, padded, panels);
        product_.multiply_panels(call, part, block, panels);
      });
      if (is_first) continue;
      for (std::int64_t row = 0; row < part.row1 - part.row0; ++row) {
        for (std::int64_t i = 0; i < columns; ++i)
          out[row * form_.out.channel + i] += sums[row * columns + i];
      }
    }
  }

  void gather(const ProductPart& block, const T* padded, T* panels) const {
    std::vector<PackedRun> runs;
    GatherCall<T> call;
    call.source = padded;
    call.steps = std::span(steps_).subspan(static_cast<std::size_t>(block.k0),
                                           static_cast<std::size_t>(block.k1 - block.k0));
    call.panel = panels;
    for (std::int64_t j = block.column0; j < block.column1; j += product_.columns_apart()) {
      const std::int64_t end = std::min(j + product_.columns_apart(), block.column1);
      runs.clear();
      for (std::int64_t place = j; place < end;) {
        const std::int64_t left = input_.row() - place % input_.row();
        const std::int64_t length = std::min(left, end - place);
        runs.push_back(
            {input_.place(place), static_cast<int>(place - j), static_cast<int>(length)});
        place += length;
      }
      call.runs = runs;
      call.width = product_.vectors_of(end - j) * product_.tiles().lanes;
      product_.tiles().gather(call);
      call.panel += (block.k1 - block.k0) * call.width;
    }
  }

  const Window form_;
  PaddedInput input_;
  std::vector<std::int64_t> steps_;
  std::optional<std::int64_t> kernel_step_;
  Product<T> product_;
  std::int64_t tile_rows_ = 1, tile_columns_ = 1;
};

}  // namespace

std::shared_ptr<const LibraryKernel> make_window_product(const Window& form, Level level) {
  if (form.result != Window::Result::Out || form.out_channels < kFewestChannels ||
      !places_lie_side_by_side(form))
    return nullptr;
  if (form.dtype == lang::DType::Float32)
    return std::make_shared<WindowProduct<float>>(form, tiles<float>(level));
  if (form.dtype == lang::DType::Float64)
    return std::make_shared<WindowProduct<double>>(form, tiles<double>(level));
  return nullptr;
}

}  // namespace relay::kernels
