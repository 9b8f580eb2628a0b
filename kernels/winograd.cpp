#include "kernels/winograd.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>

#include "kernels/padded_input.h"
#include "kernels/product.h"
#include "kernels/scratch.h"

namespace relay::kernels {

namespace {

using loops::LibraryKernel;
using loops::LibraryOperand;
using loops::Window;
using loops::WindowAxis;

// Fewer channels are not worth the transforms, nor fewer tiles that of the kernel.
constexpr std::int64_t kFewestOfChannels = 16;
constexpr std::int64_t kFewestTiles = 16;
constexpr std::int64_t kTilesOfPart = 128;  // whose planes stay in the second cache
// So many parts keep some threads busy, if each has as many tiles as a product needs.
constexpr std::int64_t kParts = 4;
constexpr std::int64_t kFewestTilesOfPart = 48;
constexpr std::int64_t kFewestChannelsOfPart = 64;
constexpr std::int64_t kCopiedAtOnce = 65536;
constexpr std::size_t kMostCopied = std::size_t{32}
                                    << 20;  // bytes: images that are copied together
constexpr std::int64_t kPlanes = 16;

// The adjoint of the input is a window over the result: the kernel is turned around, and its two
// kinds of channels change places.
Window as_forward(const Window& form) {
  if (form.result == Window::Result::Out) return form;
  Window turned = form;
  turned.result = Window::Result::Out;
  std::swap(turned.in_channels, turned.out_channels);
  std::swap(turned.in, turned.out);
  std::swap(turned.kernel.in, turned.kernel.out);
  for (WindowAxis& axis : turned.axes) {
    std::swap(axis.in, axis.out);
    std::swap(axis.in_stride, axis.out_stride);
    axis.front = axis.kernel - 1 - axis.front;
    axis.kernel_stride = -axis.kernel_stride;
  }
  return turned;
}

std::int64_t half_of(std::int64_t extent) { return (extent + 1) / 2; }

// Tiles begin at every second place and see four elements of the input. Of a row, the places
// between them are there, too, so that it lies as the input does.
Window over_tiles(Window form) {
  WindowAxis& y = form.axes[0];
  y.out = half_of(y.out);
  y.stride = 2;
  WindowAxis& x = form.axes[1];
  x.out = 2 * half_of(x.out) - 1;
  y.kernel = x.kernel = 4;
  return form;
}

template <class T>
class Winograd final : public LibraryKernel {
 public:
  Winograd(const Window& form, const Tiles<T>& tiles)
      : is_adjoint_(form.result != Window::Result::Out),
        form_(as_forward(form)),
        input_(over_tiles(form_)),
        tiles_(half_of(form_.axes[1].out)),
        pitch_(kTilesOfPart + tiles_ + tiles.lanes),
        product_(tiles, form_.out_channels, pitch_, form_.in_channels, {form_.in_channels, 1},
                 {pitch_, 1}) {}

  void run(const LibraryOperand& left, const LibraryOperand& right, void* result,
           const Parallel& parallel) const override {
    // Operands are in, out, kernel without the result.
    const auto* const in = static_cast<const T*>(left.data);
    const auto* const kernel = static_cast<const T*>(right.data);
    auto* const out = static_cast<T*>(result);
    const auto each = static_cast<std::int64_t>(input_.size() * sizeof(T));
    const std::int64_t images = form_.batch * form_.groups;
    // All groups of an image, and as many images as there is room for.
    const std::int64_t room = static_cast<std::int64_t>(kMostCopied) / (each * form_.groups);
    const std::int64_t together = std::clamp<std::int64_t>(room, 1, form_.batch) * form_.groups;
    const Scratch copies(static_cast<std::size_t>(each * together));
    auto* const padded = reinterpret_cast<T*>(copies.data());
    const auto planes = planes_of(kernel, right, parallel);
    for (std::int64_t first = 0; first < images; first += together) {
      const std::int64_t last = std::min(first + together, images);
      copy_input(in, padded, first, last, parallel);
      multiply(reinterpret_cast<const T*>(planes->data()), padded, out, first, last, parallel);
    }
  }

