#include "lang/attrs.h"

#include <catch2/catch.hpp>

using namespace relay::lang;

TEST_CASE("attributes print in Relay's notation") {
  CHECK(AttrValue().to_string() == "None");
  CHECK(AttrValue(true).to_string() == "True");
  CHECK(AttrValue(-3).to_string() == "-3");
  CHECK(AttrValue(0.5).to_string() == "0.5f");
  CHECK(AttrValue(0.1).to_string() == "0.1f");
  CHECK(AttrValue(1e-5).to_string() == "1e-05f");
  CHECK(AttrValue(2.0).to_string() == "2f");
  CHECK(AttrValue("NCHW").to_string() == "\"NCHW\"");
  CHECK(AttrValue(DType::Float16).to_string() == "\"float16\"");
  CHECK(AttrValue(AttrValue::List{AttrValue::ints({1, 2}), AttrValue::ints({})}).to_string() ==
        "[[1, 2], []]");
}

TEST_CASE("attributes compare by key and value, not by place") {
  const AttrsRef a = make_attrs({{"axis", 1, {}}, {"shape", AttrValue::ints({2, 3}), {}}});
  const AttrsRef b =
      make_attrs({{"axis", 1, {}}, {"shape", AttrValue::ints({2, 3}), {nullptr, 1, 2}}});
  CHECK(equal(a, b));
  CHECK(a->list[1].value.hash() == b->list[1].value.hash());
  CHECK_FALSE(equal(a, nullptr));
  CHECK(equal(nullptr, make_attrs({})));
  CHECK_FALSE(AttrValue(1) == AttrValue(1.0));
  CHECK_FALSE(AttrValue(1) == AttrValue(true));
}

TEST_CASE("readers convert what the notation leaves open") {
  const AttrsRef attrs = make_attrs({{"axis", 1, {}},
                                     {"axes", AttrValue::ints({0, 2}), {}},
                                     {"dtype", "int8", {}},
                                     {"none", AttrValue(), {}}});
  CHECK(attrs->get_int("axis") == 1);
  CHECK(attrs->get_float("axis") == 1.0);
  CHECK(attrs->get_ints("axis") == std::vector<std::int64_t>{1});
  CHECK(attrs->get_ints("axes") == std::vector<std::int64_t>{0, 2});
  CHECK(attrs->get_dtype("dtype") == DType::Int8);
  CHECK(attrs->is_null("none"));
  CHECK(attrs->is_null("absent"));
  CHECK_FALSE(attrs->is_null("axis"));
  CHECK_THROWS(attrs->get_int("absent"));
  CHECK_THROWS(attrs->get_int("axes"));
}
