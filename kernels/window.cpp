#include "kernels/window.h"

#include <omp.h>

#include <new>
#include <optional>
#include <unordered_map>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include "kernels/dnnl_parts.h"
#include "kernels/scratch.h"

namespace relay::kernels {

namespace {

using dnnl::memory;
using loops::LibraryKernel;
using loops::LibraryOperand;
using loops::Window;
using loops::WindowAxis;
using Dims = memory::dims;
using Desc = memory::desc;

// Smaller windows are not worth the milliseconds that making a convolution takes.
constexpr double kFewestWindowProducts = 1'048'576;
constexpr double kSmallWindowPart = 4'194'304;  // products of a part
constexpr std::int64_t kFewWindowParts = 4;
constexpr std::int64_t kChannelBlock = 16;  // oneDNN's; parts begin at multiples

// oneDNN puts channels in blocks of 8 or 16, of which a few fill little. Measured on one thread
// beside the loops (times of oneDNN / times of the loops; 128 to 512 by 128 to 512 places, windows
// of 3, 5 and 7; `bench/NOTES.md`): the result with one channel out 1.6 to 9, from 1 to 2, 1 to 4
// and 2 to 2 channels 0.7 to 7, from more 0.4 to 1.4; the adjoints from 1 to 1 channels 1.2 to 10,
// with 2 in or out 1.3 to 1.8, from more 0.01 to 1.5.
constexpr std::int64_t kFewResultChannels = 4;
constexpr std::int64_t kFewAdjointChannels = 2;

// Groups of one channel have kernels of their own.
bool has_few_channels(const Window& form) {
  if (form.groups != 1) return false;
  const std::int64_t pairs = form.in_channels * form.out_channels;
  if (form.result != Window::Result::Out) return pairs <= kFewAdjointChannels;
  return form.out_channels == 1 || pairs <= kFewResultChannels;
}

// A tensor of the window: dims and strides as oneDNN orders them.
struct Plain {
  Dims dims;
  Dims strides;

  Desc desc() const { return strided(dims, strides); }
  bool moves() const {
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] != 1 && strides[i] <= 0) return false;
    }
    return true;
  }
};

Plain data_of(std::int64_t batch, std::int64_t groups, std::int64_t channels,
              const Window::Strides& strides) {
  const std::int64_t channel = channels == 1 && groups > 1 ? strides.group : strides.channel;
  return {{batch, groups * channels}, {strides.batch, channel}};
}

struct Tensors {
  Plain in, out, kernel;
};

Tensors tensors_of(const Window& form) {
  Tensors made{data_of(form.batch, form.groups, form.in_channels, form.in),
               data_of(form.batch, form.groups, form.out_channels, form.out),
               {{form.out_channels, form.in_channels}, {form.kernel.out, form.kernel.in}}};
  if (form.groups > 1) {
    made.kernel.dims.insert(made.kernel.dims.begin(), form.groups);
    made.kernel.strides.insert(made.kernel.strides.begin(), form.kernel.group);
  }
  for (const WindowAxis& axis : form.axes) {
    made.in.dims.push_back(axis.in);
    made.in.strides.push_back(axis.in_stride);
    made.out.dims.push_back(axis.out);
    made.out.strides.push_back(axis.out_stride);
    made.kernel.dims.push_back(axis.kernel);
    made.kernel.strides.push_back(axis.kernel_stride);
  }
  return made;
}

// oneDNN has one axis for the channels of all groups.
bool groups_are_regular(const Window& form) {
  const auto regular = [&](const Window::Strides& strides, std::int64_t channels) {
    return form.groups == 1 || channels == 1 || strides.group == channels * strides.channel;
  };
  return regular(form.in, form.in_channels) && regular(form.out, form.out_channels);
}

// The primitive for one part, and the layouts that it wants.
struct Primitive {
  dnnl::primitive primitive;
  Desc in, out, kernel;
  std::size_t scratch = 0;
};

// Strides that oneDNN takes as they are: channels last. Other data is reordered into blocks.
Desc wanted(const Plain& plain, bool as_is) {
  return as_is ? plain.desc() : Desc(plain.dims, memory::data_type::f32, memory::format_tag::any);
}