 private:
  std::int64_t weights() const { return form_.out_channels * form_.in_channels; }

  // G g G^T with G = [[1, 0, 0], [1/2, 1/2, 1/2], [1/2, -1/2, 1/2], [0, 0, 1]], for each group 16
  // planes of out by in channels.
  void transform_kernel(const T* g, std::int64_t begin, std::int64_t end, T* planes) const {
    const std::int64_t row = form_.axes[0].kernel_stride, column = form_.axes[1].kernel_stride;
    if (is_adjoint_) g -= 2 * (row + column);  // the last tap is the first
    for (std::int64_t at = begin; at < end; ++at) {
      const std::int64_t o = at / form_.in_channels % form_.out_channels;
      const T* const from = g + at / weights() * form_.kernel.group + o * form_.kernel.out +
                            at % form_.in_channels * form_.kernel.in;
      T* const to = planes + at / weights() * kPlanes * weights() + at % weights();
      T half[4][3];
      for (int j = 0; j < 3; ++j) {
        const T first = from[j * column], second = from[row + j * column];
        const T third = from[2 * row + j * column];
        half[0][j] = first;
        half[1][j] = T(0.5) * ((first + third) + second);
        half[2][j] = T(0.5) * ((first + third) - second);
        half[3][j] = third;
      }
      for (int i = 0; i < 4; ++i) {
        const T sum = half[i][0] + half[i][2];
        to[(4 * i) * weights()] = half[i][0];
        to[(4 * i + 1) * weights()] = T(0.5) * (sum + half[i][1]);
        to[(4 * i + 2) * weights()] = T(0.5) * (sum - half[i][1]);
        to[(4 * i + 3) * weights()] = half[i][2];
      }
    }
  }

  // The kernel's planes are kept for the next run with the same kernel.
  std::shared_ptr<const Scratch> planes_of(const T* kernel, const LibraryOperand& operand,
                                           const Parallel& parallel) const {
    {
      const std::lock_guard lock(kept_mutex_);
      if (kept_ && operand.content != 0 && kept_content_ == operand.content &&
          kept_data_ == operand.data)
        return kept_;
    }
    const std::int64_t count = form_.groups * weights();
    auto made = std::make_shared<Scratch>(static_cast<std::size_t>(kPlanes * count) * sizeof(T));
    auto* const planes = reinterpret_cast<T*>(made->data());
    const std::int64_t each = kCopiedAtOnce / kPlanes;
    std::atomic<std::int64_t> done = 0;
    const auto transform = [&](int part) {
      transform_kernel(kernel, part * each, std::min((part + 1) * each, count), planes);
      ++done;
    };
    const std::int64_t parts = (count + each - 1) / each;
    parallel(static_cast<int>(parts), std::cref(transform));
    if (done == parts) {
      const std::lock_guard lock(kept_mutex_);
      kept_ = made;
      kept_content_ = operand.content;
      kept_data_ = operand.data;
    }
    return made;
  }

  void copy_input(const T* in, T* padded, std::int64_t first, std::int64_t last,
                  const Parallel& parallel) const {
    const std::int64_t each = std::max<std::int64_t>(kCopiedAtOnce / input_.plane(), 1);
    const std::int64_t parts = (form_.in_channels + each - 1) / each;
    const auto copy = [&](int part) {
      const std::int64_t image = first + part / parts;
      const T* const from =
          in + image / form_.groups * form_.in.batch + image % form_.groups * form_.in.group;
      const std::int64_t begin = part % parts * each;
      input_.copy(from, begin, std::min(begin + each, form_.in_channels),
                  padded + (image - first) * static_cast<std::int64_t>(input_.size()));
    };
    parallel(static_cast<int>(parts * (last - first)), std::cref(copy));
  }

