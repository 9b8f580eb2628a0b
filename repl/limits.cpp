#include "repl/limits.h"

#include <charconv>
#include <cstdint>

#include <fmt/format.h>

#include "lang/memory.h"

namespace relay::repl {

namespace {

constexpr std::string_view kNone = "none";

// The number that the text begins with, above 0; takes it off.
std::optional<double> take_number(std::string_view& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !(number > 0) || number > 1e18) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

std::optional<std::size_t> parse_bytes(std::string_view text) {
  if (text == kNone) return SIZE_MAX;
  const auto number = take_number(text);
  if (!number) return std::nullopt;
  double unit = 1;
  if (!text.empty()) {
    const std::size_t power = std::string_view("KMGT").find(text.front());
    if (power == std::string_view::npos) return std::nullopt;
    for (std::size_t i = 0; i <= power; ++i) unit *= 1024;
    text.remove_prefix(1);
    if (!text.empty() && text != "B" && text != "iB") return std::nullopt;
  }
  const double bytes = *number * unit;
  if (bytes < 1) return std::nullopt;
  return bytes < 9e18 ? static_cast<std::size_t>(bytes) : SIZE_MAX;
}

std::optional<double> parse_seconds(std::string_view text) {
  if (text == kNone) return 0.0;
  const auto number = take_number(text);
  if (!number) return std::nullopt;
  if (text.empty() || text == "s") return *number;
  if (text == "ms") return *number / 1000;
  if (text == "m") return *number * 60;
  if (text == "h") return *number * 3600;
  return std::nullopt;
}

std::string describe_limits(const Session& session) {
  const std::size_t most = lang::memory_limit();
  const double seconds = session.options().seconds;
  return fmt::format(
      "memory {}, of which {} are in use\ntime {}\n",
      most == SIZE_MAX ? std::string(kNone) : lang::describe_bytes(most),
      lang::describe_bytes(lang::memory_used()),
      seconds > 0 ? fmt::format("{:g} s for each entry", seconds) : std::string(kNone));
}

}  // namespace relay::repl
