#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "loops/math64.h"
#include "tests/unit/jit/kernel_builder.h"

using namespace relay;
using namespace relay::test;
using lang::DType;
using lang::Prim;
using lang::ReduceOp;
using loops::Size;

namespace {

#define SKIP_WITHOUT_JIT()                                           \
  if (jit_compiler() == nullptr) {                                   \
    WARN("librelay_jit.so is not there: native code is not tested"); \
    return;                                                          \
  }

constexpr DType kAllTypes[] = {DType::Bool,   DType::Int8,    DType::Int16,    DType::Int32,
                               DType::Int64,  DType::UInt8,   DType::UInt16,   DType::UInt32,
                               DType::UInt64, DType::Float16, DType::BFloat16, DType::Float32,
                               DType::Float64};

// Ordinary numbers, with the difficult ones among them.
std::uint64_t random_bits(DType dtype, std::mt19937& random) {
  const auto pick = [&](auto... values) {
    const std::uint64_t list[] = {static_cast<std::uint64_t>(values)...};
    return list[random() % std::size(list)];
  };
  const double small = std::uniform_real_distribution<double>(-4, 4)(random);
  const bool is_special = random() % 8 == 0;
  switch (dtype) {
    case DType::Bool:
      return random() % 2;
    case DType::Float16:
      return is_special ? pick(0, 0x8000, 0x7c00, 0xfc00, 0x7e00, 1, 0x3c01, 0x7bff)
                        : lang::float_to_half(static_cast<float>(small));
    case DType::BFloat16:
      return is_special ? pick(0, 0x8000, 0x7f80, 0xff80, 0x7fc0, 1, 0x3f81, 0x7f7f)
                        : lang::float_to_bfloat16(static_cast<float>(small));
    case DType::Float32:
      return is_special ? pick(0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 1, 0x3f800001,
                               0x4f000000)
                        : std::bit_cast<std::uint32_t>(static_cast<float>(small));
    case DType::Float64:
      return is_special ? pick(0, 1ull << 63, 0x7ff0ull << 48, 0xfff0ull << 48, 0x7ff8ull << 48, 1,
                               0x43e0000000000000, 0x41efffffffffffff)
                        : std::bit_cast<std::uint64_t>(small);
    default:
      break;
  }
  const int bits = lang::bits_of(dtype);
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits);
  if (is_special) return mask & pick(0, -1, 1, 1ull << (bits - 1), mask >> 1, bits, bits + 1);
  if (random() % 2 == 0) return mask & (std::uint64_t{random()} << 32 | random());
  return mask & static_cast<std::uint64_t>(std::int64_t(random() % 9) - 4);
}

void fill(KernelBuilder& k, std::int32_t buffer, unsigned seed) {
  std::mt19937 random(seed);
  for (std::int64_t i = 0; i < k.count(buffer); ++i) {
    k.set(buffer, i, random_bits(k.kernel.buffers[buffer].dtype, random));
  }
}

std::int32_t input(KernelBuilder& k, DType dtype, std::int64_t count) {
  const std::int32_t buffer = k.buffer(dtype, count);
  fill(k, buffer, static_cast<unsigned>(buffer) + 1);
  return buffer;
}

bool accepts(Prim prim, DType dtype) { return lang::accepts(lang::info(prim).operands, dtype); }

const Size kOne = Size::literal(1);

}  // namespace

TEST_CASE("jit: every primitive on every dtype gives the reference's bits") {
  SKIP_WITHOUT_JIT();
  for (int p = 0; p <= static_cast<int>(Prim::Select); ++p) {
    const Prim prim = static_cast<Prim>(p);
    for (const DType dtype : kAllTypes) {
      if (!accepts(prim, dtype)) continue;
      const bool is_division = prim == Prim::Div || prim == Prim::FloorDiv || prim == Prim::Mod ||
                               prim == Prim::FloorMod;
      KernelBuilder k;
      const std::int64_t n = 301;
      const auto axis = k.domain_axis(k.slot(n));
      std::vector<ValueId> args;
      const ValueId i = k.axis(axis);
      if (prim == Prim::Select) args.push_back(k.load(input(k, DType::Bool, n), {{i, kOne}}));
      const int arity = lang::info(prim).arity - static_cast<int>(args.size());
      for (int a = 0; a < arity; ++a) args.push_back(k.load(input(k, dtype, n), {{i, kOne}}));
      if (is_division && lang::is_int(dtype)) {
        const ValueId zero = k.constant(dtype, 0);
        const ValueId is_zero = k.prim(Prim::Eq, {args[1], zero});
        args[1] = k.prim(Prim::Select, {is_zero, k.constant(dtype, 3), args[1]});
      }
      k.finish(k.prim(prim, args));
      INFO(lang::info(prim).text << " on " << lang::name_of(dtype));
      CHECK(compare_with_reference(k) == "");
      CHECK(compare_with_reference(k, 45) == "");
    }
  }
}

