// Sums of products are recognised as normal forms, and mean what they did: a library that does what
// the forms say, element by element, gives what the loops give.

#include "loops/recognise.h"

#include <algorithm>
#include <functional>
#include <string>

#include <catch2/catch.hpp>

#include "interp/launch.h"
#include "lang/build.h"
#include "loops/lower.h"
#include "stdlib/register.h"

namespace {

using namespace relay;
using namespace relay::lang;
using build::Indices;
using build::op;
using loops::Contraction;
using loops::ContractionAxis;
using loops::LibraryKernel;
using loops::NormalForm;
using loops::Window;

VariableRef param(std::vector<std::int64_t> shape) {
  return make_variable(
      "x", tensor_type(Shape(std::vector<Dim>(shape.begin(), shape.end())), DType::Float32));
}

// Small whole numbers: sums are exact in any order.
TensorRef numbers(const VariableRef& variable, int seed) {
  std::vector<std::int64_t> shape;
  for (const Dim& dim : as<TensorType>(variable->type)->shape.dims())
    shape.push_back(dim.constant());
  TensorRef tensor = Tensor::make(DType::Float32, shape);
  for (std::int64_t i = 0; i < tensor->element_count(); ++i)
    tensor->set_bits(i,
                     bits_from_double(DType::Float32, static_cast<double>((i * i + seed) % 7) - 3));
  return tensor;
}

// --- The forms, element by element ---

void walk(const std::vector<ContractionAxis>& axes, std::size_t axis, ContractionAxis at,
          const std::function<void(const ContractionAxis&)>& visit) {
  if (axis == axes.size()) return visit(at);
  for (std::int64_t i = 0; i < axes[axis].extent; ++i) {
    walk(axes, axis + 1, at, visit);
    at.a += axes[axis].a;
    at.b += axes[axis].b;
    at.c += axes[axis].c;
  }
}

void contract(const Contraction& form, const float* a, const float* b, float* c) {
  std::vector<ContractionAxis> axes;
  for (const auto* part : {&form.batch, &form.rows, &form.columns, &form.contracted})
    axes.insert(axes.end(), part->begin(), part->end());
  walk(axes, 0, {1, 0, 0, 0}, [&](const ContractionAxis& at) { c[at.c] += a[at.a] * b[at.b]; });
}

// in, out and kernel: a product of two is added to the third.
void slide(const Window& form,
           const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& visit) {
  const std::function<void(std::size_t, std::int64_t, std::int64_t, std::int64_t)> axis =
      [&](std::size_t number, std::int64_t in, std::int64_t out, std::int64_t kernel) {
        if (number == form.axes.size()) return visit(in, out, kernel);
        const loops::WindowAxis& at = form.axes[number];
        for (std::int64_t place = 0; place < at.out; ++place) {
          for (std::int64_t tap = 0; tap < at.kernel; ++tap) {
            const std::int64_t element = place * at.stride + tap * at.dilation - at.front;
            CHECK(element < at.in + at.back);
            if (element < 0 || element >= at.in) continue;
            axis(number + 1, in + element * at.in_stride, out + place * at.out_stride,
                 kernel + tap * at.kernel_stride);
          }
        }
      };
  for (std::int64_t n = 0; n < form.batch; ++n) {
    for (std::int64_t g = 0; g < form.groups; ++g) {
      for (std::int64_t i = 0; i < form.in_channels; ++i) {
        for (std::int64_t o = 0; o < form.out_channels; ++o) {
          axis(0, n * form.in.batch + g * form.in.group + i * form.in.channel,
               n * form.out.batch + g * form.out.group + o * form.out.channel,
               g * form.kernel.group + o * form.kernel.out + i * form.kernel.in);
        }
      }
    }
  }
}

// How many elements the result has: it is dense.
std::int64_t result_size(const NormalForm& form) {
  std::int64_t last = 0;
  const auto reach = [&](std::int64_t extent, std::int64_t stride) {
    last += (extent - 1) * stride;
  };
  if (const auto* contraction = std::get_if<Contraction>(&form)) {
    for (const auto* axes : {&contraction->batch, &contraction->rows, &contraction->columns}) {
      for (const ContractionAxis& axis : *axes) reach(axis.extent, axis.c);
    }
    return last + 1;
  }
  const Window& window = std::get<Window>(form);
  const bool is_kernel = window.result == Window::Result::Kernel;
  const bool is_in = window.result == Window::Result::In;
  const Window::Strides& strides = is_in ? window.in : window.out;
  if (is_kernel) {
    reach(window.groups, window.kernel.group);
    reach(window.out_channels, window.kernel.out);
    reach(window.in_channels, window.kernel.in);
  } else {
    reach(window.batch, strides.batch);
    reach(window.groups, strides.group);
    reach(is_in ? window.in_channels : window.out_channels, strides.channel);
  }
  for (const loops::WindowAxis& axis : window.axes) {
    reach(is_kernel ? axis.kernel
          : is_in   ? axis.in
                    : axis.out,
          is_kernel ? axis.kernel_stride
          : is_in   ? axis.in_stride
                    : axis.out_stride);
  }
  return last + 1;
}

class PlainKernel final : public LibraryKernel {
 public:
  explicit PlainKernel(NormalForm form) : form_(std::move(form)) {}
  void run(const loops::LibraryOperand& left, const loops::LibraryOperand& right, void* result,
           const Parallel&) const override {
    const auto* const a = static_cast<const float*>(left.data);
    const auto* const b = static_cast<const float*>(right.data);
    auto* const c = static_cast<float*>(result);
    const auto* const contraction = std::get_if<Contraction>(&form_);
    if (!contraction || !contraction->adds) std::fill(c, c + result_size(form_), 0.0f);
    if (contraction) {
      contract(*contraction, a, b, c);
      return;
    }
    const Window& window = std::get<Window>(form_);
    slide(window, [&](std::int64_t in, std::int64_t out, std::int64_t kernel) {
      switch (window.result) {
        case Window::Result::Out:
          c[out] += a[in] * b[kernel];
          break;
        case Window::Result::In:
          c[in] += a[out] * b[kernel];
          break;
        case Window::Result::Kernel:
          c[kernel] += a[in] * b[out];
          break;
      }
    });
  }

