#include <algorithm>
#include <cmath>
#include <numeric>

#include "opt/quantize.h"

// How far the scale of a value reaches: what lies beyond is cut off, and what lies inside gets the
// finer steps for it.
namespace relay::opt {

namespace {

constexpr std::size_t kBins = 8001;

double percentile_of(std::vector<double> magnitudes, double percentile) {
  const auto last = static_cast<double>(magnitudes.size() - 1);
  const auto place = magnitudes.begin() + static_cast<std::ptrdiff_t>(
                                              std::clamp(std::ceil(percentile * last), 0.0, last));
  std::nth_element(magnitudes.begin(), place, magnitudes.end());
  return *place;
}

// Of distribution `p` from `q`, which have equal sums; bins that are empty in `q` alone count with
// a small share of the rest.
double divergence(const std::vector<double>& p, const std::vector<double>& q) {
  constexpr double kLeast = 1e-4;
  const double all_p = std::accumulate(p.begin(), p.end(), 0.0);
  const double all_q = std::accumulate(q.begin(), q.end(), 0.0);
  if (all_p == 0 || all_q == 0) return HUGE_VAL;
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i] > 0)
      sum += p[i] / all_p * std::log(p[i] / all_p / std::max(q[i] / all_q, kLeast / kBins));
  }
  return sum;
}

// The first `count` bins as so many levels: each spreads what it holds over its bins that hold
// something.
std::vector<double> in_levels(const std::vector<double>& bins, std::size_t count,
                              std::size_t levels) {
  std::vector<double> spread(count, 0);
  for (std::size_t level = 0; level < levels; ++level) {
    const std::size_t begin = level * count / levels;
    const std::size_t end = (level + 1) * count / levels;
    double sum = 0;
    double holding = 0;
    for (std::size_t i = begin; i < end; ++i) {
      sum += bins[i];
      holding += bins[i] > 0 ? 1 : 0;
    }
    for (std::size_t i = begin; i < end; ++i) spread[i] = bins[i] > 0 ? sum / holding : 0;
  }
  return spread;
}

// S. Migacz, "8-bit Inference with TensorRT" (2017): the bound at which the values that are cut off
// and put into levels tell least apart from all values.
double least_divergence(const std::vector<double>& magnitudes, double largest, double steps) {
  std::vector<double> bins(kBins, 0);
  const double width = largest / static_cast<double>(kBins);
  for (const double magnitude : magnitudes) {
    const auto bin = static_cast<std::size_t>(magnitude / width);
    bins[std::min(bin, kBins - 1)] += 1;
  }
  const auto levels = static_cast<std::size_t>(steps);
  double outside = std::accumulate(bins.begin(), bins.end(), 0.0);
  double best = HUGE_VAL;
  double reach = largest;
  for (std::size_t count = 1; count <= kBins; ++count) {
    outside -= bins[count - 1];
    if (count != kBins && (count < levels || (count - levels) % 16 != 0)) continue;
    std::vector<double> cut(bins.begin(), bins.begin() + static_cast<std::ptrdiff_t>(count));
    cut.back() += outside;
    const double found = divergence(cut, in_levels(bins, count, levels));
    if (found < best) {
      best = found;
      reach = width * static_cast<double>(count);
    }
  }
  return reach;
}

}  // namespace

double reach_of(const std::vector<double>& values, ScaleChoice choice, double percentile,
                double steps) {
  std::vector<double> magnitudes;
  for (const double value : values) {
    if (std::isfinite(value)) magnitudes.push_back(std::abs(value));
  }
  const double largest =
      magnitudes.empty() ? 0 : *std::max_element(magnitudes.begin(), magnitudes.end());
  // Any steps will do for zeros.
  if (largest == 0) return 1;
  switch (choice) {
    case ScaleChoice::Max:
      return largest;
    case ScaleChoice::Power2:
      return std::exp2(std::ceil(std::log2(largest)));
    case ScaleChoice::Percentile: {
      const double found = percentile_of(std::move(magnitudes), percentile);
      return found > 0 ? found : largest;
    }
    case ScaleChoice::Divergence:
      return least_divergence(magnitudes, largest, steps);
  }
  return largest;
}

}  // namespace relay::opt