  // Tiles of all images of a group follow one another; a part has whole rows of them.
  void multiply(const T* planes, const T* padded, T* out, std::int64_t first, std::int64_t last,
                const Parallel& parallel) const {
    const std::int64_t rows_of_image = half_of(form_.axes[0].out);
    const std::int64_t rows = (last - first) / form_.groups * rows_of_image;
    const std::int64_t most = std::max<std::int64_t>(kTilesOfPart / tiles_, 1);
    const std::int64_t fewest = (kFewestTilesOfPart + tiles_ - 1) / tiles_;
    std::int64_t parts =
        std::max({(rows + most - 1) / most, std::min(kParts, rows / fewest), std::int64_t{1}});
    if (parts > 1) parts += parts % 2;                     // all of one length, for two threads
    const auto first_of = [&, parts](std::int64_t part) {  // the longer ones first
      return part * (rows / parts) + std::min(part, rows % parts);
    };
    const auto compute = [&, parts](int number) {
      const std::int64_t group = number / parts;
      const std::int64_t row = number % parts;
      const Rows part{group, first_of(row), first_of(row + 1), rows_of_image, first / form_.groups};
      multiply_rows(part, planes + group * kPlanes * weights(), padded, out);
    };
    if (parts * form_.groups == 1) {
      multiply_together({0, 0, rows, rows_of_image, first / form_.groups}, planes, padded, out,
                        parallel);
    } else {
      parallel(static_cast<int>(parts * form_.groups), std::cref(compute));
    }
  }

  struct Rows {
    std::int64_t group, begin, end;
    std::int64_t of_image;
    std::int64_t first_image;
    std::int64_t image(std::int64_t row) const { return row / of_image; }
  };

  std::int64_t in_plane() const { return form_.in_channels * pitch_; }
  std::size_t seen_bytes() const {
    return static_cast<std::size_t>(kPlanes * in_plane()) * sizeof(T);
  }

  void multiply_rows(const Rows& part, const T* planes, const T* padded, T* out) const {
    const Scratch scratch(seen_bytes());
    auto* const seen = reinterpret_cast<T*>(scratch.data());
    transform_inputs(part, padded, 0, form_.in_channels, seen);
    multiply_channels(part, planes, seen, 0, form_.out_channels, out);
  }

  // The same, first by channels of the input and then by those of the result.
  void multiply_together(const Rows& part, const T* planes, const T* padded, T* out,
                         const Parallel& parallel) const {
    const Scratch scratch(seen_bytes());
    auto* const seen = reinterpret_cast<T*>(scratch.data());
    const auto each = [&](std::int64_t channels, const auto& compute) {
      const std::int64_t parts =
          std::clamp<std::int64_t>(channels / kFewestChannelsOfPart, 1, kParts);
      const auto one = [&](int number) {
        compute(channels * number / parts, channels * (number + 1) / parts);
      };
      parallel(static_cast<int>(parts), std::cref(one));
    };
    each(form_.in_channels, [&](std::int64_t begin, std::int64_t end) {
      transform_inputs(part, padded, begin, end, seen);
    });
    each(form_.out_channels, [&](std::int64_t begin, std::int64_t end) {
      multiply_channels(part, planes, seen, begin, end, out);
    });
  }

  void transform_inputs(const Rows& part, const T* padded, std::int64_t begin, std::int64_t end,
                        T* seen) const {
    for (std::int64_t channel = begin; channel < end; ++channel)
      transform_input(part, padded, channel, seen);
  }

