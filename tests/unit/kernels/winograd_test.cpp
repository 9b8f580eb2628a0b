// Windows by Winograd's transforms: they agree with the sums, and how far they are off.

#include <dlfcn.h>

#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/kernels.h"
#include "kernels/tiles.h"
#include "loops/normal_form.h"

namespace relay::tests {
namespace {

using loops::Window;
using loops::WindowAxis;

struct Shape {
  std::int64_t batch, groups, in, out;  // channels of a group
  std::int64_t height, width, front, back;
};

// NCHW, 3 by 3.
Window window_of(const Shape& shape, Window::Result result, lang::DType dtype) {
  const std::int64_t places[] = {shape.height + shape.front + shape.back - 2,
                                 shape.width + shape.front + shape.back - 2};
  Window form{};
  form.result = result;
  form.dtype = dtype;
  form.batch = shape.batch;
  form.groups = shape.groups;
  form.in_channels = shape.in;
  form.out_channels = shape.out;
  const std::int64_t plane = shape.height * shape.width, made = places[0] * places[1];
  form.in = {shape.groups * shape.in * plane, shape.in * plane, plane};
  form.out = {shape.groups * shape.out * made, shape.out * made, made};
  form.kernel = {shape.out * shape.in * 9, shape.in * 9, 9};
  const std::int64_t extents[] = {shape.height, shape.width};
  for (std::size_t i = 0; i < 2; ++i) {
    WindowAxis axis{};
    axis.in = extents[i];
    axis.out = places[i];
    axis.kernel = 3;
    axis.stride = axis.dilation = 1;
    axis.front = shape.front;
    axis.back = shape.back;
    axis.in_stride = i == 0 ? shape.width : 1;
    axis.out_stride = i == 0 ? places[1] : 1;
    axis.kernel_stride = i == 0 ? 3 : 1;
    form.axes.push_back(axis);
  }
  return form;
}

std::int64_t in_size(const Shape& s) { return s.batch * s.groups * s.in * s.height * s.width; }
std::int64_t out_size(const Window& form) {
  return form.batch * form.groups * form.out_channels * form.axes[0].out * form.axes[1].out;
}

// The sums in float64, of float32 or float64 operands.
template <class T>
std::vector<double> sums(const Window& form, std::int64_t size, const std::vector<T>& moving,
                         const std::vector<T>& kernel) {
  std::vector<double> result(static_cast<std::size_t>(size), 0.0);
  const auto& y = form.axes[0];
  const auto& x = form.axes[1];
  const auto add = [&](std::int64_t in, std::int64_t out, std::int64_t k) {
    const bool is_forward = form.result == Window::Result::Out;
    result[static_cast<std::size_t>(is_forward ? out : in)] +=
        static_cast<double>(moving[static_cast<std::size_t>(is_forward ? in : out)]) *
        static_cast<double>(kernel[static_cast<std::size_t>(k)]);
  };
  for (std::int64_t n = 0; n < form.batch * form.groups; ++n) {
    const std::int64_t g = n % form.groups, image = n / form.groups;
    for (std::int64_t o = 0; o < form.out_channels; ++o) {
      for (std::int64_t i = 0; i < form.in_channels; ++i) {
        for (std::int64_t at = 0; at < y.out * x.out * 9; ++at) {
          const std::int64_t tap = at % 9, place = at / 9;
          const std::int64_t row = place / x.out + tap / 3 - y.front;
          const std::int64_t column = place % x.out + tap % 3 - x.front;
          if (row < 0 || row >= y.in || column < 0 || column >= x.in) continue;
          add(image * form.in.batch + g * form.in.group + i * form.in.channel + row * y.in_stride +
                  column,
              image * form.out.batch + g * form.out.group + o * form.out.channel + place,
              g * form.kernel.group + o * form.kernel.out + i * form.kernel.in + tap);
        }
      }
    }
  }
  return result;
}

struct Library {
  explicit Library(bool transforms, int level = -1) {
    void* const object = dlopen("librelay_kernels.so", RTLD_NOW | RTLD_LOCAL);
    if (!object) return;
    const auto make =
        reinterpret_cast<kernels::MakeKernelLibrary>(dlsym(object, kernels::kEntryName));
    library.reset(make(level, transforms));
  }
  std::unique_ptr<loops::KernelLibrary> library;
};

template <class T>
std::vector<T> run(Library& from, const Window& form, std::int64_t size,
                   const std::vector<T>& moving, const std::vector<T>& kernel) {
  const auto made = from.library->choose(form);
  REQUIRE(made);
  std::vector<T> result(static_cast<std::size_t>(size), T(-77));
  made->run({moving.data()}, {kernel.data()}, result.data(),
            [](int parts, const std::function<void(int)>& part) {
              for (int i = parts; i-- > 0;) part(i);
            });
  return result;
}

template <class T>
double root_mean_square_error(const std::vector<T>& found, const std::vector<double>& right) {
  double sum = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    sum += std::pow(static_cast<double>(found[i]) - right[i], 2);
  return std::sqrt(sum / static_cast<double>(found.size()));
}

template <class T>
std::vector<T> between(std::mt19937_64& random, std::int64_t count) {
  std::uniform_real_distribution<T> each(-1, 1);
  std::vector<T> made(static_cast<std::size_t>(count));
  for (T& value : made) value = each(random);
  return made;
}

const Shape kShapes[] = {
    {1, 1, 64, 64, 56, 56, 1, 1}, {2, 1, 32, 48, 15, 13, 1, 1}, {3, 1, 16, 16, 8, 9, 0, 0},
    {1, 4, 16, 24, 12, 12, 1, 1}, {5, 1, 20, 17, 7, 7, 2, 1},   {1, 1, 16, 16, 9, 300, 1, 0},
};

template <class T>
void check_shapes(lang::DType dtype, double tolerance) {
  Library transforms(true);
  if (!transforms.library) return;
  std::mt19937_64 random(4711);
  for (const Shape& shape : kShapes) {
    for (const auto result : {Window::Result::Out, Window::Result::In}) {
      const Window form = window_of(shape, result, dtype);
      const bool is_forward = result == Window::Result::Out;
      const std::int64_t size = is_forward ? out_size(form) : in_size(shape);
      const auto moving = between<T>(random, is_forward ? in_size(shape) : out_size(form));
      const auto kernel = between<T>(random, shape.groups * form.kernel.group);
      const auto right = sums(form, size, moving, kernel);
      INFO(loops::to_string(loops::NormalForm(form)));
      CHECK(root_mean_square_error(run(transforms, form, size, moving, kernel), right) < tolerance);
      for (const kernels::Level level : {kernels::Level::Base, kernels::Level::Avx2}) {
        Library older(true, static_cast<int>(level));
        CHECK(root_mean_square_error(run(older, form, size, moving, kernel), right) < tolerance);
      }
    }
  }
}

TEST_CASE("transformed windows in float32 agree with the sums, on CPUs of each generation") {
  check_shapes<float>(lang::DType::Float32, 1e-5);
}

TEST_CASE("transformed windows in float64 agree with the sums, on CPUs of each generation") {
  check_shapes<double>(lang::DType::Float64, 2e-14);
}

TEST_CASE("a transformed window is off by little more than the sum") {
  Library transforms(true), direct(false);
  if (!transforms.library) return;
  std::mt19937_64 random(1);
  const Window form = window_of(kShapes[0], Window::Result::Out, lang::DType::Float32);
  const auto in = between<float>(random, in_size(kShapes[0]));
  const auto kernel = between<float>(random, form.kernel.group);
  const auto right = sums(form, out_size(form), in, kernel);
  const double off =
      root_mean_square_error(run(transforms, form, out_size(form), in, kernel), right);
  const double direct_off =
      root_mean_square_error(run(direct, form, out_size(form), in, kernel), right);
  INFO(off << " and " << direct_off);
  CHECK(off < 3 * direct_off);
  CHECK(off != direct_off);  // it was transformed
}

}  // namespace
}  // namespace relay::tests
