#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "interp/effects.h"

namespace relay::interp {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

bool parse_number(std::string_view text, double& number) {
  text = trimmed(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

// Appends the numbers of a line; the index of the first field that is none, or -1.
int parse_line(std::string_view line, std::vector<double>& numbers) {
  int field = 0;
  while (true) {
    const std::size_t comma = line.find(',');
    double number = 0;
    if (!parse_number(line.substr(0, comma), number)) return field;
    numbers.push_back(number);
    if (comma == std::string_view::npos) return -1;
    line.remove_prefix(comma + 1);
    ++field;
  }
}

}  // namespace

lang::Result<lang::TensorRef> load_csv(const std::string& path, lang::DType dtype) {
  std::ifstream file(path);
  if (!file)
    return Diagnostic(DiagnosticKind::FileError,
                      fmt::format("cannot open `{}`: {}", path, std::strerror(errno)));
  std::vector<double> numbers;
  std::string line;
  std::int64_t rows = 0, columns = 0, line_number = 0;
  while (std::getline(file, line)) {
    ++line_number;
    if (trimmed(line).empty()) continue;
    const std::size_t before = numbers.size();
    const int bad = parse_line(line, numbers);
    if (bad >= 0 && line_number == 1) {  // a header
      numbers.resize(before);
      continue;
    }
    if (bad >= 0) {
      return Diagnostic(DiagnosticKind::BadData,
                        fmt::format("{}:{}: field {} is not a number", path, line_number, bad + 1))
          .note(fmt::format("note: the line is `{}`", trimmed(line)));
    }
    const auto found = static_cast<std::int64_t>(numbers.size() - before);
    if (rows == 0) columns = found;
    if (found != columns) {
      return Diagnostic(DiagnosticKind::BadData,
                        fmt::format("{}:{}: {} fields, but the lines before have {}", path,
                                    line_number, found, columns));
    }
    ++rows;
  }
  if (file.bad())
    return Diagnostic(DiagnosticKind::FileError,
                      fmt::format("cannot read `{}`: {}", path, std::strerror(errno)));
  auto tensor = lang::Tensor::make(dtype, {rows, columns});
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    tensor->set_bits(static_cast<std::int64_t>(i), lang::bits_from_double(dtype, numbers[i]));
  }
  return tensor;
}

}  // namespace relay::interp
