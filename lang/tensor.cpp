#include "lang/tensor.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "lang/diagnostic.h"
#include "lang/extents.h"
#include "lang/memory.h"
#include "lang/pool.h"
#include "lang/sanitizer.h"
#include "lang/wrapped_memory.h"

namespace relay::lang {
namespace {

std::string shape_text(std::span<const std::int64_t> shape) {
  return fmt::format("({})", fmt::join(shape, ", "));
}

// Bytes of a tensor; throws Failure(OutOfMemory) where the product does not fit.
std::size_t byte_count(DType dtype, std::span<const std::int64_t> shape) {
  for (const std::int64_t extent : shape) RELAY_CHECK(extent >= 0, "negative extent");
  const auto count = product_of(shape);
  const auto bytes = count ? checked_mul(*count, size_of(dtype)) : std::nullopt;
  if (!bytes) {
    fail(DiagnosticKind::OutOfMemory,
         fmt::format("a `{}` tensor of shape `{}` is larger than any memory", name_of(dtype),
                     shape_text(shape)));
  }
  return static_cast<std::size_t>(*bytes);
}

std::vector<std::int64_t> row_major(std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::uint64_t stride = 1;  // may wrap where an extent is 0; such a tensor has no element
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = static_cast<std::int64_t>(stride);
    stride *= static_cast<std::uint64_t>(shape[axis]);
  }
  return strides;
}

std::uint64_t load(const std::byte* from, std::size_t size) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, size);
  return bits;
}

// The offset, in elements, of each element of a strided tensor, in row-major order.
template <class F>
void for_each_offset(const Tensor& tensor, F&& visit) {
  const std::int64_t count = tensor.element_count();
  const std::vector<std::int64_t>& shape = tensor.shape();
  const std::vector<std::int64_t>& strides = tensor.strides();
  std::vector<std::int64_t> index(shape.size(), 0);
  std::int64_t offset = 0;
  for (std::int64_t linear = 0; linear < count; ++linear) {
    visit(linear, offset);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < shape[axis]) break;
      offset -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

template <class T>
void gather(const Tensor& from, std::byte* to) {
  const std::byte* base = from.data();
  for_each_offset(from, [&](std::int64_t linear, std::int64_t offset) {
    std::memcpy(to + linear * sizeof(T), base + offset * static_cast<std::int64_t>(sizeof(T)),
                sizeof(T));
  });
}

// The nearest float towards zero, its last bit set when that is not exact ("round to odd"):
// rounding it once more, to fewer than 23 bits, gives what rounding `value` itself gives.
float odd_float(double value) {
  const auto nearest = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(nearest) == value) return nearest;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value)) --bits;
  return std::bit_cast<float>(bits | 1);
}

// The same for an integer as a double.
double odd_double(std::int64_t value) {
  const std::uint64_t magnitude = value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value)
                                            : static_cast<std::uint64_t>(value);
  if (magnitude < (std::uint64_t{1} << 53)) return static_cast<double>(value);
  const std::uint64_t sticky = (magnitude & 0x7ff) ? 0x800 : 0;
  const auto rounded = static_cast<double>((magnitude & ~std::uint64_t{0x7ff}) | sticky);
  return value < 0 ? -rounded : rounded;
}

std::uint64_t mask_to(DType dtype, std::uint64_t bits) {
  const std::size_t size = size_of(dtype);
  return size == 8 ? bits : bits & ((std::uint64_t{1} << (size * 8)) - 1);
}

std::int64_t sign_extend(DType dtype, std::uint64_t bits) {
  switch (size_of(dtype)) {
    case 1:
      return static_cast<std::int8_t>(bits);
    case 2:
      return static_cast<std::int16_t>(bits);
    case 4:
      return static_cast<std::int32_t>(bits);
    default:
      return static_cast<std::int64_t>(bits);
  }
}

// Towards zero, held at the ends of the range; NaN gives 0.
std::uint64_t saturate(DType dtype, double value) {
  if (std::isnan(value)) return 0;
  const int width = bits_of(dtype);
  if (is_unsigned_int(dtype)) {
    if (value <= 0) return 0;
    if (value >= std::ldexp(1.0, width)) return mask_to(dtype, ~std::uint64_t{0});
    return static_cast<std::uint64_t>(value);
  }
  const double bound = std::ldexp(1.0, width - 1);
  const std::uint64_t top = std::uint64_t{1} << (width - 1);
  if (value >= bound) return top - 1;
  if (value <= -bound) return top;
  return mask_to(dtype, static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
}

}  // namespace

