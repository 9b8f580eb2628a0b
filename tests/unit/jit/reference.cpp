#include "tests/unit/jit/reference.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "loops/math.h"
#include "loops/math_f64.h"
#include "loops/math_native.h"
#include "loops/reduction_tree.h"

namespace relay::test {

using lang::DType;
using lang::Prim;
using lang::ReduceOp;
using loops::Code;
using loops::Instruction;
using loops::Region;

namespace {

// Calls f(T{}) for the C++ type that computes in `dtype`.
template <class F>
auto with_type(DType dtype, F f) {
  switch (dtype) {
    case DType::Bool:
      return f(bool{});
    case DType::Int8:
      return f(std::int8_t{});
    case DType::Int16:
      return f(std::int16_t{});
    case DType::Int32:
      return f(std::int32_t{});
    case DType::Int64:
      return f(std::int64_t{});
    case DType::UInt8:
      return f(std::uint8_t{});
    case DType::UInt16:
      return f(std::uint16_t{});
    case DType::UInt32:
      return f(std::uint32_t{});
    case DType::UInt64:
      return f(std::uint64_t{});
    case DType::Float64:
      return f(double{});
    default:
      return f(float{});
  }
}

template <class T>
T decode(DType dtype, std::uint64_t bits) {
  if constexpr (std::is_same_v<T, float>) {
    if (dtype == DType::Float16) return lang::half_to_float(static_cast<std::uint16_t>(bits));
    if (dtype == DType::BFloat16) return lang::bfloat16_to_float(static_cast<std::uint16_t>(bits));
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(bits);
  } else {
    return static_cast<T>(bits);
  }
}

template <class T>
std::uint64_t encode(DType dtype, T value) {
  if constexpr (std::is_same_v<T, float>) {
    if (dtype == DType::Float16) return lang::float_to_half(value);
    if (dtype == DType::BFloat16) return lang::float_to_bfloat16(value);
    return std::bit_cast<std::uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<std::uint64_t>(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? 1 : 0;
  } else {
    return static_cast<std::make_unsigned_t<T>>(value);
  }
}

template <class T>
bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return value != value;
  return false;
}

template <class T>
T min_max(Prim prim, T a, T b) {
  if (is_nan(a)) return a;
  if (is_nan(b)) return b;
  return (prim == Prim::Min ? a < b : a > b) ? a : b;
}

float math(Prim prim, float a, float b) {
  loops::math::NativeF32 target;
#define RELAY_OPERANDS_1 a
#define RELAY_OPERANDS_2 a, b
#define RELAY_MATH(name, function, arity, ...) \
  if (prim == Prim::name) return loops::math::function(target, RELAY_OPERANDS_##arity);
#include "loops/math.def"
#undef RELAY_MATH
#undef RELAY_OPERANDS_1
#undef RELAY_OPERANDS_2
  return 0;
}

double math(Prim prim, double a, double b) {
  const auto* function = loops::math_f64::find(prim);
  return function->unary != nullptr ? function->unary(a) : function->binary(a, b);
}

template <class T>
T float_primitive(Prim prim, T a, T b) {
  switch (prim) {
    case Prim::Add:
      return a + b;
    case Prim::Sub:
      return a - b;
    case Prim::Mul:
      return a * b;
    case Prim::Div:
      return a / b;
    case Prim::FloorDiv:
      return std::floor(a / b);
    case Prim::Mod:
      return std::fmod(a, b);
    case Prim::FloorMod: {
      const T rest = std::fmod(a, b);
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
    case Prim::Neg:
      return -a;
    case Prim::Abs:
      return std::fabs(a);
    case Prim::Sign:
      return a > 0 ? T(1) : a < 0 ? T(-1) : a;
    case Prim::Floor:
      return std::floor(a);
    case Prim::Ceil:
      return std::ceil(a);
    case Prim::Trunc:
      return std::trunc(a);
    case Prim::Round:
      return std::nearbyint(a);
    case Prim::Sqrt:
      return std::sqrt(a);
    default:
      return math(prim, a, b);
  }
}

template <class T>
T divide(Prim prim, T a, T b, bool& by_zero) {
  using U = std::make_unsigned_t<T>;
  if (b == 0) {
    by_zero = true;
    return 0;
  }
  const bool is_quotient = prim == Prim::Div || prim == Prim::FloorDiv;
  if (std::is_signed_v<T> && b == T(-1)) return is_quotient ? T(U(0) - U(a)) : T(0);
  const T quotient = static_cast<T>(a / b);
  const T rest = static_cast<T>(a % b);
  const bool is_off = rest != 0 && (rest < 0) != (b < 0);
  if (prim == Prim::FloorDiv) return static_cast<T>(is_off ? quotient - 1 : quotient);
  if (prim == Prim::FloorMod) return static_cast<T>(is_off ? rest + b : rest);
  return prim == Prim::Div ? quotient : rest;
}

// Extended by its sign.
template <class T>
std::uint64_t word_of(T value) {
  return static_cast<std::uint64_t>(value);  // NOLINT(bugprone-signed-char-misuse)
}

template <class T>
T int_pow(T base, T exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == T(-1)) return exponent % 2 == 0 ? T(1) : T(-1);
    return 0;
  }
  std::uint64_t result = 1;
  std::uint64_t square = word_of(base);
  for (std::uint64_t rest = word_of(exponent); rest != 0; rest /= 2) {
    if (rest % 2 == 1) result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

template <class T>
T int_primitive(Prim prim, T a, T b, bool& by_zero) {
  using U = std::make_unsigned_t<T>;
  const std::uint64_t x = word_of(a);
  const std::uint64_t y = word_of(b);
  const unsigned count = static_cast<unsigned>(y % (8 * sizeof(T)));
  switch (prim) {
    case Prim::Add:
      return static_cast<T>(x + y);
    case Prim::Sub:
      return static_cast<T>(x - y);
    case Prim::Mul:
      return static_cast<T>(x * y);
    case Prim::Neg:
      return static_cast<T>(0 - x);
    case Prim::Abs:
      return a < 0 ? static_cast<T>(0 - x) : a;
    case Prim::Sign:
      return a > 0 ? T(1) : a < 0 ? T(-1) : T(0);
    case Prim::Pow:
      return int_pow(a, b);
    case Prim::And:
      return static_cast<T>(x & y);
    case Prim::Or:
      return static_cast<T>(x | y);
    case Prim::Xor:
      return static_cast<T>(x ^ y);
    case Prim::Not:
      return static_cast<T>(~x);
    case Prim::Shl:
      return static_cast<T>(U(a) << count);
    case Prim::Shr:
      return static_cast<T>(a >> count);
    case Prim::Div:
    case Prim::FloorDiv:
    case Prim::Mod:
    case Prim::FloorMod:
      return divide(prim, a, b, by_zero);
    default:
      return a;
  }
}

bool bool_primitive(Prim prim, bool a, bool b) {
  switch (prim) {
    case Prim::And:
      return a && b;
    case Prim::Or:
      return a || b;
    case Prim::Xor:
      return a != b;
    default:
      return !a;
  }
}

// Towards zero; out of range the nearest there is; NaN is 0.
template <class To, class From>
To to_integer(From value) {
  if (value != value) return 0;
  if (value <= static_cast<From>(std::numeric_limits<To>::min()))
    return std::numeric_limits<To>::min();
  if (value >= std::ldexp(From(1), std::numeric_limits<To>::digits))
    return std::numeric_limits<To>::max();
  return static_cast<To>(value);
}

template <class From>
std::uint64_t cast(DType to, From value) {
  return with_type(to, [&](auto sample) -> std::uint64_t {
    using To = decltype(sample);
    if constexpr (std::is_same_v<To, bool>) {
      return value != From(0) ? 1 : 0;
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
      return encode(to, to_integer<To>(value));
    } else {
      return encode(to, static_cast<To>(value));
    }
  });
}

template <class T>
bool compare(Prim prim, T a, T b) {
  switch (prim) {
    case Prim::Eq:
      return a == b;
    case Prim::Ne:
      return a != b;
    case Prim::Lt:
      return a < b;
    case Prim::Le:
      return a <= b;
    case Prim::Gt:
      return a > b;
    default:
      return a >= b;
  }
}

// Does element (value, t) win against the best so far, which may be none (t < 0)?
template <class T>
bool is_better(ReduceOp op, T value, T best) {
  if (is_nan(best)) return false;
  if (is_nan(value)) return true;
  return op == ReduceOp::ArgMax ? value > best : value < best;
}

}  // namespace

std::uint64_t apply(Prim prim, DType operand, DType result, const std::uint64_t* args,
                    bool& by_zero) {
  // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.UndefReturn): there are three
  if (prim == Prim::Select) return args[args[0] != 0 ? 1 : 2];
  return with_type(operand, [&](auto sample) -> std::uint64_t {
    using T = decltype(sample);
    const bool is_binary = lang::info(prim).arity == 2;
    const T a = decode<T>(operand, args[0]);
    const T b = is_binary ? decode<T>(operand, args[1]) : T{};
    if (prim == Prim::Cast) return operand == result ? args[0] : cast(result, a);
    if (prim >= Prim::Eq && prim <= Prim::Ge) return compare(prim, a, b) ? 1 : 0;
    if (prim == Prim::Min || prim == Prim::Max) return encode(operand, min_max(prim, a, b));
    if (prim == Prim::IsNan) return is_nan(a) ? 1 : 0;
    if constexpr (std::is_floating_point_v<T>) {
      if (prim == Prim::IsInf) return std::isinf(a) ? 1 : 0;
      if (prim == Prim::IsFinite) return std::isfinite(a) ? 1 : 0;
      return encode(operand, float_primitive(prim, a, b));
    } else if constexpr (std::is_same_v<T, bool>) {
      return bool_primitive(prim, a, b) ? 1 : 0;
    } else {
      if (prim == Prim::IsInf) return 0;
      if (prim == Prim::IsFinite) return 1;
      return encode(operand, int_primitive(prim, a, b, by_zero));
    }
  });
}

bool is_same(DType dtype, std::uint64_t a, std::uint64_t b) {
  if (a == b) return true;
  return with_type(dtype, [&](auto sample) {
    using T = decltype(sample);
    return is_nan(decode<T>(dtype, a)) && is_nan(decode<T>(dtype, b));
  });
}

Reference::Reference(const loops::Kernel& kernel, std::vector<void*> buffers,
                     std::vector<std::int64_t> sizes)
    : kernel_(kernel), buffers_(std::move(buffers)), sizes_(std::move(sizes)) {
  axes_.resize(kernel.extents.size());
  values_.resize(static_cast<std::size_t>(kernel.value_count));
  types_.resize(values_.size());
  for (const Region& region : kernel.regions) {
    for (const Instruction& instruction : region.code) types_[instruction.id] = instruction.dtype;
  }
}

int Reference::run(std::int64_t begin, std::int64_t end, loops::KernelError* error) {
  error_ = error;
  try {
    if (kernel_.domain_rank == 0) {
      store(run_region(kernel_.regions[0]));
    } else {
      run_axis(0, begin, end);
    }
  } catch (const Stopped&) {
    return 1;
  }
  return 0;
}

void Reference::run_axis(std::int32_t axis, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) {
    axes_[axis] = i;
    if (axis + 1 == kernel_.domain_rank) {
      store(run_region(kernel_.regions[0]));
    } else {
      run_axis(axis + 1, 0, value_of(kernel_.extents[axis + 1]));
    }
  }
}

std::uint64_t Reference::run_region(const Region& region) {
  for (const Instruction& instruction : region.code)
    values_[instruction.id] = evaluate(instruction);
  return values_[region.result];
}

std::int64_t Reference::value_of(const loops::Size& size) const {
  return size.is_literal ? size.value : sizes_[size.value];
}

std::int64_t Reference::address_of(const loops::Address& address) const {
  std::int64_t sum = value_of(address.offset);
  for (const auto& term : address.terms) {
    sum += static_cast<std::int64_t>(values_[term.index]) * value_of(term.stride);
  }
  return sum;
}

std::uint64_t Reference::load(std::int32_t buffer, std::int64_t index) const {
  const std::size_t size = lang::size_of(kernel_.buffers[buffer].dtype);
  std::uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const std::byte*>(buffers_[buffer]) + index * std::int64_t(size),
              size);
  return bits;
}

std::uint64_t Reference::evaluate(const Instruction& instruction) {
  switch (instruction.code) {
    case Code::Axis:
      return static_cast<std::uint64_t>(axes_[instruction.axis]);
    case Code::Constant:
      return instruction.bits;
    case Code::SizeValue:
      return static_cast<std::uint64_t>(value_of(instruction.size));
    case Code::ScalarInput:
      return load(instruction.buffer, 0);
    case Code::Load:
      for (const auto arg : instruction.args) {
        if (values_[arg] == 0) return 0;
      }
      return load(instruction.buffer, address_of(instruction.address));
    case Code::Primitive: {
      std::vector<std::uint64_t> args;
      for (const auto arg : instruction.args) args.push_back(values_[arg]);
      bool by_zero = false;
      const std::uint64_t result = apply(instruction.prim, type_of(instruction.args.back()),
                                         instruction.dtype, args.data(), by_zero);
      if (by_zero) {
        *error_ = {loops::kDivisionByZeroSite, 0, 0};
        throw Stopped();
      }
      return result;
    }
    case Code::InRange: {
      const auto index = static_cast<std::int64_t>(values_[instruction.args[0]]);
      return index >= 0 && index < value_of(instruction.size) ? 1 : 0;
    }
    case Code::CheckIndex: {
      const auto index = static_cast<std::int64_t>(values_[instruction.args[0]]);
      const std::int64_t extent = value_of(instruction.size);
      const bool counts = instruction.args.size() == 1 || values_[instruction.args[1]] != 0;
      if (counts && (index < 0 || index >= extent)) {
        *error_ = {instruction.site, index, extent};
        throw Stopped();
      }
      return static_cast<std::uint64_t>(index);
    }
    case Code::Reduce:
      return reduce(kernel_.regions[instruction.region]);
  }
  return 0;
}

// Of the product that is the element of a dot.
std::vector<loops::ValueId> Reference::factors_of(const Region& region) const {
  for (const Instruction& instruction : region.code) {
    if (instruction.id == region.result && instruction.prim == Prim::Mul) return instruction.args;
  }
  throw std::logic_error("the element of a dot is a product");
}

std::uint64_t Reference::reduce(const Region& region) {
  const DType dtype = type_of(region.result);
  std::int64_t count = 1;
  for (const auto axis : region.axes) count *= value_of(kernel_.extents[axis]);
  const auto element = [&](std::int64_t t) {
    for (std::size_t i = region.axes.size(); i-- > 0;) {
      const std::int64_t extent = value_of(kernel_.extents[region.axes[i]]);
      axes_[region.axes[i]] = t % extent;
      t /= extent;
    }
    return run_region(region);
  };
  if (region.op == ReduceOp::ArgMax || region.op == ReduceOp::ArgMin) {
    return with_type(dtype, [&](auto sample) {
      using T = decltype(sample);
      T best{};
      std::int64_t where = std::numeric_limits<std::int64_t>::max();
      for (std::int64_t t = 0; t < count; ++t) {
        const T value = decode<T>(dtype, element(t));
        if (t > 0 && !is_better(region.op, value, best)) continue;
        best = value;
        where = t;
      }
      return static_cast<std::uint64_t>(where);
    });
  }
  return with_type(dtype, [&](auto sample) {
    using T = decltype(sample);
    Prim prim = Prim::Add;
    T identity{};
    if (region.op == ReduceOp::Prod) prim = Prim::Mul, identity = T(1);
    if (region.op == ReduceOp::All) prim = Prim::And, identity = T(1);
    if (region.op == ReduceOp::Any) prim = Prim::Or;
    using Limits = std::numeric_limits<T>;
    if (region.op == ReduceOp::Max) {
      prim = Prim::Max;
      identity = Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest();
    }
    if (region.op == ReduceOp::Min) {
      prim = Prim::Min;
      identity = Limits::has_infinity ? Limits::infinity() : Limits::max();
    }
    const auto fold = [&](std::uint64_t& into, std::uint64_t value) {
      bool by_zero = false;
      const std::uint64_t args[] = {into, value};
      into = apply(prim, dtype, dtype, args, by_zero);
    };
    const auto fold_element = [&](std::uint64_t& into, std::int64_t t) {
      const std::uint64_t value = element(t);
      if (region.op != ReduceOp::Dot) return fold(into, value);
      const std::vector<loops::ValueId> factors = factors_of(region);
      const auto factor = [&](std::size_t i) { return decode<T>(dtype, values_[factors[i]]); };
      if constexpr (std::is_floating_point_v<T>)
        into = encode(dtype, std::fma(factor(0), factor(1), decode<T>(dtype, into)));
    };
    const auto lanes_of = [&](std::int64_t begin, std::int64_t end) {
      std::vector<std::uint64_t> partial(loops::kReductionLanes, encode(dtype, identity));
      for (std::int64_t t = begin; t < end; ++t)
        fold_element(partial[t % loops::kReductionLanes], t);
      for (std::size_t width = partial.size() / 2; width > 0; width /= 2) {
        for (std::size_t j = 0; j < width; ++j) fold(partial[j], partial[j + width]);
      }
      return partial[0];
    };
    if (!loops::has_blocks(region.op, dtype)) return lanes_of(0, count);
    const std::function<std::uint64_t(std::int64_t, std::int64_t)> tree = [&](std::int64_t begin,
                                                                              std::int64_t end) {
      std::int64_t first = loops::kReductionBlock;
      if (end - begin <= first) return lanes_of(begin, end);
      while (2 * first < end - begin) first *= 2;
      std::uint64_t sum = tree(begin, begin + first);
      fold(sum, tree(begin + first, end));
      return sum;
    };
    return tree(0, count);
  });
}

void Reference::store(std::uint64_t value) {
  for (const loops::FurtherStore& store : kernel_.further) {
    const std::size_t size = lang::size_of(kernel_.buffers[store.output].dtype);
    std::memcpy(static_cast<std::byte*>(buffers_[store.output]) +
                    address_of(store.destination) * std::int64_t(size),
                &values_[store.value], size);
  }
  const std::int64_t index = address_of(kernel_.destination);
  const DType dtype = kernel_.buffers[kernel_.output].dtype;
  if (kernel_.store == loops::StoreKind::Combine) {
    static constexpr Prim kPrims[] = {Prim::Add, Prim::Mul, Prim::Max,
                                      Prim::Min, Prim::And, Prim::Or};
    bool by_zero = false;
    const std::uint64_t args[] = {load(kernel_.output, index), value};
    value = apply(kPrims[static_cast<int>(kernel_.combine)], dtype, dtype, args, by_zero);
  }
  const std::size_t size = lang::size_of(dtype);
  std::memcpy(static_cast<std::byte*>(buffers_[kernel_.output]) + index * std::int64_t(size),
              &value, size);
}

}  // namespace relay::test
