#include "lang/value.h"

#include <bit>
#include <cmath>

#include <catch2/catch.hpp>

#include "lang/print.h"

using namespace relay::lang;

namespace {

Value f32(float v) { return Value::scalar(DType::Float32, std::bit_cast<std::uint32_t>(v)); }
Value i32(std::int32_t v) { return Value::scalar(DType::Int32, bits_from_int(DType::Int32, v)); }
Value number(DType dtype, double v) { return Value::scalar(dtype, bits_from_double(dtype, v)); }

Value tuple(std::vector<Value> fields) { return Value::tuple(TupleCell::make(fields)); }

// type List { Cons(a, List), Nil } and type P { P { w, b } }
struct Types {
  TypeDef list;
  TypeDef record;
  Types() {
    list.constructors.push_back({"Cons", 0, {nullptr, nullptr}, {}, &list, {}});
    list.constructors.push_back({"Nil", 1, {}, {}, &list, {}});
    record.constructors.push_back({"P", 0, {nullptr, nullptr}, {"w", "b"}, &record, {}});
  }
  Value make(const Constructor& constructor, std::vector<Value> fields) const {
    return Value::adt(AdtCell::make(&constructor, fields));
  }
  Value count_down(int n) const {
    Value list_value = make(list.constructors[1], {});
    for (int i = 1; i <= n; ++i) {
      list_value = make(list.constructors[0], {i32(i), std::move(list_value)});
    }
    return list_value;
  }
};

Value tensor(DType dtype, std::vector<std::int64_t> shape, const std::vector<double>& numbers) {
  TensorRef t = Tensor::make(dtype, shape);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    t->set_bits(static_cast<std::int64_t>(i), bits_from_double(dtype, numbers[i]));
  }
  return Value::tensor(t);
}

Value iota(std::vector<std::int64_t> shape) {
  TensorRef t = Tensor::make(DType::Int32, shape);
  for (std::int64_t i = 0; i < t->element_count(); ++i)
    t->set_bits(i, bits_from_int(DType::Int32, i));
  return Value::tensor(t);
}

struct Closure final : ClosureCell {};

}  // namespace

TEST_CASE("scalars print in the light notation") {
  CHECK(to_string(f32(1)) == "1.0");
  CHECK(to_string(f32(0.1f)) == "0.1");
  CHECK(to_string(f32(-0.0f)) == "-0.0");
  CHECK(to_string(f32(1e-5f)) == "1e-05");
  CHECK(to_string(f32(1e-4f)) == "0.0001");
  CHECK(to_string(f32(123.456f)) == "123.456");
  CHECK(to_string(f32(100000)) == "100000.0");
  CHECK(to_string(f32(1e20f)) == "1e+20");
  CHECK(to_string(f32(INFINITY)) == "inf");
  CHECK(to_string(f32(-INFINITY)) == "-inf");
  CHECK(to_string(f32(NAN)) == "nan");
  CHECK(to_string(i32(-7)) == "-7");
  CHECK(to_string(number(DType::Int64, 2)) == "2i64");
  CHECK(to_string(number(DType::Float64, 1.5)) == "1.5f64");
  CHECK(to_string(number(DType::Float64, 0.1)) == "0.1f64");
  CHECK(to_string(number(DType::Float16, 1.5)) == "1.5f16");
  CHECK(to_string(number(DType::Float16, 0.1)) == "0.1f16");
  CHECK(to_string(number(DType::Float16, 65504)) == "65500.0f16");
  CHECK(to_string(number(DType::UInt8, 200)) == "200");
  CHECK(to_string(Value::boolean(true)) == "True");
}

TEST_CASE("scalars print in strict notation") {
  const auto print = [](const Value& v) { return print_scalar(v.dtype(), v.bits()); };
  CHECK(print(f32(1.5f)) == "1.5f");
  CHECK(print(f32(1)) == "1f");
  CHECK(print(f32(INFINITY)) == "inff");
  CHECK(print(f32(NAN)) == "nanf");
  CHECK(print(i32(3)) == "3");
  CHECK(print(number(DType::Int64, 2)) == "2i64");
  CHECK(print(number(DType::Float64, 1)) == "1f64");
  CHECK(print(number(DType::Float64, -INFINITY)) == "-inff64");
  CHECK(print(number(DType::Float64, NAN)) == "nanf64");
  CHECK(print(Value::boolean(false)) == "False");
  CHECK(print(number(DType::UInt8, 3)) == "cast(3, dtype=\"uint8\")");
  CHECK(print(number(DType::BFloat16, 1.5)) == "cast(1.5f, dtype=\"bfloat16\")");
  CHECK(print(Value::scalar(DType::UInt64, ~std::uint64_t{0})) == "cast(-1i64, dtype=\"uint64\")");
}

TEST_CASE("shortest digits read back to the same half") {
  for (std::uint32_t bits = 0; bits < 0x7c00; bits += 7) {
    const std::string text = print_scalar(DType::Float16, bits);
    CHECK(bits_from_double(DType::Float16, std::stod(text)) == bits);
  }
}

