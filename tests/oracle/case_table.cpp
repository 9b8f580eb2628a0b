#include "tests/oracle/case_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "lang/dtype.h"
#include "lang/tensor.h"

namespace relay::tests {
namespace {

using lang::DType;
using lang::Value;

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find(separator, at);
    parts.emplace_back(text.substr(at, end - at));
    if (end == std::string_view::npos) return parts;
    at = end + 1;
  }
}

// Reads one column of inputs: `float32[2,3]:-1..1 int32[2]={0,5} (bool[2] bool[])`.
class InputReader {
 public:
  explicit InputReader(std::string_view text) : rest_(text) {}

  std::vector<CaseInput> read() {
    std::vector<CaseInput> inputs;
    while (skip_blanks(), !rest_.empty()) inputs.push_back(input());
    return inputs;
  }

 private:
  [[noreturn]] void fail(std::string_view wanted) const {
    throw std::runtime_error(fmt::format("{} expected at `{}`", wanted, rest_));
  }
  void skip_blanks() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }
  bool accept(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail(fmt::format("`{}`", token));
  }
  std::string until(std::string_view ends) {
    const std::size_t size = std::min(rest_.find_first_of(ends), rest_.size());
    std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return text;
  }
  double number(const std::string& text) const {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0') fail("a number");
    return value;
  }

  CaseInput input() {
    CaseInput result;
    if (accept("(")) {
      result.is_tuple = true;
      while (skip_blanks(), !accept(")")) {
        if (rest_.empty()) fail("`)`");
        result.fields.push_back(input());
      }
      return result;
    }
    const auto dtype = lang::parse_dtype(until("["));
    if (!dtype) fail("a dtype");
    result.dtype = *dtype;
    expect("[");
    for (const std::string& extent : split(until("]"), ','))
      result.shape.push_back(std::stoll(extent));
    expect("]");
    result.low = lang::is_float(*dtype) ? 0.2 : 0;
    result.high = lang::is_float(*dtype) ? 0.9 : *dtype == DType::Bool ? 2 : 10;
    if (accept("={")) {
      result.has_data = true;
      result.data = split(until("}"), ',');
      expect("}");
    } else if (accept(":")) {
      const std::string range = until(" )");
      const std::size_t dots = range.find("..");
      if (dots == std::string::npos) fail("LOW..HIGH");
      result.low = number(range.substr(0, dots));
      result.high = number(range.substr(dots + 2));
    }
    return result;
  }

  std::string_view rest_;
};

CaseRow read_row(const std::string& line, const std::string& place) {
  const std::vector<std::string> cells = split(line, '\t');
  if (cells.size() < 4 || cells.size() > 5)
    throw std::runtime_error("operator, inputs, attributes, expression, notes expected");
  CaseRow row;
  row.op = cells[0];
  row.place = place;
  if (cells[1] != "-") row.inputs = InputReader(cells[1]).read();
  if (cells[2] != "-") row.attrs = cells[2];
  if (cells.size() == 5) row.notes = split(cells[4], ' ');
  row.key = fmt::format("{}", fmt::join(cells, " | "));
  return row;
}

std::uint64_t explicit_bits(DType dtype, const std::string& text) {
  if (lang::is_float(dtype))
    return lang::bits_from_double(dtype, std::strtod(text.c_str(), nullptr));
  if (dtype == DType::UInt64) return std::strtoull(text.c_str(), nullptr, 10);
  return lang::bits_from_int(dtype, std::strtoll(text.c_str(), nullptr, 10));
}

Value make_leaf(const CaseInput& spec, std::int64_t input) {
  const auto tensor = lang::Tensor::make(spec.dtype, spec.shape);
  const std::int64_t count = tensor->element_count();
  if (spec.has_data && static_cast<std::int64_t>(spec.data.size()) != count)
    throw std::runtime_error(fmt::format("{} elements given for {}", spec.data.size(), count));
  for (std::int64_t k = 0; k < count; ++k) {
    if (spec.has_data) {
      tensor->set_bits(k, explicit_bits(spec.dtype, spec.data[static_cast<std::size_t>(k)]));
      continue;
    }
    const double number = spec.low + (spec.high - spec.low) * unit_number(k, input);
    tensor->set_bits(
        k, lang::is_float(spec.dtype)
               ? lang::bits_from_double(spec.dtype, number)
               : lang::bits_from_int(spec.dtype, static_cast<std::int64_t>(std::floor(number))));
  }
  return Value::tensor(tensor);
}

Value make_argument(const CaseInput& spec, std::int64_t& input) {
  if (!spec.is_tuple) return make_leaf(spec, input++);
  std::vector<Value> fields;
  for (const CaseInput& field : spec.fields) fields.push_back(make_argument(field, input));
  return Value::tuple(lang::TupleCell::make(fields));
}

bool keeps_extents(const CaseRow& row, std::size_t input) {
  return row.has_note("known=" + parameter_name(input));
}

void collect_extents(const CaseInput& input, std::vector<std::int64_t>& extents) {
  for (const CaseInput& field : input.fields) collect_extents(field, extents);
  extents.insert(extents.end(), input.shape.begin(), input.shape.end());
}