TEST_CASE("jit: every cast gives the reference's bits") {
  SKIP_WITHOUT_JIT();
  for (const DType from : kAllTypes) {
    for (const DType to : kAllTypes) {
      KernelBuilder k;
      const std::int64_t n = 203;
      const auto axis = k.domain_axis(k.slot(n));
      k.finish(k.cast(k.load(input(k, from, n), {{k.axis(axis), kOne}}), to));
      INFO(lang::name_of(from) << " to " << lang::name_of(to));
      CHECK(compare_with_reference(k) == "");
    }
  }
}

TEST_CASE("jit: every reduction on every dtype, across lanes, in registers and in memory") {
  SKIP_WITHOUT_JIT();
  const ReduceOp all[] = {ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max,    ReduceOp::Min,
                          ReduceOp::All, ReduceOp::Any,  ReduceOp::ArgMax, ReduceOp::ArgMin};
  for (const ReduceOp op : all) {
    for (const DType dtype : kAllTypes) {
      const bool is_logical = op == ReduceOp::All || op == ReduceOp::Any;
      const bool is_sum = op == ReduceOp::Sum || op == ReduceOp::Prod;
      if (is_logical != (dtype == DType::Bool) && (is_logical || is_sum)) continue;
      // Rows, columns, and the two last axes of three.
      for (const int form : {0, 1, 2}) {
        for (const std::int64_t n : {0, 1, 15, 16, 37, 64}) {
          KernelBuilder k;
          const std::int64_t m = 19;
          const auto i = k.domain_axis(k.slot(m));
          const auto j = k.reduction_axis(k.slot(n));
          std::vector<std::int32_t> axes = {j};
          if (form == 2) axes.insert(axes.begin(), k.reduction_axis(k.slot(5)));
          const auto x = input(k, dtype, m * n * 5 + 1);
          k.open_reduce(op, axes);
          std::vector<loops::AddressTerm> terms;
          if (form == 0) terms = {{k.axis(i), k.slot(n).size}, {k.axis(j), kOne}};
          if (form == 1) terms = {{k.axis(j), k.slot(m).size}, {k.axis(i), kOne}};
          if (form == 2) {
            terms = {{k.axis(axes[0]), k.slot(n).size},
                     {k.axis(i), k.slot(5 * n).size},
                     {k.axis(j), kOne}};
          }
          k.finish(k.close_reduce(k.load(x, terms)));
          INFO(lang::name_of(op) << " of " << n << " " << lang::name_of(dtype) << ", form "
                                 << form);
          CHECK(compare_with_reference(k) == "");
        }
      }
    }
  }
}

