#include "interp/lanes.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "loops/reduction_tree.h"

namespace {

using namespace relay;
using lang::DType;
using lang::Prim;
using lang::ReduceOp;
using loops::Address;
using loops::Code;
using loops::Instruction;
using loops::Kernel;
using loops::KernelError;
using loops::kReductionBlock;
using loops::kReductionLanes;
using loops::Size;
using loops::ValueId;

// Few words to write kernels down in. Instructions go to region `at`.
struct Maker {
  Kernel kernel;
  std::int32_t at = 0;

  Maker() { kernel.regions.resize(1); }
  ValueId add(Instruction instruction) {
    instruction.id = kernel.value_count++;
    kernel.regions[static_cast<std::size_t>(at)].code.push_back(instruction);
    return instruction.id;
  }
  std::int32_t axis(std::int64_t extent) {
    kernel.extents.push_back(Size::literal(extent));
    return static_cast<std::int32_t>(kernel.extents.size()) - 1;
  }
  std::int32_t buffer(DType dtype, bool is_output = false) {
    kernel.buffers.push_back({dtype, is_output});
    return static_cast<std::int32_t>(kernel.buffers.size()) - 1;
  }
  ValueId index(std::int32_t axis) {
    Instruction instruction{};
    instruction.code = Code::Axis;
    instruction.dtype = DType::Int64;
    instruction.axis = axis;
    return add(instruction);
  }
  static Address address(std::vector<std::pair<ValueId, std::int64_t>> terms) {
    Address result;
    for (const auto& [index, stride] : terms)
      result.terms.push_back({index, Size::literal(stride)});
    result.offset = Size::literal(0);
    return result;
  }
  ValueId load(std::int32_t buffer, std::vector<std::pair<ValueId, std::int64_t>> terms) {
    Instruction instruction{};
    instruction.code = Code::Load;
    instruction.dtype = kernel.buffers[static_cast<std::size_t>(buffer)].dtype;
    instruction.buffer = buffer;
    instruction.address = address(std::move(terms));
    return add(instruction);
  }
  ValueId prim(Prim prim, DType dtype, std::vector<ValueId> args) {
    Instruction instruction{};
    instruction.code = Code::Primitive;
    instruction.dtype = dtype;
    instruction.prim = prim;
    instruction.args = std::move(args);
    return add(instruction);
  }
  ValueId check(ValueId index, std::int64_t extent) {
    Instruction instruction{};
    instruction.code = Code::CheckIndex;
    instruction.dtype = DType::Int64;
    instruction.args = {index};
    instruction.size = Size::literal(extent);
    instruction.site = static_cast<std::int32_t>(kernel.sites.size());
    kernel.sites.push_back({});
    return add(instruction);
  }
  ValueId reduce(ReduceOp op, DType dtype, std::int32_t region) {
    kernel.regions[static_cast<std::size_t>(region)].op = op;
    Instruction instruction{};
    instruction.code = Code::Reduce;
    instruction.dtype = dtype;
    instruction.region = region;
    return add(instruction);
  }
  std::int32_t region(std::vector<std::int32_t> axes) {
    kernel.regions.emplace_back();
    kernel.regions.back().axes = std::move(axes);
    return static_cast<std::int32_t>(kernel.regions.size()) - 1;
  }
};

std::vector<float> noise(std::size_t count) {
  std::mt19937 random(17);
  std::uniform_real_distribution<float> spread(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) value = spread(random);
  return values;
}

// The sum that loops/loop_ir.h prescribes, of elements begin .. end - 1.
template <class Element>
float tree_sum(std::int64_t begin, std::int64_t end, const Element& element) {
  std::int64_t first = kReductionBlock;
  if (end - begin > first) {
    while (2 * first < end - begin) first *= 2;
    return tree_sum(begin, begin + first, element) + tree_sum(begin + first, end, element);
  }
  float partial[kReductionLanes] = {};
  for (std::int64_t t = begin; t < end; ++t) partial[t % kReductionLanes] += element(t);
  for (int width = kReductionLanes / 2; width > 0; width /= 2) {
    for (int j = 0; j < width; ++j) partial[j] += partial[j + width];
  }
  return partial[0];
}

// out[i] = reduction over k of x[i * row_stride + k * column_stride]
Kernel row_reduction(ReduceOp op, DType dtype, std::int64_t rows, std::int64_t columns,
                     std::int64_t row_stride, std::int64_t column_stride) {
  Maker m;
  const auto x = m.buffer(dtype);
  const bool is_arg = op == ReduceOp::ArgMax || op == ReduceOp::ArgMin;
  const auto out = m.buffer(is_arg ? DType::Int64 : dtype, true);
  const auto i = m.axis(rows);
  const auto k = m.axis(columns);
  m.kernel.domain_rank = 1;
  const auto row = m.index(i);
  const auto region = m.region({k});
  m.at = region;
  m.kernel.regions[static_cast<std::size_t>(region)].result =
      m.load(x, {{row, row_stride}, {m.index(k), column_stride}});
  m.at = 0;
  m.kernel.regions[0].result = m.reduce(op, is_arg ? DType::Int64 : dtype, region);
  m.kernel.output = out;
  m.kernel.destination = Maker::address({{row, 1}});
  loops::verify(m.kernel);
  return m.kernel;
}

template <class T>
int run(const Kernel& kernel, std::vector<const void*> inputs, std::vector<T>& out,
        std::int64_t extent, KernelError* error) {
  std::vector<void*> buffers;
  for (const void* input : inputs) buffers.push_back(const_cast<void*>(input));
  buffers.push_back(out.data());
  return interp::run_lanes(kernel, buffers.data(), nullptr, 0, extent, error);
}

}  // namespace

