// What is drawn of a value, and what cannot be.

#include "plot/figure.h"

#include <cmath>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/support/values.h"

namespace relay::plot {
namespace {

using lang::DType;
using lang::Value;
using tests::tensor_of;
using tests::tuple_of;
using tests::vector_of;

Request of_kind(Kind kind) {
  Request request;
  request.kind = kind;
  return request;
}

// `label: x x | y y` of each series.
std::string series_text(const Value& value, Kind kind = Kind::Line) {
  std::string text;
  for (const Series& each : figure_of(value, of_kind(kind)).series) {
    text +=
        fmt::format("{}: {} | {}\n", each.label, fmt::join(each.x, " "), fmt::join(each.y, " "));
  }
  return text;
}

std::string error_of(const Value& value, const Request& request) {
  try {
    figure_of(value, request);
  } catch (const lang::Failure& failure) {
    const lang::Diagnostic& error = failure.diagnostics.front();
    return error.message + (error.notes.empty() ? "" : "\n" + error.notes.front());
  }
  return "";
}

TEST_CASE("vectors, matrices and tuples of them are series") {
  CHECK(series_text(vector_of({5, 6})) == ": 0 1 | 5 6\n");
  CHECK(series_text(tuple_of({vector_of({1, 2}), vector_of({5, 6})})) == ": 1 2 | 5 6\n");
  CHECK(series_text(tuple_of({vector_of({1, 2}), vector_of({5, 6}), vector_of({7, 8})})) ==
        "1: 1 2 | 5 6\n2: 1 2 | 7 8\n");
  const Value pair = tuple_of({vector_of({1}), vector_of({5})});
  const Value other = tuple_of({vector_of({1, 2}), vector_of({5, 6})});
  CHECK(series_text(tuple_of({pair, other})) == "0: 1 | 5\n1: 1 2 | 5 6\n");
  const Value matrix = tensor_of({1, 2, 3, 4}, {2, 2});
  CHECK(series_text(matrix) == "row 0: 0 1 | 1 2\nrow 1: 0 1 | 3 4\n");
  CHECK(series_text(tuple_of({vector_of({7, 9}), matrix})) ==
        "row 0: 7 9 | 1 2\nrow 1: 7 9 | 3 4\n");
  CHECK(series_text(matrix, Kind::Scatter) == ": 1 3 | 2 4\n");
}

TEST_CASE("every dtype is drawn") {
  for (int i = 0; i < lang::kDTypeCount; ++i)
    CHECK(series_text(vector_of({0, 1}, static_cast<DType>(i))) == ": 0 1 | 0 1\n");
}

TEST_CASE("the kind follows from the value unless it is said") {
  CHECK(figure_of(vector_of({1}), {}).kind == Kind::Line);
  CHECK(figure_of(tensor_of({1}, {1, 1}), {}).kind == Kind::Image);
  CHECK(figure_of(tensor_of({1, 2, 3}, {1, 1, 3}), {}).kind == Kind::Image);
}

TEST_CASE("what cannot be drawn is an error that says what can") {
  CHECK(error_of(Value::boolean(true), {}) ==
        "a bool scalar is no line\n"
        "note: what can be drawn: a vector; (xs, ys); a tuple or record of these; a matrix; a "
        "tensor (height, width, 1, 3 or 4)");
  CHECK(error_of(tensor_of({1, 2}, {1, 1, 2}), {}).starts_with("a tensor of shape `(1, 1, 2)`"));
  CHECK(error_of(tensor_of({1}, {1, 1, 1, 1}), {}).starts_with("a tensor of shape"));
  CHECK(error_of(Value::unit(), {}).starts_with("`()` holds no numbers"));
  CHECK(error_of(tuple_of({vector_of({1, 2}), vector_of({1})}), {}) ==
        "`xs` has 2 elements, and what is drawn against it 1");
  CHECK(error_of(tensor_of({1, 2, 3}, {1, 3}), of_kind(Kind::Scatter))
            .starts_with("the points of a matrix are rows of 2 numbers, and here of 3"));
  Request log = of_kind(Kind::Image);
  log.has_log_x = true;
  CHECK(error_of(tensor_of({1}, {1, 1}), log).starts_with("the axes of an image count"));
}

TEST_CASE("gaps are counted") {
  const auto notes = [](const Value& value, const Request& request) {
    return fmt::format("{}", fmt::join(figure_of(value, request).notes, "; "));
  };
  const Value holes = vector_of({1, std::nan(""), INFINITY, -INFINITY, 2});
  CHECK(notes(holes, {}) == "1 NaN and 2 Inf are gaps");
  CHECK(notes(vector_of({std::nan(""), 1}), {}) == "1 NaN is a gap");
  CHECK(notes(holes, of_kind(Kind::Histogram)) == "1 NaN and 2 Inf are not counted");
  CHECK(notes(vector_of({}), {}) == "there are no elements");
  Request log;
  log.has_log_y = true;
  CHECK(notes(vector_of({1, 0, -2}), log) ==
        "2 numbers that are not above 0 have no place on a logarithmic axis");
  CHECK(notes(tensor_of({1, 5}, {1, 2}), {}) == "black is 1, white is 5");
}

TEST_CASE("a histogram counts each number once") {
  const Figure whole = figure_of(vector_of({3, 3, 4, 6}, DType::Int32), of_kind(Kind::Histogram));
  CHECK(whole.edges == std::vector<double>{2.5, 3.5, 4.5, 5.5, 6.5});
  CHECK(whole.counts == std::vector<double>{2, 1, 0, 1});
  Request request = of_kind(Kind::Histogram);
  request.bins = 4;
  const Figure shares = figure_of(vector_of({0, 0.5, 1, 1.9, 2}), request);
  CHECK(shares.edges == std::vector<double>{0, 0.5, 1, 1.5, 2});
  CHECK(shares.counts == std::vector<double>{1, 1, 1, 2});
}

TEST_CASE("contours lie between the elements that they pass") {
  Request request = of_kind(Kind::Contour);
  request.levels = 2;
  const Figure figure = figure_of(tensor_of({0, 2, 0, 2}, {2, 2}), request);
  REQUIRE(figure.series.size() >= 1);
  for (const Series& each : figure.series) {
    if (each.label != "1") continue;
    CHECK(each.x[0] == Approx(0.5));
    CHECK(each.x[1] == Approx(0.5));
  }
}

TEST_CASE("large images become means") {
  const std::int64_t rows = 3000;
  const Figure figure = figure_of(
      tensor_of(std::vector<double>(static_cast<std::size_t>(rows * 2), 7), {rows, 2}), {});
  CHECK(figure.grid.rows == 1000);
  CHECK(figure.grid.rows_in_cell == 3);
  CHECK(figure.grid.at(999, 1) == 7);
}

}  // namespace
}  // namespace relay::plot
