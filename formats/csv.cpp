#include "formats/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "formats/bytes.h"

namespace relay::formats {

using lang::DType;

namespace {

std::string_view trimmed_cell(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

std::string_view unquoted(std::string_view text) {
  text = trimmed_cell(text);
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return text;
  return trimmed_cell(text.substr(1, text.size() - 2));
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// The bits of a field as an element; nothing if it is none of that dtype.
std::optional<std::uint64_t> element(std::string_view text, DType dtype) {
  if (lang::is_float(dtype)) {
    const auto value = number<double>(text);
    if (!value || (std::isfinite(*value) && !std::isfinite(lang::double_from_bits(
                                                dtype, lang::bits_from_double(dtype, *value)))))
      return std::nullopt;
    return lang::bits_from_double(dtype, *value);
  }
  if (dtype == DType::Bool) {
    if (text == "1" || text == "True" || text == "true") return 1;
    if (text == "0" || text == "False" || text == "false") return 0;
    return std::nullopt;
  }
  if (dtype == DType::UInt64) return number<std::uint64_t>(text);
  auto value = number<std::int64_t>(text);
  if (!value) {  // `3.0` is an integer too
    const auto real = number<double>(text);
    if (!real || std::trunc(*real) != *real || std::abs(*real) >= 9.0e15) return std::nullopt;
    value = static_cast<std::int64_t>(*real);
  }
  const std::uint64_t bits = lang::bits_from_int(dtype, *value);
  if (lang::int_from_bits(dtype, bits) != *value) return std::nullopt;
  return bits;
}

class Reader {
 public:
  Reader(const Location& location, DType dtype) : location_(location), dtype_(dtype) {}

  lang::TensorRef read(const Progress& progress) {
    FileReader file(location_, progress);
    std::vector<std::byte> part(kPart);
    std::string line;  // what has no end yet
    std::int64_t done = 0;
    for (std::size_t count = 0; (count = file.read_some(part)) > 0;) {
      std::string_view text(reinterpret_cast<const char*>(part.data()), count);
      for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos;) {
        add_line(line.empty() ? text.substr(0, end) : line.append(text.substr(0, end)));
        line.clear();
        text.remove_prefix(end + 1);
      }
      line += text;
      ++line_number_;
      if (line.size() > kLongestLine) bad_data(where(), "a line is longer than 256 MiB");
      --line_number_;
      done += static_cast<std::int64_t>(count);
      if (progress) progress(done, std::max(done, file.size()));
    }
    if (!line.empty()) add_line(line);
    if (rows_ == 0 && !header_.empty()) fail_without_rows();
    const lang::TensorRef tensor = make_tensor(location_.path, {dtype_, {rows_, columns_}});
    if (!bytes_.empty()) std::memcpy(tensor->data(), bytes_.data(), bytes_.size());
    return tensor;
  }

 private:
  static constexpr std::size_t kPart = std::size_t{256} << 10U;
  static constexpr std::size_t kLongestLine = std::size_t{256} << 20U;

  void add_line(std::string_view line) {
    ++line_number_;
    if (!trimmed_cell(line).empty()) add(line);
  }

  void add(std::string_view line) {
    const std::size_t before = bytes_.size();
    std::int64_t fields = 0;
    for (std::string_view rest = line;; ++fields) {
      const std::size_t end = rest.find(location_.delimiter);
      const auto bits = element(unquoted(rest.substr(0, end)), dtype_);
      if (!bits) {
        bytes_.resize(before);
        if (line_number_ == 1 && is_header(line)) {
          header_ = trimmed_cell(line);
          return;
        }
        fail(line, fields, unquoted(rest.substr(0, end)));
      }
      const auto* first = reinterpret_cast<const std::byte*>(&*bits);
      bytes_.insert(bytes_.end(), first, first + lang::size_of(dtype_));
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + location_.delimiter.size());
    }
    ++fields;
    if (rows_ == 0) columns_ = fields;
    if (fields != columns_) {
      bad_data(where(), fmt::format("{} fields, but the lines before have {}", fields, columns_));
    }
    ++rows_;
  }

  // A line in which no field is a number has names.
  bool is_header(std::string_view line) const {
    for (;;) {
      const std::size_t end = line.find(location_.delimiter);
      if (number<double>(unquoted(line.substr(0, end)))) return false;
      if (end == std::string_view::npos) return true;
      line.remove_prefix(end + location_.delimiter.size());
    }
  }

  std::string where() const { return fmt::format("{}:{}", location_.path, line_number_); }

  [[noreturn]] void fail_without_rows() const {
    lang::Diagnostic diagnostic(
        lang::DiagnosticKind::BadData,
        fmt::format("{}: no line holds numbers; the first is taken for names: {}", location_.path,
                    in_backticks(header_)));
    for (const std::string_view other : {",", ";", "\t", "|"}) {
      if (other == location_.delimiter || header_.find(other) == std::string::npos) continue;
      diagnostic.note(fmt::format("help: `delimiter=\"{}\"` separates its fields",
                                  other == "\t" ? "\\t" : other));
      break;
    }
    throw lang::Failure(std::move(diagnostic));
  }

  [[noreturn]] void fail(std::string_view line, std::int64_t field, std::string_view text) const {
    const bool is_number = number<double>(text).has_value();
    const std::string what = text.empty() ? "is empty"
                             : is_number  ? fmt::format("is {}, which is no {}", in_backticks(text),
                                                        lang::name_of(dtype_))
                                          : "is not a number";
    lang::Diagnostic diagnostic(lang::DiagnosticKind::BadData,
                                fmt::format("{}: field {} {}", where(), field + 1, what));
    diagnostic.note(fmt::format("note: the line is {}", in_backticks(trimmed_cell(line))));
    throw lang::Failure(std::move(diagnostic));
  }

  const Location& location_;
  DType dtype_;
  std::string header_;
  std::vector<std::byte> bytes_;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  std::int64_t line_number_ = 0;
};

std::string text_of(const lang::Tensor& tensor, std::int64_t linear) {
  const std::uint64_t bits = tensor.bits_at(linear);
  switch (tensor.dtype()) {
    case DType::Float64:
      return fmt::format("{}", tensor.number_at(linear));
    case DType::Float16:
    case DType::BFloat16:
    case DType::Float32:
      return fmt::format("{}", static_cast<float>(tensor.number_at(linear)));
    case DType::UInt64:
      return fmt::format("{}", bits);
    default:
      return fmt::format("{}", lang::int_from_bits(tensor.dtype(), bits));
  }
}

void check_delimiter(const Location& location) {
  const std::string& delimiter = location.delimiter;
  if (!delimiter.empty() && delimiter.find_first_of("\n\"") == std::string::npos) return;
  lang::fail(lang::DiagnosticKind::BadAttribute,
             fmt::format("the delimiter of `{}` {}", location.path,
                         delimiter.empty() ? "is empty" : "holds a quote or the end of a line"));
}

}  // namespace

lang::TensorRef read_csv(const Location& location, DType dtype, const Progress& progress) {
  check_delimiter(location);
  return Reader(location, dtype).read(progress);
}

void write_csv(const Location& location, const lang::Tensor& tensor, const Progress& progress) {
  const auto& shape = tensor.shape();
  if (shape.empty() || shape.size() > 2) {
    bad_data(location.path, fmt::format("a CSV holds a vector or a matrix, not a tensor of rank {}",
                                        shape.size()));
  }
  check_delimiter(location);
  FileWriter file(location);
  const std::int64_t columns = shape.size() == 2 ? shape[1] : 1;
  constexpr std::size_t kPart = std::size_t{1} << 18U;
  std::string text;
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      if (column > 0) text += location.delimiter;
      text += text_of(tensor, row * columns + column);
      if (text.size() < kPart) continue;
      file.write(text);
      text.clear();
      if (progress) progress(row, shape[0]);
    }
    text += '\n';
  }
  file.write(text);
  file.finish();
}

}  // namespace relay::formats
