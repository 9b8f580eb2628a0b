#include "models/names.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "lang/letters.h"
#include "lang/op.h"

namespace relay::models {

namespace {

constexpr std::size_t kLongest = 60;

// Words that mean something where a name may stand, besides the operators.
constexpr auto kWords = std::to_array<std::string_view>({"let",      "fn",
                                                         "def",      "if",
                                                         "else",     "type",
                                                         "match",    "extern",
                                                         "free_var", "ref",
                                                         "for",      "import",
                                                         "ref_read", "ref_write",
                                                         "True",     "False",
                                                         "inf",      "nan",
                                                         "pi",       "grad",
                                                         "vjp",      "jvp",
                                                         "hvp",      "hessian",
                                                         "jacobian", "value_and_grad",
                                                         "tree_map", "tree_fold",
                                                         "with",     "scatter",
                                                         "schedule", "None",
                                                         "dim",      "prim",
                                                         "Tensor",   "sum",
                                                         "prod",     "max",
                                                         "min",      "all",
                                                         "any",      "argmax",
                                                         "argmin",   "scan",
                                                         "weights",  "Weights",
                                                         "main",     "i",
                                                         "w",        "check_grad",
                                                         "map",      "length",
                                                         "foldl",    "rev",
                                                         "zip"});

bool is_word(std::string_view name) {
  if (std::find(kWords.begin(), kWords.end(), name) != kWords.end()) return true;
  return lang::OpRegistry::instance().find(name) != nullptr || lang::parse_dtype(name).has_value();
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool is_string = false;
  for (const char c : text) {
    if (c == '"') is_string = !is_string;
    if (!is_string && (lang::is_word_byte(c) || (c == '.' && !word.empty()))) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

std::string legal_name(std::string_view wanted, std::string_view fallback) {
  std::string name;
  for (const char c : wanted) {
    if (name.size() == kLongest) break;
    if (lang::is_ascii_letter(c) || lang::is_digit(c)) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  if (name.empty()) name = fallback;
  if (lang::is_digit(name.front())) name = fmt::format("{}_{}", fallback, name);
  if (is_word(name)) name += '_';
  return name;
}

std::string Names::unique(std::string_view wanted, std::string_view fallback) {
  const std::string name = legal_name(wanted, fallback);
  if (taken_.insert(name).second) return name;
  const std::string_view joint = name.ends_with('_') ? "" : "_";
  int& number = next_.try_emplace(name, 2).first->second;
  while (true) {
    std::string free = fmt::format("{}{}{}", name, joint, number++);
    if (taken_.insert(free).second) return free;
  }
}

}  // namespace relay::models