// The extents that need not be constants, by their places in the parameters.
std::map<std::size_t, std::int64_t> free_extents(const CaseRow& row) {
  std::map<std::size_t, std::int64_t> free;
  std::size_t place = 0;
  for (std::size_t i = 0; i < row.inputs.size(); ++i) {
    std::vector<std::int64_t> extents;
    collect_extents(row.inputs[i], extents);
    for (const std::int64_t extent : extents) {
      if (!keeps_extents(row, i)) free.emplace(place, extent);
      ++place;
    }
  }
  return free;
}

}  // namespace

bool CaseRow::has_note(std::string_view note) const {
  return std::find(notes.begin(), notes.end(), note) != notes.end();
}

std::vector<CaseRow> read_cases(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(fmt::format("cannot open {}", path));
  std::vector<CaseRow> rows;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    const std::string place = fmt::format("{}:{}", path, number);
    try {
      rows.push_back(read_row(line, place));
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("{}: {}", place, error.what()));
    }
  }
  return rows;
}

double unit_number(std::int64_t element, std::int64_t input) {
  return std::fmod(0.137 + 0.6180339887 * static_cast<double>(element + 1009 * input), 1.0);
}

std::vector<Value> make_arguments(const CaseRow& row) {
  std::vector<Value> args;
  std::int64_t input = 0;
  for (const CaseInput& spec : row.inputs) args.push_back(make_argument(spec, input));
  return args;
}

Value make_numbers(const std::vector<std::int64_t>& shape, double low, double high,
                   std::int64_t input) {
  CaseInput spec;
  spec.dtype = DType::Float64;
  spec.shape = shape;
  spec.low = low;
  spec.high = high;
  return make_leaf(spec, input);
}

std::string CaseDims::describe() const {
  const char* what = kind == Any ? "`?`" : "symbolic";
  if (places.empty()) return fmt::format("{} dims", what);
  return fmt::format("{} extent{} {} of the parameters", what, places.size() == 1 ? "" : "s",
                     fmt::join(places, ", "));
}

std::string type_text(const CaseInput& input, const CaseDims& dims, std::size_t& place) {
  std::vector<std::string> parts;
  if (input.is_tuple) {
    for (const CaseInput& field : input.fields) parts.push_back(type_text(field, dims, place));
    return fmt::format("({}{})", fmt::join(parts, ", "), parts.size() == 1 ? "," : "");
  }
  for (const std::int64_t extent : input.shape) {
    const bool is_written = dims.is_at(place++);
    const bool is_variable = is_written && dims.kind == CaseDims::Symbolic && extent > 1;
    const bool is_any = is_written && dims.kind == CaseDims::Any;
    parts.push_back(is_any ? "?" : fmt::format("{}{}", is_variable ? "n" : "", extent));
  }
  return fmt::format("Tensor[({}), {}]", fmt::join(parts, ", "), lang::name_of(input.dtype));
}

std::string parameter_name(std::size_t index) {
  return std::string(1, static_cast<char>('a' + static_cast<int>(index)));
}

std::string parameters_text(const CaseRow& row, const CaseDims& dims) {
  std::vector<std::string> parts;
  std::size_t place = 0;
  for (std::size_t i = 0; i < row.inputs.size(); ++i) {
    const CaseDims own = keeps_extents(row, i) ? CaseDims(CaseDims::Constant) : dims;
    parts.push_back(fmt::format("{}: {}", parameter_name(i), type_text(row.inputs[i], own, place)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string call_text(const CaseRow& row) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < row.inputs.size(); ++i) parts.push_back(parameter_name(i));
  if (!row.attrs.empty()) parts.push_back(row.attrs);
  return fmt::format("{}({})", row.op, fmt::join(parts, ", "));
}

std::string function_text(const CaseRow& row, const CaseDims& dims) {
  return fmt::format("fn {}({}) {{ {} }}", variables_text(row, dims), parameters_text(row, dims),
                     call_text(row));
}

std::string variables_text(const CaseRow& row, const CaseDims& dims) {
  std::set<std::int64_t> extents;
  if (dims.kind == CaseDims::Symbolic) {
    for (const auto& [place, extent] : free_extents(row)) {
      if (dims.is_at(place) && extent > 1) extents.insert(extent);
    }
  }
  std::vector<std::string> names;
  for (const std::int64_t extent : extents) names.push_back(fmt::format("n{}", extent));
  return names.empty() ? "" : fmt::format("[{}]", fmt::join(names, ", "));
}

std::vector<CaseDims> single_extents(const CaseRow& row) {
  std::vector<CaseDims> all;
  std::map<std::int64_t, std::set<std::size_t>> equal;
  for (const auto& [place, extent] : free_extents(row)) {
    all.emplace_back(CaseDims::Any, std::set{place});
    if (extent <= 1) continue;
    all.emplace_back(CaseDims::Symbolic, std::set{place});
    equal[extent].insert(place);
  }
  for (const auto& [extent, places] : equal) {
    if (places.size() > 1) all.emplace_back(CaseDims::Symbolic, places);
  }
  return all;
}

}  // namespace relay::tests