std::uint64_t Buffer::last_content_ = 0;

// A smaller one is not what takes up the memory that a run may take.
static constexpr std::size_t kLargeTensor = std::size_t{1} << 20;

Ref<Buffer> Buffer::allocate(std::size_t bytes) {
  std::byte* data = Pool::instance().allocate(bytes);
  if (!data && Tensor::free_kept()) data = Pool::instance().allocate(bytes);
  if (!data) {
    const bool is_limit = !memory_fits(bytes) && bytes <= available_memory();
    const bool is_to_blame = !is_limit || bytes >= kLargeTensor;
    Diagnostic error(
        DiagnosticKind::OutOfMemory,
        is_to_blame ? fmt::format("there is no memory for a tensor of {}", describe_bytes(bytes))
                    : "the memory that a run may take is used up");
    if (is_limit) error.note(memory_limit_help());
    throw Failure(std::move(error));
  }
  try {
    return Ref<Buffer>(new Buffer(data, bytes));
  } catch (...) {
    Pool::instance().release(data, bytes);
    throw;
  }
}

Buffer::~Buffer() {
  if (size_ == kWrapperSize) release_wrapped(data_);
  Pool::instance().release(data_, size_);
}

// --- Tensors that have been dropped ---

// A list for each of the shapes that are made most, the newest first. Trivially destructible:
// tensors with static storage are freed after thread-locals.
struct KeptTensors {
  static constexpr std::size_t kSets = 32;
  static constexpr std::size_t kWays = 8;
  static constexpr std::size_t kLargest = 65536;          // bytes
  static constexpr std::size_t kMost = 16 * 1024 * 1024;  // of all
  static constexpr std::size_t kAround = 256;             // about, of one without its elements
#if defined(RELAY_ASAN)
  static constexpr bool kKeeps = false;  // what is used after it was freed is to be seen
#else
  static constexpr bool kKeeps = true;
#endif
  // Whoever gives a tensor back looks at the key alone, and not at what others have left.
  struct List {
    std::uint64_t key = 0;  // of the shape and dtype; two may have the same
    Tensor* first = nullptr;
  };
  using Set = std::array<List, kWays>;
  std::array<Set, kSets> sets{};
  std::size_t bytes_made_again = 0;
  std::size_t next = 0;  // list that makes room
  std::size_t bytes = 0;

  static std::uint64_t key_of(DType dtype, std::span<const std::int64_t> shape) {
    auto hash = (static_cast<std::uint64_t>(dtype) + 1) * 0x9e3779b97f4a7c15;
    for (const std::int64_t extent : shape)
      hash = (hash ^ static_cast<std::uint64_t>(extent)) * 0x9e3779b97f4a7c15;
    return hash;
  }
  Set& set_of(std::uint64_t key) { return sets[key >> 32 & (kSets - 1)]; }

  static std::size_t size_of(const Tensor& tensor) { return tensor.buffer_->size() + kAround; }
  static bool is_like(const Tensor* tensor, DType dtype, std::span<const std::int64_t> shape) {
    if (tensor->dtype_ != dtype || tensor->shape_.size() != shape.size()) return false;
    for (std::size_t i = 0; i < shape.size(); ++i) {  // so few that a call of memcmp takes longer
      if (tensor->shape_[i] != shape[i]) return false;
    }
    return true;
  }

  // False where it is to be freed. Those of other lists make room, by turns.
  bool keep(Tensor* tensor) {
    if (!kKeeps || !tensor->is_whole_ || tensor->buffer_->size() > kLargest ||
        !tensor->buffer_->is_unique())
      return false;
    while (bytes + size_of(*tensor) > kMost) {
      Tensor*& first = sets[next / kWays % kSets][next % kWays].first;
      if (first) free(pop(first));
      if (!first) ++next;
    }
    Tensor*& first = list_for(key_of(tensor->dtype_, tensor->shape_));
    tensor->next_kept_ = std::exchange(first, tensor);
    bytes += size_of(*tensor);
    return true;
  }

