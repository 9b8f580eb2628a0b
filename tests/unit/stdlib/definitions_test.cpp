// What definitions mean, by an evaluator that shares no code with loops/ and interp/. The table of
// cases (tests/oracle) tries each operator, and its derivative, in the real ones.

#include <cmath>

#include <catch2/catch.hpp>

#include "lang/build.h"
#include "lang/op.h"
#include "stdlib/register.h"
#include "tests/unit/stdlib/reference_eval.h"

namespace {

using namespace relay::lang;
using relay::stdlib_test::apply;
using relay::stdlib_test::array;
using relay::stdlib_test::Array;
using relay::stdlib_test::tuple_of;

using Extents = std::vector<std::int64_t>;
AttrValue ints(std::vector<std::int64_t> values) { return AttrValue::ints(values); }
Array f64(Extents shape, std::vector<double> data) {
  return array(DType::Float64, std::move(shape), std::move(data));
}
Array i32(Extents shape, std::vector<double> data) {
  return array(DType::Int32, std::move(shape), std::move(data));
}
Array mask(Extents shape, std::vector<double> data) {
  return array(DType::Bool, std::move(shape), std::move(data));
}

std::vector<double> data(const Array& value) { return value.data; }
using Numbers = std::vector<double>;

}  // namespace

TEST_CASE("values of definitions", "[stdlib][definition]") {
  relay::stdlib::register_operators();
  CHECK(data(apply("reshape", {i32({2, 3}, {1, 2, 3, 4, 5, 6})}, {{"newshape", ints({3, 2})}})) ==
        Numbers{1, 2, 3, 4, 5, 6});
  CHECK(data(apply("transpose", {i32({2, 3}, {1, 2, 3, 4, 5, 6})})) == Numbers{1, 4, 2, 5, 3, 6});
  CHECK(data(apply("concatenate", {tuple_of({i32({0}, {}), i32({2}, {1, 2}), i32({1}, {3})})})) ==
        Numbers{1, 2, 3});
  CHECK(data(apply("concatenate", {tuple_of({i32({0}, {}), i32({0}, {})})})).empty());
  CHECK(data(apply("stack", {tuple_of({i32({2}, {1, 2}), i32({2}, {3, 4})})}, {{"axis", 1}})) ==
        Numbers{1, 3, 2, 4});
  CHECK(data(apply("take", {i32({3}, {7, 8, 9}), i32({4}, {-1, 0, 2, 5})}, {{"axis", 0}})) ==
        Numbers{7, 7, 9, 9});
  CHECK(data(apply("take", {i32({3}, {7, 8, 9}), i32({2}, {-1, 4})},
                   {{"axis", 0}, {"mode", "wrap"}})) == Numbers{9, 8});
  CHECK(data(apply("take", {i32({2, 2}, {1, 2, 3, 4}), i32({2}, {3, 1})})) == Numbers{4, 2});
  CHECK_THROWS(apply("take", {i32({3}, {7, 8, 9}), i32({}, {3})}, {{"axis", 0}, {"mode", "fast"}}));
  CHECK(data(apply("one_hot", {i32({3}, {0, 2, 5}), i32({}, {1}), i32({}, {-1})},
                   {{"depth", 3}})) == Numbers{1, -1, -1, -1, -1, 1, -1, -1, -1});
  CHECK(data(apply("strided_slice", {i32({5}, {0, 1, 2, 3, 4})},
                   {{"begin", ints({-1})}, {"end", ints({-6})}, {"strides", ints({-2})}})) ==
        Numbers{4, 2, 0});
  CHECK(data(apply("repeat", {i32({2}, {1, 2})}, {{"repeats", 2}})) == Numbers{1, 1, 2, 2});
  CHECK(data(apply("tile", {i32({2}, {1, 2})}, {{"reps", ints({2, 1})}})) == Numbers{1, 2, 1, 2});
  CHECK(data(apply("reverse", {i32({2, 2}, {1, 2, 3, 4})})) == Numbers{4, 3, 2, 1});
  CHECK(data(apply("argmax", {i32({4}, {3, 9, 9, 1})})) == Numbers{1});
  CHECK(data(apply("argmax", {i32({4}, {3, 9, 9, 1})}, {{"select_last_index", true}})) ==
        Numbers{2});
  CHECK(data(apply("argmin", {i32({2, 2}, {3, 1, 0, 1})},
                   {{"axis", 1}, {"select_last_index", true}})) == Numbers{1, 0});
  CHECK(data(apply("argmax", {i32({2}, {3, 1})}, {{"axis", ints({})}})) == Numbers{0});
  CHECK(data(apply("sum", {i32({2, 0}, {})}, {{"axis", 1}})) == Numbers{0, 0});
  CHECK(data(apply("mean", {f64({2, 2}, {1, 2, 3, 6})}, {{"axis", 0}})) == Numbers{2, 4});
  CHECK(data(apply("clip", {array(DType::UInt8, {3}, {0, 100, 255})},
                   {{"a_min", -5.0}, {"a_max", 127.5}})) == Numbers{0, 100, 127});
  CHECK(data(apply("logsumexp", {f64({2}, {-INFINITY, -INFINITY})})) == Numbers{-INFINITY});
  CHECK(data(apply("nn.softmax", {f64({2}, {1000, 1000})})) == Numbers{0.5, 0.5});
  CHECK(data(apply("nn.log_softmax", {f64({1, 1}, {1e300})})) == Numbers{0});
  CHECK(data(apply("collapse_sum_like", {i32({2, 2}, {1, 2, 3, 4}), i32({1}, {0})})) ==
        Numbers{10});
  CHECK(data(apply("dim_of", {i32({2, 3}, {1, 2, 3, 4, 5, 6})}, {{"axis", -1}})) == Numbers{3});
  CHECK(data(apply("shape_of", {i32({2, 3}, {1, 2, 3, 4, 5, 6})})) == Numbers{2, 3});
  CHECK(data(apply("where", {mask({2}, {1, 0}), i32({}, {7}), i32({2}, {1, 2})})) == Numbers{7, 2});
}
