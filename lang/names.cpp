#include <algorithm>
#include <cctype>
#include <cstddef>
#include <tuple>

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

// How far `name` is from `candidate`. A difference in case alone costs nothing, and of a dotted
// name people remember the last part: `softmax` is close to `nn.softmax`.
std::size_t distance_of(std::string_view name, std::string_view candidate) {
  const std::size_t dot = candidate.rfind('.');
  const std::string wanted = lower_case(name);
  std::size_t distance = edit_distance(wanted, lower_case(candidate));
  if (dot != std::string_view::npos && name.find('.') == std::string_view::npos) {
    distance = std::min(distance, edit_distance(wanted, lower_case(candidate.substr(dot + 1))));
  }
  return distance;
}

// What people call things who come from elsewhere, and what these are called here.
constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {
    {"float", "float32"},
    {"double", "float64"},
    {"half", "float16"},
    {"int", "int32"},
    {"long", "int64"},
    {"uint", "uint32"},
    {"boolean", "bool"},
    {"f32", "float32"},
    {"f64", "float64"},
    {"i32", "int32"},
    {"i64", "int64"},
    {"tensor", "Tensor"},
    {"dot", "nn.matmul"},
    {"matmul", "nn.matmul"},
    {"mm", "nn.matmul"},
    {"bmm", "nn.batch_matmul"},
    {"shape", "shape_of"},
    {"len", "length"},
    {"concat", "concatenate"},
    {"cat", "concatenate"},
    {"pow", "power"},
    {"range", "arange"},
    {"permute", "transpose"},
    {"view", "reshape"},
    {"unsqueeze", "expand_dims"},
    {"ln", "log"},
    {"arctan", "atan"},
    {"arcsin", "asin"},
    {"arccos", "acos"},
    {"absolute", "abs"},
    {"neg", "negative"},
    {"sub", "subtract"},
    {"mul", "multiply"},
    {"div", "divide"},
    {"reduce", "foldl"},
    {"fold", "foldl"},
    {"reverse", "rev"},
    {"append", "concat"},
    {"head", "hd"},
    {"tail", "tl"},
    {"var", "variance"},
    {"true", "True"},
    {"false", "False"},
    {"clamp", "clip"},
    {"linear", "nn.dense"},
};

}  // namespace

std::vector<std::string> closest_names(std::string_view name,
                                       const std::vector<std::string>& candidates) {
  for (const auto& [theirs, ours] : kElsewhere) {
    if (name == theirs && std::find(candidates.begin(), candidates.end(), ours) != candidates.end())
      return {std::string(ours)};
  }
  constexpr std::size_t kMost = 3;
  const std::size_t limit = std::max<std::size_t>(1, (name.size() + 1) / 3);
  std::vector<std::pair<std::size_t, std::string>> close;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = distance_of(name, candidate);
    // A name of which nothing is left is not meant.
    if (distance <= limit && distance < std::min(name.size(), candidate.size())) {
      close.emplace_back(distance, candidate);
    }
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