 private:
  NormalForm form_;
};

class PlainLibrary final : public loops::KernelLibrary {
 public:
  std::shared_ptr<const LibraryKernel> choose(const NormalForm& form) override {
    text += to_string(form);
    return std::make_shared<PlainKernel>(form);
  }
  std::string text;
};

std::vector<TensorRef> run(const loops::LoweredGroup& group, const std::vector<TensorRef>& args) {
  const auto results = interp::launch(
      group, args, [](std::size_t) { return nullptr; }, 1);
  if (!results) FAIL(results.errors().front().message);
  return *results;
}

// The forms in a body of two parameters, as text, having checked what they compute.
std::string forms_of(std::vector<std::int64_t> left, std::vector<std::int64_t> right,
                     const std::function<Expr(const Expr&, const Expr&)>& body) {
  stdlib::register_operators();
  const auto x = param(std::move(left));
  const auto y = param(std::move(right));
  const Expr function = make_function({x, y}, nullptr, body(make_var(x), make_var(y)));
  const std::vector<TensorRef> args = {numbers(x, 1), numbers(y, 5)};
  std::vector<loops::Layout> layouts;
  for (const TensorRef& arg : args) layouts.push_back({arg->dtype(), arg->shape(), arg->strides()});
  PlainLibrary library;
  const auto with = loops::lower(cast<Function>(function), layouts, &library);
  const auto without = loops::lower(cast<Function>(function), layouts);
  if (!with || !without) FAIL("not lowered");
  const TensorRef expected = run(*without, args).front();
  const TensorRef found = run(*with, args).front();
  for (std::int64_t i = 0; i < expected->element_count(); ++i) {
    INFO("element " << i);
    CHECK(found->number_at(i) == expected->number_at(i));
  }
  return library.text;
}

AttrValue ints(std::vector<std::int64_t> values) { return AttrValue::ints(std::move(values)); }

std::string convolution(const char* name, std::vector<std::int64_t> data,
                        std::vector<std::int64_t> weight, std::vector<Attr> attrs) {
  return forms_of(std::move(data), std::move(weight), [&](const Expr& x, const Expr& w) {
    return op(name, {x, w}, std::move(attrs));
  });
}

}  // namespace

