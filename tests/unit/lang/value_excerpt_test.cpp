// Values within so many columns and lines.

#include <algorithm>
#include <sstream>
#include <vector>

#include <catch2/catch.hpp>

#include "lang/value.h"

namespace relay::lang {
namespace {

Value counted(std::initializer_list<std::int64_t> shape) {
  const TensorRef tensor = Tensor::make(DType::Int32, shape);
  for (std::int64_t i = 0; i < tensor->element_count(); ++i)
    tensor->set_bits(i, static_cast<std::uint64_t>(i));
  return Value::tensor(tensor);
}

struct Size {
  std::size_t lines = 0;
  std::size_t columns = 0;
};
Size size_of(const std::string& text) {
  Size size;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line); ++size.lines)
    size.columns = std::max(size.columns, line.size());
  return size;
}

TEST_CASE("an excerpt of a tensor keeps to its lines and columns, whatever its shape") {
  for (const Value& value : {counted({3, 4, 50, 50}), counted({999}), counted({100000}),
                             counted({40, 3}), counted({10, 100}), counted({2, 2, 2, 2, 2, 2, 2}),
                             counted({1000, 1}), counted({1, 1000}), counted({5, 1, 1, 30})}) {
    for (const std::size_t lines : {5, 20}) {
      for (const std::size_t columns : {40, 80, 200}) {
        const std::string text = to_string(value, {.columns = columns, .max_lines = lines});
        INFO(text);
        // Each axis of which something is left out takes a line.
        CHECK(size_of(text).lines <= std::max(lines, value.as_tensor().rank()));
        CHECK(size_of(text).columns <= columns);
        const bool is_whole =
            text == to_string(value, {.max_elements = 1'000'000, .columns = columns});
        CHECK(is_whole == (text.find("...") == std::string::npos));
      }
    }
  }
}

TEST_CASE("what fits is shown in whole") {
  const Value value = counted({4, 5});
  CHECK(to_string(value, {.columns = 80, .max_lines = 4}) == to_string(value));
  CHECK(to_string(value).find("...") == std::string::npos);
}

TEST_CASE("cells after the last line are left out") {
  const Value row = counted({30});
  std::vector<Value> fields(50, row);
  const Value tuple = Value::tuple(TupleCell::make(fields));
  const Size size = size_of(to_string(tuple, {.columns = 60, .max_lines = 20}));
  CHECK(size.lines <= 20 + 50);
  CHECK(size.columns <= 60);
}

TEST_CASE("a tensor in a cell says its dtype") {
  const TensorRef doubles = Tensor::make(DType::Float64, {2});
  doubles->set_bits(0, bits_from_double(DType::Float64, 0.1));
  doubles->set_bits(1, bits_from_double(DType::Float64, 2));
  const Value alone = Value::tensor(doubles);
  CHECK(to_string(alone) == "[0.1, 2.0]");
  std::vector<Value> fields = {alone, counted({2})};
  CHECK(to_string(Value::tuple(TupleCell::make(fields))) == "([0.1f64, 2.0], [0, 1])");
}

}  // namespace
}  // namespace relay::lang
