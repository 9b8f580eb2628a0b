#include "tests/mutants/call_mutator.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

#include <fmt/format.h>

namespace relay::tests {

namespace {

constexpr std::array kDTypes = {lang::DType::Bool,    lang::DType::Int8,     lang::DType::Int16,
                                lang::DType::Int32,   lang::DType::Int64,    lang::DType::UInt8,
                                lang::DType::UInt16,  lang::DType::UInt32,   lang::DType::UInt64,
                                lang::DType::Float16, lang::DType::BFloat16, lang::DType::Float32,
                                lang::DType::Float64};

constexpr std::array<std::int64_t, 9> kExtents = {0, 1, 2, 3, 4, 5, 7, 9, 17};

constexpr std::array<std::string_view, 20> kNumbers = {"-1",
                                                       "0",
                                                       "1",
                                                       "2",
                                                       "3",
                                                       "-2",
                                                       "-3",
                                                       "5",
                                                       "8",
                                                       "40",
                                                       "-100",
                                                       "1000",
                                                       "2147483647",
                                                       "-2147483648",
                                                       "4294967296",
                                                       "1099511627776",
                                                       "4611686018427387904",
                                                       "9223372036854775807",
                                                       "-9223372036854775807",
                                                       "0.5"};

constexpr std::array<std::string_view, 24> kWords = {
    "\"\"",     "\"NCHW\"",  "\"NHWC\"", "\"NCHW4c\"", "\"NCW\"",     "\"NCDHW\"",
    "\"OIHW\"", "\"HWIO\"",  "\"x\"",    "\"add\"",    "\"mul\"",     "\"none\"",
    "\"sum\"",  "\"mean\"",  "\"edge\"", "\"linear\"", "\"float32\"", "\"float16\"",
    "\"int8\"", "\"int64\"", "\"bool\"", "None",       "True",        "[]"};

// Generated elements: as an index, a count and a size might be.
constexpr std::array<std::pair<double, double>, 7> kRanges = {
    {{-3, 4}, {0, 2}, {-40, 40}, {2147483000, 2147483647}, {-9e18, 9e18}, {1e12, 1e13}, {1, 6}}};

template <class List>
const auto& pick(const List& list, Random& random) {
  return list[random.below(std::size(list))];
}

bool is_number(const std::string& text) {
  return !text.empty() &&
         (std::isdigit(static_cast<unsigned char>(text.back())) || text.back() == '.') &&
         text.find('"') == std::string::npos && text.find('[') == std::string::npos;
}

std::vector<std::string> split_list(const std::string& inside) {
  std::vector<std::string> parts;
  int depth = 0;
  bool is_quoted = false;
  std::string part;
  for (const char c : inside) {
    if (c == '"') is_quoted = !is_quoted;
    if (!is_quoted && (c == '[' || c == '(')) ++depth;
    if (!is_quoted && (c == ']' || c == ')')) --depth;
    if (c == ',' && depth == 0 && !is_quoted) {
      parts.push_back(std::exchange(part, {}));
    } else if (c != ' ' || !part.empty()) {
      part += c;
    }
  }
  if (!part.empty()) parts.push_back(part);
  return parts;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> split_attrs(const std::string& attrs) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& part : split_list(attrs)) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) continue;
    pairs.emplace_back(part.substr(0, equals), part.substr(equals + 1));
  }
  return pairs;
}

std::string inputs_text(const CaseRow& row) {
  const auto text = [](const auto& self, const CaseInput& input) -> std::string {
    if (input.is_tuple) {
      std::string fields;
      for (const CaseInput& field : input.fields)
        fields += (fields.empty() ? "" : " ") + self(self, field);
      return "(" + fields + ")";
    }
    std::string head =
        fmt::format("{}[{}]", lang::name_of(input.dtype), fmt::join(input.shape, ","));
    if (input.has_data) return fmt::format("{}={{{}}}", head, fmt::join(input.data, ","));
    return fmt::format("{}:{}..{}", head, input.low, input.high);
  };
  std::string all;
  for (const CaseInput& input : row.inputs) all += (all.empty() ? "" : " ") + text(text, input);
  return all;
}

CallMutator::CallMutator(std::vector<CaseRow> rows) : rows_(std::move(rows)) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    rows_of_[rows_[i].op].push_back(i);
    for (const auto& [key, value] : split_attrs(rows_[i].attrs)) values_of_[key].push_back(value);
  }
}

