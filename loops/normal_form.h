#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lang/dtype.h"

// Sums of products that a library computes faster than a nest, as plain data: contractions (matrix
// products in general) and windows that slide over the axes of a tensor (convolutions and their
// adjoints). They are recognised by how a definition's indices walk its operands (loops/recognise),
// never by an operator's name. All strides are in elements.
namespace relay::loops {

// A loop of a contraction, and how far each tensor moves with it.
struct ContractionAxis {
  std::int64_t extent;
  std::int64_t a, b, c;
  friend bool operator==(const ContractionAxis&, const ContractionAxis&) = default;
};

// c[batch, row, column] = sum over contracted of a[batch, row, contracted] * b[batch, contracted,
// column], where each of the four stands for any number of axes, outermost first. Axes that the
// tensors walk as one are one; none has the extent 1.
struct Contraction {
  lang::DType dtype;
  std::vector<ContractionAxis> batch, rows, columns, contracted;
  bool adds = false;  // to what c holds
};

// A spatial axis: place `out` meets, with tap `kernel`, the input's element
// out * stride + kernel * dilation - front, or a zero where there is none. `back`: how many zeros
// the last place needs behind the input.
struct WindowAxis {
  std::int64_t in, out, kernel;
  std::int64_t stride, dilation;
  std::int64_t front, back;
  std::int64_t in_stride, out_stride, kernel_stride;
  friend bool operator==(const WindowAxis&, const WindowAxis&) = default;
};

// out[n, g, o, places] = sum over i, taps of in[n, g, i, places * stride + taps * dilation - front]
// * kernel[g, o, i, taps], or the sum of the same products for the input or the kernel instead.
struct Window {
  enum class Result : std::uint8_t { Out, In, Kernel };
  Result result;
  lang::DType dtype;
  std::int64_t batch, groups, in_channels, out_channels;  // channels of a group
  struct Strides {
    std::int64_t batch, group, channel;
    friend bool operator==(const Strides&, const Strides&) = default;
  };
  Strides in, out;
  struct KernelStrides {
    std::int64_t group, out, in;
    friend bool operator==(const KernelStrides&, const KernelStrides&) = default;
  };
  KernelStrides kernel;
  std::vector<WindowAxis> axes;  // one, two or three
};

// Operands, left and right, are a and b of a contraction; of a window those of in, out, kernel, in
// this order, that are not the result.
using NormalForm = std::variant<Contraction, Window>;

lang::DType dtype_of(const NormalForm& form);
// How many products are summed.
double products_of(const NormalForm& form);
// For `:show loops`: one line.
std::string to_string(const NormalForm& form);

// How something goes through a tensor row by row.
struct RowWalk {
  std::int64_t stride = 0;  // from row to row, in elements
  bool is_in_row = true;  // what belongs to a row lies within one stride, from a multiple of it on
  std::int64_t extent = 0;  // elements of a row that it touches, at most
};

// The rows of a result that can be computed some at a time, and what each touches of the tensors.
struct RowWise {
  std::int64_t rows = 1;
  RowWalk left, right, result;
};

// Of so many rows, or a multiple, are those that a library computes fastest.
inline constexpr std::int64_t kLibraryRows = 24;

struct LibraryOperand {
  const void* data = nullptr;
  std::uint64_t content =
      0;  // equal numbers: the same elements (lang::Buffer::content); 0: not known
};

// A library's function for one normal form.
class LibraryKernel {
 public:
  // parallel(parts, f) calls f(0) ... f(parts - 1), each once, on any threads and in any order, and
  // returns when all are done, or some of them when the run is stopped.
  using Parallel = std::function<void(int parts, const std::function<void(int)>& part)>;

  virtual ~LibraryKernel() = default;
  // Which parts there are depends on the form alone, so the number of threads changes no bit.
  // Throws std::bad_alloc where there is no memory to work in, also from parts.
  virtual void run(const LibraryOperand& left, const LibraryOperand& right, void* result,
                   const Parallel& parallel) const = 0;

  // Nothing where the result is computed as a whole only.
  virtual std::optional<RowWise> by_rows() const { return std::nullopt; }
  // What computes rows [begin, end) when called, on any thread. Needs by_rows(). An operand without
  // rows is read now; the bits are those of run.
  using Rows = std::function<void(std::int64_t begin, std::int64_t end)>;
  virtual Rows begin_rows(const LibraryOperand& left, const LibraryOperand& right, void* result,
                          const Parallel& parallel) const;
};

// The libraries at hand. kernels/ has one; lowering is handed it.
class KernelLibrary {
 public:
  virtual ~KernelLibrary() = default;
  // Null where the nest is the better choice: too small, another dtype, strides that no library
  // takes. Depends on the form alone.
  virtual std::shared_ptr<const LibraryKernel> choose(const NormalForm& form) = 0;
};

}  // namespace relay::loops