TEST_CASE("jit: short reductions of rows, with a row for each lane") {
  SKIP_WITHOUT_JIT();
  for (const DType dtype : {DType::Float64, DType::Float32}) {
    for (const std::int64_t n : {2, 3, 8, 10, 17, 32}) {
      // As many rows as lanes, fewer, and more; a stride that is known, and one that is not; rows
      // of one axis, and of two.
      for (const std::int64_t m : {1, 3, 16, 45}) {
        for (const int form : {0, 1, 2}) {
          KernelBuilder k;
          const std::int64_t parts = form == 2 && n <= 10 ? 3 : 1;
          const std::int64_t row = parts * (n + 2);
          const Extent stride = form == 0 ? k.literal(row) : k.slot(row);
          const auto h = k.domain_axis(k.slot(2));
          const auto i = k.domain_axis(k.slot(m));
          const auto part = k.reduction_axis(k.literal(parts));
          const auto j = k.reduction_axis(k.literal(n));
          // The last row ends where the memory does.
          const auto x = input(k, dtype, 2 * m * row - 2);
          const auto y = input(k, dtype, m * n);
          const auto z = input(k, dtype, n);
          k.open_reduce(ReduceOp::Sum, {part, j});
          const ValueId of_row = k.load(x, {{k.axis(h), k.slot(m * row).size},
                                            {k.axis(i), stride.size},
                                            {k.axis(part), k.slot(n + 2).size},
                                            {k.axis(j), kOne}});
          const ValueId backwards = k.load(y, {{k.axis(i), Size::literal(-n)}, {k.axis(j), kOne}},
                                           k.slot((m - 1) * n).size);
          const ValueId shared = k.load(z, {{k.axis(j), kOne}});
          k.finish(
              k.close_reduce(k.prim(Prim::Add, {k.prim(Prim::Mul, {of_row, backwards}), shared})));
          INFO(lang::name_of(dtype) << ", " << m << " rows of " << n << ", form " << form);
          CHECK(compare_with_reference(k) == "");
        }
      }
    }
  }
}

TEST_CASE("jit: few columns, with a row for each lane") {
  SKIP_WITHOUT_JIT();
  for (const DType dtype : {DType::Float64, DType::Float32, DType::Int8}) {
    for (const std::int64_t n : {2, 3, 4}) {
      for (const std::int64_t m : {5, 37}) {
        for (const bool is_known : {false, true}) {
          KernelBuilder k;
          const Extent stride = is_known ? k.literal(n + 1) : k.slot(n + 1);
          const auto h = k.domain_axis(k.slot(2));
          const auto i = k.domain_axis(k.slot(m));
          const auto j = k.domain_axis(k.literal(n));
          // The last row ends where the memory does.
          const auto x = input(k, dtype, 2 * m * (n + 1) - 1);
          const auto y = input(k, dtype, 2 * m);
          const auto z = input(k, dtype, n);
          const ValueId of_row = k.load(
              x,
              {{k.axis(h), k.slot(m * (n + 1)).size}, {k.axis(i), stride.size}, {k.axis(j), kOne}});
          const ValueId of_lane = k.load(y, {{k.axis(h), k.slot(m).size}, {k.axis(i), kOne}});
          const ValueId of_column = k.load(z, {{k.axis(j), kOne}});
          const ValueId sum = k.prim(Prim::Add, {of_row, of_lane});
          k.finish(k.prim(Prim::Mul, {sum, of_column}));
          k.store_further(sum, false);
          k.store_further(of_row, true);
          INFO(lang::name_of(dtype) << ", " << m << " rows of " << n);
          CHECK(compare_with_reference(k) == "");
          CHECK(compare_with_reference(k, 1) == "");
        }
      }
    }
  }
}

TEST_CASE("jit: a sum of a row in each of a few columns") {
  SKIP_WITHOUT_JIT();
  // Where i is j the row's own sum, else that of squares; j is compared, and written out.
  for (const DType dtype : {DType::Float64, DType::Float32}) {
    for (const std::int64_t n : {3, 4, 20}) {
      for (const std::int64_t m : {5, 37}) {
        KernelBuilder k;
        const auto i = k.domain_axis(k.slot(m));
        const auto j = k.domain_axis(k.literal(n));
        const auto t = k.reduction_axis(k.literal(3));
        const auto x = input(k, dtype, 3 * m);
        const auto y = input(k, dtype, 3 * n);
        const ValueId is_same = k.prim(Prim::Eq, {k.axis(i), k.axis(j)});
        k.open_reduce(ReduceOp::Sum, {t});
        const ValueId a = k.load(x, {{k.axis(i), k.slot(3).size}, {k.axis(t), kOne}});
        const ValueId b = k.load(y, {{k.axis(j), k.slot(3).size}, {k.axis(t), kOne}});
        const ValueId apart = k.prim(Prim::Sub, {a, b});
        const ValueId sum = k.close_reduce(k.prim(Prim::Mul, {apart, apart}));
        k.finish(k.prim(Prim::Select, {is_same, k.prim(Prim::Neg, {sum}), sum}));
        INFO(lang::name_of(dtype) << ", " << m << " rows of " << n);
        CHECK(compare_with_reference(k) == "");
      }
    }
  }
}

