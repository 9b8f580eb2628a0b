#include <algorithm>
#include <bit>
#include <cstdlib>
#include <random>

#include <catch2/catch.hpp>

#include "tests/unit/jit/kernel_builder.h"

using namespace relay;
using namespace relay::test;
using lang::DType;
using lang::Prim;
using lang::ReduceOp;
using loops::AddressTerm;

namespace {

constexpr DType kTypes[] = {DType::Float32, DType::Float32, DType::Float64,
                            DType::Int32,   DType::Int64,   DType::UInt8,
                            DType::Bool,    DType::Float16, DType::BFloat16};

// A random kernel: a random expression over loads of random layouts, with gathers, masks, divisions
// that may fail and reductions inside one another; some scatter their values, some store several.
class RandomKernel {
 public:
  explicit RandomKernel(unsigned seed) : random_(seed) {
    has_nan_ = one_in(3);
    const int rank = static_cast<int>(random_() % 4);
    for (int i = 0; i < rank; ++i) axes_.push_back(k_.domain_axis(extent()));
    const ValueId result = expression(pick(kTypes), 4);
    if (one_in(4)) {
      scatter(result);
      return;
    }
    std::vector<ValueId> further;
    for (unsigned more = one_in(3) ? 1 + random_() % 3 : 0; more > 0; --more)
      further.push_back(one_in(4) ? result : expression(pick(kTypes), 3));
    k_.finish(result);
    for (ValueId value : further) k_.store_further(value, one_in(3));
  }

  const KernelBuilder& built() const { return k_; }
  bool is_rank_0() const { return k_.kernel.domain_rank == 0; }

 private:
  template <class T, std::size_t N>
  T pick(const T (&list)[N]) {
    return list[random_() % N];
  }
  bool one_in(unsigned n) { return random_() % n == 0; }

  Extent extent() {
    static constexpr std::int64_t kExtents[] = {1, 2, 3, 7, 16, 17, 33, 40};
    const std::int64_t value = one_in(12) ? 0 : pick(kExtents);
    return one_in(4) ? k_.literal(value) : k_.slot(value);
  }

  // Of just about one block, or of several.
  Extent long_extent() {
    static constexpr std::int64_t kExtents[] = {255, 256, 257, 512, 530, 1100};
    const std::int64_t value = pick(kExtents);
    return one_in(2) ? k_.literal(value) : k_.slot(value);
  }

  // The reference is slow.
  bool has_few_points() const {
    std::int64_t points = 1;
    for (const std::int32_t axis : axes_) points *= k_.extent_of(axis);
    return points <= 50;
  }

  std::uint64_t element(DType dtype) {
    const double x = std::uniform_real_distribution<double>(-3, 3)(random_);
    switch (dtype) {
      case DType::Bool:
        return random_() % 2;
      case DType::Float16:
        return lang::float_to_half(static_cast<float>(x));
      case DType::BFloat16:
        return lang::float_to_bfloat16(static_cast<float>(x));
      case DType::Float32:
        return has_nan_ && one_in(20) ? 0x7fc00000
                                      : std::bit_cast<std::uint32_t>(static_cast<float>(x));
      case DType::Float64:
        return std::bit_cast<std::uint64_t>(x);
      default:
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(random_() % 21) - 10);
    }
  }

  void fill(std::int32_t buffer) {
    for (std::int64_t i = 0; i < k_.count(buffer); ++i) {
      k_.set(buffer, i, element(k_.kernel.buffers[buffer].dtype));
    }
  }