TEST_CASE("matrix products are contractions however they are written", "[loops]") {
  const std::string plain = "contraction(float32) batch 1, rows 4, columns 5, contracted 3\n";
  CHECK(forms_of({4, 3}, {3, 5}, [](const Expr& x, const Expr& y) {
          return op("matmul", {x, y});
        }) == plain);
  CHECK(forms_of({4, 3}, {5, 3}, [](const Expr& x, const Expr& y) {
          return op("nn.dense", {x, y});
        }) == plain);
  CHECK(forms_of({3, 4}, {3, 5}, [](const Expr& x, const Expr& y) {
          return op("matmul", {op("transpose", {x}), y});
        }) == plain);
  CHECK(forms_of({12}, {5, 3}, [](const Expr& x, const Expr& y) {
          const Expr matrix = op("reshape", {x}, {{"newshape", ints({4, 3})}});
          return op("nn.relu", {op("nn.dense", {matrix, y})});
        }) == plain);
  // Every second row, from the second on.
  CHECK(forms_of({9, 3}, {3, 5}, [](const Expr& x, const Expr& y) {
          return build::comprehension({4, 5}, [&](const Indices& out) {
            return build::reduction(ReduceOp::Sum, {3}, [&](const Indices& k) {
              const Expr row = build::add(build::mul(out[0], build::index_constant(2)),
                                          build::index_constant(1));
              return build::mul(build::at(x, {row, k[0]}), build::at(y, {k[0], out[1]}));
            });
          });
        }) == plain);
  CHECK(forms_of({2, 4, 3}, {2, 5, 3}, [](const Expr& x, const Expr& y) {
          return op("nn.batch_matmul", {x, y}, {{"transpose_b", true}});
        }) == "contraction(float32) batch 2, rows 4, columns 5, contracted 3\n");
}

TEST_CASE("an operand that is computed is stored first", "[loops]") {
  CHECK(forms_of({4, 3}, {3, 5},
                 [](const Expr& x, const Expr& y) {
                   return op("add", {op("matmul", {op("add", {x, x}), y}), op("matmul", {x, y})});
                 }) ==
        "contraction(float32) batch 1, rows 4, columns 5, contracted 3, added\n"
        "contraction(float32) batch 1, rows 4, columns 5, contracted 3\n");
}

TEST_CASE("what is no sum of products of two operands is left alone", "[loops]") {
  CHECK(forms_of({4, 3}, {4, 3}, [](const Expr& x, const Expr& y) {
          return op("sum", {op("add", {x, y})}, {{"axis", 1}});
        }).empty());
  // A diagonal of the first operand, and a sum that only it takes part in.
  CHECK(forms_of({3, 3}, {3}, [](const Expr& x, const Expr& y) {
          return build::comprehension({3}, [&](const Indices& out) {
            return build::reduction(ReduceOp::Max, {3}, [&](const Indices& k) {
              return build::mul(build::at(x, {out[0], k[0]}), build::at(y, {k[0]}));
            });
          });
        }).empty());
}