TEST_CASE("jit: sums in loops, of columns that are written out one after the other") {
  SKIP_WITHOUT_JIT();
  // By a comparison of the last axis, and as the elements of a short sum.
  for (const bool is_domain : {true, false}) {
    for (const std::int64_t depth : {5, 40}) {
      KernelBuilder k;
      const std::int64_t m = 21, n = 10;
      const auto i = k.domain_axis(k.slot(m));
      const auto j = is_domain ? k.domain_axis(k.literal(n)) : k.reduction_axis(k.literal(n));
      const auto t = k.reduction_axis(k.slot(depth));
      const auto x = input(k, DType::Float32, m * depth * n);
      if (!is_domain) k.open_reduce(ReduceOp::Sum, {j});
      const ValueId is_first = k.prim(Prim::Gt, {k.axis(j), k.i64(2)});
      const ValueId ii = k.axis(i), jj = k.axis(j);
      k.open_reduce(ReduceOp::Sum, {t});
      const ValueId sum = k.close_reduce(
          k.load(x, {{ii, k.slot(depth * n).size}, {k.axis(t), k.slot(n).size}, {jj, kOne}}));
      const ValueId chosen = k.prim(Prim::Select, {is_first, k.f32(0), sum});
      k.finish(is_domain ? chosen : k.close_reduce(k.prim(Prim::Mul, {chosen, chosen})));
      INFO("depth " << depth << (is_domain ? ", of the domain" : ", of a sum"));
      CHECK(compare_with_reference(k) == "");
    }
  }
}

TEST_CASE("jit: a matrix product with an epilogue") {
  SKIP_WITHOUT_JIT();
  for (const std::int64_t depth : {0, 3, 16, 50}) {
    KernelBuilder k;
    const std::int64_t rows = 5, columns = 43;
    const auto i = k.domain_axis(k.slot(rows));
    const auto j = k.domain_axis(k.slot(columns));
    const auto t = k.reduction_axis(k.slot(depth));
    const auto a = input(k, DType::Float32, rows * depth + 1);
    const auto b = input(k, DType::Float32, depth * columns + 1);
    const auto bias = input(k, DType::Float32, columns);
    k.open_reduce(ReduceOp::Sum, {t});
    const ValueId x = k.load(a, {{k.axis(i), k.slot(depth).size}, {k.axis(t), kOne}});
    const ValueId y = k.load(b, {{k.axis(t), k.slot(columns).size}, {k.axis(j), kOne}});
    const ValueId sum = k.close_reduce(k.prim(Prim::Mul, {x, y}));
    const ValueId shifted = k.prim(Prim::Add, {sum, k.load(bias, {{k.axis(j), kOne}})});
    k.finish(k.prim(Prim::Max, {shifted, k.f32(0)}));
    INFO("depth " << depth);
    CHECK(compare_with_reference(k) == "");
    CHECK(compare_with_reference(k, 2) == "");
  }
}

TEST_CASE("jit: a reduction inside a reduction") {
  SKIP_WITHOUT_JIT();
  // sum over i of (max over j of x[i, j]) * y[d, i]
  KernelBuilder k;
  const std::int64_t n = 21, m = 35;
  const auto d = k.domain_axis(k.slot(20));
  const auto i = k.reduction_axis(k.slot(n));
  const auto j = k.reduction_axis(k.slot(m));
  const auto x = input(k, DType::Float64, n * m);
  const auto y = input(k, DType::Float64, 20 * n);
  k.open_reduce(ReduceOp::Sum, {i});
  const ValueId ii = k.axis(i);
  k.open_reduce(ReduceOp::Max, {j});
  const ValueId most = k.close_reduce(k.load(x, {{ii, k.slot(m).size}, {k.axis(j), kOne}}));
  const ValueId factor = k.load(y, {{k.axis(d), k.slot(n).size}, {ii, kOne}});
  k.finish(k.close_reduce(k.prim(Prim::Mul, {most, factor})));
  CHECK(compare_with_reference(k) == "");
}

