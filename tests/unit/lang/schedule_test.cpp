#include "lang/schedule.h"

#include <catch2/catch.hpp>

#include "lang/build.h"
#include "lang/visit.h"

using namespace relay::lang;

TEST_CASE("nests are found behind long chains of `let`, in order", "[schedule]") {
  constexpr int kLength = 300'000;
  const VariableRef x = make_variable("x", tensor_type(Shape{Dim(4)}, DType::Float32));
  const auto nest = [&](const char* index) {
    const VariableRef i = make_variable(index, scalar_type(DType::Int64));
    return make_comprehension({{i, nullptr}}, make_index(make_var(x), {make_var(i)}, true));
  };
  Block block;
  block.bindings.push_back({make_variable("first"), nest("i")});
  for (int k = 0; k < kLength; ++k) block.bindings.push_back({make_variable("v"), make_var(x)});
  block.result = nest("j");
  const Expr function = make_function({x}, nullptr, close_block(block));
  const std::vector<ScheduledNest> nests = nests_of(cast<Function>(function));
  REQUIRE(nests.size() == 2);
  CHECK(nests[0].names() == std::vector<std::string>{"i"});
  CHECK(nests[1].names() == std::vector<std::string>{"j"});
  CHECK(nests[1].tensors() == std::vector<std::string>{"x"});
}
