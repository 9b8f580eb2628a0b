// What Relay's notation has no words for is printed as metadata, and reads back.

#include "lang/metadata.h"

#include <deque>
#include <string>

#include <catch2/catch.hpp>

#include "lang/alpha_equal.h"
#include "lang/base64.h"
#include "lang/print.h"
#include "parser/parse.h"
#include "stdlib/register.h"

using namespace relay;
using namespace relay::lang;

namespace {

Expr parse_one(const std::string& text) {
  stdlib::register_operators();
  static std::deque<Source> sources;
  const Result<parser::Parsed> parsed =
      parser::parse(sources.emplace_back("test", text), Module(), parser::Notation::Strict);
  if (!parsed) {
    FAIL(render(parsed.errors().front()));
  }
  return parsed->items.back().expr;
}

std::string whole(const Expr& expr) { return print(expr, {.header = true}); }

// Prints, reads and prints again; returns what is between the version and the metadata.
std::string code(const Expr& expr) {
  const std::string printed = whole(expr);
  INFO(printed);
  const Expr again = parse_one(printed);
  CHECK(whole(again) == printed);
  CHECK(alpha_equal(expr, again, true));
  const std::size_t begin = printed.find('\n') + 1;
  const std::size_t end = printed.find("\n\n#[metadata]");
  return printed.substr(begin, end == std::string::npos ? end : end - begin);
}

Expr scalar(DType dtype, double value) {
  return make_constant(Tensor::scalar(dtype, bits_from_double(dtype, value)));
}

}  // namespace

TEST_CASE("scalars print as literals where Relay has one") {
  CHECK(code(make_tuple({scalar(DType::Int16, -3), scalar(DType::Int32, 4), scalar(DType::Int64, 5),
                         scalar(DType::Float16, 0.5), scalar(DType::Float32, 0.1),
                         scalar(DType::Float64, 0.1), scalar(DType::Float32, -INFINITY)})) ==
        "(-3i16, 4, 5i64, 0.5f16, 0.1f, 0.1f64, -inff)");
  CHECK(code(make_tuple({scalar(DType::Int8, -3), scalar(DType::UInt64, 4),
                         scalar(DType::Float64, INFINITY), scalar(DType::BFloat16, 1)})) ==
        "(meta[relay.Constant][0], meta[relay.Constant][1], meta[relay.Constant][2], "
        "meta[relay.Constant][3])");
}

TEST_CASE("tensors of every dtype print as metadata") {
  std::vector<Expr> fields;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    const TensorRef tensor = Tensor::make(dtype, {2, 1});
    tensor->set_bits(0, bits_from_double(dtype, 1));
    tensor->set_bits(1, bits_from_double(dtype, 0));
    fields.push_back(make_constant(tensor));
  }
  fields.push_back(fields.front());
  fields.push_back(make_constant(Tensor::make(DType::Int32, {0, 3})));
  const std::string text = code(make_tuple(fields));
  CHECK(text.find("meta[relay.Constant][12], meta[relay.Constant][0], meta[relay.Constant][13])") !=
        std::string::npos);
}

TEST_CASE("a dimension that nothing declares prints as metadata") {
  const Dim n = Dim::variable(TypeVar::rigid(VarKind::Dim, "n"));
  const auto x = make_variable("x", tensor_type({n, n * n + n + n + 3}, DType::Float32));
  const auto y = make_variable("y", tensor_type({Dim::floor_div(n, 2), n - 1}, DType::Float32));
  CHECK(code(make_function({x, y}, nullptr, make_var(x))) ==
        "fn (%x: Tensor[(meta[tir.SizeVar][0], meta[tir.Add][0]), float32], %y: "
        "Tensor[(meta[tir.FloorDiv][0], meta[tir.Add][1]), float32]) {\n  %x\n}");
}

TEST_CASE("objects and strings with quotes print as metadata") {
  const AttrObjectRef device(new AttrObject(
      "VirtualDevice",
      {{"device_type_int", 1}, {"memory_scope", ""}, {"target", {}}, {"virtual_device_id", 0}}));
  const AttrObjectRef map(new AttrObject("Map", {{"a", 1}, {"b", AttrValue::List{true, 0.5}}}));
  const auto x = make_variable("x", nullptr, {}, make_attrs({{"virtual_device", device}}));
  CHECK(code(make_function({x}, nullptr, make_var(x), {},
                           make_attrs({{"virtual_device", device},
                                       {"options", AttrValue::List{map, device, 3}},
                                       {"note", "say \"a\\b\""}}))) ==
        "fn (%x {virtual_device=meta[VirtualDevice][0]}, virtual_device=meta[VirtualDevice][0], "
        "options=[meta[Map][0], meta[VirtualDevice][0], 3], note=meta[runtime.String][0]) {\n  "
        "%x\n}");
}

TEST_CASE("the metadata section is Relay's") {
  CHECK(whole(make_constant(Tensor::scalar(DType::Int8, 7))) ==
        R"(#[version = "0.0.5"]
meta[relay.Constant][0]

#[metadata]
{
  "root": 1,
  "nodes": [
    {"type_key": ""},
    {"type_key": "Map", "keys": ["relay.Constant"], "data": [5]},
    {"type_key": "runtime.String"},
    {"type_key": "VirtualDevice", "attrs": {"device_type_int": "-1", "memory_scope": "2", "target": "0", "virtual_device_id": "-1"}},
    {"type_key": "relay.Constant", "attrs": {"_checked_type_": "0", "data": "0", "span": "0", "virtual_device_": "3"}},
    {"type_key": "Array", "data": [4]}
  ],
  "b64ndarrays": [
    "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAAAAAAAIAQABAAAAAAAAAAc="
  ],
  "attrs": {"tvm_version": "0.14.0"}
})");
}

TEST_CASE("base64") {
  const std::string text = "any carnal pleas";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const auto bytes = std::as_bytes(std::span(text.data(), size));
    const auto back = from_base64(to_base64(bytes));
    REQUIRE(back);
    CHECK(std::equal(back->begin(), back->end(), bytes.begin(), bytes.end()));
  }
  CHECK(to_base64(std::as_bytes(std::span(text.data(), 4))) == "YW55IA==");
  for (const char* bad : {"YW5", "YW=5", "Y===", "YW5*", "YW55IA==YW55"}) {
    CAPTURE(bad);
    CHECK_FALSE(from_base64(bad));
  }
}