template <class Descriptor>
std::optional<Primitive> finish(const Descriptor& descriptor) {
  // The reference and the matrix product of copied windows lose to the loops.
  const std::string name = descriptor.impl_info_str();
  if (name.find("ref") != std::string::npos) return std::nullopt;
  Primitive made;
  made.scratch = descriptor.scratchpad_desc().get_size();
  return made;
}

std::optional<Primitive> make_primitive(const Window& form, const Tensors& part, bool as_is) {
  Dims strides, dilation, front, back;
  for (const WindowAxis& axis : form.axes) {
    strides.push_back(axis.stride);
    dilation.push_back(axis.dilation - 1);
    front.push_back(axis.front);
    back.push_back(axis.back);
  }
  const Desc in = wanted(part.in, as_is);
  const Desc out = wanted(part.out, as_is);
  const Desc kernel = wanted(part.kernel, false);
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  using Forward = dnnl::convolution_forward;
  using Data = dnnl::convolution_backward_data;
  using Weights = dnnl::convolution_backward_weights;
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
  constexpr auto kKind = dnnl::prop_kind::forward_training;
  const Forward::primitive_desc forward(
      {kKind, kDirect, in, kernel, out, strides, dilation, front, back}, attr, dnnl_engine());
  if (form.result == Window::Result::Out) {
    auto made = finish(forward);
    if (!made) return made;
    made->primitive = Forward(forward);
    made->in = forward.src_desc();
    made->kernel = forward.weights_desc();
    made->out = forward.dst_desc();
    return made;
  }
  if (form.result == Window::Result::In) {
    const Data::primitive_desc adjoint({kDirect, in, kernel, out, strides, dilation, front, back},
                                       attr, dnnl_engine(), forward);
    auto made = finish(adjoint);
    if (!made) return made;
    made->primitive = Data(adjoint);
    made->in = adjoint.diff_src_desc();
    made->kernel = adjoint.weights_desc();
    made->out = adjoint.diff_dst_desc();
    return made;
  }
  const Weights::primitive_desc adjoint({kDirect, in, kernel, out, strides, dilation, front, back},
                                        attr, dnnl_engine(), forward);
  auto made = finish(adjoint);
  if (!made) return made;
  made->primitive = Weights(adjoint);
  made->in = adjoint.src_desc();
  made->kernel = adjoint.diff_weights_desc();
  made->out = adjoint.diff_dst_desc();
  return made;
}

// One of the three tensors, as a part sees it and as the primitive wants it.
struct Side {
  Desc plain, wanted;
  int argument = 0;
  std::int64_t step = 0;        // between parts, in elements
  std::int64_t other_step = 0;  // result only: with the other operand's parts
  bool is_reordered = false;
  dnnl::reorder reorder;

  std::size_t size() const { return wanted.get_size(); }
};

void execute(const dnnl::primitive& primitive, const std::unordered_map<int, memory>& arguments) {
  omp_set_num_threads(1);  // of this thread: the parts are what runs in parallel
  try {
    dnnl::stream stream(dnnl_engine());
    primitive.execute(stream, arguments);
    stream.wait();
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw std::bad_alloc();
    throw;
  }
}

// The left operand falls into parts, and so does the right one; each pair of them makes a part of
// the result. Every part is one call of the same primitive on one thread.
class Convolution final : public LibraryKernel {
 public:
  Convolution(Primitive primitive, Side left, Side right, Side result, std::int64_t left_parts,
              std::int64_t right_parts)
      : primitive_(std::move(primitive)),
        left_(std::move(left)),
        right_(std::move(right)),
        result_(std::move(result)),
        left_parts_(left_parts),
        right_parts_(right_parts) {}

  void run(const LibraryOperand& left_operand, const LibraryOperand& right_operand, void* result,
           const Parallel& parallel) const override {
    const void* const left = left_operand.data;
    const void* const right = right_operand.data;
    const Scratch left_blocks(left_.is_reordered ? left_.size() * to_size(left_parts_) : 0);
    const Scratch right_blocks(right_.is_reordered ? right_.size() * to_size(right_parts_) : 0);
    const std::int64_t reorders =
        (left_.is_reordered ? left_parts_ : 0) + (right_.is_reordered ? right_parts_ : 0);
    parallel(static_cast<int>(reorders), [&](int part) {
      const bool is_left = left_.is_reordered && part < left_parts_;
      const std::int64_t number = is_left || !left_.is_reordered ? part : part - left_parts_;
      if (is_left) {
        bring(left_, left, left_blocks, number);
      } else {
        bring(right_, right, right_blocks, number);
      }
    });
    parallel(static_cast<int>(left_parts_ * right_parts_), [&](int part) {
      compute(left, left_blocks, right, right_blocks, static_cast<float*>(result),
              part / right_parts_, part % right_parts_);
    });
  }

