#include "plot/read_value.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/stop.h"

namespace relay::plot {

using lang::Value;
using lang::ValueKind;

namespace {

constexpr double kNowhere = std::numeric_limits<double>::quiet_NaN();

bool is_number(const Value& value) { return value.is_scalar() || value.is_tensor(); }

std::size_t rank_of(const Value& value) { return value.is_tensor() ? value.as_tensor().rank() : 0; }

// A list of scalars: cells with a number and the rest, or the end.
bool is_list(const Value& value) {
  if (value.kind() != ValueKind::Adt) return false;
  const auto fields = value.as_adt().fields();
  if (fields.empty()) return value.as_adt().constructor().name == "Nil";
  return fields.size() == 2 && value.as_adt().constructor().name == "Cons" && fields[0].is_scalar();
}

bool is_vector(const Value& value) { return rank_of(value) == 1 || is_list(value); }

std::vector<double> numbers_of_list(const Value& list) {
  std::vector<double> numbers;
  for (const Value* cell = &list; !cell->as_adt().fields().empty();
       cell = &cell->as_adt().fields()[1]) {
    lang::poll();
    const Value& head = cell->as_adt().fields()[0];
    numbers.push_back(lang::double_from_bits(head.dtype(), head.bits()));
  }
  return numbers;
}

std::string described(const Value& value) {
  switch (value.kind()) {
    case ValueKind::Scalar:
      return fmt::format("a {} scalar", lang::name_of(value.dtype()));
    case ValueKind::Tensor:
      return fmt::format("a tensor of shape `({})`", fmt::join(value.as_tensor().shape(), ", "));
    case ValueKind::Tuple:
      return value.as_tuple().fields().empty() ? "`()`" : "such a tuple";
    case ValueKind::Adt:
      return fmt::format("a `{}`", value.as_adt().constructor().name);
    case ValueKind::Reference:
      return "a reference";
    default:
      return "a function";
  }
}

// Walks a value and gathers its series.
class Reader {
 public:
  explicit Reader(bool takes_points) : takes_points_(takes_points) {}

  void add(const Value& value, const std::string& label, const std::vector<double>* xs) {
    lang::poll();
    if (is_vector(value)) return add_series(numbers_of(value), label, xs);
    if (rank_of(value) == 2) return add_matrix(value, label, xs);
    const bool is_data = value.kind() == ValueKind::Tuple || value.kind() == ValueKind::Adt;
    if (!is_data) fail_to_draw(fmt::format("{} is no line", described(value)));
    if (value.kind() == ValueKind::Adt) return add_record(value, label, xs);
    add_tuple(value, label, xs);
  }
  std::vector<Series> take() { return std::move(series_); }

 private:
  void add_series(std::vector<double> ys, const std::string& label, const std::vector<double>* xs) {
    Series series{label, {}, std::move(ys)};
    if (xs && xs->size() != series.y.size()) {
      lang::fail(lang::DiagnosticKind::BadData,
                 fmt::format("`xs` has {1} elements, and what is drawn against it {0}",
                             series.y.size(), xs->size()));
    }
    if (xs) {
      series.x = *xs;
    } else {
      series.x.resize(series.y.size());
      for (std::size_t i = 0; i < series.x.size(); ++i) series.x[i] = static_cast<double>(i);
    }
    series_.push_back(std::move(series));
  }

  void add_matrix(const Value& value, const std::string& label, const std::vector<double>* xs) {
    const auto rows = static_cast<std::size_t>(value.as_tensor().shape()[0]);
    const auto columns = static_cast<std::size_t>(value.as_tensor().shape()[1]);
    const std::vector<double> numbers = numbers_of(value);
    if (takes_points_ && !xs) {
      if (columns != 2) {
        fail_to_draw(
            fmt::format("the points of a matrix are rows of 2 numbers, and here of {}", columns));
      }
      Series points{label, {}, {}};
      for (std::size_t i = 0; i < rows; ++i) {
        points.x.push_back(numbers[2 * i]);
        points.y.push_back(numbers[2 * i + 1]);
      }
      series_.push_back(std::move(points));
      return;
    }
    for (std::size_t row = 0; row < rows; ++row) {
      const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(row * columns);
      add_series({begin, begin + static_cast<std::ptrdiff_t>(columns)},
                 label.empty() ? fmt::format("row {}", row) : fmt::format("{} {}", label, row), xs);
    }
  }

  void add_record(const Value& value, const std::string& label, const std::vector<double>* xs) {
    const auto& constructor = value.as_adt().constructor();
    const auto fields = value.as_adt().fields();
    if (fields.empty()) fail_to_draw(fmt::format("{} holds no numbers", described(value)));
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string name = i < constructor.field_names.size() ? constructor.field_names[i]
                                                                  : fmt::format("{} {}", label, i);
      add(fields[i], name, xs);
    }
  }