TEST_CASE("jit: a gather checks its indices and reports the first bad one") {
  SKIP_WITHOUT_JIT();
  for (const DType dtype : {DType::Float32, DType::Int8}) {
    for (const std::int64_t bad : {-1, 0, 29, 40, 49}) {
      KernelBuilder k;
      const std::int64_t n = 50;
      const Extent size = k.slot(7);
      const auto i = k.domain_axis(k.slot(n));
      const auto indices = k.buffer(DType::Int64, n);
      const auto x = input(k, dtype, size.value);
      for (std::int64_t at = 0; at < n; ++at)
        k.set(indices, at, static_cast<std::uint64_t>(at % 7));
      if (bad >= 0) {
        k.set(indices, bad, static_cast<std::uint64_t>(bad % 2 == 0 ? -2 : 7));
        k.set(indices, n - 1, 99);
      }
      const ValueId index = k.check(k.load(indices, {{k.axis(i), kOne}}), size, 3);
      k.finish(k.load(x, {{index, kOne}}));
      INFO("bad index at " << bad);
      CHECK(compare_with_reference(k) == "");
    }
  }
}

TEST_CASE("jit: an error inside a reduction is found") {
  SKIP_WITHOUT_JIT();
  for (const bool is_row : {true, false}) {
    for (const std::int64_t bad : {-1, 3, 36}) {
      KernelBuilder k;
      const std::int64_t n = 37;
      const auto i = k.domain_axis(k.slot(n));
      const auto j = k.reduction_axis(k.slot(n));
      const auto x = input(k, DType::Int32, n * n);
      const auto y = k.buffer(DType::Int32, n);
      for (std::int64_t at = 0; at < n; ++at) k.set(y, at, at == bad ? 0 : 3);
      k.open_reduce(ReduceOp::Sum, {j});
      const Size one = kOne, row = k.slot(n).size;
      const ValueId a =
          k.load(x, {{k.axis(i), is_row ? row : one}, {k.axis(j), is_row ? one : row}});
      const ValueId b = k.load(y, {{k.axis(j), kOne}});
      k.finish(k.close_reduce(k.prim(Prim::Div, {a, b})));
      CHECK(compare_with_reference(k) == "");
    }
  }
}

TEST_CASE("jit: scatter combines points in order") {
  SKIP_WITHOUT_JIT();
  for (const bool is_row_wise : {false, true}) {
    KernelBuilder k;
    const std::int64_t n = 40, m = 21;
    const auto i = k.domain_axis(k.slot(n));
    const auto j = k.domain_axis(k.slot(m));
    const auto indices = k.buffer(DType::Int64, n);
    for (std::int64_t at = 0; at < n; ++at)
      k.set(indices, at, static_cast<std::uint64_t>(at * at % 5));
    const auto x = input(k, DType::Float32, n * m);
    const ValueId row = k.check(k.load(indices, {{k.axis(i), kOne}}), k.literal(5));
    const ValueId value = k.load(x, {{k.axis(i), k.slot(m).size}, {k.axis(j), kOne}});
    k.kernel.regions[0].result = value;
    k.kernel.store = loops::StoreKind::Combine;
    k.kernel.combine = ReduceOp::Sum;
    k.kernel.destination.terms = {{row, k.slot(m).size}};
    if (is_row_wise) k.kernel.destination.terms.push_back({k.axis(j), kOne});
    k.kernel.output = k.buffer(DType::Float32, 5 * m, true);
    CHECK(compare_with_reference(k) == "");
  }
}

TEST_CASE("jit: strides may be backwards, repeated, or known at run time only") {
  SKIP_WITHOUT_JIT();
  for (const DType dtype : {DType::UInt8, DType::Float16, DType::Float32, DType::Int64}) {
    KernelBuilder k;
    const std::int64_t n = 3, m = 101;
    const auto i = k.domain_axis(k.slot(n));
    const auto j = k.domain_axis(k.slot(m));
    const auto x = input(k, dtype, 3 * n * m);
    const ValueId ii = k.axis(i), jj = k.axis(j);
    const ValueId backwards =
        k.load(x, {{jj, Size::literal(-1)}, {ii, k.slot(m).size}}, k.slot(m - 1).size);
    const ValueId repeated = k.load(x, {{ii, k.slot(m).size}, {jj, Size::literal(0)}});
    const ValueId strided = k.load(x, {{ii, kOne}, {jj, k.slot(n).size}});
    const ValueId by_two = k.load(x, {{k.prim(Prim::Add, {jj, ii}), Size::literal(2)}});
    const ValueId flipped = k.prim(Prim::Sub, {k.prim(Prim::Add, {k.i64(m - 1), ii}), jj});
    const ValueId shifted = k.load(x, {{flipped, kOne}});
    ValueId sum = k.prim(Prim::Add, {backwards, repeated});
    for (const ValueId more : {strided, by_two, shifted}) sum = k.prim(Prim::Add, {sum, more});
    k.finish(sum);
    INFO(lang::name_of(dtype));
    CHECK(compare_with_reference(k) == "");
  }
}

