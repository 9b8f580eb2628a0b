#include "plot/axis.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace relay::plot {

namespace {

// Two numbers that differ by less than this part of them have the same label.
constexpr long double kLeastSpread = 1e-12L;

long double power_of_ten(long double exponent) { return std::pow(10.0L, exponent); }

}  // namespace

void Range::add(double number, Scale scale) {
  if (!std::isfinite(number) || (scale == Scale::Log && number <= 0)) return;
  low = is_empty ? number : std::min(low, number);
  high = is_empty ? number : std::max(high, number);
  is_empty = false;
}

long double round_step(long double step) {
  const long double power = power_of_ten(std::floor(std::log10(step)));
  const long double digit = step / power;
  // A step that was computed may be a little too large.
  constexpr long double kSlack = 1 + 1e-9L;
  for (const long double each : {1.0L, 2.0L, 5.0L}) {
    if (digit <= each * kSlack) return each * power;
  }
  return 10 * power;
}

std::string short_number(long double number, long double step) {
  constexpr long double kLargest = 1e6L;
  constexpr long double kSmallest = 1e-4L;
  if (std::abs(number) < step * kLeastSpread) return "0";
  const long double size = std::abs(number);
  const int digits_before = static_cast<int>(std::floor(std::log10(size)));
  const int digits_of_step = static_cast<int>(std::floor(std::log10(step) + kLeastSpread));
  if (size < kLargest && step >= kSmallest)
    return fmt::format("{:.{}f}", number, std::max(0, -digits_of_step));
  constexpr int kMostDigits = 15;
  return fmt::format("{:.{}g}", number,
                     std::clamp(digits_before - digits_of_step + 1, 1, kMostDigits));
}

Axis::Axis(const Range& range, Scale scale, int most, Ends ends)
    : low_(range.low), high_(range.high), scale_(scale) {
  const bool is_log = scale == Scale::Log;
  if (range.is_empty) {
    low_ = is_log ? 1 : 0;
    high_ = is_log ? 10 : 1;
  }
  if (is_log) {
    low_ = std::log10(low_);
    high_ = std::log10(high_);
  }
  const long double size = std::max(std::abs(low_), std::abs(high_));
  if (high_ - low_ <= size * kLeastSpread) {
    const long double room = is_log || size == 0 ? 1 : size / 10;
    low_ -= room;
    high_ += room;
  }
  most = std::max(most, 2);
  if (is_log) {
    place_log(most, ends);
  } else {
    place_linear(most, ends);
  }
}

void Axis::place_linear(int most, Ends ends) {
  // A little is forgiven: a bound that was computed may be just beside a tick.
  constexpr long double kSlack = 1e-9L;
  const long double least = ends == Ends::Whole ? 1 : 0;
  long double step = std::max(round_step((high_ - low_) / most), least);
  const auto first = [&] {
    return ends == Ends::Round ? std::floor(low_ / step + kSlack) : std::ceil(low_ / step - kSlack);
  };
  const auto last = [&] {
    return ends == Ends::Round ? std::ceil(high_ / step - kSlack)
                               : std::floor(high_ / step + kSlack);
  };
  for (int tries = 0; tries < 3 && last() - first() < 1; ++tries)
    step = std::max(round_step(step / 2.5L), least);
  const long double begin = first();
  const auto count = static_cast<int>(last() - begin);
  if (ends == Ends::Round) {
    low_ = begin * step;
    high_ = (begin + count) * step;
  }
  for (int i = 0; i <= count; ++i) {
    const long double value = (begin + i) * step;
    ticks_.push_back({static_cast<double>(value),
                      static_cast<double>((value - low_) / (high_ - low_)),
                      short_number(value, step)});
  }
}

// At whole powers of ten, or at the round numbers between two of them.
void Axis::place_log(int most, Ends ends) {
  if (ends == Ends::Round) {
    low_ = std::floor(low_ + 1e-9L);
    high_ = std::ceil(high_ - 1e-9L);
    if (high_ <= low_) high_ = low_ + 1;
  }
  const auto begin = static_cast<int>(std::ceil(low_ - 1e-9L));
  auto end = static_cast<int>(std::floor(high_ + 1e-9L));
  const int step = std::max(1, (end - begin + most - 1) / most);
  if (ends == Ends::Round) {
    end = begin + (end - begin + step - 1) / step * step;
    high_ = end;
  }
  for (int exponent = begin; exponent <= end; exponent += step) {
    const long double value = power_of_ten(exponent);
    constexpr int kPlain = 4;
    ticks_.push_back({static_cast<double>(value),
                      static_cast<double>((exponent - low_) / (high_ - low_)),
                      std::abs(exponent) <= kPlain ? fmt::format("{:g}", value)
                                                   : fmt::format("1e{}", exponent)});
  }
}

double Axis::position(double number) const {
  constexpr double kNowhere = std::numeric_limits<double>::quiet_NaN();
  if (!std::isfinite(number) || (scale_ == Scale::Log && number <= 0)) return kNowhere;
  const long double place = scale_ == Scale::Log ? std::log10(static_cast<long double>(number))
                                                 : static_cast<long double>(number);
  const auto position = static_cast<double>((place - low_) / (high_ - low_));
  return std::clamp(position, 0.0, 1.0);
}

}  // namespace relay::plot
