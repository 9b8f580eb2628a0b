#include "tests/support/replay.h"

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "lang/sanitizer.h"

namespace relay::tests {

namespace {

constexpr const char* kSeed = "RELAY_SEED";
constexpr const char* kCount = "RELAY_COUNT";

std::optional<std::uint64_t> number_from(const char* variable) {
  const char* const text = std::getenv(variable);
  if (!text) return std::nullopt;
  const std::string_view digits = text;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  if (error != std::errc() || end != digits.end())
    throw std::runtime_error(fmt::format("{}={} is no number", variable, text));
  return number;
}

}  // namespace

std::uint64_t first_seed(std::uint64_t otherwise) { return number_from(kSeed).value_or(otherwise); }

std::uint64_t case_count(std::uint64_t otherwise, std::uint64_t under_sanitizers) {
#ifdef RELAY_ASAN
  const std::uint64_t usual = under_sanitizers;
  (void)otherwise;
#else
  const std::uint64_t usual = otherwise;
  (void)under_sanitizers;
#endif
  return number_from(kCount).value_or(usual);
}

bool is_count_given() { return number_from(kCount).has_value(); }

std::string replay_line(std::uint64_t seed, std::string_view arguments) {
  namespace fs = std::filesystem;
  const fs::path program = fs::proximate(fs::read_symlink("/proc/self/exe"));
  return fmt::format("{}={} {}=1 {}{}{}", kSeed, seed, kCount, program.string(),
                     arguments.empty() ? "" : " ", arguments);
}

}  // namespace relay::tests