TEST_CASE("jit: rank 0, empty domains and unit axes") {
  SKIP_WITHOUT_JIT();
  {
    KernelBuilder k;
    const auto x = input(k, DType::Float32, 1);
    k.finish(k.prim(Prim::Exp, {k.scalar_input(x)}));
    CHECK(compare_with_reference(k) == "");
  }
  for (const std::int64_t n : {0, 6}) {
    KernelBuilder k;
    const auto i = k.domain_axis(k.slot(n));
    const auto u = k.domain_axis(k.literal(1));
    const auto j = k.domain_axis(k.slot(6 - n));
    const auto x = input(k, DType::Float32, 1);
    const ValueId at = k.check(k.prim(Prim::Add, {k.axis(u), k.axis(j)}), k.literal(1));
    k.finish(k.load(x, {{k.axis(i), kOne}, {at, kOne}}));
    CHECK(compare_with_reference(k) == "");
  }
}

TEST_CASE("jit: equal structure is compiled once, and dumps are text") {
  SKIP_WITHOUT_JIT();
  const auto make = [](std::int64_t n) {
    KernelBuilder k;
    const auto i = k.domain_axis(k.slot(n));
    const auto x = input(k, DType::Float32, n);
    k.finish(k.prim(Prim::Tanh, {k.load(x, {{k.axis(i), kOne}})}));
    return k;
  };
  const KernelBuilder a = make(10), b = make(1000);
  CHECK(loops::structural_key(a.kernel) == loops::structural_key(b.kernel));
  CHECK(jit_compiler()->dump(a.kernel, "llvm").find("define") != std::string::npos);
  CHECK(jit_compiler()->dump(a.kernel, "asm").find("ret") != std::string::npos);
  CHECK(jit_compiler()->dump(a.kernel, "no such stage").empty());
}

// LLVM's time grows faster than the length of a function.
TEST_CASE("jit: a kernel of many math functions is short") {
  SKIP_WITHOUT_JIT();
  const auto length_of = [](int count) {
    KernelBuilder k;
    const auto i = k.domain_axis(k.slot(100));
    ValueId value = k.load(input(k, DType::Float64, 100), {{k.axis(i), kOne}});
    for (int n = 0; n < count; ++n) value = k.prim(n % 2 ? Prim::Exp : Prim::Sin, {value});
    k.finish(value);
    CHECK(compare_with_reference(k) == "");
    return jit_compiler()->dump(k.kernel, "asm").size();
  };
  const std::size_t one = length_of(2), many = length_of(100);
  CHECK(many < 20 * one);
}

TEST_CASE("jit: math functions are vector code; only large angles in float64 are calls") {
  SKIP_WITHOUT_JIT();
#define RELAY_MATH(name, ...) Prim::name,
  const Prim all[] = {
#include "loops/math.def"
  };
#undef RELAY_MATH
  for (const Prim prim : all) {
    for (const DType dtype : {DType::Float32, DType::Float64}) {
      KernelBuilder k;
      const auto i = k.domain_axis(k.slot(100));
      const ValueId x = k.load(input(k, dtype, 100), {{k.axis(i), kOne}});
      k.finish(k.prim(prim, std::vector<ValueId>(lang::info(prim).arity, x)));
      const bool has_calls = dtype == DType::Float64 && loops::math64::largest_argument(prim) <
                                                            std::numeric_limits<double>::infinity();
      const std::string code = jit_compiler()->dump(k.kernel, "llvm");
      INFO(lang::info(prim).text << " on " << lang::name_of(dtype));
      CHECK((code.find("@relay_") != std::string::npos) == has_calls);
      // Into a block that is never the next one.
      CHECK((code.find("large") != std::string::npos) == has_calls);
    }
  }
}