  // Null if there is none with the key.
  static List* find(Set& set, std::uint64_t key) {
    const auto found =
        std::find_if(set.begin(), set.end(), [&](const List& list) { return list.key == key; });
    return found == set.end() ? nullptr : &*found;
  }

  // Its own, or an empty one.
  Tensor*& list_for(std::uint64_t key) {
    Set& set = set_of(key);
    if (List* const own = find(set, key)) return own->first;
    const auto empty =
        std::find_if(set.begin(), set.end(), [](const List& list) { return !list.first; });
    List& list = empty == set.end() ? set[next++ % kWays] : *empty;
    free_all(list.first);
    list.key = key;
    return list.first;
  }

  Tensor* pop(Tensor*& first) {
    Tensor* const tensor = first;
    first = std::exchange(tensor->next_kept_, nullptr);
    bytes -= size_of(*tensor);
    return tensor;
  }

  void free_all(Tensor*& first) {
    while (first) free(pop(first));
  }

  bool free_all() {
    const bool has_some = bytes > 0;
    for (Set& set : sets) {
      for (List& list : set) free_all(list.first);
    }
    return has_some;
  }

  // Memory that is wrapped lies elsewhere than in its buffer (lang/wrapped_memory.h).
  static bool is_wrapped(const Tensor& tensor) {
    const Buffer& buffer = *tensor.buffer_;
    return buffer.size() == kWrapperSize &&
           (tensor.data_ < buffer.data() || tensor.data_ > buffer.data() + buffer.size());
  }

  static void free(Tensor* tensor) {
    tensor->~Tensor();
    ::operator delete(tensor);
  }

  // One that is to be counted for the first time; null if there is none.
  Tensor* take(DType dtype, std::span<const std::int64_t> shape) {
    const std::uint64_t key = key_of(dtype, shape);
    List* const list = find(set_of(key), key);
    if (!list || !list->first || !is_like(list->first, dtype, shape)) return nullptr;
    bytes_made_again += Pool::class_size(Pool::class_of(list->first->buffer_->size()));
    return pop(list->first);
  }
};

namespace {

constinit thread_local KeptTensors kept_tensors;

}  // namespace

void Tensor::operator delete(Tensor* tensor, std::destroying_delete_t) {
  if (!kept_tensors.keep(tensor)) KeptTensors::free(tensor);
}

bool is_wrapped(const Tensor& tensor) { return KeptTensors::is_wrapped(tensor); }

bool Tensor::free_kept() { return kept_tensors.free_all(); }
std::size_t Tensor::bytes_made_again() { return kept_tensors.bytes_made_again; }

TensorRef Tensor::make(DType dtype, std::span<const std::int64_t> shape) {
  if (Tensor* const kept = kept_tensors.take(dtype, shape)) {
    kept->forget_content();
    return TensorRef(kept);
  }
  Ref<Buffer> buffer = Buffer::allocate(byte_count(dtype, shape));
  std::byte* data = buffer->data();
  TensorRef made(
      new Tensor(dtype, {shape.begin(), shape.end()}, row_major(shape), std::move(buffer), data));
  made->is_whole_ = true;
  return made;
}

TensorRef Tensor::make(DType dtype, std::initializer_list<std::int64_t> shape) {
  return make(dtype, std::span<const std::int64_t>(shape.begin(), shape.size()));
}

TensorRef Tensor::scalar(DType dtype, std::uint64_t bits) {
  TensorRef tensor = make(dtype, {});
  std::memcpy(tensor->data(), &bits, size_of(dtype));
  return tensor;
}

TensorRef Tensor::view(const Tensor& base, std::vector<std::int64_t> shape,
                       std::vector<std::int64_t> strides, std::int64_t offset_elements) {
  RELAY_CHECK(shape.size() == strides.size(), "a view has one stride per axis");
  std::byte* data = base.data_ + offset_elements * static_cast<std::int64_t>(size_of(base.dtype_));
  return TensorRef(
      new Tensor(base.dtype_, std::move(shape), std::move(strides), base.buffer_, data));
}

std::int64_t Tensor::element_count() const {
  std::uint64_t count = 1;
  for (const std::int64_t extent : shape_) {
    if (extent == 0) return 0;
    count *= static_cast<std::uint64_t>(extent);
  }
  return static_cast<std::int64_t>(count);
}