  // The axes in random order, each in the address or not: a broadcast transpose of something.
  ValueId load(DType dtype) {
    std::vector<std::int32_t> order = axes_;
    if (one_in(3)) std::shuffle(order.begin(), order.end(), random_);
    std::vector<AddressTerm> terms;
    std::int64_t total = one_in(6) ? 2 : 1;
    std::int64_t offset = 0;
    for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
      if (one_in(4)) continue;
      const std::int64_t n = k_.extent_of(*axis);
      const bool is_backwards = one_in(8) && n > 0;
      const std::int64_t stride = is_backwards ? -total : total;
      if (is_backwards) offset += (n - 1) * total;
      terms.push_back(
          {k_.axis(*axis), total <= 2 ? k_.literal(stride).size : k_.slot(stride).size});
      total *= std::max<std::int64_t>(n, 1);
    }
    const std::int32_t buffer = k_.buffer(dtype, total + 1);
    fill(buffer);
    return k_.load(buffer, terms, k_.slot(offset).size);
  }

  // table[index], where the index is rarely bad.
  ValueId gather(DType dtype, int depth) {
    const Extent size = k_.slot(8);
    const std::int32_t table = k_.buffer(dtype, size.value);
    fill(table);
    ValueId index = expression(DType::Int64, depth - 1);
    if (!one_in(4)) index = k_.prim(Prim::And, {index, k_.i64(7)});
    return k_.load(table, {{k_.check(index, size, 1), k_.literal(1).size}});
  }

  // An index that changes in steps along a few axes.
  ValueId steps() {
    ValueId sum = k_.i64(static_cast<std::int64_t>(random_() % 41) - 20);
    for (const std::int32_t axis : axes_) {
      static constexpr std::int64_t kSteps[] = {-3, -1, 1, 1, 1, 2};
      if (one_in(3)) continue;
      sum = k_.prim(Prim::Add, {sum, k_.prim(Prim::Mul, {k_.axis(axis), k_.i64(pick(kSteps))})});
    }
    return sum;
  }
  ValueId condition() {
    static constexpr Prim kOrders[] = {Prim::Lt, Prim::Le, Prim::Gt, Prim::Ge, Prim::Eq, Prim::Ne};
    const ValueId a = steps();
    return k_.prim(pick(kOrders), {a, one_in(2) ? steps() : k_.i64(0)});
  }

  // table[index] where the index is in range; rarely it must be, where a condition is true.
  ValueId masked(DType dtype, int depth) {
    const Extent size = k_.slot(one_in(20) ? 0 : 1 + static_cast<std::int64_t>(random_() % 60));
    const std::int32_t table = k_.buffer(dtype, size.value);
    fill(table);
    const ValueId index = one_in(4) ? expression(DType::Int64, depth - 1) : steps();
    if (one_in(4)) {
      const ValueId outside = k_.prim(Prim::Not, {k_.in_range(index, size)});
      ValueId guard = one_in(6) ? condition() : expression(DType::Bool, depth - 1);
      // Mostly one that does not hold there.
      if (!one_in(5)) guard = k_.prim(Prim::And, {guard, k_.prim(Prim::Not, {outside})});
      k_.check(index, size, 2, guard);
    }
    std::vector<ValueId> masks = {k_.in_range(index, size)};
    if (one_in(3)) masks.push_back(condition());
    if (one_in(6)) masks.push_back(expression(DType::Bool, depth - 1));
    return k_.load(table, {{index, k_.literal(1).size}}, k_.literal(0).size, masks);
  }

  // Combines values where points meet: places are a few computed rows, and along them the last
  // axis, or none.
  void scatter(ValueId value) {
    static constexpr ReduceOp kOps[] = {ReduceOp::Sum, ReduceOp::Max, ReduceOp::Min,
                                        ReduceOp::Prod};
    const DType dtype = k_.type_of(value);
    const ValueId index = k_.prim(Prim::And, {expression(DType::Int64, 2), k_.i64(7)});
    const std::int64_t row =
        axes_.empty() ? 1 : std::max<std::int64_t>(k_.extent_of(axes_.back()), 1);
    k_.kernel.regions[0].result = value;
    k_.kernel.store = loops::StoreKind::Combine;
    k_.kernel.combine = dtype == DType::Bool ? ReduceOp::Any : pick(kOps);
    k_.kernel.destination.terms = {{index, k_.slot(row).size}};
    if (!axes_.empty() && one_in(2))
      k_.kernel.destination.terms.push_back({k_.axis(axes_.back()), k_.literal(1).size});
    k_.kernel.output = k_.buffer(dtype, 8 * row, true);
  }

  ValueId reduce(DType dtype, int depth) {
    static constexpr ReduceOp kOps[] = {ReduceOp::Sum, ReduceOp::Max, ReduceOp::Min,
                                        ReduceOp::Prod};
    ReduceOp op = pick(kOps);
    if (dtype == DType::Bool) op = one_in(2) ? ReduceOp::All : ReduceOp::Any;
    if (dtype == DType::Int64 && one_in(2)) op = one_in(2) ? ReduceOp::ArgMax : ReduceOp::ArgMin;
    const bool is_dot = (dtype == DType::Float32 || dtype == DType::Float64) && one_in(4);
    if (is_dot) op = ReduceOp::Dot;
    const bool is_arg = op == ReduceOp::ArgMax || op == ReduceOp::ArgMin;
    const std::size_t before = axes_.size();
    std::vector<std::int32_t> axes;
    const bool is_long = has_few_points() && one_in(3);
    if (is_long) {
      axes.push_back(k_.reduction_axis(long_extent()));
    } else {
      for (int i = one_in(3) ? 2 : 1; i > 0; --i) axes.push_back(k_.reduction_axis(extent()));
    }
    axes_.insert(axes_.end(), axes.begin(), axes.end());
    nesting_ += is_long ? 2 : 1;
    k_.open_reduce(op, axes);
    const auto element = [&] { return expression(is_arg ? DType::Float32 : dtype, depth - 1); };
    const ValueId first = element();
    const ValueId result = k_.close_reduce(is_dot ? k_.prim(Prim::Mul, {first, element()}) : first);
    nesting_ -= is_long ? 2 : 1;
    axes_.resize(before);
    return result;
  }

  ValueId primitive(DType dtype, int depth) {
    if (dtype == DType::Bool) {
      if (one_in(3)) return condition();
      const DType of = one_in(2) ? DType::Float32 : DType::Int32;
      const ValueId a = expression(of, depth - 1);
      return k_.prim(one_in(2) ? Prim::Lt : Prim::Eq, {a, expression(of, depth - 1)});
    }
    if (one_in(6)) {
      const ValueId condition = expression(DType::Bool, depth - 1);
      const ValueId yes = expression(dtype, depth - 1);
      return k_.prim(Prim::Select, {condition, yes, expression(dtype, depth - 1)});
    }
    const Prim prim = static_cast<Prim>(random_() % static_cast<unsigned>(Prim::Select));
    const lang::PrimInfo& info = lang::info(prim);
    if (info.result != lang::PrimResult::kSame || !lang::accepts(info.operands, dtype)) {
      return k_.prim(Prim::Add, {expression(dtype, depth - 1), expression(dtype, depth - 1)});
    }
    std::vector<ValueId> args;
    for (int i = 0; i < info.arity; ++i) args.push_back(expression(dtype, depth - 1));
    const bool is_division =
        prim == Prim::Div || prim == Prim::FloorDiv || prim == Prim::Mod || prim == Prim::FloorMod;
    if (is_division && lang::is_int(dtype) && !one_in(6)) {
      args[1] = k_.prim(Prim::Or, {args[1], k_.constant(dtype, 1)});
    }
    return k_.prim(prim, args);
  }

  ValueId expression(DType dtype, int depth) {
    if (depth == 0 || one_in(5)) {
      if (dtype == DType::Int64 && !axes_.empty() && one_in(2)) return k_.axis(pick_axis());
      if (one_in(6)) return k_.constant(dtype, element(dtype));
      return load(dtype);
    }
    if (one_in(6)) return gather(dtype, depth);
    if (one_in(6)) return masked(dtype, depth);
    if (nesting_ < 2 && one_in(5)) return reduce(dtype, depth);
    if (one_in(6)) return k_.cast(expression(pick(kTypes), depth - 1), dtype);
    return primitive(dtype, depth);
  }

  std::int32_t pick_axis() { return axes_[random_() % axes_.size()]; }

  std::mt19937 random_;
  KernelBuilder k_;
  std::vector<std::int32_t> axes_;  // in scope
  int nesting_ = 0;
  bool has_nan_ = true;  // among the elements of float32
};

}  // namespace

TEST_CASE("jit: random kernels give the reference's bits") {
  if (jit_compiler() == nullptr) {
    WARN("librelay_jit.so is not there: native code is not tested");
    return;
  }
  const char* const first = std::getenv("RELAY_TEST_SEED");
  const char* const count = std::getenv("RELAY_TEST_COUNT");
  const unsigned begin = first != nullptr ? static_cast<unsigned>(std::atoi(first)) : 1;
  const unsigned end = begin + (count != nullptr ? static_cast<unsigned>(std::atoi(count)) : 150);
  for (unsigned seed = begin; seed < end; ++seed) {
    const RandomKernel kernel(seed);
    INFO("replay: RELAY_TEST_SEED=" << seed << " RELAY_TEST_COUNT=1\n"
                                    << to_string(kernel.built().kernel));
    CHECK(compare_with_reference(kernel.built()) == "");
  }
}
