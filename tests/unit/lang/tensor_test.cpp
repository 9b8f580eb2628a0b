#include "lang/tensor.h"

#include <cstdint>
#include <limits>

#include <catch2/catch.hpp>

#include "lang/diagnostic.h"
#include "lang/pool.h"
#include "lang/sanitizer.h"

using namespace relay::lang;

namespace {

TensorRef iota(std::initializer_list<std::int64_t> shape) {
  TensorRef tensor = Tensor::make(DType::Int32, shape);
  for (std::int64_t i = 0; i < tensor->element_count(); ++i) tensor->data_as<std::int32_t>()[i] = i;
  return tensor;
}

}  // namespace

TEST_CASE("a fresh tensor is row-major and aligned") {
  const TensorRef tensor = iota({2, 3});
  CHECK(tensor->strides() == std::vector<std::int64_t>{3, 1});
  CHECK(tensor->is_contiguous());
  CHECK(reinterpret_cast<std::uintptr_t>(tensor->data()) % 64 == 0);
  CHECK(tensor->number_at(5) == 5);
  CHECK(Tensor::make(DType::Float32, {0, 4})->element_count() == 0);
  CHECK(Tensor::make(DType::Float32, {0, 4})->is_contiguous());
}

TEST_CASE("views share the buffer, and become contiguous copies on demand") {
  const TensorRef tensor = iota({2, 3});
  const TensorRef transposed = Tensor::view(*tensor, {3, 2}, {1, 3}, 0);
  CHECK_FALSE(transposed->is_contiguous());
  CHECK_FALSE(tensor->owns_buffer_alone());
  CHECK(transposed->bits_at(1) == 3);
  const TensorRef copy = contiguous(transposed);
  CHECK(copy->is_contiguous());
  CHECK(bit_equal(*copy, *transposed));
  CHECK_FALSE(bit_equal(*copy, *tensor));
  CHECK(contiguous(tensor) == tensor);

  const TensorRef reversed = Tensor::view(*tensor, {3}, {-1}, 5);
  CHECK(contiguous(reversed)->data_as<std::int32_t>()[0] == 5);
  const TensorRef broadcast = Tensor::view(*tensor, {2, 2}, {0, 1}, 4);
  CHECK(contiguous(broadcast)->data_as<std::int32_t>()[3] == 5);
  CHECK(Tensor::view(*tensor, {1, 3}, {99, 1}, 0)->is_contiguous());
}

TEST_CASE("elements keep their bits in every dtype") {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    const TensorRef tensor = Tensor::make(dtype, {3});
    for (int k = 0; k < 3; ++k) tensor->set_bits(k, bits_from_int(dtype, k % 2));
    CHECK(tensor->number_at(0) == 0);
    CHECK(tensor->number_at(1) == 1);
    CHECK(tensor->number_at(2) == 0);
  }
  CHECK(Tensor::scalar(DType::Int16, 0xffff)->number_at(0) == -1);
}

TEST_CASE("what does not fit in memory is a diagnostic") {
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  CHECK_THROWS_AS(Tensor::make(DType::Float32, {huge, huge}), Failure);
  CHECK_THROWS_AS(Tensor::make(DType::Float32, {std::int64_t{1} << 40}), Failure);
  CHECK_THROWS_AS(Tensor::make(DType::Float32, {std::int64_t{1} << 60}), Failure);
  CHECK(Tensor::make(DType::Float32, {huge, huge, 0})->element_count() == 0);
  const auto result = capture([&] { return Tensor::make(DType::Int8, {std::int64_t{3} << 40}); });
  REQUIRE_FALSE(result);
  CHECK(result.errors()[0].message == "there is no memory for a tensor of 3.0 TiB");
}

TEST_CASE("size classes cover every size with little waste") {
  std::size_t wrong = 0;
  for (std::size_t bytes = 0; bytes < 100000; ++bytes) {
    const std::size_t index = Pool::class_of(bytes);
    const std::size_t size = Pool::class_size(index);
    wrong += size < bytes || size % 64 != 0;
    wrong += index > 0 && Pool::class_size(index - 1) >= bytes;  // not the tightest
  }
  CHECK(wrong == 0);
  CHECK(Pool::class_of(Pool::kMaxBytes) < Pool::kClassCount);
  CHECK(Pool::class_size(Pool::class_of(Pool::kMaxBytes)) >= Pool::kMaxBytes);
}

TEST_CASE("the pool gives blocks again and keeps no more than its limit") {
  Pool pool(1 << 20);
  std::byte* small = pool.allocate(100);
  pool.release(small, 100);
  CHECK(pool.allocate(120) == small);
  pool.release(small, 120);

  const std::size_t chunk = 300 << 10;
  std::byte* blocks[6];
  for (std::byte*& block : blocks) block = pool.allocate(chunk);
  for (std::byte* block : blocks) pool.release(block, chunk);
  CHECK(pool.kept_bytes() <= 1 << 20);
  CHECK(pool.kept_bytes() >= 3 * chunk);
  std::byte* big = pool.allocate(8 << 20);  // above the limit: straight back to the system
  big[0] = big[(8 << 20) - 1] = std::byte{1};
  pool.release(big, 8 << 20);
  CHECK(pool.kept_bytes() <= 1 << 20);
  pool.trim();
  CHECK(pool.kept_bytes() == 0);
}

#if !defined(RELAY_ASAN)
TEST_CASE("a dropped tensor is made again, whatever was dropped before it") {
  for (std::int64_t i = 0; i < 100; ++i) Tensor::make(DType::Float32, {16000 + i});
  for (std::int64_t i = 0; i < 400; ++i) Tensor::make(DType::Float64, {i});
  for (const std::int64_t extent : {16, 16384}) {
    Tensor::make(DType::Int32, {extent});
    const std::size_t before = Tensor::bytes_made_again();
    Tensor::make(DType::Int32, {extent});
    CHECK(Tensor::bytes_made_again() - before >= 4 * static_cast<std::size_t>(extent));
  }
}

TEST_CASE("tensors of one shape that are dropped together are made again, as those of a tape") {
  constexpr std::size_t kCount = 5000;
  const auto make_all = [] {
    std::vector<TensorRef> tape;
    for (std::size_t i = 0; i < kCount; ++i) tape.push_back(Tensor::make(DType::Float64, {64}));
  };
  make_all();
  const std::size_t before = Tensor::bytes_made_again();
  make_all();
  CHECK(Tensor::bytes_made_again() - before >= kCount * 64 * sizeof(double));
  CHECK(Tensor::free_kept());
  CHECK(!Tensor::free_kept());
  make_all();
  CHECK(Tensor::bytes_made_again() - before < 2 * kCount * 64 * sizeof(double));
}
#endif