  // Channels [begin, end) of the result.
  void multiply_channels(const Rows& part, const T* planes, const T* seen, std::int64_t begin,
                         std::int64_t end, T* out) const {
    const std::int64_t out_plane = (end - begin) * pitch_;
    const std::int64_t line = 2 * (tiles_ + product_.tiles().lanes);
    const Scratch scratch(
        (static_cast<std::size_t>(kPlanes * out_plane + 2 * line) + product_.scratch()) *
        sizeof(T));
    auto* const products = reinterpret_cast<T*>(scratch.data());
    T* const lines = products + kPlanes * out_plane;
    T* const panels = lines + 2 * line;
    const std::int64_t columns = (part.end - part.begin) * tiles_;
    for (std::int64_t plane = 0; plane < kPlanes; ++plane) {
      product_.multiply({planes + plane * weights(), seen + plane * in_plane(),
                         products + plane * out_plane, pitch_, false},
                        {begin, end, 0, columns, 0, form_.in_channels}, panels);
    }
    for (std::int64_t channel = begin; channel < end; ++channel) {
      WinogradCall<T> call;
      call.from = products + (channel - begin) * pitch_;
      call.plane = out_plane;
      call.count = tiles_;
      call.to = lines;
      call.row = line;
      transform_result(part, call, channel, out);
    }
  }

  void transform_input(const Rows& part, const T* padded, std::int64_t channel, T* seen) const {
    WinogradCall<T> call;
    call.plane = in_plane();
    call.count = tiles_;
    call.row = input_.pitch();
    for (std::int64_t row = part.begin; row < part.end; ++row) {
      const std::int64_t image = part.image(row) * form_.groups + part.group;
      const std::int64_t place = row % part.of_image * input_.row();
      call.from = padded + image * static_cast<std::int64_t>(input_.size()) +
                  channel * input_.plane() + input_.place(place);
      call.to = seen + channel * pitch_ + (row - part.begin) * tiles_;
      product_.tiles().winograd_input(call);
    }
  }

  // Two rows of the result for each row of tiles; `call` is of the first one.
  void transform_result(const Rows& part, WinogradCall<T> call, std::int64_t channel,
                        T* out) const {
    const WindowAxis& y = form_.axes[0];
    const WindowAxis& x = form_.axes[1];
    for (std::int64_t row = part.begin; row < part.end; ++row, call.from += tiles_) {
      product_.tiles().winograd_result(call);
      const std::int64_t top = 2 * (row % part.of_image);
      for (std::int64_t i = 0; i < std::min<std::int64_t>(2, y.out - top); ++i) {
        T* const to = out + (part.first_image + part.image(row)) * form_.out.batch +
                      part.group * form_.out.group + channel * form_.out.channel +
                      (top + i) * y.out_stride;
        const T* const from = call.to + i * call.row;
        if (x.out_stride == 1) {
          std::copy(from, from + x.out, to);
        } else {
          for (std::int64_t j = 0; j < x.out; ++j) to[j * x.out_stride] = from[j];
        }
      }
    }
  }

  const bool is_adjoint_;
  const Window form_;
  PaddedInput input_;
  std::int64_t tiles_;  // of a row
  std::int64_t pitch_;  // from channel to channel, in tiles
  Product<T> product_;
  mutable std::mutex kept_mutex_;
  mutable std::shared_ptr<const Scratch> kept_;
  mutable std::uint64_t kept_content_ = 0;
  mutable const void* kept_data_ = nullptr;
};

bool is_worth_transforming(const Window& form) {
  if (form.result == Window::Result::Kernel || form.axes.size() != 2) return false;
  std::int64_t tiles = form.batch;
  for (const WindowAxis& axis : form.axes) {
    if (axis.kernel != 3 || axis.stride != 1 || axis.dilation != 1) return false;
    tiles *= half_of(form.result == Window::Result::Out ? axis.out : axis.in);
  }
  return tiles >= kFewestTiles && form.in_channels >= kFewestOfChannels &&
         form.out_channels >= kFewestOfChannels;
}

}  // namespace

std::shared_ptr<const LibraryKernel> make_winograd(const Window& form, Level level) {
  if (!is_worth_transforming(form)) return nullptr;
  if (form.dtype == lang::DType::Float32)
    return std::make_shared<Winograd<float>>(form, tiles<float>(level));
  if (form.dtype == lang::DType::Float64)
    return std::make_shared<Winograd<double>>(form, tiles<double>(level));
  return nullptr;
}

}  // namespace relay::kernels
