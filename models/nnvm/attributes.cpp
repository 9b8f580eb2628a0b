#include "models/nnvm/attributes.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "formats/bytes.h"
#include "lang/diagnostic.h"

namespace relay::models::nnvm {

using formats::in_backticks;

namespace {

[[noreturn]] void bad_attribute(std::string_view key, std::string_view text,
                                std::string_view wanted) {
  lang::fail(lang::DiagnosticKind::BadData,
             fmt::format("attribute {} is {}, where {} is due", in_backticks(key),
                         in_backticks(text), wanted));
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// `3`, and Python 2's `3L`.
std::optional<std::int64_t> integer_of(std::string_view text) {
  text = trimmed(text);
  if (text.ends_with('L')) text.remove_suffix(1);
  return whole_number<std::int64_t>(text);
}

// The pieces of `(a, b)`, `[a, b]`, `(a,)`, `()` or `a`; nothing where it is none of these.
std::optional<std::vector<std::string_view>> pieces_of(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return std::nullopt;
  if (text.front() == '(' || text.front() == '[') {
    if (text.size() < 2 || text.back() != (text.front() == '(' ? ')' : ']')) return std::nullopt;
    text = trimmed(text.substr(1, text.size() - 2));
  }
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    pieces.push_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    text = trimmed(text.substr(comma + 1));
  }
  return pieces;
}

bool is_neutral(std::string_view key) {
  constexpr auto kKeys = std::to_array<std::string_view>(
      {"workspace", "cudnn_tune", "cudnn_off", "cudnn_algo_verbose", "num_args", "ctx_group",
       "lr_mult", "wd_mult", "force_mirroring", "mirror_stage", "ctx", "grad_scale", "out_grad",
       "normalization", "ignore_label", "use_ignore", "smooth_alpha", "valid_thresh"});
  if (key.starts_with("__") && key.ends_with("__")) return true;
  if (key.ends_with("_lr_mult") || key.ends_with("_wd_mult")) return true;
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

}  // namespace

const std::string* Attributes::find(std::string_view key) const {
  const auto found = texts_.find(std::string(key));
  if (found == texts_.end()) return nullptr;
  read_.emplace(key);
  return trimmed(found->second) == "None" ? nullptr : &found->second;
}

bool Attributes::is_none(std::string_view key) const {
  return !has(key) && texts_.contains(std::string(key));
}

const std::string& Attributes::get(std::string_view key) const {
  const std::string* found = find(key);
  if (!found) {
    lang::fail(lang::DiagnosticKind::BadData,
               fmt::format("there is no attribute {}", in_backticks(key)));
  }
  return *found;
}

std::string Attributes::text(std::string_view key) const { return std::string(trimmed(get(key))); }

std::string Attributes::text(std::string_view key, std::string_view otherwise) const {
  return has(key) ? text(key) : std::string(otherwise);
}

std::int64_t Attributes::integer(std::string_view key) const {
  const std::string& given = get(key);
  const auto number = integer_of(given);
  if (number) return *number;
  // `(1,)` for one that older versions took as a list.
  const auto pieces = pieces_of(given);
  const auto only = pieces && pieces->size() == 1 ? integer_of(pieces->front()) : std::nullopt;
  if (!only) bad_attribute(key, given, "an integer");
  return *only;
}

std::int64_t Attributes::integer(std::string_view key, std::int64_t otherwise) const {
  return has(key) ? integer(key) : otherwise;
}

double Attributes::number(std::string_view key) const {
  const std::string& given = get(key);
  const auto number = whole_number<double>(given);
  if (!number) bad_attribute(key, given, "a number");
  return *number;
}

double Attributes::number(std::string_view key, double otherwise) const {
  return has(key) ? number(key) : otherwise;
}

bool Attributes::flag(std::string_view key, bool otherwise) const {
  if (!has(key)) return otherwise;
  const std::string given = text(key);
  if (given == "True" || given == "true" || given == "1") return true;
  if (given == "False" || given == "false" || given == "0") return false;
  bad_attribute(key, given, "`True` or `False`");
}

Attributes::Integers Attributes::integers(std::string_view key) const {
  Integers all;
  for (const auto& slot : slots(key)) {
    if (!slot) bad_attribute(key, get(key), "a list of integers");
    all.push_back(*slot);
  }
  return all;
}

Attributes::Integers Attributes::integers(std::string_view key, Integers otherwise) const {
  return has(key) ? integers(key) : std::move(otherwise);
}

std::vector<std::optional<std::int64_t>> Attributes::slots(std::string_view key) const {
  const std::string& given = get(key);
  const auto pieces = pieces_of(given);
  if (!pieces) bad_attribute(key, given, "a list of integers");
  std::vector<std::optional<std::int64_t>> all;
  for (const std::string_view piece : *pieces) {
    all.push_back(piece == "None" ? std::nullopt : integer_of(piece));
    if (piece != "None" && !all.back()) bad_attribute(key, given, "a list of integers");
  }
  return all;
}

Attributes::Integers Attributes::nested_integers(std::string_view key) const {
  const std::string& given = get(key);
  std::string flat;
  for (const char c : given) {
    if (c != '(' && c != ')' && c != '[' && c != ']') flat += c;
  }
  const auto pieces = pieces_of(flat);
  Integers all;
  for (const std::string_view piece : pieces.value_or(std::vector<std::string_view>())) {
    if (piece.empty()) continue;  // of `(1,)`
    const auto number = integer_of(piece);
    if (!number) bad_attribute(key, given, "lists of integers");
    all.push_back(*number);
  }
  return all;
}

lang::DType Attributes::dtype(std::string_view key) const {
  const std::string given = text(key);
  const auto dtype = lang::parse_dtype(given);
  if (!dtype) bad_attribute(key, given, "a dtype");
  return *dtype;
}

lang::DType Attributes::dtype(std::string_view key, lang::DType otherwise) const {
  return has(key) ? dtype(key) : otherwise;
}

void Attributes::ignore(std::initializer_list<std::string_view> keys) const {
  for (const std::string_view key : keys) read_.emplace(key);
}

std::vector<std::string> Attributes::unread() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : texts_) {
    if (!read_.contains(key) && !is_neutral(key)) keys.push_back(key);
  }
  return keys;
}

}  // namespace relay::models::nnvm