TEST_CASE("convolutions are windows", "[loops]") {
  CHECK(convolution("nn.conv1d", {2, 3, 9}, {4, 3, 3}, {{"strides", ints({2})}}) ==
        "window(float32) batch 2, groups 1, channels 3 -> 4, 9 by 3 -> 4 stride 2\n");
  CHECK(
      convolution("nn.conv2d", {2, 3, 8, 9}, {4, 3, 3, 3}, {{"padding", ints({1, 1})}}) ==
      "window(float32) batch 2, groups 1, channels 3 -> 4, 8 by 3 -> 8 pad 1 1, 9 by 3 -> 9 pad 1 "
      "1\n");
  CHECK(
      convolution("nn.conv2d", {2, 3, 8, 9}, {4, 3, 3, 2},
                  {{"padding", ints({2, 0, 1, 1})},
                   {"dilation", ints({2, 1})},
                   {"strides", ints({1, 3})}}) ==
      "window(float32) batch 2, groups 1, channels 3 -> 4, 8 by 3 -> 7 dilation 2 pad 2 1, 8 by 2 "
      "-> 3 stride 3\n");
  CHECK(convolution("nn.conv2d", {2, 8, 9, 3}, {3, 3, 3, 4},
                    {{"data_layout", "NHWC"}, {"kernel_layout", "HWIO"}}) ==
        "window(float32) batch 2, groups 1, channels 3 -> 4, 8 by 3 -> 6, 9 by 3 -> 7\n");
  CHECK(convolution("nn.conv2d", {2, 6, 5, 5}, {4, 3, 3, 3}, {{"groups", 2}}) ==
        "window(float32) batch 2, groups 2, channels 3 -> 2, 5 by 3 -> 3, 5 by 3 -> 3\n");
  CHECK(convolution("nn.conv2d", {2, 4, 5, 5}, {4, 1, 3, 3}, {{"groups", 4}}) ==
        "window(float32) batch 2, groups 4, channels 1 -> 1, 5 by 3 -> 3, 5 by 3 -> 3\n");
  CHECK(convolution("nn.conv3d", {1, 2, 4, 5, 6}, {3, 2, 2, 2, 2}, {{"padding", ints({1, 0, 0})}})
            .starts_with("window(float32) "));
  // With one tap it is a matrix product.
  CHECK(convolution("nn.conv2d", {2, 3, 8, 9}, {4, 3, 1, 1}, {}) ==
        "contraction(float32) batch 1, rows 2*72, columns 4, contracted 3\n");
}

TEST_CASE("adjoints of convolutions are adjoints of windows", "[loops]") {
  CHECK(
      convolution("nn.conv2d_transpose", {2, 4, 4, 5}, {4, 3, 3, 3},
                  {{"strides", ints({2, 1})}, {"padding", ints({1, 1})}}) ==
      "window adjoint of the input(float32) batch 2, groups 1, channels 3 -> 4, 7 by 3 -> 4 stride "
      "2 pad 1 1, 5 by 3 -> 5 pad 1 1\n");
  CHECK(convolution("nn.conv1d_transpose", {2, 4, 5}, {4, 3, 3},
                    {{"strides", ints({3})}, {"output_padding", ints({1})}}) ==
        "window adjoint of the input(float32) batch 2, groups 1, channels 3 -> 4, 16 by 3 -> 5 "
        "stride 3\n");
  CHECK(
      convolution("nn.conv2d_transpose", {2, 4, 4, 5}, {4, 2, 3, 3}, {{"groups", 2}})
          .starts_with("window adjoint of the input(float32) batch 2, groups 2, channels 2 -> 2"));
  CHECK(
      convolution(
          "nn.conv2d_backward_weight", {2, 4, 4, 9}, {2, 3, 8, 9},
          {{"kernel_size", ints({3, 3})}, {"strides", ints({2, 1})}, {"padding", ints({1, 1})}}) ==
      "window adjoint of the kernel(float32) batch 2, groups 1, channels 3 -> 4, 8 by 3 -> 4 "
      "stride 2 pad 1 0, 9 by 3 -> 9 pad 1 1\n");
}