TEST_CASE("tensors print as nested brackets, rows below each other") {
  CHECK(to_string(tensor(DType::Float32, {2}, {1, 2.5})) == "[1.0, 2.5]");
  CHECK(to_string(tensor(DType::Float64, {2}, {1, 2.5})) == "[1.0, 2.5]");
  CHECK(to_string(tensor(DType::Float32, {2, 2}, {1, -2.25, 3, 4})) ==
        "[[  1.0, -2.25],\n [  3.0,   4.0]]");
  CHECK(to_string(tensor(DType::Bool, {2, 1}, {1, 0})) == "[[ True],\n [False]]");
  CHECK(to_string(tensor(DType::Float32, {0}, {})) == "[]");
  CHECK(to_string(tensor(DType::Float32, {2, 0}, {})) == "[[],\n []]");
  CHECK(to_string(iota({2, 2, 1})) == "[[[0],\n  [1]],\n [[2],\n  [3]]]");
  CHECK(to_string(tuple({iota({2, 1}), i32(1)})) == "(\n  [[0],\n   [1]],\n  1\n)");
}

TEST_CASE("big tensors are shortened") {
  CHECK(to_string(iota({1001})) == "[0, 1, 2, ..., 998, 999, 1000]");
  CHECK(to_string(iota({4, 300})) ==
        "[[   0,    1,    2, ...,  297,  298,  299],\n [ 300,  301,  302, ...,  597,  598,  599],\n"
        " [ 600,  601,  602, ...,  897,  898,  899],\n"
        " [ 900,  901,  902, ..., 1197, 1198, 1199]]");
  ValuePrintOptions few;
  few.max_elements = 4;
  few.edge_items = 1;
  CHECK(to_string(iota({3, 3}), few) == "[[0, ..., 2],\n ...,\n [6, ..., 8]]");
  CHECK(to_string(iota({2, 2, 2}), few) == "[[[0, 1],\n  [2, 3]],\n ...]");
  CHECK(to_string(tensor(DType::Float32, {1 << 20, 0}, {})).size() < 100);
  const std::vector<std::int64_t> halves(20, 2);
  CHECK(to_string(iota(halves)).size() < 20000);
  CHECK(to_string(iota({500})).find('\n') <= 100);  // a long row is broken
}

TEST_CASE("data structures print as they are written") {
  const Types types;
  CHECK(to_string(Value::unit()) == "()");
  CHECK(to_string(tuple({i32(1)})) == "(1,)");
  CHECK(to_string(tuple({i32(1), tuple({})})) == "(1, ())");
  CHECK(to_string(types.count_down(2)) == "Cons(2, Cons(1, Nil))");
  CHECK(to_string(Value::constructor(&types.list.constructors[0])) == "Cons");
  CHECK(to_string(types.make(types.record.constructors[0], {i32(1), f32(2)})) ==
        "P(w = 1, b = 2.0)");
  CHECK(to_string(Value::closure(Ref<ClosureCell>(new Closure))) == "<function>");
  CHECK(to_string(Value::reference(make_ref<ReferenceCell>(i32(1)))) == "ref(1)");
}

TEST_CASE("a list of a million cells is built, compared, printed and freed without recursion") {
  const Types types;
  const Value list = types.count_down(1'000'000);
  const Value same = types.count_down(1'000'000);
  CHECK(bit_equal(list, same));
  CHECK_FALSE(bit_equal(list, types.count_down(999'999)));
  const std::string text = to_string(list);
  CHECK(text.size() < 20000);
  CHECK(text.find("...") != std::string::npos);
  ValuePrintOptions all;
  all.max_elements = INT64_MAX;
  CHECK(to_string(list, all).size() > 10'000'000);
}

TEST_CASE("a reference that contains itself prints and compares") {
  Ref<ReferenceCell> cell = make_ref<ReferenceCell>(Value());
  const Value reference = Value::reference(cell);
  cell->content = tuple({reference});
  CHECK(to_string(reference) == "ref((ref(...),))");
  CHECK(bit_equal(reference, reference));
  cell->content = Value();  // breaks the cycle
}

TEST_CASE("equality is by bits") {
  CHECK(bit_equal(f32(NAN), f32(NAN)));
  CHECK_FALSE(bit_equal(f32(0), f32(-0.0f)));
  CHECK_FALSE(bit_equal(i32(0), f32(0)));
  CHECK(bit_equal(iota({2, 3}), iota({2, 3})));
  CHECK_FALSE(bit_equal(iota({2, 3}), iota({3, 2})));
  Value shared = i32(1);  // 2^60 leaves as a tree
  Value other = i32(1);
  for (int i = 0; i < 60; ++i) {
    shared = tuple({shared, shared});
    other = tuple({other, other});
  }
  CHECK(bit_equal(shared, other));
  CHECK(to_string(shared).size() < 100000);
}

TEST_CASE("values own what they point to") {
  const TensorRef t = Tensor::make(DType::Float32, {2});
  CHECK(t->is_unique());
  {
    Value a = Value::tensor(t);
    CHECK_FALSE(a.is_unique());
    const Value b = std::move(a);
    CHECK(a.is_empty());
    CHECK(b.to_tensor() == t);
  }
  CHECK(t->is_unique());
  const Value scalar = Value::tensor(Tensor::scalar(DType::Int64, 5));
  CHECK(scalar.is_scalar());
  CHECK(scalar.bits() == 5);
  CHECK(scalar.to_tensor()->number_at(0) == 5);

  std::vector<Value> fields = {Value::tensor(t)};
  const Value holder = Value::tuple(TupleCell::make(fields));
  CHECK(fields[0].is_empty());
  CHECK(holder.is_unique());
}