 private:
  static std::size_t to_size(std::int64_t count) { return static_cast<std::size_t>(count); }

  static float* at(const Side& side, const void* data, std::int64_t part) {
    return const_cast<float*>(static_cast<const float*>(data)) + part * side.step;
  }

  static void bring(const Side& side, const void* data, const Scratch& blocks, std::int64_t part) {
    const memory from(side.plain, dnnl_engine(), at(side, data, part));
    const memory to(side.wanted, dnnl_engine(), blocks.data() + side.size() * to_size(part));
    execute(side.reorder, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  }

  static memory operand(const Side& side, const void* data, const Scratch& blocks,
                        std::int64_t part) {
    if (!side.is_reordered) return {side.wanted, dnnl_engine(), at(side, data, part)};
    return {side.wanted, dnnl_engine(), blocks.data() + side.size() * to_size(part)};
  }

  void compute(const void* left, const Scratch& left_blocks, const void* right,
               const Scratch& right_blocks, float* result, std::int64_t i, std::int64_t j) const {
    float* const target = result + i * result_.step + j * result_.other_step;
    const Scratch own(result_.is_reordered ? result_.size() : 0);
    const Scratch work(primitive_.scratch);
    const memory made(result_.wanted, dnnl_engine(),
                      result_.is_reordered ? static_cast<void*>(own.data()) : target);
    std::unordered_map<int, memory> arguments = {
        {left_.argument, operand(left_, left, left_blocks, i)},
        {right_.argument, operand(right_, right, right_blocks, j)},
        {result_.argument, made}};
    if (primitive_.scratch != 0) {
      const Desc desc({static_cast<memory::dim>(primitive_.scratch)}, memory::data_type::u8,
                      memory::format_tag::a);
      arguments.emplace(DNNL_ARG_SCRATCHPAD, memory(desc, dnnl_engine(), work.data()));
    }
    execute(primitive_.primitive, arguments);
    if (!result_.is_reordered) return;
    const memory plain(result_.plain, dnnl_engine(), target);
    execute(result_.reorder, {{DNNL_ARG_FROM, made}, {DNNL_ARG_TO, plain}});
  }

  Primitive primitive_;
  Side left_, right_, result_;
  std::int64_t left_parts_, right_parts_;
};

// How many parts the batch falls into: no smaller than is worth a thread, all of the same size.
std::int64_t batch_parts(std::int64_t batch, double products) {
  for (std::int64_t parts = batch; parts > 1; --parts) {
    if (batch % parts == 0 && products / static_cast<double>(parts) >= kSmallWindowPart)
      return parts;
  }
  return 1;
}

// The same for channels, as many as `enough`.
std::int64_t channel_parts(std::int64_t channels, std::int64_t groups, double products,
                           std::int64_t enough) {
  if (groups != 1) return 1;
  for (std::int64_t parts = enough; parts > 1; parts /= 2) {
    if (channels % (parts * kChannelBlock) != 0) continue;
    if (products / static_cast<double>(parts) >= kSmallWindowPart) return parts;
  }
  return 1;
}

struct Parts {
  std::int64_t left = 1, right = 1;
};

Parts parts_of(const Window& form) {
  const double products = loops::products_of(form);
  Parts parts;
  if (form.result == Window::Result::Kernel) {
    parts.right = channel_parts(form.out_channels, form.groups, products, kFewWindowParts);
    const std::int64_t missing = kFewWindowParts / parts.right;
    parts.left = channel_parts(form.in_channels, form.groups,
                               products / static_cast<double>(parts.right), missing);
    return parts;
  }
  parts.left = batch_parts(form.batch, products);
  if (parts.left < kFewWindowParts) {
    const bool is_forward = form.result == Window::Result::Out;
    parts.right =
        channel_parts(is_forward ? form.out_channels : form.in_channels, form.groups,
                      products / static_cast<double>(parts.left), kFewWindowParts / parts.left);
  }
  return parts;
}

// What one part computes.
Window part_of(Window form, const Parts& parts) {
  switch (form.result) {
    case Window::Result::Out:
      form.batch /= parts.left;
      form.out_channels /= parts.right;
      break;
    case Window::Result::In:
      form.batch /= parts.left;
      form.in_channels /= parts.right;
      break;
    case Window::Result::Kernel:
      form.in_channels /= parts.left;
      form.out_channels /= parts.right;
      break;
  }
  return form;
}

Side side_of(const Plain& plain, const Desc& wanted, int argument, bool is_result) {
  Side side;
  side.plain = plain.desc();
  side.wanted = wanted;
  side.argument = argument;
  side.is_reordered = side.plain != wanted;
  if (!side.is_reordered) return side;
  const Desc& from = is_result ? wanted : side.plain;
  const Desc& to = is_result ? side.plain : wanted;
  side.reorder =
      dnnl::reorder(dnnl::reorder::primitive_desc(dnnl_engine(), from, dnnl_engine(), to));
  return side;
}

std::shared_ptr<const LibraryKernel> assemble(const Window& part, const Parts& parts,
                                              const Tensors& tensors, Primitive primitive) {
  using Result = Window::Result;
  const Result result = part.result;
  const int in_argument = result == Result::In ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC;
  const int out_argument = result == Result::Out ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST;
  const int kernel_argument = result == Result::Kernel ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS;
  Side in = side_of(tensors.in, primitive.in, in_argument, result == Result::In);
  Side out = side_of(tensors.out, primitive.out, out_argument, result == Result::Out);
  Side kernel =
      side_of(tensors.kernel, primitive.kernel, kernel_argument, result == Result::Kernel);
  switch (result) {
    case Result::Out:
      in.step = part.batch * part.in.batch;
      kernel.step = part.out_channels * part.kernel.out;
      out.step = part.batch * part.out.batch;
      out.other_step = part.out_channels * part.out.channel;
      return std::make_shared<Convolution>(std::move(primitive), std::move(in), std::move(kernel),
                                           std::move(out), parts.left, parts.right);
    case Result::In:
      out.step = part.batch * part.out.batch;
      kernel.step = part.in_channels * part.kernel.in;
      in.step = part.batch * part.in.batch;
      in.other_step = part.in_channels * part.in.channel;
      return std::make_shared<Convolution>(std::move(primitive), std::move(out), std::move(kernel),
                                           std::move(in), parts.left, parts.right);
    case Result::Kernel:
      in.step = part.in_channels * part.in.channel;
      out.step = part.out_channels * part.out.channel;
      kernel.step = part.in_channels * part.kernel.in;
      kernel.other_step = part.out_channels * part.kernel.out;
      return std::make_shared<Convolution>(std::move(primitive), std::move(in), std::move(out),
                                           std::move(kernel), parts.left, parts.right);
  }
  return nullptr;
}

}  // namespace

std::shared_ptr<const LibraryKernel> make_window(const Window& form) {
  if (form.dtype != lang::DType::Float32 || loops::products_of(form) < kFewestWindowProducts)
    return nullptr;
  if (!groups_are_regular(form) || has_few_channels(form)) return nullptr;
  // oneDNN settles how many threads a primitive takes when it makes it.
  omp_set_num_threads(1);
  try {
    const Parts parts = parts_of(form);
    const Window part = part_of(form, parts);
    const Tensors tensors = tensors_of(part);
    if (!tensors.in.moves() || !tensors.out.moves() || !tensors.kernel.moves()) return nullptr;
    const bool is_channels_last = tensors.in.strides[1] == 1 && tensors.out.strides[1] == 1;
    auto primitive = make_primitive(part, tensors, is_channels_last);
    if (!primitive) return nullptr;
    return assemble(part, parts, tensors, std::move(*primitive));
  } catch (const dnnl::error&) {
    return nullptr;  // oneDNN has no such convolution
  }
}

}  // namespace relay::kernels
