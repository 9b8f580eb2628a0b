#include "notebook/value_html.h"

#include <limits>
#include <regex>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace relay;
using lang::DType;
using lang::Tensor;
using lang::Value;

namespace {

Value counted(DType dtype, std::vector<std::int64_t> shape) {
  auto tensor = Tensor::make(dtype, shape);
  for (std::int64_t i = 0; i < tensor->element_count(); ++i)
    tensor->set_bits(i, lang::bits_from_double(dtype, static_cast<double>(i)));
  return Value::tensor(tensor);
}

// What stands in the cells of this kind, in order.
std::vector<std::string> cells_of(const std::string& html, const std::string& tag) {
  const std::regex cell("<" + tag + "[^>]*>([^<]*)</" + tag + ">");
  std::vector<std::string> cells;
  for (auto each = std::sregex_iterator(html.begin(), html.end(), cell);
       each != std::sregex_iterator(); ++each)
    cells.push_back((*each)[1]);
  return cells;
}

using Cells = std::vector<std::string>;

}  // namespace

TEST_CASE("a matrix is a table with its indices", "[notebook]") {
  const std::string html = notebook::html_of(counted(DType::Int32, {2, 3}), ": bool");
  CHECK(cells_of(html, "td") == Cells{"0", "1", "2", "3", "4", "5"});
  CHECK(cells_of(html, "th") == Cells{"", "0", "1", "2", "0", "1"});
  CHECK(html.find(">: bool</pre>") != std::string::npos);
}

TEST_CASE("a vector is one row", "[notebook]") {
  const std::string html = notebook::html_of(counted(DType::Float32, {3}), "");
  CHECK(cells_of(html, "td") == Cells{"0.0", "1.0", "2.0"});
  CHECK(cells_of(html, "th") == Cells{"0", "1", "2"});
}

TEST_CASE("of a long vector the edges are shown", "[notebook]") {
  const std::string html = notebook::html_of(counted(DType::Int64, {100}), "");
  CHECK(cells_of(html, "th") == Cells{"0", "1", "2", "3", "4", "5", "6", "7", "…", "92", "93", "94",
                                      "95", "96", "97", "98", "99"});
  CHECK(cells_of(html, "td") == cells_of(html, "th"));
}

TEST_CASE("one more than is shown in whole leaves nothing out twice", "[notebook]") {
  const std::string html = notebook::html_of(counted(DType::Int64, {17}), "");
  CHECK(cells_of(html, "th").size() == 17);
  CHECK(cells_of(html, "th")[8] == "…");
  CHECK(cells_of(html, "th")[9] == "9");
}

TEST_CASE("more axes are matrices, each with its index", "[notebook]") {
  const std::string html = notebook::html_of(counted(DType::Int32, {2, 2, 1, 2}), "");
  CHECK(html.find("[0, 0, :, :]") != std::string::npos);
  CHECK(html.find("[1, 0, :, :]") != std::string::npos);
  CHECK(cells_of(html, "td") == Cells{"0", "1", "2", "3", "4", "5", "6", "7"});
  CHECK(notebook::html_of(counted(DType::Int32, {50, 1, 1}), "").find("… 44 more") !=
        std::string::npos);
}

TEST_CASE("a view is shown by its own elements", "[notebook]") {
  const Value base = counted(DType::Int32, {2, 3});
  const Value turned = Value::tensor(Tensor::view(base.as_tensor(), {3, 2}, {1, 3}, 0));
  CHECK(cells_of(notebook::html_of(turned, ""), "td") == Cells{"0", "3", "1", "4", "2", "5"});
}

TEST_CASE("numbers that are not finite stand out", "[notebook]") {
  const Value value = counted(DType::Float32, {2});
  value.as_tensor().set_bits(
      1, lang::bits_from_double(DType::Float32, std::numeric_limits<double>::infinity()));
  const std::string html = notebook::html_of(value, "");
  CHECK(html.find("font-weight:bold\">inf</td>") != std::string::npos);
  CHECK(html.find("font-weight:bold\">0.0</td>") == std::string::npos);
}

TEST_CASE("tuples of tensors are tables, others are as clear as text", "[notebook]") {
  std::vector<Value> fields = {Value::boolean(true), counted(DType::Int32, {2})};
  const Value pair = Value::tuple(lang::TupleCell::make(fields));
  const std::string html = notebook::html_of(pair, "");
  CHECK(html.find(">0</th>") != std::string::npos);
  CHECK(html.find("True") != std::string::npos);
  CHECK(cells_of(html, "td") == Cells{"0", "1"});
  std::vector<Value> numbers = {Value::boolean(true), Value::boolean(false)};
  CHECK(notebook::html_of(Value::tuple(lang::TupleCell::make(numbers)), "").empty());
  CHECK(notebook::html_of(Value::boolean(true), ": bool").empty());
  CHECK(notebook::html_of(counted(DType::Float32, {0, 3}), "").empty());
}