  void add_tuple(const Value& value, const std::string& label, const std::vector<double>* xs) {
    const auto fields = value.as_tuple().fields();
    if (fields.empty()) fail_to_draw("`()` holds no numbers");
    const bool has_xs = !xs && fields.size() > 1 && is_vector(fields[0]);
    if (has_xs) {
      const std::vector<double> first = numbers_of(fields[0]);
      for (std::size_t i = 1; i < fields.size(); ++i)
        add(fields[i], fields.size() > 2 && label.empty() ? std::to_string(i) : label, &first);
      return;
    }
    for (std::size_t i = 0; i < fields.size(); ++i)
      add(fields[i], fields.size() > 1 ? std::to_string(i) : label, xs);
  }

  const bool takes_points_;
  std::vector<Series> series_;
};

}  // namespace

void fail_to_draw(const std::string& what) {
  throw lang::Failure(lang::Diagnostic(lang::DiagnosticKind::BadData, what)
                          .note(fmt::format("note: {}", kWhatCanBeDrawn)));
}

std::vector<double> numbers_of(const Value& value) {
  if (is_list(value)) return numbers_of_list(value);
  if (!is_number(value)) fail_to_draw(fmt::format("{} is no tensor", described(value)));
  const lang::TensorRef tensor = lang::contiguous(value.to_tensor());
  std::vector<double> numbers(static_cast<std::size_t>(tensor->element_count()));
  constexpr std::size_t kBetweenPolls = 65536;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i % kBetweenPolls == 0) lang::poll();
    numbers[i] = tensor->number_at(static_cast<std::int64_t>(i));
  }
  return numbers;
}

bool holds_integers(const Value& value) {
  if (is_list(value)) {
    const auto fields = value.as_adt().fields();
    return !fields.empty() && holds_integers(fields[0]);
  }
  return is_number(value) &&
         !lang::is_float(value.is_scalar() ? value.dtype() : value.as_tensor().dtype());
}

std::vector<Series> series_of(const Value& value) {
  Reader reader(false);
  reader.add(value, "", nullptr);
  return reader.take();
}

std::vector<Series> points_of(const Value& value) {
  Reader reader(true);
  reader.add(value, "", nullptr);
  return reader.take();
}

Grid grid_of(const Value& value, std::int64_t most) {
  const std::size_t rank = rank_of(value);
  if (rank < 2 || rank > 3) fail_to_draw(fmt::format("{} is no matrix", described(value)));
  const lang::TensorRef tensor = lang::contiguous(value.to_tensor());
  const auto& shape = tensor->shape();
  const std::int64_t stored = rank == 3 ? shape[2] : 1;
  if (stored != 1 && stored != 3 && stored != 4)
    fail_to_draw(fmt::format("{} is no image: that has 1, 3 or 4 channels", described(value)));
  Grid grid;
  grid.channels = std::min<std::int64_t>(stored, 3);
  grid.rows_in_cell = std::max<std::int64_t>(1, (shape[0] + most - 1) / most);
  grid.columns_in_cell = std::max<std::int64_t>(1, (shape[1] + most - 1) / most);
  grid.rows = (shape[0] + grid.rows_in_cell - 1) / grid.rows_in_cell;
  grid.columns = (shape[1] + grid.columns_in_cell - 1) / grid.columns_in_cell;
  const auto mean_at = [&](std::int64_t row, std::int64_t column, std::int64_t channel) {
    double sum = 0;
    std::int64_t count = 0;
    const std::int64_t last_row = std::min(shape[0], (row + 1) * grid.rows_in_cell);
    const std::int64_t last_column = std::min(shape[1], (column + 1) * grid.columns_in_cell);
    for (std::int64_t i = row * grid.rows_in_cell; i < last_row; ++i) {
      for (std::int64_t j = column * grid.columns_in_cell; j < last_column; ++j) {
        const double number = tensor->number_at((i * shape[1] + j) * stored + channel);
        grid.nans += std::isnan(number) ? 1 : 0;
        grid.infinities += std::isinf(number) ? 1 : 0;
        if (!std::isfinite(number)) continue;
        ++count;
        sum += (number - sum) / static_cast<double>(count);  // of numbers near the largest, too
      }
    }
    return count == 0 || !std::isfinite(sum) ? kNowhere : sum;
  };
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    lang::poll();
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      for (std::int64_t channel = 0; channel < grid.channels; ++channel)
        grid.values.push_back(mean_at(row, column, channel));
    }
  }
  return grid;
}

}  // namespace relay::plot
