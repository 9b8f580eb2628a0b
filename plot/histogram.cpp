#include "plot/histogram.h"

#include <algorithm>
#include <cmath>

#include "lang/stop.h"
#include "plot/axis.h"

namespace relay::plot {

namespace {

// As many as Sturges says, or as the spread of the middle half says (Freedman and Diaconis) if that
// is more; both are for data that is unknown.
double usual_count(std::vector<long double> numbers) {
  constexpr double kMost = 60;
  const auto n = static_cast<double>(numbers.size());
  const double sturges = std::ceil(std::log2(std::max(n, 1.0))) + 1;
  std::sort(numbers.begin(), numbers.end());
  const std::size_t quarter = numbers.size() / 4;
  const long double middle = numbers[numbers.size() - 1 - quarter] - numbers[quarter];
  const long double width = 2 * middle / std::cbrt(static_cast<long double>(n));
  if (width <= 0) return sturges;
  const auto by_spread = static_cast<double>((numbers.back() - numbers.front()) / width);
  return std::min(std::max(sturges, by_spread), kMost);
}

}  // namespace

void count_in_bins(const std::vector<double>& numbers, std::optional<std::int64_t> wanted,
                   bool are_integers, Figure& figure) {
  if (numbers.empty()) return;
  const bool is_log = figure.x_scale == Scale::Log;
  std::vector<long double> places(numbers.begin(), numbers.end());
  if (is_log) {
    for (long double& each : places) each = std::log10(each);
  }
  const auto [lowest, highest] = std::minmax_element(places.begin(), places.end());
  const long double low = *lowest;
  const long double high = *highest;
  const long double count =
      wanted ? static_cast<long double>(*wanted) : static_cast<long double>(usual_count(places));
  const bool is_whole = are_integers && !is_log;
  // One number alone has a bin of some width.
  const long double range = high > low ? high - low : std::max(std::abs(low) / 10, 1e-300L);
  long double width = round_step(range / count);
  if (is_whole) width = std::max(std::round(width), 1.0L);
  const long double shift = is_whole ? 0.5L : 0;
  const long double first = std::floor((low + shift) / width + 1e-9L);
  const long double last = is_whole ? std::floor((high + shift) / width) + 1
                                    : std::max(first + 1, std::ceil(high / width - 1e-9L));
  const auto bins = static_cast<std::size_t>(last - first);
  figure.counts.assign(bins, 0);
  for (std::size_t i = 0; i <= bins; ++i) {
    const long double edge = (first + static_cast<long double>(i)) * width - shift;
    figure.edges.push_back(static_cast<double>(is_log ? std::pow(10.0L, edge) : edge));
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    constexpr std::size_t kBetweenPolls = 65536;
    if (i % kBetweenPolls == 0) lang::poll();
    const long double bin = std::floor((places[i] + shift) / width + 1e-9L) - first;
    const auto index = static_cast<std::size_t>(std::max(bin, 0.0L));
    ++figure.counts[std::min(index, bins - 1)];
  }
}

}  // namespace relay::plot
