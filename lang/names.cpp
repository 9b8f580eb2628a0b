#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <tuple>

#include "lang/familiar_names.h"
#include "lang/op.h"

namespace relay::lang {
namespace {

// Insertions, deletions, replacements and swaps of neighbours that lead from `a` to `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last = std::move(last);
    last = row;
  }
  return last[b.size()];
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string_view last_part(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

// How many slips of the keyboard are believed in a name of that length. In a short one each letter
// counts, so that every other name is near.
std::size_t most_slips(std::size_t length) {
  return length <= 3 ? 0 : length <= 7 ? 1 : length <= 11 ? 2 : 3;
}

// Is `name` the other with one letter twice?
bool is_doubled(std::string_view name, std::string_view other) {
  if (name.size() != other.size() + 1) return false;
  const auto at = std::mismatch(other.begin(), other.end(), name.begin()).first - other.begin();
  return at > 0 && name[static_cast<std::size_t>(at)] == name[static_cast<std::size_t>(at) - 1] &&
         name.substr(static_cast<std::size_t>(at) + 1) ==
             other.substr(static_cast<std::size_t>(at));
}

// The slips that lead from `name` to `candidate`; nothing where it is not meant. A difference in
// case alone is none; apart from that a constructor is not meant where a function is written, nor a
// word that begins with another letter.
std::optional<std::size_t> slips_between(std::string_view name, std::string_view candidate) {
  const std::string wanted = lower_case(name);
  const std::string other = lower_case(candidate);
  if (wanted == other) return 0;
  if (name.empty() || candidate.empty() || is_upper(name[0]) != is_upper(candidate[0]))
    return std::nullopt;
  // The beginning of a long word, or all but the last letter.
  const bool is_long = wanted.size() >= 4 && wanted.size() * 2 >= other.size();
  const bool lacks_last = wanted.size() == 3 && other.size() == 4;
  if (other.starts_with(wanted) && (is_long || lacks_last)) return 1;
  const bool exchanges_first =
      wanted.size() > 1 && other.size() > 1 && wanted[0] == other[1] && wanted[1] == other[0];
  if (wanted[0] != other[0] && !exchanges_first) return std::nullopt;
  const std::size_t slips = edit_distance(wanted, other);
  // Two neighbours exchanged are plain also in a short word.
  const bool is_exchange = slips == 1 && wanted.size() == other.size() &&
                           std::is_permutation(wanted.begin(), wanted.end(), other.begin());
  const bool is_plain = is_exchange && (wanted.size() > 3 || !exchanges_first);
  if ((is_plain && wanted.size() > 2) || is_doubled(wanted, other)) return 1;
  if (slips > most_slips(std::min(wanted.size(), other.size()))) return std::nullopt;
  return slips;
}

// Of a dotted name people remember the last part: `softmax` is close to `nn.softmax`.
std::optional<std::size_t> distance_of(std::string_view name, std::string_view candidate) {
  std::optional<std::size_t> distance = slips_between(name, candidate);
  if (!distance && name.find('.') == std::string_view::npos &&
      candidate.find('.') != std::string_view::npos)
    distance = slips_between(name, last_part(candidate));
  return distance;
}

// The name among the candidates, or one that has it for its last part, which is best the shortest.
std::optional<std::string> exact(std::string_view name,
                                 const std::vector<std::string>& candidates) {
  const std::string* best = nullptr;
  for (const std::string& candidate : candidates) {
    if (candidate == name) return candidate;
    if (last_part(candidate) == name && (!best || candidate.size() < best->size()))
      best = &candidate;
  }
  return best ? std::optional(*best) : std::nullopt;
}

}  // namespace

std::vector<std::string> closest_names(std::string_view name,
                                       const std::vector<std::string>& candidates) {
  const std::string_view plain = without_library(name);
  if (const FamiliarName* known = find_familiar(plain)) {
    const auto found = std::find(candidates.begin(), candidates.end(), known->ours);
    if (found != candidates.end()) return {*found};
    if (known->ours.empty()) return {};
  }
  if (plain != name) {
    if (std::optional<std::string> found = exact(plain, candidates)) return {*found};
  }
  constexpr std::size_t kMost = 3;
  std::vector<std::pair<std::size_t, std::string>> close;
  for (const std::string& candidate : candidates) {
    if (const auto distance = distance_of(name, candidate); distance)
      close.emplace_back(*distance, candidate);
  }
  // Of names equally far the shorter one: `tanh` before `qnn.tanh`.
  std::sort(close.begin(), close.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.first, a.second.size(), a.second) <
           std::tuple(b.first, b.second.size(), b.second);
  });
  close.erase(std::unique(close.begin(), close.end()), close.end());
  if (close.size() > kMost) close.resize(kMost);
  std::vector<std::string> names;
  for (auto& [distance, candidate] : close) names.push_back(std::move(candidate));
  return names;
}

}  // namespace relay::lang
