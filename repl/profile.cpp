#include "repl/profile.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "lang/memory.h"
#include "repl/columns.h"

namespace relay::repl {

namespace {

using Spent = interp::Profile::Line;

constexpr std::size_t kRows = 20;
constexpr double kLeast = 0.001;  // of the whole, that is worth a row
constexpr std::size_t kWidth = 96;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

std::string row(const Spent& line, double whole, const std::string& place) {
  std::string text = fmt::format("{:>9} {:>5.1f} %", duration(line.seconds),
                                 whole > 0 ? 100 * line.seconds / whole : 0.0);
  text += fmt::format(" {:>11} {:>10}  ", line.runs > 0 ? grouped(line.runs) : std::string(),
                      line.bytes > 0 ? lang::describe_bytes(line.bytes) : std::string());
  const std::string shown =
      line.source == nullptr
          ? place
          : fmt::format("{}:{}  {}", std::filesystem::path(line.source->name()).filename().string(),
                        line.number, trimmed(line.source->line(line.number)));
  return text + shortened(shown, std::max(kWidth, text.size() + 2) - text.size()) + "\n";
}

}  // namespace

std::string describe_profile(interp::Profile& profile) {
  const std::vector<Spent> lines = profile.lines();
  const double whole =
      std::accumulate(lines.begin(), lines.end(), 0.0,
                      [](double sum, const Spent& line) { return sum + line.seconds; });
  std::vector<Spent> slowest(lines.begin() + 2, lines.end());
  std::stable_sort(slowest.begin(), slowest.end(),
                   [](const Spent& a, const Spent& b) { return a.seconds > b.seconds; });
  const auto least = std::find_if(slowest.begin(), slowest.end(),
                                  [&](const Spent& line) { return line.seconds < kLeast * whole; });
  const std::size_t shown =
      std::min(kRows, static_cast<std::size_t>(std::distance(slowest.begin(), least)));
  std::string text = fmt::format("{:>9} {:>7} {:>11} {:>10}  line, of {}\n", "time", "", "runs",
                                 "tensors", duration(whole));
  Spent others;
  for (std::size_t i = 0; i < slowest.size(); ++i) {
    if (i < shown) {
      text += row(slowest[i], whole, "");
    } else {
      others.seconds += slowest[i].seconds;
      others.runs += slowest[i].runs;
      others.bytes += slowest[i].bytes;
    }
  }
  if (slowest.size() > shown)
    text += row(others, whole, fmt::format("({} other lines)", slowest.size() - shown));
  text += row(lines[interp::Profile::kMakingCode], whole,
              "(specialising, deriving, optimising, compiling)");
  return text + row(lines[interp::Profile::kOutside], whole, "(reading, checking, printing)");
}

}  // namespace relay::repl