void CallMutator::mutate_leaf(CaseInput& input, Random& random) const {
  const auto reshaped = [&] {
    if (!input.has_data) return;
    input.has_data = false;
    input.data.clear();
    input.low = 0;
    input.high = 4;
  };
  switch (random.below(7)) {
    case 0:
    case 1:  // an extent
      if (input.shape.empty()) return;
      input.shape[random.below(input.shape.size())] = pick(kExtents, random);
      reshaped();
      return;
    case 2:  // off by one
      if (!input.shape.empty()) {
        std::int64_t& extent = input.shape[random.below(input.shape.size())];
        extent = std::max<std::int64_t>(0, extent + (random.below(2) == 0 ? 1 : -1));
        reshaped();
      }
      return;
    case 3:  // another rank
      if (random.below(2) == 0 && !input.shape.empty()) {
        input.shape.erase(input.shape.begin() +
                          static_cast<std::ptrdiff_t>(random.below(input.shape.size())));
      } else {
        input.shape.insert(
            input.shape.begin() + static_cast<std::ptrdiff_t>(random.below(input.shape.size() + 1)),
            pick(kExtents, random));
      }
      reshaped();
      return;
    case 4:
      input.dtype = pick(kDTypes, random);
      return;
    default: {  // elements
      if (input.has_data && !input.data.empty() && random.below(2) == 0) {
        input.data[random.below(input.data.size())] = std::string(pick(kNumbers, random));
        return;
      }
      reshaped();
      const auto& range = pick(kRanges, random);
      input.low = range.first;
      input.high = range.second;
      return;
    }
  }
}

void CallMutator::mutate_input(CaseInput& input, Random& random) const {
  if (!input.is_tuple) return mutate_leaf(input, random);
  if (input.fields.empty() || random.below(4) == 0) {  // another number of fields
    if (random.below(2) == 0 && !input.fields.empty()) {
      input.fields.pop_back();
    } else {
      input.fields.push_back(input.fields.empty() ? CaseInput{} : input.fields.back());
    }
    return;
  }
  mutate_input(input.fields[random.below(input.fields.size())], random);
}

std::string CallMutator::mutated_value(const std::string& key, const std::string& value,
                                       Random& random) const {
  const std::size_t dice = random.below(8);
  if (dice == 0) return std::string(pick(kWords, random));
  if (dice == 1) {
    const auto& known = values_of_.at(key);
    return known[random.below(known.size())];
  }
  if (value.starts_with('[')) {
    std::vector<std::string> parts = split_list(value.substr(1, value.size() - 2));
    switch (random.below(4)) {
      case 0:
        if (!parts.empty()) parts.pop_back();
        break;
      case 1:
        parts.push_back(parts.empty() ? "1" : parts[random.below(parts.size())]);
        break;
      default:
        if (parts.empty()) break;
        std::string& part = parts[random.below(parts.size())];
        part = mutated_value(key, part, random);
        break;
    }
    return fmt::format("[{}]", fmt::join(parts, ", "));
  }
  if (is_number(value)) {
    if (random.below(8) == 0) return "[" + value + "]";
    return std::string(pick(kNumbers, random));
  }
  return std::string(pick(kWords, random));
}

std::string CallMutator::mutated_attrs(const CaseRow& row, Random& random) const {
  auto pairs = split_attrs(row.attrs);
  // Attributes that other rows of the operator give.
  const auto& rows = rows_of_.at(row.op);
  for (const auto& other : split_attrs(rows_[rows[random.below(rows.size())]].attrs)) {
    const auto is_same = [&](const auto& pair) { return pair.first == other.first; };
    if (std::none_of(pairs.begin(), pairs.end(), is_same) && random.below(2) == 0)
      pairs.push_back(other);
  }
  if (!pairs.empty()) {
    const std::size_t at = random.below(pairs.size());
    if (random.below(10) == 0) {
      pairs.erase(pairs.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      pairs[at].second = mutated_value(pairs[at].first, pairs[at].second, random);
    }
  }
  std::vector<std::string> parts;
  for (const auto& [key, value] : pairs) parts.push_back(key + "=" + value);
  return fmt::format("{}", fmt::join(parts, ", "));
}

MutatedCall CallMutator::make(Random& random) const {
  // First the operator: all count the same, however many rows they have.
  auto found = rows_of_.begin();
  std::advance(found, static_cast<std::ptrdiff_t>(random.below(rows_of_.size())));
  MutatedCall call;
  call.row = rows_[found->second[random.below(found->second.size())]];
  for (std::size_t steps = 1 + random.below(3); steps > 0; --steps) {
    const bool is_attr = call.row.inputs.empty() || random.below(2) == 0;
    if (is_attr) {
      call.row.attrs = mutated_attrs(call.row, random);
    } else {
      mutate_input(call.row.inputs[random.below(call.row.inputs.size())], random);
    }
  }
  switch (random.below(6)) {
    case 0:
      call.dims = CaseDims::Symbolic;
      break;
    case 1:
      call.dims = CaseDims::Any;
      break;
    case 2: {
      const std::vector<CaseDims> all = single_extents(call.row);
      if (!all.empty()) call.dims = all[random.below(all.size())];
      break;
    }
    default:
      break;
  }
  call.is_strided = random.below(5) == 0;
  return call;
}

}  // namespace relay::tests