TEST_CASE("lanes sum in the documented order, whatever the lanes are", "[interp]") {
  // Few long rows: the elements are the lanes. Many short ones, or columns: the rows are.
  for (const auto& [rows, columns] : {std::pair{3, 1000},
                                      {1, 37},
                                      {1000, 7},
                                      {200, 33},
                                      {5, 16},
                                      {70, 1},
                                      {1, 256},
                                      {1, 20000},
                                      {150, 512},
                                      {90, 2100}}) {
    const auto x = noise(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
    for (const bool transposed : {false, true}) {
      CAPTURE(rows, columns, transposed);
      const std::int64_t row_stride = transposed ? 1 : columns;
      const std::int64_t column_stride = transposed ? rows : 1;
      const Kernel kernel =
          row_reduction(ReduceOp::Sum, DType::Float32, rows, columns, row_stride, column_stride);
      std::vector<float> out(static_cast<std::size_t>(rows));
      CHECK(run(kernel, {x.data()}, out, rows, nullptr) == 0);
      bool all_same = true;
      for (std::int64_t i = 0; i < rows; ++i) {
        const float expected = tree_sum(0, columns, [&](std::int64_t k) {
          return x[static_cast<std::size_t>(i * row_stride + k * column_stride)];
        });
        all_same = all_same && expected == out[static_cast<std::size_t>(i)];
      }
      CHECK(all_same);
    }
  }
}

TEST_CASE("extremes: the first of equals, and NaN before numbers", "[interp]") {
  std::vector<float> x = {1, 3, 3, 2, /**/ 5, std::nanf(""), 9, std::nanf(""), /**/ -1, -1, -1, -1};
  std::vector<std::int64_t> at(3);
  CHECK(run(row_reduction(ReduceOp::ArgMax, DType::Float32, 3, 4, 4, 1), {x.data()}, at, 3,
            nullptr) == 0);
  CHECK(at == std::vector<std::int64_t>{1, 1, 0});
  std::vector<float> most(3);
  CHECK(run(row_reduction(ReduceOp::Max, DType::Float32, 3, 4, 4, 1), {x.data()}, most, 3,
            nullptr) == 0);
  CHECK(most[0] == 3);
  CHECK(std::isnan(most[1]));
  // Elements 16 apart meet in one partial result, others when those are combined.
  std::vector<float> long_row(100, 0);
  long_row[40] = long_row[41] = long_row[56] = 2;
  for (const std::int64_t rows : {1, 100}) {
    std::vector<std::int64_t> found(static_cast<std::size_t>(rows));
    CHECK(run(row_reduction(ReduceOp::ArgMax, DType::Float32, rows, 100, 0, 1), {long_row.data()},
              found, rows, nullptr) == 0);
    CHECK(found == std::vector<std::int64_t>(static_cast<std::size_t>(rows), 40));
  }
}

TEST_CASE("a product is summed as its rounded factors say", "[interp]") {
  constexpr std::int64_t kRows = 20;
  constexpr std::int64_t kInner = 45;
  constexpr std::int64_t kColumns = 90;
  const auto a = noise(kRows * kInner);
  const auto b = noise(kInner * kColumns);
  for (const bool transposed : {false, true}) {
    CAPTURE(transposed);
    Maker m;
    const auto left = m.buffer(DType::Float32);
    const auto right = m.buffer(DType::Float32);
    const auto out = m.buffer(DType::Float32, true);
    const auto i = m.axis(kRows);
    const auto j = m.axis(kColumns);
    const auto k = m.axis(kInner);
    m.kernel.domain_rank = 2;
    const auto row = m.index(i);
    const auto column = m.index(j);
    const auto region = m.region({k});
    m.at = region;
    const auto inner = m.index(k);
    const std::int64_t column_stride = transposed ? kInner : 1;
    const std::int64_t inner_stride = transposed ? 1 : kColumns;
    m.kernel.regions[static_cast<std::size_t>(region)].result =
        m.prim(Prim::Mul, DType::Float32,
               {m.load(left, {{row, kInner}, {inner, 1}}),
                m.load(right, {{column, column_stride}, {inner, inner_stride}})});
    m.at = 0;
    m.kernel.regions[0].result = m.reduce(ReduceOp::Sum, DType::Float32, region);
    m.kernel.output = out;
    m.kernel.destination = Maker::address({{row, kColumns}, {column, 1}});
    loops::verify(m.kernel);
    std::vector<float> result(kRows * kColumns);
    CHECK(run(m.kernel, {a.data(), b.data()}, result, kRows, nullptr) == 0);
    bool all_same = true;
    for (std::int64_t r = 0; r < kRows; ++r) {
      for (std::int64_t c = 0; c < kColumns; ++c) {
        const float expected = tree_sum(0, kInner, [&](std::int64_t t) {
          return a[static_cast<std::size_t>(r * kInner + t)] *
                 b[static_cast<std::size_t>(c * column_stride + t * inner_stride)];
        });
        all_same = all_same && expected == result[static_cast<std::size_t>(r * kColumns + c)];
      }
    }
    CHECK(all_same);
  }
}

TEST_CASE("the first bad index in row-major order is reported", "[interp]") {
  Maker m;
  const auto table = m.buffer(DType::Float32);
  const auto indices = m.buffer(DType::Int64);
  const auto out = m.buffer(DType::Float32, true);
  m.axis(1000);
  m.kernel.domain_rank = 1;
  const auto i = m.index(0);
  const auto at = m.check(m.load(indices, {{i, 1}}), 5);
  m.kernel.regions[0].result = m.load(table, {{at, 1}});
  m.kernel.output = out;
  m.kernel.destination = Maker::address({{i, 1}});
  loops::verify(m.kernel);
  const std::vector<float> values = {0, 10, 20, 30, 40};
  std::vector<std::int64_t> at_values(1000, 3);
  std::vector<float> result(1000);
  KernelError error;
  CHECK(run(m.kernel, {values.data(), at_values.data()}, result, 1000, &error) == 0);
  CHECK(result[999] == 30);
  at_values[700] = 5;
  at_values[612] = -2;
  CHECK(run(m.kernel, {values.data(), at_values.data()}, result, 1000, &error) == 1);
  CHECK(error.site == 0);
  CHECK(error.index == -2);
  CHECK(error.extent == 5);
}

TEST_CASE("a scatter combines its points in order", "[interp]") {
  Maker m;
  const auto indices = m.buffer(DType::Int64);
  const auto values = m.buffer(DType::Float32);
  const auto out = m.buffer(DType::Float32, true);
  m.axis(300);
  m.kernel.domain_rank = 1;
  const auto i = m.index(0);
  const auto at = m.load(indices, {{i, 1}});
  m.kernel.regions[0].result = m.load(values, {{i, 1}});
  m.kernel.store = loops::StoreKind::Combine;
  m.kernel.output = out;
  m.kernel.destination = Maker::address({{at, 1}});
  loops::verify(m.kernel);
  const auto x = noise(300);
  std::vector<std::int64_t> places(300);
  for (std::size_t p = 0; p < places.size(); ++p) places[p] = static_cast<std::int64_t>(p * p % 7);
  std::vector<float> result(7, 0.5f);
  std::vector<float> expected = result;
  for (std::size_t p = 0; p < places.size(); ++p)
    expected[static_cast<std::size_t>(places[p])] += x[p];
  CHECK(run(m.kernel, {places.data(), x.data()}, result, 300, nullptr) == 0);
  CHECK(result == expected);
}