bool Tensor::is_contiguous() const {
  std::int64_t expected = 1;
  bool contiguous = true;
  for (std::size_t axis = shape_.size(); axis-- > 0;) {
    if (shape_[axis] == 0) return true;
    if (!contiguous || shape_[axis] == 1) continue;
    contiguous = strides_[axis] == expected;
    expected *= shape_[axis];
  }
  return contiguous;
}

std::int64_t Tensor::offset_of(std::int64_t linear) const {
  std::int64_t offset = 0;
  for (std::size_t axis = shape_.size(); axis-- > 0;) {
    offset += linear % shape_[axis] * strides_[axis];
    linear /= shape_[axis];
  }
  return offset;
}

std::uint64_t Tensor::bits_at(std::int64_t linear) const {
  const std::size_t size = size_of(dtype_);
  return load(data_ + offset_of(linear) * static_cast<std::int64_t>(size), size);
}

double Tensor::number_at(std::int64_t linear) const {
  return double_from_bits(dtype_, bits_at(linear));
}

void Tensor::set_bits(std::int64_t linear, std::uint64_t bits) {
  const std::size_t size = size_of(dtype_);
  std::memcpy(data_ + offset_of(linear) * static_cast<std::int64_t>(size), &bits, size);
}

TensorRef contiguous(const TensorRef& tensor) {
  if (tensor->is_contiguous()) return tensor;
  TensorRef copy = Tensor::make(tensor->dtype(), tensor->shape());
  switch (size_of(tensor->dtype())) {
    case 1:
      gather<std::uint8_t>(*tensor, copy->data());
      break;
    case 2:
      gather<std::uint16_t>(*tensor, copy->data());
      break;
    case 4:
      gather<std::uint32_t>(*tensor, copy->data());
      break;
    default:
      gather<std::uint64_t>(*tensor, copy->data());
      break;
  }
  return copy;
}

bool bit_equal(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  const std::int64_t count = a.element_count();
  const std::size_t size = size_of(a.dtype());
  if (a.is_contiguous() && b.is_contiguous()) {
    return count == 0 ||
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(count) * size) == 0;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    if (a.bits_at(i) != b.bits_at(i)) return false;
  }
  return true;
}

std::uint64_t bits_from_double(DType dtype, double value) {
  switch (dtype) {
    case DType::Bool:
      return value != 0;
    case DType::Float16:
      return float_to_half(odd_float(value));
    case DType::BFloat16:
      return float_to_bfloat16(odd_float(value));
    case DType::Float32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case DType::Float64:
      return std::bit_cast<std::uint64_t>(value);
    default:
      return saturate(dtype, value);
  }
}

bool can_represent(DType dtype, double value) {
  if (!std::isfinite(value) || value == 0) return true;
  const double kept = double_from_bits(dtype, bits_from_double(dtype, value));
  return std::isfinite(kept) && kept != 0;
}

std::uint64_t bits_from_int(DType dtype, std::int64_t value) {
  switch (dtype) {
    case DType::Bool:
      return value != 0;
    case DType::Float16:
    case DType::BFloat16:
      return bits_from_double(dtype, odd_double(value));
    case DType::Float32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case DType::Float64:
      return std::bit_cast<std::uint64_t>(static_cast<double>(value));
    default:
      return mask_to(dtype, static_cast<std::uint64_t>(value));
  }
}

double double_from_bits(DType dtype, std::uint64_t bits) {
  switch (dtype) {
    case DType::Bool:
      return bits != 0 ? 1 : 0;
    case DType::Float16:
      return half_to_float(static_cast<std::uint16_t>(bits));
    case DType::BFloat16:
      return bfloat16_to_float(static_cast<std::uint16_t>(bits));
    case DType::Float32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case DType::Float64:
      return std::bit_cast<double>(bits);
    default:
      break;
  }
  if (is_unsigned_int(dtype)) return static_cast<double>(mask_to(dtype, bits));
  return static_cast<double>(sign_extend(dtype, bits));
}

std::int64_t int_from_bits(DType dtype, std::uint64_t bits) {
  if (dtype == DType::Bool) return bits != 0;
  if (is_float(dtype)) {
    return static_cast<std::int64_t>(saturate(DType::Int64, double_from_bits(dtype, bits)));
  }
  if (is_unsigned_int(dtype)) return static_cast<std::int64_t>(mask_to(dtype, bits));
  return sign_extend(dtype, bits);
}

}  // namespace relay::lang
